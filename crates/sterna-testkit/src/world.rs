//! The state of a replica, and the world outside that all replicas share.

use std::sync::Arc;

use sterna_server::Server;

/// Gives a server something.
pub(crate) type Give = Arc<dyn Fn(Server) -> Server + Send + Sync>;

/// Makes the world of one run.
pub(crate) type MakeWorld = Arc<dyn Fn() -> World + Send + Sync>;

/// The parts of the outside world that one run can change, and the effects on
/// them.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) give: Give,
    pub(crate) effects: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
}

/// A maker of worlds from what an author says.
pub(crate) fn maker<W, M, E>(make: M, effects: E) -> MakeWorld
where
    W: Clone + Send + Sync + 'static,
    M: Fn() -> W + Send + Sync + 'static,
    E: Fn(&W) -> Vec<String> + Send + Sync + 'static,
{
    let effects = Arc::new(effects);
    Arc::new(move || {
        let (world, effects) = (make(), Arc::clone(&effects));
        let seen = world.clone();
        World {
            give: Arc::new(move |server| server.state(world.clone())),
            effects: Arc::new(move || effects(&seen)),
        }
    })
}
