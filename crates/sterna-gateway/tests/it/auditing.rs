//! The audit log and the metrics: each round of a call, and no value of it.

use std::path::PathBuf;

use serde_json::{Value, json};
use sterna_client::{Client, Era};
use sterna_gateway::{AuditTarget, GatewayConfig, UpstreamConfig};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use tempfile::TempDir;

use crate::sessions::{ANN, gate};
use crate::upstream::{at, http};
use crate::{BOTH, Running, get, serve, text, until};

/// A gateway whose audit log is a file.
struct Audited {
    gateway: Running,
    path: PathBuf,
    _folder: TempDir,
}

impl Audited {
    async fn start(servers: Vec<UpstreamConfig>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut config = GatewayConfig::new(servers);
        config.audit = Some(AuditTarget::File(path.clone()));
        Self {
            gateway: Running::with(config, |server| server.gate(gate())).await,
            path,
            _folder: folder,
        }
    }

    /// A client of Ann, who is asked and answers.
    async fn ann(&self) -> Client {
        let mut headers = http::HeaderMap::new();
        headers.insert("authorization", format!("Bearer {ANN}").parse().unwrap());
        let builder = Client::builder(&self.gateway.url).headers(headers);
        let builder = builder.on_form(async |_| {
            let content = ElicitContent::from_iter([("name", "a-secret-answer")]);
            Ok(ElicitResult::accept(content))
        });
        builder.connect().await.unwrap()
    }

    /// All lines, when the gateway has written them.
    async fn lines(&self) -> Vec<Value> {
        self.gateway.gateway.close().await;
        let text = std::fs::read_to_string(&self.path).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Members of a line that are the same in every run.
fn shown(line: &Value) -> Value {
    json!([
        line["method"],
        line["name"],
        line["server"],
        line["round"],
        line["outcome"]
    ])
}

#[tokio::test]
async fn each_round_has_a_line_that_says_who_did_what_with_which_outcome() {
    let server = http("desk", Era::Modern);
    let audited = Audited::start(vec![server.config.clone()]).await;
    let ann = audited.ann().await;
    let echoed = ann.call("echo").arg("word", "a-secret-argument");
    assert_eq!(text(&echoed.await.unwrap()), "a-secret-argument");
    ann.call("greet").await.unwrap();
    ann.call("fails").await.unwrap();
    ann.prompt("say")
        .arg("word", "a-secret-word")
        .await
        .unwrap();
    ann.read("note://none").await.unwrap_err();
    let lines = audited.lines().await;
    let seen: Vec<_> = lines.iter().map(shown).collect();
    let expected = [
        json!(["tools/call", "echo", "desk", 0, "done"]),
        json!(["tools/call", "greet", "desk", 0, "asked"]),
        json!(["tools/call", "greet", "desk", 1, "asked"]),
        json!(["tools/call", "greet", "desk", 2, "done"]),
        json!(["tools/call", "fails", "desk", 0, "failed"]),
        json!(["prompts/get", "say", "desk", 0, "done"]),
        json!(["resources/read", "note://none", "desk", 0, "refused"]),
    ];
    assert_eq!(seen, expected);
    let first = &lines[0];
    assert_eq!(first["who"], json!({"issuer": "static", "subject": "ann"}));
    // Of `{"word":"a-secret-argument"}`, as sha256sum has it.
    let digest = "b992cd72a5d1cd73367b202df7d635eb5284b0bbe304d58616d9d9e40eff6594";
    assert_eq!(first["argumentsSha256"], digest);
    assert_eq!(lines[1]["trace"], lines[3]["trace"], "rounds of one call");
    assert_eq!(lines[6]["code"], -32602);
    let all = std::fs::read_to_string(&audited.path).unwrap();
    for secret in ["a-secret", ANN, "Hello", "no such order"] {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_or_fails_has_a_line_too() {
    let server = http("desk", Era::Legacy);
    let mut dead = at("dead", "http://127.0.0.1:9/mcp", Era::Any);
    dead.prefix = "dead_".to_owned();
    let audited = Audited::start(vec![server.config.clone(), dead]).await;
    let ann = audited.ann().await;
    let call = ann.call("wait");
    let handle = call.handle();
    let mut calling = tokio::task::JoinSet::new();
    calling.spawn(call.into_future());
    let counts = &server.counts;
    let waiting = || counts.waiting.load(std::sync::atomic::Ordering::SeqCst) > 0;
    until("the server has the call", waiting).await;
    handle.cancel();
    let written = || std::fs::read_to_string(&audited.path).is_ok_and(|text| !text.is_empty());
    until("the line is written", written).await;
    let lines = audited.lines().await;
    assert_eq!(
        shown(&lines[0]),
        json!(["tools/call", "wait", "desk", 0, "cancelled"]),
        "{lines:?}"
    );
}

#[tokio::test]
async fn metrics_count_the_rounds_of_each_server() {
    let server = http("desk", Era::Modern);
    let dead = at("dead", "http://127.0.0.1:9/mcp", Era::Any);
    let config = GatewayConfig::new(vec![server.config.clone(), dead]);
    let gateway = Running::with(config, |server| {
        let mut http = sterna_server::http::HttpConfig::default();
        http.metrics = true;
        server.http(http)
    })
    .await;
    for era in BOTH {
        let client = gateway.plain(era).await;
        client.call("echo").arg("word", "tern").await.unwrap();
    }
    let (_, page) = get(&gateway.url.replace("/mcp", "/metrics")).await;
    for expected in [
        "sterna_gateway_rounds_total{server=\"desk\",outcome=\"done\"} 2\n",
        "sterna_gateway_round_seconds_count{server=\"desk\"} 2\n",
        "sterna_gateway_server_up{server=\"dead\"} 0\n",
        "sterna_gateway_server_up{server=\"desk\"} 1\n",
        "sterna_gateway_sessions{server=\"desk\"}",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_keeps_the_gateway_from_starting() {
    let (url, _serving) = serve(crate::upstream::server(&Default::default()));
    let mut config = GatewayConfig::new(vec![at("desk", &url, Era::Any)]);
    config.audit = Some(AuditTarget::File(PathBuf::from("/nonexistent/audit")));
    let error = sterna_gateway::Gateway::start(config).await.unwrap_err();
    assert_eq!(error.to_string(), "the audit log cannot be written");
}
