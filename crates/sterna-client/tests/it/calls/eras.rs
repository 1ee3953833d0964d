//! Which era a server is taken for, over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_client::{Client, Era};

use super::scripted::{Said, Scripted, Seen, discovered};
use crate::world::Reply;

/// Connects to a server that answers the probe with `probe`, and says how it
/// went and which methods were called.
async fn connect(era: Era, probe: impl Fn(&Seen) -> Said + Send + Sync + 'static) -> String {
    let server = Scripted::raw(move |seen, _| match seen.body["method"].as_str() {
        Some("server/discover") => probe(seen),
        Some("initialize") => Said::Result(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "old", "version": "1"},
        })),
        Some("notifications/initialized") => Said::Reply(Reply::status(202)),
        _ => Said::Reply(Reply::status(405)),
    })
    .await;
    let connected = Client::builder(&server.url).era(era).connect().await;
    let probes = server.seen("server/discover").len();
    let handshakes = server.seen("initialize").len();
    let ended = match connected {
        Ok(client) => format!("{:?}", client.era()),
        Err(error) => format!("{:?} {error}", error.kind()),
    };
    format!("{probes} probes, {handshakes} handshakes: {ended}")
}

fn plain(status: u16) -> impl Fn(&Seen) -> Said {
    move |_| Said::Reply(Reply::status(status))
}

fn error(status: u16, error: Value) -> impl Fn(&Seen) -> Said {
    move |seen| {
        let body = json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error});
        Said::Reply(Reply::json(status, &body))
    }
}

#[tokio::test]
async fn a_modern_server_stays_modern() {
    let probe = |_: &Seen| Said::Result(discovered());
    expect!["1 probes, 0 handshakes: Modern"].assert_eq(&connect(Era::Any, probe).await);
    expect!["1 probes, 0 handshakes: Modern"].assert_eq(&connect(Era::Modern, probe).await);
    expect!["0 probes, 1 handshakes: Legacy"].assert_eq(&connect(Era::Legacy, probe).await);
}

#[tokio::test]
async fn a_refusal_under_an_id_of_the_servers_own_is_a_refusal_all_the_same() {
    let probe = |_: &Seen| {
        let error = json!({"code": -32600, "message": "Bad Request: Missing session ID"});
        let body = json!({"jsonrpc": "2.0", "id": "server-error", "error": error});
        Said::Reply(Reply::json(400, &body))
    };
    expect!["1 probes, 1 handshakes: Legacy"].assert_eq(&connect(Era::Any, probe).await);
}

#[tokio::test]
async fn a_legacy_server_gets_a_session_unless_that_is_ruled_out() {
    for status in [400, 404, 405, 406] {
        expect!["1 probes, 1 handshakes: Legacy"]
            .assert_eq(&connect(Era::Any, plain(status)).await);
    }
    let old = json!({"code": -32000, "message": "Bad Request: Server not initialized"});
    expect!["1 probes, 1 handshakes: Legacy"]
        .assert_eq(&connect(Era::Any, error(400, old.clone())).await);
    let unknown = json!({"code": -32601, "message": "Method not found"});
    expect!["1 probes, 1 handshakes: Legacy"]
        .assert_eq(&connect(Era::Any, error(200, unknown)).await);
    expect!["1 probes, 0 handshakes: Refused the server supports only protocol versions before 2026-07-28, which this client was told not to use (MR0505)"]
        .assert_eq(&connect(Era::Modern, error(400, old)).await);
}

#[tokio::test]
async fn a_modern_error_is_never_followed_by_a_handshake() {
    let other = json!({"code": -32022, "message": "no", "data": {
        "supported": ["2027-01-01", "2025-11-25"], "requested": "2026-07-28"}});
    expect!["1 probes, 0 handshakes: Refused the server supports only the protocol versions 2027-01-01, 2025-11-25, and this client supports none of them (MR0505)"]
        .assert_eq(&connect(Era::Any, error(400, other)).await);
    // The version is known to both after all: asked once more, not for ever.
    let same = json!({"code": -32022, "message": "no", "data": {
        "supported": ["2026-07-28"], "requested": "2026-07-28"}});
    expect!["2 probes, 0 handshakes: Refused the server refused: no (MR0510)"]
        .assert_eq(&connect(Era::Any, error(400, same)).await);
    let capability = json!({"code": -32021, "message": "no", "data": {
        "requiredCapabilities": {"sampling": {}}}});
    expect!["1 probes, 0 handshakes: Refused the server refused: no: sampling (MR0510)"]
        .assert_eq(&connect(Era::Any, error(400, capability)).await);
}

#[tokio::test]
async fn trouble_never_downgrades() {
    for status in [429, 500, 502, 503] {
        let shown = connect(Era::Any, plain(status)).await;
        assert!(
            shown.starts_with("1 probes, 0 handshakes: Unavailable"),
            "{shown}"
        );
    }
    for status in [401, 403] {
        let shown = connect(Era::Any, plain(status)).await;
        assert!(shown.starts_with("1 probes, 0 handshakes: Auth"), "{shown}");
    }
    let internal = json!({"code": -32603, "message": "Internal error"});
    let shown = connect(Era::Any, error(500, internal)).await;
    assert!(
        shown.starts_with("1 probes, 0 handshakes: Refused"),
        "{shown}"
    );
    for body in [
        "<p>hello</p>",
        "{\"jsonrpc\":",
        "[]",
        "{\"jsonrpc\":\"2.0\"}",
    ] {
        let broken = move |_: &Seen| {
            let reply = Reply::status(200).with("content-type", "application/json");
            Said::Reply(reply.body(body))
        };
        let shown = connect(Era::Any, broken).await;
        assert!(
            shown.starts_with("1 probes, 0 handshakes: Peer"),
            "{body}: {shown}"
        );
    }
    let incomplete = |_: &Seen| Said::Result(json!({"supportedVersions": ["2026-07-28"]}));
    let shown = connect(Era::Any, incomplete).await;
    assert!(shown.starts_with("1 probes, 0 handshakes: Peer"), "{shown}");
}

#[tokio::test]
async fn a_legacy_server_is_probed_once_in_a_process_and_again_when_it_has_changed() {
    let updated = Arc::new(AtomicBool::new(false));
    let is_updated = updated.clone();
    let server = Scripted::raw(move |seen, _| {
        let updated = is_updated.load(Ordering::SeqCst);
        match seen.body["method"].as_str() {
            Some("server/discover") if updated => Said::Result(discovered()),
            Some("initialize") if !updated => Said::Result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "old", "version": "1"},
            })),
            Some("notifications/initialized") => Said::Reply(Reply::status(202)),
            _ => Said::Reply(Reply::status(405)),
        }
    })
    .await;
    for _ in 0..3 {
        let client = Client::connect(&server.url).await.unwrap();
        assert_eq!(client.era(), Era::Legacy);
    }
    assert_eq!(server.seen("server/discover").len(), 1);
    assert_eq!(server.seen("initialize").len(), 3);
    updated.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        let client = Client::connect(&server.url).await.unwrap();
        assert_eq!(client.era(), Era::Modern);
    }
    assert_eq!(server.seen("initialize").len(), 4);
}
