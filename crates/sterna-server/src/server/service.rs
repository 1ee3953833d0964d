//! A server that has been built.

use std::convert::Infallible;
use std::fmt;
use std::io::{self, IsTerminal as _};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use sterna_http::auth::Gate;
use sterna_http::{
    ConfigError, DrainReport, HttpConfig, HttpServer, Probes, Shutdown, bind, interrupted,
    passed_listener,
};
use sterna_runner::tasks::WorkDone;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::{ShowMistakes, StartError, log};
use crate::changes::Changes;
use crate::current::CurrentCore;
use crate::http::Mcp;
use crate::stdio;
use crate::workers;

/// A server that has been built and checked. Cheap to clone.
#[derive(Clone)]
pub struct Service {
    current: CurrentCore,
    changes: Changes,
    http: HttpServer<Mcp>,
    manner: Manner,
}

/// Settings of the author for the start of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) has_keys: bool,
    pub(super) has_gate: bool,
    pub(super) announces: bool,
    pub(super) logs_to_stderr: bool,
    pub(super) show_mistakes: ShowMistakes,
}

impl Service {
    pub(super) fn new(
        current: CurrentCore,
        gate: Gate,
        probes: Probes,
        config: HttpConfig,
        manner: Manner,
    ) -> Result<Self, ConfigError> {
        let changes = current.core().environment.changes.clone();
        let http = HttpServer::new(Mcp(current.clone()), gate, probes, config)?;
        Ok(Self {
            current,
            changes,
            http,
            manner,
        })
    }

    /// Changes what the server offers, and tells subscribers.
    #[must_use]
    pub fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The signal that ends the server.
    #[must_use]
    pub fn shutdown(&self) -> &Shutdown {
        self.http.shutdown()
    }

    /// Serves at `address` until the process is interrupted, then drains.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    pub async fn serve(self, address: impl ToSocketAddrs) -> Result<(), StartError> {
        let listener = bind(address).map_err(StartError::Address)?;
        self.serve_on(listener, interrupted()).await.map(drop)
    }

    /// Serves on the socket that a service manager has passed to this process
    /// (`LISTEN_FDS`, as systemd's socket activation does), or at `address` if
    /// there is none, until the process is interrupted, then drains.
    ///
    /// With [`Timeouts::exit_when_idle`](crate::http::Timeouts::exit_when_idle)
    /// the process ends when it has nothing to do, and the manager starts another
    /// for the next request: the socket stays open meanwhile, so that none is
    /// refused.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), sterna_server::StartError> {
    /// use std::time::Duration;
    /// use sterna_server::Server;
    /// use sterna_server::http::HttpConfig;
    ///
    /// let mut http = HttpConfig::default();
    /// http.timeouts.exit_when_idle = Some(Duration::from_secs(300));
    /// let server = Server::new("deployer", "1.0.0").key_file("keys.toml").http(http);
    /// server.build()?.serve_activated("127.0.0.1:8080").await
    /// # }
    /// ```
    pub async fn serve_activated(self, address: impl ToSocketAddrs) -> Result<(), StartError> {
        match passed_listener().map_err(StartError::Address)? {
            Some(listener) => self.serve_on(listener, interrupted()).await.map(drop),
            None => self.serve(address).await,
        }
    }

    /// Serves on a listener that is already there until `until` is done.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what to do about it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future cuts every connection. Let `until` end instead.
    pub async fn serve_on(
        self,
        listener: TcpListener,
        until: impl Future<Output = ()> + Send,
    ) -> Result<DrainReport, StartError> {
        let address = listener.local_addr().map_err(StartError::Address)?;
        self.check(address)?;
        self.begin(address.ip().is_loopback());
        if self.manner.announces {
            let path = self.http.config().path.as_deref().unwrap_or("/");
            let name = &self.current.core().info.name;
            log::write(&format!("{name} listens on http://{address}{path}"));
        }
        let shutdown = self.shutdown().clone();
        let following = self.follow_keys();
        let working = workers::work(self.current, shutdown.clone());
        let serving = async {
            let served = tokio::select! {
                served = self.http.serve_on(listener, until) => served,
                never = following => match never {},
            };
            // Also if it never listened, so that the workers stop.
            shutdown.begin();
            served
        };
        let (served, ()) = tokio::join!(serving, working);
        Ok(served?)
    }

    /// Works on tasks until the [`shutdown`](Self::shutdown) begins, then hands
    /// over what is not finished. For a server that is mounted elsewhere:
    /// [`serve`](Self::serve) does it by itself.
    ///
    /// Returns at once if the server has no store.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops what runs; another worker goes on when the
    /// leases end.
    pub async fn work(&self) {
        workers::work(self.current.clone(), self.shutdown().clone()).await;
    }

    /// Works on tasks for `slice`, for a process that cannot work on them for
    /// longer: a function that is called by a schedule.
    ///
    /// Claims tasks, runs them and, at the end of the slice, hands over what is
    /// not finished, so that the next slice goes on at once where their last step
    /// ended. Returns early when there is nothing to do, and at most two seconds
    /// late. A step that takes longer than a slice does not come to an end: it is
    /// begun again by the next one. Tasks get the last fifth of the slice, or
    /// [`TaskConfig::drain`](crate::TaskConfig::drain) if that is less, to end the
    /// step they are in.
    ///
    /// Does nothing if the server has no store.
    ///
    /// # Cancel safety
    ///
    /// As [`work`](Self::work).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use sterna_server::{MemoryStore, Server};
    ///
    /// let store = Arc::new(MemoryStore::new());
    /// let service = Server::new("jobs", "1.0.0").store(store).build()?;
    /// let done = service.work_for(Duration::from_secs(20)).await;
    /// assert!(done.is_nothing());
    /// # Ok(()) }
    /// ```
    pub async fn work_for(&self, slice: Duration) -> WorkDone {
        let shutdown = self.shutdown().clone();
        workers::work_for(self.current.clone(), shutdown, slice).await
    }

    /// Serves one client on standard input and output until its end or until
    /// the process is interrupted, then drains. Nothing else may write to
    /// standard output.
    ///
    /// # Errors
    ///
    /// [`StartError::Lines`]: the streams broke.
    pub async fn stdio(self) -> Result<(), StartError> {
        if self.manner.announces && io::stdin().is_terminal() {
            let name = &self.current.core().info.name;
            log::write(&format!(
                "{name} speaks MCP on standard input and output: it is to be started by a client"
            ));
        }
        let shutdown = self.shutdown().clone();
        let serving = self.lines(stdio::Input::standard(), stdio::write_standard);
        tokio::pin!(serving);
        tokio::select! {
            served = &mut serving => return served,
            () = interrupted() => shutdown.begin(),
        }
        serving.await
    }

    /// Serves one client on any pair of byte streams, as [`stdio`](Self::stdio)
    /// does. The end of `reader`, and that of any connection made so, is the
    /// end of the server.
    ///
    /// # Errors
    ///
    /// [`StartError::Lines`]: the streams broke.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops every call.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use sterna_server::Server;
    ///
    /// let input = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    ///     "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    /// let input = String::from_utf8(input.to_vec())?.replace('\n', "");
    /// let mut output = Vec::new();
    /// let service = Server::new("echo", "1.0.0").build()?;
    /// service.serve_lines(input.as_bytes(), &mut output).await?;
    /// assert!(output.ends_with(b"\n"));
    /// # Ok(()) }
    /// ```
    pub async fn serve_lines<R, W>(self, reader: R, writer: W) -> Result<(), StartError>
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        self.lines(reader, |lines| stdio::write(lines, writer))
            .await
    }

    async fn lines<R, W>(
        self,
        reader: R,
        write: impl FnOnce(mpsc::Receiver<Bytes>) -> W,
    ) -> Result<(), StartError>
    where
        R: AsyncRead + Unpin + Send,
        W: Future<Output = io::Result<()>>,
    {
        self.begin(true);
        let shutdown = self.shutdown().clone();
        let config = self.http.config();
        let working = workers::work(self.current.clone(), shutdown.clone());
        let serving = async {
            let current = self.current.clone();
            let served = tokio::select! {
                served = stdio::serve(current, config, shutdown.clone(), reader, write) => served,
                never = self.follow_keys() => match never {},
            };
            shutdown.begin();
            served
        };
        let (served, ()) = tokio::join!(serving, working);
        served.map_err(StartError::Lines)
    }

    /// The server as a tower service, for a router or for layers around it.
    ///
    /// # Errors
    ///
    /// The address that such a service is served at is unknown here, so it must
    /// have what a server off loopback needs. [`StartError::NoKeys`]: it has no
    /// keys that other instances can have too. [`StartError::NoGate`]: it does
    /// not say who its callers are.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_seal::{Keyring, ThreadEntropy};
    /// use sterna_server::Server;
    /// use sterna_server::auth::Principal;
    ///
    /// /// What a layer of the application puts into each request.
    /// #[derive(Clone)]
    /// struct User {
    ///     id: String,
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let service = Server::new("shop", "1.0.0")
    ///     .keys(Keyring::generate(&mut ThreadEntropy)?)
    ///     .callers_from_extension(|user: &User| Principal::named("shop", &user.id))
    ///     .build()?
    ///     .into_tower()?;
    /// # let _ = service;
    /// # Ok(()) }
    /// ```
    pub fn into_tower(self) -> Result<HttpServer<Mcp>, StartError> {
        if !self.manner.has_keys {
            return Err(StartError::NoKeys { address: None });
        }
        if !self.manner.has_gate {
            return Err(StartError::NoGate { address: None });
        }
        self.begin(false);
        Ok(self.http)
    }

    /// Reads the keys again by a timer, also while no request comes: what is
    /// wrong with them is then said early.
    fn follow_keys(&self) -> impl Future<Output = Infallible> + use<> {
        let core = self.current.core();
        let clock = core.clock.clone();
        Arc::clone(&core.key_reloader).follow(move || clock.now().into())
    }

    /// Opens the log, and lets clients see the author's mistakes where they are
    /// meant to. A client that is `near` is on this machine.
    fn begin(&self, near: bool) {
        if self.manner.logs_to_stderr {
            log::to_stderr();
        }
        if self.manner.show_mistakes == ShowMistakes::InDevelopment && cfg!(debug_assertions) {
            let core = self.current.core();
            match near {
                true => core.mistakes.is_near(),
                false => core.mistakes.is_far(),
            }
        }
    }

    /// Checks that the settings which the author left open are safe at `address`.
    fn check(&self, address: SocketAddr) -> Result<(), StartError> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        let address = Some(address);
        if !self.manner.has_keys {
            return Err(StartError::NoKeys { address });
        }
        // HTTP-S4
        if !self.manner.has_gate {
            return Err(StartError::NoGate { address });
        }
        Ok(())
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.current.core().fmt(f)
    }
}
