//! A person with a browser that runs no script: an HTTP client with one cookie.

use std::future::pending;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use sterna_client::Client;
use sterna_http::clock;
use sterna_inspect::{Bundle, Inspector, InspectorConfig, StdioRecorder};
use sterna_seal::Keyring;

/// A response.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Page {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The content of the page, without what every page has.
    fn text(&self) -> &str {
        let main = self.body.find("<main").unwrap_or(0);
        &self.body[main..]
    }

    /// Fails unless the page has this text.
    #[track_caller]
    pub(crate) fn has(&self, text: &str) -> &Self {
        assert!(self.body.contains(text), "no `{text}` in:\n{}", self.text());
        self
    }

    #[track_caller]
    pub(crate) fn lacks(&self, text: &str) -> &Self {
        assert!(!self.body.contains(text), "`{text}` in:\n{}", self.body);
        self
    }
}

/// Starts an inspector of the server at `target`; it ends with the test.
pub(crate) fn inspector(target: &str, keys: Option<Keyring>) -> (SocketAddr, String) {
    let (address, ticket, _) = inspector_with(target, |config| config.keys = keys);
    (address, ticket)
}

/// Starts an inspector; returns the address for a client that is recorded, too.
pub(crate) fn inspector_with(
    target: &str,
    set: impl FnOnce(&mut InspectorConfig),
) -> (SocketAddr, String, Option<String>) {
    serve(configured(target, set)).0
}

/// Opens an inspector that records on stdio.
pub(crate) fn recorder_with(
    target: &str,
    set: impl FnOnce(&mut InspectorConfig),
) -> (Visitor, StdioRecorder) {
    let (places, recorder) = serve(configured(target, set));
    (Visitor::opens(places, "/connection"), recorder.unwrap())
}

fn configured(target: &str, set: impl FnOnce(&mut InspectorConfig)) -> InspectorConfig {
    let url = target.to_owned();
    let connector = Arc::new(move || Ok(Client::builder(&url)));
    let mut config = InspectorConfig::new(target, connector);
    set(&mut config);
    config
}

/// Addresses of an inspector, its ticket, and its address for a client.
type Places = (SocketAddr, String, Option<String>);

fn serve(config: InspectorConfig) -> (Places, Option<StdioRecorder>) {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let inspector = Inspector::bind(config).unwrap();
            let urls = (
                inspector.url(),
                inspector.record_url(),
                inspector.stdio_recorder(),
            );
            sender.send(urls).unwrap();
            inspector.serve(pending()).await.unwrap();
        });
    });
    let (url, record, recorder) = receiver.recv().unwrap();
    let address = url.strip_prefix("http://").unwrap();
    let (address, ticket) = address.split_once("/?ticket=").unwrap();
    let places = (address.parse().unwrap(), ticket.to_owned(), record);
    (places, recorder)
}

/// A person who has opened the inspector.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) address: SocketAddr,
    pub(crate) cookie: String,
    pub(crate) form_token: String,
    /// Address for a client that is recorded.
    pub(crate) record: Option<String>,
}

impl Visitor {
    /// Opens an inspector of `target` with its ticket.
    pub(crate) fn new(target: &str, keys: Option<Keyring>) -> Self {
        Self::with(target, |config| config.keys = keys)
    }

    pub(crate) fn with(target: &str, set: impl FnOnce(&mut InspectorConfig)) -> Self {
        Self::opens(inspector_with(target, set), "/connection")
    }

    /// Opens an inspector of a call that was kept in a file.
    pub(crate) fn of_bundle(bundle: &[u8]) -> Self {
        let bundle = Bundle::parse(bundle).unwrap();
        Self::opens(serve(InspectorConfig::of_bundle(bundle)).0, "/calls/1")
    }

    fn opens((address, ticket, record): Places, first: &str) -> Self {
        let opened = send(
            address,
            &format!("GET /?ticket={ticket} HTTP/1.1\r\nHost: {address}\r\n\r\n"),
        );
        assert_eq!(opened.status, 200, "{opened:?}");
        let cookie = opened
            .header("set-cookie")
            .unwrap()
            .split(';')
            .next()
            .unwrap();
        let mut visitor = Self {
            address,
            cookie: cookie.to_owned(),
            form_token: String::new(),
            record,
        };
        let page = visitor.get(first);
        // A page without a form has no token.
        let token = page.body.split_once("name=\"form_token\" value=\"");
        let token = token.and_then(|(_, rest)| rest.split('"').next());
        visitor.form_token = token.unwrap_or_default().to_owned();
        visitor
    }

    pub(crate) fn get(&self, path: &str) -> Page {
        let Self {
            address, cookie, ..
        } = self;
        send(
            *address,
            &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n\r\n"),
        )
    }

    /// Sends a form and follows where it leads.
    pub(crate) fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let answer = self.post_only(path, fields);
        match answer.header("location") {
            Some(address) => self.get(address),
            None => answer,
        }
    }

    pub(crate) fn post_only(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let mut body = format!("form_token={}", self.form_token);
        for (name, value) in fields {
            body.push_str(&format!("&{}={}", escape(name), escape(value)));
        }
        let Self {
            address, cookie, ..
        } = self;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nOrigin: http://{address}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        send(*address, &request)
    }

    /// Calls a tool with a form.
    pub(crate) fn call(&self, tool: &str, arguments: &[(&str, &str)]) -> Page {
        let mut fields = vec![("kind", "tool"), ("name", tool), ("mode", "form")];
        fields.extend(arguments);
        self.post("/calls", &fields)
    }

    /// Loads a page until it has this text.
    #[track_caller]
    pub(crate) fn until(&self, path: &str, text: &str) -> Page {
        let begun = clock::now();
        loop {
            let page = self.get(path);
            if page.body.contains(text) {
                return page;
            }
            assert!(begun.elapsed() < PATIENCE, "no `{text}` in:\n{}", page.body);
            // The inspector is asked again, not waited for.
            std::thread::yield_now();
        }
    }
}

fn escape(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Sends a request on a connection of its own.
pub(crate) fn send(address: SocketAddr, request: &str) -> Page {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Page {
        status,
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// Far more than any page takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of the script and the style sheet together.
pub(crate) const MOST_BYTES: u64 = 24_000;
