//! Calls that share a transaction: what happens when it is refused, when its
//! connection dies, and when one of its rows is locked.

use std::sync::Arc;
use std::time::Duration;

use sterna_store::{
    Claim, Commit, Entry, Error, ErrorKind, FlowId, Lease, Name, NewTask, Owner, TaskId,
    TaskUpdate, Tasks,
};
use sterna_store_postgres::{PostgresStore, Schema};
use tokio::task::JoinSet;
use tokio_postgres::Client;

use crate::server::{Server, store};

const TASKS: u8 = 40;

/// Counts the connections of the store that wait for a lock.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE application_name = '@' AND wait_event_type = 'Lock'";

#[tokio::test]
async fn calls_that_come_at_once_share_transactions() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    for result in fleet.append_to_all().await {
        result.unwrap();
    }
    let transactions = fleet
        .count("SELECT count(DISTINCT xmin::text) FROM @.entry")
        .await;
    assert!(transactions <= 6, "{transactions} for {TASKS} commits");
    fleet.check_entries(&[]).await;
    fleet.end().await;
}

#[tokio::test]
async fn a_call_that_the_database_refuses_fails_alone() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    let poison = TaskId::from_bytes([7; 16]);
    let check = format!("ALTER TABLE @.entry ADD CHECK (task <> '\\x{poison}')");
    fleet.execute(&check).await;
    for (number, result) in (1..).zip(fleet.append_to_all().await) {
        match result {
            Ok(_) => assert_ne!(number, 7),
            Err(error) => assert_eq!((number, error.kind()), (7, ErrorKind::Internal)),
        }
    }
    fleet.check_entries(&[7]).await;
    fleet.end().await;
}

#[tokio::test]
async fn a_connection_that_dies_in_the_middle_loses_nothing_and_writes_nothing_twice() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    // Every entry waits for a lock that this test has.
    fleet
        .execute(
            "CREATE FUNCTION @.wait() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM pg_advisory_xact_lock_shared(hashtext(TG_TABLE_SCHEMA)); RETURN NEW; END $$;
             CREATE TRIGGER wait BEFORE INSERT ON @.entry FOR EACH ROW EXECUTE FUNCTION @.wait();
             SELECT pg_advisory_lock(hashtext('@'))",
        )
        .await;
    let appending = Arc::clone(&fleet.store);
    let leases = fleet.leases.clone();
    let mut appends = JoinSet::new();
    appends.spawn(async move { append_to_all(&appending, &leases).await });
    for _ in 0..3 {
        fleet.wait_for_a_lock().await;
        fleet
            .execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE application_name = '@' AND wait_event_type = 'Lock'",
            )
            .await;
    }
    fleet.execute("SELECT pg_advisory_unlock_all()").await;
    for result in appends.join_next().await.unwrap().unwrap() {
        result.unwrap();
    }
    fleet.check_entries(&[]).await;
    fleet.end().await;
}

#[tokio::test]
async fn a_row_that_is_locked_keeps_no_other_call_waiting() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    let locked = TaskId::from_bytes([7; 16]);
    let lock = format!("BEGIN; SELECT 1 FROM @.task WHERE id = '\\x{locked}' FOR UPDATE");
    fleet.execute(&lock).await;
    let mut appends = JoinSet::new();
    for lease in fleet.leases.clone() {
        let store = Arc::clone(&fleet.store);
        appends.spawn(async move { append(&store, lease).await });
    }
    for _ in 1..TASKS {
        appends.join_next().await.unwrap().unwrap().unwrap();
    }
    // All but one are through, and that one still waits.
    fleet.check_entries(&[7]).await;
    fleet.execute("ROLLBACK").await;
    appends.join_next().await.unwrap().unwrap().unwrap();
    fleet.check_entries(&[]).await;
    fleet.end().await;
}

#[tokio::test]
async fn a_lease_that_is_taken_over_before_the_commit_writes_nothing() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    // Another worker takes one of the tasks over.
    let taken = TaskId::from_bytes([7; 16]);
    let take = format!("BEGIN; UPDATE @.task SET fence = fence + 1 WHERE id = '\\x{taken}'");
    fleet.execute(&take).await;
    let mut appends = JoinSet::new();
    for lease in fleet.leases.clone() {
        let store = Arc::clone(&fleet.store);
        appends.spawn(async move { append(&store, lease).await });
    }
    for _ in 1..TASKS {
        appends.join_next().await.unwrap().unwrap().unwrap();
    }
    fleet.execute("COMMIT").await;
    let refused = appends.join_next().await.unwrap().unwrap().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Fenced);
    fleet.check_entries(&[7]).await;
    fleet.end().await;
}

#[tokio::test]
async fn reads_that_come_at_once_share_a_statement_and_show_each_caller_its_own() {
    let Some(fleet) = Fleet::start().await else {
        return;
    };
    fleet.execute("BEGIN; LOCK TABLE @.task").await;
    let mut reads = JoinSet::new();
    for number in 1..=TASKS {
        for owner in [1, 2] {
            let store = Arc::clone(&fleet.store);
            let (caller, task) = (
                Owner::from_digest([owner; 32]),
                TaskId::from_bytes([number; 16]),
            );
            reads.spawn(async move { (owner, task, store.read(caller, task).await) });
        }
    }
    fleet.wait_for_a_lock().await;
    for _ in 0..20 {
        let waiting = fleet.count(WAITING).await;
        assert!(waiting <= 2, "{waiting} connections for reads");
    }
    fleet.execute("ROLLBACK").await;
    for (owner, task, read) in reads.join_all().await {
        let shown = read.unwrap().map(|shown| shown.summary.id);
        assert_eq!(shown, (owner == 1).then_some(task));
    }
    fleet.end().await;
}

/// Many tasks that one worker holds, and a connection beside the store's.
struct Fleet {
    server: Arc<Server>,
    schema: Schema,
    store: Arc<PostgresStore>,
    leases: Vec<Lease>,
    client: Client,
}

impl Fleet {
    async fn start() -> Option<Self> {
        let server = Server::shared()?;
        let config = server.config();
        let store = Arc::new(store(&config).await);
        for number in 1..=TASKS {
            let (id, flow) = (
                TaskId::from_bytes([number; 16]),
                FlowId::from_bytes([1; 16]),
            );
            let owner = Owner::from_digest([1; 32]);
            let task = NewTask::new(id, owner, flow, name("deploy"), "{}".into());
            store.create(task).await.unwrap();
        }
        let mut claim = Claim::new(name("worker"), Duration::from_secs(3600));
        claim.limit = u32::from(TASKS);
        let mut claimed = store.claim(claim).await.unwrap();
        claimed.sort_by_key(|claimed| claimed.lease.task);
        Some(Self {
            client: server.client().await,
            server,
            schema: config.schema,
            store,
            leases: claimed.iter().map(|claimed| claimed.lease).collect(),
        })
    }

    async fn append_to_all(&self) -> Vec<Result<TaskUpdate, Error>> {
        append_to_all(&self.store, &self.leases).await
    }

    /// Insists that every task but `missing` has its one entry.
    async fn check_entries(&self, missing: &[u8]) {
        let wanted = i64::from(TASKS) - i64::try_from(missing.len()).unwrap();
        let counts = "SELECT count(*) FROM @.entry JOIN @.task ON task.id = entry.task
                      WHERE task.entries = 1";
        assert_eq!(self.count(counts).await, wanted);
        assert_eq!(self.count("SELECT count(*) FROM @.entry").await, wanted);
        assert_eq!(
            self.count("SELECT sum(entries)::bigint FROM @.task").await,
            wanted
        );
    }

    async fn count(&self, sql: &str) -> i64 {
        let rows = self.client.query(&self.sql(sql), &[]).await.unwrap();
        rows[0].get(0)
    }

    async fn execute(&self, sql: &str) {
        self.client.batch_execute(&self.sql(sql)).await.unwrap();
    }

    fn sql(&self, sql: &str) -> String {
        sql.replace('@', self.schema.as_str())
    }

    /// Returns when a call of the store waits for a lock.
    async fn wait_for_a_lock(&self) {
        while self.count(WAITING).await == 0 {}
    }

    async fn end(self) {
        drop(self.store);
        self.server.drop_schema(&self.schema).await;
    }
}

/// Commits one entry to each of `leases` at once.
async fn append_to_all(
    store: &Arc<PostgresStore>,
    leases: &[Lease],
) -> Vec<Result<TaskUpdate, Error>> {
    let mut appends = JoinSet::new();
    for (number, lease) in leases.iter().copied().enumerate() {
        let store = Arc::clone(store);
        appends.spawn(async move { (number, append(&store, lease).await) });
    }
    let mut results = appends.join_all().await;
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

async fn append(store: &PostgresStore, lease: Lease) -> Result<TaskUpdate, Error> {
    let entry = Entry::new(name("plan"), "done".into());
    store.append(lease, Commit::of([entry])).await
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}
