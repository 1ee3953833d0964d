//! Pausing routes, and their declaration.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_form::NotAForm;
use sterna_seal::Principal;
use sterna_store::Name;

use crate::core::{OperationMode, RouteCore, RouteOperation};
use crate::cx::Schema;
use crate::declared::DeclaredQuestion;
use crate::error::BuildError;
use crate::handler::{ErasedHandler, Extract, PausingHandler, erase};
use crate::operations::Operations;
use crate::resume::{FindCaller, Resume, digest_of};
use crate::round;

/// Makes a pausing route of `handler`, an `async fn(Cx<'_>, extractors…)`.
///
/// [`build`](Pausing::build) makes an axum handler of it, for `post(…)`,
/// `put(…)`, `patch(…)` or `delete(…)`.
pub fn pausing<H, P, M, S, R>(handler: H) -> Pausing<S>
where
    H: for<'a> PausingHandler<'a, P, Output = R> + Send + Sync + 'static,
    <H as PausingHandler<'static, P>>::Future: Send + 'static,
    P: Extract<S, M>,
    S: Send + Sync + 'static,
    R: IntoResponse,
{
    Pausing {
        handler: erase(handler),
        caller: CallerRule::Shared,
        questions: Vec::new(),
        mistakes: Vec::new(),
        requires_key: false,
        operation: None,
        operation_ttl: None,
    }
}

/// Declaration of a pausing route.
#[must_use = "a declaration is not a route before `build`"]
pub struct Pausing<S> {
    handler: ErasedHandler<S>,
    caller: CallerRule,
    questions: Vec<DeclaredQuestion>,
    mistakes: Vec<(String, NotAForm)>,
    requires_key: bool,
    operation: Option<DeclaredOperation>,
    operation_ttl: Option<Duration>,
}

/// Operations that requests to a route become, as their author declares them.
struct DeclaredOperation {
    name: String,
    mode: OperationMode,
}

enum CallerRule {
    Anonymous,
    Own(Arc<FindCaller>),
    /// That of the [`Resume`].
    Shared,
}

impl<S: Clone + Send + Sync + 'static> Pausing<S> {
    /// Declares that the handler may ask for a `T` under `key`, with
    /// [`Cx::ask`](crate::Cx::ask).
    pub fn asks<T>(mut self, key: &str) -> Self
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        match Schema::form::<T>(key) {
            Ok((schema, _)) => self.declare(key, schema, false),
            Err(mistake) => self.mistakes.push((key.to_owned(), mistake)),
        }
        self
    }

    /// Declares a question as [`asks`](Self::asks) does, whose answer is a secret
    /// that could be guessed, such as a code that was sent.
    ///
    /// Each state is good for one answer, and a flow ends after
    /// [`Config::attempts`](crate::Config::attempts) of them. Both are counted in
    /// the store, so a route without one is not built.
    pub fn asks_secret<T>(mut self, key: &str) -> Self
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        match Schema::form::<T>(key) {
            Ok((schema, _)) => self.declare(key, schema, true),
            Err(mistake) => self.mistakes.push((key.to_owned(), mistake)),
        }
        self
    }

    /// Declares that the handler may ask for a `T` under `key`, with
    /// [`Cx::ask_json`](crate::Cx::ask_json).
    pub fn asks_json<T: JsonSchema>(mut self, key: &str) -> Self {
        self.declare(key, Schema::json::<T>(), false);
        self
    }

    /// Declares that the handler may ask under `key`, with
    /// [`Cx::confirm`](crate::Cx::confirm).
    pub fn confirms(mut self, key: &str) -> Self {
        self.declare(key, Schema::Confirm, false);
        self
    }

    fn declare(&mut self, key: &str, schema: Schema, is_secret: bool) {
        let question = DeclaredQuestion::new(key, schema, is_secret);
        self.questions.push(question);
    }

    /// Says who the caller of a request to this route is; see
    /// [`Resume::caller`].
    pub fn caller(
        mut self,
        find: impl Fn(&Parts) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.caller = CallerRule::Own(Arc::new(find));
        self
    }

    /// Lets every caller of this route be the same anonymous one: a client that
    /// learns the state of another can go on with its request.
    pub fn anonymous(mut self) -> Self {
        self.caller = CallerRule::Anonymous;
        self
    }

    /// Refuses first requests without an `Idempotency-Key` (400).
    pub const fn requires_idempotency_key(mut self) -> Self {
        self.requires_key = true;
        self
    }

    /// Lets requests become operations: those with `Prefer: respond-async`, and
    /// those whose handler calls [`Cx::become_task`](crate::Cx::become_task).
    ///
    /// `name` is the name by which workers find the route. It stays with the
    /// operations that were begun, so keep it when the route moves. A route without
    /// a store, or without [`Resume::operations`], is not built.
    pub fn operation(mut self, name: &str) -> Self {
        self.operation = Some(DeclaredOperation {
            name: name.to_owned(),
            mode: OperationMode::OnDemand,
        });
        self
    }

    /// Makes every request an [`operation`](Self::operation), whatever its client
    /// prefers.
    pub fn always_operation(mut self, name: &str) -> Self {
        self.operation = Some(DeclaredOperation {
            name: name.to_owned(),
            mode: OperationMode::Always,
        });
        self
    }

    /// Lets the operations of this route live this long, instead of
    /// [`TaskConfig::ttl`](crate::TaskConfig::ttl).
    pub fn operation_ttl(mut self, ttl: Duration) -> Self {
        self.operation_ttl = Some(ttl);
        self
    }

    /// Makes an axum handler of the declaration.
    ///
    /// # Errors
    ///
    /// A mistake in the declaration: no caller, a question that is no form or is
    /// there twice, or a store that is missing.
    pub fn build(self, resume: &Resume<S>) -> Result<PausingRoute<S>, BuildError> {
        if let Some((key, mistake)) = self.mistakes.into_iter().next() {
            return Err(BuildError::NotAForm { key, mistake });
        }
        for (at, question) in self.questions.iter().enumerate() {
            let key = &question.key;
            if !question.has_plain_key() {
                return Err(BuildError::InvalidKey { key: key.clone() });
            }
            if self.questions[..at].iter().any(|other| other.key == *key) {
                return Err(BuildError::Twice { key: key.clone() });
            }
        }
        let caller = match self.caller {
            CallerRule::Anonymous => None,
            CallerRule::Own(find) => Some(find),
            CallerRule::Shared => Some(resume.caller.clone().ok_or(BuildError::NoCaller)?),
        };
        if resume.store.is_none() {
            if self.questions.iter().any(|question| question.is_secret) {
                let why = "asks for a secret, whose guesses are counted in a store";
                return Err(BuildError::NoStore { why });
            }
            if self.requires_key {
                let why = "requires an `Idempotency-Key`, which is kept in a store";
                return Err(BuildError::NoStore { why });
            }
        }
        // Warns of a key file that others can read before the first request.
        let _ = resume.key_reloader();
        let operations = match &self.operation {
            None => None,
            Some(declared) => Some(declared.place(resume, self.operation_ttl)?),
        };
        let (operations, operation) = operations.unzip();
        let core = Arc::new(RouteCore {
            // The operations know the route, so it does not know them.
            resume: Resume {
                operations: None,
                ..resume.clone()
            },
            handler: self.handler,
            caller,
            questions: self.questions,
            requires_key: self.requires_key,
            operation,
        });
        if let (Some(operations), Some(declared)) = (operations, self.operation)
            && let Some(operation) = &core.operation
        {
            let target = operation.target.clone();
            operations.add(&declared.name, target, Arc::clone(&core) as _)?;
        }
        Ok(PausingRoute(core))
    }
}

impl DeclaredOperation {
    /// Returns the operations of `resume`, and the part that a route has in them.
    fn place<S>(
        &self,
        resume: &Resume<S>,
        ttl: Option<Duration>,
    ) -> Result<(Operations, RouteOperation), BuildError> {
        let name = self.name.as_str();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !(1..=128).contains(&name.len()) || !name.bytes().all(is_plain) {
            let name = name.to_owned();
            return Err(BuildError::InvalidOperation { name });
        }
        let Some(operations) = resume.operations.clone() else {
            let name = name.to_owned();
            return Err(BuildError::NoOperations { name });
        };
        let Some(store) = &resume.store else {
            let why = "begins operations, which are kept in a store";
            return Err(BuildError::NoStore { why });
        };
        // A server of MCP, or another application, may have tasks in the same store.
        let audience = digest_of("sterna operation target v1", &[resume.audience.as_bytes()]);
        let audience = u64::from_be_bytes(*audience.first_chunk().expect("a digest is longer"));
        let target = format!("http:{audience:016x}:{name}");
        let operation = RouteOperation {
            settings: Arc::clone(&operations.settings),
            place: operations.place_in(store, &resume.config.clock)?,
            target: Name::new(target).expect("it is short and has no NUL"),
            mode: self.mode,
            ttl,
        };
        Ok((operations, operation))
    }
}

impl<S> fmt::Debug for Pausing<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pausing")
            .field("questions", &self.questions)
            .finish_non_exhaustive()
    }
}

/// Pausing route: a handler for axum's `post(…)` and its like, whatever the
/// state of the router.
pub struct PausingRoute<S>(pub(crate) Arc<RouteCore<S>>);

impl<S> Clone for PausingRoute<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S, T> Handler<Self, T> for PausingRoute<S>
where
    S: Clone + Send + Sync + 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response> + Send>>;

    fn call(self, request: Request, _: T) -> Self::Future {
        Box::pin(round::serve(self.0, request))
    }
}

impl<S> fmt::Debug for PausingRoute<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PausingRoute")
            .field("questions", &self.0.questions)
            .finish_non_exhaustive()
    }
}
