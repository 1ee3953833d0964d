//! Another source of what a server offers than its catalog.

mod call;
mod view;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

pub use call::BackendCall;
pub use view::{View, ViewRequest};

use sterna_protocol::completion::{
    CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;

use crate::failure::RequestError;

/// Source of everything that a server offers, in place of tools, prompts and
/// resources of its own: other servers behind a gateway, above all.
///
/// What is offered may differ from request to request, because it depends on the
/// [sender](ViewRequest): the caller, and the capabilities that it declares.
/// Calls arrive unread, and their results and JSON-RPC errors go out as they are.
/// The server does the rest: both eras, sealed state, limits, scopes, pages and
/// cursors, middleware, logs and metrics.
///
/// A call is like that of a [low-level tool](crate::Tool::low_level). A backend
/// that returns questions and a state gets both back with the retry, on whichever
/// instance that arrives; a client of an older revision is asked while it waits.
/// Questions that the client did not declare are refused before they are sent.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use sterna_server::protocol::prompt::GetPromptResult;
/// use sterna_server::protocol::resource::ReadResourceResult;
/// use sterna_server::protocol::result::Outcome;
/// use sterna_server::protocol::tool::{CallToolResult, ObjectSchema, Tool};
/// use sterna_server::{
///     Backend, BackendCall, BackendFuture, RequestError, Server, View, ViewRequest,
/// };
///
/// /// Offers every caller one tool, which is named for it.
/// struct Personal;
///
/// impl Backend for Personal {
///     fn view(self: Arc<Self>, request: ViewRequest) -> BackendFuture<Arc<View>> {
///         let subject = request.caller().principal().subject().unwrap_or("guest");
///         let mut view = View::new();
///         view.tools.push(Tool::new(format!("greet_{subject}"), ObjectSchema::default()));
///         Box::pin(async move { Ok(Arc::new(view)) })
///     }
///
///     fn call_tool(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<CallToolResult>> {
///         let text = format!("{} was called", call.name());
///         Box::pin(async move { Ok(Outcome::Complete(CallToolResult::text(text))) })
///     }
///
///     fn get_prompt(self: Arc<Self>, _: BackendCall) -> BackendFuture<Outcome<GetPromptResult>> {
///         Box::pin(async { Err(RequestError::invalid_params("there are no prompts")) })
///     }
///
///     fn read_resource(
///         self: Arc<Self>,
///         call: BackendCall,
///     ) -> BackendFuture<Outcome<ReadResourceResult>> {
///         Box::pin(async move { Err(RequestError::not_found(call.name())) })
///     }
/// }
///
/// let service = Server::new("personal", "1.0.0").backend(Personal).build()?;
/// # Ok::<(), sterna_server::BuildError>(())
/// ```
pub trait Backend: Send + Sync + 'static {
    /// Finds what is offered to the sender of a request. Called for every
    /// request, so it keeps the views that it has made: one that is returned
    /// again is not written again.
    ///
    /// # Errors
    ///
    /// The request is refused with this error.
    fn view(self: Arc<Self>, request: ViewRequest) -> BackendFuture<Arc<View>>;

    /// Calls a tool of the sender's view.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error. What a model is to read of a failure
    /// is a result with `isError`.
    fn call_tool(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<CallToolResult>>;

    /// Gets a prompt of the sender's view.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error.
    fn get_prompt(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<GetPromptResult>>;

    /// Reads the resource at any URI: a list need not name all of them, and a
    /// template may have a form that only the backend can read.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error: [`RequestError::not_found`] if there
    /// is none.
    fn read_resource(
        self: Arc<Self>,
        call: BackendCall,
    ) -> BackendFuture<Outcome<ReadResourceResult>>;

    /// Suggests how an argument of a prompt or a template of the sender's view
    /// goes on. By default nothing is suggested.
    ///
    /// # Errors
    ///
    /// The client gets this JSON-RPC error.
    fn complete(
        self: Arc<Self>,
        request: ViewRequest,
        reference: CompletionReference,
        argument: CompletionArgument,
        context: Option<CompletionContext>,
    ) -> BackendFuture<CompleteResult> {
        let _ = (request, reference, argument, context);
        Box::pin(async { Ok(CompleteResult::new(Completion::new(Vec::new()))) })
    }
}

/// Work of a [`Backend`] on one request. Dropping it cancels the request.
pub type BackendFuture<T> = Pin<Box<dyn Future<Output = Result<T, RequestError>> + Send>>;

/// The backend of a server, and the sender whose request it serves.
#[derive(Clone)]
pub(crate) struct Backed {
    pub(crate) backend: Arc<dyn Backend>,
    /// `None` until the view for a request was found.
    pub(crate) sender: Option<ViewRequest>,
}

impl fmt::Debug for Backed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backed")
            .field("sender", &self.sender)
            .finish_non_exhaustive()
    }
}

/// Result of a call that a backend can serve.
pub(crate) trait BackendResult: Sized {
    /// Begins the call.
    fn start(backend: Arc<dyn Backend>, call: BackendCall) -> BackendFuture<Outcome<Self>>;
}

impl BackendResult for CallToolResult {
    fn start(backend: Arc<dyn Backend>, call: BackendCall) -> BackendFuture<Outcome<Self>> {
        backend.call_tool(call)
    }
}

impl BackendResult for GetPromptResult {
    fn start(backend: Arc<dyn Backend>, call: BackendCall) -> BackendFuture<Outcome<Self>> {
        backend.get_prompt(call)
    }
}

impl BackendResult for ReadResourceResult {
    fn start(backend: Arc<dyn Backend>, call: BackendCall) -> BackendFuture<Outcome<Self>> {
        backend.read_resource(call)
    }
}
