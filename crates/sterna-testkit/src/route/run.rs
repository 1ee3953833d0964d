//! The record of a run of a route, for assertions.

use std::fmt;

use http::StatusCode;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;
use crate::notes::{Note, transcript};

/// A request that was played to its end: its questions, its effects, its
/// response.
///
/// Made by [`RouteFlow::run`](crate::RouteFlow::run). Its `Display` is the
/// transcript.
pub struct RouteRun {
    pub(super) name: String,
    pub(super) questions: Vec<AskedQuestion>,
    pub(super) effects: Vec<String>,
    pub(super) end: Option<RouteEnd>,
    pub(super) rounds: u32,
    pub(super) notes: Vec<Note>,
    pub(super) steps: Vec<String>,
    /// Number of polls, at each of which it could have been dropped.
    pub(super) polls: u32,
    /// Effects that it was told are in doubt.
    pub(super) ambiguous: Vec<String>,
    /// Number of the flow that came to the end.
    pub(super) flow_number: u32,
}

/// Last response of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RouteEnd {
    pub(super) status: StatusCode,
    pub(super) text: String,
}

/// Question in the round in which it was first asked.
#[derive(Clone, Debug)]
pub(super) struct AskedQuestion {
    pub(super) key: String,
    pub(super) round: u32,
    /// Message, schema and data.
    pub(super) shown: Value,
}

impl RouteRun {
    /// Returns the status of the last response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        let end = self.end.as_ref();
        end.map_or(StatusCode::PRECONDITION_REQUIRED, |end| end.status)
    }

    /// Returns the body of the last response.
    #[must_use]
    pub fn text(&self) -> &str {
        self.end.as_ref().map_or("", |end| &end.text)
    }

    /// Returns the body of the last response, read as JSON.
    ///
    /// # Panics
    ///
    /// It is no JSON, or no `T`.
    #[must_use]
    #[track_caller]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        match serde_json::from_str(self.text()) {
            Ok(value) => value,
            Err(error) => self.fail(format!(
                "the response of `{}` is another: {error}",
                self.name
            )),
        }
    }

    /// Returns the question `key`.
    ///
    /// # Panics
    ///
    /// It was never asked.
    #[track_caller]
    pub fn asked(&self, key: &str) -> RouteQuestion<'_> {
        let mut questions = self.questions.iter();
        match questions.find(|question| question.key == key) {
            Some(question) => RouteQuestion {
                run: self,
                question,
            },
            None => self.fail(format!("`{}` never asked `{key}`", self.name)),
        }
    }

    /// Returns every question in the order in which it was first asked.
    #[must_use]
    pub fn questions(&self) -> Vec<&str> {
        let keys = self.questions.iter();
        keys.map(|question| question.key.as_str()).collect()
    }

    /// Returns every step and effect whose body ran, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<&str> {
        self.steps.iter().map(String::as_str).collect()
    }

    /// Returns the effects outside, as
    /// [`RouteFlow::with_world`](crate::RouteFlow::with_world) was told to see them.
    #[must_use]
    pub fn effects(&self) -> Vec<&str> {
        self.effects.iter().map(String::as_str).collect()
    }

    /// Returns the number of requests it took.
    #[must_use]
    pub const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Returns everything that happened, round by round.
    #[must_use]
    pub fn transcript(&self) -> String {
        transcript(&self.notes)
    }

    #[track_caller]
    fn fail(&self, what: String) -> ! {
        Failure::new(what, self.notes.clone()).raise()
    }
}

impl fmt::Display for RouteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.transcript())
    }
}

impl fmt::Debug for RouteRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.transcript())
    }
}

/// A question that a route asked. Made by [`RouteRun::asked`].
///
/// Its assertions return it, so that they can be chained; each panics with the
/// transcript of the run.
#[derive(Clone, Copy)]
pub struct RouteQuestion<'a> {
    run: &'a RouteRun,
    question: &'a AskedQuestion,
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "an assertion may be the last of its chain"
)]
impl<'a> RouteQuestion<'a> {
    /// Asserts that it was first asked in `round`; the first round is 1.
    ///
    /// # Panics
    ///
    /// It was asked in another.
    #[track_caller]
    pub fn in_round(self, round: u32) -> Self {
        self.same("asked in round", &self.question.round, &round)
    }

    /// Asserts the text that the user reads.
    ///
    /// # Panics
    ///
    /// It is something else.
    #[track_caller]
    pub fn saying(self, message: &str) -> Self {
        self.same("worded", self.message(), message)
    }

    /// Asserts the data that the user sees.
    ///
    /// # Panics
    ///
    /// It is other data.
    #[track_caller]
    pub fn showing(self, data: &Value) -> Self {
        self.same("shown with", &self.question.shown["data"], data)
    }

    /// Asserts the JSON Schema of the answer.
    ///
    /// # Panics
    ///
    /// It is another.
    #[track_caller]
    pub fn with_schema(self, schema: &Value) -> Self {
        self.same("answered by the schema", self.schema(), schema)
    }

    /// Returns the message that the user reads.
    #[must_use]
    pub fn message(&self) -> &'a str {
        self.question.shown["message"].as_str().unwrap_or_default()
    }

    /// Returns the JSON Schema of the answer.
    #[must_use]
    pub fn schema(&self) -> &'a Value {
        &self.question.shown["schema"]
    }

    #[track_caller]
    fn same<T: fmt::Debug + PartialEq + ?Sized>(self, what: &str, is: &T, should: &T) -> Self {
        if is != should {
            let key = &self.question.key;
            self.run.fail(format!(
                "the question `{key}` is not {what} {should:?}, but {is:?}"
            ));
        }
        self
    }
}

impl fmt::Debug for RouteQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.question.key, self.question.shown)
    }
}
