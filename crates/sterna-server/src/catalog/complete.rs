//! Suggestions while a user types an argument.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;

/// Argument that a user is typing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionRequest {
    /// Text that was typed so far.
    pub value: String,
    /// The arguments that are settled already.
    pub settled: BTreeMap<String, String>,
}

impl CompletionRequest {
    pub(crate) fn new(value: String, settled: BTreeMap<String, String>) -> Self {
        Self { value, settled }
    }
}

type Suggesting = Pin<Box<dyn Future<Output = Vec<String>> + Send>>;

/// Completers by the argument they complete.
#[derive(Default)]
pub(crate) struct Completers(
    BTreeMap<String, Box<dyn Fn(CompletionRequest) -> Suggesting + Send + Sync>>,
);

impl Completers {
    pub(super) fn put<F, Fut>(&mut self, argument: &str, complete: F)
    where
        F: Fn(CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<String>> + Send + 'static,
    {
        let complete = move |typed| -> Suggesting { Box::pin(complete(typed)) };
        self.0.insert(argument.to_owned(), Box::new(complete));
    }

    /// Completes an argument; one that has no completer gets no suggestions.
    pub(crate) async fn complete(&self, argument: &str, typed: CompletionRequest) -> Vec<String> {
        match self.0.get(argument) {
            Some(complete) => complete(typed).await,
            None => Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for Completers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
