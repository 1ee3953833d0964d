//! A pooler in transaction mode between the store and the database.
//!
//! It does what PgBouncer does: a client has a connection to the server only
//! from the beginning of a transaction to its end, and gets another one next
//! time. State that a client leaves in a session is found by the next client.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::{Buf, BytesMut};
use sterna_store_postgres::{Config, Hints};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::contract::keeps_the_contract;
use crate::server::{Server, connect};

#[tokio::test]
async fn a_pooler_in_transaction_mode_changes_nothing() {
    let Some(server) = Server::shared() else {
        return;
    };
    let Some(pooler) = Pooler::start(&server, 3).await else {
        return;
    };
    let mut config = Config::new(&pooler.connection).unwrap();
    config.schema = server.config().schema;
    config.connections = 6;
    config.hints = Hints::Off;
    keeps_the_contract(&server, config).await;
    assert!(pooler.transactions() > 1000, "{}", pooler.transactions());
}

#[tokio::test]
async fn the_pooler_of_this_test_does_break_what_depends_on_a_session() {
    let Some(server) = Server::shared() else {
        return;
    };
    let Some(pooler) = Pooler::start(&server, 2).await else {
        return;
    };
    let client = connect(&pooler.connection).await;
    client
        .batch_execute("SET application_name TO 'mine'")
        .await
        .unwrap();
    let mut names = Vec::new();
    for _ in 0..2 {
        let name = client
            .query_typed("SHOW application_name", &[])
            .await
            .unwrap();
        names.push(name[0].get::<_, String>(0));
    }
    assert_ne!(names[0], names[1]);
    let prepared = client.prepare("SELECT 1").await.unwrap();
    assert!(client.query(&prepared, &[]).await.is_err());
}

struct Pooler {
    connection: String,
    transactions: Arc<AtomicU32>,
    _tasks: JoinSet<()>,
}

impl Pooler {
    /// Starts with `size` connections to the server, if that is our own.
    async fn start(server: &Server, size: usize) -> Option<Self> {
        let Some(folder) = server.folder() else {
            eprintln!("skipped: the pooler needs a server of our own, unset STERNA_TEST_POSTGRES");
            return None;
        };
        let socket = folder.join(".s.PGSQL.5432");
        let (put, free) = mpsc::channel(size);
        for _ in 0..size {
            put.send(backend(&socket).await).await.unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let transactions = Arc::new(AtomicU32::new(0));
        let free = Arc::new(Mutex::new(free));
        let counted = Arc::clone(&transactions);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut clients = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                client.set_nodelay(true).unwrap();
                let (put, free) = (put.clone(), Arc::clone(&free));
                clients.spawn(serve(client, put, free, Arc::clone(&counted)));
            }
        });
        Some(Self {
            connection: format!(
                "host=127.0.0.1 port={port} user=sterna dbname=postgres sslmode=disable"
            ),
            transactions,
            _tasks: tasks,
        })
    }

    fn transactions(&self) -> u32 {
        self.transactions.load(Ordering::Relaxed)
    }
}

/// A connection to the server that has said who it is.
async fn backend(socket: &PathBuf) -> Frames<UnixStream> {
    let mut stream = UnixStream::connect(socket).await.unwrap();
    let who = b"user\0sterna\0database\0postgres\0\0";
    let length = u32::try_from(8 + who.len()).unwrap();
    stream.write_u32(length).await.unwrap();
    stream.write_u32(196_608).await.unwrap();
    stream.write_all(who).await.unwrap();
    let mut frames = Frames::new(stream);
    while frames.next().await.unwrap()[0] != b'Z' {}
    frames
}

async fn serve(
    mut client: TcpStream,
    put: mpsc::Sender<Frames<UnixStream>>,
    free: Arc<Mutex<mpsc::Receiver<Frames<UnixStream>>>>,
    transactions: Arc<AtomicU32>,
) {
    let length = client.read_u32().await.unwrap();
    let mut hello = vec![0; usize::try_from(length).unwrap() - 4];
    client.read_exact(&mut hello).await.unwrap();
    // Authenticated, and ready.
    client
        .write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I")
        .await
        .unwrap();
    let mut client = Frames::new(client);
    while let Some(first) = client.next().await {
        if first[0] == b'X' {
            return;
        }
        let mut server = free.lock().await.recv().await.unwrap();
        transactions.fetch_add(1, Ordering::Relaxed);
        let alive = transaction(&mut client, &mut server, first).await;
        put.send(server).await.unwrap();
        if !alive {
            return;
        }
    }
}

/// Passes everything on until no transaction is open and no answer is due.
async fn transaction(
    client: &mut Frames<TcpStream>,
    server: &mut Frames<UnixStream>,
    first: BytesMut,
) -> bool {
    let mut due = expects_ready(&first);
    server.send(&first).await;
    loop {
        tokio::select! {
            message = client.next() => {
                let Some(message) = message.filter(|message| message[0] != b'X') else {
                    return false;
                };
                due += expects_ready(&message);
                server.send(&message).await;
            }
            message = server.next() => {
                let message = message.expect("the server stays");
                client.send(&message).await;
                if message[0] == b'Z' {
                    due -= 1;
                    if due == 0 && message[5] == b'I' {
                        return true;
                    }
                }
            }
        }
    }
}

/// Number of times that the server says it is ready after `message`.
fn expects_ready(message: &[u8]) -> u32 {
    u32::from(matches!(message[0], b'Q' | b'S'))
}

/// Whole messages from a stream. A call of [`next`](Self::next) that is dropped
/// loses nothing.
struct Frames<S> {
    stream: S,
    buffer: BytesMut,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Frames<S> {
    fn new(stream: S) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
        }
    }

    async fn next(&mut self) -> Option<BytesMut> {
        loop {
            if let Some(mut length) = self.buffer.get(1..5) {
                let length = 1 + usize::try_from(length.get_u32()).unwrap();
                if self.buffer.len() >= length {
                    return Some(self.buffer.split_to(length));
                }
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    async fn send(&mut self, message: &[u8]) {
        // A peer that is gone is noticed when it is read from.
        let _ = self.stream.write_all(message).await;
    }
}
