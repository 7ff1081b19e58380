//! The frame of a report about directories: one case, on the file system that is there.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Cannot, Result};
use crate::guard::Demand;
use crate::manifest;
use crate::result::{
    CaseResult, Configuration, Environment, RunReport, Status, StoreInfo, SuiteInfo, Verify,
};
use crate::scratch;
use crate::units::Seed;

/// The place of a run that is only planned.
const NOWHERE: &str = "none";

/// A place, and the file system that it is on.
pub(super) fn at(place: &Path) -> Result<(StoreInfo, Configuration)> {
    let state = scratch::store_info(place)?;
    let block = place.metadata().cannot(|| format!("look at {}", place.display()))?.blksize();
    let configuration = configuration(&state.filesystem, u32::try_from(block).unwrap_or(u32::MAX));
    let path = place.canonicalize().cannot(|| format!("look at {}", place.display()))?;
    let store = StoreInfo {
        path: path.display().to_string(),
        filesystem: state.filesystem,
        free_bytes: state.free.0,
    };
    Ok((store, configuration))
}

/// No place at all.
pub(super) fn nowhere() -> (StoreInfo, Configuration) {
    (StoreInfo::default(), configuration(NOWHERE, 0))
}

fn configuration(filesystem: &str, block_size_bytes: u32) -> Configuration {
    Configuration {
        id: filesystem.to_owned(),
        filesystem: filesystem.to_owned(),
        mount_options: String::new(),
        mkfs_options: vec![],
        block_size_bytes,
        environment: 0,
    }
}

/// A report without a case.
pub(super) fn report(title: &str, argv: Vec<String>, store: StoreInfo, seed: Seed) -> RunReport {
    let manifest = manifest::gather(store, seed, argv, Demand::default());
    let environment = Environment {
        backend: "directory".into(),
        kernel: manifest.kernel.clone(),
        tools: BTreeMap::new(),
        timings_comparable: true,
        ..Environment::default()
    };
    let suite = SuiteInfo {
        name: "postmark".into(),
        title: title.to_owned(),
        scale: crate::result::ONLY_SCALE.into(),
        ..SuiteInfo::default()
    };
    RunReport { environments: vec![environment], ..RunReport::of(manifest::run_id(), manifest, suite) }
}

/// The case of which nothing has failed yet.
pub(super) fn begun(configuration: Configuration) -> CaseResult {
    CaseResult {
        status: Status::Passed,
        verify: Verify {
            details: vec!["no file system was made: fsck, kernel log and teardown are not checked".into()],
            ..Verify::default()
        },
        ..CaseResult::of(configuration, 1, 1)
    }
}
