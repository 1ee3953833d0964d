//! What is said while nobody waits for the answer.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::open::lock;

/// Words on their way to the server. They outlive the session, because whoever
/// drops a call often drops the client next, but not for long.
#[derive(Debug, Default)]
pub(super) struct Asides(Mutex<JoinSet<()>>);

impl Asides {
    /// Says something, unless too much is being said already.
    pub(super) fn say(&self, saying: impl Future<Output = ()> + Send + 'static) {
        // Without a runtime there is no connection left to say it on.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let bounded = async {
            tokio::time::timeout(LONGEST, saying).await.ok();
        };
        let mut asides = lock(&self.0);
        while asides.try_join_next().is_some() {}
        if asides.len() < MOST {
            asides.spawn_on(bounded, &runtime);
        }
    }
}

impl Drop for Asides {
    fn drop(&mut self) {
        let asides = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        asides.detach_all();
    }
}

/// How long one of them may take.
const LONGEST: Duration = Duration::from_secs(10);

/// How many may be on their way: a server that takes none in has to do without.
const MOST: usize = 64;
