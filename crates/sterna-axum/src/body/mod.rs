//! The body of a request, and the member `resume` in it.

mod json;
mod multipart;

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderValue;
use serde::Deserialize;
use serde_json::value::RawValue;

use multipart::boundary;

/// Body without its member `resume`, and that member.
pub(crate) struct SplitBody {
    /// Body that the author's extractors see.
    pub(crate) rest: Bytes,
    pub(crate) resume: Option<ResumeMember>,
}

/// Member by which a client resumes a request.
#[derive(Deserialize)]
pub(crate) struct ResumeMember {
    /// State as it was handed out.
    pub(crate) token: String,
    /// Answers by the keys of their questions.
    #[serde(default)]
    pub(crate) answers: BTreeMap<String, Box<RawValue>>,
}

/// The member `resume` is not an object with a token and answers.
#[derive(Debug)]
pub(crate) struct MalformedResume;

/// Form in which a body can carry a member beside the author's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyForm<'a> {
    /// No body, or a JSON object.
    Json,
    /// Parts with this boundary.
    Multipart(&'a str),
    /// A form that has no place for another member.
    Other,
}

impl<'a> BodyForm<'a> {
    /// Returns the form of a `body` of this type.
    pub(crate) fn of(content_type: Option<&'a HeaderValue>, body: &[u8]) -> Self {
        let without = if body.is_empty() {
            Self::Json
        } else {
            Self::Other
        };
        // As nearly all requests spell it.
        if content_type.is_some_and(|value| value == "application/json") {
            return Self::Json;
        }
        let Some(content_type) = content_type.and_then(|value| value.to_str().ok()) else {
            return without;
        };
        let media_type = content_type.split(';').next().unwrap_or_default();
        let media_type = media_type.trim().to_ascii_lowercase();
        if media_type == "application/json" || media_type.ends_with("+json") {
            return Self::Json;
        }
        match boundary(content_type) {
            Some(boundary) if media_type == "multipart/form-data" => Self::Multipart(boundary),
            _ => without,
        }
    }

    /// Takes the member `resume` out of `body`.
    ///
    /// # Errors
    ///
    /// The member is there and is malformed.
    pub(crate) fn split(self, body: Bytes) -> Result<SplitBody, MalformedResume> {
        match self {
            Self::Json => json::split(body),
            Self::Multipart(boundary) => multipart::split(body, boundary),
            Self::Other => Ok(SplitBody {
                rest: body,
                resume: None,
            }),
        }
    }

    /// Returns JSON that is the same for two bodies if and only if they say the
    /// same; `None` if the body has no such form.
    pub(crate) fn bound(self, rest: &[u8]) -> Option<String> {
        match self {
            Self::Json => json::bound(rest),
            Self::Multipart(boundary) => multipart::bound(rest, boundary),
            Self::Other => None,
        }
    }
}

/// Name of the member, and of the part of a multipart body.
const RESUME: &str = "resume";
