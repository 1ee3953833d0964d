//! One instance of the fleet: the real server on the simulated network.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sterna_seal::SharedKeyring;
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::http::{Clock, HttpConfig, HttpServer};
use sterna_server::{Mcp, Server, ServerConfig};
use sterna_store::Store;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service as _;
use turmoil::net::{TcpListener, TcpStream};

use crate::clock::WallClock;
use crate::exchange::PORT;
use crate::fault::Fault;
use crate::message::{TOOL, token};
use crate::tool::{Desk, first_build, second_build};
use crate::world::World;

/// What an instance keeps when it is started again: its machine.
#[derive(Clone)]
pub(crate) struct Instance {
    pub(crate) index: usize,
    pub(crate) world: World,
    pub(crate) fault: Fault,
    pub(crate) clock: WallClock,
    pub(crate) keys: Arc<SharedKeyring>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) remembers_rounds: bool,
    pub(crate) is_upgraded: Arc<AtomicBool>,
    pub(crate) users: Arc<Vec<String>>,
}

impl Instance {
    pub(crate) fn host(index: usize) -> String {
        format!("instance-{index}")
    }

    /// Serves until the simulation ends it.
    pub(crate) async fn run(self) -> turmoil::Result {
        let desk = Arc::new(Desk::new(self.world.clone(), self.fault));
        self.world.instance_started(self.index, &desk.presence);
        let http = self.build(desk)?;
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => {
                    let (stream, _) = accepted?;
                    connections.spawn(connection(stream, http.clone()));
                }
            }
        }
    }

    fn build(&self, desk: Arc<Desk>) -> Result<HttpServer<Mcp>, Box<dyn std::error::Error>> {
        let mut http = HttpConfig::default();
        http.metrics = true;
        let clock = self.clock.clone();
        http.clock = Clock::new(move || clock.now());
        let mut config = ServerConfig::default();
        config.audience = Some("fleet".to_owned());
        // A flow that meets both builds in turn is asked more often than it should be.
        config.flow.max_rounds = 40;
        let gate = match self.fault {
            Fault::BindingOff => Gate::open(),
            _ => Gate::guarded(StaticTokens::parse(&self.tokens())?),
        };
        let is_upgraded = self.is_upgraded.load(Ordering::Relaxed);
        let mut server = Server::new("shop", if is_upgraded { "2" } else { "1" })
            .shared_keys(Arc::clone(&self.keys))
            .store(Arc::clone(&self.store))
            .gate(gate)
            .http(http)
            .config(config)
            .state(desk);
        if !self.remembers_rounds {
            server = server.forget_rounds();
        }
        let server = if is_upgraded {
            server.tool(TOOL, "Takes an order", second_build)
        } else {
            server.tool(TOOL, "Takes an order", first_build)
        };
        Ok(server.build()?.into_tower()?)
    }

    fn tokens(&self) -> String {
        let lines = self.users.iter();
        lines
            .map(|user| format!("{} {user}\n", token(user)))
            .collect()
    }
}

async fn connection(stream: TcpStream, http: HttpServer<Mcp>) {
    let service = service_fn(move |request| {
        let mut http = http.clone();
        async move { http.call(request).await }
    });
    let mut http = http1::Builder::new();
    let serving = http
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // A peer that is cut off never says so. What becomes of it is the network's affair.
    let _ = timeout(PATIENCE, serving).await;
}

/// Longer than anybody waits for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
