use serde::de::{self, Deserialize, Deserializer};
use thiserror::Error;

use crate::capabilities::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use crate::elicitation::ElicitRequestParams;
use crate::json::{JsonObject, RawJson, Tagged, read_tagged};
use crate::roots::ListRootsRequestParams;
use crate::sampling::CreateMessageRequestParams;

/// Something a server asks before it can finish, told apart by `method`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Have a model write something.
    CreateMessage(CreateMessageRequest),
    /// Ask the user.
    Elicit(ElicitRequest),
    /// List the client's roots.
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

    /// The method, as it stands on the wire.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => "sampling/createMessage",
            Self::Elicit(_) => "elicitation/create",
            Self::ListRoots(_) => "roots/list",
        }
    }

    /// Asks the user.
    pub fn elicit(params: impl Into<ElicitRequestParams>) -> Self {
        Self::Elicit(ElicitRequest::new(params))
    }

    /// Has a model write something.
    pub fn create_message(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(CreateMessageRequest::new(params))
    }

    /// Asks for the client's roots.
    pub fn list_roots() -> Self {
        Self::ListRoots(ListRootsRequest::default())
    }

    /// Reads a request out of what a server sent.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it. There is nothing to answer then.
    pub fn decode(json: &RawJson) -> Result<Self, InputRequestError> {
        if !json.is_object() {
            return Err(InputRequestError::NotAnObject);
        }
        let Peek { method } = json.decode()?;
        // MRTR-S9: nothing else can be asked for.
        if !Self::METHODS.contains(&method.as_str()) {
            return Err(InputRequestError::UnknownMethod(method));
        }
        Ok(json.decode()?)
    }
}

#[derive(serde::Deserialize)]
struct Peek {
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
    /// What a client must have declared before it may be asked this.
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

/// Why something is not an [`InputRequest`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputRequestError {
    /// Its method is known, the rest is not what the method needs.
    #[error("malformed")]
    Malformed(#[from] serde_json::Error),
    /// It is null, or something else that is not an object.
    #[error("not an object")]
    NotAnObject,
    /// Its method is not one that a client can be asked.
    #[error("unknown method `{0}`")]
    UnknownMethod(String),
}

/// `sampling/createMessage`: have a model write something.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequest {
    /// What to write.
    pub params: CreateMessageRequestParams,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CreateMessageRequest {
    /// Writes `params`.
    pub fn new(params: CreateMessageRequestParams) -> Self {
        Self {
            params,
            extra: JsonObject::new(),
        }
    }
}

members!(CreateMessageRequest {
    tag: "method" = "sampling/createMessage";
    required: params = "params";
    rest: extra
});

/// `elicitation/create`: ask the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// What to ask.
    pub params: ElicitRequestParams,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ElicitRequest {
    /// Asks `params`.
    pub fn new(params: impl Into<ElicitRequestParams>) -> Self {
        Self {
            params: params.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(ElicitRequest {
    tag: "method" = "elicitation/create";
    required: params = "params";
    rest: extra
});

/// `roots/list`: list the client's roots.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ListRootsRequest {
    /// Metadata; most servers leave it out.
    pub params: Option<ListRootsRequestParams>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(ListRootsRequest {
    tag: "method" = "roots/list";
    optional: params = "params";
    rest: extra
});
