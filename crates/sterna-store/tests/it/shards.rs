//! Several stores behave as one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use sterna_store::contract::{self, Subject, SurveyedStore};
use sterna_store::{
    BlobId, Blobs, BoxFuture, Claim, Claimant, Effect, EffectClaim, Error, ErrorKind, FlowId,
    Intercept, Ledger, MemoryLimits, MemoryStore, Name, NewTask, OnceClaim, Outcome, Owner, Page,
    Rings, Shard, Shards, ShardsSurvey, Store, Survey, Sweep, TaskId, Tasks, UnixMillis,
};
use tokio::time::{Instant, timeout};

use crate::suite::advance;

#[tokio::test]
async fn shards_of_memory_keep_the_contract() {
    for rings in [&[1][..], &[2], &[4], &[3, 5]] {
        let rings = Rings::new(rings).unwrap();
        let report = contract::shards(|| {
            let rings = rings.clone();
            Box::pin(async move {
                let time = Arc::new(AtomicI64::new(0));
                let (store, _) = set(memories(rings.shards(), &time), rings).await;
                let store: Arc<dyn Store> = Arc::new(store);
                Ok(Subject::new(store, advance(time)))
            })
        })
        .await;
        assert!(report.is_kept(), "{rings:?}: {report}");
    }
}

#[tokio::test]
async fn one_shard_keeps_the_whole_contract() {
    let report = contract::store(|| {
        Box::pin(async {
            let time = Arc::new(AtomicI64::new(0));
            let rings = Rings::new(&[1])?;
            let (store, _) = set(memories(1, &time), rings).await;
            let store: Arc<dyn Store> = Arc::new(store);
            Ok(Subject::new(store, advance(time)))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn the_operators_view_of_shards_keeps_its_contract() {
    let report = contract::survey(|| {
        Box::pin(async {
            let time = Arc::new(AtomicI64::new(0));
            let stores = memories(3, &time);
            let surveys = stores.iter().map(|one| Arc::clone(one) as Arc<dyn Survey>);
            let rings = Rings::new(&[3])?;
            let survey = Arc::new(ShardsSurvey::new(surveys.collect(), rings.clone())?);
            let store = Arc::new(set(stores, rings).await.0);
            let both = Arc::new(SurveyedStore { store, survey });
            Ok(Subject::new(both, advance(time)))
        })
    })
    .await;
    assert!(report.is_kept(), "{report}");
}

#[tokio::test]
async fn a_list_is_read_page_by_page_over_all_shards() {
    let time = Arc::new(AtomicI64::new(0));
    let (store, _) = set(memories(3, &time), Rings::new(&[3]).unwrap()).await;
    for number in 0..30 {
        time.fetch_add(i64::from(number % 2), Ordering::Relaxed);
        store.create(task(&store, number)).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut page = Page::first(7);
    loop {
        let listing = store.list(OWNER, page).await.unwrap();
        assert!(listing.tasks.len() <= 7);
        seen.extend(
            listing
                .tasks
                .into_iter()
                .map(|one| (one.created_at, one.id)),
        );
        let Some(next) = listing.next else { break };
        page = Page::after(next, 7);
    }
    assert_eq!(seen.len(), 30);
    assert!(seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 30);
}

#[tokio::test(start_paused = true)]
async fn a_dead_shard_keeps_its_own_tasks_waiting_and_no_others() {
    let time = Arc::new(AtomicI64::new(0));
    let rings = Rings::new(&[2]).unwrap();
    let (store, switches) = set(memories(2, &time), rings).await;
    for number in 0..20 {
        store.create(task(&store, number)).await.unwrap();
    }
    for death in [Life::Refuses, Life::Hangs] {
        switches[1].set(death);
        // The first claim waits for half a lease at most, later ones for half a second.
        let begun = Instant::now();
        let claimed = store.claim(claim(4)).await.unwrap();
        assert!(begun.elapsed() <= LEASE / 2, "{:?}", begun.elapsed());
        assert_eq!(claimed.len(), 4, "{death:?}");
        let begun = Instant::now();
        assert_eq!(store.claim(claim(1)).await.unwrap().len(), 1);
        assert!(begun.elapsed() <= Duration::from_millis(500));
        assert_eq!(store.probe().await.unwrap(), ["shard-1"]);
        let swept = store.sweep_tasks(Sweep::new(Bytes::new())).await;
        assert!(swept.is_ok(), "{swept:?}");
        // A list that left half of the tasks out would look complete.
        let list = timeout(LEASE, store.list(OWNER, Page::first(100))).await;
        assert!(!matches!(list, Ok(Ok(_))));
    }
    switches[1].set(Life::Answers);
    assert_eq!(store.probe().await.unwrap(), Vec::<String>::new());
    let mut rest = store.claim(claim(20)).await.unwrap();
    rest.extend(store.claim(claim(20)).await.unwrap());
    assert_eq!(rest.len(), 10, "all tasks of the shard that was dead");
}

#[tokio::test(start_paused = true)]
async fn a_shard_that_comes_back_is_found_by_claims_alone() {
    let time = Arc::new(AtomicI64::new(0));
    let (store, switches) = set(memories(2, &time), Rings::new(&[2]).unwrap()).await;
    switches[0].set(Life::Refuses);
    assert_eq!(store.claim(claim(1)).await.unwrap().len(), 0);
    assert_eq!(store.silent(), ["shard-0"]);
    switches[1].set(Life::Refuses);
    let nothing = store.claim(claim(1)).await.unwrap_err();
    assert_eq!(nothing.kind(), ErrorKind::Unavailable);
    assert!(nothing.to_string().contains("shard-1"), "{nothing}");
    assert!(store.probe().await.is_err());
    switches.iter().for_each(|switch| switch.set(Life::Answers));
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(store.claim(claim(1)).await.unwrap().len(), 0);
    assert_eq!(store.silent(), Vec::<String>::new());
}

#[tokio::test]
async fn shards_in_another_order_are_refused() {
    let time = Arc::new(AtomicI64::new(0));
    let stores = memories(4, &time);
    let open = |order: &[usize], sizes: &[usize]| {
        let shards = order.iter().map(|index| {
            let store: Arc<dyn Store> = Arc::clone(&stores[*index]) as _;
            Shard::new(format!("shard-{index}"), store)
        });
        Shards::open(shards.collect(), Rings::new(sizes).unwrap())
    };
    open(&[0, 1], &[2]).await.unwrap();
    for (order, sizes) in [
        (&[1, 0][..], &[2][..]),
        (&[0], &[1]),
        (&[0, 1, 2], &[3]),
        (&[0, 1, 2], &[1, 3]),
    ] {
        let refused = open(order, sizes).await.unwrap_err();
        assert_eq!(refused.code(), Some("MR0709"), "{refused}");
    }
    let wrong_count = open(&[0, 1, 2], &[2]).await.unwrap_err();
    assert_eq!(wrong_count.kind(), ErrorKind::Misuse);
    open(&[0, 1, 2, 3], &[2, 4]).await.unwrap();
    open(&[0, 1], &[2]).await.unwrap();
    assert!(open(&[0, 1, 3, 2], &[2, 4]).await.is_err());
}

#[tokio::test]
async fn no_owner_is_passed_over_for_ever() {
    let time = Arc::new(AtomicI64::new(0));
    let (store, _) = set(memories(2, &time), Rings::new(&[2]).unwrap()).await;
    let create = async |number: u8, owner: u8| {
        let mut new = task(&store, number);
        new.principal = Owner::from_digest([owner; 32]);
        store.create(new).await.unwrap();
    };
    // The owner of the odd shard comes between the two of the even shard.
    for number in 0..60 {
        create(2 * number, 3).await;
        create(2 * number + 1, 2).await;
    }
    create(240, 1).await;
    let mut after = None;
    for turn in 0..40 {
        let mut one = claim(1);
        one.after = after;
        after = store.claim(one).await.unwrap().first().map(|one| one.owner);
        if after == Some(Owner::from_digest([1; 32])) {
            assert!(turn < 24, "{turn}");
            return;
        }
    }
    panic!("the owner with one task had no turn");
}

#[tokio::test]
async fn a_quota_is_shared_out() {
    let time = Arc::new(AtomicI64::new(0));
    for shards in [1, 2, 3, 4] {
        let rings = Rings::new(&[shards]).unwrap();
        let (store, _) = set(memories(shards, &time), rings).await;
        let mut created = 0;
        for number in 0..200 {
            let mut new = task(&store, number);
            new.quota = Some(10);
            created += usize::from(store.create(new).await.is_ok());
        }
        assert_eq!(created, 10_usize.div_ceil(shards) * shards);
        assert!(created < 10 + shards);
    }
}

/// Instances of three releases work at once: one that knows two shards, one that
/// knows four and makes ids for two, and one that makes ids for all.
#[tokio::test]
async fn a_set_grows_while_tasks_run() {
    let time = Arc::new(AtomicI64::new(0));
    let stores = memories(4, &time);
    let open = |count: usize, rings: Rings| {
        let stores = stores[..count].to_vec();
        async move { set(stores, rings).await.0 }
    };
    let known = Rings::new(&[2, 4]).unwrap();
    let old = open(2, Rings::new(&[2]).unwrap()).await;
    let announced = open(4, known.clone().announced()).await;
    let grown = open(4, known).await;
    let mut effects: BTreeMap<TaskId, u32> = BTreeMap::new();
    let mut created = BTreeSet::new();
    for round in 0..90_u8 {
        // Two rollouts: an instance that makes new ids meets none that cannot find them.
        let fleet = match round {
            0..30 => [&old, &announced],
            30..60 => [&announced, &grown],
            _ => [&grown, &grown],
        };
        let [maker, other] = fleet;
        for (instance, number) in [(maker, 2 * round), (other, 2 * round + 1)] {
            let new = task(instance, number);
            assert!(created.insert(new.id));
            instance.create(new).await.unwrap();
        }
        for (instance, helper) in [(maker, other), (other, maker)] {
            for claimed in instance.claim(claim(1)).await.unwrap() {
                let effect = Effect::new(claimed.flow, name("pay"));
                // Both instances try: one of them believes in a lease that it lost.
                for (number, tries) in [(1, instance), (2, helper)] {
                    let claimant = Claimant::from_bytes([number; 16]);
                    let wish = EffectClaim::new(claimant, LEASE * 100);
                    let won = tries.claim_once(effect.clone(), wish).await.unwrap();
                    let paid = effects.entry(claimed.lease.task).or_default();
                    *paid += u32::from(won == OnceClaim::Won);
                }
                let done = Outcome::Completed(Bytes::new());
                helper.finish(claimed.lease, done).await.unwrap();
            }
        }
    }
    while let Some(claimed) = grown.claim(claim(1)).await.unwrap().pop() {
        let effect = Effect::new(claimed.flow, name("pay"));
        let wish = EffectClaim::new(Claimant::from_bytes([3; 16]), LEASE * 100);
        let won = grown.claim_once(effect, wish).await.unwrap();
        let paid = effects.entry(claimed.lease.task).or_default();
        *paid += u32::from(won == OnceClaim::Won);
        let done = Outcome::Completed(Bytes::new());
        grown.finish(claimed.lease, done).await.unwrap();
    }
    assert_eq!(effects.keys().copied().collect::<BTreeSet<_>>(), created);
    assert!(effects.values().all(|paid| *paid == 1), "{effects:?}");
    for id in created {
        let task = grown.read(OWNER, id).await.unwrap();
        assert!(task.is_some_and(|task| task.outcome.is_some()));
    }
    // The new shards were used.
    for store in &stores[2..] {
        let used = store.list(OWNER, Page::first(10)).await.unwrap();
        assert!(!used.tasks.is_empty());
    }
}

#[tokio::test]
async fn blobs_stay_on_the_shards_of_the_first_ring() {
    let time = Arc::new(AtomicI64::new(0));
    let stores = memories(4, &time);
    let (store, _) = set(stores.clone(), Rings::new(&[2, 4]).unwrap()).await;
    for number in 0..8 {
        let (id, value) = (BlobId::from_bytes([number; 16]), Bytes::from(vec![number]));
        store.put_blob(id, value.clone(), LEASE).await.unwrap();
        assert_eq!(store.blob(id).await.unwrap(), Some(value.clone()));
        let home = &stores[usize::from(number % 2)];
        assert_eq!(home.blob(id).await.unwrap(), Some(value));
    }
}

const OWNER: Owner = Owner::from_digest([9; 32]);
const LEASE: Duration = Duration::from_secs(30);

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

fn claim(limit: u32) -> Claim {
    let mut claim = Claim::new(name("worker"), LEASE);
    claim.limit = limit;
    claim
}

/// A task with the ids that a server would make, and an even number on an even
/// shard.
fn task(store: &dyn Store, number: u8) -> NewTask {
    let id = store.place_task(TaskId::from_bytes([number; 16]));
    let flow = store.place_flow(FlowId::from_bytes([number; 16]));
    NewTask::new(id, OWNER, flow, name("tool"), Bytes::new())
}

fn memories(count: usize, time: &Arc<AtomicI64>) -> Vec<Arc<MemoryStore>> {
    let store = |_| {
        let clock = Arc::clone(time);
        let now = move || UnixMillis::new(clock.load(Ordering::Relaxed));
        Arc::new(MemoryStore::with_clock(MemoryLimits::default(), now))
    };
    (0..count).map(store).collect()
}

/// The shards, and a switch for each of them.
async fn set(stores: Vec<Arc<MemoryStore>>, rings: Rings) -> (Shards, Vec<Arc<Switch>>) {
    let switches: Vec<_> = stores
        .into_iter()
        .map(|store| {
            Arc::new(Switch {
                store,
                refuses: AtomicBool::new(false),
                hangs: AtomicBool::new(false),
            })
        })
        .collect();
    let shards = switches.iter().enumerate();
    let shards = shards.map(|(index, switch)| {
        Shard::new(
            format!("shard-{index}"),
            Arc::clone(switch) as Arc<dyn Store>,
        )
    });
    let set = Shards::open(shards.collect(), rings).await.unwrap();
    (set, switches)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Answers,
    Hangs,
    Refuses,
}

/// A store that can be made to hang or to refuse.
struct Switch {
    store: Arc<MemoryStore>,
    refuses: AtomicBool,
    hangs: AtomicBool,
}

impl Switch {
    fn set(&self, life: Life) {
        self.refuses.store(life == Life::Refuses, Ordering::Relaxed);
        self.hangs.store(life == Life::Hangs, Ordering::Relaxed);
    }

    async fn pass(&self) -> Result<(), Error> {
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        match self.refuses.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Unavailable, "switched off")),
            false => Ok(()),
        }
    }
}

impl Intercept for Switch {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn list(
        &self,
        caller: Owner,
        page: Page,
    ) -> BoxFuture<'_, Result<sterna_store::Listing, Error>> {
        Box::pin(async move {
            self.pass().await?;
            Tasks::list(&*self.store, caller, page).await
        })
    }

    fn claim(&self, claim: Claim) -> BoxFuture<'_, Result<Vec<sterna_store::Claimed>, Error>> {
        Box::pin(async move {
            self.pass().await?;
            Tasks::claim(&*self.store, claim).await
        })
    }

    fn sweep_tasks(&self, sweep: Sweep) -> BoxFuture<'_, Result<sterna_store::Swept, Error>> {
        Box::pin(async move {
            self.pass().await?;
            Tasks::sweep_tasks(&*self.store, sweep).await
        })
    }

    fn blob(&self, id: BlobId) -> BoxFuture<'_, Result<Option<Bytes>, Error>> {
        Box::pin(async move {
            self.pass().await?;
            Blobs::blob(&*self.store, id).await
        })
    }
}
