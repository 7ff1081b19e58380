//! The commands of a case as a script for a shell: losetup, mkfs, mount, fsck, with the case's own
//! options. What it makes it takes away again, however it ends.

use std::path::Path;

use crate::case::CaseSpec;
use crate::command::{Invocation, quoted};
use crate::fs::{Filesystem, MkfsOptions};
use crate::result::CaseResult;
use crate::worker::case::mount_options;

/// A copy of the file that mkfs reads, in the folder of the script.
pub(super) const CONFIGURATION: &str = "mkfs.conf";

/// Stands for the device, whose number is another one each time.
const DEVICE: &str = "$device";

/// Stands for the UUID, which is new each time: two file systems of one UUID on a machine are refused.
const UUID: &str = "UUID-OF-THIS-FILE-SYSTEM";

/// As the case ran it.
pub(super) fn mkfs(spec: &CaseSpec, filesystem: &dyn Filesystem) -> Invocation {
    filesystem.mkfs(Path::new(DEVICE), &MkfsOptions { uuid: UUID.into(), ..spec.mkfs_options() })
}

/// The script. `variable` names the copied file to mkfs.
pub(super) fn text(
    spec: &CaseSpec,
    case: &CaseResult,
    filesystem: &dyn Filesystem,
    variable: Option<&str>,
) -> String {
    let variable = variable.map(|name| format!("{name}=\"$PWD/{CONFIGURATION}\" ")).unwrap_or_default();
    let fsck = filesystem.fsck(Path::new(DEVICE));
    let direct_io = match &case.loop_device {
        Some(device) if !device.direct_io => "off",
        _ => "on",
    };
    let fields = [
        ("@CASE@", about(spec, case)),
        ("@STEPS@", steps(spec)),
        ("@BYTES@", spec.image_size.0.to_string()),
        ("@SECTOR@", spec.logical_block_size.0.to_string()),
        ("@DIRECT_IO@", direct_io.to_owned()),
        ("@MKFS@", format!("{variable}{}", line(&mkfs(spec, filesystem)))),
        ("@TYPE@", quoted(filesystem.name())),
        ("@OPTIONS@", quoted(&mount_options(spec, filesystem))),
        ("@FSCK@", fsck.map_or_else(|| "true".into(), |fsck| line(&fsck))),
    ];
    filled(TEMPLATE, &fields)
}

/// The template with each field's value. A value is taken as it is, whatever it looks like.
fn filled(template: &str, fields: &[(&str, String)]) -> String {
    let next = |(field, value)| template.find(field).map(|at| (at, field, value));
    let first = fields.iter().map(|(field, value)| (*field, value)).filter_map(next).min();
    match first {
        Some((at, field, value)) => {
            format!("{}{value}{}", &template[..at], filled(&template[at + field.len()..], fields))
        }
        None => template.to_owned(),
    }
}

const TEMPLATE: &str = include_str!("repeat.sh");

/// Which case, and what became of it.
fn about(spec: &CaseSpec, case: &CaseResult) -> String {
    let reason = case.reason.as_ref().map_or("it passed", |reason| &reason.text);
    comment(&format!("{} of run {}: {reason}", spec.id(), spec.run_id))
}

fn steps(spec: &CaseSpec) -> String {
    let one = |step: &crate::workload::StepSpec| {
        comment(&format!("  {}: {} {}", step.name, step.workload, step.parameters))
    };
    spec.steps.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// One line, whatever the words hold.
fn comment(text: &str) -> String {
    format!("# {}", text.replace(char::is_control, " "))
}

fn line(invocation: &Invocation) -> String {
    let word = |word: String| match (word == DEVICE, quoted(&word)) {
        (true, _) => format!("\"{DEVICE}\""),
        (false, quoted) if quoted.starts_with('\'') => quoted.replace(UUID, "'\"$uuid\"'"),
        (false, plain) => plain.replace(UUID, "\"$uuid\""),
    };
    invocation.words().into_iter().map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fs;
    use crate::result::Reason;

    fn spec() -> CaseSpec {
        serde_json::from_value(json!({
            "run_id": "1f0c7f0a-0000", "block": 1, "order": 1, "image_size": 335_544_320, "logical_block_size": 4096,
            "configuration": { "id": "a'b", "filesystem": fs::ALL[0].name(), "mount_options": "noatime,x='y z'",
                               "mkfs_options": ["-L", "it's $HOME"], "block_size_bytes": 4096, "environment": 0 },
            "store": "memory", "direct_io": "auto", "preallocate": false, "overcommit": false,
            "keep": "failed", "quiet": false, "seed": 1,
            "steps": [{ "name": "files", "workload": "many-small-files", "parameters": { "count": 20 } }],
        }))
        .unwrap()
    }

    #[test]
    fn a_value_that_looks_like_a_field_stays_as_it_is() {
        let mut spec = spec();
        spec.configuration.mkfs_options = vec!["-L".into(), "@FSCK@ @STEPS@".into()];
        let mut case = CaseResult::planned(&spec);
        let text = "@MKFS@ @STEPS@ @CASE@";
        case.reason = Some(Reason { code: Reason::DAMAGE.into(), text: text.into(), next: None });
        let script = super::text(&spec, &case, fs::ALL[0], None);
        assert!(script.lines().nth(1).unwrap().ends_with(text), "{script}");
        assert!(script.contains("'@FSCK@ @STEPS@'"), "{script}");
    }

    #[test]
    fn a_shell_understands_the_script_of_every_file_system() {
        for filesystem in fs::ALL {
            let mut case = CaseResult::planned(&spec());
            let text = "fsck found damage\nrm -rf \"$HOME\"";
            case.reason = Some(Reason { code: Reason::DAMAGE.into(), text: text.into(), next: None });
            let script = super::text(&spec(), &case, *filesystem, Some("CONFIG"));
            let field = |word: &str| word.starts_with(|sign: char| sign.is_ascii_uppercase());
            assert!(!script.split('@').skip(1).any(field), "{script}");
            assert!(script.lines().all(|line| !line.starts_with("rm -rf")), "{script}");
            assert_eq!(script.contains("\"$uuid\""), filesystem.takes_uuid(), "{script}");
            assert!(!script.contains(UUID), "{script}");
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("repeat.sh");
            std::fs::write(&path, &script).unwrap();
            let read = Invocation::new("sh", ["-n".as_ref(), path.as_os_str()]);
            let told = crate::command::run(&read).unwrap();
            assert_eq!(told.status, 0, "{}: {}\n{script}", filesystem.name(), told.text);
        }
    }
}
