use std::any::TypeId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sterna_protocol::http::ParamHeaders;
use sterna_protocol::implementation::Icon;
use sterna_protocol::json::{JsonObject, RawObject, mismatch};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::{self, CallToolResult, ObjectSchema, ToolAnnotations};
use sterna_seal::{Lifetimes, Target, TargetDigest};

use super::arguments;
use super::input::InputCheck;
use crate::call::{Answers, Call};
use crate::cx::Cx;
use crate::failure::Failure;
use crate::handler::{
    Boxed, Handler, HandlerInput, HandlerKind, IntoToolResult, Params, boxed, schema_of_output,
};
use crate::task_mode::TaskMode;

/// A tool and the handler that does its work.
///
/// # Examples
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use sterna_server::{Cx, Server, Tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greet {
///     name: String,
/// }
///
/// async fn greet(_cx: Cx<'_>, args: Greet) -> String {
///     format!("Hello, {}!", args.name)
/// }
///
/// let tool = Tool::new("greet", "Says hello", greet).title("Greeting");
/// let service = Server::new("greeter", "1.0.0").offer(tool).build()?;
/// # Ok::<(), sterna_server::BuildError>(())
/// ```
pub struct Tool {
    wire: tool::Tool,
    input: Result<Map<String, Value>, String>,
    output: Option<Value>,
    lifetimes: Option<Lifetimes>,
    task: Tasking,
    requires_store: bool,
    is_single_use: bool,
    /// State that the handler takes.
    pub(super) states: Vec<(TypeId, &'static str)>,
    way: HandlerKind<CallToolResult>,
}

impl Tool {
    /// A tool whose [handler](Handler) is an `async fn(Cx<'_>, A) -> R`.
    ///
    /// `description` is for the model. The schema of the arguments comes from
    /// `A`, and that of the result from `R` if it is [`Json`](crate::Json).
    pub fn new<H, P, R>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoToolResult,
    {
        let start = move |cx: Cx<'static>, input: HandlerInput<'_>| -> Boxed<CallToolResult> {
            let arguments = match arguments::read::<P::Args>(input) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let text = format!("The arguments are not valid: {}", mismatch(&error));
                    return Box::pin(std::future::ready(Err(Failure::Tool(text))));
                }
            };
            let params = P::gather(arguments, cx.request());
            let running = handler.call(cx, params);
            boxed(running, |output| {
                let result = output.into_tool_result();
                result.map_err(|error| Failure::Tool(error.to_string()))
            })
        };
        let input = arguments::schema_of::<P::Args>();
        Self {
            output: R::output_schema(),
            states: P::states(),
            ..Self::of(name, description, input, HandlerKind::Flow(Box::new(start)))
        }
    }

    /// A tool whose handler returns its questions and its state itself.
    ///
    /// It takes any arguments until [`input`](Self::input) or
    /// [`input_schema`](Self::input_schema) says otherwise. What it returns as
    /// state is sealed, bound to the request and expires; answers arrive typed.
    pub fn low_level<H, F, E>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Fn(Call, Answers) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome<CallToolResult>, E>> + Send + 'static,
        E: fmt::Display,
    {
        let start = move |call, answers| -> Boxed<Outcome<CallToolResult>> {
            let running = handler(call, answers);
            Box::pin(async move {
                let outcome = running.await;
                outcome.map_err(|error| Failure::Tool(error.to_string()))
            })
        };
        let any = Map::from_iter([("type".to_owned(), Value::from("object"))]);
        Self::of(
            name,
            description,
            Ok(any),
            HandlerKind::LowLevel(Box::new(start)),
        )
    }

    fn of(
        name: impl Into<String>,
        description: impl Into<String>,
        input: Result<Map<String, Value>, String>,
        way: HandlerKind<CallToolResult>,
    ) -> Self {
        let mut wire = tool::Tool::new(name, ObjectSchema::default());
        wire.description = Some(description.into());
        Self {
            wire,
            input,
            output: None,
            lifetimes: None,
            task: Tasking::default(),
            requires_store: false,
            is_single_use: false,
            states: Vec::new(),
            way,
        }
    }

    /// Takes arguments that look like an `A`.
    #[must_use]
    pub fn input<A: JsonSchema>(mut self) -> Self {
        self.input = arguments::schema_of::<A>();
        self
    }

    /// Takes arguments that fit `schema`, which goes to clients as it is.
    #[must_use]
    pub fn input_schema(mut self, schema: Map<String, Value>) -> Self {
        self.input = Ok(schema);
        self
    }

    /// Promises structured content that looks like a `T`.
    #[must_use]
    pub fn output<T: JsonSchema + Serialize>(self) -> Self {
        self.output_schema(schema_of_output::<T>())
    }

    /// Promises structured content that fits `schema`.
    #[must_use]
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Says whether calls run as tasks; such a server needs a
    /// [`store`](crate::Server::store).
    ///
    /// The handler is the same: its steps are committed as it goes, and where
    /// it asks, it is put away until the answer comes.
    #[must_use]
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task.mode = mode;
        self
    }

    /// Begins in round trips and becomes a task where the handler says so, with
    /// [`Cx::become_task`].
    #[must_use]
    pub fn task_on_demand(mut self) -> Self {
        self.task.task_on_demand = true;
        self
    }

    /// Lets its tasks live this long, instead of the server's setting.
    #[must_use]
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task.ttl = Some(ttl);
        self
    }

    /// Keeps the server from starting without a [`store`](crate::Server::store),
    /// because the handler has effects that may happen only
    /// [`once`](Cx::once).
    #[must_use]
    pub fn requires_store(mut self) -> Self {
        self.requires_store = true;
        self
    }

    /// Takes the answers of a round once: a client that sends them again is refused,
    /// even if the response was lost. Needs a [`store`](crate::Server::store).
    #[must_use]
    pub fn single_use(mut self) -> Self {
        self.requires_store = true;
        self.is_single_use = true;
        self
    }

    setters! {
        /// Sets the display name.
        title: String => wire.title;
        /// Sets hints about its behaviour.
        annotations: ToolAnnotations => wire.annotations;
        /// Sets the icons.
        icons: Vec<Icon> => wire.icons;
        /// Sets the metadata (`_meta`) of its description.
        meta: JsonObject => wire.meta;
        /// Limits the time that clients have to answer, in place of the server's setting.
        lifetimes: Lifetimes => lifetimes;
    }

    pub(super) fn name(&self) -> &str {
        &self.wire.name
    }

    pub(super) fn finish(self) -> Result<ToolEntry, String> {
        let name = self.wire.name.clone();
        self.try_finish()
            .map_err(|problem| format!("the tool `{name}` {problem}"))
    }

    fn try_finish(self) -> Result<ToolEntry, String> {
        let Self {
            mut wire,
            input,
            output,
            lifetimes,
            task,
            requires_store,
            is_single_use,
            states: _,
            way,
        } = self;
        if task.mode != TaskMode::Never && matches!(way, HandlerKind::LowLevel(_)) {
            return Err("returns its questions itself and cannot run as a task".into());
        }
        // TOOL-S7
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !(1..=128).contains(&wire.name.len()) || !wire.name.bytes().all(fits) {
            return Err(
                "has a name that is not 1 to 128 of A-Z, a-z, 0-9, `_`, `-` and `.`".into(),
            );
        }
        let schema = input?;
        let check = InputCheck::new(&Value::Object(schema.clone()))
            .map_err(|error| format!("has an input schema that cannot be used: {error}"))?;
        wire.input_schema = schema
            .try_into()
            .map_err(|error| format!("has an input schema that takes no object: {error}"))?;
        let headers = ParamHeaders::of(&wire.input_schema)
            .map_err(|error| format!("has a bad `x-mcp-header`: {error}"))?;
        let output = match output {
            None => None,
            Some(schema) => {
                let check = InputCheck::new(&schema).map_err(|error| {
                    format!("has an output schema that cannot be used: {error}")
                })?;
                let Value::Object(schema) = schema else {
                    return Err("has an output schema that is no object".into());
                };
                wire.output_schema = Some(RawObject::from(schema));
                Some(check)
            }
        };
        let name = wire.name.clone();
        Ok(ToolEntry {
            wire,
            headers,
            input: check,
            output,
            lifetimes,
            task,
            requires_store,
            is_single_use,
            digest: Target::new("tools/call", &name).digest(),
            way: Arc::new(way),
        })
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("name", &self.wire.name)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

/// A tool that has been checked.
#[derive(Debug)]
pub(crate) struct ToolEntry {
    pub(crate) wire: tool::Tool,
    pub(crate) headers: ParamHeaders,
    pub(crate) input: InputCheck,
    pub(crate) output: Option<InputCheck>,
    pub(crate) lifetimes: Option<Lifetimes>,
    pub(crate) task: Tasking,
    pub(crate) requires_store: bool,
    pub(crate) is_single_use: bool,
    /// Of its calls, for the states that are bound to them.
    pub(crate) digest: TargetDigest,
    pub(crate) way: Arc<HandlerKind<CallToolResult>>,
}

/// Task settings of a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tasking {
    pub(crate) mode: TaskMode,
    /// Round trips come first; the handler says when they are over.
    pub(crate) task_on_demand: bool,
    pub(crate) ttl: Option<Duration>,
}
