//! A compensation that waits for the flow to fail.

use std::future::Future;
use std::pin::Pin;

use crate::idempotency::IdempotencyKey;
use crate::key::Key;

/// A compensation that waits for the flow to fail.
pub(crate) struct Undo<'a> {
    pub(crate) key: Key,
    pub(crate) run: Compensation<'a>,
}

pub(crate) type Compensation<'a> = Box<dyn FnOnce(IdempotencyKey) -> Compensating<'a> + Send + 'a>;

pub(crate) type Compensating<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;
