//! A request to a route that asks, and the answers that it gets.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Serialize;
use serde_json::Value;
use sterna_axum::Resume;

use crate::answer::{Answer, Script};

/// A request to a pausing route under test: its body, the answers it gets, and
/// the world it works on.
///
/// `app` makes an instance of the application from the keys, the store and the
/// clock of the kit. By default each request of a run goes to an instance of its
/// own, so nothing that an instance keeps in memory survives. A run fails if the
/// route asks what it has not declared.
///
/// # Examples
///
/// ```
/// use axum::{Json, Router, routing::post};
/// use http::Method;
/// use sterna_axum::{Cx, Problem, Resume, pausing};
/// use sterna_testkit::RouteFlow;
///
/// async fn greet(cx: Cx<'_>) -> Result<Json<String>, Problem> {
///     let name: String = cx.ask("name", "Who are you?").await?;
///     Ok(Json(format!("Hello, {name}!")))
/// }
///
/// fn app(resume: Resume) -> Router {
///     let greet = pausing(greet).asks::<String>("name").anonymous();
///     Router::new().route("/greet", post(greet.build(&resume).unwrap()))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let flow = RouteFlow::new(Method::POST, "/greet", app).answer("name", "Ada");
///
/// let run = flow.run().await;
/// run.asked("name").in_round(1).saying("Who are you?");
/// assert_eq!((run.status().as_u16(), run.text()), (200, "\"Hello, Ada!\""));
///
/// flow.check().await;
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a flow does nothing until it is run or checked"]
pub struct RouteFlow {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) make_world: Arc<dyn Fn() -> RouteWorld + Send + Sync>,
    pub(super) body: Option<Value>,
    pub(super) headers: HeaderMap,
    /// Header fields of another caller, in place of those of the same names.
    pub(super) other_caller: HeaderMap,
    pub(super) has_idempotency_key: bool,
    pub(super) script: Script,
    /// The value that cannot be sent, and the reason.
    pub(super) unwritable: Option<String>,
}

/// Instances of one run and the outside world that they share.
pub(super) struct RouteWorld {
    pub(super) app: Box<dyn Fn(Resume) -> Router + Send + Sync>,
    pub(super) effects: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}

impl RouteFlow {
    /// A request to `path`, which may have a query, of an application without an
    /// outside world.
    pub fn new<A>(method: Method, path: &str, app: A) -> Self
    where
        A: Fn(Resume) -> Router + Send + Sync + 'static,
    {
        Self::with_world(
            method,
            path,
            || (),
            |()| Vec::new(),
            move |resume, ()| app(resume),
        )
    }

    /// A request to an application that works on `W`: a stand-in for an outside
    /// service, such as one that sends codes. Every run gets a new one, which all
    /// its instances share.
    ///
    /// `effects` lists the effects on it, each in a few words. The
    /// [checks](Self::check) fail if an effect happens twice.
    pub fn with_world<W, M, E, A>(method: Method, path: &str, make: M, effects: E, app: A) -> Self
    where
        W: Clone + Send + Sync + 'static,
        M: Fn() -> W + Send + Sync + 'static,
        E: Fn(&W) -> Vec<String> + Send + Sync + 'static,
        A: Fn(Resume, W) -> Router + Send + Sync + 'static,
    {
        let (effects, app) = (Arc::new(effects), Arc::new(app));
        Self {
            method,
            path: path.to_owned(),
            make_world: Arc::new(move || {
                let (world, app, effects) = (make(), Arc::clone(&app), Arc::clone(&effects));
                let seen = world.clone();
                RouteWorld {
                    app: Box::new(move |resume| app(resume, world.clone())),
                    effects: Box::new(move || effects(&seen)),
                }
            }),
            body: None,
            headers: HeaderMap::new(),
            other_caller: HeaderMap::new(),
            has_idempotency_key: true,
            script: Script::default(),
            unwritable: None,
        }
    }

    /// The body of the request: anything that serializes to an object.
    pub fn body(mut self, body: impl Serialize) -> Self {
        self.body = Some(self.write(body));
        self
    }

    /// Sends a header field with every request, such as that of the caller.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some((name, value)) = self.field(name, value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Says how another caller is known, so that the [checks](Self::check) can
    /// resume the request as that one: it must be refused.
    pub fn other_caller(mut self, name: &str, value: &str) -> Self {
        if let Some((name, value)) = self.field(name, value) {
            self.other_caller.insert(name, value);
        }
        self
    }

    /// Sends no `Idempotency-Key`: a first response that is lost begins another
    /// flow.
    pub fn without_idempotency_key(mut self) -> Self {
        self.has_idempotency_key = false;
        self
    }

    /// Answers the question `key` with this value, a struct or a single value. A
    /// question that is asked again because its answer did not fit takes the next
    /// answer.
    pub fn answer(mut self, key: &str, answer: impl Serialize) -> Self {
        let answer = self.write(answer);
        self.script.put(key, Answer::Raw(answer));
        self
    }

    /// Declines the question `key`.
    pub fn decline(self, key: &str) -> Self {
        self.answer(key, Value::Null)
    }

    /// The method and the path, for people.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn write(&mut self, value: impl Serialize) -> Value {
        serde_json::to_value(value).unwrap_or_else(|error| {
            self.unwritable.get_or_insert_with(|| error.to_string());
            Value::Null
        })
    }

    fn field(&mut self, name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
        let field = HeaderName::from_bytes(name.as_bytes()).ok();
        let field = field.zip(HeaderValue::from_str(value).ok());
        if field.is_none() {
            let why = format!("`{name}` is no header field");
            self.unwritable.get_or_insert(why);
        }
        field
    }
}

impl fmt::Debug for RouteFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouteFlow")
            .field("route", &self.name())
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}
