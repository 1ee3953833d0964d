//! Prompts: messages that a server prepares for a user.

use std::collections::BTreeMap;

use crate::caching::{CacheScope, TtlMs};
use crate::content::{ContentBlock, Role};
use crate::implementation::Icon;
use crate::json::JsonObject;
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// Definition of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// Name for `prompts/get`.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// Purpose of the prompt.
    pub description: Option<String>,
    /// Arguments that the prompt takes.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Icons to show for it.
    pub icons: Option<Vec<Icon>>,
    /// Metadata (`_meta`) under keys of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: None,
            icons: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(Prompt {
    required: name = "name";
    optional: title = "title", description = "description", arguments = "arguments",
        icons = "icons", meta = "_meta";
    rest: extra
});

/// Argument of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// Name of the argument.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// Description of the value.
    pub description: Option<String>,
    /// True if the argument must be given. False if missing.
    pub required: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptArgument {
    /// Creates an optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            required: None,
            extra: JsonObject::new(),
        }
    }
}

members!(PromptArgument {
    required: name = "name";
    optional: title = "title", description = "description", required = "required";
    rest: extra
});

/// Message of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Role of the speaker.
    pub role: Role,
    /// Content of the message.
    pub content: ContentBlock,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptMessage {
    /// Creates a message of `role`.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self {
            role,
            content,
            extra: JsonObject::new(),
        }
    }

    /// Creates a text message of `role`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::content::Role;
    /// use sterna_protocol::prompt::PromptMessage;
    ///
    /// let message = PromptMessage::text(Role::User, "Summarise the report.");
    /// assert_eq!(
    ///     serde_json::to_string(&message)?,
    ///     r#"{"role":"user","content":{"type":"text","text":"Summarise the report."}}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, ContentBlock::text(text))
    }
}

members!(PromptMessage {
    required: role = "role", content = "content";
    rest: extra
});

/// Result of `prompts/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// Prompts of this page.
    pub prompts: Vec<Prompt>,
    /// Cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// Lifetime in a client's cache; see
    /// [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Callers that may share a cached copy.
    pub cache_scope: Option<CacheScope>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListPromptsResult {
    /// Creates the last page.
    pub fn new(prompts: Vec<Prompt>) -> Self {
        Self {
            prompts,
            next_cursor: None,
            ttl_ms: None,
            cache_scope: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(ListPromptsResult {
    required: prompts = "prompts";
    optional: next_cursor = "nextCursor", ttl_ms = "ttlMs", cache_scope = "cacheScope",
        meta = "_meta";
    rest: extra
});

cacheable!(ListPromptsResult);

/// Parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// Name of the prompt.
    pub name: String,
    /// Value of each argument, by name.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Answers to the questions of the previous round (`inputResponses`).
    pub input_responses: Option<InputResponses>,
    /// State that the server sent in the previous round, byte for byte
    /// (`requestState`).
    pub request_state: Option<RequestState>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptRequestParams {
    /// Gets the prompt `name` without arguments, in the first round.
    pub fn new(meta: RequestMeta, name: impl Into<String>) -> Self {
        Self {
            meta,
            name: name.into(),
            arguments: None,
            input_responses: None,
            request_state: None,
            extra: JsonObject::new(),
        }
    }
}

members!(GetPromptRequestParams {
    required: meta = "_meta", name = "name";
    optional: arguments = "arguments", input_responses = "inputResponses",
        request_state = "requestState";
    rest: extra
});

/// Result of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// Messages that begin a conversation.
    pub messages: Vec<PromptMessage>,
    /// Purpose of the prompt.
    pub description: Option<String>,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptResult {
    /// Creates a result with `messages` and no description.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            description: None,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(GetPromptResult {
    required: messages = "messages";
    optional: description = "description", meta = "_meta";
    rest: extra
});
