use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, SerializeMap, Serializer};
use thiserror::Error;

use super::{InputRequest, InputRequests, InputRequestsError, RequestState};
use crate::json::{JsonObject, Members};
use crate::meta::ResultMeta;

/// Request for more input before a request can complete: the
/// `InputRequiredResult` of the specification.
///
/// Always asks a question or carries state. The specification forbids a result
/// with neither (MRTR-S6), so constructors and decoding refuse it.
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
    /// Writes an empty `inputRequests`.
    spells_out_none: bool,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl InputRequired {
    /// Asks one question; chain [`and`](Self::and) for more.
    pub fn asking(key: impl Into<String>, request: InputRequest) -> Self {
        Self::from_parts(InputRequests::from_iter([(key, request)]), None)
    }

    /// Asks no question: the client may retry at once with `state`.
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

    /// Builds the result. The caller guarantees a question or a state.
    fn from_parts(requests: InputRequests, state: Option<RequestState>) -> Self {
        Self {
            requests,
            state,
            spells_out_none: false,
            meta: None,
            extra: JsonObject::new(),
        }
    }

    /// Adds a question. Replaces an earlier one with the same key.
    #[must_use]
    pub fn and(mut self, key: impl Into<String>, request: InputRequest) -> Self {
        self.requests.insert(key, request);
        self.spells_out_none = false;
        self
    }

    /// Sets the state for the retry.
    #[must_use]
    pub fn with_state(mut self, state: RequestState) -> Self {
        self.state = Some(state);
        self
    }

    /// Writes `"inputRequests": {}` if there is no question.
    ///
    /// The specification omits the member, but clients of the official Go SDK
    /// retry only if it is present.
    #[must_use]
    pub fn spelling_out_none(mut self) -> Self {
        self.spells_out_none = self.requests.is_empty();
        self
    }

    /// The questions. Empty only if there is a state.
    pub fn requests(&self) -> &InputRequests {
        &self.requests
    }

    /// The state that the client must return.
    pub fn state(&self) -> Option<&RequestState> {
        self.state.as_ref()
    }

    /// Splits the result into its questions and its state.
    pub fn into_parts(self) -> (InputRequests, Option<RequestState>) {
        (self.requests, self.state)
    }

    /// Decodes a result that a server sent.
    ///
    /// # Errors
    ///
    /// The result has neither a question nor a state, one of its questions is
    /// malformed (the error names its key), or it is not an
    /// `InputRequiredResult`.
    pub fn decode(json: &str) -> Result<Self, InputRequiredError> {
        serde_json::from_str::<InputRequiredResult>(json)?.check()
    }
}

/// The result before its questions are decoded.
struct InputRequiredResult {
    input_requests: Option<JsonObject>,
    request_state: Option<RequestState>,
    meta: Option<ResultMeta>,
    extra: JsonObject,
}

members!(InputRequiredResult {
    tag: "resultType" = "input_required";
    optional: input_requests = "inputRequests", request_state = "requestState", meta = "_meta";
    rest: extra
});

impl InputRequiredResult {
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
        let unchecked = InputRequiredResult::deserialize(deserializer)?;
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

/// JSON that is not an [`InputRequired`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputRequiredError {
    /// The members are not those of an `InputRequiredResult`.
    #[error("not an input-required result")]
    Malformed(#[from] serde_json::Error),
    /// There is neither a question nor a state, so a retry would be the same
    /// request.
    #[error("neither `inputRequests` nor `requestState`")]
    Neither,
    /// One of the questions is malformed.
    #[error(transparent)]
    Request(#[from] InputRequestsError),
}
