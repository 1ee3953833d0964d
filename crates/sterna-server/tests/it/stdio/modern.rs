use serde_json::{Value, json};
use sterna_flow::{Level, Progress};
use sterna_server::{AskError, Cx, Server, Tool};
use tokio::sync::mpsc;

use super::Client;
use crate::mcp::{CAPABILITIES, VERSION, accept, changing, show};
use crate::telemetry::capture::Capture;

async fn name(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "Who are you?").await?;
    Ok(format!("Hello, {name}!"))
}

async fn talks(cx: Cx<'_>, (): ()) -> &'static str {
    cx.progress(Progress::new(1.0));
    cx.log(Level::Info, "a message");
    "done"
}

struct Noticed(mpsc::UnboundedSender<&'static str>);

impl Drop for Noticed {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

async fn stuck(cx: Cx<'_>, (): ()) {
    let seen: &mpsc::UnboundedSender<&'static str> = cx.state();
    let _noticed = Noticed(seen.clone());
    seen.send("started").unwrap();
    // Of a future that nobody could wake the engine would say so.
    tokio::sync::Notify::new().notified().await;
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mirrored {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

async fn mirrored(cx: Cx<'_>, args: Mirrored) -> String {
    assert_eq!(cx.request().headers().count(), 0, "a line has no headers");
    args.region
}

async fn touch(cx: Cx<'_>, (): ()) {
    changing::tools(cx.request().changes());
}

async fn explode(cx: Cx<'_>, (): ()) -> String {
    cx.state::<Value>().to_string()
}

fn server() -> (Server, mpsc::UnboundedReceiver<&'static str>) {
    let (seen, events) = mpsc::unbounded_channel();
    let server = Server::new("lines", "1")
        .tool("name", "Asks", name)
        .tool("talks", "Talks", talks)
        .tool("stuck", "Never ends", stuck)
        .offer(Tool::new("mirrored", "Has a header", mirrored))
        .tool("touch", "Changes the tools", touch)
        .tool("explode", "Panics", explode)
        .dynamic_lists()
        .state(seen);
    (server, events)
}

#[tokio::test]
async fn a_modern_client_is_served_without_headers_and_without_keys() {
    let mut client = Client::of(server().0);
    client.request(1, "server/discover", json!({})).await;
    let discovered = client.hear().await;
    assert_eq!(
        discovered["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    let params = json!({"name": "mirrored", "arguments": {"region": "Zürich\n"}});
    client.request(2, "tools/call", params).await;
    assert_eq!(show(&client.hear().await["result"]), "Zürich\n");
    client.close().await;
}

#[tokio::test]
async fn a_flow_goes_on_from_its_state() {
    let mut client = Client::of(server().0);
    client
        .request(1, "tools/call", json!({"name": "name"}))
        .await;
    let asked = client.hear().await["result"].clone();
    assert_eq!(show(&asked), "ask {name: Who are you?}");
    let params = json!({
        "name": "name",
        "requestState": asked["requestState"],
        "inputResponses": {"name": accept(json!({"name": "Ada"}))},
    });
    client.request(2, "tools/call", params).await;
    assert_eq!(show(&client.hear().await["result"]), "Hello, Ada!");
    client.close().await;
}

#[tokio::test]
async fn requests_run_at_once_and_what_they_say_is_told_apart() {
    let (server, mut events) = server();
    let mut client = Client::of(server);
    client
        .request(1, "tools/call", json!({"name": "stuck"}))
        .await;
    assert_eq!(events.recv().await, Some("started"));
    for id in [2, 3] {
        let meta = json!({"progressToken": id, "io.modelcontextprotocol/logLevel": "info"});
        client
            .request(id, "tools/call", json!({"name": "talks", "_meta": meta}))
            .await;
        let progress = client.hear().await;
        assert_eq!(progress["params"]["progressToken"], id);
        assert_eq!(client.hear().await["method"], "notifications/message");
        assert_eq!(client.hear().await["id"], id);
    }
}

#[tokio::test]
async fn a_request_that_is_taken_back_is_stopped_and_not_spoken_of() {
    let (server, mut events) = server();
    let mut client = Client::of(server);
    client
        .request(1, "tools/call", json!({"name": "stuck"}))
        .await;
    assert_eq!(events.recv().await, Some("started"));
    client.cancel(99).await;
    client
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}))
        .await;
    client.cancel(1).await;
    assert_eq!(events.recv().await, Some("dropped"));
    client.cancel(1).await;
    let said = client.close().await;
    assert_eq!(said, Vec::<Value>::new());
}

#[tokio::test]
async fn the_reason_of_a_cancellation_is_logged() {
    let (capture, _guard) = Capture::start();
    let (server, mut events) = server();
    let mut client = Client::of(server);
    client
        .request(1, "tools/call", json!({"name": "stuck"}))
        .await;
    assert_eq!(events.recv().await, Some("started"));
    client.cancel(1).await;
    assert_eq!(events.recv().await, Some("dropped"));
    let logged = capture.events();
    let mut reasons = logged.iter().filter_map(|event| event.get("reason"));
    assert_eq!(reasons.next(), Some("enough"));
}

#[tokio::test]
async fn a_subscription_lasts_until_it_is_taken_back() {
    let mut client = Client::of(server().0);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    client.request(7, "subscriptions/listen", filter).await;
    let first = client.hear().await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    client
        .request(8, "tools/call", json!({"name": "touch"}))
        .await;
    let (one, two) = (client.hear().await, client.hear().await);
    let changed = if one.get("id").is_some() { two } else { one };
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(
        changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        7
    );
    client.cancel(7).await;
    client
        .request(9, "tools/call", json!({"name": "touch"}))
        .await;
    assert_eq!(client.hear().await["id"], 9);
    assert_eq!(client.close().await.len(), 4);
}

#[tokio::test]
async fn a_subscription_that_we_end_is_announced() {
    let mut client = Client::of(server().0);
    let filter = json!({"notifications": {"toolsListChanged": true}});
    client.request(7, "subscriptions/listen", filter).await;
    client.hear().await;
    let said = client.close().await;
    assert_eq!(said.len(), 3);
    assert_eq!(said[1]["id"], 7);
    assert_eq!(said[1]["result"]["resultType"], "complete");
    assert_eq!(said[2]["method"], "notifications/cancelled");
    assert_eq!(said[2]["params"]["requestId"], 7);
}

#[tokio::test]
async fn a_panic_fails_its_own_call() {
    let mut client = Client::of(server().0);
    client
        .request(1, "tools/call", json!({"name": "explode"}))
        .await;
    assert_eq!(client.hear().await["error"]["code"], -32603);
    client
        .request(2, "tools/call", json!({"name": "talks"}))
        .await;
    assert_eq!(show(&client.hear().await["result"]), "done");
    client.close().await;
}

#[tokio::test]
async fn what_is_wrong_is_said_in_the_words_of_the_era() {
    let mut client = Client::of(server().0);
    let bare = |id: u32, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    client.say(&bare(1, "tools/list")).await;
    assert_eq!(client.hear().await["error"]["code"], -32602);
    let meta = json!({VERSION: "2030-01-01", CAPABILITIES: {}});
    client
        .old_request(2, "tools/list", json!({"_meta": meta}))
        .await;
    let refused = client.hear().await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["id"], 2);
    client.request(3, "initialize", json!({})).await;
    assert_eq!(client.hear().await["error"]["code"], -32601);
    client.write(b"{nonsense\n").await;
    assert_eq!(client.hear().await["error"]["code"], -32700);
    // What nobody waits for is answered with nothing.
    client
        .say(&json!({"jsonrpc": "2.0", "id": 1, "result": {}}))
        .await;
    client
        .say(&json!({"jsonrpc": "2.0", "method": "notifications/nonsense"}))
        .await;
    assert_eq!(client.close().await.len(), 4);
}

/// Whatever a modern client sends, it is sent notifications and responses.
#[tokio::test]
async fn no_request_of_ours_reaches_a_modern_client() {
    let mut client = Client::of(server().0);
    for (id, name) in ["name", "talks", "touch", "mirrored"]
        .into_iter()
        .enumerate()
    {
        let meta = json!({"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"});
        let id = u32::try_from(id).unwrap();
        client
            .request(id, "tools/call", json!({"name": name, "_meta": meta}))
            .await;
    }
    let said = client.close().await;
    assert!(said.len() >= 4, "{said:?}");
    for message in said {
        let is_request = message.get("method").is_some() && message.get("id").is_some();
        assert!(!is_request, "{message}");
        // CANCEL-S2: nobody listens, so there is nothing that we could end.
        assert_ne!(message["method"], "notifications/cancelled");
    }
}

#[tokio::test]
async fn a_request_in_a_line_came_through_a_pipe() {
    let (capture, _guard) = Capture::start();
    let mut client = Client::of(server().0);
    client
        .request(1, "tools/call", json!({"name": "talks"}))
        .await;
    client.request(2, "tools/list", json!({})).await;
    client.close().await;
    let spans = capture.operations();
    let transports: Vec<_> = spans
        .iter()
        .map(|span| span.get("network.transport"))
        .collect();
    assert_eq!(transports, [Some("pipe"); 2]);
}
