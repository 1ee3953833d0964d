//! A PostgreSQL server of our own, for as long as a test needs it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sterna_store_postgres::{Config, PostgresStore, Schema};
use tokio_postgres::NoTls;

/// A server that tests may share. It is stopped and removed with the last of
/// them, however that ends.
pub(crate) struct Server {
    connection: String,
    own: Option<Own>,
    schemas: AtomicU32,
}

struct Own {
    /// Stops the server and removes its folder when its input ends, which it
    /// does even when this process is killed.
    keeper: Child,
    folder: PathBuf,
    tools: Tools,
}

impl Server {
    /// The server that `STERNA_TEST_POSTGRES` names, or one that is started
    /// here. Nothing if there is none to start, which is an error under `CI`.
    pub(crate) fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(match std::env::var_os("STERNA_TEST_POSTGRES") {
            Some(connection) => Self {
                connection: connection.into_string().unwrap(),
                own: None,
                schemas: AtomicU32::new(0),
            },
            None => Self::start()?,
        });
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    /// A server that no other test uses, so that it can be stopped. It would
    /// not survive a power cut, which no test has.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("fsync = off")
    }

    /// A server with one more line in its configuration.
    pub(crate) fn start_with(setting: &str) -> Option<Self> {
        let Some(tools) = Tools::find() else {
            let what = "PostgreSQL, install it or set STERNA_TEST_POSTGRES";
            assert!(std::env::var_os("CI").is_none(), "missing: {what}");
            eprintln!("skipped: {what}");
            return None;
        };
        let folder = tempfile::Builder::new()
            .prefix("sterna-pg")
            .tempdir()
            .unwrap()
            .keep();
        let mut keeper = tools.keep(&folder, setting);
        let mut line = String::new();
        let mut said = BufReader::new(keeper.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "PostgreSQL did not start");
        Some(Self {
            connection: format!("host={} user=sterna dbname=postgres", folder.display()),
            own: Some(Own {
                keeper,
                folder,
                tools,
            }),
            schemas: AtomicU32::new(0),
        })
    }

    /// Settings for a schema that nobody has used.
    ///
    /// Its connections bear the name of the schema, so that a test can find
    /// them.
    pub(crate) fn config(&self) -> Config {
        let number = self.schemas.fetch_add(1, Ordering::Relaxed);
        let name = format!("t{}_{number}", std::process::id());
        let connection = self.connection_with("application_name", &name);
        let mut config = Config::new(&connection).unwrap();
        config.schema = Schema::new(&name).unwrap();
        config.connections = 4;
        config
    }

    /// The connection string with one more option.
    pub(crate) fn connection_with(&self, key: &str, value: &str) -> String {
        let connection = &self.connection;
        match (connection.contains("://"), connection.contains('?')) {
            (true, true) => format!("{connection}&{key}={value}"),
            (true, false) => format!("{connection}?{key}={value}"),
            (false, _) => format!("{connection} {key}={value}"),
        }
    }

    /// The folder of the socket.
    pub(crate) fn folder(&self) -> Option<&PathBuf> {
        self.own.as_ref().map(|own| &own.folder)
    }

    /// A connection for what a store would not do.
    pub(crate) async fn client(&self) -> tokio_postgres::Client {
        connect(&self.connection).await
    }

    /// Runs `pg_ctl`, which waits until the server has done it.
    pub(crate) fn control(&self, args: &[&str]) {
        let own = self
            .own
            .as_ref()
            .expect("only our own server is controlled");
        let done = own
            .tools
            .command("pg_ctl")
            .arg("-D")
            .arg(own.folder.join("data"))
            .args(args)
            .arg("-w")
            .stdout(Stdio::null())
            .status();
        assert!(done.unwrap().success(), "pg_ctl {args:?}");
    }

    /// Removes what a test made on a server that stays.
    pub(crate) async fn drop_schema(&self, schema: &Schema) {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", schema.as_str());
        self.client().await.batch_execute(&sql).await.unwrap();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        // What it says after that helps nobody.
        let _ = self.keeper.wait();
    }
}

pub(crate) async fn connect(connection: &str) -> tokio_postgres::Client {
    let (client, line) = tokio_postgres::connect(connection, NoTls).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "ends with its client")]
    tokio::spawn(line);
    client
}

pub(crate) async fn store(config: &Config) -> PostgresStore {
    PostgresStore::connect(config.clone()).await.unwrap()
}

/// Where PostgreSQL's programs are, and who may run them.
struct Tools {
    folder: PathBuf,
    /// The user to become: PostgreSQL refuses to run as root.
    user: Option<&'static str>,
}

impl Tools {
    fn find() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut packaged = Vec::new();
        if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
            packaged.extend(versions.filter_map(|version| Some(version.ok()?.path().join("bin"))));
            packaged.sort();
        }
        let complete = |folder: &PathBuf| {
            let tools = ["initdb", "pg_ctl", "postgres"];
            tools.iter().all(|tool| folder.join(tool).is_file())
        };
        let folder = std::env::split_paths(&path)
            .chain(packaged.into_iter().rev())
            .find(complete)?;
        let uid = Command::new("id").arg("-u").output().ok()?.stdout;
        let user = match uid.trim_ascii() {
            b"0" => Some(["postgres", "nobody"].into_iter().find(|user| {
                let known = Command::new("id").arg(user).output();
                known.is_ok_and(|known| known.status.success())
            })?),
            _ => None,
        };
        Some(Self { folder, user })
    }

    /// `program`, run by a user that PostgreSQL accepts.
    fn command(&self, program: &str) -> Command {
        let program: OsString = self.folder.join(program).into();
        self.as_user(program)
    }

    fn as_user(&self, program: OsString) -> Command {
        match self.user {
            None => Command::new(program),
            Some(user) => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid", user, "--regid", user]);
                command.arg("--clear-groups").arg(program);
                command
            }
        }
    }

    /// Makes a server in `folder` and starts what keeps it.
    fn keep(&self, folder: &PathBuf, setting: &str) -> Child {
        if let Some(user) = self.user {
            let owned = Command::new("chown").arg(user).arg(folder).status();
            assert!(owned.unwrap().success());
        }
        let script = r#"
            cd "$1" || exit 1
            "$2"/initdb -D "$1/data" -U sterna -A trust -E UTF8 --locale=C --no-sync >init.log 2>&1 &&
            echo "$3
                  listen_addresses = ''
                  unix_socket_directories = '$1'
                  max_connections = 60
                  shared_buffers = 32MB" >>data/postgresql.conf &&
            "$2"/pg_ctl -D "$1/data" -w -l "$1/server.log" start >/dev/null &&
            echo ready
            read -r _
            "$2"/pg_ctl -D "$1/data" -w -m immediate stop >/dev/null 2>&1
            cd / && rm -rf "$1"
        "#;
        self.as_user("sh".into())
            .args(["-c", script, "sh"])
            .arg(folder)
            .arg(&self.folder)
            .arg(setting)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }
}
