//! `sterna store stats`.

use std::time::Duration;

use expect_test::expect;
use sterna_store::{
    Claimant, Effect, EffectClaim, FlowId, Ledger as _, Name, NewTask, Owner, TaskId, Tasks as _,
};
use sterna_store_sqlite::{Config, SqliteStore};
use tempfile::TempDir;

use crate::command::{Ran, command, run};

#[tokio::test]
async fn a_store_shows_its_rows_and_how_long_they_are_kept() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tasks.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    for number in 1..=3 {
        let tool = Name::new("book").unwrap();
        let owner = Owner::from_digest([number / 2; 32]);
        let flow = FlowId::from_bytes([number; 16]);
        let id = TaskId::from_bytes([number; 16]);
        let mut task = NewTask::new(id, owner, flow, tool, "{}".into());
        task.ttl = (number != 3).then_some(Duration::from_secs(86_400));
        store.create(task).await.unwrap();
    }
    let effect = Effect::new(FlowId::from_bytes([1; 16]), Name::new("pay").unwrap());
    let claim = EffectClaim::new(Claimant::from_bytes([1; 16]), Duration::from_secs(3600));
    store.claim_once(effect, claim).await.unwrap();
    let path = path.display().to_string();
    let stats = |args: &[&str]| -> Ran {
        let mut command = command();
        run(command.args(args).args(["store", "stats", &path]), "")
    };
    let json = stats(&["--json"]).json();
    let hour = json["effects"]["until"].as_str().unwrap().to_owned();
    let bytes = json["diskBytes"].as_u64().unwrap();
    let shown = stats(&[]).shown().replace(&hour, "IN AN HOUR");
    let shown = shown.replace(
        &format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100),
        "SIZE",
    );
    expect![[r#"
        rows            number  expired  the last is kept until
        tasks, working  3       0        1 without an end
        effects         1       0        IN AN HOUR
        rounds          0       0        -
        blobs           0       0        -

        2 owners with unfinished tasks, at most 2 of one (the quota is TaskConfig::per_owner)
        1 effect claimed and not reported
        SIZE on the disk
        exit 0
    "#]]
    .assert_eq(&shown);
    assert_eq!(json["tasks"]["working"]["rows"], 3);
    assert_eq!(json["mostPerOwner"], 2);
}

#[test]
fn a_store_that_is_not_there_is_not_made() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tasks.db");
    let ran = run(command().args(["store", "stats"]).arg(&path), "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("the store cannot be opened"), "{ran:?}");
    assert!(ran.stderr.contains("docs/errors/MR0705.md"), "{ran:?}");
    assert!(!path.exists());
}
