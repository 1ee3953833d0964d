use serde::de::{self, Deserialize, Deserializer};

use super::{RequestMeta, TaskMetadata};
use crate::elicitation;
use crate::errors::{MalformedErrorData, data, with_data};
use crate::json::{Tagged, read_tagged};
use crate::jsonrpc::{ErrorCode, ErrorObject};
use crate::meta::NotificationMeta;

/// Parameters of `elicitation/create`, a request of the server, distinguished
/// by `mode`.
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

impl Tagged for ElicitRequestParams {
    const TAG: &'static str = "mode";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag {
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
    /// Message and schema of the form.
    pub form: elicitation::ElicitRequestFormParams,
    /// Asks the receiver to run the request as a task.
    pub task: Option<TaskMetadata>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
}

impl From<elicitation::ElicitRequestFormParams> for ElicitRequestFormParams {
    fn from(form: elicitation::ElicitRequestFormParams) -> Self {
        Self {
            form,
            task: None,
            meta: None,
        }
    }
}

members!(ElicitRequestFormParams {
    optional: task = "task", meta = "_meta";
    base: form
});

/// URL for the user to visit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// Id of the visit, named when it is complete.
    pub elicitation_id: String,
    /// Message and URL.
    pub url: elicitation::ElicitRequestUrlParams,
    /// Asks the receiver to run the request as a task.
    pub task: Option<TaskMetadata>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
}

impl ElicitRequestUrlParams {
    /// Sends the user to `url`, under the id `elicitation_id`.
    pub fn new(
        elicitation_id: impl Into<String>,
        url: elicitation::ElicitRequestUrlParams,
    ) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            url,
            task: None,
            meta: None,
        }
    }
}

members!(ElicitRequestUrlParams {
    required: elicitation_id = "elicitationId";
    optional: task = "task", meta = "_meta";
    base: url
});

wire! {
    /// Parameters of `notifications/elicitation/complete`.
    pub struct ElicitationCompleteNotificationParams {
        required {
            /// Id of the visit that is complete.
            elicitation_id: String = "elicitationId",
        }
        optional {
            /// Notification metadata (`_meta`).
            meta: Option<NotificationMeta> = "_meta",
        }
    }

    /// Reports that the visit `elicitation_id` is complete.
    new(elicitation_id: impl Into<String>);
}

wire! {
    /// Data of error −32042: URLs that the user must visit before the request
    /// can be retried.
    pub struct UrlElicitationRequired {
        required {
            /// The visits.
            elicitations: Vec<ElicitRequestUrlParams> = "elicitations",
        }
    }

    /// Asks for the visits `elicitations`.
    new(elicitations: Vec<ElicitRequestUrlParams>);
}

impl UrlElicitationRequired {
    /// Reads the data of `error`. `None` if it has another code.
    ///
    /// # Errors
    ///
    /// The data is missing or malformed.
    pub fn find(error: &ErrorObject) -> Result<Option<Self>, MalformedErrorData> {
        match error.code {
            ErrorCode::URL_ELICITATION_REQUIRED => data(error).map(Some),
            _ => Ok(None),
        }
    }
}

impl From<&UrlElicitationRequired> for ErrorObject {
    fn from(required: &UrlElicitationRequired) -> Self {
        with_data(
            ErrorCode::URL_ELICITATION_REQUIRED,
            "URL elicitation required",
            required,
        )
    }
}
