use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use sterna_protocol::content::Annotations;
use sterna_protocol::implementation::Icon;
use sterna_protocol::json::JsonObject;
use sterna_protocol::resource::{self, ReadResourceResult};
use sterna_protocol::result::Outcome;
use sterna_seal::Lifetimes;

use super::uri_template::is_absolute;
use crate::call::{Answers, Call};
use crate::cx::Cx;
use crate::failure::Failure;
use crate::handler::{
    Boxed, Handler, HandlerInput, HandlerKind, IntoResourceResult, Params, RequestError, boxed,
};

/// The address of the resource that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri(String);

impl Uri {
    /// The address as the client wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Arguments of the handler of a resource: the [`Uri`], or none.
pub trait FromUri {
    #[doc(hidden)]
    fn from_uri(uri: &Uri) -> Self;
}

impl FromUri for () {
    fn from_uri(_: &Uri) -> Self {}
}

impl FromUri for Uri {
    fn from_uri(uri: &Uri) -> Self {
        uri.clone()
    }
}

/// A resource and the handler that reads it out.
pub struct Resource {
    wire: resource::Resource,
    lifetimes: Option<Lifetimes>,
    /// State that the handler takes.
    pub(super) states: Vec<(TypeId, &'static str)>,
    way: Reading,
}

/// A way that still has to be told the media type.
pub(super) type Reading =
    Box<dyn FnOnce(Option<String>) -> HandlerKind<ReadResourceResult> + Send + Sync>;

impl Resource {
    /// A resource whose handler is straight-line code,
    /// `async fn(Cx<'_>, Uri) -> R`.
    pub fn new<H, P, R>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: for<'a> Handler<'a, P, Output = R> + Send + Sync + 'static,
        <H as Handler<'static, P>>::Future: Send + 'static,
        P: Params<Args: FromUri>,
        R: IntoResourceResult,
    {
        let way = move |mime_type: Option<String>| {
            let mime_type: Option<Arc<str>> = mime_type.map(Into::into);
            let start =
                move |cx: Cx<'static>, input: HandlerInput<'_>| -> Boxed<ReadResourceResult> {
                    let uri = Uri(input.tree().as_str().unwrap_or_default().to_owned());
                    let params = P::gather(FromUri::from_uri(&uri), cx.request());
                    let running = handler.call(cx, params);
                    let mime_type = mime_type.clone();
                    boxed(running, move |read| {
                        read.into_resource_result(uri.as_str(), mime_type.as_deref())
                            .map_err(Failure::Handler)
                    })
                };
            HandlerKind::Flow(Box::new(start))
        };
        Self {
            states: P::states(),
            ..Self::of(uri, name, Box::new(way))
        }
    }

    /// A resource whose handler returns its questions and its state itself.
    pub fn low_level<H, F, E>(uri: impl Into<String>, name: impl Into<String>, handler: H) -> Self
    where
        H: Fn(Call, Answers) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Outcome<ReadResourceResult>, E>> + Send + 'static,
        E: Into<RequestError>,
    {
        Self::of(uri, name, low_level(handler))
    }

    fn of(uri: impl Into<String>, name: impl Into<String>, way: Reading) -> Self {
        Self {
            wire: resource::Resource::new(uri, name),
            lifetimes: None,
            states: Vec::new(),
            way,
        }
    }

    /// Says how many bytes it has.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.wire.size = Some(bytes);
        self
    }

    setters! {
        /// Sets the display name.
        title: String => wire.title;
        /// Describes the content, for the model.
        description: String => wire.description;
        /// Sets the media type.
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

    pub(super) fn uri(&self) -> &str {
        &self.wire.uri
    }

    pub(super) fn finish(self) -> Result<ResourceEntry, String> {
        // RES-S6
        if !is_absolute(&self.wire.uri) {
            let uri = &self.wire.uri;
            return Err(format!(
                "the resource `{uri}` has an address that is no URI"
            ));
        }
        let way = (self.way)(self.wire.mime_type.clone());
        Ok(ResourceEntry {
            wire: self.wire,
            lifetimes: self.lifetimes,
            way: Arc::new(way),
        })
    }
}

pub(super) fn low_level<H, F, E>(handler: H) -> Reading
where
    H: Fn(Call, Answers) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Outcome<ReadResourceResult>, E>> + Send + 'static,
    E: Into<RequestError>,
{
    let start = move |call, answers| -> Boxed<Outcome<ReadResourceResult>> {
        let running = handler(call, answers);
        Box::pin(async move {
            let outcome = running.await;
            outcome.map_err(|error| Failure::Handler(error.into()))
        })
    };
    Box::new(move |_| HandlerKind::LowLevel(Box::new(start)))
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resource")
            .field("uri", &self.wire.uri)
            .finish_non_exhaustive()
    }
}

/// A resource that has been checked.
#[derive(Debug)]
pub(crate) struct ResourceEntry {
    pub(crate) wire: resource::Resource,
    pub(crate) lifetimes: Option<Lifetimes>,
    pub(crate) way: Arc<HandlerKind<ReadResourceResult>>,
}
