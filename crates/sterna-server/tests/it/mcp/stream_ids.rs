//! What tells the streams of one client apart.

use http_body_util::BodyExt;
use serde_json::{Value, json};
use sterna_server::{Cx, Server};

use super::{CAPABILITIES, Client, VERSION, changing, headers};

async fn touch(cx: Cx<'_>, (): ()) {
    changing::tools(cx.request().changes());
}

#[tokio::test]
async fn every_subscription_is_named_by_its_own_request() {
    let server = Server::new("ids", "1").tool("touch", "Changes the tools", touch);
    let client = Client::of(server.dynamic_lists());
    for id in [json!(41), json!("41"), json!("a stream")] {
        let meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
        let params = json!({"_meta": meta, "notifications": {"toolsListChanged": true}});
        let method = "subscriptions/listen";
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let headers = headers("2026-07-28", method);
        let mut stream = client.post(headers, body.to_string()).await;
        let mut heard = Vec::new();
        for at_work in [false, true] {
            if at_work {
                client.call_tool("touch", json!({})).await;
            }
            let frame = stream.body_mut().frame().await.unwrap().unwrap();
            let data = frame.into_data().unwrap();
            let text = std::str::from_utf8(&data).unwrap();
            let event: Value = serde_json::from_str(text.strip_prefix("data: ").unwrap()).unwrap();
            heard.push(event["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone());
        }
        assert_eq!(heard, [id.clone(), id]);
    }
}
