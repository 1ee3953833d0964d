//! Replies that are the same for every client, written once.

use bytes::Bytes;
use sterna_protocol::caching::Caching;
use sterna_protocol::capabilities::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability,
};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::legacy::{
    InitializeResult, ServerTaskRequests, ServerTasksCapability, ToolTasks,
};
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::version::ProtocolVersion;

use super::{Lists, discover};
use crate::catalog::{Catalog, Extensions};

/// Settings that the replies depend on, besides the offers.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) instructions: Option<String>,
    pub(crate) caching: Caching,
    /// Entries on a page of a list.
    pub(crate) page: usize,
    pub(crate) has_store: bool,
    /// `true` if the tasks of SEP-2322 are served, too.
    pub(crate) sep2322_tasks: bool,
    /// `true` if no session and no listener is served, because the process may
    /// end with any request.
    pub(crate) is_serverless: bool,
}

/// Replies that are the same for every client.
#[derive(Debug)]
pub(crate) struct CachedReplies {
    /// The answer to `server/discover`.
    pub(crate) discover: Bytes,
    pub(crate) lists: Lists,
    /// Result of `initialize`, without the revision.
    pub(crate) initialize_result: InitializeResult,
    /// The lists as 2025-11-25 has them.
    pub(crate) lists_2025_11_25: Lists,
    /// The lists as the revisions before have them.
    pub(crate) lists_2025_06_18: Lists,
}

impl Profile {
    pub(crate) fn show(
        &self,
        info: &Implementation,
        offers: &Catalog,
        extensions: &Extensions,
    ) -> CachedReplies {
        let meta = ResultMeta::of(info.clone());
        self.write(info, offers, extensions, &self.caching, &meta)
    }

    /// As [`show`](Self::show), with other caching hints and other metadata.
    pub(crate) fn write(
        &self,
        info: &Implementation,
        offers: &Catalog,
        extensions: &Extensions,
        caching: &Caching,
        meta: &ResultMeta,
    ) -> CachedReplies {
        let mut capabilities = declare(offers, self.is_serverless);
        let mut hello = InitializeResult::new(
            ProtocolVersion::V2025_11_25,
            capabilities.clone().into(),
            info.clone(),
        );
        hello.instructions.clone_from(&self.instructions);
        let runs_tasks = self.has_store && offers.may_run_tasks();
        hello.capabilities.tasks = runs_tasks.then(session_tasks);
        // Extensions are spoken at 2026-07-28 alone.
        for (id, settings) in extensions.declared() {
            let declared = capabilities.extensions.get_or_insert_default();
            declared.insert(id.to_string(), settings.clone());
        }
        let mut lists: fn(&_, &_, _, &_) -> _ = Lists::write;
        if self.sep2322_tasks {
            let mut tasks = session_tasks();
            tasks.list = None;
            let tasks = RawJson::of(&tasks).expect("wire types have string keys only");
            capabilities.extra.insert("tasks", tasks);
            lists = Lists::write_with_tasks;
        }
        let versions = vec![ProtocolVersion::V2026_07_28];
        let mut found = DiscoverResult::new(versions, capabilities);
        found.instructions.clone_from(&self.instructions);
        let extra = Some(&meta.extra).filter(|extra| !extra.is_empty());
        CachedReplies {
            discover: discover(found, caching, meta),
            lists: lists(offers, caching, self.page, meta),
            initialize_result: hello,
            lists_2025_11_25: Lists::write_legacy(offers, self.page, extra),
            lists_2025_06_18: Lists::write_older(offers, self.page, extra),
        }
    }
}

/// Declares the capabilities that the server has, and no others (DISC-S2).
fn declare(offers: &Catalog, is_serverless: bool) -> ServerCapabilities {
    let list_changed = offers.changing.then_some(true);
    let mut capabilities = ServerCapabilities::default();
    if offers.has_tools() {
        let mut tools = ToolsCapability::default();
        tools.list_changed = list_changed;
        capabilities.tools = Some(tools);
    }
    if offers.has_prompts() {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = list_changed;
        capabilities.prompts = Some(prompts);
    }
    if offers.has_resources() {
        let mut resources = ResourcesCapability::default();
        resources.list_changed = list_changed;
        resources.subscribe = (!is_serverless).then_some(true);
        capabilities.resources = Some(resources);
    }
    capabilities.completions = offers.completes().then(JsonObject::new);
    // LOG-S1: every handler has a log.
    capabilities.logging = Some(JsonObject::new());
    capabilities
}

/// Task capability of sessions of 2025-11-25.
fn session_tasks() -> ServerTasksCapability {
    let mut tools = ToolTasks::default();
    tools.call = Some(JsonObject::new());
    let mut requests = ServerTaskRequests::default();
    requests.tools = Some(tools);
    let mut tasks = ServerTasksCapability::default();
    tasks.list = Some(JsonObject::new());
    tasks.cancel = Some(JsonObject::new());
    tasks.requests = Some(requests);
    tasks
}
