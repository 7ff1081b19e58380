//! A case that never was, for tests.

use fsduel_harness::result::CaseResult;
use serde_json::{Value, json};

/// With this status, and more of its JSON.
pub fn case(status: &str, more: Value) -> CaseResult {
    let mut case = json!({
        "id": "a/1", "block": 1, "order": 1, "started_s": 0.0, "image_bytes": 0, "status": status,
        "configuration": { "id": "a", "filesystem": "a", "mount_options": "", "mkfs_options": [],
                           "block_size_bytes": 4096, "environment": 0 },
    });
    if let (Some(case), Value::Object(more)) = (case.as_object_mut(), more) {
        case.extend(more);
    }
    serde_json::from_value(case).unwrap()
}
