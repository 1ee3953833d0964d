//! One run: its clock, its store, its world, and the replicas it is played on.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use sterna_seal::{Keyring, SharedKeyring, ThreadEntropy};
use sterna_server::auth::{Authenticator, Caller, Gate, Verdict};
use sterna_server::edge::{Edge, by_wall_clock};
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

/// Where one run of a flow takes place.
pub(crate) struct Stage<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) clock: Clock,
    pub(crate) store: Arc<Backstage>,
    pub(crate) notes: Notes,
    /// Rounds that the flow may take beyond what its author allows, because
    /// the kit adds some.
    pub(crate) spare_rounds: u32,
    /// Whether every request goes to a replica that has seen none.
    pub(crate) is_harsh: bool,
    worlds: Vec<World>,
    log: Dispatch,
    keys: Arc<SharedKeyring>,
    /// Replicas that are asked again, by their place and their build.
    kept: HashMap<(usize, usize), Replica>,
    asked: usize,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(flow: &'a Flow) -> Result<Self, Failure> {
        let (clock, notes) = (Clock::new(), Notes::default());
        Ok(Self {
            flow,
            store: Arc::new(Backstage::new(&clock)),
            log: log::noting(&notes),
            clock,
            notes,
            spare_rounds: 0,
            is_harsh: false,
            worlds: flow.worlds.iter().map(|make| make()).collect(),
            keys: keys()?,
            kept: HashMap::new(),
            asked: 0,
        })
    }

    /// The replica that serves the next request of `round`.
    pub(crate) fn replica(&mut self, round: u32) -> Result<Replica, Failure> {
        let build = self.flow.build_of(round);
        self.asked += 1;
        let Some(replicas) = self.flow.replicas.filter(|_| !self.is_harsh) else {
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
    pub(crate) fn stranger(&self, round: u32) -> Result<Replica, Failure> {
        self.raise(self.flow.build_of(round), &keys()?)
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
            server = server.gate(Gate::guarded(Introduced));
        }
        let server = server
            .shared_keys(Arc::clone(keys))
            .store(Arc::clone(&self.store) as _)
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
        let edge = service.clone().into_tower().map_err(|error| {
            Failure::new(format!("the server cannot be served: {error}"), Vec::new())
        })?;
        Ok(Replica { service, edge })
    }

    /// Sends `message` to `replica`.
    pub(crate) fn send(
        &self,
        replica: &Replica,
        message: Message,
        caller: Option<&Caller>,
    ) -> Acting<'static, Reply> {
        let mut request = message.into_request(&self.flow.headers);
        for extend in &self.flow.extensions {
            extend(request.extensions_mut());
        }
        if let Some(caller) = caller.or(self.flow.caller.as_ref()) {
            request.extensions_mut().insert(caller.clone());
        }
        self.on_stage(open(replica.edge.clone(), request))
    }

    /// Runs `future` by the clock of the run, with its log.
    pub(crate) fn on_stage<'f, F>(&self, future: F) -> Acting<'f, F::Output>
    where
        F: Future + Send + 'f,
    {
        let clock = self.clock.clone();
        let future = by_wall_clock(move || clock.wall(), future);
        Box::pin(future.with_subscriber(self.log.clone()))
    }

    /// What has come of the run outside.
    pub(crate) fn effects(&self) -> Vec<String> {
        let worlds = self.worlds.iter();
        worlds.flat_map(|world| (world.effects)()).collect()
    }
}

/// Something that goes on by the clock of a run.
pub(crate) type Acting<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

async fn open(mut edge: Edge<Mcp>, request: Request<Full<Bytes>>) -> Reply {
    let Ok(response) = edge.call(request).await;
    Reply::new(response)
}

/// One instance of the server, with a memory of its own.
#[derive(Clone)]
pub(crate) struct Replica {
    pub(crate) service: Service,
    edge: Edge<Mcp>,
}

/// Polls `future` to its end, unless `each`, which is asked before every poll,
/// says that it is over.
pub(crate) async fn polled<T>(
    mut future: Acting<'_, T>,
    mut each: impl FnMut() -> Fate,
) -> Option<T> {
    poll_fn(|cx| match each() {
        Fate::Die => Poll::Ready(None),
        Fate::Live => future.as_mut().poll(cx).map(Some),
    })
    .await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Die,
    Live,
}

/// Believes whatever the kit says about the caller.
struct Introduced;

impl Authenticator for Introduced {
    fn authenticate(&self, head: &http::request::Parts, _: std::time::SystemTime) -> Verdict {
        match head.extensions.get::<Caller>() {
            Some(caller) => Verdict::Known(caller.clone()),
            None => Verdict::Known(Caller::anonymous()),
        }
    }
}

fn keys() -> Result<Arc<SharedKeyring>, Failure> {
    let keys = Keyring::generate(&mut ThreadEntropy)
        .map_err(|error| Failure::new(format!("there are no keys: {error}"), Vec::new()))?;
    Ok(Arc::new(SharedKeyring::new(keys)))
}
