//! A primary dies, and a standby takes its place.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use postgres_here::Postgres;
use sterna_store::{
    BlobId, Blobs as _, Claimant, Effect, EffectClaim, Error, FlowId, Ledger as _, Name, NewTask,
    OnceClaim, Owner, TaskId, Tasks as _,
};
use sterna_store_postgres::{Asynchronous, Config, PostgresStore, Replication};
use tokio::time::{Instant, timeout};

use crate::server::Server;

/// Bound for a promotion and everything around it.
const LIMIT: Duration = Duration::from_secs(40);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost_when_a_synchronous_standby_is_promoted() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    cluster
        .primary
        .set("synchronous_standby_names = 'ahead'")
        .unwrap();
    let store = PostgresStore::connect(cluster.config()).await.unwrap();
    let found = store.replication();
    assert_eq!(
        found.to_string(),
        "2 standbys, and commits wait for a synchronous one"
    );
    let load = Load::start(store);
    cluster.chain().unwrap();
    load.acknowledges(20).await;
    cluster.primary.signal("KILL").unwrap();
    let begun = Instant::now();
    // The new primary is synchronous with the standby that is left.
    cluster
        .ahead
        .set("synchronous_standby_names = 'behind'")
        .unwrap();
    cluster.ahead.control(&["promote"]).unwrap();
    load.acknowledges(20).await;
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    let (store, acknowledged) = load.stop().await;
    assert!(matches!(
        store.replication(),
        Replication::Synchronous { .. }
    ));
    assert_eq!(lost(&store, &acknowledged).await, [0, 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_when_the_primary_is_stopped_and_not_killed() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    cluster
        .primary
        .set("synchronous_standby_names = 'ahead'")
        .unwrap();
    let mut config = cluster.config();
    // Short, so that the test is: a stopped server is noticed by its silence.
    config.limit = Duration::from_secs(3);
    let store = PostgresStore::connect(config).await.unwrap();
    let mut wakeups = store.wakeups();
    let load = Load::start(store);
    cluster.chain().unwrap();
    load.acknowledges(20).await;
    cluster.primary.signal("STOP").unwrap();
    let begun = Instant::now();
    cluster
        .ahead
        .set("synchronous_standby_names = 'behind'")
        .unwrap();
    cluster.ahead.control(&["promote"]).unwrap();
    load.acknowledges(20).await;
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    // The old primary wakes up: a commit on it waits for a standby that it has not.
    cluster.primary.signal("CONT").unwrap();
    load.acknowledges(20).await;
    let (store, acknowledged) = load.stop().await;
    assert_eq!(lost(&store, &acknowledged).await, [0, 0]);
    // Hints come from the new primary.
    let heard = async {
        for number in 0_u128.. {
            let id = BlobId::from_bytes(number.to_be_bytes());
            store.post_blob(id, Bytes::new(), LIMIT).await.unwrap();
            let hint = timeout(Duration::from_secs(1), wakeups.next());
            if hint.await.is_ok() {
                return;
            }
        }
    };
    timeout(LIMIT, heard).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asynchronous_replication_loses_claims_and_is_refused() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let careful = PostgresStore::connect(cluster.config()).await.unwrap();
    assert!(matches!(
        careful.replication(),
        Replication::Asynchronous { .. }
    ));
    let refused = claim(&careful, 0, 1).await.unwrap_err();
    assert_eq!(refused.code(), Some("MR0710"), "{refused}");
    let mut config = cluster.config();
    config.asynchronous = Asynchronous::MayRepeatEffects;
    let store = PostgresStore::connect(config).await.unwrap();
    let load = Load::start(store);
    load.acknowledges(5).await;
    // The standby falls behind, as one does when its network fails.
    let nowhere = "primary_conninfo = 'host=/nowhere'";
    cluster.ahead.set(nowhere).unwrap();
    load.acknowledges(100).await;
    cluster.primary.signal("KILL").unwrap();
    cluster.ahead.control(&["promote"]).unwrap();
    let (store, acknowledged) = load.stop().await;
    let [tasks, claims] = lost(&store, &acknowledged).await;
    assert!(
        tasks > 0 && claims > 0,
        "{tasks} tasks and {claims} claims were lost"
    );
}

/// A primary and two standbys.
struct Cluster {
    primary: Postgres,
    ahead: Postgres,
    behind: Postgres,
}

impl Cluster {
    fn start() -> Option<Self> {
        // The same check as for other servers: missing programs are an error under CI.
        let primary = Server::start()?.into_own();
        let standby = |name| primary.standby(name).unwrap();
        let (ahead, behind) = (standby("ahead"), standby("behind"));
        Some(Self {
            primary,
            ahead,
            behind,
        })
    }

    /// Has one standby follow the other: one that had more than the promoted one
    /// could not follow that, and commits would wait for it.
    fn chain(&self) -> std::io::Result<()> {
        self.behind.follow(&self.ahead)
    }

    fn config(&self) -> Config {
        let servers = [&self.primary, &self.ahead, &self.behind];
        let folders = servers.map(|server| server.folder().display().to_string());
        let connection = format!("host={} user=sterna dbname=postgres", folders.join(","));
        let mut config = Config::new(&connection).unwrap();
        assert_eq!(config.failover, Duration::from_secs(60));
        config.connections = 4;
        config
    }
}

/// Creates tasks and claims effects, one after the other, and notes what was
/// acknowledged.
struct Load {
    store: Arc<PostgresStore>,
    ends: Arc<AtomicBool>,
    count: tokio::sync::watch::Receiver<usize>,
    working: tokio::task::JoinSet<BTreeMap<u64, Acknowledged>>,
}

#[derive(Clone, Copy, Default)]
struct Acknowledged {
    task: bool,
    claim: bool,
}

impl Load {
    fn start(store: PostgresStore) -> Self {
        let (store, ends) = (Arc::new(store), Arc::new(AtomicBool::new(false)));
        let (tell, count) = tokio::sync::watch::channel(0);
        let mut working = tokio::task::JoinSet::new();
        let (theirs, stop) = (Arc::clone(&store), Arc::clone(&ends));
        working.spawn(async move {
            let mut acknowledged: BTreeMap<u64, Acknowledged> = BTreeMap::new();
            for number in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let task = theirs.create(new_task(number)).await.is_ok();
                let claimed = claim(&theirs, number, 1).await;
                let claim = claimed.is_ok_and(|claim| claim == OnceClaim::Won);
                acknowledged.insert(number, Acknowledged { task, claim });
                tell.send_modify(|count| *count += usize::from(task && claim));
            }
            acknowledged
        });
        Self {
            store,
            ends,
            count,
            working,
        }
    }

    /// Waits until `more` tasks and claims have been acknowledged from here on.
    async fn acknowledges(&self, more: usize) {
        let mut count = self.count.clone();
        let wanted = *count.borrow() + more;
        let reached = count.wait_for(|count| *count >= wanted);
        timeout(LIMIT, reached).await.unwrap().unwrap();
    }

    async fn stop(mut self) -> (Arc<PostgresStore>, BTreeMap<u64, Acknowledged>) {
        self.ends.store(true, Ordering::Relaxed);
        let ended = timeout(LIMIT, self.working.join_next()).await.unwrap();
        (self.store, ended.unwrap().unwrap())
    }
}

/// Numbers of tasks and of claims that were acknowledged and are not there.
async fn lost(store: &PostgresStore, acknowledged: &BTreeMap<u64, Acknowledged>) -> [u32; 2] {
    let mut lost = [0, 0];
    for (number, was) in acknowledged {
        let task = store.read(OWNER, id(*number)).await.unwrap();
        lost[0] += u32::from(was.task && task.is_none());
        let again = claim(store, *number, 2).await.unwrap();
        lost[1] += u32::from(was.claim && again == OnceClaim::Won);
    }
    lost
}

async fn claim(store: &PostgresStore, number: u64, claimant: u8) -> Result<OnceClaim, Error> {
    let effect = Effect::new(flow(number), Name::new("pay").unwrap());
    let claimant = Claimant::from_bytes([claimant; 16]);
    let wish = EffectClaim::new(claimant, Duration::from_secs(3600));
    store.claim_once(effect, wish).await
}

fn new_task(number: u64) -> NewTask {
    let tool = Name::new("tool").unwrap();
    NewTask::new(id(number), OWNER, flow(number), tool, Bytes::new())
}

fn id(number: u64) -> TaskId {
    TaskId::from_bytes(u128::from(number).to_be_bytes())
}

fn flow(number: u64) -> FlowId {
    FlowId::from_bytes(u128::from(number).to_be_bytes())
}

const OWNER: Owner = Owner::from_digest([1; 32]);
