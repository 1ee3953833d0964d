//! Prompts: messages a user can have a server prepare.

use std::collections::BTreeMap;

use crate::caching::{CacheScope, TtlMs};
use crate::content::{ContentBlock, Role};
use crate::implementation::Icon;
use crate::json::JsonObject;
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

/// A prompt a server offers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The name it is got by.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is good for.
    pub description: Option<String>,
    /// What can be filled in.
    pub arguments: Option<Vec<PromptArgument>>,
    /// Pictures of it.
    pub icons: Option<Vec<Icon>>,
    /// Metadata under names of the sender's choice.
    pub meta: Option<JsonObject>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Prompt {
    /// A prompt without arguments.
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

/// A blank in a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name it is filled in by.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// Whether it must be filled in.
    pub required: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptArgument {
    /// A blank that may stay empty.
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

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: ContentBlock,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptMessage {
    /// `role` says `content`.
    pub fn new(role: Role, content: ContentBlock) -> Self {
        Self {
            role,
            content,
            extra: JsonObject::new(),
        }
    }

    /// `role` says `text`.
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

/// The result of `prompts/list`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ListPromptsResult {
    /// One page of prompts.
    pub prompts: Vec<Prompt>,
    /// Where the next page begins; `None` after the last one.
    pub next_cursor: Option<String>,
    /// How long the page is fresh; see [`Cacheable`](crate::caching::Cacheable).
    pub ttl_ms: Option<TtlMs>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ListPromptsResult {
    /// A page without a successor.
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

/// The parameters of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// The prompt.
    pub name: String,
    /// What is filled in.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Answers to what the server asked in the round before.
    pub input_responses: Option<InputResponses>,
    /// The state the server sent in the round before, byte for byte.
    pub request_state: Option<RequestState>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptRequestParams {
    /// Gets the prompt `name` with nothing filled in, in the first round.
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

/// The result of `prompts/get`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GetPromptResult {
    /// The messages to begin a conversation with.
    pub messages: Vec<PromptMessage>,
    /// What the prompt is good for.
    pub description: Option<String>,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl GetPromptResult {
    /// Begins a conversation with `messages`.
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
