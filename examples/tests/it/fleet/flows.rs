use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Fleet, Progress, served_by};
use crate::talk::call;

/// Plays one interview to its end; says which instance served each round.
async fn play(balancer: &str, flow: usize, progress: &Progress) -> Vec<String> {
    let questions = 1 + flow % 5;
    let arguments = json!({ "questions": questions });
    let mut served = Vec::new();
    let mut more = json!({});
    loop {
        let reply = call(balancer, "interview", &arguments, more).await;
        served.push(served_by(&reply));
        progress.step();
        let result = reply.result();
        if result["resultType"] != "input_required" {
            let expected: Vec<_> = (1..=questions).map(|at| format!("{flow}-q{at}")).collect();
            assert_eq!(result["content"][0]["text"], expected.join(" "));
            assert_eq!(served.len(), questions + 1);
            return served;
        }
        let asked = result["inputRequests"].as_object().unwrap();
        let answers = asked.keys().map(|key| {
            let content = json!({ key: format!("{flow}-{key}") });
            (key.clone(), json!({"action": "accept", "content": content}))
        });
        let answers: Value = answers.collect::<serde_json::Map<_, _>>().into();
        more = json!({"inputResponses": answers, "requestState": result["requestState"]});
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_flow_finishes_while_an_instance_dies_and_comes_back() {
    let mut fleet = Fleet::start().await;
    let progress = Arc::new(Progress::default());
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let (balancer, progress) = (fleet.nginx.address.clone(), Arc::clone(&progress));
        clients.spawn(async move {
            let mut served = Vec::new();
            for flow in (client..FLOWS).step_by(8) {
                served.push(play(&balancer, flow, &progress).await);
            }
            served
        });
    }
    progress.reach(250).await;
    fleet.one.kill();
    progress.reach(450).await;
    fleet.restart_one();
    let served: Vec<_> = clients.join_all().await.concat();

    assert_eq!(served.len(), FLOWS);
    for instance in fleet.addresses() {
        let taken_over = served
            .iter()
            .filter(|rounds| rounds[0] != *instance && rounds.contains(instance));
        assert!(
            taken_over.count() > 10,
            "{instance} goes on with what others began"
        );
    }
    let rounds: usize = served.iter().map(Vec::len).sum();
    assert_eq!(rounds, 800);
    // The one that came back has its place again.
    let after: BTreeSet<_> = play(&fleet.nginx.address, 4, &progress)
        .await
        .into_iter()
        .collect();
    assert!(after.contains(&fleet.one.address));
}

const FLOWS: usize = 200;
