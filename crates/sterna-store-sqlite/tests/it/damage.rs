//! One damaged row does not keep the others from their work.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;
use sterna_store::{
    Claim, FlowId, Name, NewTask, Owner, Page, Status, Survey, Sweep, TaskId, TaskQuery, Tasks,
};
use sterna_store_sqlite::{Config, SqliteStore, SqliteSurvey};

const OWNER: Owner = Owner::from_digest([1; 32]);

/// Statements that damage the second of three tasks, whose id is `:id`.
const DAMAGES: [(&str, &str); 9] = [
    ("no payload", "DELETE FROM sterna_payload WHERE task = :id"),
    (
        "status",
        "UPDATE sterna_task SET status = 'lost' WHERE id = :id",
    ),
    (
        "flow id",
        "UPDATE sterna_task SET flow = x'01' WHERE id = :id",
    ),
    (
        "attempts",
        "UPDATE sterna_task SET attempts = -1 WHERE id = :id",
    ),
    (
        "entries",
        "UPDATE sterna_task SET entries = 9223372036854775807 WHERE id = :id",
    ),
    (
        "target",
        "UPDATE sterna_task SET target = '' WHERE id = :id",
    ),
    (
        "fingerprint",
        "INSERT INTO sterna_question VALUES (:id, 'q', 1, x'01', 'open', x'00', NULL, NULL)",
    ),
    (
        "phase",
        "INSERT INTO sterna_question VALUES
            (:id, 'q', 1, zeroblob(16), 'half', x'00', NULL, NULL)",
    ),
    ("key", "INSERT INTO sterna_entry VALUES (:id, 0, '', x'00')"),
];

#[tokio::test]
async fn a_damaged_task_is_set_aside_and_the_others_go_on() {
    for (what, sql) in DAMAGES {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let store = SqliteStore::open(&path, Config::default()).unwrap();
        for number in 1..=3 {
            store.create(task(number)).await.unwrap();
        }
        damage(&path, sql, 2);
        let claimed = store.claim(everything()).await.unwrap_or_else(|error| {
            panic!("{what}: {error}");
        });
        let mut ids: Vec<_> = claimed.iter().map(|claimed| claimed.lease.task).collect();
        ids.sort();
        assert_eq!(ids, [id(1), id(3)], "{what}");
        // It is not looked at again and again.
        assert_eq!(store.claim(everything()).await.unwrap(), [], "{what}");
        let due = "SELECT count(*) FROM sterna_task WHERE due_at IS NULL AND worker IS NULL";
        let connection = Connection::open(&path).unwrap();
        let aside: u32 = connection.query_row(due, [], |row| row.get(0)).unwrap();
        assert_eq!(aside, 1, "{what}");
        // Its owner sees that it is over, and the others as they are.
        let shown = store.read(OWNER, id(2)).await.unwrap().unwrap();
        assert_eq!(
            (shown.summary.status, shown.outcome),
            (Status::Failed, None),
            "{what}"
        );
        // An operator sees all of them.
        let survey = SqliteSurvey::open(&path).unwrap();
        let seen = survey.survey_tasks(TaskQuery::latest(10)).await.unwrap();
        assert_eq!(seen.tasks.len(), 3, "{what}");
        let unreadable = seen.tasks.iter().filter(|task| task.problem.is_some());
        assert!(unreadable.count() <= 1, "{what}");
        let listing = store.list(OWNER, Page::first(10)).await.unwrap();
        let statuses: Vec<_> = listing.tasks.iter().map(|task| task.status).collect();
        let failed = statuses.iter().filter(|status| **status == Status::Failed);
        assert_eq!((statuses.len(), failed.count()), (3, 1), "{what}");
    }
}

#[tokio::test]
async fn a_task_without_an_owner_is_set_aside_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    store.create(task(1)).await.unwrap();
    store.create(task(2)).await.unwrap();
    damage(
        &path,
        "UPDATE sterna_task SET principal = x'01' WHERE id = :id",
        2,
    );
    assert_eq!(store.claim(everything()).await.unwrap().len(), 1);
    assert_eq!(store.claim(everything()).await.unwrap(), []);
    assert_eq!(store.read(OWNER, id(2)).await.unwrap(), None);
}

#[tokio::test]
async fn a_damaged_task_does_not_keep_others_from_being_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, Config::default()).unwrap();
    for number in 1..=3 {
        store.create(task(number)).await.unwrap();
    }
    let expired = "UPDATE sterna_task SET expires_at = 1, due_at = NULL WHERE id = :id";
    for number in 1..=2 {
        damage(&path, expired, number);
    }
    damage(
        &path,
        "UPDATE sterna_task SET flow = x'01' WHERE id = :id",
        2,
    );
    let swept = store.sweep_tasks(Sweep::new(Bytes::new())).await.unwrap();
    assert_eq!((swept.expired, swept.deleted), (2, 2));
    assert_eq!(
        store
            .list(OWNER, Page::first(10))
            .await
            .unwrap()
            .tasks
            .len(),
        1
    );
}

fn damage(path: &Path, sql: &str, number: u8) {
    let connection = Connection::open(path).unwrap();
    let changed = connection.execute(sql, &[(":id", id(number).as_bytes())]);
    assert_eq!(changed.unwrap(), 1, "{sql}");
}

fn id(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}

fn task(number: u8) -> NewTask {
    let flow = FlowId::from_bytes([number; 16]);
    NewTask::new(
        id(number),
        OWNER,
        flow,
        Name::new("tool").unwrap(),
        Bytes::new(),
    )
}

fn everything() -> Claim {
    let mut claim = Claim::new(Name::new("worker").unwrap(), Duration::from_secs(60));
    claim.limit = 10;
    claim
}
