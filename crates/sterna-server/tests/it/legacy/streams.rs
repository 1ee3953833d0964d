use http::Method;
use serde_json::{Value, json};
use sterna_flow::{Level, Progress};
use sterna_server::{Cx, Server, Uri};

use super::{Session, next, show};
use crate::mcp::changing;

async fn touch(cx: Cx<'_>, (): ()) {
    let changes = cx.request().changes();
    changing::tools(changes);
    changes.resource("test://a");
    changing::prompts(changes);
}

async fn talks(cx: Cx<'_>, (): ()) -> &'static str {
    cx.progress(Progress::new(1.0).of(2.0));
    cx.log(Level::Debug, "a detail");
    cx.log(Level::Warning, "a warning");
    "done"
}

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

async fn session() -> Session {
    let server = Server::new("streams", "1")
        .tool("touch", "Changes things", touch)
        .tool("talks", "Talks", talks)
        .resource("test://a", "a", read)
        .dynamic_lists();
    Session::of(server).await
}

async fn methods(
    stream: &mut http::Response<sterna_server::http::ResponseBody>,
    count: usize,
) -> Vec<Value> {
    let mut methods = Vec::new();
    for _ in 0..count {
        let message = next(stream).await;
        assert_eq!(message["params"].get("_meta"), None);
        methods.push(message["method"].clone());
    }
    methods
}

#[tokio::test]
async fn a_session_hears_what_changes_and_of_resources_those_it_watches() {
    let session = session().await;
    let mut stream = session.listen().await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    let touch = || session.play("tools/call", json!({"name": "touch"}), &[]);
    touch().await;
    let (tools, prompts) = (
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
    );
    assert_eq!(methods(&mut stream, 2).await, [tools, prompts]);
    let uri = json!({"uri": "test://a"});
    session.send("resources/subscribe", uri.clone()).await;
    touch().await;
    let updated = "notifications/resources/updated";
    assert_eq!(methods(&mut stream, 3).await, [tools, updated, prompts]);
    session.send("resources/unsubscribe", uri).await;
    touch().await;
    assert_eq!(methods(&mut stream, 2).await, [tools, prompts]);
}

#[tokio::test]
async fn every_message_goes_out_on_one_stream() {
    use http_body_util::BodyExt;
    let session = session().await;
    let mut first = session.listen().await;
    let mut second = session.listen().await;
    session
        .play("tools/call", json!({"name": "touch"}), &[])
        .await;
    methods(&mut second, 2).await;
    let opening = first.body_mut().frame().await.unwrap().unwrap();
    assert_eq!(opening.into_data().unwrap(), ":\n\n");
    assert!(first.body_mut().frame().await.is_none());
}

#[tokio::test]
async fn a_server_that_leaves_ends_the_stream() {
    use http_body_util::BodyExt;
    let session = session().await;
    let mut stream = session.listen().await;
    session.http.shutdown().begin();
    stream.body_mut().frame().await.unwrap().unwrap();
    assert!(stream.body_mut().frame().await.is_none());
}

#[tokio::test]
async fn a_stream_is_for_those_who_read_streams() {
    let session = session().await;
    let response = session
        .http(Method::GET, "application/json", String::new())
        .await;
    assert_eq!(response.status(), 406);
}

#[tokio::test]
async fn progress_and_logs_come_on_the_stream_of_their_request() {
    let session = session().await;
    assert_eq!(
        session
            .play("tools/call", json!({"name": "talks"}), &[])
            .await,
        "done"
    );
    session
        .send("logging/setLevel", json!({"level": "info"}))
        .await;
    let params = json!({"name": "talks", "_meta": {"progressToken": 5}});
    let mut stream = session.start("tools/call", params).await;
    let progress = next(&mut stream).await;
    assert_eq!(
        progress["params"],
        json!({"progressToken": 5, "progress": 1.0, "total": 2.0})
    );
    let log = next(&mut stream).await;
    assert_eq!(log["method"], "notifications/message");
    assert_eq!(
        log["params"],
        json!({"level": "warning", "data": "a warning"})
    );
    assert_eq!(show(&next(&mut stream).await), "done");
}
