//! What an axis says of a figure: its name, its unit, and which way is better.

use crate::report::human;

/// As a reader says it.
pub(super) fn name(key: &str) -> String {
    match key {
        "synced_s" => "time until synced".into(),
        "kernel_cpu_s" => "kernel CPU time".into(),
        "file_size_bytes" => "size reached".into(),
        key => human::words(key),
    }
}

/// `time until synced (ms), less is better`.
pub(super) fn axis(key: &str, unit: &str, frees: bool) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let better = match (frees, better(key)) {
        (true, _) => ", below 0 is given back",
        (false, Some(true)) => ", more is better",
        (false, Some(false)) => ", less is better",
        (false, None) => "",
    };
    format!("{}{unit}{better}", name(key))
}

/// Whether more of it is better than less; unknown of what merely is.
fn better(key: &str) -> Option<bool> {
    match key {
        "file_size_bytes" => Some(true),
        rate if rate.ends_with("_per_s") => Some(true),
        time if time.ends_with("_s") => Some(false),
        "space_used_bytes" | "metadata_used_bytes" | "image_allocated_bytes" | "peak_memory_bytes" => {
            Some(false)
        }
        ratio if ratio.ends_with("_ratio") => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_says_what_it_shows_in_which_unit_and_what_is_better() {
        assert_eq!(axis("synced_s", "ms", false), "time until synced (ms), less is better");
        assert_eq!(axis("payload_bytes_per_s", "MB/s", false), "payload rate (MB/s), more is better");
        assert_eq!(axis("space_used_bytes", "MiB", true), "space used (MiB), below 0 is given back");
        assert_eq!(axis("files_created_count", "", false), "files created");
    }
}
