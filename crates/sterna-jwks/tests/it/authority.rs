//! An authorization server with a certificate of its own making.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Answers every request in the same way until it is told another.
pub(crate) struct Authority {
    /// The certificate of the authority, in PEM, for clients that trust it.
    pub(crate) pem: String,
    port: u16,
    state: Arc<State>,
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct State {
    /// The body of every response; `None` leaves requests unanswered.
    answer: Mutex<Option<String>>,
    asked: AtomicUsize,
}

impl Authority {
    pub(crate) async fn start() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key.into())
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State::default());
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, acceptor, Arc::clone(&state)));
        Self {
            pem: cert.pem(),
            port,
            state,
            _serving: serving,
        }
    }

    pub(crate) fn url(&self, host: &str) -> String {
        format!("https://{host}:{}/keys", self.port)
    }

    pub(crate) fn answer(&self, status: u16, headers: &str, body: &str) {
        let length = body.len();
        let text =
            format!("HTTP/1.1 {status} As told\r\n{headers}Content-Length: {length}\r\n\r\n{body}");
        *self.state.answer.lock().unwrap() = Some(text);
    }

    pub(crate) fn say_nothing(&self) {
        *self.state.answer.lock().unwrap() = None;
    }

    /// Number of requests that came through the handshake.
    pub(crate) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, state: Arc<State>) {
    let mut open = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        open.spawn(talk(stream, acceptor.clone(), Arc::clone(&state)));
    }
}

async fn talk(stream: TcpStream, acceptor: TlsAcceptor, state: Arc<State>) {
    // A client that refuses the certificate hangs up here.
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    let mut request = vec![0; 4096];
    if !matches!(stream.read(&mut request).await, Ok(1..)) {
        return;
    }
    state.asked.fetch_add(1, Ordering::SeqCst);
    let answer = state.answer.lock().unwrap().clone();
    match answer {
        // A client that has read enough hangs up while we write.
        Some(answer) => drop(stream.write_all(answer.as_bytes()).await),
        None => std::future::pending().await,
    }
}

/// A key set with one key, taken from RFC 7517.
pub(crate) const KEYS: &str = r#"{"keys":[{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256",
"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
"y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}"#;
