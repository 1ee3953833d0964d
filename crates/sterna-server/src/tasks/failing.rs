//! How a store's failure is told: to the operator in full, to the peer not.

use sterna_store::Error;

use crate::failure::Failure;

/// Notes that the store did not do what a request needs.
pub(crate) fn store_failed(error: &Error) -> Failure {
    let cause: &dyn std::error::Error = error;
    let code = error.code().unwrap_or("MR0404");
    tracing::error!(target: "sterna::tasks", code, error = cause, "the store failed");
    Failure::Internal
}
