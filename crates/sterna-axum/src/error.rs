//! Reasons for which a route is not built.

use sterna_form::NotAForm;
use thiserror::Error;

/// Mistake in the declaration of a route, found before it serves a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A key of a question has a character that has a meaning in a journal, so
    /// its questions would not be recognized.
    #[error("the question `{key}` is not named by letters, digits, `_`, `-` and `.`")]
    InvalidKey {
        /// The key.
        key: String,
    },
    /// The caller is not known, and the route does not say `anonymous()`.
    #[error(
        "MR0206: the route does not say who its callers are; give `Resume::caller` a function of the request, or say `anonymous()`"
    )]
    NoCaller,
    /// A declared question cannot be a form.
    #[error("MR0201: the question `{key}`: {mistake}; declare it with `asks_json`")]
    NotAForm {
        /// Key of the question.
        key: String,
        /// Reason for which its type is no form.
        mistake: NotAForm,
    },
    /// The route needs a store, and there is none.
    #[error("MR0401: the route {why}, and there is no store; give it one with `Resume::store`")]
    NoStore {
        /// Property of the route that needs a store.
        why: &'static str,
    },
    /// Two questions are declared under one key.
    #[error("the question `{key}` is declared twice")]
    Twice {
        /// The key.
        key: String,
    },
}
