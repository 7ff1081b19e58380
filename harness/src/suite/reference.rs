//! A figure that the source of a suite printed, in the unit of its metric.

use super::document::{Data, Node, Source};
use super::keys::{Keys, explain, wrong};
use crate::error::{Error, Result};
use crate::result::Reference;
use crate::units::{Bytes, parse_duration, parse_rate};

pub(super) fn read_reference(source: &Source, node: &Node) -> Result<Reference> {
    let mut keys = Keys::of(source, node)?;
    let (step, metric) = (keys.needed_text("step")?, keys.needed_text("metric")?);
    let filesystem = keys.needed_text("filesystem")?;
    let value = keys.node("value").ok_or_else(|| source.error(&node.place, "`value` is missing here"))?;
    let (number, as_written) = figure(source, value, &metric)?;
    let reference = Reference {
        step,
        metric,
        filesystem,
        value: number,
        printed: keys.text("printed")?.unwrap_or(as_written),
        approx: keys.flag("approx")?.unwrap_or(false),
    };
    keys.done()?;
    Ok(reference)
}

/// The number in the unit of the key, and as it was written.
fn figure(source: &Source, node: &Node, metric: &str) -> Result<(f64, String)> {
    match &node.data {
        #[expect(clippy::cast_precision_loss, reason = "no source prints 16 digits")]
        Data::Whole(number) => Ok((*number as f64, number.to_string())),
        Data::Number(number) if number.is_finite() => Ok((*number, number.to_string())),
        Data::Text(text) => {
            let value = in_unit_of(metric, text).map_err(|error| explain(source, &node.place, &error))?;
            Ok((value, text.clone()))
        }
        _ => Err(wrong(source, node, "a figure")),
    }
}

/// The end of a key is its unit; the longer ends first.
fn in_unit_of(metric: &str, text: &str) -> Result<f64> {
    if metric.ends_with("_bytes_per_s") {
        return parse_rate(text).map(number);
    }
    if metric.ends_with("_bytes") {
        return text.parse().map(number);
    }
    let plain = text.parse().ok().filter(|value: &f64| value.is_finite());
    if metric.ends_with("_s") && !metric.ends_with("_per_s") && plain.is_none() {
        return parse_duration(text).map(|duration| duration.as_secs_f64());
    }
    plain.ok_or_else(|| {
        Error::usage(format!("take `{text}` as a figure of `{metric}`")).next("write a plain number")
    })
}

#[expect(clippy::cast_precision_loss, reason = "no source prints 16 digits")]
fn number(size: Bytes) -> f64 {
    size.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_a_figure_is_that_of_its_metric() {
        let table = [
            ("space_used_bytes", "53MB", Some(53e6)),
            ("space_used_bytes", "30s", None),
            ("space_used_bytes", "53MB/s", None),
            ("payload_bytes_per_s", "44.5MB/s", Some(44.5e6)),
            ("payload_bytes_per_s", "44.5MB", None),
            ("kernel_cpu_s", "9m30s", Some(570.0)),
            ("kernel_cpu_s", "30", Some(30.0)),
            ("kernel_cpu_s", "30MB", None),
            ("operations_per_s", "1101", Some(1101.0)),
            ("operations_per_s", "10s", None),
            ("metadata_ratio", "0.5", Some(0.5)),
            ("metadata_ratio", "inf", None),
            ("files_created_count", "450001", Some(450_001.0)),
        ];
        for (metric, text, expected) in table {
            assert_eq!(in_unit_of(metric, text).ok(), expected, "{metric} = {text}");
        }
    }
}
