//! One damaged row does not keep the others from their work.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{Claim, FlowId, Name, NewTask, Owner, Page, Status, Sweep, TaskId, Tasks};
use sterna_store_postgres::PostgresStore;

use crate::server::{Server, store};

const OWNER: Owner = Owner::from_digest([1; 32]);

/// Statements that damage the second of three tasks, whose id is `ID`, in the
/// schema `S`.
const DAMAGES: [(&str, &str); 9] = [
    ("no payload", "DELETE FROM S.payload WHERE task = ID"),
    ("status", "UPDATE S.task SET status = 'lost' WHERE id = ID"),
    ("flow id", "UPDATE S.task SET flow = '\\x01' WHERE id = ID"),
    ("attempts", "UPDATE S.task SET attempts = -1 WHERE id = ID"),
    (
        "entries",
        "UPDATE S.task SET entries = 9223372036854775807 WHERE id = ID",
    ),
    ("target", "UPDATE S.task SET target = '' WHERE id = ID"),
    (
        "fingerprint",
        "INSERT INTO S.question VALUES (ID, 'q', 1, '\\x01', 'open', '\\x00', NULL, NULL)",
    ),
    (
        "phase",
        "INSERT INTO S.question VALUES
            (ID, 'q', 1, '\\x00000000000000000000000000000000', 'half', '\\x00', NULL, NULL)",
    ),
    ("key", "INSERT INTO S.entry VALUES (ID, 0, '', '\\x00')"),
];

/// A store with three tasks.
struct Three {
    server: Arc<Server>,
    store: PostgresStore,
    schema: sterna_store_postgres::Schema,
}

impl Three {
    async fn new(server: &Arc<Server>) -> Self {
        let config = server.config();
        let store = store(&config).await;
        for number in 1..=3 {
            store.create(task(number)).await.unwrap();
        }
        Self {
            server: Arc::clone(server),
            store,
            schema: config.schema,
        }
    }

    async fn damage(&self, sql: &str, number: u8) {
        let sql = sql.replace("S.", &format!("{}.", self.schema.as_str()));
        let sql = sql.replace("ID", &format!("'\\x{}'", id(number)));
        let client = self.server.client().await;
        assert_eq!(client.execute(&sql, &[]).await.unwrap(), 1, "{sql}");
    }

    async fn claim(&self) -> Vec<TaskId> {
        let claimed = self.store.claim(everything()).await.unwrap();
        let mut ids: Vec<_> = claimed.iter().map(|claimed| claimed.lease.task).collect();
        ids.sort();
        ids
    }
}

#[tokio::test]
async fn a_damaged_task_is_set_aside_and_the_others_go_on() {
    let Some(server) = Server::shared() else {
        return;
    };
    for (what, sql) in DAMAGES {
        let three = Three::new(&server).await;
        three.damage(sql, 2).await;
        assert_eq!(three.claim().await, [id(1), id(3)], "{what}");
        // It is not looked at again and again.
        assert_eq!(three.claim().await, [], "{what}");
        let schema = three.schema.as_str();
        let due = format!("SELECT 1 FROM {schema}.task WHERE due_at IS NULL AND worker IS NULL");
        let aside = server.client().await.query(&due, &[]).await.unwrap();
        assert_eq!(aside.len(), 1, "{what}");
        // Its owner sees that it is over, and the others as they are.
        let shown = three.store.read(OWNER, id(2)).await.unwrap().unwrap();
        assert_eq!(
            (shown.summary.status, shown.outcome),
            (Status::Failed, None),
            "{what}"
        );
        let listing = three.store.list(OWNER, Page::first(10)).await.unwrap();
        let statuses: Vec<_> = listing.tasks.iter().map(|task| task.status).collect();
        let failed = statuses.iter().filter(|status| **status == Status::Failed);
        assert_eq!((statuses.len(), failed.count()), (3, 1), "{what}");
        server.drop_schema(&three.schema).await;
    }
}

#[tokio::test]
async fn a_damaged_task_does_not_keep_others_from_being_swept() {
    let Some(server) = Server::shared() else {
        return;
    };
    let three = Three::new(&server).await;
    let expired = "UPDATE S.task SET expires_at = 1, due_at = NULL WHERE id = ID";
    for number in 1..=2 {
        three.damage(expired, number).await;
    }
    three
        .damage("UPDATE S.task SET flow = '\\x01' WHERE id = ID", 2)
        .await;
    let swept = three
        .store
        .sweep_tasks(Sweep::new(Bytes::new()))
        .await
        .unwrap();
    assert_eq!((swept.expired, swept.deleted), (2, 2));
    let left = three.store.list(OWNER, Page::first(10)).await.unwrap();
    assert_eq!(left.tasks.len(), 1);
    server.drop_schema(&three.schema).await;
}

#[tokio::test]
async fn ten_thousand_tasks_of_one_owner_do_not_hide_those_of_another() {
    let Some(server) = Server::shared() else {
        return;
    };
    let three = Three::new(&server).await;
    let (schema, client) = (three.schema.as_str(), server.client().await);
    let many = format!(
        "INSERT INTO {schema}.task
         SELECT decode(md5(n::text), 'hex'), decode(repeat('02', 32), 'hex'),
                decode(md5(n::text), 'hex'), 'tool', 'working', NULL, 1, 1, NULL, 0, NULL, 1,
                0, 0, 0, 0, 0
         FROM generate_series(1, 10000) AS n;
         INSERT INTO {schema}.payload SELECT id, '' FROM {schema}.task
         ON CONFLICT DO NOTHING;
         ANALYZE {schema}.task"
    );
    client.batch_execute(&many).await.unwrap();
    let mut claim = everything();
    claim.limit = 4;
    let claimed = three.store.claim(claim).await.unwrap();
    let few = claimed.iter().filter(|claimed| claimed.owner == OWNER);
    assert_eq!((claimed.len(), few.count()), (4, 2));
    server.drop_schema(&three.schema).await;
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
