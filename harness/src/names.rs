//! Names of steps, file systems, keys and metrics: which are allowed, and which was meant.

/// The known name that `wrong` was most likely meant to be.
///
/// In a name of three letters, one changed letter makes another name (zfs is not a slip for xfs).
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = wrong.chars().count();
    let limit = (length / 3).clamp(1, 3);
    let likely =
        |distance: usize, name: &str| distance <= limit && (length > 3 || name.chars().count() != length);
    let near = known.into_iter().map(|name| (distance(wrong, name), name));
    near.filter(|(distance, name)| likely(*distance, name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// "unknown step `x`; did you mean `y`?", or the known ones.
pub(crate) fn unknown<'a>(what: &str, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    if let Some(name) = nearest(wrong, known.iter().copied()) {
        return format!("unknown {what} `{wrong}`; did you mean `{name}`?");
    }
    match known.is_empty() {
        true => format!("unknown {what} `{wrong}`; there is none"),
        false => format!("unknown {what} `{wrong}`; known: {}", known.join(", ")),
    }
}

/// Whether a name can stand in a path and in a claim. A dot would end it in a claim, a slash is
/// a file's.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Letters to insert, remove, change or swap with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut cost = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            cost[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let change = cost[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let swap = if swapped { cost[i - 2][j - 2] + 1 } else { usize::MAX };
                    change.min(swap).min(cost[i - 1][j] + 1).min(cost[i][j - 1] + 1)
                }
            };
        }
    }
    cost[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_letters() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("count", "coutn", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn a_near_name_is_offered_and_a_far_one_is_not() {
        let known = ["count", "file-size", "fsync"];
        assert_eq!(nearest("file_size", known), Some("file-size"));
        assert_eq!(nearest("cout", known), Some("count"));
        assert_eq!(nearest("size", known), None);
        assert_eq!(nearest("zfs", ["btrfs", "xfs"]), None);
        assert_eq!(nearest("siz", ["size"]), Some("size"));
        assert_eq!(unknown("key", "size", known), "unknown key `size`; known: count, file-size, fsync");
    }

    #[test]
    fn a_name_can_stand_in_a_path_and_in_a_claim() {
        assert!(is_name("small-files") && is_name("a") && is_name("step_2"));
        for wrong in ["", ".", "..", "a/b", "a.b", "-a", "a-", "2a", "lost+found", "a b", "é"] {
            assert!(!is_name(wrong), "{wrong:?}");
        }
    }
}
