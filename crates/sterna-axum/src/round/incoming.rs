//! A request as it came in.

use axum::extract::{MatchedPath, OriginalUri, Request};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use sterna_seal::{Binding, Principal, Target};

use crate::body::{BodyForm, ResumeMember};
use crate::core::RouteCore;
use crate::fault::Fault;
use crate::operations::RespondAsync;
use crate::resume::{Resume, digest_of};

/// Request without its member `resume`, and all that a state is bound to.
pub(super) struct Incoming {
    /// Head of the request as the author's extractors see it.
    pub(super) head: Parts,
    pub(super) resume: Option<ResumeMember>,
    pub(super) caller: Principal,
    pub(super) target: RequestTarget,
    /// Key of a first request, as its header has it.
    pub(super) idempotency_key: Option<HeaderValue>,
    /// Wish to be answered at once, if the route heeds it.
    pub(super) respond_async: Option<RespondAsync>,
}

/// Target and arguments of a request.
pub(super) struct RequestTarget {
    pub(super) method: Method,
    /// Route with its parameters unfilled.
    pub(super) route: Option<MatchedPath>,
    /// Address as it was requested.
    pub(super) uri: Uri,
    content_type: Option<HeaderValue>,
    /// Body without the member `resume`.
    pub(super) body: Bytes,
}

impl Incoming {
    /// Finds the caller of `request`, reads its body and takes the member out.
    ///
    /// Boxed: it goes through several futures, each of which would copy it.
    pub(super) async fn read<S>(
        route: &RouteCore<S>,
        request: Request,
    ) -> Result<Box<Self>, Fault> {
        let (mut parts, body) = request.into_parts();
        let caller = route.caller_of(&parts).ok_or(Fault::Unauthorized)?;
        let limit = route.resume.config.max_body;
        let body = axum::body::to_bytes(body, limit).await;
        let body = body.map_err(|_| Fault::TooLarge)?;
        let content_type = parts.headers.get(CONTENT_TYPE).cloned();
        let form = BodyForm::of(content_type.as_ref(), &body);
        let split = form.split(body);
        let split = split.map_err(|_| Fault::Refused("malformed_member"))?;
        if split.resume.is_some() {
            set_length(&mut parts.headers, split.rest.len());
        }
        let idempotency_key = match split.resume {
            Some(_) => None,
            None => parts.headers.get(IDEMPOTENCY_KEY).cloned(),
        };
        let longest = route.operation.as_ref();
        let longest = longest.map(|operation| operation.settings.longest_wait);
        let respond_async = longest.and_then(|longest| RespondAsync::read(&parts.headers, longest));
        let target = RequestTarget {
            method: parts.method.clone(),
            route: parts.extensions.get::<MatchedPath>().cloned(),
            uri: full_uri(&parts),
            content_type,
            body: split.rest,
        };
        Ok(Box::new(Self {
            head: parts,
            resume: split.resume,
            caller,
            target,
            idempotency_key,
            respond_async,
        }))
    }

    /// Binds a state to the caller and the request.
    ///
    /// # Errors
    ///
    /// The body has no form that all readers understand alike.
    pub(super) fn bind<S>(&self, resume: &Resume<S>) -> Result<Binding, Fault> {
        self.target.bind(resume, &self.caller)
    }

    /// Returns the digest of the state and the answers. Two retries with the same
    /// one are the same retry.
    pub(super) fn retry_digest(&self) -> [u8; 32] {
        let mut parts: Vec<&[u8]> = Vec::new();
        if let Some(resume) = &self.resume {
            parts.push(resume.token.as_bytes());
            for (key, answer) in &resume.answers {
                parts.extend([key.as_bytes(), answer.get().as_bytes()]);
            }
        }
        digest_of("sterna http retry v1", &parts)
    }
}

impl RequestTarget {
    pub(super) fn bind<S>(&self, resume: &Resume<S>, caller: &Principal) -> Result<Binding, Fault> {
        let form = BodyForm::of(self.content_type.as_ref(), &self.body);
        let body = form.bound(&self.body).ok_or(Fault::AmbiguousBody)?;
        let (path, query) = (self.uri.path(), self.uri.query().unwrap_or_default());
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let arguments = format!("[{},{},{body}]", text(path), text(query));
        let (method, route) = self.name();
        let target = Target::new(method, route);
        let bound = Binding::new(&resume.realm, caller, &target, Some(&arguments));
        bound.map_err(|_| Fault::AmbiguousBody)
    }

    /// Returns the method and the route.
    pub(super) fn name(&self) -> (&str, &str) {
        let route = self.route.as_ref().map(MatchedPath::as_str);
        (
            self.method.as_str(),
            route.unwrap_or_else(|| self.uri.path()),
        )
    }
}

fn set_length(headers: &mut HeaderMap, length: usize) {
    if headers.contains_key(CONTENT_LENGTH) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// Returns the address as it was requested, also in a nested router.
fn full_uri(parts: &Parts) -> Uri {
    let original = parts.extensions.get::<OriginalUri>();
    original.map_or_else(|| parts.uri.clone(), |original| original.0.clone())
}

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
