//! The `_meta` of requests.

use std::sync::Arc;

use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::json::JsonObject;
use sterna_protocol::legacy::TaskMetadata;
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::meta::{RequestMeta, is_baggage, is_tracestate, trace_id};
use sterna_protocol::tasks;
use sterna_protocol::version::ProtocolVersion;

use super::Core;

/// Parts of a request's `_meta` that differ between calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestOptions {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) extra: JsonObject,
    pub(crate) log_level: Option<LoggingLevel>,
    /// That the request may become a task, for servers that want to be told.
    pub(crate) task: Option<TaskMetadata>,
}

impl Core {
    /// Capabilities that are declared unless a call sets others.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.with_extensions(self.answers.capabilities())
    }

    /// `capabilities` and the extensions of the client.
    pub(crate) fn with_extensions(
        &self,
        mut capabilities: ClientCapabilities,
    ) -> ClientCapabilities {
        let ClientCapabilities {
            extensions,
            experimental,
            ..
        } = &self.extensions;
        capabilities.extensions.clone_from(extensions);
        capabilities.experimental.clone_from(experimental);
        capabilities
    }

    /// The `_meta` of a request that has nothing special to say.
    pub(crate) fn plain_meta(&self) -> RequestMeta {
        self.meta(RequestOptions {
            capabilities: self.capabilities(),
            ..RequestOptions::default()
        })
    }

    /// The `_meta` of a request about tasks of the extension.
    pub(crate) fn task_meta(&self) -> RequestMeta {
        let mut meta = self.plain_meta();
        if !meta.client_capabilities.has_extension(tasks::EXTENSION) {
            let declared = Arc::unwrap_or_clone(meta.client_capabilities);
            meta.client_capabilities = declared.with_extension(&ExtensionId::TASKS).into();
        }
        meta
    }

    /// The `_meta` of a request (BASE-C7, BASE-C8).
    pub(crate) fn meta(&self, meta: RequestOptions) -> RequestMeta {
        let mut full = RequestMeta::new(ProtocolVersion::LATEST, meta.capabilities);
        full.client_info = self.info.clone().map(Arc::new);
        full.log_level = meta.log_level;
        full.extra = meta.extra;
        let trace = TraceContext::take(&mut full.extra);
        full.traceparent = trace.parent;
        full.tracestate = trace.state;
        full.baggage = trace.baggage;
        full
    }
}

/// Trace context of the caller, if it is valid by W3C.
#[derive(Debug, PartialEq)]
pub(crate) struct TraceContext {
    pub(crate) parent: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) baggage: Option<String>,
}

impl TraceContext {
    /// Takes the three keys out of `meta`. What is malformed is dropped
    /// (BASE-B24), and so is a state that belongs to no parent.
    pub(crate) fn take(meta: &mut JsonObject) -> Self {
        let parent = one(meta, "traceparent", |parent| trace_id(parent).is_some());
        let state = one(meta, "tracestate", |state| {
            parent.is_some() && is_tracestate(state)
        });
        let baggage = one(meta, "baggage", is_baggage);
        Self {
            parent,
            state,
            baggage,
        }
    }
}

fn one(meta: &mut JsonObject, key: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let text: Option<String> = meta.remove(key)?.decode().ok();
    let fitting = text.filter(|text| fits(text));
    if fitting.is_none() {
        tracing::debug!(key, "left out of `_meta`: not what W3C says it is");
    }
    fitting
}
