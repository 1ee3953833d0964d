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
    /// The name of an operation is none.
    #[error("the operation `{name}` is not named by 1 to 128 letters, digits, `_`, `-` and `.`")]
    InvalidOperation {
        /// Its name.
        name: String,
    },
    /// Operations cannot be served at a path.
    #[error(
        "`{path}` is no path for operations; write an absolute one without a slash at its end, such as `/operations`"
    )]
    InvalidPath {
        /// The path.
        path: String,
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
    /// A route has operations, and its [`Resume`](crate::Resume) has none.
    #[error(
        "the route begins operations `{name}`, and there are none; give them with `Resume::operations`"
    )]
    NoOperations {
        /// Name of the operations.
        name: String,
    },
    /// The route needs a store, and there is none.
    #[error("MR0401: the route {why}, and there is no store; give it one with `Resume::store`")]
    NoStore {
        /// Property of the route that needs a store.
        why: &'static str,
    },
    /// Two routes begin operations of one name.
    #[error(
        "two routes begin operations `{name}`; a worker could not tell them apart. Clone the route, or name them differently"
    )]
    OperationTwice {
        /// The name.
        name: String,
    },
    /// Two routes with the same operations have different stores.
    #[error("the routes of the same `Operations` have different stores")]
    OtherStore,
    /// Two questions are declared under one key.
    #[error("the question `{key}` is declared twice")]
    Twice {
        /// The key.
        key: String,
    },
}
