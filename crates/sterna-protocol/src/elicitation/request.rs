use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::FormSchema;
use crate::json::{JsonObject, Tagged, read_tagged};
use crate::uri::Uri;

/// Parameters of `elicitation/create`, distinguished by `mode`.
///
/// A request without `mode` is a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// Form mode: the user fills in a form.
    Form(ElicitRequestFormParams),
    /// URL mode: the user visits a URL.
    Url(ElicitRequestUrlParams),
}

variants!(ElicitRequestParams {
    Form(ElicitRequestFormParams),
    Url(ElicitRequestUrlParams),
});

impl ElicitRequestParams {
    /// Message for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(params) => &params.message,
            Self::Url(params) => &params.message,
        }
    }
}

impl Tagged for ElicitRequestParams {
    const TAG: &'static str = "mode";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag {
            // ELICIT-C4: a request without a mode is a form.
            None | Some("form") => ElicitRequestFormParams::deserialize(object).map(Self::Form),
            Some("url") => ElicitRequestUrlParams::deserialize(object).map(Self::Url),
            Some(other) => Err(de::Error::unknown_variant(other, &["form", "url"])),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitRequestParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}

/// Form for the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// Message for the user.
    pub message: String,
    /// Schema of the form.
    pub requested_schema: FormSchema,
    /// Mode. 2025-06-18 has only forms and does not define the member.
    pub mode: Option<FormMode>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ElicitRequestFormParams {
    /// Creates a form that names its mode.
    pub fn new(message: impl Into<String>, requested_schema: FormSchema) -> Self {
        Self {
            message: message.into(),
            requested_schema,
            mode: Some(FormMode),
            extra: JsonObject::new(),
        }
    }
}

members!(ElicitRequestFormParams {
    first: mode = "mode";
    required: message = "message", requested_schema = "requestedSchema";
    rest: extra
});

/// The value `"form"` of `mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a single value without members")]
pub struct FormMode;

impl Serialize for FormMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("form")
    }
}

impl<'de> Deserialize<'de> for FormMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mode = String::deserialize(deserializer)?;
        match mode.as_str() {
            "form" => Ok(Self),
            other => Err(de::Error::unknown_variant(other, &["form"])),
        }
    }
}

wire! {
    /// URL for the user to visit. The result of the visit does not pass through
    /// the client.
    ///
    /// Since 2026-07-28 there is no `elicitationId`: the server finds out from
    /// its own state whether the visit is over.
    pub struct ElicitRequestUrlParams {
        tag "mode" = "url";
        required {
            /// Message for the user.
            message: String = "message",
            /// URL to visit; always a valid URI (ELICIT-S6).
            url: Uri = "url",
        }
    }

    /// Sends the user to `url`.
    new(message: impl Into<String>, url: Uri);
}
