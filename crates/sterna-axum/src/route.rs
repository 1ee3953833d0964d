//! Pausing routes, and their declaration.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_form::NotAForm;
use sterna_seal::Principal;

use crate::cx::Schema;
use crate::declared::{DeclaredQuestion, RouteCore};
use crate::error::BuildError;
use crate::handler::{Extract, PausingHandler, Start, erase};
use crate::resume::{FindCaller, Resume};
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
        start: erase(handler),
        caller: CallerRule::Shared,
        questions: Vec::new(),
        mistakes: Vec::new(),
        requires_key: false,
    }
}

/// Declaration of a pausing route.
#[must_use = "a declaration is not a route before `build`"]
pub struct Pausing<S> {
    start: Arc<Start<S>>,
    caller: CallerRule,
    questions: Vec<DeclaredQuestion>,
    mistakes: Vec<(String, NotAForm)>,
    requires_key: bool,
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
            Ok((schema, _)) => self.declare(key, &schema, false),
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
            Ok((schema, _)) => self.declare(key, &schema, true),
            Err(mistake) => self.mistakes.push((key.to_owned(), mistake)),
        }
        self
    }

    /// Declares that the handler may ask for a `T` under `key`, with
    /// [`Cx::ask_json`](crate::Cx::ask_json).
    pub fn asks_json<T: JsonSchema>(mut self, key: &str) -> Self {
        self.declare(key, &Schema::json::<T>(), false);
        self
    }

    /// Declares that the handler may ask under `key`, with
    /// [`Cx::confirm`](crate::Cx::confirm).
    pub fn confirms(mut self, key: &str) -> Self {
        self.declare(key, &Schema::Confirm, false);
        self
    }

    fn declare(&mut self, key: &str, schema: &Schema, is_secret: bool) {
        self.questions.push(DeclaredQuestion {
            key: key.to_owned(),
            schema: schema.to_value(),
            is_secret,
        });
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
        Ok(PausingRoute(Arc::new(RouteCore {
            resume: resume.clone(),
            start: self.start,
            caller,
            questions: self.questions,
            requires_key: self.requires_key,
        })))
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
