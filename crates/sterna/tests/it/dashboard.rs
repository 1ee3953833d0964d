//! The metrics of the dashboard are those of a server.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use sterna::client::{Client, Step};
use sterna::protocol::elicitation::{ElicitContent, ElicitResult};
use sterna::server::http::HttpConfig;
use sterna::server::{Cx, Server, ToolError};

const DASHBOARD: &str = include_str!("../../../../docs/guide/grafana.json");
const PAGE: &str = include_str!("../../../../docs/guide/watching.md");

/// Asks once.
#[sterna::tool]
async fn greet(cx: Cx<'_>) -> Result<String, ToolError> {
    let name: String = cx.ask("name", "Your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::test]
async fn every_metric_of_the_dashboard_is_one_of_a_server() {
    let mut http = HttpConfig::default();
    http.metrics = true;
    let server = Server::new("greeter", "1.0.0")
        .offer(greet::tool())
        .http(http)
        .configure(|config| config.announce = false);
    let service = server.build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let shutdown = service.shutdown().clone();
    let using = async {
        use_everything(address).await;
        let shown = tokio::task::spawn_blocking(move || send(address, "GET /metrics"));
        let shown = shown.await.unwrap();
        shutdown.begin();
        shown
    };
    let serving = service.serve_on(listener, std::future::pending());
    let (served, shown) = tokio::join!(serving, using);
    served.unwrap();

    let exposed = names(&shown);
    let wanted: BTreeSet<String> = names(DASHBOARD).union(&names(PAGE)).cloned().collect();
    assert!(wanted.len() > 12, "{wanted:?}");
    let missing: Vec<_> = wanted.difference(&exposed).collect();
    assert!(missing.is_empty(), "{missing:?} are not in:\n{shown}");
    // Nothing that a server shows is left out of the picture.
    let unused: Vec<_> = exposed.difference(&wanted).collect();
    assert!(unused.is_empty(), "{unused:?} are not on the dashboard");
}

/// A call that asks, a state that is refused, a request that is refused.
async fn use_everything(address: SocketAddr) {
    let client = Client::builder(format!("http://{address}/mcp"))
        .on_form(|_| async { Ok(ElicitResult::cancel()) })
        .connect()
        .await
        .unwrap();
    let Step::InputRequired(mut paused) = client.call("greet").start().await.unwrap() else {
        panic!("it asks");
    };
    let name = ElicitContent::from_iter([("name", "Ada")]);
    paused.answer("name", ElicitResult::accept(name)).unwrap();
    let json = serde_json::to_string(&paused).unwrap();
    paused.finish(&client).await.unwrap();

    let tampered = json.replacen("\"s1.", "\"s1.A", 1);
    assert_ne!(tampered, json);
    let tampered: sterna::client::PausedCall<sterna::protocol::tool::CallToolResult> =
        serde_json::from_str(&tampered).unwrap();
    tampered.finish(&client).await.unwrap_err();
    client.close().await;
    let elsewhere = move || send(address, "POST /elsewhere");
    tokio::task::spawn_blocking(elsewhere).await.unwrap();
}

/// Sends a request and returns the response.
fn send(address: SocketAddr, line: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// Metrics in `text`, those of a histogram by its name.
fn names(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_name(c));
    let words = words.filter(|word| word.starts_with("sterna_") || word.starts_with("mcp_server_"));
    let words = words.map(|word| {
        let parts = ["_bucket", "_count", "_sum"];
        let family = parts.iter().find_map(|part| word.strip_suffix(part));
        family.unwrap_or(word).to_owned()
    });
    words.collect()
}
