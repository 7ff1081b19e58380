//! The machine a run came from, and what makes its figures less trustworthy.
//!
//! A figure without its machine cannot be judged, so each report carries this. What cannot be
//! read says "unknown": a manifest never keeps a run from starting. Readers call parsers, and
//! parsers take text.

use std::fs;
use std::path::Path;

use crate::guard::{self, Demand};
use crate::result::{Manifest, StoreInfo};
use crate::sys::{self, proc::kib_field};
use crate::units::{Bytes, Seed};

/// Describe this machine and this run, which asks so much of it.
#[must_use]
pub fn gather(store: StoreInfo, seed: Seed, argv: Vec<String>, demand: Demand) -> Manifest {
    let cpuinfo = read("/proc/cpuinfo");
    let meminfo = read("/proc/meminfo");
    let load_average = first_number(&read("/proc/loadavg"));
    let warnings = guard::look(&store, demand);
    Manifest {
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        os: os(),
        cpu: cpu_model(&cpuinfo).unwrap_or_else(unknown),
        cpus_count: sys::processors(),
        memory_bytes: kib_field(&meminfo, "MemTotal").unwrap_or_default().0,
        virtualisation: virtualisation(&machine(), &cpuinfo, container()),
        store,
        seed: seed.0.to_string(),
        started_at: jiff::Timestamp::now().to_string(),
        argv,
        load_average,
        warnings,
    }
}

/// A name for a run: random, the same for all of its cases.
#[must_use]
pub fn run_id() -> String {
    let uuid = read("/proc/sys/kernel/random/uuid");
    if uuid.trim().is_empty() {
        // Without /proc the clock and the process are as unique as it gets.
        return format!("{}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
    }
    uuid.trim().to_owned()
}

/// Memory that programs can still get, `MemAvailable`; 0 where `/proc` does not say.
#[must_use]
pub fn memory_available() -> Bytes {
    kib_field(&read("/proc/meminfo"), "MemAvailable").unwrap_or_default()
}

/// Empty where the file is not there or not readable.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn unknown() -> String {
    "unknown".into()
}

/// Source of the two places: `os-release(5)`.
fn os() -> String {
    let texts = [read("/etc/os-release"), read("/usr/lib/os-release")];
    texts.iter().find_map(|text| pretty_name(text)).unwrap_or_else(unknown)
}

fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// The first value of a key of `/proc/cpuinfo`.
fn cpu_field<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    let (_, value) =
        cpuinfo.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key)?;
    Some(value.trim())
}

/// x86 and others have a model name; ARM has the numbers of implementer and part, boards a model.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let field = |key| cpu_field(cpuinfo, key);
    let named = field("model name").or_else(|| field("cpu model")).or_else(|| field("Model"));
    if let Some(name) = named {
        return Some(name.to_owned());
    }
    let (implementer, part) = field("CPU implementer").zip(field("CPU part"))?;
    Some(format!("ARM implementer {implementer}, part {part}"))
}

/// What the firmware calls the machine.
fn machine() -> String {
    let parts = ["sys_vendor", "product_name"].map(|name| read(format!("/sys/class/dmi/id/{name}")));
    parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Files that container engines leave at the root. Source: `podman-run(1)`, "/run/.containerenv".
fn container() -> Option<&'static str> {
    let hints = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    hints.iter().find(|(path, _)| Path::new(path).exists()).map(|(_, engine)| *engine)
}

fn virtualisation(machine: &str, cpuinfo: &str, container: Option<&str>) -> Option<String> {
    let flags = cpu_field(cpuinfo, "flags").unwrap_or_default();
    let words = ["qemu", "kvm", "virtual", "vmware", "xen", "bochs", "hvm", "amazon ec2", "google compute"];
    let named = words.iter().any(|word| machine.to_lowercase().contains(word));
    let virtual_machine = named || flags.split_ascii_whitespace().any(|flag| flag == "hypervisor");
    let guest = virtual_machine.then(|| match machine {
        "" => format!("virtual machine{}", nested(flags)),
        name => format!("virtual machine ({name}){}", nested(flags)),
    });
    let inside = container.map(|engine| format!("container ({engine})"));
    let parts: Vec<String> = [inside, guest].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" in a "))
}

/// Whether a guest could have guests of its own. It tells nothing about its own depth, which has no
/// sign that could be trusted, so it is no warning.
fn nested(flags: &str) -> &'static str {
    match flags.split_ascii_whitespace().any(|flag| ["vmx", "svm"].contains(&flag)) {
        true => " with nested virtualisation",
        false => "",
    }
}

fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const XEON: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 167\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu vme hypervisor\n";
    const GRAVITON: &str = "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n";
    const RASPBERRY: &str = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n";

    fn store(filesystem: &str) -> StoreInfo {
        StoreInfo { path: "/var/tmp".into(), filesystem: filesystem.into(), free_bytes: 1 }
    }

    #[test]
    fn a_processor_has_a_name_on_x86_and_on_arm() {
        assert_eq!(cpu_model(XEON).unwrap(), "Intel(R) Xeon(R) Processor");
        assert_eq!(cpu_model(GRAVITON).unwrap(), "ARM implementer 0x41, part 0xd0c");
        assert_eq!(cpu_model(RASPBERRY).unwrap(), "Raspberry Pi 4 Model B Rev 1.4");
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn the_name_of_the_system_loses_its_quotes() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(pretty_name(text).unwrap(), "Debian GNU/Linux 12 (bookworm)");
        assert_eq!(pretty_name("NAME=x\n"), None);
    }

    #[test]
    fn a_guest_is_known_by_its_processor_or_by_its_firmware() {
        assert_eq!(virtualisation("", XEON, None).unwrap(), "virtual machine");
        assert_eq!(
            virtualisation("QEMU KVM Virtual Machine", GRAVITON, Some("docker")).unwrap(),
            "container (docker) in a virtual machine (QEMU KVM Virtual Machine)"
        );
        let nested = XEON.replace("vme", "vmx");
        assert_eq!(virtualisation("", &nested, None).unwrap(), "virtual machine with nested virtualisation");
        let on_metal = nested.replace("hypervisor", "");
        assert_eq!(virtualisation("LENOVO 20XW", &on_metal, None), None);
        assert_eq!(virtualisation("LENOVO 20XW", GRAVITON, None), None);
    }

    #[test]
    fn this_machine_can_be_described() {
        let manifest =
            gather(store("xfs"), Seed(2010), vec!["fsduel".into(), "run".into()], Demand::default());
        assert_eq!(manifest.seed, "2010");
        assert!(manifest.kernel.starts_with(|first: char| first.is_ascii_digit()), "{}", manifest.kernel);
        assert!(manifest.cpus_count >= 1);
        assert!(manifest.memory_bytes > 16 << 20);
        assert!(manifest.started_at.parse::<jiff::Timestamp>().is_ok());
        assert!(manifest.load_average.is_some());
    }

    #[test]
    fn two_runs_have_two_names() {
        let (one, other) = (run_id(), run_id());
        assert_eq!(one.len(), 36, "{one}");
        assert_ne!(one, other);
    }
}
