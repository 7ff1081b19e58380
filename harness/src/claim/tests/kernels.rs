//! Claims in a run of several kernels, and on an emulated processor.

use super::*;

fn on_two_kernels() -> RunReport {
    report(&[
        case("btrfs@6.1", 1, "passed", 10.0),
        case("ext4@6.1", 1, "passed", 200.0),
        case("btrfs@6.12", 1, "passed", 30.0),
        case("ext4@6.12", 1, "passed", 200.0),
    ])
}

#[test]
fn each_claim_is_judged_on_each_kernel() {
    let mut spec = claim("btrfs < 0.1 * ext4");
    spec.text = "Btrfs needs less".into();
    let found = evaluate(&[spec.clone(), ClaimSpec { id: "other".into(), ..spec }], &[], &on_two_kernels());
    let told: Vec<_> = found.iter().map(|one| (one.id.as_str(), one.verdict)).collect();
    use ClaimVerdict::{DoesNotHold, Holds};
    let expected = [
        ("space@6.1", Holds),
        ("space@6.12", DoesNotHold),
        ("other@6.1", Holds),
        ("other@6.12", DoesNotHold),
    ];
    assert_eq!(told, expected);
    assert_eq!(found[1].text, "Btrfs needs less (on kernel 6.12)");
    assert!(found[1].must, "so it decides the exit code");
    assert_eq!(found[1].now.as_deref(), Some("small-files space used: btrfs 30 B, ext4 200 B, ×0.150"));
}

#[test]
fn what_one_kernel_lacks_leaves_the_claim_on_the_others() {
    let mut report = on_two_kernels();
    report.cases.retain(|case| case.configuration.id != "ext4@6.1");
    let found = evaluate(&[claim("btrfs < ext4")], &[], &report);
    assert_eq!((found[0].verdict, found[1].verdict), (ClaimVerdict::NotChecked, ClaimVerdict::Holds));
    assert_eq!(found[0].reason.as_deref(), Some("ext4@6.1 is not in this run"));
}

#[test]
fn a_claim_of_a_run_without_cases_is_told() {
    assert_eq!(evaluate(&[claim("btrfs < ext4")], &[], &report(&[])).len(), 1);
}

#[test]
fn of_emulated_times_no_claim_is_judged_but_its_figures_are_shown() {
    let mut report = on_two_kernels();
    report.environments = vec![
        serde_json::from_value(json!({ "backend": "vm", "kernel": "6.1", "tools": {},
                                            "timings_comparable": false }))
        .unwrap(),
    ];
    let times = ClaimSpec { metric: Some("synced_s".into()), ..claim("btrfs <= ext4") };
    let found = evaluate(&[times, claim("btrfs < ext4")], &[], &report);
    for one in &found[..2] {
        assert_eq!(one.verdict, ClaimVerdict::NotChecked);
        assert!(one.reason.as_ref().unwrap().contains("emulated"), "{one:?}");
        assert!(one.now.as_ref().unwrap().contains("btrfs 2"), "{one:?}");
    }
    assert!(found[2..].iter().all(|one| one.verdict == ClaimVerdict::Holds), "{found:?}");
}
