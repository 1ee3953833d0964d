//! The verbs that ask the client, and a question on its way to its answer.

use std::fmt;
use std::pin::Pin as Pinned;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_flow::{AskWithin, Pin};

use super::Cx;
use super::question::{Question, Schema, read_bool, read_json};

/// # Questions
///
/// The response is a problem with the questions and a sealed state. When the
/// client repeats the request with the answers, on any instance, the handler
/// resumes.
impl<'a> Cx<'a> {
    /// Asks for a `T` by a form: a struct of texts, numbers, truth values and
    /// choices, or one of those alone.
    ///
    /// The answer is checked against the form before it is read. An answer that
    /// does not fit is asked for again, with the reason. A type that cannot be a
    /// form fails the request, and the log says why (MR0201); see
    /// [`ask_json`](Self::ask_json).
    #[track_caller]
    pub fn ask<T>(&self, key: &str, message: impl Into<String>) -> Ask<'a, T>
    where
        T: JsonSchema + DeserializeOwned + Send + 'static,
    {
        match Schema::form::<T>(key) {
            Ok((schema, read)) => self.put(key, Question::new(message.into(), schema, read)),
            Err(mistake) => {
                self.request.record_mistake(mistake);
                Ask::never()
            }
        }
    }

    /// Asks for a `T` by its JSON Schema, whatever its shape: lists, maps,
    /// alternatives.
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    /// use sterna_axum::{Cx, Problem};
    ///
    /// #[derive(Serialize)]
    /// struct Row { line: u32, mail: String }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Fix { line: u32, mail: String }
    ///
    /// async fn review(cx: Cx<'_>) -> Result<String, Problem> {
    ///     let doubtful = [Row { line: 7, mail: "ada(at)example.org".to_owned() }];
    ///     let fixes: Vec<Fix> = cx
    ///         .ask_json("review", "One row is doubtful")
    ///         .showing(&doubtful)
    ///         .await?;
    ///     Ok(format!("{} fixed", fixes.len()))
    /// }
    /// # let _ = sterna_axum::pausing::<_, _, _, (), _>(review);
    /// ```
    #[track_caller]
    pub fn ask_json<T>(&self, key: &str, message: impl Into<String>) -> Ask<'a, T>
    where
        T: JsonSchema + DeserializeOwned + Send + 'static,
    {
        let schema = Schema::json::<T>();
        self.put(key, Question::new(message.into(), schema, read_json))
    }

    /// Asks the user to agree: `true` for a yes, `false` for a no.
    #[track_caller]
    pub fn confirm(&self, key: &str, message: impl Into<String>) -> Ask<'a, bool> {
        let schema = Schema::Confirm;
        self.put(key, Question::new(message.into(), schema, read_bool))
    }

    #[track_caller]
    fn put<T: Send + 'static>(&self, key: &str, question: Question<T>) -> Ask<'a, T> {
        Ask(Waiting::Patient(self.flow.ask(key, question)))
    }
}

/// Reason that a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The client answered `null`.
    #[error("The question was declined.")]
    Declined,
    /// The deadline of the question has passed.
    #[error("The question was not answered in time.")]
    TooLate,
}

/// A question on its way to its answer. Made by the verbs of [`Cx`].
///
/// # Cancel safety
///
/// Dropping it withdraws the question; an answer that comes later is ignored.
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<'a, T>(Waiting<'a, T>);

enum Waiting<'a, T> {
    Patient(sterna_flow::Ask<'a, Question<T>>),
    Within(AskWithin<'a, Question<T>>),
    /// It cannot be asked, and the runner has been told.
    Never,
}

impl<T: Send + 'static> Ask<'_, T> {
    const fn never() -> Self {
        Self(Waiting::Never)
    }

    /// Sends `data` with the question, as its member `data`: what the user must
    /// see to answer.
    ///
    /// # Panics
    ///
    /// `data` cannot be written as JSON. The flow stops, and the log says why.
    pub fn showing(mut self, data: &(impl Serialize + ?Sized)) -> Self {
        let data = serde_json::value::to_raw_value(data).expect("data of a question is JSON");
        let data = Some(Arc::from(data));
        match &mut self.0 {
            Waiting::Patient(ask) => ask.question_mut().data = data,
            Waiting::Within(ask) => ask.question_mut().data = data,
            Waiting::Never => {}
        }
        self
    }

    /// Says how much of the question an answer is pinned to.
    pub fn pin(mut self, pin: Pin) -> Self {
        self.0 = match self.0 {
            Waiting::Patient(ask) => Waiting::Patient(ask.pin(pin)),
            other => other,
        };
        self
    }

    /// Accepts an answer that an older build recorded under the name `old`.
    pub fn formerly(mut self, old: &str) -> Self {
        self.0 = match self.0 {
            Waiting::Patient(ask) => Waiting::Patient(ask.formerly(old)),
            other => other,
        };
        self
    }

    /// Stops waiting after `duration`, counted from when it was first asked,
    /// with [`AskError::TooLate`]. Comes last.
    pub fn deadline(mut self, duration: Duration) -> Self {
        self.0 = match self.0 {
            Waiting::Patient(ask) => Waiting::Within(ask.deadline(duration)),
            other => other,
        };
        self
    }
}

impl<T: Send + 'static> Future for Ask<'_, T> {
    type Output = Result<T, AskError>;

    fn poll(self: Pinned<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.get_mut().0 {
            Waiting::Patient(ask) => Pinned::new(ask).poll(cx),
            Waiting::Within(ask) => Poll::Ready(match ready!(Pinned::new(ask).poll(cx)) {
                Ok(answer) => answer,
                Err(_) => Err(AskError::TooLate),
            }),
            Waiting::Never => Poll::Pending,
        }
    }
}

// Nothing in it is ever pinned.
impl<T> Unpin for Ask<'_, T> {}

impl<T> fmt::Debug for Ask<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Waiting::Patient(ask) => ask.fmt(f),
            Waiting::Within(ask) => ask.fmt(f),
            Waiting::Never => f.write_str("Ask(never)"),
        }
    }
}
