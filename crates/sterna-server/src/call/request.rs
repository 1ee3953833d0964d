use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION};
use http::{Extensions, HeaderMap, HeaderName, HeaderValue};
use sterna_form::NotAForm;
use sterna_http::Admission;
use sterna_http::auth::Caller;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::JsonObject;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::sampling::IncludeContext;
use sterna_protocol::version::ProtocolVersion;

use super::pending::PendingQuestions;
use super::report::Reporter;
use crate::changes::Changes;
use crate::environment::Environment;
use crate::era::MCP_SESSION_ID;
use crate::task_mode::TaskOptions;
use crate::telemetry::{TraceContext, flow_name};

/// The request that is being served: who sent it and what came with it.
///
/// Cheap to clone. It is true of this request alone: the next round of the same
/// flow may come over another connection, with other capabilities.
#[derive(Clone)]
pub struct Request(Arc<RequestInner>);

pub(crate) struct RequestInner {
    pub(crate) environment: Arc<Environment>,
    pub(crate) meta: RequestMeta,
    pub(crate) admission: Admission,
    pub(crate) extensions: Extensions,
    pub(crate) headers: Headers,
    pub(crate) reporter: Option<Arc<Reporter>>,
    /// A mistake of the author that no handler may hide.
    pub(crate) mistake: OnceLock<NotAForm>,
    /// Position of the request in its flow, once it is known.
    pub(crate) position: OnceLock<FlowPosition>,
    /// Promotion of the call to a task.
    pub(crate) promotion: TaskPromotion,
    /// The questions that wait to be brought to the client.
    pub(crate) pending: PendingQuestions,
}

/// Headers of the HTTP request as it came; a handler does not see all.
pub(crate) enum Headers {
    /// Those of one request.
    Own(HeaderMap),
    /// Those of many that came in one POST.
    Shared(Arc<HeaderMap>),
}

impl Headers {
    fn map(&self) -> &HeaderMap {
        match self {
            Self::Own(headers) => headers,
            Self::Shared(headers) => headers,
        }
    }
}

/// Position of a request in its flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowPosition {
    pub(crate) flow: [u8; 16],
    pub(crate) round: u32,
    /// The trace that all rounds of the flow belong to, if one was named.
    pub(crate) trace: Option<[u8; 16]>,
}

impl FlowPosition {
    /// The trace that all rounds of the flow belong to.
    ///
    /// Computed on demand: most calls end before it is needed.
    pub(crate) fn trace(&self) -> [u8; 16] {
        self.trace.unwrap_or_else(|| flow_name(self.flow))
    }
}

/// Promotion of a call to a task: if it may be, and if its handler wants it.
#[derive(Debug, Default)]
pub(crate) struct TaskPromotion {
    options: Option<TaskOptions>,
    wanted: AtomicBool,
}

impl TaskPromotion {
    /// A call that may go on as a task, if its handler wants to and it has a
    /// wish.
    pub(crate) fn with(options: Option<TaskOptions>) -> Self {
        Self {
            options,
            wanted: AtomicBool::new(false),
        }
    }
}

impl Request {
    pub(crate) fn new(facts: RequestInner) -> Self {
        Self(Arc::new(facts))
    }

    /// State that the server was given with [`Server::state`](crate::Server::state).
    ///
    /// # Panics
    ///
    /// The server was given no `T`. The call fails, and nothing else.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.shared_state()
    }

    /// # Panics
    ///
    /// The server was given no `T`.
    #[expect(
        clippy::panic,
        reason = "the author reads it, and the call alone fails"
    )]
    pub(crate) fn shared_state<T: Send + Sync + 'static>(&self) -> &Arc<T> {
        let state = self.0.environment.states.get();
        state.unwrap_or_else(|| {
            let wanted = std::any::type_name::<T>();
            panic!("MR0211: the server was given no `{wanted}`: give it one with `Server::state`")
        })
    }

    /// Caller, as the server's gate authenticated it.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.0.admission.caller()
    }

    /// Name and version that the client claims. Good for display, not for
    /// decisions.
    #[must_use]
    pub fn client(&self) -> Option<&Implementation> {
        self.0.meta.client_info.as_deref()
    }

    /// Capabilities that the client declared on this request.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.meta.client_capabilities
    }

    /// Returns `true` if the client can be asked `question`.
    #[must_use]
    pub fn can_ask(&self, question: &InputRequest) -> bool {
        missing_capabilities(self.capabilities(), question).is_none()
    }

    /// Extensions that layers around the server put into the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// The header `name` of the HTTP request that this round came with, if it
    /// is there and is text. Headers that carry credentials are withheld:
    /// `Authorization`, `Proxy-Authorization`, `Cookie` and `Mcp-Session-Id`.
    ///
    /// A task has none, and neither has a request on stdio. Another
    /// round may come with others, so a flow that depends on one reads it in a
    /// [`step`](crate::Cx::step). A client sets headers as it likes: they
    /// prove nothing about the caller.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = self.0.headers.map().get(name).filter(|_| is_shown(name))?;
        value.to_str().ok()
    }

    /// Returns the id of the session over HTTP that the request belongs to. It is
    /// a credential.
    pub(crate) fn session_id(&self) -> Option<&[u8]> {
        // A request of 2026-07-28 may carry the header, but no session was opened for it.
        if self.0.meta.protocol_version >= ProtocolVersion::V2026_07_28 {
            return None;
        }
        let id = self.0.headers.map().get(MCP_SESSION_ID)?;
        Some(id.as_bytes())
    }

    /// All headers that [`header`](Self::header) shows, as they came.
    pub fn headers(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        let headers = self.0.headers.map().iter();
        headers.filter(|(name, _)| is_shown(name.as_str()))
    }

    /// Tells subscribers that something of the server has changed.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.0.environment.changes
    }

    /// The trace the request belongs to, for what the handler calls in turn.
    #[must_use]
    pub fn trace(&self) -> TraceContext<'_> {
        let position = self.position();
        TraceContext::new(&self.0.meta, position.map_or([0; 16], FlowPosition::trace))
    }

    pub(crate) fn position(&self) -> Option<&FlowPosition> {
        self.0.position.get()
    }

    /// Notes where the request stands; a round stands in one place.
    pub(crate) fn set_position(&self, position: FlowPosition) {
        let _ = self.0.position.set(position);
    }

    /// Wants the call to go on as a task, if it may; says whether it may.
    pub(crate) fn want_task(&self) -> bool {
        let promotion = &self.0.promotion;
        let allowed = promotion.options.is_some();
        if allowed {
            promotion.wanted.store(true, Ordering::Relaxed);
        }
        allowed
    }

    /// Options of the task that the call may become.
    pub(crate) fn task_options(&self) -> Option<TaskOptions> {
        self.0.promotion.options
    }

    /// Returns `true` if the handler wants to go on as a task.
    pub(crate) fn wants_task(&self) -> bool {
        self.0.promotion.wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn pending_questions(&self) -> &PendingQuestions {
        &self.0.pending
    }

    pub(crate) fn meta(&self) -> &RequestMeta {
        &self.0.meta
    }

    pub(crate) fn admission(&self) -> &Admission {
        &self.0.admission
    }

    pub(crate) fn reporter(&self) -> Option<&Arc<Reporter>> {
        self.0.reporter.as_ref()
    }

    /// Notes a mistake of the author; the first one counts.
    pub(crate) fn record_misuse(&self, mistake: NotAForm) {
        // A second mistake is found when the first has been put right.
        let _ = self.0.mistake.set(mistake);
    }

    pub(crate) fn mistake(&self) -> Option<&NotAForm> {
        self.0.mistake.get()
    }
}

/// Returns `true` if a handler sees the header `name`. Credentials are for the
/// gate alone: a handler that has one can pass it on (AUTHSEC-S2).
fn is_shown(name: &str) -> bool {
    let hidden = [AUTHORIZATION, PROXY_AUTHORIZATION, COOKIE, MCP_SESSION_ID];
    !hidden
        .iter()
        .any(|hidden| name.eq_ignore_ascii_case(hidden.as_str()))
}

/// Returns the capabilities that `client` would have to declare to be asked
/// `question`; `None` if it has declared them.
pub(crate) fn missing_capabilities(
    client: &ClientCapabilities,
    question: &InputRequest,
) -> Option<ClientCapabilities> {
    let mut required = question.required_capabilities();
    // SAMP-S2
    if let InputRequest::CreateMessage(request) = question
        && let Some(context) = &request.params.include_context
        && *context != IncludeContext::None
    {
        let sampling = required.sampling.get_or_insert_default();
        sampling.context = Some(JsonObject::new());
    }
    client.missing(&required)
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("caller", self.caller())
            .field("client", &self.client().map(|client| &client.name))
            .finish_non_exhaustive()
    }
}
