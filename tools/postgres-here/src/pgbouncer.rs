use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::Child;
use std::{fmt, fs};

use crate::Postgres;
use crate::programs::Programs;

/// A PgBouncer in transaction mode in front of a server, until it is dropped.
pub struct PgBouncer {
    /// Stops the pooler and removes its folder when its input ends, which it does
    /// even when this process is killed.
    keeper: Child,
    port: u16,
}

impl PgBouncer {
    /// Starts a pooler with `connections` to `server`; `None` if this machine has
    /// no PgBouncer.
    ///
    /// # Errors
    ///
    /// It has one that does not start.
    pub fn start(server: &Postgres, connections: u32) -> io::Result<Option<Self>> {
        let (Some(program), Some(programs)) = (find(), Programs::find()) else {
            return Ok(None);
        };
        // Another process may take the port before the pooler does. Then it does
        // not start, which is reported.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let folder = tempfile::Builder::new()
            .prefix("sterna-pgbouncer")
            .tempdir()?
            .keep();
        fs::write(folder.join("users"), "\"sterna\" \"\"\n")?;
        let settings = format!(
            "[databases]\n\
             postgres = host={} user=sterna\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\n\
             listen_port = {port}\n\
             unix_socket_dir =\n\
             auth_type = trust\n\
             auth_file = {folder}/users\n\
             admin_users = sterna\n\
             pool_mode = transaction\n\
             default_pool_size = {connections}\n",
            server.folder().display(),
            folder = folder.display(),
        );
        fs::write(folder.join("settings"), settings)?;
        programs.give(&folder)?;
        let keeper = programs.keep("PgBouncer", KEEP, &folder, [program])?;
        Ok(Some(Self { keeper, port }))
    }

    /// How to reach `database` through it. `pgbouncer` is its own console.
    #[must_use]
    pub fn connection(&self, database: &str) -> String {
        let port = self.port;
        format!("host=127.0.0.1 port={port} user=sterna dbname={database} sslmode=disable")
    }
}

impl fmt::Debug for PgBouncer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgBouncer")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // Its input ends, and then its shell does.
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Packages put it where only root has it in the path.
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join("pgbouncer"))
        .find(|program| program.is_file())
}

/// Its shell reports its start once, and the log is shown if it does not start.
const KEEP: &str = r#"
"$2" "$1/settings" > "$1/log" 2>&1 < /dev/null &
pooler=$!
until grep -q "process up" "$1/log"; do
    kill -0 "$pooler" 2> /dev/null || { cat "$1/log" >&2; rm -rf "$1"; exit 1; }
    sleep 0.05
done
echo ready
read -r line
kill "$pooler"
wait "$pooler"
rm -rf "$1"
"#;
