use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;

use super::{Fleet, Progress, served_by};
use crate::talk::Session;

/// Opens a session and calls in it; says which instance served each request.
async fn play(balancer: &str, number: usize, progress: &Progress) -> Vec<String> {
    let (session, opened) = Session::open(balancer).await;
    progress.step();
    assert_eq!(opened.result()["protocolVersion"], "2025-11-25");
    let mut served = vec![served_by(&opened)];
    for call in 0..1 + number % 5 {
        let text = format!("{number}-{call}");
        let reply = session.call("echo", &json!({ "text": text })).await;
        progress.step();
        assert_eq!(reply.result()["content"][0]["text"], text);
        served.push(served_by(&reply));
    }
    served
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_of_a_session_is_answered_while_an_instance_dies_and_comes_back() {
    let mut fleet = Fleet::start().await;
    let progress = Arc::new(Progress::default());
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (balancer, progress) = (fleet.nginx.address.clone(), Arc::clone(&progress));
        clients.spawn(async move {
            let mut served = Vec::new();
            for number in (client..SESSIONS).step_by(8) {
                served.push(play(&balancer, number, &progress).await);
            }
            served
        });
    }
    progress.reach(250).await;
    fleet.one.kill();
    progress.reach(450).await;
    fleet.restart_one();
    let served: Vec<_> = clients.join_all().await.concat();

    assert_eq!(served.iter().map(Vec::len).sum::<usize>(), 800);
    for instance in fleet.addresses() {
        let taken_over = served
            .iter()
            .filter(|requests| requests[0] != *instance && requests.contains(instance));
        assert!(
            taken_over.count() > 10,
            "{instance} serves sessions that it did not open"
        );
    }
    // The one that came back has its place again.
    let after = play(&fleet.nginx.address, 4, &progress).await;
    assert!(after.contains(&fleet.one.address));
}

const SESSIONS: usize = 200;
