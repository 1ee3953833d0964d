use std::collections::BTreeMap;

use super::{RequestMeta, TaskMetadata};
use crate::completion::{CompletionArgument, CompletionContext, CompletionReference};
use crate::logging::LoggingLevel;
use crate::sampling;

wire! {
    /// Parameters of every list request.
    #[derive(Default)]
    pub struct PaginatedRequestParams {
        optional {
            /// `nextCursor` of the previous page. `None` asks for the first
            /// page.
            cursor: Option<String> = "cursor",
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }
}

wire! {
    /// Parameters of `prompts/get`.
    pub struct GetPromptRequestParams {
        required {
            /// Name of the prompt.
            name: String = "name",
        }
        optional {
            /// Value of each argument, by name.
            arguments: Option<BTreeMap<String, String>> = "arguments",
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Gets the prompt `name` without arguments.
    new(name: impl Into<String>);
}

wire! {
    /// Parameters of `resources/read`, `resources/subscribe` and
    /// `resources/unsubscribe`.
    pub struct ResourceRequestParams {
        required {
            /// URI of the resource.
            uri: String = "uri",
        }
        optional {
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Names the resource `uri`.
    new(uri: impl Into<String>);
}

wire! {
    /// Parameters of `completion/complete`.
    pub struct CompleteRequestParams {
        required {
            /// The prompt or resource template that the argument belongs to.
            reference: CompletionReference = "ref",
            /// Name of the argument and the text typed so far.
            argument: CompletionArgument = "argument",
        }
        optional {
            /// Values of the other arguments, as far as they are known.
            context: Option<CompletionContext> = "context",
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Completes one argument, without values of the others.
    new(reference: CompletionReference, argument: CompletionArgument);
}

wire! {
    /// Parameters of `logging/setLevel`.
    pub struct SetLevelRequestParams {
        required {
            /// Lowest level of the log messages to send.
            level: LoggingLevel = "level",
        }
        optional {
            /// Request metadata (`_meta`).
            meta: Option<RequestMeta> = "_meta",
        }
    }

    /// Asks for log messages of at least `level`.
    new(level: LoggingLevel);
}

/// Parameters of `sampling/createMessage`, a request of the server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// Messages, limits and preferences.
    pub message: sampling::CreateMessageRequestParams,
    /// Asks the receiver to run the request as a task.
    pub task: Option<TaskMetadata>,
    /// Request metadata (`_meta`).
    pub meta: Option<RequestMeta>,
}

impl From<sampling::CreateMessageRequestParams> for CreateMessageRequestParams {
    fn from(message: sampling::CreateMessageRequestParams) -> Self {
        Self {
            message,
            task: None,
            meta: None,
        }
    }
}

members!(CreateMessageRequestParams {
    optional: task = "task", meta = "_meta";
    base: message
});
