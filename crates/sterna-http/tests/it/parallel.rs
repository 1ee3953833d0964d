//! Many at once.

use std::sync::atomic::Ordering;

use tokio::task::JoinSet;

use crate::desk::Server;
use crate::wire::post;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_connections_at_once_are_all_served() {
    let server = Server::start(|_| {});
    let address = server.address;
    let mut clients = JoinSet::new();
    for client in 0..256 {
        clients.spawn(async move {
            let mut wire = crate::wire::Wire::connect(address).await;
            for call in 0..8 {
                let body = format!("{client}-{call}");
                assert_eq!(wire.call(&body).await.body, body);
            }
        });
    }
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    assert_eq!(server.state.begun.load(Ordering::SeqCst), 256 * 8);
}

#[tokio::test]
async fn calls_sent_without_waiting_are_answered_in_order() {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    let calls: String = (0..20).map(|n| post("", &n.to_string())).collect();
    wire.send(&calls).await;
    for n in 0..20 {
        assert_eq!(wire.answer().await.body, n.to_string());
    }
}
