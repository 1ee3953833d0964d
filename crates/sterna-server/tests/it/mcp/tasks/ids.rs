//! Names of tasks that cannot be guessed.

use std::collections::HashSet;

use serde_json::json;
use sterna_server::{Cx, Server, TaskMode, Tool};

use super::Fleet;

async fn nothing(_: Cx<'_>, (): ()) {}

/// Of 64 ids of 32 random digits, no two share eight in one place: that would
/// happen once in about half a million runs. Ids that are counted, or that hold
/// a time, share most of them.
#[tokio::test(start_paused = true)]
async fn the_id_of_a_task_says_nothing_of_the_next() {
    let fleet = Fleet::new();
    let tool = Tool::new("nothing", "", nothing).task(TaskMode::Always);
    let client = fleet.front(Server::new("ids", "1").offer(tool));
    let mut seen: [HashSet<String>; 4] = Default::default();
    for _ in 0..64 {
        let id = client.begin("nothing", json!({})).await;
        assert_eq!(id.len(), 32);
        for (at, seen) in seen.iter_mut().enumerate() {
            let part = id[at * 8..][..8].to_owned();
            assert!(seen.insert(part), "{id} shares digits with an earlier one");
        }
    }
}
