//! Processes of servers end with their calls and with the gateway.

use std::path::Path;

use sterna_client::{Client, Era};
use sterna_gateway::{GatewayConfig, UpstreamConfig};
use tokio::task::JoinSet;

use crate::upstream::program;
use crate::{Running, names, until};

/// A server of 2025-11-25 that asks in every call and never ends one.
const ASKING: &str = r#"
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}; id=${id%%\}*}
  case $line in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"asking","version":"1"}}}\n' "$id";;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}}\n' "$id";;
    *'"method":"tools/call"'*) printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Well?","requestedSchema":{"type":"object","properties":{}}}}\n';;
  esac
done
"#;

/// Processes that were started by this one with this text in their arguments.
fn children(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let is_child = |process: &Path| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(mark)
    };
    let pids = processes.filter(|one| {
        let name = one.file_name();
        name.to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    });
    let own = std::process::id().to_string();
    let others = pids.filter(|one| *one.file_name() != *own);
    others.filter(|one| is_child(&one.path())).count()
}

fn asking(mark: &str) -> UpstreamConfig {
    program("asking", &["-c", ASKING, mark], Era::Legacy)
}

#[tokio::test]
async fn a_thousand_abandoned_calls_leave_no_process() {
    let mark = format!("sterna-abandoned-{}", std::process::id());
    let mut config = GatewayConfig::new(vec![asking(&mark)]);
    config.held_per_caller = 4;
    let gateway = Running::with(config, |server| server).await;
    let client = gateway.client(Era::Modern).await;
    let mut calling = JoinSet::new();
    for _ in 0..8 {
        let client: Client = client.clone();
        calling.spawn(async move {
            for _ in 0..125 {
                // It is asked, or refused because too many calls are held. The client never answers.
                let _ = client.call("ask").start().await;
            }
        });
    }
    while calling.join_next().await.is_some() {
        let most = children(&mark);
        assert!(most <= 16, "{most} processes");
    }
    assert!(children(&mark) > 0, "some calls are held");
    gateway.gateway.close().await;
    until("no process is left", || children(&mark) == 0).await;
}

#[tokio::test]
async fn a_gateway_that_is_dropped_takes_its_processes_with_it() {
    let mark = format!("sterna-dropped-{}", std::process::id());
    let gateway = Running::of([asking(&mark)]).await;
    let client = gateway.client(Era::Modern).await;
    client.call("ask").start().await.unwrap();
    assert!(children(&mark) > 0);
    drop((gateway, client));
    until("no process is left", || children(&mark) == 0).await;
}

#[tokio::test]
async fn a_caller_that_declares_other_capabilities_in_each_request_has_a_few_processes() {
    let mark = format!("sterna-declared-{}", std::process::id());
    let gateway = Running::of([asking(&mark)]).await;
    for number in 0..40 {
        let extension = format!("com.example/{number}").parse().unwrap();
        let builder = Client::builder(&gateway.url).era(Era::Modern);
        let client = builder.extension(&extension).connect().await.unwrap();
        assert_eq!(names(&client).await, "ask");
    }
    until("old processes have ended", || children(&mark) <= 17).await;
    gateway.gateway.close().await;
}
