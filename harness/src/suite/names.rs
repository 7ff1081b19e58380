//! Names of steps, file systems and keys: which are allowed, and which was meant.

/// The known name that `wrong` was most likely meant to be.
pub(super) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (wrong.chars().count() / 3).clamp(1, 3);
    let near = known.into_iter().map(|name| (distance(wrong, name), name));
    near.filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// "unknown step `x`; did you mean `y`?", or the known ones.
pub(super) fn unknown<'a>(what: &str, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
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
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.ends_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// Levenshtein distance: letters to insert, remove or change; two swapped ones cost two.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_counts_letters() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("count", "coutn", 2), ("kitten", "sitting", 3)]
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
