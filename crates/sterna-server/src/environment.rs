//! Parts of a server that its handlers reach.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

use crate::changes::Changes;

/// Parts of a server that its handlers reach, the same for all requests.
#[derive(Default)]
pub(crate) struct Environment {
    pub(crate) changes: Changes,
    pub(crate) states: States,
}

/// The values that an author gave to the server for its handlers, one of each
/// type.
#[derive(Default)]
pub(crate) struct States(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl States {
    pub(crate) fn put<T: Send + Sync + 'static>(&mut self, state: T) {
        self.0.insert(TypeId::of::<T>(), Box::new(Arc::new(state)));
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    /// The first type of `wanted` that is not here.
    pub(crate) fn missing(&self, wanted: &[(TypeId, &'static str)]) -> Option<&'static str> {
        let missing = wanted.iter().find(|(id, _)| !self.0.contains_key(id));
        missing.map(|(_, name)| *name)
    }
}
