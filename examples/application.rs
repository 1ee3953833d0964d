//! The parts that the HTTP examples share: their command line, their store and
//! the callers that they know.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use axum::Router;
use clap::Parser;
use http::request::Parts;
use sterna_axum::{Operations, Resume};
use sterna_seal::{BlobId, Principal, SharedKeyring};
use sterna_store::{ErrorKind, MemoryStore, Rings, Shard, Shards, Store};
use sterna_store_postgres::PostgresStore;
use sterna_store_sqlite::SqliteStore;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::say;

/// Command line of an HTTP example.
#[derive(Debug, Parser)]
#[non_exhaustive]
pub struct Application {
    /// Address to listen on; port 0 takes any that is free.
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    /// Keys that all instances share, as `sterna keys new` makes them.
    #[arg(long)]
    pub key_file: PathBuf,
    /// Store that all instances share: `postgres://…`, the path of a SQLite
    /// file, or `memory`. Several behave as one.
    #[arg(long, required = true)]
    pub store: Vec<String>,
    /// Numbers of stores before and since more of them were added, such as `2,4`.
    #[arg(long)]
    pub rings: Option<Rings>,
}

impl Application {
    /// Returns the settings of its pausing routes. Callers are those of
    /// `Authorization: Bearer NAME`: an example has no passwords.
    ///
    /// # Errors
    ///
    /// The keys or the store cannot be opened.
    pub async fn resume(&self, name: &str) -> anyhow::Result<Resume> {
        #[expect(clippy::disallowed_methods, reason = "a program reads the clock")]
        let now = SystemTime::now().into();
        let keys = SharedKeyring::from_file(&self.key_file, now)
            .with_context(|| format!("no keys in {}", self.key_file.display()))?;
        let store = self.open().await?;
        Ok(Resume::new(Arc::new(keys), name)
            .store(store)
            .caller(bearer))
    }

    /// Opens the store, or several as one.
    async fn open(&self) -> anyhow::Result<Arc<dyn Store>> {
        let mut shards = Vec::new();
        for (number, url) in self.store.iter().enumerate() {
            let failed = || format!("store number {} cannot be opened", number + 1);
            let store = open(url).await.with_context(failed)?;
            // Not its URL, which may hold a password.
            shards.push(Shard::new(format!("store-{}", number + 1), store));
        }
        if let ([shard], None) = (shards.as_slice(), &self.rings) {
            return Ok(Arc::clone(&shard.store));
        }
        let rings = match &self.rings {
            Some(rings) => rings.clone(),
            None => Rings::new(&[shards.len()])?,
        };
        Ok(Arc::new(Shards::open(shards, rings).await?))
    }

    /// Serves `app` until the process ends.
    ///
    /// # Errors
    ///
    /// The address cannot be listened on.
    pub async fn serve(&self, app: Router) -> anyhow::Result<()> {
        let listener = TcpListener::bind(self.listen).await?;
        say(format_args!(
            "listening on http://{}",
            listener.local_addr()?
        ))?;
        Ok(axum::serve(listener, app).await?)
    }

    /// Serves `app` and works on `operations` until the process is told to end;
    /// then requests are finished and operations handed over.
    ///
    /// # Errors
    ///
    /// The address cannot be listened on.
    pub async fn serve_and_work(&self, app: Router, operations: &Operations) -> anyhow::Result<()> {
        let listener = TcpListener::bind(self.listen).await?;
        let address = listener.local_addr()?;
        say(format_args!("listening on http://{address}"))?;
        let (mut serving, mut working) = (Termination::new()?, Termination::new()?);
        let serving = async move { serving.told().await };
        let serving = axum::serve(listener, app).with_graceful_shutdown(serving);
        let working = operations.work(working.told());
        let (served, ()) = tokio::join!(serving, working);
        Ok(served?)
    }
}

/// Signals that end a process.
struct Termination {
    interrupt: Signal,
    terminate: Signal,
}

impl Termination {
    fn new() -> std::io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn told(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

async fn open(url: &str) -> anyhow::Result<Arc<dyn Store>> {
    if url == "memory" {
        return Ok(Arc::new(MemoryStore::new()));
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") || url.contains("host=") {
        let config = sterna_store_postgres::Config::new(url)?;
        return Ok(Arc::new(PostgresStore::connect(config).await?));
    }
    let path = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = path.strip_prefix("//").unwrap_or(path);
    let config = sterna_store_sqlite::Config::default();
    Ok(Arc::new(SqliteStore::open(path, config)?))
}

/// Returns the caller of `Authorization: Bearer NAME`.
#[must_use]
pub fn bearer(parts: &Parts) -> Option<Principal> {
    let header = parts.headers.get("authorization")?.to_str().ok()?;
    let name = header.strip_prefix("Bearer ")?.trim();
    (!name.is_empty()).then(|| Principal::named("examples", name))
}

/// Numbered notes that all instances see: what an application would have in its
/// own database.
#[derive(Clone)]
pub struct Notebook(Arc<dyn Store>);

impl Notebook {
    /// Notes in `store`.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Adds a note about `subject`. The same `id` again adds nothing.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn add(&self, subject: &str, id: &str) -> anyhow::Result<()> {
        for number in 0.. {
            let name = name(subject, number);
            match self.0.put_blob(name, id.to_owned().into(), A_DAY).await {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::Conflict => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns the ids of the notes about `subject`, in their order.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn all(&self, subject: &str) -> anyhow::Result<Vec<String>> {
        let mut notes = Vec::new();
        while let Some(note) = self.0.blob(name(subject, notes.len() as u64)).await? {
            notes.push(String::from_utf8_lossy(&note).into_owned());
        }
        Ok(notes)
    }

    /// Counts the notes about `subject`.
    ///
    /// # Errors
    ///
    /// The store failed.
    pub async fn count(&self, subject: &str) -> anyhow::Result<u64> {
        let mut count = 0;
        while self.0.blob(name(subject, count)).await?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

impl std::fmt::Debug for Notebook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notebook(..)")
    }
}

fn name(subject: &str, number: u64) -> BlobId {
    let text = format!("note {number} about {subject}");
    let hash = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let mut name = [0; 16];
    name.copy_from_slice(&hash.as_ref()[..16]);
    BlobId::from_bytes(name)
}

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);
