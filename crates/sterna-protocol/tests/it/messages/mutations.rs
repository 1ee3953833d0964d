//! Every type of ours against every definition of every official schema: on
//! values made up from it, with each member taken out in turn and each value
//! replaced by one of every other type, both must come to the same judgement.

use std::collections::BTreeSet;

use serde_json::Value;

use super::instances::instances;
use super::judgement::Judge;
use super::{catalog, spec};

#[test]
fn types_agree_with_the_schema_of_2026_07_28() {
    check("2026-07-28");
}

#[test]
fn types_agree_with_the_schema_of_the_tasks_extension() {
    check("ext-tasks");
}

#[test]
fn types_agree_with_the_schema_of_2025_11_25() {
    check("2025-11-25");
}

#[test]
fn types_agree_with_the_schema_of_2025_06_18() {
    check("2025-06-18");
}

#[test]
fn types_agree_with_the_schema_of_2025_03_26() {
    check("2025-03-26");
}

#[track_caller]
fn check(revision: &str) {
    let Some(definitions) = spec::definitions(revision) else {
        return;
    };
    let judge = Judge::new(revision, &definitions);
    let (mut judged, mut failures) = (0_usize, Vec::new());
    for name in definitions.keys() {
        let Some(codec) = catalog::find(revision, name) else {
            assert!(
                BASES.contains(&name.as_str()),
                "no type for {name} of {revision}"
            );
            continue;
        };
        let mut seen = BTreeSet::new();
        for value in instances(judge.schema(), name)
            .iter()
            .flat_map(|value| mutations(value, 3))
        {
            if seen.insert(value.to_string()) {
                judged += 1;
                failures.extend(judge.disagreement(codec, name, &value));
            }
        }
    }
    let count = failures.len();
    failures.truncate(20);
    assert!(failures.is_empty(), "{count} of {judged}: {failures:#?}");
    assert!(judged > 5_000, "only {judged} values");
}

/// Definitions that others are built from and no message is alone.
const BASES: &[&str] = &[
    "BaseMetadata",
    "CacheableResult",
    "ClientResult",
    "Cursor",
    "Icons",
    "InputResponse",
    "InputResponseRequestParams",
    "JSONArray",
    "JSONRPCBatchRequest",
    "JSONRPCBatchResponse",
    "JSONRPCError",
    "JSONRPCErrorResponse",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "JSONRPCResultResponse",
    "JSONValue",
    "Notification",
    "PaginatedRequest",
    "PaginatedResult",
    "Request",
    "ResourceContents",
    "ResourceRequestParams",
    "Result",
    "ResultType",
    "ServerResult",
    "TaskAugmentedRequestParams",
    "TasksExtensionCapability",
];

/// The value itself, and the value with one thing wrong with it, down to
/// `depth`.
pub(super) fn mutations(value: &Value, depth: u8) -> Vec<Value> {
    let mut mutations = vec![value.clone()];
    mutate(value, depth, &mut |mutation| mutations.push(mutation));
    mutations
}

fn mutate(value: &Value, depth: u8, report: &mut dyn FnMut(Value)) {
    for stranger in STRANGERS {
        let stranger: Value = serde_json::from_str(stranger).unwrap();
        if stranger != *value {
            report(stranger);
        }
    }
    match value {
        Value::Object(members) if depth > 0 => {
            for (name, member) in members {
                let mut without = members.clone();
                without.remove(name);
                report(Value::Object(without));
                mutate(member, depth - 1, &mut |mutation| {
                    let mut with = members.clone();
                    with.insert(name.clone(), mutation);
                    report(Value::Object(with));
                });
            }
        }
        Value::Array(items) if depth > 0 => {
            for (place, item) in items.iter().enumerate() {
                mutate(item, depth - 1, &mut |mutation| {
                    let mut with = items.clone();
                    with[place] = mutation;
                    report(Value::Array(with));
                });
            }
        }
        _ => {}
    }
}

/// One value of every type.
const STRANGERS: &[&str] = &["null", "true", "7", "\"strange\"", "[]", "{}"];
