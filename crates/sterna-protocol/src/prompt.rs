//! Prompts: messages that a server prepares for a user.

use std::collections::BTreeMap;

use crate::caching::{CacheScope, TtlMs};
use crate::content::{ContentBlock, Role};
use crate::implementation::Icon;
use crate::json::JsonObject;
use crate::meta::{RequestMeta, ResultMeta};
use crate::retry::{InputResponses, RequestState};

wire! {
    /// Definition of a prompt.
    pub struct Prompt {
        required {
            /// Name for `prompts/get`.
            name: String = "name",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Purpose of the prompt.
            description: Option<String> = "description",
            /// Arguments that the prompt takes.
            arguments: Option<Vec<PromptArgument>> = "arguments",
            /// Icons to show for it.
            icons: Option<Vec<Icon>> = "icons",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a prompt without arguments.
    new(name: impl Into<String>);
}

wire! {
    /// Argument of a prompt.
    pub struct PromptArgument {
        required {
            /// Name of the argument.
            name: String = "name",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// True if the argument must be given. False if missing.
            required: Option<bool> = "required",
        }
    }

    /// Creates an optional argument.
    new(name: impl Into<String>);
}

wire! {
    /// Message of a prompt.
    pub struct PromptMessage {
        required {
            /// Role of the speaker.
            role: Role = "role",
            /// Content of the message.
            content: ContentBlock = "content",
        }
    }

    /// Creates a message of `role`.
    new(role: Role, content: ContentBlock);
}

impl PromptMessage {
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

wire! {
    /// Result of `prompts/list`.
    pub struct ListPromptsResult {
        required {
            /// Prompts of this page.
            prompts: Vec<Prompt> = "prompts",
        }
        optional {
            /// Cursor of the next page; `None` on the last one.
            next_cursor: Option<String> = "nextCursor",
            /// Lifetime in a client's cache; see
            /// [`Cacheable`](crate::caching::Cacheable).
            ttl_ms: Option<TtlMs> = "ttlMs",
            /// Callers that may share a cached copy.
            cache_scope: Option<CacheScope> = "cacheScope",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates the last page.
    new(prompts: Vec<Prompt>);
}

cacheable!(ListPromptsResult);

wire! {
    /// Parameters of `prompts/get`.
    pub struct GetPromptRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// Name of the prompt.
            name: String = "name",
        }
        optional {
            /// Value of each argument, by name.
            arguments: Option<BTreeMap<String, String>> = "arguments",
            /// Answers to the questions of the previous round
            /// (`inputResponses`).
            input_responses: Option<InputResponses> = "inputResponses",
            /// State that the server sent in the previous round, byte for byte
            /// (`requestState`).
            request_state: Option<RequestState> = "requestState",
        }
    }

    /// Gets the prompt `name` without arguments, in the first round.
    new(meta: RequestMeta, name: impl Into<String>);
}

wire! {
    /// Result of `prompts/get`.
    pub struct GetPromptResult {
        required {
            /// Messages that begin a conversation.
            messages: Vec<PromptMessage> = "messages",
        }
        optional {
            /// Purpose of the prompt.
            description: Option<String> = "description",
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result with `messages` and no description.
    new(messages: Vec<PromptMessage>);
}
