//! The store under test and its time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{BoxFuture, Error};

/// An empty store, and a way to let its time pass.
pub struct Subject<S: ?Sized> {
    store: Arc<S>,
    advance: Advance,
}

type Advance = Box<dyn Fn(Duration) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;

impl<S: ?Sized> Subject<S> {
    /// A store, and what makes its time go on.
    pub fn new(
        store: Arc<S>,
        advance: impl Fn(Duration) -> BoxFuture<'static, Result<(), Error>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            store,
            advance: Box::new(advance),
        }
    }

    pub(super) fn store(&self) -> &S {
        &self.store
    }

    pub(super) async fn advance(&self, by: Duration) -> Result<(), Error> {
        (self.advance)(by).await
    }

    pub(super) fn narrow<T: ?Sized>(self, view: fn(Arc<S>) -> Arc<T>) -> Subject<T> {
        Subject {
            store: view(self.store),
            advance: self.advance,
        }
    }
}

impl<S: ?Sized> fmt::Debug for Subject<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").finish_non_exhaustive()
    }
}
