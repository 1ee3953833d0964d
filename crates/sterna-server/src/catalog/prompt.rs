use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sterna_protocol::implementation::Icon;
use sterna_protocol::json::{JsonObject, mismatch};
use sterna_protocol::prompt::{self, GetPromptResult, PromptArgument};
use sterna_protocol::result::Outcome;
use sterna_seal::Lifetimes;

use super::arguments;
use super::complete::{Completers, CompletionRequest};
use crate::call::{Answers, Call};
use crate::cx::Cx;
use crate::failure::Failure;
use crate::handler::{
    Boxed, Handler, HandlerInput, HandlerKind, IntoPromptResult, Params, RequestError, boxed,
};

/// A prompt and the handler that writes it.
pub struct Prompt {
    wire: prompt::Prompt,
    arguments: Result<Vec<PromptArgument>, String>,
    completers: Completers,
    lifetimes: Option<Lifetimes>,
    /// State that the handler takes.
    pub(super) states: Vec<(TypeId, &'static str)>,
    way: HandlerKind<GetPromptResult>,
}

impl Prompt {
    /// A prompt whose handler is straight-line code,
    /// `async fn(Cx<'_>, A) -> R`.
    ///
    /// The arguments are the members of `A`. They are text on the wire and are
    /// read as their types want it: a number, `true` or `false`, one of the
    /// names of an enum.
    pub fn new<H, P, R>(name: impl Into<String>, description: impl Into<String>, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoPromptResult,
    {
        let start = move |cx: Cx<'static>, input: HandlerInput<'_>| -> Boxed<GetPromptResult> {
            let arguments = match arguments::read_text::<P::Args>(&input.tree()) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let error = RequestError::invalid_params(format!(
                        "Invalid params: the arguments are not valid: {}",
                        mismatch(&error)
                    ));
                    return Box::pin(std::future::ready(Err(Failure::Handler(error))));
                }
            };
            let params = P::gather(arguments, cx.request());
            let running = handler.call(cx, params);
            boxed(running, |output| {
                output.into_prompt_result().map_err(Failure::Handler)
            })
        };
        let arguments = arguments::schema_of::<P::Args>().map(|schema| list(&schema));
        Self {
            states: P::states(),
            ..Self::of(
                name,
                description,
                arguments,
                HandlerKind::Flow(Box::new(start)),
            )
        }
    }

    /// A prompt whose handler returns its questions and its state itself.
    pub fn low_level<H, F, E>(
        name: impl Into<String>,
        description: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Fn(Call, Answers) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome<GetPromptResult>, E>> + Send + 'static,
        E: Into<RequestError>,
    {
        let start = move |call, answers| -> Boxed<Outcome<GetPromptResult>> {
            let running = handler(call, answers);
            Box::pin(async move {
                let outcome = running.await;
                outcome.map_err(|error| Failure::Handler(error.into()))
            })
        };
        Self::of(
            name,
            description,
            Ok(Vec::new()),
            HandlerKind::LowLevel(Box::new(start)),
        )
    }

    fn of(
        name: impl Into<String>,
        description: impl Into<String>,
        arguments: Result<Vec<PromptArgument>, String>,
        way: HandlerKind<GetPromptResult>,
    ) -> Self {
        let mut wire = prompt::Prompt::new(name);
        wire.description = Some(description.into());
        Self {
            wire,
            arguments,
            completers: Completers::default(),
            lifetimes: None,
            states: Vec::new(),
            way,
        }
    }

    /// Lists its arguments, instead of those of the handler's type.
    #[must_use]
    pub fn arguments(mut self, arguments: Vec<PromptArgument>) -> Self {
        self.arguments = Ok(arguments);
        self
    }

    /// Suggests values for `argument` while the user types.
    #[must_use]
    pub fn completing<F, Fut>(mut self, argument: &str, complete: F) -> Self
    where
        F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completers.put(argument, complete);
        self
    }

    setters! {
        /// Sets the display name.
        title: String => wire.title;
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

    pub(super) fn finish(self) -> Result<PromptEntry, String> {
        let mut wire = self.wire;
        let name = wire.name.clone();
        let about = |problem: String| format!("the prompt `{name}` {problem}");
        let arguments = self.arguments.map_err(about)?;
        let unknown = self
            .completers
            .arguments()
            .find(|completed| arguments.iter().all(|argument| argument.name != *completed));
        if let Some(unknown) = unknown {
            return Err(about(format!(
                "completes `{unknown}`, which it does not take"
            )));
        }
        wire.arguments = (!arguments.is_empty()).then_some(arguments);
        Ok(PromptEntry {
            wire,
            completers: self.completers,
            lifetimes: self.lifetimes,
            way: Arc::new(self.way),
        })
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("name", &self.wire.name)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

/// The members of an object as the arguments of a prompt.
fn list(schema: &Map<String, Value>) -> Vec<PromptArgument> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let members = schema.get("properties").and_then(Value::as_object);
    let argument = |(name, member): (&String, &Value)| {
        let said = |word| member.get(word).and_then(Value::as_str).map(str::to_owned);
        let mut argument = PromptArgument::new(name);
        argument.title = said("title");
        argument.description = said("description");
        argument.required = is_required(name).then_some(true);
        argument
    };
    members.into_iter().flatten().map(argument).collect()
}

/// A prompt that has been checked.
#[derive(Debug)]
pub(crate) struct PromptEntry {
    pub(crate) wire: prompt::Prompt,
    pub(crate) completers: Completers,
    pub(crate) lifetimes: Option<Lifetimes>,
    pub(crate) way: Arc<HandlerKind<GetPromptResult>>,
}

impl PromptEntry {
    /// The first argument that must be there and is not (PROMPT-S7).
    pub(crate) fn missing(&self, has: impl Fn(&str) -> bool) -> Option<&str> {
        let mut arguments = self.wire.arguments.iter().flatten();
        let missing =
            |argument: &&PromptArgument| argument.required == Some(true) && !has(&argument.name);
        arguments.find(missing).map(|argument| &*argument.name)
    }
}
