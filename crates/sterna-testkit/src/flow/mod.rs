//! A flow and everything around it, before it is run.

mod answers;
mod setting;

use std::any::type_name;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sterna_server::auth::Caller;
use sterna_server::{
    FromUri, Handler, IntoPromptResult, IntoResourceResult, IntoToolResult, Params, Server,
    TaskMode, Tool,
};

use crate::answer::Script;
use crate::round::Round;
use crate::wire::Target;
use crate::world::{Give, MakeWorld};

/// A handler under test: its arguments, the answers it gets, and the world it
/// works on.
///
/// Nothing is kept between two [runs](Self::run). By default every request of a
/// run goes to another replica, so nothing a handler keeps in memory survives.
///
/// # Examples
///
/// ```
/// use sterna_server::{Cx, AskError};
/// use sterna_testkit::Flow;
///
/// async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
///     let name: String = cx.ask("name", "Who are you?").await?;
///     Ok(format!("Hello, {name}!"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let flow = Flow::of(greet).answer("name", "Ada");
///
/// let run = flow.run().await;
/// run.asked("name").in_round(1).saying("Who are you?");
/// assert_eq!(run.text(), "Hello, Ada!");
///
/// flow.check().await;
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a flow does nothing until it is run or checked"]
pub struct Flow {
    pub(crate) target: Target,
    /// From which round on which build serves.
    pub(crate) builds: Vec<(u32, Build)>,
    pub(crate) args: Value,
    pub(crate) mode: ExecutionMode,
    pub(crate) capabilities: Value,
    pub(crate) script: Script,
    pub(crate) rounds: BTreeMap<u32, Round>,
    pub(crate) replicas: Option<usize>,
    pub(crate) states: Vec<Give>,
    pub(crate) worlds: Vec<MakeWorld>,
    pub(crate) caller: Option<Caller>,
    pub(crate) headers: HeaderMap,
    pub(crate) extensions: Vec<Extend>,
    /// The value that cannot be written as JSON, and the reason.
    pub(crate) unwritable: Option<String>,
}

/// Makes a server of one build.
pub(crate) type Build = Arc<dyn Fn() -> Server + Send + Sync>;

/// Puts something into the extensions of a request.
pub(crate) type Extend = Arc<dyn Fn(&mut http::Extensions) + Send + Sync>;

/// Mode in which the client has the handler run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExecutionMode {
    /// A session of 2025-11-25: the client is asked while it waits.
    Legacy,
    /// Requests of 2026-07-28: every question ends one.
    #[default]
    RoundTrips,
    /// A task, whose journal is in a store.
    Task,
}

impl Flow {
    /// A tool with this handler, `async fn(Cx<'_>, A) -> R`.
    pub fn of<H, P, R>(handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Clone + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoToolResult,
    {
        let name = name_of::<H>();
        let build = tool(&name, 1, handler);
        Self::new("tools/call", name, build)
    }

    /// A prompt with this handler, `async fn(Cx<'_>, A) -> R`.
    pub fn of_prompt<H, P, R>(handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Clone + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoPromptResult,
    {
        let name = name_of::<H>();
        let prompt = name.clone();
        let build = move || server(1).prompt(&prompt, "Under test", handler.clone());
        Self::new("prompts/get", name, Arc::new(build))
    }

    /// The resource `uri` with this handler, `async fn(Cx<'_>, Uri) -> R`.
    pub fn of_resource<H, P, R>(uri: &str, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Clone + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: FromUri>,
        R: IntoResourceResult,
    {
        let resource = uri.to_owned();
        let build = move || server(1).resource(&resource, "resource", handler.clone());
        Self::new("resources/read", uri.to_owned(), Arc::new(build))
    }

    /// The tool `name` of a whole server, with all its settings. `build` is
    /// called for every replica; keys and store are the kit's.
    ///
    /// This is also the way to a low-level handler.
    ///
    /// ```
    /// use sterna_server::{Cx, Server};
    /// use sterna_testkit::Flow;
    ///
    /// async fn ping(_cx: Cx<'_>, (): ()) -> &'static str {
    ///     "pong"
    /// }
    ///
    /// fn server() -> Server {
    ///     Server::new("pinger", "1.0.0").tool("ping", "Answers", ping)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_eq!(Flow::on(server, "ping").run().await.text(), "pong");
    /// # }
    /// ```
    pub fn on(build: impl Fn() -> Server + Send + Sync + 'static, name: &str) -> Self {
        Self::new("tools/call", name.to_owned(), Arc::new(build))
    }

    /// The prompt `name` of a whole server.
    pub fn on_prompt(build: impl Fn() -> Server + Send + Sync + 'static, name: &str) -> Self {
        Self::new("prompts/get", name.to_owned(), Arc::new(build))
    }

    /// The resource `uri` of a whole server, which may follow a template.
    pub fn on_resource(build: impl Fn() -> Server + Send + Sync + 'static, uri: &str) -> Self {
        Self::new("resources/read", uri.to_owned(), Arc::new(build))
    }

    fn new(method: &'static str, name: String, build: Build) -> Self {
        Self {
            target: Target { method, name },
            builds: vec![(1, build)],
            args: json!({}),
            mode: ExecutionMode::default(),
            capabilities: json!({
                "elicitation": {"form": {}, "url": {}},
                "sampling": {},
                "roots": {},
            }),
            script: Script::default(),
            rounds: BTreeMap::new(),
            replicas: None,
            states: Vec::new(),
            worlds: Vec::new(),
            caller: None,
            headers: HeaderMap::new(),
            extensions: Vec::new(),
            unwritable: None,
        }
    }

    /// The arguments: anything that serializes to an object.
    pub fn args(mut self, args: impl Serialize) -> Self {
        self.args = self.write(args);
        self
    }

    /// Sets the execution mode. Default: round trips.
    pub fn mode(mut self, mode: ExecutionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Is served by another build from `round` on, as in the middle of a
    /// deployment: a tool of the same name with this handler.
    ///
    /// ```
    /// use sterna_server::{Cx, AskError};
    /// use sterna_testkit::Flow;
    ///
    /// async fn old(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    ///     cx.ask("name", "Who are you?").await
    /// }
    ///
    /// async fn new(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    ///     let name: String = cx.ask("name", "Who are you?").await?;
    ///     let city: String = cx.ask("city", "Where do you live?").await?;
    ///     Ok(format!("{name} of {city}"))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let flow = Flow::of(old).upgrade(2, new);
    /// let run = flow.answer("name", "Ada").answer("city", "London").run().await;
    /// run.asked("city").in_round(2);
    /// assert_eq!(run.text(), "Ada of London");
    /// # }
    /// ```
    pub fn upgrade<H, P, R>(mut self, round: u32, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Clone + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoToolResult,
    {
        let build = tool(&self.target.name, self.builds.len() + 1, handler);
        self.builds.push((round, build));
        self
    }

    /// As [`upgrade`](Self::upgrade), to another build of the whole server.
    pub fn upgrade_to(
        mut self,
        round: u32,
        build: impl Fn() -> Server + Send + Sync + 'static,
    ) -> Self {
        self.builds.push((round, Arc::new(build)));
        self
    }

    /// Changes how the client behaves in `round`; the first is 1.
    pub fn round(mut self, round: u32, change: impl FnOnce(Round) -> Round) -> Self {
        let before = self.rounds.remove(&round).unwrap_or_default();
        self.rounds.insert(round, change(before));
        self
    }

    /// Which build serves `round`.
    pub(crate) fn build_of(&self, round: u32) -> usize {
        let begun = self.builds.iter().rposition(|(from, _)| *from <= round);
        begun.unwrap_or_default()
    }

    fn write(&mut self, value: impl Serialize) -> Value {
        serde_json::to_value(value).unwrap_or_else(|error| {
            self.unwritable.get_or_insert_with(|| error.to_string());
            Value::Null
        })
    }
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("target", &self.target.name)
            .field("args", &self.args)
            .finish_non_exhaustive()
    }
}

fn tool<H, P, R>(name: &str, version: usize, handler: H) -> Build
where
    H: for<'a> Handler<'a, P, Output = R> + Clone + Send + Sync + 'static,
    <H as Handler<'static, P>>::Future: Send + 'static,
    P: Params<Args: JsonSchema + DeserializeOwned>,
    R: IntoToolResult,
{
    let name = name.to_owned();
    Arc::new(move || {
        let tool = Tool::new(&name, "Under test", handler.clone());
        server(version).offer(tool.task(TaskMode::Optional))
    })
}

fn server(version: usize) -> Server {
    Server::new("testkit", version.to_string())
}

/// The name of a function, without where it is.
fn name_of<H>() -> String {
    let path = type_name::<H>();
    let name = path.rsplit("::").next().unwrap_or_default();
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match name.chars().all(fits) && !name.is_empty() {
        true => name.to_owned(),
        false => "handler".to_owned(),
    }
}
