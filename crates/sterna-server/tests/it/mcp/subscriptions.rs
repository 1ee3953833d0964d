use http::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use sterna_server::http::ResponseBody;
use sterna_server::{Cx, Level, Progress, Server, Uri};

use super::{Client, changing};

async fn touch(cx: Cx<'_>, (): ()) {
    let changes = cx.request().changes();
    changing::tools(changes);
    changing::prompts(changes);
    changing::resources(changes);
    changes.resource("test://a");
    changes.resource("test://b");
}

async fn talks(cx: Cx<'_>, (): ()) {
    cx.progress(Progress::new(1.0));
    cx.log(Level::Error, "an error");
    changing::tools(cx.request().changes());
}

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

fn client() -> Client {
    Client::of(
        Server::new("subscriptions", "1")
            .tool("touch", "Changes everything", touch)
            .tool("talks", "Talks, and changes the tools", talks)
            .resource("test://a", "a", read)
            .dynamic_lists(),
    )
}

pub(super) async fn next(response: &mut Response<ResponseBody>) -> Value {
    let frame = response.body_mut().frame().await.unwrap().unwrap();
    let data = frame.into_data().unwrap();
    let text = std::str::from_utf8(&data).unwrap();
    serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap()
}

#[tokio::test]
async fn a_subscription_brings_what_was_asked_for_and_nothing_else() {
    let client = client();
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourceSubscriptions": ["test://b"],
        "taskIds": ["x"],
    });
    let mut stream = client
        .open("subscriptions/listen", json!({"notifications": filter}))
        .await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let first = next(&mut stream).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    // There are no tasks, so nothing is promised about them.
    let honoured = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourceSubscriptions": ["test://b"],
    });
    assert_eq!(first["params"]["notifications"], honoured);
    client.call_tool("touch", json!({})).await;
    let tools = next(&mut stream).await;
    let prompts = next(&mut stream).await;
    let resource = next(&mut stream).await;
    assert_eq!(tools["method"], "notifications/tools/list_changed");
    assert_eq!(prompts["method"], "notifications/prompts/list_changed");
    assert_eq!(resource["method"], "notifications/resources/updated");
    assert_eq!(resource["params"]["uri"], "test://b");
    for message in [first, tools, prompts, resource] {
        assert_eq!(
            message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
            1
        );
    }
}

async fn says_hello(_: Cx<'_>, (): ()) -> &'static str {
    "hello"
}

#[tokio::test]
async fn every_list_that_changes_is_announced_to_those_who_asked() {
    let server = Server::new("subscriptions", "1")
        .tool("touch", "Changes everything", touch)
        .prompt("hello", "Says hello", says_hello)
        .resource("test://a", "a", read)
        .dynamic_lists();
    let client = Client::of(server);
    for (filter, method) in [
        ("toolsListChanged", "notifications/tools/list_changed"),
        ("promptsListChanged", "notifications/prompts/list_changed"),
        (
            "resourcesListChanged",
            "notifications/resources/list_changed",
        ),
    ] {
        let params = json!({"notifications": {filter: true}});
        let mut stream = client.open("subscriptions/listen", params).await;
        next(&mut stream).await;
        client.call_tool("touch", json!({})).await;
        assert_eq!(next(&mut stream).await["method"], method);
    }
}

#[tokio::test]
async fn nothing_is_promised_about_lists_that_do_not_change() {
    let server = Server::new("subscriptions", "1")
        .prompt("hello", "Says hello", says_hello)
        .resource("test://a", "a", read);
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["test://a"],
    });
    let params = json!({"notifications": filter});
    let mut stream = Client::of(server)
        .open("subscriptions/listen", params)
        .await;
    let honoured = json!({"resourceSubscriptions": ["test://a"]});
    assert_eq!(next(&mut stream).await["params"]["notifications"], honoured);
}

#[tokio::test]
async fn progress_and_logs_stay_on_the_stream_of_their_own_request() {
    let client = client()
        .with_meta("progressToken", json!("p"))
        .with_meta("io.modelcontextprotocol/logLevel", json!("debug"));
    let params = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = client.open("subscriptions/listen", params).await;
    next(&mut stream).await;
    let call = json!({"name": "talks", "arguments": {}});
    let reply = client.send("tools/call", call).await;
    assert_eq!(reply.messages.len(), 3);
    let heard = next(&mut stream).await;
    assert_eq!(heard["method"], "notifications/tools/list_changed");
    client.http.shutdown().begin();
    assert_eq!(next(&mut stream).await["id"], 1);
}

#[tokio::test]
async fn several_subscriptions_are_independent() {
    let client = client();
    let listen = |filter| client.open("subscriptions/listen", json!({"notifications": filter}));
    let mut tools = listen(json!({"toolsListChanged": true})).await;
    let mut resources = listen(json!({"resourcesListChanged": true})).await;
    for stream in [&mut tools, &mut resources] {
        next(stream).await;
    }
    client.call_tool("touch", json!({})).await;
    assert_eq!(
        next(&mut tools).await["method"],
        "notifications/tools/list_changed"
    );
    drop(tools);
    assert_eq!(
        next(&mut resources).await["method"],
        "notifications/resources/list_changed"
    );
    client.call_tool("touch", json!({})).await;
    assert_eq!(
        next(&mut resources).await["method"],
        "notifications/resources/list_changed"
    );
}

#[tokio::test]
async fn a_server_that_leaves_ends_its_subscriptions_with_a_result() {
    let client = client();
    let params = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = client.open("subscriptions/listen", params).await;
    next(&mut stream).await;
    client.http.shutdown().begin();
    let end = next(&mut stream).await;
    assert_eq!(end["id"], 1);
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(
        end["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    assert!(stream.body_mut().frame().await.is_none());
}
