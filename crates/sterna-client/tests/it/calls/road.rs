//! The road to a server on HTTP: TLS, HTTP/2 and proxies.
//!
//! What a client trusts and which proxies it uses is its environment's to say,
//! so every test here runs itself again in another process.

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivatePkcs8KeyDer;
use serde_json::{Value, json};
use sterna_client::Client;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use super::rounds::text;
use super::scripted::{discovered, done};
use crate::errand::{errand, send};
use crate::world::site::{Asked, app};
use crate::world::{Reply, serve};

/// Calls two tools at once, in the other process.
async fn run(url: &str) {
    let client = Client::connect(url).await.unwrap();
    let (a, b) = tokio::join!(
        client.call("a").into_future(),
        client.call("b").into_future()
    );
    assert_eq!((text(&a.unwrap()), text(&b.unwrap())), ("ok", "ok"));
}

/// Requests that servers and proxies saw, a line each.
type Seen = Arc<Mutex<Vec<String>>>;

fn answer(asked: &Asked, seen: &Seen) -> Reply {
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    let line = format!(
        "{:?} {}",
        asked.head.version,
        body["method"].as_str().unwrap()
    );
    seen.lock().unwrap().push(line);
    let result = match body["method"].as_str() {
        Some("server/discover") => discovered(),
        _ => done("ok"),
    };
    Reply::json(
        200,
        &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}),
    )
}

/// A server with a certificate of `mcp.example`, which speaks HTTP/2 and nothing
/// else: its port and the certificate.
async fn secure(running: &mut JoinSet<()>, seen: &Seen) -> (u16, NamedTempFile) {
    let names = ["mcp.example", "127.0.0.1"].map(str::to_owned);
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let mut trusted = NamedTempFile::new().unwrap();
    trusted.write_all(cert.pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())
        .unwrap();
    tls.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(tls));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let log = seen.clone();
    let app = app(move |asked| {
        let reply = answer(&asked, &log);
        async { reply }
    });
    let seen = seen.clone();
    running.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            seen.lock().unwrap().push("connection".to_owned());
            let (acceptor, app) = (acceptor.clone(), app.clone());
            connections.spawn(async move {
                let stream = TokioIo::new(acceptor.accept(stream).await.unwrap());
                let builder = http2::Builder::new(TokioExecutor::new());
                let served = builder.serve_connection(stream, TowerToHyperService::new(app));
                served.await.ok();
            });
        }
    });
    (port, trusted)
}

/// A proxy whose every request goes to `port` on this machine.
async fn proxy(running: &mut JoinSet<()>, port: u16, seen: &Seen) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let seen = seen.clone();
    running.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (mut near, _) = listener.accept().await.unwrap();
            let seen = seen.clone();
            connections.spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(near.read_u8().await.unwrap());
                }
                let text = String::from_utf8(head.clone()).unwrap();
                let line = text.lines().next().unwrap().to_owned();
                let mut far = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                if line.starts_with("CONNECT") {
                    let agreed = b"HTTP/1.1 200 OK\r\n\r\n";
                    near.write_all(agreed).await.unwrap();
                } else {
                    far.write_all(&head).await.unwrap();
                }
                seen.lock().unwrap().push(line);
                copy_bidirectional(&mut near, &mut far).await.ok();
            });
        }
    });
    url
}

fn lines(seen: &Seen) -> Vec<String> {
    let mut lines = seen.lock().unwrap().clone();
    lines.dedup();
    lines
}

#[tokio::test]
async fn over_tls_calls_share_one_connection_of_http_2() {
    if let Some(url) = errand() {
        return run(&url).await;
    }
    let (mut running, seen) = (JoinSet::new(), Seen::default());
    let (port, trusted) = secure(&mut running, &seen).await;
    let test = "calls::road::over_tls_calls_share_one_connection_of_http_2";
    let trusted = trusted.path().to_str().unwrap();
    let url = format!("https://127.0.0.1:{port}/mcp");
    send(test, &url, &[("SSL_CERT_FILE", trusted)]).await;
    let expected = [
        "connection",
        "HTTP/2.0 server/discover",
        "HTTP/2.0 tools/call",
    ];
    assert_eq!(lines(&seen), expected);
}

#[tokio::test]
async fn a_server_behind_a_proxy_is_reached_through_a_tunnel() {
    if let Some(url) = errand() {
        return run(&url).await;
    }
    let (mut running, seen) = (JoinSet::new(), Seen::default());
    let (port, trusted) = secure(&mut running, &seen).await;
    let proxy = proxy(&mut running, port, &seen).await;
    let test = "calls::road::a_server_behind_a_proxy_is_reached_through_a_tunnel";
    let trusted = trusted.path().to_str().unwrap();
    let environment = [("SSL_CERT_FILE", trusted), ("HTTPS_PROXY", &*proxy)];
    send(test, "https://mcp.example/mcp", &environment).await;
    let mut lines = lines(&seen);
    lines.sort();
    let expected = [
        "CONNECT mcp.example:443 HTTP/1.1",
        "HTTP/2.0 server/discover",
        "HTTP/2.0 tools/call",
        "connection",
    ];
    lines.dedup();
    assert_eq!(lines, expected);
}

/// A server without TLS, and its port.
async fn plain(seen: &Seen) -> u16 {
    let seen = seen.clone();
    let origin = serve(move |asked| {
        let reply = answer(&asked, &seen);
        async { reply }
    })
    .await;
    origin.rsplit_once(':').unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn without_tls_a_proxy_is_told_the_whole_address() {
    if let Some(url) = errand() {
        return run(&url).await;
    }
    let (mut running, seen) = (JoinSet::new(), Seen::default());
    let port = plain(&seen).await;
    let proxy = proxy(&mut running, port, &seen).await;
    let test = "calls::road::without_tls_a_proxy_is_told_the_whole_address";
    send(test, "http://mcp.example/mcp", &[("HTTP_PROXY", &*proxy)]).await;
    let seen = lines(&seen);
    assert!(
        seen.contains(&"POST http://mcp.example/mcp HTTP/1.1".to_owned()),
        "{seen:?}"
    );
    assert!(seen.contains(&"HTTP/1.1 tools/call".to_owned()), "{seen:?}");
}

#[tokio::test]
async fn a_server_that_the_environment_excepts_is_called_without_the_proxy() {
    if let Some(url) = errand() {
        return run(&url).await;
    }
    let (mut running, seen) = (JoinSet::new(), Seen::default());
    let port = plain(&seen).await;
    let proxy = proxy(&mut running, port, &seen).await;
    let test = "calls::road::a_server_that_the_environment_excepts_is_called_without_the_proxy";
    let environment = [("HTTP_PROXY", &*proxy), ("NO_PROXY", "127.0.0.1")];
    send(test, &format!("http://127.0.0.1:{port}/mcp"), &environment).await;
    let expected = ["HTTP/1.1 server/discover", "HTTP/1.1 tools/call"];
    assert_eq!(lines(&seen), expected);
}
