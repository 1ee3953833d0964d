use serde::de::{self, Deserialize, Deserializer};
use thiserror::Error;

use crate::capabilities::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use crate::elicitation::ElicitRequestParams;
use crate::json::{JsonObject, RawJson, Tagged, read_tagged};
use crate::roots::ListRootsRequestParams;
use crate::sampling::CreateMessageRequestParams;

/// Question of a server to the client, distinguished by `method`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Sampling request for the client's model.
    CreateMessage(CreateMessageRequest),
    /// Elicitation request for the user.
    Elicit(ElicitRequest),
    /// Request for the client's roots.
    ListRoots(ListRootsRequest),
}

variants!(InputRequest {
    CreateMessage(CreateMessageRequest),
    Elicit(ElicitRequest),
    ListRoots(ListRootsRequest),
});

impl InputRequest {
    const METHODS: &'static [&'static str] =
        &["elicitation/create", "roots/list", "sampling/createMessage"];

    /// The method on the wire.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => "sampling/createMessage",
            Self::Elicit(_) => "elicitation/create",
            Self::ListRoots(_) => "roots/list",
        }
    }

    /// Creates an elicitation request.
    pub fn elicit(params: impl Into<ElicitRequestParams>) -> Self {
        Self::Elicit(ElicitRequest::new(params))
    }

    /// Creates a sampling request.
    pub fn create_message(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(CreateMessageRequest::new(params))
    }

    /// Creates a request for the client's roots.
    pub fn list_roots() -> Self {
        Self::ListRoots(ListRootsRequest::default())
    }

    /// Decodes a request that a server sent.
    ///
    /// # Errors
    ///
    /// The request is malformed or its method is unknown. The client cannot
    /// answer it.
    pub fn decode(json: &RawJson) -> Result<Self, InputRequestError> {
        if !json.is_object() {
            return Err(InputRequestError::NotAnObject);
        }
        let MethodMember { method } = json.decode()?;
        // MRTR-S9: no other methods are allowed.
        if !Self::METHODS.contains(&method.as_str()) {
            return Err(InputRequestError::UnknownMethod(method));
        }
        Ok(json.decode()?)
    }
}

#[derive(serde::Deserialize)]
struct MethodMember {
    method: String,
}

impl Tagged for InputRequest {
    const TAG: &'static str = "method";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag.ok_or_else(|| de::Error::missing_field(Self::TAG))? {
            "elicitation/create" => ElicitRequest::deserialize(object).map(Self::Elicit),
            "roots/list" => ListRootsRequest::deserialize(object).map(Self::ListRoots),
            "sampling/createMessage" => {
                CreateMessageRequest::deserialize(object).map(Self::CreateMessage)
            }
            other => Err(de::Error::unknown_variant(other, Self::METHODS)),
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}

impl InputRequest {
    /// Returns the capabilities that a client must declare before a server may
    /// send it this request.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::capabilities::ClientCapabilities;
    /// use sterna_protocol::input::InputRequest;
    ///
    /// let question: InputRequest = serde_json::from_str(
    ///     r#"{"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://a.example"}}"#,
    /// )?;
    /// let declared: ClientCapabilities = serde_json::from_str(r#"{"elicitation":{}}"#)?;
    ///
    /// let missing = declared.missing(&question.required_capabilities()).unwrap();
    /// assert_eq!(serde_json::to_string(&missing)?, r#"{"elicitation":{"url":{}}}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn required_capabilities(&self) -> ClientCapabilities {
        let mut required = ClientCapabilities::default();
        match self {
            Self::Elicit(request) => {
                required.elicitation = Some(match request.params {
                    ElicitRequestParams::Form(_) => ElicitationCapability::form(),
                    ElicitRequestParams::Url(_) => ElicitationCapability::url(),
                });
            }
            Self::CreateMessage(request) => {
                let params = &request.params;
                let tools = params.tools.is_some() || params.tool_choice.is_some();
                required.sampling = Some(if tools {
                    SamplingCapability::with_tools()
                } else {
                    SamplingCapability::default()
                });
            }
            Self::ListRoots(_) => required.roots = Some(JsonObject::new()),
        }
        required
    }
}

/// JSON that is not an [`InputRequest`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputRequestError {
    /// The method is known, but its parameters are malformed.
    #[error("malformed request")]
    Malformed(#[from] serde_json::Error),
    /// `null`, or another value that is not an object.
    #[error("not an object")]
    NotAnObject,
    /// The method is not one that a client can be asked.
    #[error("unknown method `{0}`")]
    UnknownMethod(String),
}

wire! {
    /// `sampling/createMessage`: request for the client's model.
    pub struct CreateMessageRequest {
        tag "method" = "sampling/createMessage";
        required {
            /// Parameters of the sampling request.
            params: CreateMessageRequestParams = "params",
        }
    }

    /// Creates a sampling request.
    new(params: CreateMessageRequestParams);
}

wire! {
    /// `elicitation/create`: request for the user's input.
    pub struct ElicitRequest {
        tag "method" = "elicitation/create";
        required {
            /// Parameters of the elicitation request.
            params: ElicitRequestParams = "params",
        }
    }

    /// Creates an elicitation request.
    new(params: impl Into<ElicitRequestParams>);
}

wire! {
    /// `roots/list`: request for the client's roots.
    #[derive(Default)]
    pub struct ListRootsRequest {
        tag "method" = "roots/list";
        optional {
            /// Parameters, with metadata only; usually omitted.
            params: Option<ListRootsRequestParams> = "params",
        }
    }
}
