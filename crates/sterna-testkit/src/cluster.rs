//! One run: its clock, its store, its world, and the replicas it is played on.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use sterna_seal::{Entropy, EntropyError, FlowId, Keyring, SharedKeyring};
use sterna_server::auth::{AuthOutcome, Authenticator, Caller, Gate};
use sterna_server::http::{Clock as ServerClock, HttpServer};
use sterna_server::{Mcp, Server, Service};
use tower_service::Service as _;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use crate::backstage::Backstage;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::log;
use crate::notes::Notes;
use crate::wire::{Message, Reply};
use crate::world::World;

/// The replicas, stores and worlds of one run of a flow.
pub(crate) struct Cluster<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) clock: Clock,
    pub(crate) store: Arc<Backstage>,
    pub(crate) notes: Notes,
    /// Rounds that the flow may take beyond what its author allows, because
    /// the kit adds some.
    pub(crate) spare_rounds: u32,
    /// `true` if every request goes to a replica that has seen none.
    pub(crate) fresh_replica_each_time: bool,
    /// Number of flows begun: a request that is sent again without a state begins
    /// another.
    flows: Arc<AtomicU32>,
    worlds: Vec<World>,
    log: Dispatch,
    keys: Arc<SharedKeyring>,
    /// Replicas that are asked again, by their place and their build.
    kept: HashMap<(usize, usize), Replica>,
    asked: usize,
}

impl<'a> Cluster<'a> {
    pub(crate) fn new(flow: &'a Flow) -> Result<Self, Failure> {
        let (clock, notes) = (Clock::new(), Notes::default());
        Ok(Self {
            flow,
            store: Arc::new(Backstage::new(&clock)),
            log: log::noting(&notes),
            clock,
            notes,
            spare_rounds: 0,
            fresh_replica_each_time: false,
            flows: Arc::default(),
            worlds: flow.worlds.iter().map(|make| make()).collect(),
            keys: keys(1)?,
            kept: HashMap::new(),
            asked: 0,
        })
    }

    /// The replica that serves the next request of `round`.
    pub(crate) fn replica(&mut self, round: u32) -> Result<Replica, Failure> {
        let build = self.flow.build_of(round);
        self.asked += 1;
        let Some(replicas) = self.flow.replicas.filter(|_| !self.fresh_replica_each_time) else {
            return self.raise(build, &self.keys);
        };
        let place = (self.asked % replicas, build);
        if let Some(replica) = self.kept.get(&place) {
            return Ok(replica.clone());
        }
        let replica = self.raise(build, &self.keys)?;
        self.kept.insert(place, replica.clone());
        Ok(replica)
    }

    /// A replica with keys that no other has.
    pub(crate) fn replica_with_other_keys(&self, round: u32) -> Result<Replica, Failure> {
        self.raise(self.flow.build_of(round), &keys(2)?)
    }

    fn raise(&self, build: usize, keys: &Arc<SharedKeyring>) -> Result<Replica, Failure> {
        let mut server: Server = (self.flow.builds[build].1)();
        for give in &self.flow.states {
            server = give(server);
        }
        for world in &self.worlds {
            server = (world.give)(server);
        }
        if self.flow.caller.is_some() || self.flow.changes_caller() {
            server = server.gate(Gate::guarded(TrustExtension));
        } else if !server.has_gate() {
            server = server.anonymous();
        }
        let clock = self.clock.clone();
        let flows = Arc::clone(&self.flows);
        let server = server
            .dangerous_flow_ids(move || flow_id(flows.fetch_add(1, Ordering::Relaxed) + 1))
            .clock(ServerClock::new(move || clock.wall()))
            .shared_keys(Arc::clone(keys))
            .store(Arc::clone(&self.store) as _)
            // Rounds are played again on purpose, with and without answers.
            .forget_rounds()
            .configure(|config| {
                // One poll of the handler and one move for each poll of the
                // request, so that it can be dropped after every one.
                config.flow.polls_per_turn = 2;
                config.flow.max_rounds += self.spare_rounds;
                config.flow.observer = Some(self.notes.observer());
                config.tasks.longest_poll = std::time::Duration::from_millis(5);
            });
        let service = server.build().map_err(|error| {
            Failure::new(
                format!("the server cannot be built: {error}"),
                self.notes.all(),
            )
        })?;
        let http = service.clone().into_tower().map_err(|error| {
            Failure::new(format!("the server cannot be served: {error}"), Vec::new())
        })?;
        Ok(Replica { service, http })
    }

    /// Sends `message` to `replica`.
    pub(crate) fn send(
        &self,
        replica: &Replica,
        message: Message,
        caller: Option<&Caller>,
    ) -> ClockedFuture<'static, Reply> {
        let mut request = message.into_request(&self.flow.headers);
        for extend in &self.flow.extensions {
            extend(request.extensions_mut());
        }
        if let Some(caller) = caller.or(self.flow.caller.as_ref()) {
            request.extensions_mut().insert(caller.clone());
        }
        self.on_stage(open(replica.http.clone(), request))
    }

    /// The number of the flow that began last; the first is 1.
    pub(crate) fn flow_number(&self) -> u32 {
        self.flows.load(Ordering::Relaxed)
    }

    /// Has the next flow be the one after `number`.
    pub(crate) fn skip_flows(&self, number: u32) {
        self.flows.store(number, Ordering::Relaxed);
    }

    /// Runs `future` with the log of the run.
    pub(crate) fn on_stage<'f, F>(&self, future: F) -> ClockedFuture<'f, F::Output>
    where
        F: Future + Send + 'f,
    {
        Box::pin(future.with_subscriber(self.log.clone()))
    }

    /// The effects of the run on its worlds.
    pub(crate) fn effects(&self) -> Vec<String> {
        let worlds = self.worlds.iter();
        worlds.flat_map(|world| (world.effects)()).collect()
    }
}

/// Something that goes on by the clock of a run.
pub(crate) type ClockedFuture<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

async fn open(mut http: HttpServer<Mcp>, request: Request<Full<Bytes>>) -> Reply {
    let Ok(response) = http.call(request).await;
    Reply::new(response)
}

/// One instance of the server, with a memory of its own.
#[derive(Clone)]
pub(crate) struct Replica {
    pub(crate) service: Service,
    http: HttpServer<Mcp>,
}

/// Polls `future` to its end, unless `each`, which is asked before every poll,
/// says that it is over.
pub(crate) async fn polled<T>(
    mut future: ClockedFuture<'_, T>,
    mut each: impl FnMut() -> CrashPlan,
) -> Option<T> {
    poll_fn(|cx| match each() {
        CrashPlan::Die => Poll::Ready(None),
        CrashPlan::Live => future.as_mut().poll(cx).map(Some),
    })
    .await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrashPlan {
    Die,
    Live,
}

/// Trusts the kit's statement about the caller.
struct TrustExtension;

impl Authenticator for TrustExtension {
    fn authenticate(&self, head: &http::request::Parts, _: std::time::SystemTime) -> AuthOutcome {
        match head.extensions.get::<Caller>() {
            Some(caller) => AuthOutcome::Known(caller.clone()),
            None => AuthOutcome::Known(Caller::anonymous()),
        }
    }
}

/// The keys with this number: the same in every run, so that their ids in a
/// transcript are too.
pub(crate) fn keys(number: u64) -> Result<Arc<SharedKeyring>, Failure> {
    let keys = Keyring::generate(&mut Counted::new(number))
        .map_err(|error| Failure::new(format!("there are no keys: {error}"), Vec::new()))?;
    Ok(Arc::new(SharedKeyring::new(keys)))
}

/// The id of the flow with this number.
pub(crate) fn flow_id(number: u32) -> FlowId {
    let mut id = [0; 16];
    Counted::new(number.into()).draw(&mut id);
    FlowId::from_bytes(id)
}

/// Bytes that differ from one seed to the next and are the same in every run.
/// Only a test may draw from it.
struct Counted(u64);

impl Counted {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn draw(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            // The step of SplitMix64, which spreads a small seed over all bits.
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = mixed.to_be_bytes()[0];
        }
    }
}

impl Entropy for Counted {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        self.draw(bytes);
        Ok(())
    }
}
