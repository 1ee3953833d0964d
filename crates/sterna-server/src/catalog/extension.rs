use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sterna_protocol::capabilities::{ClientCapabilities, ExtensionId};
use sterna_protocol::json::{JsonObject, mismatch};

use crate::call::Request;
use crate::failure::Failure;
use crate::handler::{Boxed, RequestError};

/// An extension of the protocol: what the server declares of it, and the
/// methods it brings.
///
/// # Examples
///
/// ```
/// use serde_json::{Value, json};
/// use sterna_server::{Extension, Request, RequestError, Server};
///
/// async fn moon(_: Request, _: Value) -> Result<Value, RequestError> {
///     Ok(json!({"phase": "full"}))
/// }
///
/// let extension = Extension::new("com.example/moon").method("moon/phase", moon);
/// let service = Server::new("sky", "1.0.0").extension(extension).build()?;
/// # Ok::<(), sterna_server::BuildError>(())
/// ```
pub struct Extension {
    id: String,
    settings: JsonObject,
    declared_only: bool,
    methods: Vec<(String, Box<Serve>)>,
}

type Serve = dyn Fn(Request, Value) -> Boxed<Value> + Send + Sync;

impl Extension {
    /// The extension `id`, such as `com.example/moon`, without settings.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            settings: JsonObject::new(),
            declared_only: false,
            methods: Vec::new(),
        }
    }

    /// Declares `settings`.
    #[must_use]
    pub fn settings(mut self, settings: JsonObject) -> Self {
        self.settings = settings;
        self
    }

    /// Serves its methods only to clients that declare the extension on the
    /// request; others are told that they do not.
    #[must_use]
    pub fn declared_only(mut self) -> Self {
        self.declared_only = true;
        self
    }

    /// Serves the method `name`: `async fn(Request, P) -> Result<R, E>`, where
    /// `P` are its parameters and `R` is an object.
    #[must_use]
    pub fn method<H, F, P, R, E>(mut self, name: impl Into<String>, handler: H) -> Self
    where
        H: Fn(Request, P) -> F + Send + Sync + 'static,
        F: Future<Output = Result<R, E>> + Send + 'static,
        P: DeserializeOwned + Send,
        R: Serialize,
        E: Into<RequestError>,
    {
        self.methods.push((name.into(), serving(handler)));
        self
    }
}

/// `handler` behind what all of them look like.
fn serving<H, F, P, R, E>(handler: H) -> Box<Serve>
where
    H: Fn(Request, P) -> F + Send + Sync + 'static,
    F: Future<Output = Result<R, E>> + Send + 'static,
    P: DeserializeOwned + Send,
    R: Serialize,
    E: Into<RequestError>,
{
    Box::new(move |request, params: Value| -> Boxed<Value> {
        let params = match serde_json::from_value(params) {
            Ok(params) => params,
            Err(error) => {
                let failure = Failure::params(mismatch(&error));
                return Box::pin(std::future::ready(Err(failure)));
            }
        };
        let running = handler(request, params);
        Box::pin(async move {
            let result = running
                .await
                .map_err(|error| Failure::Handler(error.into()))?;
            serde_json::to_value(result).map_err(|error| {
                tracing::error!(target: "sterna::server", %error, "a result has no JSON form");
                Failure::Internal
            })
        })
    })
}

impl fmt::Debug for Extension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<_> = self.methods.iter().map(|(name, _)| name).collect();
        f.debug_struct("Extension")
            .field("id", &self.id)
            .field("methods", &methods)
            .finish_non_exhaustive()
    }
}

/// The extensions of a server.
#[derive(Default)]
pub(crate) struct Extensions {
    declared: Vec<(ExtensionId, JsonObject)>,
    methods: HashMap<String, Method>,
}

/// A method of an extension.
pub(crate) struct Method {
    extension: ExtensionId,
    /// `true` if clients that do not declare the extension are told so.
    declared_only: bool,
    serve: Box<Serve>,
}

impl Method {
    /// Returns the handler for a client that declares `capabilities`.
    ///
    /// # Errors
    ///
    /// The client does not declare the extension, and must.
    pub(crate) fn serve(&self, capabilities: &ClientCapabilities) -> Result<&Serve, Failure> {
        if self.declared_only && !capabilities.has_extension(self.extension.as_str()) {
            let needed = ClientCapabilities::default().with_extension(&self.extension);
            return Err(Failure::Capability(Box::new(needed)));
        }
        Ok(&self.serve)
    }
}

impl Extensions {
    /// Takes an extension in, or says what is wrong with it.
    pub(crate) fn put(&mut self, extension: Extension) -> Result<(), String> {
        // VER-B1
        let id: ExtensionId = extension
            .id
            .parse()
            .map_err(|error| format!("the extension `{}` has no id: {error}", extension.id))?;
        if self.declared.iter().any(|(known, _)| *known == id) {
            return Err(format!("the extension `{id}` is there twice"));
        }
        for (name, serve) in extension.methods {
            if self.methods.contains_key(&name) {
                return Err(format!("the method `{name}` is there twice"));
            }
            let method = Method {
                extension: id.clone(),
                declared_only: extension.declared_only,
                serve,
            };
            self.methods.insert(name, method);
        }
        self.declared.push((id, extension.settings));
        Ok(())
    }

    pub(crate) fn method(&self, name: &str) -> Option<&Method> {
        self.methods.get(name)
    }

    /// The names of all methods.
    pub(crate) fn methods(&self) -> impl Iterator<Item = &String> {
        self.methods.keys()
    }

    pub(crate) fn declared(&self) -> impl Iterator<Item = &(ExtensionId, JsonObject)> {
        self.declared.iter()
    }
}
