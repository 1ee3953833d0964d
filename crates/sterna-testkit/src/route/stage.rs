//! The instances of one run of a route, with their store, clock and world.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use serde_json::Value;
use sterna_axum::{Clock as RouteClock, Config, Metrics, Resume};
use sterna_seal::SharedKeyring;
use tower_service::Service as _;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use super::flow::{RouteFlow, RouteWorld};
use crate::backstage::Backstage;
use crate::clock::Clock;
use crate::cluster::{ClockedFuture, flow_id, keys};
use crate::failure::Failure;
use crate::log;
use crate::notes::Notes;

/// One run: every request of it goes to an instance of its own.
pub(super) struct RouteStage<'a> {
    pub(super) flow: &'a RouteFlow,
    pub(super) clock: Clock,
    pub(super) store: Arc<Backstage>,
    pub(super) notes: Notes,
    world: RouteWorld,
    keys: Arc<SharedKeyring>,
    log: Dispatch,
    flows: Arc<AtomicU32>,
    /// Counters of the instance that was asked last.
    metrics: Option<Arc<Metrics>>,
}

/// Response of a route, read to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RouteResponse {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

impl<'a> RouteStage<'a> {
    pub(super) fn new(flow: &'a RouteFlow) -> Result<Self, Failure> {
        let (clock, notes) = (Clock::new(), Notes::default());
        if let Some(why) = &flow.unwritable {
            let what = format!("the script of `{}` cannot be sent: {why}", flow.name());
            return Err(Failure::new(what, Vec::new()));
        }
        Ok(Self {
            flow,
            store: Arc::new(Backstage::new(&clock)),
            log: log::noting(&notes),
            world: (flow.make_world)(),
            keys: keys(1)?,
            flows: Arc::default(),
            metrics: None,
            clock,
            notes,
        })
    }

    /// Sends a request with this body to a new instance.
    pub(super) fn send(
        &mut self,
        body: Option<&Value>,
        headers: &HeaderMap,
    ) -> ClockedFuture<'static, RouteResponse> {
        let resume = self.resume();
        self.metrics = Some(Arc::clone(resume.metrics()));
        let mut router = (self.world.app)(resume);
        let mut request =
            Request::new(body.map_or_else(Body::empty, |body| Body::from(body.to_string())));
        *request.method_mut() = self.flow.method.clone();
        if let Ok(uri) = self.flow.path.parse() {
            *request.uri_mut() = uri;
        }
        *request.headers_mut() = headers.clone();
        if body.is_some() {
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(CONTENT_TYPE, json);
        }
        let responding = async move {
            let Ok(response) = router.call(request).await;
            let status = response.status();
            let body = to_bytes(response.into_body(), LARGEST_RESPONSE).await;
            let body = body.unwrap_or_default();
            let text = String::from_utf8_lossy(&body).into_owned();
            RouteResponse { status, text }
        };
        Box::pin(responding.with_subscriber(self.log.clone()))
    }

    /// Settings of one instance, as an application gets them.
    fn resume(&self) -> Resume {
        let (clock, flows) = (self.clock.clone(), Arc::clone(&self.flows));
        let mut config = Config::default();
        config.clock = RouteClock::new(move || clock.wall());
        // An equal request of a dead instance is not waited for: the kit turns the clock on.
        config.patience = Duration::ZERO;
        config.flow.polls_per_turn = 2;
        config.flow.observer = Some(self.notes.observer());
        Resume::new(Arc::clone(&self.keys), "https://testkit.example")
            .store(Arc::clone(&self.store) as _)
            .config(config)
            .dangerous_flow_ids(move || flow_id(flows.fetch_add(1, Ordering::Relaxed) + 1))
    }

    /// Returns a question that was asked and not declared, in words.
    pub(super) fn undeclared(&self) -> Option<String> {
        let metrics = self.metrics.as_ref()?;
        metrics.undeclared().into_iter().next()
    }

    /// Has the next flow be the one after `number`.
    pub(super) fn skip_flows(&self, number: u32) {
        self.flows.store(number, Ordering::Relaxed);
    }

    /// The number of the flow that began last; the first is 1.
    pub(super) fn flow_number(&self) -> u32 {
        self.flows.load(Ordering::Relaxed)
    }

    pub(super) fn effects(&self) -> Vec<String> {
        (self.world.effects)()
    }
}

/// More than a test looks at.
const LARGEST_RESPONSE: usize = 64 << 20;
