//! Forms that have been derived before.
//!
//! Deriving a form walks the whole schema of a type and costs more than
//! everything else a question does; but a type has one form for as long as the
//! program runs, so it is derived once.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use schemars::JsonSchema;

use super::{Form, NotAForm};

/// Grows with the types of the program, which no peer can add to.
static KNOWN: LazyLock<RwLock<BTreeMap<TypeId, Arc<Form>>>> = LazyLock::new(RwLock::default);

impl Form {
    /// The form of `T`, derived the first time it is asked for.
    ///
    /// # Errors
    ///
    /// As [`Form::of`], every time.
    pub(crate) fn known<T: JsonSchema + 'static>() -> Result<Arc<Self>, NotAForm> {
        let id = TypeId::of::<T>();
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = known.get(&id) {
            return Ok(Arc::clone(form));
        }
        drop(known);
        let form = Arc::new(Self::of::<T>()?);
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(id, Arc::clone(&form));
        Ok(form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_derived_once_for_each_type() {
        let (one, same) = (Form::known::<u8>().unwrap(), Form::known::<u8>().unwrap());
        assert!(Arc::ptr_eq(&one, &same));
        let other = Form::known::<bool>().unwrap();
        assert_ne!(one.schema("key"), other.schema("key"));
    }
}
