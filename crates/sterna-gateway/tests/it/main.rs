//! A gateway in front of real servers: over HTTP, and as processes.
#![cfg(test)]

mod approving;
mod asking;
mod auditing;
mod carried;
mod children;
mod credentials;
mod failing;
mod fleet;
mod issuer;
mod listing;
mod reissued;
mod reloading;
mod resumable;
mod sessions;
mod upstream;

use std::net::TcpListener;
use std::time::Duration;

use sterna_client::{Client, Era};
use sterna_gateway::{Gateway, GatewayConfig, UpstreamConfig};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::tool::CallToolResult;
use sterna_server::Server;
use tokio::task::JoinSet;

/// A gateway that serves HTTP, until it is dropped.
struct Running {
    gateway: Gateway,
    url: String,
    _serving: JoinSet<()>,
}

impl Running {
    async fn of(servers: impl IntoIterator<Item = UpstreamConfig>) -> Self {
        let config = GatewayConfig::new(servers.into_iter().collect());
        Self::with(config, |server| server).await
    }

    async fn with(config: GatewayConfig, change: impl FnOnce(Server) -> Server) -> Self {
        Self::serving(Gateway::start(config).await.unwrap(), change)
    }

    fn serving(gateway: Gateway, change: impl FnOnce(Server) -> Server) -> Self {
        let server = change(gateway.server("gateway", "1.0.0"));
        let (url, serving) = serve(server);
        Self {
            gateway,
            url,
            _serving: serving,
        }
    }

    /// A client of one era, whose user is called Ann.
    async fn client(&self, era: Era) -> Client {
        let builder = Client::builder(&self.url).era(era).on_form(|_| async {
            let content = ElicitContent::from_iter([("name", "Ann")]);
            Ok(ElicitResult::accept(content))
        });
        builder.connect().await.unwrap()
    }

    /// A client of one era that cannot be asked anything.
    async fn plain(&self, era: Era) -> Client {
        let builder = Client::builder(&self.url).era(era);
        builder.connect().await.unwrap()
    }
}

/// Serves over HTTP at a port of its own.
fn serve(server: Server) -> (String, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let service = server.configure(|config| config.announce = false);
    let service = service.build().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let served = service.serve_on(listener, std::future::pending()).await;
        served.unwrap();
    });
    (url, serving)
}

fn text(result: &CallToolResult) -> String {
    let written = serde_json::to_value(result).unwrap();
    let blocks = written["content"].as_array().unwrap().iter();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

async fn names(client: &Client) -> String {
    let tools = client.tools().all().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    names.join(" ")
}

/// Waits until `holds`, for half a minute at most.
async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: not within half a minute");
}

/// Gets a page without a client of MCP.
async fn get(url: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let address = url.strip_prefix("http://").unwrap();
    let (host, path) = address.split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text)
}

const BOTH: [Era; 2] = [Era::Modern, Era::Legacy];
