//! What a handler is given: the flow's context and the verbs of MCP on it.

mod ask;
mod posed;
mod question;
mod refused;
mod script;

use std::fmt;
use std::ops::Deref;

use http::Extensions;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_protocol::elicitation::{ElicitRequestFormParams, ElicitRequestUrlParams, FormSchema};
use sterna_protocol::input::InputRequest;
use sterna_protocol::roots::Root;
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use sterna_protocol::uri::Uri;

pub use ask::Ask;
pub(crate) use posed::{Envelope, Posed};
pub(crate) use question::CANNOT_ASK;
pub use refused::Refused;
pub use script::Script;
use sterna_form::Form;
use sterna_http::auth::Caller;

use crate::call::Request;
use question::{Question, Subject};

/// A handler's way to ask the client, on top of everything that
/// [`sterna_flow::FlowCx`] remembers: steps, effects, time and randomness.
///
/// It belongs to one run of one handler: it cannot be cloned or moved into a
/// task of its own.
///
/// # Examples
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use sterna_server::{Cx, ToolError};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Approval {
///     /// Why is it safe to deploy?
///     reason: String,
/// }
///
/// async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
///     let approval: Approval = cx.ask("approval", "Deploy to production?").await?;
///     Ok(format!("deployed: {}", approval.reason))
/// }
/// ```
pub struct Cx<'a> {
    flow: sterna_flow::FlowCx<'a>,
    request: Request,
}

impl<'a> Cx<'a> {
    pub(crate) fn new(flow: sterna_flow::FlowCx<'a>, request: Request) -> Self {
        Self { flow, request }
    }

    /// Shows the user a form and waits for what is filled in.
    ///
    /// A struct has one field per member; a string, a number, a boolean, an
    /// enum or a list of enum values is a form of one field, named `key`. The
    /// answer is checked against the form before it is read, and asked for
    /// again, with the reason, if it does not fit.
    ///
    /// A type that cannot be a form fails the call, and the log says why
    /// (MR0201).
    #[track_caller]
    pub fn ask<T>(&self, key: &str, message: impl Into<String>) -> Ask<'a, T>
    where
        T: JsonSchema + DeserializeOwned + Send + 'static,
    {
        let form = match Form::known::<T>() {
            Ok(form) => form,
            Err(mistake) => {
                self.request.mistaken(mistake);
                return Ask::never();
            }
        };
        self.put(key, Subject::form(form, key, message.into()))
    }

    /// Asks the user to agree: `true` if they do, `false` if they decline.
    #[track_caller]
    pub fn confirm(&self, key: &str, message: impl Into<String>) -> Ask<'a, bool> {
        let params = ElicitRequestFormParams::new(message, FormSchema::new());
        let request = InputRequest::elicit(params);
        self.put(key, Subject::whole(request, question::confirmed))
    }

    /// Sends the user to `url`, for what must not pass through the client:
    /// credentials, payments. Done when the user has agreed to go there; what
    /// they did there the server learns from its own page.
    ///
    /// The page is `https`, or on this machine; any other fails the call, and
    /// the log says why (MR0602).
    #[track_caller]
    pub fn ask_url(&self, key: &str, message: impl Into<String>, url: Uri) -> Ask<'a, ()> {
        let params = ElicitRequestUrlParams::new(message, url);
        let request = InputRequest::elicit(params);
        self.put(key, Subject::whole(request, question::visited))
    }

    /// Has the client's model write something.
    #[track_caller]
    pub fn sample(&self, key: &str, script: impl Into<Script>) -> Ask<'a, CreateMessageResult> {
        let params: CreateMessageRequestParams = script.into().0;
        let request = InputRequest::create_message(params);
        self.put(key, Subject::whole(request, question::sampled))
    }

    /// Asks for the places the client works on.
    #[track_caller]
    pub fn roots(&self, key: &str) -> Ask<'a, Vec<Root>> {
        let request = InputRequest::list_roots();
        self.put(key, Subject::whole(request, question::listed))
    }

    #[track_caller]
    fn put<T: Send + 'static>(&self, key: &str, subject: Subject<T>) -> Ask<'a, T> {
        let question = Question::new(subject, self.request.clone());
        Ask::new(self.flow.ask(key, question))
    }

    /// A context whose names are apart from all others, for one row of a loop or
    /// one branch of a `join!`.
    #[must_use]
    pub fn scope(&self, name: impl fmt::Display) -> Self {
        Self::new(self.flow.scope(name), self.request.clone())
    }

    /// Runs a part of the handler whose details need not be kept: when it has
    /// ended, its result takes the place of everything recorded inside.
    #[track_caller]
    pub fn memo<F, Fut>(
        &self,
        name: &str,
        body: F,
    ) -> impl Future<Output = Fut::Output> + use<'a, F, Fut>
    where
        F: FnOnce(Self) -> Fut,
        Fut: Future,
        Fut::Output: Serialize + DeserializeOwned,
    {
        let request = self.request.clone();
        self.flow
            .memo(name, move |flow| body(Cx::new(flow, request)))
    }

    /// Goes on as a task from here, if the call may: the client gets a handle
    /// and follows it, and whatever comes next is committed to the store.
    ///
    /// For a tool that [asks first](crate::Tool::asks_first). Does nothing in a
    /// flow that is a task, and for a client that could not read the handle:
    /// the handler goes on in the ordinary way.
    pub async fn become_task(&self) {
        // A flow can go elsewhere only if it got further in this round; this makes sure.
        self.flow.checkpoint("become_task").await;
        if self.request.want_task() {
            // Whoever drives the flow hears of the wish before it reaches the second one.
            tokio::task::yield_now().await;
            self.flow.checkpoint("become_task").await;
        }
    }

    /// The request that is being served.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// What the server was given with [`Server::state`](crate::Server::state).
    ///
    /// # Panics
    ///
    /// The server was given no `T`. The call fails, and nothing else.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> &T {
        self.request.state()
    }

    /// Who is calling.
    #[must_use]
    pub fn caller(&self) -> &Caller {
        self.request.caller()
    }

    /// The header `name` of the HTTP request that this round came with; see
    /// [`Request::header`].
    ///
    /// ```
    /// use sterna_server::Cx;
    ///
    /// async fn greet(cx: Cx<'_>, (): ()) -> &'static str {
    ///     match cx.header("accept-language") {
    ///         Some(languages) if languages.starts_with("de") => "Guten Tag",
    ///         _ => "Good morning",
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.request.header(name)
    }

    /// What layers around the server have put into the HTTP request.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        self.request.extensions()
    }
}

impl<'a> Deref for Cx<'a> {
    type Target = sterna_flow::FlowCx<'a>;

    fn deref(&self) -> &Self::Target {
        &self.flow
    }
}

impl fmt::Debug for Cx<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.flow.fmt(f)
    }
}
