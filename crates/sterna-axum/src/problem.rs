//! Errors as problem details (RFC 9457).

use std::borrow::Cow;
use std::fmt;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde::Serialize;
use serde_json::{Map, Value};
use sterna_flow::StepError;

use crate::cx::AskError;
use crate::stored_response::StoredResponse;

/// Error of a handler, written as `application/problem+json` (RFC 9457).
///
/// Any `std::error::Error` becomes one through `?`: its text goes to the log,
/// and the client learns that there was an internal error. A question without
/// an answer becomes a 403.
///
/// ```
/// use sterna_axum::Problem;
/// use http::StatusCode;
///
/// let problem = Problem::new(StatusCode::NOT_FOUND, "No such order").with("order", "7");
/// assert_eq!(problem.status(), StatusCode::NOT_FOUND);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Details>);

/// Boxed, so that a `Result` of a handler is small.
#[derive(Clone, Debug, PartialEq)]
struct Details {
    status: StatusCode,
    kind: Cow<'static, str>,
    title: Cow<'static, str>,
    members: Map<String, Value>,
}

impl Problem {
    /// A problem with a `title` for people.
    pub fn new(status: StatusCode, title: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Details {
            status,
            kind: "about:blank".into(),
            title: title.into(),
            members: Map::new(),
        }))
    }

    /// Sets the `type`, a URI that names the problem for programs.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Cow<'static, str>>) -> Self {
        self.0.kind = kind.into();
        self
    }

    /// Sets the `detail`: this occurrence, in words for people.
    #[must_use]
    pub fn detail(self, detail: impl Into<String>) -> Self {
        self.with("detail", detail.into())
    }

    /// Adds a member of its own.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Returns the status of the response.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns a problem that this crate defines.
    pub(crate) fn ours(status: StatusCode, name: &'static str, title: &'static str) -> Self {
        Self::new(status, title).kind(format!("{PROBLEMS}{name}"))
    }
}

impl Problem {
    /// Returns the response as a store keeps it.
    pub(crate) fn to_stored(&self) -> Bytes {
        let stored = StoredResponse {
            status: self.0.status,
            headers: headers(),
            body: self.to_json().into(),
        };
        stored.write().expect("a problem is far below 4 GiB")
    }

    fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Written<'a> {
            r#type: &'a str,
            title: &'a str,
            status: u16,
            #[serde(flatten)]
            members: &'a Map<String, Value>,
        }
        let written = Written {
            r#type: &self.0.kind,
            title: &self.0.title,
            status: self.0.status.as_u16(),
            members: &self.0.members,
        };
        serde_json::to_vec(&written).expect("a problem has string keys only")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json()));
        *response.status_mut() = self.0.status;
        *response.headers_mut() = headers();
        response
    }
}

fn headers() -> HeaderMap {
    HeaderMap::from_iter([
        (CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ])
}

impl<E: std::error::Error + 'static> From<E> for Problem {
    fn from(error: E) -> Self {
        let any: &dyn std::error::Error = &error;
        if let Some(unanswered) = any.downcast_ref::<AskError>() {
            return Self::ours(StatusCode::FORBIDDEN, "unanswered", "Not answered")
                .detail(unanswered.to_string());
        }
        let step = any
            .downcast_ref::<StepError>()
            .map(|error| error.key.as_str());
        tracing::error!(target: "sterna::axum", step, error = any, "a handler failed");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "Internal error")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.status, self.0.title)
    }
}

pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Beginning of the `type` of every problem that this crate defines.
pub(crate) const PROBLEMS: &str = "https://sterna.dev/problems/";
