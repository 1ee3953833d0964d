//! What a request passes on its way to the endpoint, in the order it does.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;

use super::accept::{Accepts, is_plain_json};
use super::access::Access;
use super::before::{TooLate, before};
use super::body::EdgeBody;
use super::clock;
use super::config::{EdgeConfig, LONGEST};
use super::cors;
use super::endpoint::{Endpoint, Inbound};
use super::error::ConfigError;
use super::guarded::guarded;
use super::health::{self, Probes};
use super::numbers::Numbers;
use super::pulse::Pulse;
use super::read_body::read_body;
use super::refusal::Refusal;
use super::reply;
use super::rules::Rules;
use super::shutdown::Shutdown;
use super::slots::{Slot, Slots};
use super::stream::{Held, Kind};
use crate::auth::Gate;

pub(super) struct Shared<E> {
    endpoint: E,
    pub(super) config: EdgeConfig,
    pub(super) access: Access,
    rules: Arc<Rules>,
    calls: Arc<Slots>,
    listeners: Arc<Slots>,
    buffered: Arc<Slots>,
    probes: Probes,
    pub(super) numbers: Numbers,
    pub(super) shutdown: Shutdown,
    /// Given when connections are to end, some time after the shutdown began.
    pub(super) closing: Shutdown,
}

/// How requests came to us: those of one connection, or a single one.
#[derive(Debug, Default)]
pub(super) struct Visit {
    pub(super) peer: Option<SocketAddr>,
    pub(super) bound: Option<SocketAddr>,
    pub(super) pulse: Option<Arc<Pulse>>,
    /// The `Host` under which the first request was let in.
    pub(super) host: OnceLock<Box<[u8]>>,
}

impl<E: Endpoint> Shared<E> {
    pub(super) fn new(
        endpoint: E,
        gate: Gate,
        probes: Probes,
        mut config: EdgeConfig,
    ) -> Result<Self, ConfigError> {
        config.timeouts.bound();
        let limits = &config.limits;
        for (name, limit) in [
            ("limits.calls", limits.calls),
            ("limits.connections", limits.connections),
            ("limits.head_bytes", limits.head_bytes),
        ] {
            if limit == 0 {
                return Err(ConfigError::NoRoom(name));
            }
        }
        let path = config.path.as_deref();
        if let Some(path) = path.filter(|path| !path.starts_with('/') || PROBES.contains(path)) {
            return Err(ConfigError::Path(path.to_owned()));
        }
        Ok(Self {
            endpoint,
            access: Access::new(&config)?,
            rules: Arc::new(Rules::new(gate, &config.rates)),
            calls: Slots::new(config.limits.calls),
            listeners: Slots::new(config.limits.listeners),
            buffered: Slots::new(config.limits.buffered_bytes),
            numbers: Numbers::new(probes.registry()),
            probes,
            shutdown: Shutdown::new(),
            closing: Shutdown::new(),
            config,
        })
    }

    /// Answers a request, whatever it is.
    pub(super) async fn answer<B: Body>(
        &self,
        request: Request<B>,
        visit: &Visit,
    ) -> Response<EdgeBody> {
        let start = clock::now();
        let (head, body) = request.into_parts();
        // Pinned here once: every call it is handed to would keep a copy of its own otherwise.
        let mut body = pin!(body);
        let (result, page) = match self.screen(&head) {
            Ok(page) => {
                let page = page.cloned();
                let served = self.serve(head, body.as_mut(), visit, start, page.as_ref());
                let served = guarded(pin!(served)).await;
                (served.unwrap_or(Err(Refusal::Panicked)), page)
            }
            Err(refusal) => (Err(refusal), None),
        };
        let mut response = result.unwrap_or_else(|refusal| {
            if let Some(pulse) = visit.pulse.as_ref().filter(|_| !body.is_end_stream()) {
                pulse.expect_more();
            }
            self.numbers.refused(&refusal);
            refusal.into_response()
        });
        if let Some(page) = page {
            cors::share(&mut response, page);
        }
        let took = clock::now().saturating_duration_since(start);
        self.numbers.answered(response.status(), took);
        response
    }

    /// What holds for every path: a head of bearable size and no foreign page.
    fn screen<'a>(&self, head: &'a Parts) -> Result<Option<&'a HeaderValue>, Refusal> {
        let target = head
            .uri
            .path_and_query()
            .map_or(0, |text| text.as_str().len());
        if target + size_of_headers(&head.headers) > self.config.limits.head_bytes {
            return Err(Refusal::HeadTooLarge);
        }
        self.access.origin(&head.headers)
    }

    async fn serve<B: Body>(
        &self,
        mut head: Parts,
        body: Pin<&mut B>,
        visit: &Visit,
        start: Instant,
        page: Option<&HeaderValue>,
    ) -> Result<Response<EdgeBody>, Refusal> {
        let in_flight = visit
            .pulse
            .as_ref()
            .map(|pulse| pulse.request(head.version));
        // Probes come before the check of the host: those who probe know us by an address.
        if let Some(response) = self.probe(&head, start).await? {
            return Ok(response);
        }
        // What was judged once on a connection need not be taken apart again.
        let host = only_host(&head);
        if host.is_none() || visit.host.get().map(|known| &**known) != host {
            self.access.host(&head, visit.bound)?;
            if let Some(host) = host {
                visit.host.get_or_init(|| host.into());
            }
        }
        if let Some(response) = self.describe(&head)? {
            return Ok(response);
        }
        if self
            .config
            .path
            .as_deref()
            .is_some_and(|path| path != head.uri.path())
        {
            return Err(Refusal::NotFound);
        }
        if head.method == Method::OPTIONS && page.is_some() {
            return Ok(cors::preflight(&head.headers, self.methods()));
        }
        let accepts = self.admit(&head, &*body)?;
        // Nobody is judged and nothing is read for a call that would find no room.
        if self.calls.is_full() {
            return Err(Refusal::Busy);
        }
        // AUTHSEC-S1: the caller is known before a byte of the body is looked at.
        let pass = self.rules.let_in(&head, visit.peer, start).await?;
        if self.rules.gate().authenticator().is_some() {
            // AUTHSEC-S2: what cannot be seen cannot be passed on.
            head.headers.remove(AUTHORIZATION);
        }
        pass.charge_call(start)?;
        let limits = &self.config.limits;
        let read_by = start + self.config.timeouts.body;
        let read = read_body(body, limits.body_bytes, &self.buffered, read_by).await?;
        let slot = self.calls.take(1).ok_or(Refusal::Busy)?;
        let deadline = start + self.config.timeouts.call;
        let valid_until = pass.caller().valid_until();
        let inbound = Inbound {
            head,
            body: read.bytes,
            pass,
            accepts,
            peer: visit.peer,
            patience: self.config.timeouts.keep_alive,
            deadline,
            shutdown: self.shutdown.clone(),
            event_bytes: limits.event_bytes,
        };
        // Pinned first: the wrapper then moves a pointer and not the call.
        let call = pin!(self.endpoint.call(inbound));
        let mut response = match before(deadline + SLACK, call).await {
            Ok(response) => response,
            Err(TooLate) => return Err(Refusal::TimedOut),
        };
        drop(read.room);
        if let Some(stream) = response.body_mut().as_stream() {
            let (slot, until) = match stream.kind() {
                Kind::Call => (slot, Some(deadline + SLACK)),
                Kind::Listener => (self.listen(slot)?, valid_until.map(moment)),
            };
            let held = Held {
                slot: Some(slot),
                in_flight,
                pulse: visit.pulse.as_ref().map(Pulse::stream),
            };
            stream.settle(held, self.config.timeouts.keep_alive, until);
        }
        Ok(response)
    }

    /// Gives up the place of a running call for that of a listener.
    fn listen(&self, call: Slot) -> Result<Slot, Refusal> {
        drop(call);
        self.listeners.take(1).ok_or(Refusal::Busy)
    }

    async fn probe(
        &self,
        head: &Parts,
        now: Instant,
    ) -> Result<Option<Response<EdgeBody>>, Refusal> {
        let path = head.uri.path();
        if !PROBES.contains(&path) {
            return Ok(None);
        }
        only_reading(head)?;
        Ok(Some(match path {
            LIVE => health::alive(),
            READY if self.shutdown.has_begun() => health::leaving(),
            READY => self.probes.readiness(now).await,
            _ if self.config.metrics => self.count(),
            _ => return Err(Refusal::NotFound),
        }))
    }

    fn count(&self) -> Response<EdgeBody> {
        self.numbers
            .running(self.calls.taken(), self.listeners.taken());
        let mut response = Response::new(EdgeBody::whole(self.probes.registry().render()));
        let text = HeaderValue::from_static("text/plain; version=0.0.4");
        response.headers_mut().insert(CONTENT_TYPE, text);
        response
    }

    /// The metadata document, if that is what is asked for.
    fn describe(&self, head: &Parts) -> Result<Option<Response<EdgeBody>>, Refusal> {
        let authenticator = self.rules.gate().authenticator();
        let metadata = authenticator.and_then(|one| one.metadata());
        let Some(document) = metadata.and_then(|one| one.document_at(head.uri.path())) else {
            return Ok(None);
        };
        only_reading(head)?;
        Ok(Some(reply::json(StatusCode::OK, document.clone())))
    }

    fn methods(&self) -> &'static str {
        if self.config.legacy {
            "POST, GET, DELETE"
        } else {
            "POST"
        }
    }

    /// Whether the request is one the endpoint could answer.
    fn admit<B: Body>(&self, head: &Parts, body: &B) -> Result<Accepts, Refusal> {
        let posts = head.method == Method::POST;
        let legacy = head.method == Method::GET || head.method == Method::DELETE;
        if !(posts || legacy && self.config.legacy) {
            // HTTP-S20
            let allow = self.methods();
            return Err(Refusal::MethodNotAllowed { allow });
        }
        if posts && !is_plain_json(&head.headers) {
            return Err(Refusal::NotJson);
        }
        if body.size_hint().lower() > self.config.limits.body_bytes as u64 {
            return Err(Refusal::BodyTooLarge);
        }
        let accepts = Accepts::read(&head.headers);
        let readable = match head.method {
            Method::GET => accepts.events(),
            Method::DELETE => true,
            _ => accepts.json() || accepts.events(),
        };
        if readable {
            Ok(accepts)
        } else {
            Err(Refusal::NotAcceptable)
        }
    }
}

/// The `Host` of a request that names its host nowhere else.
fn only_host(head: &Parts) -> Option<&[u8]> {
    let mut values = head.headers.get_all(HOST).iter();
    let host = values.next()?.as_bytes();
    let is_only = values.next().is_none() && head.uri.authority().is_none();
    is_only.then_some(host)
}

fn only_reading(head: &Parts) -> Result<(), Refusal> {
    if head.method == Method::GET || head.method == Method::HEAD {
        Ok(())
    } else {
        Err(Refusal::MethodNotAllowed { allow: "GET, HEAD" })
    }
}

fn size_of_headers(headers: &HeaderMap) -> usize {
    // A colon, a space and a line end for each, as they came over the wire.
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

/// The moment on our own clock that the world calls `time`.
fn moment(time: SystemTime) -> Instant {
    let left = time.duration_since(clock::wall()).unwrap_or_default();
    clock::now() + left.min(LONGEST)
}

const LIVE: &str = "/livez";
const READY: &str = "/readyz";
const PROBES: [&str; 3] = [LIVE, READY, "/metrics"];

/// What the endpoint has, after its deadline, to say so in its own words.
const SLACK: Duration = Duration::from_secs(2);
