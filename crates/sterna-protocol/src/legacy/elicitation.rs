use serde::de::{self, Deserialize, Deserializer};

use super::{RequestMeta, TaskMetadata};
use crate::elicitation;
use crate::errors::{MalformedErrorData, data, with_data};
use crate::json::{JsonObject, Tagged, read_tagged};
use crate::jsonrpc::{ErrorCode, ErrorObject};
use crate::meta::NotificationMeta;

/// The parameters of `elicitation/create`, a request of its own, told apart by
/// `mode`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// The user fills in a form.
    Form(ElicitRequestFormParams),
    /// The user visits a URL.
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

/// A form for the user.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// The form.
    pub form: elicitation::ElicitRequestFormParams,
    /// Asks that it be run as a task.
    pub task: Option<TaskMetadata>,
    /// What the request says about itself.
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

/// A URL for the user to visit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// The name of the visit, by which its end is announced.
    pub elicitation_id: String,
    /// Where to go.
    pub url: elicitation::ElicitRequestUrlParams,
    /// Asks that it be run as a task.
    pub task: Option<TaskMetadata>,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
}

impl ElicitRequestUrlParams {
    /// Sends the user to `url` and calls the visit `elicitation_id`.
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

/// The parameters of `notifications/elicitation/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// The visit that is over.
    pub elicitation_id: String,
    /// What the notification says about itself.
    pub meta: Option<NotificationMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ElicitationCompleteNotificationParams {
    /// The visit `elicitation_id` is over.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self {
            elicitation_id: elicitation_id.into(),
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ElicitationCompleteNotificationParams {
    required: elicitation_id = "elicitationId";
    optional: meta = "_meta";
    rest: extra
});

/// The data of error −32042: the user must visit these URLs before the request
/// can be tried again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UrlElicitationRequired {
    /// The visits.
    pub elicitations: Vec<ElicitRequestUrlParams>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl UrlElicitationRequired {
    /// The user must make these visits.
    pub fn new(elicitations: Vec<ElicitRequestUrlParams>) -> Self {
        Self {
            elicitations,
            extra: JsonObject::new(),
        }
    }

    /// Reads what `error` says; `None` if its code is another.
    ///
    /// # Errors
    ///
    /// The data is missing or not as promised.
    pub fn find(error: &ErrorObject) -> Result<Option<Self>, MalformedErrorData> {
        match error.code {
            ErrorCode::URL_ELICITATION_REQUIRED => data(error).map(Some),
            _ => Ok(None),
        }
    }
}

members!(UrlElicitationRequired {
    required: elicitations = "elicitations";
    rest: extra
});

impl From<&UrlElicitationRequired> for ErrorObject {
    fn from(required: &UrlElicitationRequired) -> Self {
        with_data(
            ErrorCode::URL_ELICITATION_REQUIRED,
            "URL elicitation required",
            required,
        )
    }
}
