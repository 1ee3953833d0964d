//! A value that an endpoint keeps with a connection.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Place for one value of the endpoint, for as long as its connection lasts.
///
/// No two connections share one. The requests of a connection do, those of
/// HTTP/2 at the same time, and behind a proxy they may come from different
/// callers: what is kept must not pass from one caller to another.
#[derive(Clone, Default)]
pub struct ConnectionStore(Option<Arc<Slot>>);

type Slot = OnceLock<Box<dyn Any + Send + Sync>>;

impl ConnectionStore {
    /// The store of a new connection.
    pub(super) fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// The value of the connection, made by its first request.
    ///
    /// `None` if the request came without a connection that the server knows,
    /// or if the connection keeps a value of another type.
    pub fn get_or_default<T: Any + Default + Send + Sync>(&self) -> Option<&T> {
        let slot = self.0.as_ref()?;
        let value = slot.get_or_init(|| Box::<T>::default());
        (**value).downcast_ref()
    }
}

impl fmt::Debug for ConnectionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_filled = self.0.as_ref().is_some_and(|slot| slot.get().is_some());
        f.debug_struct("ConnectionStore")
            .field("is_filled", &is_filled)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn a_value_stays_with_its_connection() {
        let (one, other) = (ConnectionStore::new(), ConnectionStore::new());
        let count = |store: &ConnectionStore| {
            let count = store.get_or_default::<AtomicU32>().unwrap();
            count.fetch_add(1, Ordering::Relaxed)
        };
        assert_eq!((count(&one), count(&one.clone()), count(&other)), (0, 1, 0));
        assert!(one.get_or_default::<String>().is_none());
        assert!(
            ConnectionStore::default()
                .get_or_default::<String>()
                .is_none()
        );
    }
}
