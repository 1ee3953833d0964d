//! The sum of what a durable server needs.

use std::pin::Pin;

use crate::{Blobs, Ledger, Tasks};

/// Everything in one place: [`Tasks`], a [`Ledger`] and [`Blobs`].
///
/// Whatever keeps all three is a store. Code that needs less asks for less.
pub trait Store: Tasks + Ledger + Blobs {}

impl<S: Tasks + Ledger + Blobs + ?Sized> Store for S {}

/// A future behind a pointer, so that `dyn Store` works.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
