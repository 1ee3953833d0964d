use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sterna_protocol::content::Annotations;
use sterna_protocol::implementation::Icon;
use sterna_protocol::json::JsonObject;
use sterna_protocol::resource::{self, ReadResourceResult};
use sterna_protocol::result::Outcome;
use sterna_seal::Lifetimes;

use super::arguments;
use super::complete::{Completers, CompletionRequest};
use super::resource::{Reading, low_level};
use super::uri_template::UriTemplate;
use crate::call::{Answers, Call};
use crate::cx::Cx;
use crate::failure::Failure;
use crate::handler::{
    Boxed, Handler, HandlerInput, HandlerKind, IntoResourceResult, Params, RequestError, boxed,
};

/// Resources whose addresses follow a pattern, and the handler that reads them.
///
/// A pattern is a URI template of RFC 6570 with `{name}` for a part of a path
/// and `{+name}` for any number of them.
pub struct ResourceTemplate {
    wire: resource::ResourceTemplate,
    /// The variables that the handler cannot do without.
    takes: Vec<String>,
    completers: Completers,
    lifetimes: Option<Lifetimes>,
    /// State that the handler takes.
    pub(super) states: Vec<(TypeId, &'static str)>,
    way: Reading,
}

impl ResourceTemplate {
    /// Resources whose handler is straight-line code,
    /// `async fn(Cx<'_>, A) -> R`; the members of `A` are the variables of the
    /// pattern, read from the text of the URI as their types want it. A value
    /// that does not fit its type names no resource.
    pub fn new<H, P, R>(pattern: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: JsonSchema + DeserializeOwned>,
        R: IntoResourceResult,
    {
        let way = move |mime_type: Option<String>| {
            let mime_type: Option<Arc<str>> = mime_type.map(Into::into);
            let start =
                move |cx: Cx<'static>, input: HandlerInput<'_>| -> Boxed<ReadResourceResult> {
                    let input = input.tree();
                    let uri = input[URI].as_str().unwrap_or_default().to_owned();
                    let Ok(variables) = arguments::read_text::<P::Args>(&input[VARIABLES]) else {
                        // A value that does not fit names no resource.
                        let error = RequestError::not_found(&uri);
                        return Box::pin(std::future::ready(Err(Failure::Handler(error))));
                    };
                    let params = P::gather(variables, cx.request());
                    let running = handler.call(cx, params);
                    let mime_type = mime_type.clone();
                    boxed(running, move |read| {
                        read.into_resource_result(&uri, mime_type.as_deref())
                            .map_err(Failure::Handler)
                    })
                };
            HandlerKind::Flow(Box::new(start))
        };
        // Anything but an object, such as a map of any names, takes what there is.
        let schema = arguments::schema_of::<P::Args>().unwrap_or_default();
        let takes = arguments::required(&schema);
        Self {
            takes,
            states: P::states(),
            ..Self::of(pattern, name, Box::new(way))
        }
    }

    /// Resources whose handler returns its questions and its state itself. Its
    /// arguments are an object with the `uri` and the `variables`.
    pub fn low_level<H, F, E>(
        pattern: impl Into<String>,
        name: impl Into<String>,
        handler: H,
    ) -> Self
    where
        H: Fn(Call, Answers) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome<ReadResourceResult>, E>> + Send + 'static,
        E: Into<RequestError>,
    {
        Self::of(pattern, name, low_level(handler))
    }

    fn of(pattern: impl Into<String>, name: impl Into<String>, way: Reading) -> Self {
        Self {
            wire: resource::ResourceTemplate::new(pattern, name),
            takes: Vec::new(),
            completers: Completers::default(),
            lifetimes: None,
            states: Vec::new(),
            way,
        }
    }

    /// Suggests values for `variable` while the user types.
    #[must_use]
    pub fn completing<F, Fut>(mut self, variable: &str, complete: F) -> Self
    where
        F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        self.completers.put(variable, complete);
        self
    }

    setters! {
        /// Sets the display name.
        title: String => wire.title;
        /// Describes the content, for the model.
        description: String => wire.description;
        /// Sets the media type of all of them.
        mime_type: String => wire.mime_type;
        /// Sets the icons.
        icons: Vec<Icon> => wire.icons;
        /// Sets the audience and the priority.
        annotations: Annotations => wire.annotations;
        /// Sets the metadata (`_meta`) of its description.
        meta: JsonObject => wire.meta;
        /// Limits the time that clients have to answer, in place of the server's setting.
        lifetimes: Lifetimes => lifetimes;
    }

    pub(super) fn pattern(&self) -> &str {
        &self.wire.uri_template
    }

    pub(super) fn finish(self) -> Result<TemplateEntry, String> {
        let wire = self.wire;
        let about =
            |problem: String| format!("the resource template `{}` {problem}", wire.uri_template);
        let pattern = UriTemplate::parse(&wire.uri_template).map_err(about)?;
        let missing = self
            .takes
            .iter()
            .find(|name| !pattern.variables().any(|known| known == *name));
        if let Some(missing) = missing {
            return Err(about(format!(
                "has a handler that takes `{missing}`, which is no variable of it; \
                 write `{{{missing}}}` into the pattern or make the member an `Option`"
            )));
        }
        let mut completed = self.completers.arguments();
        let unknown = completed.find(|name| !pattern.variables().any(|known| known == *name));
        if let Some(unknown) = unknown {
            return Err(about(format!(
                "completes `{unknown}`, which it does not have"
            )));
        }
        drop(completed);
        let way = (self.way)(wire.mime_type.clone());
        Ok(TemplateEntry {
            wire,
            pattern: Some(pattern),
            completers: self.completers,
            lifetimes: self.lifetimes,
            way: Arc::new(way),
        })
    }
}

impl fmt::Debug for ResourceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceTemplate")
            .field("pattern", &self.wire.uri_template)
            .finish_non_exhaustive()
    }
}

/// A template that has been checked.
#[derive(Debug)]
pub(crate) struct TemplateEntry {
    pub(crate) wire: resource::ResourceTemplate,
    /// `None` if a backend has a pattern that only it can read.
    pub(super) pattern: Option<UriTemplate>,
    pub(crate) completers: Completers,
    pub(crate) lifetimes: Option<Lifetimes>,
    pub(crate) way: Arc<HandlerKind<ReadResourceResult>>,
}

impl TemplateEntry {
    /// Returns the input of the handler if `uri` follows the pattern.
    pub(crate) fn input(&self, uri: &str) -> Option<Value> {
        let variables = self.pattern.as_ref()?.read(uri)?;
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)));
        Some(Value::Object(Map::from_iter([
            (URI.to_owned(), Value::from(uri)),
            (VARIABLES.to_owned(), Value::Object(variables.collect())),
        ])))
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let mut variables = self.pattern.iter().flat_map(UriTemplate::variables);
        variables.any(|known| known == name)
    }
}

const URI: &str = "uri";
const VARIABLES: &str = "variables";
