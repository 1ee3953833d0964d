//! The record of a run, for assertions.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::end::RunResult;
use crate::failure::Failure;
use crate::notes::{Note, transcript};

/// A flow that was run: its questions, its effects, its end.
///
/// Made by [`Flow::run`](crate::Flow::run). Its `Display` is the transcript.
pub struct Run {
    pub(crate) target: String,
    pub(crate) questions: Vec<Question>,
    pub(crate) steps: Vec<String>,
    pub(crate) effects: Vec<String>,
    pub(crate) end: RunResult,
    pub(crate) rounds: u32,
    pub(crate) notes: Vec<Note>,
    /// Number of polls, at each of which it could have been dropped.
    pub(crate) polls: u32,
    /// Effects that it was told are in doubt.
    pub(crate) ambiguous: Vec<String>,
    /// Which flow of the run came to the end.
    pub(crate) flow_number: u32,
}

/// One question, as the client saw it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) key: String,
    pub(crate) round: u32,
    /// Its method and its parameters.
    pub(crate) request: Value,
}

impl Run {
    /// The result as text: that of a tool's content, of a prompt's messages, of a
    /// resource; of an error its code and its message.
    #[must_use]
    pub fn text(&self) -> String {
        self.end.text()
    }

    /// Returns whether the request failed, or the tool reported an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.end.is_error()
    }

    /// The result as it went over the wire, without metadata.
    ///
    /// # Panics
    ///
    /// There was none, but an error or a client that never came back.
    #[must_use]
    #[track_caller]
    pub fn result(&self) -> &Value {
        match &self.end {
            RunResult::Result(result) => result,
            _ => self.fail(format!("`{}` has no result, but {}", self.target, self.end)),
        }
    }

    /// The structured content of a tool's result.
    ///
    /// # Panics
    ///
    /// If the result has no structured content, or it is no `T`.
    #[must_use]
    #[track_caller]
    pub fn content<T: DeserializeOwned>(&self) -> T {
        let content = &self.result()["structuredContent"];
        match T::deserialize(content) {
            Ok(content) => content,
            Err(error) => self.fail(format!(
                "`{}` has no such structured content: {error}",
                self.target
            )),
        }
    }

    /// The question `key`. One that was asked again is `key~2`.
    ///
    /// # Panics
    ///
    /// It was never asked.
    #[track_caller]
    pub fn asked(&self, key: &str) -> Asked<'_> {
        let mut questions = self.questions.iter();
        match questions.find(|question| question.key == key) {
            Some(question) => Asked {
                run: self,
                question,
            },
            None => self.fail(format!("`{}` never asked `{key}`", self.target)),
        }
    }

    /// Every question in the order in which it was first asked.
    #[must_use]
    pub fn questions(&self) -> Vec<&str> {
        let keys = self.questions.iter();
        keys.map(|question| question.key.as_str()).collect()
    }

    /// Every step and effect whose body ran, in order.
    #[must_use]
    pub fn steps(&self) -> Vec<&str> {
        self.steps.iter().map(String::as_str).collect()
    }

    /// The effects outside, as [`Flow::world`](crate::Flow::world) was told to see
    /// them.
    #[must_use]
    pub fn effects(&self) -> Vec<&str> {
        self.effects.iter().map(String::as_str).collect()
    }

    /// Number of requests it took.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Everything that happened, round by round. It is the same in every run,
    /// so it can be compared as a whole; for a handler that reads the time, in
    /// a test that is `start_paused`.
    #[must_use]
    pub fn transcript(&self) -> String {
        transcript(&self.notes)
    }

    /// The round in which the kit first struck.
    pub(crate) fn first_crash(&self) -> Option<u32> {
        self.notes.iter().find_map(Note::struck_in)
    }

    #[track_caller]
    fn fail(&self, what: String) -> ! {
        Failure::new(what, self.notes.clone()).raise()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.transcript())
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.transcript())
    }
}

/// A question that was asked. Made by [`Run::asked`].
///
/// Its assertions return it, so that they can be chained; each panics with the
/// transcript of the run.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    run: &'a Run,
    question: &'a Question,
}

#[expect(
    clippy::return_self_not_must_use,
    reason = "an assertion may be the last of its chain"
)]
impl<'a> Asked<'a> {
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

    /// Asserts the schema of the form.
    ///
    /// # Panics
    ///
    /// It is another.
    #[track_caller]
    pub fn with_schema(self, schema: &Value) -> Self {
        self.same("a form with the schema", self.schema(), schema)
    }

    /// The round in which it was first asked.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.question.round
    }

    /// The message that the user reads; for a model, the text to continue from.
    #[must_use]
    pub fn message(&self) -> &'a str {
        let params = &self.question.request["params"];
        let message = params["message"].as_str();
        let said = || params["messages"][0]["content"]["text"].as_str();
        message.or_else(said).unwrap_or_default()
    }

    /// The schema of the form; null if the question is no form.
    #[must_use]
    pub fn schema(&self) -> &'a Value {
        &self.question.request["params"]["requestedSchema"]
    }

    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.question.request["method"].as_str().unwrap_or_default()
    }

    /// Everything that went over the wire, such as the address of a page.
    #[must_use]
    pub fn params(&self) -> &'a Value {
        &self.question.request["params"]
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

impl fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.question.key, self.question.request)
    }
}
