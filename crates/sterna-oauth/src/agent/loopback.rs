//! Programs on the user's machine: the system's browser and a local listener.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::time::Duration;
use std::{fmt, io};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use super::{BoxError, BoxFuture, UserAgent};

/// Opens the system's browser and listens on 127.0.0.1 for its return.
///
/// Opening a browser differs between systems, so the application supplies it: a
/// call of a crate, or a line printed for the user to click. The server chooses
/// the URL: pass it as one argument, never through a shell.
///
/// The listener is bound when it is first needed and then kept, so that a
/// redirect URI stays ours as long as a server may redirect to it. It
/// answers requests that do not carry the `state` of the current authorization
/// with an error and goes on listening.
pub struct Loopback {
    open: Box<Open>,
    port: u16,
    listener: Mutex<Option<TcpListener>>,
}

type Open = dyn Fn(&str) -> io::Result<()> + Send + Sync;

impl Loopback {
    /// Listens on a port that the system chooses.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_oauth::Loopback;
    ///
    /// let agent = Loopback::new(|url| {
    ///     println!("Sign in at {url}");
    ///     Ok(())
    /// });
    /// ```
    pub fn new(open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::on_port(0, open)
    }

    /// Listens on a port that was registered beforehand, for authorization
    /// servers that insist on the exact redirect URI.
    pub fn on_port(
        port: u16,
        open: impl Fn(&str) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            open: Box::new(open),
            port,
            listener: Mutex::new(None),
        }
    }

    async fn bind(&self) -> io::Result<String> {
        let mut slot = self.listener.lock().await;
        let listener = match slot.take() {
            Some(listener) => listener,
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).await?,
        };
        let address = slot.insert(listener).local_addr()?;
        Ok(format!("http://{address}{PATH}"))
    }

    async fn wait(&self, authorization_url: &str) -> io::Result<String> {
        let state = state_of(authorization_url).unwrap_or_default();
        let slot = self.listener.lock().await;
        let listener = slot.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let origin = format!("http://{}", listener.local_addr()?);
        (self.open)(authorization_url)?;
        // Browsers open connections in advance and may leave them silent, so
        // several are served at a time.
        let mut visitors = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if visitors.len() < MAX_VISITORS => {
                    let (stream, _) = accepted?;
                    visitors.spawn(timeout(PATIENCE, serve(stream, state.clone())));
                }
                Some(visit) = visitors.join_next() => {
                    if let Ok(Ok(Some(target))) = visit {
                        return Ok(format!("{origin}{target}"));
                    }
                }
            }
        }
    }
}

impl UserAgent for Loopback {
    fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>> {
        Box::pin(async { Ok(self.bind().await?) })
    }

    fn visit<'a>(&'a self, authorization_url: &'a str) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(async move { Ok(self.wait(authorization_url).await?) })
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loopback")
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Answers one request; returns its target if it is the one we wait for.
async fn serve(mut stream: TcpStream, state: String) -> Option<String> {
    let target = read_target(&mut stream).await.ok()?;
    let url = Url::parse("http://127.0.0.1").and_then(|base| base.join(&target));
    let url = url.ok().filter(|url| url.path() == PATH);
    let (status, text, found) = match url {
        None => ("404 Not Found", "There is nothing here.", None),
        Some(url) if state_of(url.as_str()) != Some(state) => (
            "400 Bad Request",
            "This sign-in is not the one that was started.",
            None,
        ),
        Some(_) => (
            "200 OK",
            "You can close this window and go back.",
            Some(target),
        ),
    };
    let page = format!("<!doctype html><meta charset=utf-8><title>Sign-in</title><p>{text}");
    let length = page.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Content-Security-Policy: default-src 'none'\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{page}"
    );
    // The code is ours even if the browser does not wait for the page.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
    found
}

fn state_of(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let state = url.query_pairs().find(|(name, _)| name == "state");
    state.map(|(_, value)| Cow::into_owned(value))
}

const PATH: &str = "/callback";

/// Longest wait for the request line of one connection.
const PATIENCE: Duration = Duration::from_secs(10);

const MAX_VISITORS: usize = 32;

/// Reads a request head and returns the target of a GET.
///
/// Reads to the end of the head, so that the browser has said all it wanted
/// before it is answered.
pub(super) async fn read_target(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<String> {
    let mut head = Vec::with_capacity(1024);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if head.len() >= MAX_HEAD_BYTES || stream.read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    parse(&head).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn parse(head: &[u8]) -> Option<String> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let target = line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?;
    let plain = target.starts_with('/') && target.bytes().all(|byte| byte > b' ');
    plain.then(|| target.to_owned())
}

/// Browsers send a kilobyte or two; a code may add a few more.
const MAX_HEAD_BYTES: usize = 32 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_a_whole_get_is_understood() {
        let read = async |bytes: &[u8]| read_target(&mut &*bytes).await.ok();
        let whole = b"GET /callback?code=1 HTTP/1.1\r\nHost: x\r\n\r\n";
        assert_eq!(read(whole).await.as_deref(), Some("/callback?code=1"));
        assert_eq!(read(&whole[..whole.len() - 1]).await, None);
        assert_eq!(read(b"POST / HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET http://x/ HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET / a HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"GET /\xff HTTP/1.1\r\n\r\n").await, None);
        assert_eq!(read(b"\x16\x03\x01").await, None);
    }

    #[tokio::test]
    async fn an_endless_head_is_cut() {
        let endless = tokio::io::repeat(b'x');
        assert!(read_target(&mut { endless }).await.is_err());
    }
}
