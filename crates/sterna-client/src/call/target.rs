//! Target of a call, its request in each era, and its result.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use sterna_protocol::input::{InputResponses, RequestState};
use sterna_protocol::json::{RawJson, RawObject};
use sterna_protocol::legacy;
use sterna_protocol::meta::RequestMeta;
use sterna_protocol::methods::{self, ClientRequest, RequestMethod as _};
use sterna_protocol::prompt::{GetPromptRequestParams, GetPromptResult};
use sterna_protocol::resource::{ReadResourceRequestParams, ReadResourceResult};
use sterna_protocol::tool::{CallToolRequestParams, CallToolResult};

use crate::error::{Error, Fault};

/// One of the three things that may take several rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallTarget {
    Prompt {
        name: String,
        arguments: BTreeMap<String, String>,
    },
    Resource {
        uri: String,
    },
    Tool {
        name: String,
        arguments: Option<RawObject>,
    },
}

impl CallTarget {
    /// The name or the address.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Prompt { name, .. } | Self::Tool { name, .. } => name,
            Self::Resource { uri } => uri,
        }
    }

    pub(crate) fn method(&self) -> &'static str {
        match self {
            Self::Prompt { .. } => methods::GetPrompt::METHOD,
            Self::Resource { .. } => methods::ReadResource::METHOD,
            Self::Tool { .. } => methods::CallTool::METHOD,
        }
    }

    /// The request of 2026-07-28, with what the last round brought.
    ///
    /// MRTR-C7: apart from that it is the same request every time.
    pub(crate) fn modern(
        &self,
        meta: RequestMeta,
        (responses, state): (Option<InputResponses>, Option<RequestState>),
        task: Option<legacy::TaskMetadata>,
    ) -> ClientRequest {
        match self {
            Self::Prompt { name, arguments } => {
                let mut params = GetPromptRequestParams::new(meta, name);
                params.arguments = Some(arguments.clone()).filter(|given| !given.is_empty());
                params.input_responses = responses;
                params.request_state = state;
                ClientRequest::GetPrompt(params)
            }
            Self::Resource { uri } => {
                let mut params = ReadResourceRequestParams::new(meta, uri);
                params.input_responses = responses;
                params.request_state = state;
                ClientRequest::ReadResource(params)
            }
            Self::Tool { name, arguments } => {
                let mut params = CallToolRequestParams::new(meta, name);
                params.arguments.clone_from(arguments);
                // SEP-2322: not a member of the revision that came of it.
                if let Some(Ok(task)) = task.map(|task| RawJson::of(&task)) {
                    params.extra.insert("task", task);
                }
                params.input_responses = responses;
                params.request_state = state;
                ClientRequest::CallTool(params)
            }
        }
    }

    /// The request of an earlier revision.
    pub(crate) fn legacy(
        &self,
        meta: Option<legacy::RequestMeta>,
        task: Option<legacy::TaskMetadata>,
    ) -> legacy::ClientRequest {
        match self {
            Self::Prompt { name, arguments } => {
                let mut params = legacy::GetPromptRequestParams::new(name);
                params.arguments = Some(arguments.clone()).filter(|given| !given.is_empty());
                params.meta = meta;
                legacy::ClientRequest::GetPrompt(params)
            }
            Self::Resource { uri } => {
                let mut params = legacy::ResourceRequestParams::new(uri);
                params.meta = meta;
                legacy::ClientRequest::ReadResource(params)
            }
            Self::Tool { name, arguments } => {
                let mut params = legacy::CallToolRequestParams::new(name);
                params.arguments.clone_from(arguments);
                params.task = task;
                params.meta = meta;
                legacy::ClientRequest::CallTool(params)
            }
        }
    }
}

/// Result of a [`Call`](crate::Call): that of a tool, a prompt or a resource.
/// Other requests end in one round.
pub trait Reply: DeserializeOwned + Send + 'static {
    /// The request that ends with it.
    const METHOD: &'static str;

    /// Structured content of a tool's result; `None` for other results.
    #[doc(hidden)]
    fn structured(&self) -> Option<Option<&RawJson>> {
        None
    }

    /// Converts the result of a task, which only tool calls can become.
    #[doc(hidden)]
    fn of_task(_: CallToolResult) -> Result<Self, Error> {
        Err(Fault::Broken("a task that was not asked for").into())
    }
}

impl Reply for CallToolResult {
    const METHOD: &'static str = methods::CallTool::METHOD;

    fn structured(&self) -> Option<Option<&RawJson>> {
        // A tool that failed has promised nothing.
        (self.is_error != Some(true)).then_some(self.structured_content.as_ref())
    }

    fn of_task(result: CallToolResult) -> Result<Self, Error> {
        Ok(result)
    }
}

impl Reply for GetPromptResult {
    const METHOD: &'static str = methods::GetPrompt::METHOD;
}

impl Reply for ReadResourceResult {
    const METHOD: &'static str = methods::ReadResource::METHOD;
}
