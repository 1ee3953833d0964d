use std::fmt;
use std::sync::{Arc, OnceLock};

use sterna_http::auth::Caller;
use sterna_protocol::caching::{CacheScope, Caching};
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::implementation::Implementation;
use sterna_protocol::json::JsonObject;
use sterna_protocol::meta::{RequestMeta, ResultMeta};
use sterna_protocol::prompt::Prompt;
use sterna_protocol::resource::{Resource, ResourceTemplate};
use sterna_protocol::tool::Tool;
use sterna_protocol::version::ProtocolVersion;

use crate::catalog::{Catalog, Extensions};
use crate::lists::{CachedReplies, Profile};

/// Sender of a request, as a [`Backend`](super::Backend) must know it to say what
/// is offered. Cheap to clone.
#[derive(Clone)]
pub struct ViewRequest {
    method: &'static str,
    caller: Caller,
    version: ProtocolVersion,
    capabilities: Arc<ClientCapabilities>,
    client: Option<Arc<Implementation>>,
}

impl ViewRequest {
    pub(crate) fn new(method: &'static str, caller: Caller, meta: &RequestMeta) -> Self {
        Self {
            method,
            caller,
            version: meta.protocol_version.clone(),
            capabilities: Arc::clone(&meta.client_capabilities),
            client: meta.client_info.clone(),
        }
    }

    /// Method of the request. For a list the view should be as fresh as its
    /// caching hints say, for a call an older one may do.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// Caller, as the server's gate authenticated it.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Capabilities that the client declares: on this request, or when it opened
    /// its session.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.capabilities
    }

    /// Name and version that the client claims.
    #[must_use]
    pub fn client(&self) -> Option<&Implementation> {
        self.client.as_deref()
    }

    /// Revision that the request is in.
    #[must_use]
    pub fn protocol_version(&self) -> &ProtocolVersion {
        &self.version
    }
}

impl fmt::Debug for ViewRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ViewRequest")
            .field("method", &self.method)
            .field("caller", &self.caller)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Everything that a [`Backend`](super::Backend) offers to one sender, in the
/// order of its lists.
///
/// A name that is there twice counts once: the first one is kept, and the log
/// names it.
#[derive(Debug)]
#[non_exhaustive]
pub struct View {
    /// Tools, as they go to clients.
    pub tools: Vec<Tool>,
    /// Prompts, as they go to clients.
    pub prompts: Vec<Prompt>,
    /// Resources, as they go to clients.
    pub resources: Vec<Resource>,
    /// Resource templates, as they go to clients.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Caching hints of the lists. They are private unless
    /// [`ServerConfig::caching`](crate::ServerConfig::caching) is public too.
    pub caching: Caching,
    /// Members that the `_meta` of the lists has besides those of the server.
    pub meta: JsonObject,
    /// Catalog and lists that were written of the view, once.
    compiled: OnceLock<CompiledView>,
}

impl View {
    /// Creates a view of nothing, which no client may keep.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            resource_templates: Vec::new(),
            caching: Caching::NONE,
            meta: JsonObject::new(),
            compiled: OnceLock::new(),
        }
    }

    /// Returns the view as the server with `profile` uses it. A view that two
    /// servers share is written by the second one for each request.
    pub(crate) fn compiled(
        &self,
        profile: &Arc<Profile>,
        info: &Implementation,
        extensions: &Extensions,
    ) -> CompiledView {
        let compile = || CompiledView::of(self, profile, info, extensions);
        let known = self.compiled.get_or_init(compile);
        match Arc::ptr_eq(&known.profile, profile) {
            true => known.clone(),
            false => compile(),
        }
    }
}

impl Default for View {
    fn default() -> Self {
        Self::new()
    }
}

/// A view in the form in which a catalog is served.
#[derive(Clone, Debug)]
pub(crate) struct CompiledView {
    pub(crate) offers: Arc<Catalog>,
    pub(crate) cached: Arc<CachedReplies>,
    /// Profile of the server that it was made for.
    profile: Arc<Profile>,
}

impl CompiledView {
    fn of(
        view: &View,
        profile: &Arc<Profile>,
        info: &Implementation,
        extensions: &Extensions,
    ) -> Self {
        let mut offers = Catalog::of_backend();
        for tool in &view.tools {
            offers.forward_tool(tool.clone());
        }
        for prompt in &view.prompts {
            offers.forward_prompt(prompt.clone());
        }
        for resource in &view.resources {
            offers.forward_resource(resource.clone());
        }
        for template in &view.resource_templates {
            offers.forward_template(template.clone());
        }
        let mut caching = view.caching.clone();
        // CACHE-S4: what the server keeps private no view makes public.
        if profile.caching.scope != CacheScope::Public {
            caching.scope = CacheScope::Private;
        }
        let mut meta = ResultMeta::of(info.clone());
        meta.extra = view.meta.clone();
        let cached = profile.write(info, &offers, extensions, &caching, &meta);
        Self {
            offers: Arc::new(offers),
            cached: Arc::new(cached),
            profile: Arc::clone(profile),
        }
    }
}
