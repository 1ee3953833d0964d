//! Patroni: its configuration, and what it says about its server.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

/// A server and the Patroni beside it.
pub(crate) struct Node {
    /// Where PostgreSQL listens.
    pub(crate) port: u16,
    /// Where Patroni says what its server is.
    pub(crate) health: u16,
}

impl Node {
    /// Asks Patroni whether its server has a role.
    pub(crate) fn has_role(&self, role: &str) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.health));
        let ask = || -> io::Result<bool> {
            let mut stream = TcpStream::connect_timeout(&address, ANSWER)?;
            stream.set_read_timeout(Some(ANSWER))?;
            write!(stream, "GET /{role} HTTP/1.0\r\n\r\n")?;
            let mut answer = Vec::new();
            // To its end: Patroni logs a connection that is closed before.
            stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
            Ok(answer.get(8..12) == Some(b" 200"))
        };
        // One that does not answer has no role.
        ask().unwrap_or(false)
    }

    /// The configuration of node `number` in `folder`, with the shortest times that
    /// Patroni takes.
    ///
    /// It speaks version 2 with etcd: through version 3, a Patroni 3.0.2 that had been
    /// stopped took its own change of the synchronous standby for that of another,
    /// every second, and made no standby synchronous again.
    pub(crate) fn configuration(
        &self,
        number: usize,
        etcd: u16,
        synchronous: bool,
        folder: &Path,
        programs: &Path,
    ) -> String {
        let Self { port, health } = self;
        let (folder, programs) = (folder.display(), programs.display());
        format!(
            "scope: sterna
name: node{number}
restapi: {{listen: '127.0.0.1:{health}', connect_address: '127.0.0.1:{health}'}}
etcd: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    maximum_lag_on_failover: 67108864
    primary_start_timeout: 0
    synchronous_mode: {synchronous}
    synchronous_mode_strict: {synchronous}
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 100, shared_buffers: 32MB, wal_log_hints: 'on', wal_keep_size: 256MB}}
  initdb: [encoding: UTF8, locale: C, auth: trust]
postgresql:
  listen: '127.0.0.1:{port}'
  connect_address: '127.0.0.1:{port}'
  data_dir: {folder}/data{number}
  bin_dir: {programs}
  pgpass: {folder}/pgpass{number}
  authentication:
    superuser: {{username: sterna}}
    replication: {{username: sterna}}
    rewind: {{username: sterna}}
  parameters: {{unix_socket_directories: {folder}}}
  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
"
        )
    }
}

/// Ports that were free a moment ago.
pub(crate) fn free_ports<const COUNT: usize>() -> io::Result<[u16; COUNT]> {
    let mut ports = [0; COUNT];
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

/// Waits for its input to end, then ends what runs in the folder `$1`, with the
/// programs in `$2`, and removes it. Patroni goes first, because it starts a server
/// that has ended.
pub(crate) const KEEP: &str = r#"
    read -r _
    cd "$1" || exit 1
    kill -s KILL $(cat node*.pid) 2>/dev/null
    for data in data*; do
        server=$(head -n 1 "$data/postmaster.pid" 2>/dev/null)
        [ -n "$server" ] && pkill -s CONT -P "$server" 2>/dev/null
        [ -n "$server" ] && kill -s CONT "$server" 2>/dev/null
        "$2"/pg_ctl -D "$data" -w -m immediate stop >/dev/null 2>&1
    done
    kill -s KILL $(cat etcd.pid) 2>/dev/null
    cd / && rm -rf "$1"
"#;

/// Longest wait for one answer of Patroni.
pub(crate) const ANSWER: Duration = Duration::from_secs(1);

/// Far more than Patroni says.
const LONGEST_ANSWER: u64 = 64 * 1024;
