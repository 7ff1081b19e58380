//! Numbers as people read them, the same in tables and in claims.
//!
//! Sizes on a disk are powers of 1024, as `df -h` and `mkfs` have them; payload and rates are
//! powers of 1000, as `dd` prints them. What is no number, as a rate of no time at all, is `-`.

/// A size on a disk: `1.78 GiB`.
#[must_use]
pub fn size(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// Bytes of contents: `49.9 kB`.
#[must_use]
pub fn payload(bytes: f64) -> String {
    scaled(bytes, 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// Three significant digits; a whole number as it is.
fn scaled(bytes: f64, base: f64, units: &[&str]) -> String {
    let mut value = bytes;
    let mut at = 0;
    // 1023.6 would round to 1024: that is 1.00 of the next unit.
    while value.abs() >= base - 0.5 && at + 1 < units.len() {
        value /= base;
        at += 1;
    }
    let number = if value.fract() == 0.0 { count(value) } else { significant(value) };
    format!("{number} {}", units[at])
}

/// Three significant digits: `1.32 s`, `87.0 ms`, `12,345 s`.
#[must_use]
pub fn time(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".into(),
        below if below < 0.000_999_5 => format!("{} µs", significant(seconds * 1e6)),
        below if below < 0.999_5 => format!("{} ms", significant(seconds * 1e3)),
        _ => format!("{} s", significant(seconds)),
    }
}

/// Three significant digits, with commas from a thousand on.
#[must_use]
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    match value.abs() {
        above if above >= 99.95 => count(value),
        above if above >= 9.995 => format!("{value:.1}"),
        above if above >= 0.9995 || above == 0.0 => format!("{value:.2}"),
        above if above >= 0.09995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// A whole number with commas between thousands.
#[must_use]
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    let digits = format!("{:.0}", value.abs());
    let sign = if value < 0.0 && digits != "0" { "-" } else { "" };
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    format!("{sign}{text}")
}

/// A ratio: `×1.62`.
#[must_use]
pub fn ratio(value: f64) -> String {
    format!("×{}", significant(value))
}

/// Bytes of contents in a second, three significant digits: `44.5 MB/s`.
#[must_use]
pub fn rate(bytes_per_s: f64) -> String {
    let units = ["B/s", "kB/s", "MB/s", "GB/s"];
    let mut value = bytes_per_s;
    let mut at = 0;
    while value.abs() >= 999.5 && at + 1 < units.len() {
        value /= 1000.0;
        at += 1;
    }
    format!("{} {}", significant(value), units[at])
}

/// A rate as PostMark means it, whose megabytes have 2^20 bytes: `29.5 MiB/s`.
fn binary_rate(bytes_per_s: f64) -> String {
    format!("{}/s", size(bytes_per_s))
}

/// A time of PostMark's, which knows no parts of a second: `18 s`.
fn whole_seconds(seconds: f64) -> String {
    format!("{} s", count(seconds))
}

type Show = fn(f64) -> String;

/// A number whose unit is the end of its key.
#[must_use]
pub fn by_key(key: &str, value: f64) -> String {
    let is_postmark = key.starts_with("postmark_");
    if !value.is_finite() {
        return "-".into();
    }
    let units: [(&str, Show); 5] = [
        ("_bytes_per_s", if is_postmark { binary_rate } else { rate }),
        ("_per_s", |rate| format!("{}/s", significant(rate))),
        ("_bytes", size),
        ("_s", if is_postmark { whole_seconds } else { time }),
        ("_ratio", ratio),
    ];
    units.iter().find(|(end, _)| key.ends_with(end)).map_or_else(|| count(value), |(_, show)| show(value))
}

/// A key or a word for machines, for people: `space_used_bytes` is `space used`.
#[must_use]
pub fn words(key: &str) -> String {
    let ends = [
        ("_bytes_per_s", " rate"),
        ("_per_s", " rate"),
        ("_bytes", ""),
        ("_count", ""),
        ("_ratio", " ratio"),
        ("_s", ""),
    ];
    let found = ends.iter().find_map(|(end, word)| Some((key.strip_suffix(end)?, *word)));
    let (stem, word) = found.unwrap_or((key, ""));
    let (whose, stem) = stem.strip_prefix("postmark_").map_or(("", stem), |stem| ("PostMark's ", stem));
    format!("{whose}{}{word}", stem.replace('_', " ").replace("cpu", "CPU"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_three_digits_and_the_unit_that_fits() {
        assert_eq!(size(512.0), "512 B");
        assert_eq!(size(655_360.0), "640 KiB");
        assert_eq!(size(1_048_575.0), "1.00 MiB");
        assert_eq!(size(1.5 * 1_073_741_824.0), "1.50 GiB");
        assert_eq!(size(-53.0 * 1_048_576.0), "-53 MiB");
        assert_eq!(payload(49_900.0), "49.9 kB");
    }

    #[test]
    fn times_have_three_significant_digits() {
        assert_eq!(time(1.321_9), "1.32 s");
        assert_eq!(time(0.087_04), "87.0 ms");
        assert_eq!(time(0.999_9), "1.00 s");
        assert_eq!(time(0.000_25), "250 µs");
        assert_eq!(time(1268.0), "1,268 s");
        assert_eq!(time(0.0), "0 s");
        assert_eq!(ratio(0.015_87), "×0.0159");
        assert_eq!(ratio(0.623_4), "×0.623");
    }

    #[test]
    fn what_is_no_number_is_never_printed_as_one() {
        let all: [Show; 8] = [size, payload, time, significant, count, ratio, rate, binary_rate];
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for show in all {
                let text = show(value).to_lowercase();
                assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
            }
            assert_eq!(by_key("synced_s", value), "-");
        }
    }

    #[test]
    fn thousands_have_commas() {
        assert_eq!(count(9999.0), "9,999");
        assert_eq!(count(-1_234_567.0), "-1,234,567");
        assert_eq!(count(999.0), "999");
    }

    #[test]
    fn a_number_is_shown_in_the_unit_of_its_key() {
        assert_eq!(by_key("payload_bytes_per_s", 44.5e6), "44.5 MB/s");
        assert_eq!(by_key("payload_bytes_per_s", 999.7e6), "1.00 GB/s");
        assert_eq!(by_key("postmark_read_bytes_per_s", 30_964_200.0), "29.5 MiB/s");
        assert_eq!(by_key("postmark_total_s", 18.0), "18 s");
        assert_eq!(by_key("operations_per_s", 24_270.4), "24,270/s");
        assert_eq!(by_key("space_used_bytes", 4096.0), "4 KiB");
        assert_eq!(by_key("synced_s", 2.0), "2.00 s");
        assert_eq!(by_key("metadata_ratio", 1.615), "×1.61");
        assert_eq!(by_key("device_flush_count", 1017.0), "1,017");
        assert_eq!(words("payload_bytes_per_s"), "payload rate");
        assert_eq!(words("postmark_created_per_s"), "PostMark's created rate");
        assert_eq!(words("space_used_bytes"), "space used");
        assert_eq!(words("kernel_cpu_s"), "kernel CPU");
    }
}
