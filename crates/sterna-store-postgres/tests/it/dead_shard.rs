//! One of two PostgreSQL servers is stopped or killed for a while.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_store::{
    Blobs as _, Claim, FlowId, Lease, Name, NewTask, Outcome, Owner, Rings, Shard, Shards, TaskId,
    Tasks as _,
};
use tokio::time::Instant;

use crate::server::{Server, store};

#[tokio::test]
async fn a_stopped_server_keeps_its_own_tasks_waiting_and_no_others() {
    let (Some(alive), Some(dead)) = (Server::start(), Server::start()) else {
        return;
    };
    let fleet = Fleet::start(&alive, &dead).await;
    dead.signal("STOP");
    fleet.works_on_the_living_shard(1).await;
    dead.signal("CONT");
    fleet.works_on_the_shard_that_came_back(1).await;
}

#[tokio::test]
async fn a_killed_server_keeps_its_own_tasks_waiting_and_no_others() {
    let (Some(alive), Some(dead)) = (Server::start(), Server::start()) else {
        return;
    };
    let fleet = Fleet::start(&alive, &dead).await;
    dead.control(&["stop", "-m", "immediate"]);
    fleet.works_on_the_living_shard(1).await;
    dead.control(&["start"]);
    fleet.works_on_the_shard_that_came_back(1).await;
}

#[tokio::test]
async fn a_server_that_is_away_for_a_minute_delays_no_task_of_the_other() {
    let (Some(alive), Some(dead)) = (Server::start(), Server::start()) else {
        return;
    };
    let fleet = Fleet::start(&alive, &dead).await;
    dead.signal("STOP");
    fleet.works_on_the_living_shard(1).await;
    // A task every half second, 116 in all.
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    let mut slowest = Duration::ZERO;
    for number in (22..=252).step_by(2) {
        ticks.tick().await;
        let begun = Instant::now();
        fleet.create(number).await;
        let leases = fleet.claim().await;
        assert_eq!(leases.len(), 1, "{number}");
        for lease in leases {
            let done = Outcome::Completed(Bytes::new());
            fleet.shards.finish(lease, done).await.unwrap();
        }
        slowest = slowest.max(begun.elapsed());
    }
    eprintln!("the slowest of 116 tasks took {slowest:.1?}");
    assert!(slowest < MARGIN, "{slowest:?}");
    dead.signal("CONT");
    fleet.works_on_the_shard_that_came_back(1).await;
}

/// Two shards with ten tasks each.
struct Fleet {
    shards: Shards,
}

impl Fleet {
    async fn start(alive: &Server, dead: &Server) -> Self {
        let mut shards = Vec::new();
        for (name, server) in [("alive", alive), ("dead", dead)] {
            let mut config = server.config();
            // Short, so that the test is: a call gives up after two seconds.
            config.limit = Duration::from_secs(2);
            config.attempts = 1;
            shards.push(Shard::new(name, Arc::new(store(&config).await)));
        }
        let shards = Shards::open(shards, Rings::new(&[2]).unwrap()).await;
        let fleet = Self {
            shards: shards.unwrap(),
        };
        for number in 0..20 {
            fleet.create(number).await;
        }
        fleet
    }

    /// An even number is on the first shard.
    async fn create(&self, number: u8) {
        let (id, flow) = ([number; 16], FlowId::from_bytes([number; 16]));
        let tool = Name::new("tool").unwrap();
        let new = NewTask::new(TaskId::from_bytes(id), OWNER, flow, tool, Bytes::new());
        self.shards.create(new).await.unwrap();
    }

    async fn claim(&self) -> Vec<Lease> {
        let mut claim = Claim::new(Name::new("worker").unwrap(), LEASE);
        claim.limit = 20;
        let claimed = self.shards.claim(claim).await.unwrap();
        claimed.into_iter().map(|claimed| claimed.lease).collect()
    }

    async fn works_on_the_living_shard(&self, parity: u8) {
        let begun = Instant::now();
        let leases = self.claim().await;
        // Half a lease at most for a shard that was well a moment ago.
        assert!(
            begun.elapsed() < LEASE / 2 + MARGIN,
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(leases.len(), 10);
        assert_eq!(self.shards.probe().await.unwrap(), ["dead"]);
        let begun = Instant::now();
        for lease in leases {
            assert_ne!(lease.task.as_bytes()[0] % 2, parity);
            let done = Outcome::Completed(Bytes::new());
            self.shards.finish(lease, done).await.unwrap();
        }
        self.create(20).await;
        assert_eq!(self.claim().await.len(), 1);
        assert!(begun.elapsed() < MARGIN, "{:?}", begun.elapsed());
        let waits = self.shards.read(OWNER, TaskId::from_bytes([1; 16]));
        let error = waits.await.unwrap_err();
        assert!(error.to_string().starts_with("shard dead"), "{error}");
    }

    async fn works_on_the_shard_that_came_back(&self, parity: u8) {
        let begun = Instant::now();
        let mut found = BTreeSet::new();
        while found.len() < 10 {
            assert!(begun.elapsed() < Duration::from_secs(30), "{found:?}");
            let leases = self.claim().await;
            found.extend(leases.into_iter().map(|lease| lease.task.as_bytes()[0]));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(found.iter().all(|number| number % 2 == parity));
        assert_eq!(self.shards.probe().await.unwrap(), Vec::<String>::new());
    }
}

const OWNER: Owner = Owner::from_digest([1; 32]);

/// Long enough that no task is claimed twice while the test runs.
const LEASE: Duration = Duration::from_secs(120);

const MARGIN: Duration = Duration::from_secs(5);
