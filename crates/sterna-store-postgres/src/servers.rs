//! The servers that may hold the database, and the one that takes writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadpool_postgres::Connect;
use sterna_store::{BoxFuture, Error};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::Config;
use crate::replication::{Replication, ReplicationWatch};
use crate::tls::tls;

/// A connection that has to be polled.
pub(crate) type Line = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

/// The servers of a connection string, each with its own settings.
///
/// The client library tries one after the other, too, but waits for each as long
/// as it takes: a server that is stopped accepts a connection and says no more,
/// and the one that was promoted in its place is never reached.
#[derive(Clone)]
pub(crate) struct Servers {
    servers: Arc<[tokio_postgres::Config]>,
    /// The one that was reached last, which is tried first.
    last: Arc<AtomicUsize>,
    tls: MakeRustlsConnect,
    /// Longest wait for one of them.
    patience: Duration,
    watch: Arc<ReplicationWatch>,
}

impl Servers {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let servers: Arc<[_]> = each(&config.server).into();
        Ok(Self {
            tls: tls(config)?,
            last: Arc::default(),
            patience: patience(config),
            watch: Arc::new(ReplicationWatch::new(servers.len())),
            servers,
        })
    }

    /// The replication of the server that was reached last.
    pub(crate) fn replication(&self) -> Replication {
        self.watch.read()
    }

    /// Time in which each server has had its chance.
    pub(crate) fn longest_search(&self) -> Duration {
        let count = u32::try_from(self.servers.len()).unwrap_or(u32::MAX);
        self.patience.saturating_mul(count)
    }

    /// Connects to the first server that takes writes, if there are several.
    ///
    /// Never returns if all of them accept the connection and say no more: the
    /// caller has a limit.
    pub(crate) async fn connect(&self) -> Result<(Client, Line), tokio_postgres::Error> {
        self.first(|server| server.connect(self.tls.clone())).await
    }

    /// Makes `attempt` at one server after the other.
    async fn first<'a, T, F>(
        &'a self,
        attempt: impl Fn(&'a tokio_postgres::Config) -> F,
    ) -> Result<T, tokio_postgres::Error>
    where
        F: Future<Output = Result<T, tokio_postgres::Error>>,
    {
        let count = self.servers.len();
        loop {
            let first = self.last.load(Ordering::Relaxed);
            let mut refused = None;
            for index in (0..count).map(|offset| (first + offset) % count) {
                match timeout(self.patience, attempt(&self.servers[index])).await {
                    Ok(Ok(reached)) => {
                        self.last.store(index, Ordering::Relaxed);
                        return Ok(reached);
                    }
                    Ok(Err(error)) => refused = Some(error),
                    // Noted at once: if the caller gives up, its next try begins there.
                    Err(_) => self.last.store((index + 1) % count, Ordering::Relaxed),
                }
            }
            if let Some(error) = refused {
                return Err(error);
            }
        }
    }

    /// Connects, and asks the server for its replication.
    async fn open(
        &self,
        server: &tokio_postgres::Config,
    ) -> Result<(Client, JoinHandle<()>), tokio_postgres::Error> {
        let (client, line) = server.connect(self.tls.clone()).await?;
        #[expect(
            clippy::disallowed_methods,
            reason = "it ends with its client, and the pool keeps the handle"
        )]
        let line = tokio::spawn(async move {
            // The client gets the error, too.
            let _ = line.await;
        });
        self.watch.ask(&client).await?;
        Ok((client, line))
    }
}

impl Connect for Servers {
    fn connect(
        &self,
        _: &tokio_postgres::Config,
    ) -> BoxFuture<'_, Result<(Client, JoinHandle<()>), tokio_postgres::Error>> {
        Box::pin(self.first(|server| self.open(server)))
    }
}

/// The time that one server has to accept a connection.
fn patience(config: &Config) -> Duration {
    let own = config.server.get_connect_timeout().copied();
    own.unwrap_or(config.limit).min(config.limit)
}

/// The settings of each server that `all` names.
fn each(all: &tokio_postgres::Config) -> Vec<tokio_postgres::Config> {
    let count = all.get_hosts().len().max(all.get_hostaddrs().len());
    if count <= 1 {
        return vec![all.clone()];
    }
    (0..count).map(|index| one_of(all, index)).collect()
}

fn one_of(all: &tokio_postgres::Config, index: usize) -> tokio_postgres::Config {
    let mut one = tokio_postgres::Config::new();
    match all.get_hosts().get(index) {
        Some(Host::Tcp(name)) => {
            one.host(name);
        }
        #[cfg(unix)]
        Some(Host::Unix(path)) => {
            one.host_path(path);
        }
        None => {}
    }
    if let Some(address) = all.get_hostaddrs().get(index) {
        one.hostaddr(*address);
    }
    let ports = all.get_ports();
    if let Some(port) = ports.get(index).or_else(|| ports.first()) {
        one.port(*port);
    }
    if let Some(user) = all.get_user() {
        one.user(user);
    }
    if let Some(password) = all.get_password() {
        one.password(password);
    }
    if let Some(name) = all.get_dbname() {
        one.dbname(name);
    }
    if let Some(options) = all.get_options() {
        one.options(options);
    }
    if let Some(name) = all.get_application_name() {
        one.application_name(name);
    }
    if let Some(timeout) = all.get_connect_timeout() {
        one.connect_timeout(*timeout);
    }
    if let Some(timeout) = all.get_tcp_user_timeout() {
        one.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = all.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = all.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    one.keepalives(all.get_keepalives())
        .keepalives_idle(all.get_keepalives_idle())
        .ssl_mode(all.get_ssl_mode())
        .ssl_negotiation(all.get_ssl_negotiation())
        .channel_binding(all.get_channel_binding())
        // One of several servers that only reads is a standby.
        .target_session_attrs(match all.get_target_session_attrs() {
            TargetSessionAttrs::Any => TargetSessionAttrs::ReadWrite,
            chosen => chosen,
        });
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_own_port_and_the_settings_of_all() {
        let all =
            "postgres://sterna:hunter2@a:1,b:2,c:3/tasks?application_name=x&connect_timeout=7";
        let servers = each(&all.parse().unwrap());
        let names: Vec<_> = servers
            .iter()
            .map(|server| (server.get_hosts()[0].clone(), server.get_ports()[0]))
            .collect();
        let tcp = |name: &str| Host::Tcp(name.to_owned());
        assert_eq!(names, [(tcp("a"), 1), (tcp("b"), 2), (tcp("c"), 3)]);
        for server in servers {
            assert_eq!(server.get_password(), Some(&b"hunter2"[..]));
            assert_eq!(server.get_dbname(), Some("tasks"));
            assert_eq!(server.get_connect_timeout(), Some(&Duration::from_secs(7)));
            let wanted = server.get_target_session_attrs();
            assert_eq!(wanted, TargetSessionAttrs::ReadWrite);
        }
    }

    #[test]
    fn one_server_keeps_its_settings() {
        let one: tokio_postgres::Config = "host=a user=x".parse().unwrap();
        assert_eq!(each(&one), [one]);
    }

    #[test]
    fn one_port_is_that_of_all_servers() {
        let servers = each(&"host=a,b port=7 user=x".parse().unwrap());
        let ports: Vec<_> = servers.iter().map(|server| server.get_ports()[0]).collect();
        assert_eq!(ports, [7, 7]);
    }
}
