//! A recorder between a client and a server: what a failed case shows.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

/// Forwards every connection to one server and keeps what was said.
pub(super) struct Tap {
    url: String,
    said: Arc<Mutex<Vec<Piece>>>,
}

struct Piece {
    from: &'static str,
    connection: usize,
    bytes: Vec<u8>,
}

impl Tap {
    /// Listens on a free port in front of the server at `url`.
    pub(super) fn before(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("http://").context("not an http URL")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let server: SocketAddr = authority.parse()?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/{path}", listener.local_addr()?);
        let said = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&said);
        // The thread ends with the process; nothing waits for it.
        thread::spawn(move || {
            for (connection, client) in listener.incoming().flatten().enumerate() {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                forward(connection, "client", &client, &server, &record);
                forward(connection, "server", &server, &client, &record);
            }
        });
        Ok(Self { url, said })
    }

    /// Where the client shall connect.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What was said since the last time, as text.
    pub(super) fn take(&self) -> String {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let mut transcript = String::new();
        for piece in said.drain(..) {
            let text = String::from_utf8_lossy(&piece.bytes);
            transcript.push_str(&format!("-- {} {} --\n", piece.from, piece.connection));
            transcript.push_str(text.trim_end());
            transcript.push('\n');
        }
        transcript
    }
}

fn forward(
    connection: usize,
    from: &'static str,
    source: &TcpStream,
    target: &TcpStream,
    record: &Arc<Mutex<Vec<Piece>>>,
) {
    let (Ok(mut source), Ok(mut target)) = (source.try_clone(), target.try_clone()) else {
        return;
    };
    let record = Arc::clone(record);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = source.read(&mut buffer) {
            let bytes = buffer[..length].to_vec();
            record
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Piece {
                    from,
                    connection,
                    bytes,
                });
            if target.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        target.shutdown(Shutdown::Write).ok();
    });
}
