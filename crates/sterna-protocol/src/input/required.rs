use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use thiserror::Error;

use super::{InputRequest, InputRequests, InputRequestsError, RequestState};
use crate::json::{JsonObject, Members};
use crate::meta::ResultMeta;

/// Asks the client for more input before the request can finish: the
/// `InputRequiredResult` of the specification.
///
/// Always asks a question or carries state: the spec forbids a result with
/// neither (MRTR-S6), so no constructor can build one and no text decodes into
/// one.
///
/// # Examples
///
/// ```
/// use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, StringSchema};
/// use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
///
/// let form = FormSchema::new().with_required("name", StringSchema::default());
/// let question = InputRequest::elicit(ElicitRequestFormParams::new("Who are you?", form));
/// let result = InputRequired::asking("user", question).with_state(RequestState::new("s1.…"));
///
/// let text = serde_json::to_string(&result)?;
/// assert!(text.starts_with(r#"{"resultType":"input_required","inputRequests":{"user":"#));
/// assert_eq!(serde_json::from_str::<InputRequired>(&text)?, result);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    requests: InputRequests,
    state: Option<RequestState>,
    /// Whether `inputRequests` is written even though nothing is asked.
    spells_out_none: bool,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InputRequired {
    /// Asks one question; chain [`and`](Self::and) for more.
    pub fn asking(key: impl Into<String>, request: InputRequest) -> Self {
        Self::from_parts(InputRequests::from_iter([(key, request)]), None)
    }

    /// Asks nothing: the client may retry at once with `state`.
    pub fn retry_with(state: RequestState) -> Self {
        Self::from_parts(InputRequests::new(), Some(state))
    }

    /// Asks `requests` and carries `state`.
    ///
    /// # Errors
    ///
    /// There is neither a question nor a state.
    pub fn new(
        requests: InputRequests,
        state: Option<RequestState>,
    ) -> Result<Self, InputRequiredError> {
        if requests.is_empty() && state.is_none() {
            return Err(InputRequiredError::Neither);
        }
        Ok(Self::from_parts(requests, state))
    }

    /// Callers have made sure that there is one of the two.
    fn from_parts(requests: InputRequests, state: Option<RequestState>) -> Self {
        Self {
            requests,
            state,
            spells_out_none: false,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Adds a question. A key asked twice keeps the later question.
    #[must_use]
    pub fn and(mut self, key: impl Into<String>, request: InputRequest) -> Self {
        self.requests.insert(key, request);
        self.spells_out_none = false;
        self
    }

    /// Adds the state to retry with, or replaces it.
    #[must_use]
    pub fn with_state(mut self, state: RequestState) -> Self {
        self.state = Some(state);
        self
    }

    /// Writes `"inputRequests": {}` where nothing is asked.
    ///
    /// The spec leaves the member out, but clients of the official Go SDK
    /// retry only if they see it.
    #[must_use]
    pub fn spelling_out_none(mut self) -> Self {
        self.spells_out_none = self.requests.is_empty();
        self
    }

    /// What is asked; may be nothing if there is a state.
    pub fn requests(&self) -> &InputRequests {
        &self.requests
    }

    /// What the client must hand back.
    pub fn state(&self) -> Option<&RequestState> {
        self.state.as_ref()
    }

    /// The questions and the state.
    pub fn into_parts(self) -> (InputRequests, Option<RequestState>) {
        (self.requests, self.state)
    }

    /// Reads the result out of what a server sent.
    ///
    /// # Errors
    ///
    /// It has neither question nor state, one of its questions is none (the
    /// error names its key), or it is no such result at all.
    pub fn decode(json: &str) -> Result<Self, InputRequiredError> {
        serde_json::from_str::<Unchecked>(json)?.check()
    }
}

/// The result before its questions have been looked at.
struct Unchecked {
    input_requests: Option<JsonObject>,
    request_state: Option<RequestState>,
    meta: Option<ResultMeta>,
    extra: JsonObject,
}

members!(Unchecked {
    tag: "resultType" = "input_required";
    optional: input_requests = "inputRequests", request_state = "requestState", meta = "_meta";
    rest: extra
});

impl Unchecked {
    fn check(self) -> Result<InputRequired, InputRequiredError> {
        let requests = match &self.input_requests {
            Some(requests) => InputRequests::decode(requests)?,
            None => InputRequests::new(),
        };
        let spells_out_none = self.input_requests.is_some() && requests.is_empty();
        Ok(InputRequired {
            spells_out_none,
            meta: self.meta,
            extra: self.extra,
            ..InputRequired::new(requests, self.request_state)?
        })
    }
}

impl<'de> Deserialize<'de> for InputRequired {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unchecked = Unchecked::deserialize(deserializer)?;
        unchecked.check().map_err(|error| match error {
            InputRequiredError::Request(error) => error.flat(),
            other => de::Error::custom(other),
        })
    }
}

impl Serialize for InputRequired {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("resultType", "input_required")?;
        if self.spells_out_none || !self.requests.is_empty() {
            map.serialize_entry("inputRequests", &self.requests)?;
        }
        if let Some(state) = &self.state {
            map.serialize_entry("requestState", state)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        self.extra.write(&mut map)?;
        map.end()
    }
}

/// Why something is not an [`InputRequired`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputRequiredError {
    /// It is no such result at all.
    #[error("malformed")]
    Malformed(#[from] serde_json::Error),
    /// It asks nothing and carries no state, so a retry would change nothing.
    #[error("neither `inputRequests` nor `requestState`")]
    Neither,
    /// One of its questions cannot be understood.
    #[error(transparent)]
    Request(#[from] InputRequestsError),
}
