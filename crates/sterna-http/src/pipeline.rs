//! The checks that a request passes before the endpoint, in order.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;

use super::accept::{Accepts, is_plain_json};
use super::access::{self, Access};
use super::admission::{Admission, AdmissionPolicy};
use super::body::{Held, Kind, ResponseBody};
use super::budget::Budget;
use super::clock::{self, Clock};
use super::config::{ConfigError, HttpConfig, LONGEST};
use super::connection_store::ConnectionStore;
use super::connections::Admitted;
use super::discard::Leftover;
use super::endpoint::{Endpoint, Inbound, Transport};
use super::guard::catch_panic;
use super::head_summary::HeadSummary;
use super::health::{self, Probes};
use super::http_metrics::HttpMetrics;
use super::monitor::ConnectionMonitor;
use super::read_body::read_body;
use super::refusal::Refusal;
use super::reply;
use super::shutdown::Shutdown;
use super::slots::Slot;
use super::unread::Readers;
use crate::auth::Gate;
use crate::guard::with_deadline;

pub(super) struct Shared<E> {
    pub(super) endpoint: E,
    pub(super) config: HttpConfig,
    pub(super) access: Access,
    admission: Arc<AdmissionPolicy>,
    pub(super) memory: Arc<Budget>,
    pub(super) readers: Readers,
    probes: Probes,
    pub(super) metrics: HttpMetrics,
    pub(super) shutdown: Shutdown,
    /// Given when connections are to end, some time after the shutdown began.
    pub(super) closing: Shutdown,
}

/// The connection of a request, or the peer of a single one.
#[derive(Debug, Default)]
pub(super) struct ConnectionInfo {
    pub(super) peer: Option<SocketAddr>,
    pub(super) bound: Option<SocketAddr>,
    pub(super) monitor: Option<Arc<ConnectionMonitor>>,
    pub(super) admitted: Admitted,
    /// The `Host` under which the first request was let in.
    pub(super) host: OnceLock<Box<[u8]>>,
    /// Value of the endpoint; empty for the peer of a single request.
    pub(super) store: ConnectionStore,
}

/// A request without its body.
struct Arrived {
    head: Parts,
    summary: HeadSummary,
    start: Instant,
}

impl<E: Endpoint> Shared<E> {
    pub(super) fn new(
        endpoint: E,
        gate: Gate,
        probes: Probes,
        mut config: HttpConfig,
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
            admission: Arc::new(AdmissionPolicy::new(gate, &config)),
            memory: Budget::new(config.limits.clone()),
            readers: Readers::default(),
            metrics: HttpMetrics::new(probes.registry()),
            probes,
            shutdown: Shutdown::new(),
            closing: Shutdown::new(),
            config,
        })
    }

    /// Answers any request.
    pub(super) async fn answer<B: Body>(
        &self,
        request: Request<B>,
        connection: &ConnectionInfo,
    ) -> Response<ResponseBody> {
        let start = clock::now();
        let (head, body) = request.into_parts();
        let host = connection.host.get().map(|known| &**known);
        let summary = HeadSummary::of(&head, host);
        let (version, leftover) = (head.version, Leftover::of(&head, &summary));
        let mut read = false;
        // Pinned here once: every call it is handed to would keep a copy of its own otherwise.
        let mut body = pin!(body);
        let (result, page) = match self.check_head_and_origin(&head, &summary) {
            Ok(page) => {
                let page = page.cloned();
                let arrived = Arrived {
                    head,
                    summary,
                    start,
                };
                let served =
                    self.serve(arrived, body.as_mut(), connection, page.as_ref(), &mut read);
                let served = catch_panic(pin!(served)).await;
                (served.unwrap_or(Err(Refusal::Panicked)), page)
            }
            Err(refusal) => (Err(refusal), None),
        };
        let is_hopeless = result.as_ref().is_err_and(Refusal::gives_up_on_body);
        let result = result.and_then(|response| self.charge(response, version, connection));
        let mut response = result.unwrap_or_else(|refusal| {
            self.metrics.refused(&refusal);
            self.watched(self.endpoint.refuse(refusal), version, connection)
        });
        let mut closes =
            connection.admitted == Admitted::ForProbes && leftover != Leftover::Harmless;
        if !read && !body.is_end_stream() {
            let monitor = connection.monitor.as_ref();
            let in_flight = monitor.map(|monitor| monitor.request(version));
            let cleared = !is_hopeless && leftover.clear(body.as_mut(), clock::now()).await;
            if let Some(monitor) = monitor.filter(|_| !cleared) {
                monitor.expect_more();
            }
            drop(in_flight);
            closes |= !cleared && leftover != Leftover::Harmless;
        }
        if closes {
            // A client that keeps its connections would take the end of this one for a fault of
            // the network.
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        if let Some(page) = page {
            access::share(&mut response, page, self.endpoint.exposed_headers());
        }
        let took = clock::now().saturating_duration_since(start);
        self.metrics.answered(response.status(), took);
        response
    }

    /// Checks for every path: a head of bearable size and no foreign page.
    fn check_head_and_origin<'a>(
        &self,
        head: &'a Parts,
        summary: &HeadSummary,
    ) -> Result<Option<&'a HeaderValue>, Refusal> {
        let target = head
            .uri
            .path_and_query()
            .map_or(0, |text| text.as_str().len());
        if target + summary.size > self.config.limits.head_bytes {
            return Err(Refusal::HeadTooLarge);
        }
        if summary.has_no_origin {
            return Ok(None);
        }
        if self.config.pages {
            return access::same_origin(head).map(|()| None);
        }
        self.access.origin(&head.headers)
    }

    async fn serve<B: Body>(
        &self,
        arrived: Arrived,
        body: Pin<&mut B>,
        connection: &ConnectionInfo,
        page: Option<&HeaderValue>,
        read: &mut bool,
    ) -> Result<Response<ResponseBody>, Refusal> {
        let Arrived {
            mut head,
            summary,
            start,
        } = arrived;
        let in_flight = connection
            .monitor
            .as_ref()
            .map(|monitor| monitor.request(head.version));
        // Probes come before the check of the host: an orchestrator knows us by an address.
        if let Some(response) = self.probe(&head, connection, start).await? {
            return Ok(response);
        }
        if connection.admitted == Admitted::ForProbes {
            return Err(Refusal::TooManyConnections);
        }
        // What was judged once on a connection need not be taken apart again.
        if !summary.has_known_host {
            self.access.host(&head, connection.bound)?;
            if let Some(host) = only_host(&head) {
                connection.host.get_or_init(|| host.into());
            }
        }
        if let Some(response) = self.resource_metadata(&head)? {
            return Ok(response);
        }
        // A foreign page was refused before, so the endpoint may be named.
        let path = self.config.path.as_deref();
        if let Some(endpoint) = path.filter(|path| *path != head.uri.path()) {
            let endpoint = endpoint.into();
            return Err(Refusal::WrongPath { endpoint });
        }
        if head.method == Method::OPTIONS && page.is_some() {
            return Ok(access::preflight(&head.headers, self.methods()));
        }
        let accepts = self.admit(&head, &summary, &*body)?;
        // No caller is authenticated and no body read for a call that would find no room.
        if self.admission.calls.is_full() {
            return Err(Refusal::Busy);
        }
        if self.memory.is_scarce() {
            return Err(self.out_of_memory());
        }
        // AUTHSEC-S1: the caller is known before a byte of the body is looked at.
        let admission = self
            .admission
            .authenticate(
                |headers| self.endpoint.operation(headers),
                &head,
                connection.peer,
                start,
            )
            .await?;
        if self.admission.gate().authenticator().is_some() {
            // AUTHSEC-S2: what cannot be seen cannot be passed on.
            head.headers.remove(AUTHORIZATION);
        }
        self.admission.calls.check(admission.rate_key())?;
        admission.charge_call(start)?;
        let limits = &self.config.limits;
        let read_by = start + self.config.timeouts.body;
        let taken = read_body(body, limits.body_bytes, &self.memory, read_by).await;
        let taken = taken.inspect_err(|refusal| self.relieve(refusal))?;
        *read = true;
        let room = self.room_to_parse(&taken.bytes, taken.room)?;
        let slot = self.admission.calls.take(admission.rate_key())?;
        let deadline = start + self.config.timeouts.call;
        let valid_until = admission.caller().valid_until();
        let inbound = Inbound {
            transport: Transport::Http,
            head,
            body: taken.bytes,
            admission: admission.clone(),
            accepts,
            peer: connection.peer,
            connection: connection.store.clone(),
            patience: self.config.timeouts.keep_alive,
            deadline,
            shutdown: self.shutdown.clone(),
            memory: Arc::clone(&self.memory),
        };
        // Pinned first: the wrapper then moves a pointer and not the call.
        let call = pin!(self.endpoint.call(inbound));
        let Ok(mut response) = with_deadline(deadline + SLACK, call).await else {
            return Err(Refusal::TimedOut);
        };
        if let Some(stream) = response.body_mut().as_stream() {
            let is_call = stream.kind() == Kind::Call;
            let (slot, until) = match stream.kind() {
                Kind::Call => (slot, Some(deadline + SLACK)),
                Kind::Listener => (
                    self.listen(slot, &admission)?,
                    valid_until.map(|time| moment(time, &self.config.clock)),
                ),
            };
            let held = Held {
                slot: Some(slot),
                in_flight,
                // A call goes on with what it was called with; a listener has taken what it needs.
                room: room.filter(|_| is_call),
                memory: Some(Arc::clone(&self.memory)),
                monitor: connection.monitor.as_ref().map(ConnectionMonitor::stream),
            };
            stream.settle(held, self.config.timeouts.keep_alive, until);
        }
        Ok(response)
    }

    /// Gives up the place of a running call for that of a listener.
    fn listen(&self, call: Slot, admission: &Admission) -> Result<Slot, Refusal> {
        drop(call);
        self.admission.listeners.take(admission.rate_key())
    }

    async fn probe(
        &self,
        head: &Parts,
        connection: &ConnectionInfo,
        now: Instant,
    ) -> Result<Option<Response<ResponseBody>>, Refusal> {
        let path = head.uri.path();
        if !PROBES.contains(&path) {
            return Ok(None);
        }
        only_reading(head)?;
        // A page that has a name of its own point at us learns that we are there, and no more.
        let known = self.access.probe_host(head, connection.bound);
        Ok(Some(match path {
            LIVE => health::alive(),
            READY if self.shutdown.has_begun() => health::leaving(known.is_ok()),
            READY => self.probes.readiness(now, known.is_ok()).await,
            _ if self.config.metrics => {
                known?;
                self.render_metrics()
            }
            _ => return Err(Refusal::NotFound),
        }))
    }

    fn render_metrics(&self) -> Response<ResponseBody> {
        self.metrics.running(
            self.admission.calls.taken(),
            self.admission.listeners.taken(),
        );
        self.metrics.holding(self.memory.held());
        let mut response = Response::new(ResponseBody::whole(self.probes.registry().render()));
        let text = HeaderValue::from_static("text/plain; version=0.0.4");
        response.headers_mut().insert(CONTENT_TYPE, text);
        response
    }

    /// The metadata document, if that is what is asked for.
    fn resource_metadata(&self, head: &Parts) -> Result<Option<Response<ResponseBody>>, Refusal> {
        let authenticator = self.admission.gate().authenticator();
        let metadata = authenticator.and_then(|one| one.metadata());
        let Some(document) = metadata.and_then(|one| one.document_at(head.uri.path())) else {
            return Ok(None);
        };
        only_reading(head)?;
        Ok(Some(reply::json(StatusCode::OK, document.clone())))
    }

    fn methods(&self) -> &'static str {
        if self.config.get_and_delete {
            "POST, GET, DELETE"
        } else {
            "POST"
        }
    }

    /// Checks that the request is one the endpoint could answer.
    fn admit<B: Body>(
        &self,
        head: &Parts,
        summary: &HeadSummary,
        body: &B,
    ) -> Result<Accepts, Refusal> {
        let posts = head.method == Method::POST;
        let legacy = head.method == Method::GET || head.method == Method::DELETE;
        if !(posts || legacy && self.config.get_and_delete) {
            // HTTP-S20
            let allow = self.methods();
            return Err(Refusal::MethodNotAllowed { allow });
        }
        let is_json = summary.is_plain_json || is_plain_json(&head.headers);
        if posts && !self.config.pages && !is_json {
            return Err(Refusal::NotJson);
        }
        if body.size_hint().lower() > self.config.limits.body_bytes as u64 {
            return Err(Refusal::BodyTooLarge);
        }
        if summary.accepts_everything {
            return Ok(Accepts::EVERYTHING);
        }
        let accepts = Accepts::read(&head.headers);
        let readable = match head.method {
            _ if self.config.pages => true,
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

/// The moment on our own clock that the world calls `time`.
fn moment(time: SystemTime, clock: &Clock) -> Instant {
    let left = time.duration_since(clock.now()).unwrap_or_default();
    clock::now() + left.min(LONGEST)
}

const LIVE: &str = "/livez";
const READY: &str = "/readyz";
const PROBES: [&str; 3] = [LIVE, READY, "/metrics"];

/// Time after its deadline for the endpoint to report it in its own words.
const SLACK: Duration = Duration::from_secs(2);
