use std::collections::BTreeMap;

use super::RequestMeta;
use crate::completion::{CompletionArgument, CompletionContext, CompletionReference};
use crate::json::JsonObject;
use crate::logging::LoggingLevel;

/// The parameters of every request for a list.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// The `nextCursor` of the page before; `None` asks for the first page.
    pub cursor: Option<String>,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(PaginatedRequestParams {
    optional: cursor = "cursor", meta = "_meta";
    rest: extra
});

/// The parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// The prompt.
    pub name: String,
    /// What is filled in.
    pub arguments: Option<BTreeMap<String, String>>,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptRequestParams {
    /// Gets the prompt `name` with nothing filled in.
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

/// The parameters of `resources/read`, `resources/subscribe` and
/// `resources/unsubscribe`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceRequestParams {
    /// The resource.
    pub uri: String,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceRequestParams {
    /// Is about the resource `uri`.
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

/// The parameters of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// Whose argument is being typed.
    pub reference: CompletionReference,
    /// The argument and what is typed so far.
    pub argument: CompletionArgument,
    /// What is known about the other arguments.
    pub context: Option<CompletionContext>,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteRequestParams {
    /// Completes one argument, nothing being known about the others.
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

/// The parameters of `logging/setLevel`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetLevelRequestParams {
    /// From which level up the session wants log messages.
    pub level: LoggingLevel,
    /// What the request says about itself.
    pub meta: Option<RequestMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl SetLevelRequestParams {
    /// From `level` up.
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
