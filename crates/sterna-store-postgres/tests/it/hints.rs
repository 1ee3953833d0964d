//! Hints travel from one instance to another.

use std::time::Duration;

use bytes::Bytes;
use sterna_store::{BlobId, Blobs, FlowId, Name, NewTask, Owner, Status, TaskId, Tasks, Wakeup};
use sterna_store_postgres::{Hints, PostgresStore};

use crate::server::{Server, store};

const CALLER: Owner = Owner::from_digest([1; 32]);

#[tokio::test]
async fn a_cancel_on_one_instance_is_heard_on_another() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let (here, there) = (store(&config).await, store(&config).await);
    hears(&there, &here).await;
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_blob_posted_on_one_instance_is_heard_on_another() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let (here, there) = (store(&config).await, store(&config).await);
    hears(&there, &here).await;
    let mut wakeups = there.wakeups();
    let blob = BlobId::from_bytes([7; 16]);
    let minute = Duration::from_secs(60);
    here.post_blob(blob, "posted".into(), minute).await.unwrap();
    // Cancels from before may still be on their way.
    while wakeups.next().await != Wakeup::Blob(blob) {}
    assert_eq!(there.blob(blob).await.unwrap().unwrap(), "posted");
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn a_listener_that_lost_its_connection_listens_again() {
    let Some(server) = Server::shared() else {
        return;
    };
    let config = server.config();
    let (here, there) = (store(&config).await, store(&config).await);
    hears(&there, &here).await;
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = $1 AND query LIKE 'LISTEN%'";
    let killed = server
        .client()
        .await
        .query(kill, &[&config.schema.as_str()])
        .await;
    assert_eq!(killed.unwrap().len(), 2);
    hears(&there, &here).await;
    server.drop_schema(&config.schema).await;
}

#[tokio::test]
async fn an_instance_that_does_not_listen_works_all_the_same() {
    let Some(server) = Server::shared() else {
        return;
    };
    let mut config = server.config();
    config.hints = Hints::Off;
    let store = store(&config).await;
    let mut wakeups = store.wakeups();
    cancel(&store, 1).await;
    // What it does itself it knows without the database.
    assert_eq!(wakeups.next().await, Wakeup::Task(id(1)));
    server.drop_schema(&config.schema).await;
}

/// Checks that `there` hears of changes made `here`. A hint is missed while the
/// listener is not connected, so it is sent until it is heard.
async fn hears(there: &PostgresStore, here: &PostgresStore) {
    let mut wakeups = there.wakeups();
    for number in 0..200 {
        cancel(here, number).await;
        let heard = tokio::time::timeout(Duration::from_millis(100), wakeups.next());
        if let Ok(wakeup) = heard.await {
            assert!(matches!(wakeup, Wakeup::Task(_)));
            return;
        }
    }
    panic!("nothing was heard");
}

async fn cancel(store: &PostgresStore, number: u8) {
    let flow = FlowId::from_bytes([number; 16]);
    let tool = Name::new("tool").unwrap();
    let task = NewTask::new(id(number), CALLER, flow, tool, Bytes::new());
    store.create(task).await.unwrap();
    let status = store.cancel(CALLER, id(number)).await.unwrap();
    assert_eq!(status, Some(Status::Cancelled));
}

fn id(number: u8) -> TaskId {
    TaskId::from_bytes([number; 16])
}
