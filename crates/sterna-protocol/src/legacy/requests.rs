use std::collections::BTreeMap;

use super::RequestMeta;
use crate::completion::{CompletionArgument, CompletionContext, CompletionReference};
use crate::json::JsonObject;
use crate::logging::LoggingLevel;

/// Parameters of every list request.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// `nextCursor` of the previous page. `None` asks for the first page.
    pub cursor: Option<String>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(PaginatedRequestParams {
    optional: cursor = "cursor", meta = "_meta";
    rest: extra
});

/// Parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// Name of the prompt.
    pub name: String,
    /// Value of each argument, by name.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptRequestParams {
    /// Gets the prompt `name` without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(GetPromptRequestParams {
    required: name = "name";
    optional: arguments = "arguments", meta = "_meta";
    rest: extra
});

/// Parameters of `resources/read`, `resources/subscribe` and
/// `resources/unsubscribe`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceRequestParams {
    /// URI of the resource.
    pub uri: String,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceRequestParams {
    /// Names the resource `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ResourceRequestParams {
    required: uri = "uri";
    optional: meta = "_meta";
    rest: extra
});

/// Parameters of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// The prompt or resource template that the argument belongs to.
    pub reference: CompletionReference,
    /// Name of the argument and the text typed so far.
    pub argument: CompletionArgument,
    /// Values of the other arguments, as far as they are known.
    pub context: Option<CompletionContext>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteRequestParams {
    /// Completes one argument, without values of the others.
    pub fn new(reference: CompletionReference, argument: CompletionArgument) -> Self {
        Self {
            reference,
            argument,
            context: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CompleteRequestParams {
    required: reference = "ref", argument = "argument";
    optional: context = "context", meta = "_meta";
    rest: extra
});

/// Parameters of `logging/setLevel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// Lowest level of the log messages to send.
    pub level: LoggingLevel,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SetLevelRequestParams {
    /// Asks for log messages of at least `level`.
    pub fn new(level: LoggingLevel) -> Self {
        Self {
            level,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(SetLevelRequestParams {
    required: level = "level";
    optional: meta = "_meta";
    rest: extra
});
