//! Servers that are not there, or break in the middle of a call.

use sterna_client::Era;
use sterna_gateway::{Gateway, GatewayConfig, StartError};

use crate::upstream::{at, http, process};
use crate::{BOTH, Running, get, names, text};

const UNAVAILABLE: &str = "io.github.sterna-mcp/unavailable";

#[tokio::test]
async fn a_server_that_is_not_there_is_named_in_the_lists_and_by_the_probe() {
    let server = http("here", Era::Modern);
    let dead = at("dead", "http://127.0.0.1:9/mcp", Era::Any);
    let gateway = Running::of([server.config.clone(), dead]).await;
    let client = gateway.plain(Era::Modern).await;
    let listed: serde_json::Value = client.request("tools/list", ()).await.unwrap();
    let named = &listed["_meta"][UNAVAILABLE];
    let expected = serde_json::json!([{"server": "dead", "reason": "upstream_unreachable"}]);
    assert_eq!(*named, expected);
    assert_eq!(listed["ttlMs"], 0);
    let result = client.call("echo").arg("word", "tern").await.unwrap();
    assert_eq!(text(&result), "tern");
    let probe = gateway.url.replace("/mcp", "/readyz");
    let (status, report) = get(&probe).await;
    assert_eq!(status, 200, "{report}");
    assert!(report.contains("dead: upstream_unreachable"), "{report}");
}

#[tokio::test]
async fn a_gateway_whose_servers_are_all_away_is_not_ready() {
    let dead = at("dead", "http://127.0.0.1:9/mcp", Era::Any);
    let gateway = Running::of([dead]).await;
    let (status, report) = get(&gateway.url.replace("/mcp", "/readyz")).await;
    assert_eq!(status, 503, "{report}");
    let client = gateway.plain(Era::Legacy).await;
    assert_eq!(names(&client).await, "");
}

#[tokio::test]
async fn a_gateway_without_servers_does_not_start() {
    let error = Gateway::start(GatewayConfig::new(Vec::new()))
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::NoServer), "{error}");
}

#[tokio::test]
async fn the_failure_of_a_tool_is_a_result_and_that_of_a_request_an_error() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for era in BOTH {
            let client = gateway.plain(era).await;
            let result = client.call("fails").await.unwrap();
            assert_eq!(
                (result.is_error, &*text(&result)),
                (Some(true), "no such order")
            );
            let missing = client.read("note://none").await.unwrap_err();
            let data = missing.rpc().unwrap().data.clone().unwrap();
            assert_eq!(data["server"], "only", "{data}");
        }
    }
}

#[tokio::test]
async fn a_process_that_dies_fails_its_call_and_is_started_again() {
    for upstream in BOTH {
        let gateway = Running::of([process("only", upstream)]).await;
        for era in BOTH {
            let client = gateway.client(era).await;
            let before = text(&client.call("pid").await.unwrap());
            let lost = client.call("die").await.unwrap_err();
            let lost = lost.rpc().unwrap();
            assert!(lost.message.contains("MR0901"), "{lost:?}");
            let data = lost.data.clone().unwrap();
            assert_eq!(
                (&data["server"], &data["outcome"]),
                (&"only".into(), &"unknown".into())
            );
            let mut after = None;
            for _ in 0..100 {
                after = client.call("pid").await.ok().map(|result| text(&result));
                if after.is_some() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
            assert_ne!(after.expect("it is started again"), before);
        }
        gateway.gateway.close().await;
    }
}

#[tokio::test]
async fn a_server_that_stops_fails_calls_with_their_outcome() {
    let mut server = http("only", Era::Modern);
    let gateway = Running::of([server.config.clone()]).await;
    let client = gateway.plain(Era::Modern).await;
    assert_eq!(
        text(&client.call("echo").arg("word", "tern").await.unwrap()),
        "tern"
    );
    server.serving.shutdown().await;
    let lost = client.call("echo").arg("word", "tern").await.unwrap_err();
    let lost = lost.rpc().unwrap().clone();
    assert!(lost.message.contains("MR0901"), "{lost:?}");
    let refused = client.call("echo").arg("word", "tern").await.unwrap_err();
    let refused = refused.rpc().unwrap().clone();
    assert!(refused.message.contains("MR0900"), "{refused:?}");
    assert_eq!(refused.data.unwrap()["outcome"], "none");
}
