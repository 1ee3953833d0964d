//! Calls of middleware, contained.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use sterna_http::clock;
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::prompt::GetPromptResult;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;

use super::{Middleware, RoundEnd, RoundInfo, RoundResult};
use crate::call::{FlowPosition, Request};
use crate::failure::{Failure, RequestError};

/// All middleware of a server, the outermost first.
pub(crate) type Middlewares = Arc<[Box<dyn Middleware>]>;

/// A result that middleware may change.
pub(crate) trait RoundOutput: Send + 'static {
    fn as_round_result(&mut self) -> RoundResult<'_>;
}

impl RoundOutput for CallToolResult {
    fn as_round_result(&mut self) -> RoundResult<'_> {
        RoundResult::Tool(self)
    }
}

impl RoundOutput for GetPromptResult {
    fn as_round_result(&mut self) -> RoundResult<'_> {
        RoundResult::Prompt(self)
    }
}

impl RoundOutput for ReadResourceResult {
    fn as_round_result(&mut self) -> RoundResult<'_> {
        RoundResult::Resource(self)
    }
}

/// A round that middleware sees, until it is dropped.
pub(crate) struct RoundGuard(Option<Inner>);

struct Inner {
    middleware: Middlewares,
    request: Request,
    method: &'static str,
    target: String,
    start: Instant,
    /// End of the round if it is dropped.
    unfinished: Mutex<RoundEnd>,
}

impl RoundGuard {
    /// Allocates nothing if there is no middleware.
    pub(crate) fn begin(
        middleware: &Middlewares,
        request: &Request,
        method: &'static str,
        target: &str,
    ) -> Self {
        if middleware.is_empty() {
            return Self(None);
        }
        Self(Some(Inner {
            middleware: Arc::clone(middleware),
            request: request.clone(),
            method,
            target: target.to_owned(),
            start: clock::now(),
            unfinished: Mutex::new(RoundEnd::Cancelled),
        }))
    }

    /// The outcome of the round after middleware has changed its result.
    pub(crate) fn outcome<T: RoundOutput, X>(
        &self,
        outcome: Result<Outcome<T, X>, Failure>,
    ) -> Result<Outcome<T, X>, Failure> {
        match outcome {
            Ok(Outcome::Complete(result)) => self.result(Ok(result)).map(Outcome::Complete),
            Err(failure) => self.result(Err(failure)).map(Outcome::Complete),
            other => other,
        }
    }

    /// The result of the round after middleware has changed it.
    pub(crate) fn result<T: RoundOutput>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let Some(inner) = &self.0 else {
            return result;
        };
        let Some(round) = inner.round() else {
            return result;
        };
        inner
            .middleware
            .iter()
            .rev()
            .fold(result, |mut result, middleware| {
                let shown = match &mut result {
                    Ok(result) => result.as_round_result(),
                    Err(Failure::Tool(text)) => RoundResult::ToolError(text),
                    Err(_) => return result,
                };
                guard(|| middleware.result(&round, shown))?;
                result
            })
    }

    /// Sets how the round ends if it is dropped. Default: cancelled.
    pub(crate) fn ends_as(&self, end: RoundEnd) {
        if let Some(inner) = &self.0 {
            *inner.unfinished() = end;
        }
    }

    pub(crate) fn end(mut self, ended: RoundEnd) {
        if let Some(inner) = self.0.take() {
            inner.end(ended);
        }
    }
}

impl Inner {
    fn unfinished(&self) -> MutexGuard<'_, RoundEnd> {
        self.unfinished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` for a round that was refused before its state was opened: no
    /// middleware has seen it.
    fn round(&self) -> Option<RoundInfo<'_>> {
        Some(RoundInfo {
            method: self.method,
            target: &self.target,
            request: &self.request,
            position: *self.request.position()?,
        })
    }

    fn end(&self, ended: RoundEnd) {
        let Some(round) = self.round() else {
            return;
        };
        let took = clock::now().saturating_duration_since(self.start);
        for middleware in self.middleware.iter().rev() {
            // The round is over: a panic is logged and changes nothing.
            let _ = guard(|| {
                middleware.after(&round, ended, took);
                Ok(())
            });
        }
    }
}

impl Drop for RoundGuard {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            let unfinished = *inner.unfinished();
            inner.end(unfinished);
        }
    }
}

/// Asks every middleware whether the round may begin.
pub(crate) fn before(
    middleware: &Middlewares,
    request: &Request,
    method: &'static str,
    target: &str,
    position: FlowPosition,
) -> Result<(), Failure> {
    let round = RoundInfo {
        method,
        target,
        request,
        position,
    };
    let mut all = middleware.iter();
    all.try_for_each(|middleware| guard(|| middleware.before(&round)))
}

/// Shows a question to every middleware before it goes out.
pub(crate) fn question(
    middleware: &Middlewares,
    request: &Request,
    (method, target): (&'static str, &str),
    key: &str,
    question: &mut InputRequest,
) -> Result<(), Failure> {
    let Some(position) = request.position() else {
        return Ok(());
    };
    let round = RoundInfo {
        method,
        target,
        request,
        position: *position,
    };
    let mut all = middleware.iter().rev();
    all.try_for_each(|middleware| guard(|| middleware.question(&round, key, question)))
}

/// Shows the questions of a low-level handler to every middleware.
pub(crate) fn questions(
    middleware: &Middlewares,
    request: &Request,
    target: (&'static str, &str),
    required: InputRequired,
) -> Result<InputRequired, Failure> {
    if middleware.is_empty() {
        return Ok(required);
    }
    let asked: Vec<_> = required.requests().iter().collect();
    let mut changed = required.clone();
    for (key, asked) in asked {
        let mut asked = asked.clone();
        question(middleware, request, target, key, &mut asked)?;
        changed = changed.and(key, asked);
    }
    Ok(changed)
}

/// Calls a middleware; a panic is a failure of the round.
fn guard(call: impl FnOnce() -> Result<(), RequestError>) -> Result<(), Failure> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Failure::Handler),
        Err(panic) => {
            let text = panic_text(&*panic);
            tracing::error!(target: "sterna::rounds", "MR0212: a middleware panicked: {text}");
            Err(Failure::Internal)
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a text")
}
