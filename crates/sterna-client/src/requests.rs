//! Everything a server can be asked.

use std::collections::BTreeMap;

use sterna_protocol::caching::{Cacheable as _, Caching};
use sterna_protocol::completion::{
    CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::legacy::ListTasksResult;
use sterna_protocol::prompt::{GetPromptResult, ListPromptsResult, Prompt};
use sterna_protocol::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceTemplate,
};
use sterna_protocol::subscription::SubscriptionFilter;
use sterna_protocol::tasks::Task;
use sterna_protocol::tool::{CallToolResult, Tool};

use crate::call::{Call, CallTarget};
use crate::client::Client;
use crate::core::{Query, tools_page};
use crate::error::Error;
use crate::listen::Subscription;
use crate::pages::{Page, Pages};
use crate::tasks::{TaskDialect, TaskHandle, translated};

impl Client {
    /// Opens a stream of changes.
    ///
    /// # Errors
    ///
    /// The server refuses or cannot be reached, or it is older than 2026-07-28
    /// and offers no notification stream.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, Error> {
        Subscription::open(self.core.clone(), filter).await
    }

    /// Calls a tool; awaiting the returned [`Call`] makes the call.
    pub fn call(&self, tool: impl Into<String>) -> Call<CallToolResult> {
        let name = tool.into();
        let arguments = None;
        Call::new(self.core.clone(), CallTarget::Tool { name, arguments })
    }

    /// Gets a prompt.
    pub fn prompt(&self, prompt: impl Into<String>) -> Call<GetPromptResult> {
        let name = prompt.into();
        let arguments = BTreeMap::new();
        Call::new(self.core.clone(), CallTarget::Prompt { name, arguments })
    }

    /// Reads a resource.
    pub fn read(&self, uri: impl Into<String>) -> Call<ReadResourceResult> {
        Call::new(self.core.clone(), CallTarget::Resource { uri: uri.into() })
    }

    /// A task of this server whose id is known, to look at it or go on with it.
    /// Nothing is sent yet.
    pub fn task(&self, task_id: impl Into<String>) -> TaskHandle {
        let dialect = TaskDialect::of(&self.core.server.capabilities);
        TaskHandle::new(self.core.endpoint(), task_id.into(), dialect)
    }

    /// The server's tools. Those that cannot be called are left out; a server that
    /// says it has none is not asked.
    pub fn tools(&self) -> Pages<Tool> {
        Pages::new(self.core.clone(), |core, cursor| {
            Box::pin(async move {
                let page = tools_page(core, cursor).await?;
                Ok(Page {
                    caching: page.caching(),
                    items: page.tools,
                    next: page.next_cursor,
                })
            })
        })
        .if_offered(&Query::ListTools(None))
    }

    /// The server's prompts.
    pub fn prompts(&self) -> Pages<Prompt> {
        Pages::new(self.core.clone(), |core, cursor| {
            Box::pin(async move {
                let page: ListPromptsResult = core.page(Query::ListPrompts(cursor)).await?;
                Ok(Page {
                    caching: page.caching(),
                    items: page.prompts,
                    next: page.next_cursor,
                })
            })
        })
        .if_offered(&Query::ListPrompts(None))
    }

    /// The server's resources.
    pub fn resources(&self) -> Pages<Resource> {
        Pages::new(self.core.clone(), |core, cursor| {
            Box::pin(async move {
                let page: ListResourcesResult = core.page(Query::ListResources(cursor)).await?;
                Ok(Page {
                    caching: page.caching(),
                    items: page.resources,
                    next: page.next_cursor,
                })
            })
        })
        .if_offered(&Query::ListResources(None))
    }

    /// The patterns of the server's resources.
    pub fn resource_templates(&self) -> Pages<ResourceTemplate> {
        Pages::new(self.core.clone(), |core, cursor| {
            Box::pin(async move {
                let query = Query::ListTemplates(cursor);
                let page: ListResourceTemplatesResult = core.page(query).await?;
                Ok(Page {
                    caching: page.caching(),
                    items: page.resource_templates,
                    next: page.next_cursor,
                })
            })
        })
        .if_offered(&Query::ListTemplates(None))
    }

    /// The tasks that a server of 2025-11-25 keeps for this caller. Other
    /// revisions have no such list.
    pub fn tasks(&self) -> Pages<Task> {
        Pages::new(self.core.clone(), |core, cursor| {
            Box::pin(async move {
                let page: ListTasksResult = core.query(Query::ListTasks(cursor)).await?;
                Ok(Page {
                    caching: Caching::NONE,
                    items: page.tasks.into_iter().map(translated).collect(),
                    next: page.next_cursor,
                })
            })
        })
    }

    /// Suggests how `argument` goes on; `known` are the other arguments.
    ///
    /// # Errors
    ///
    /// The server refuses or cannot be reached.
    pub async fn complete(
        &self,
        reference: CompletionReference,
        argument: CompletionArgument,
        known: Option<CompletionContext>,
    ) -> Result<Completion, Error> {
        let query = Query::Complete {
            reference,
            argument,
            context: known,
        };
        let result: CompleteResult = self.core.query(query).await?;
        Ok(result.completion)
    }

    /// Asks the server anew what it is; [`server`](Self::server) remembers what
    /// it said first.
    ///
    /// # Errors
    ///
    /// The server refuses, cannot be reached, or is one of before 2026-07-28.
    pub async fn discover(&self) -> Result<DiscoverResult, Error> {
        self.core.discover(self.core.timeouts()).await
    }
}
