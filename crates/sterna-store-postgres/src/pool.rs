//! Connections.

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use sterna_store::{Error, ErrorKind};

use crate::Config;
use crate::servers::Servers;

pub(crate) fn pool(config: &Config, servers: Servers) -> Result<Pool, Error> {
    // Only whether the line is up is looked at: anything else would be a round
    // trip, and a session setting that a pooler in between does not keep.
    let manager = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let create = config.limit.max(servers.longest_search());
    let manager = Manager::from_connect(config.server.clone(), servers, manager);
    Pool::builder(manager)
        .max_size(config.connections.max(1))
        .timeouts(Timeouts {
            wait: Some(config.wait),
            create: Some(create),
            recycle: Some(config.limit),
        })
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                "the pool of connections cannot be made",
            )
            .because(error)
        })
}
