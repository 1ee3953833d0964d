//! The files that run the container, compared with the program that they run.
//! Neither a daemon nor a cluster is needed.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};
use sterna_seal::{Keyring, ThreadEntropy};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

const DOCKERFILE: &str = include_str!("../../container/Dockerfile");
const KUBERNETES: &str = include_str!("../../container/kubernetes.yaml");
const SERVICE_UNIT: &str = include_str!("../../container/mcp.service");
const SOCKET_UNIT: &str = include_str!("../../container/mcp.socket");
const PAGE: &str = include_str!("../../../docs/serverless.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Objects of the manifest, in order: deployment, service, disruption budget.
fn manifests() -> [Value; 3] {
    let all: Vec<Value> = serde_saphyr::from_multiple(KUBERNETES).unwrap();
    all.try_into().unwrap()
}

/// Object of a list that is called `name`.
fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let mut objects = list.as_array().unwrap().iter();
    objects.find(|object| object["name"] == name).unwrap()
}

fn texts(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap().iter();
    list.map(|text| text.as_str().unwrap()).collect()
}

/// Sends a request and returns its status and body.
async fn send(port: u16, request: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some((status, body.to_owned()))
}

#[test]
fn the_manifests_fit_together() {
    let [deployment, service, budget] = manifests();
    let pod = &deployment["spec"]["template"];
    let app = &pod["metadata"]["labels"]["app"];
    assert_eq!(deployment["spec"]["replicas"], 2);
    for selector in [
        &deployment["spec"]["selector"]["matchLabels"],
        &service["spec"]["selector"],
        &budget["spec"]["selector"]["matchLabels"],
    ] {
        assert_eq!(&selector["app"], app);
    }
    let container = &pod["spec"]["containers"][0];
    let port = named(&container["ports"], "http");
    let value = &named(&container["env"], "PORT")["value"];
    assert_eq!(value.as_str().unwrap(), port["containerPort"].to_string());
    assert_eq!(service["spec"]["ports"][0]["targetPort"], "http");
    let mount = &container["volumeMounts"][0];
    let volume = named(&pod["spec"]["volumes"], mount["name"].as_str().unwrap());
    assert_eq!(volume["secret"]["defaultMode"], 0o440);
    assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], true);
    // Kubernetes waits for longer than the server takes to end.
    let grace = pod["spec"]["terminationGracePeriodSeconds"]
        .as_u64()
        .unwrap();
    let drain = sterna_server::http::HttpConfig::default().timeouts.drain;
    assert!(Duration::from_secs(grace) > drain);
}

/// Starts the program as the manifest does, with the secret in a folder of the
/// test, and probes it as a kubelet does.
#[tokio::test]
async fn the_program_serves_what_the_manifest_promises() {
    let [deployment, ..] = manifests();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let folder = tempfile::tempdir().unwrap();
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    std::fs::write(folder.path().join("keys.toml"), ring.to_toml().as_str()).unwrap();
    std::fs::write(folder.path().join("tokens"), "a-token alice\n").unwrap();
    let mount = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    let mounted = folder.path().display().to_string();
    let arguments = texts(&container["args"]);
    let arguments = arguments
        .iter()
        .map(|text| text.replacen(mount, &mounted, 1));
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let variable = container["env"][0]["name"].as_str().unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_container"))
        .args(arguments)
        .env(variable, port.to_string())
        .spawn();
    let _process = Process(program.unwrap());

    for probe in ["livenessProbe", "readinessProbe"] {
        let probe = &container[probe]["httpGet"];
        assert_eq!(probe["port"], "http");
        let path = probe["path"].as_str().unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: 10.0.0.7:{port}\r\nConnection: close\r\n\r\n");
        let patience = Instant::now() + Duration::from_secs(30);
        let status = loop {
            if let Some((status, _)) = send(port, &request).await {
                break status;
            }
            assert!(Instant::now() < patience, "the program does not listen");
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(status, 200, "{path}");
    }

    let arguments = texts(&container["args"]);
    let host = arguments
        .iter()
        .find_map(|text| text.strip_prefix("--host="))
        .unwrap();
    let call = |host: &str, token: &str| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "interview", "arguments": {"questions": 1}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
            },
        }});
        let body = body.to_string();
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: interview\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let (status, body) = send(port, &call(host, "a-token")).await.unwrap();
    assert!(
        status == 200 && body.contains("input_required"),
        "{status} {body}"
    );
    assert_eq!(send(port, &call(host, "another")).await.unwrap().0, 401);
    assert_eq!(
        send(port, &call("elsewhere.example", "a-token"))
            .await
            .unwrap()
            .0,
        403
    );
}

/// Arguments of the instruction `name`, one list for each time it is there.
fn instructions(name: &str) -> Vec<Vec<&'static str>> {
    let lines = DOCKERFILE
        .lines()
        .filter_map(|line| line.strip_prefix(name));
    let words = lines.map(|line| line.split([' ', '[', ']', '"', ',']));
    words
        .map(|words| words.filter(|word| !word.is_empty()).collect())
        .collect()
}

#[test]
fn the_dockerfile_builds_and_starts_the_program() {
    let manifest = std::fs::read_to_string(format!("{ROOT}/Cargo.toml")).unwrap();
    let images = instructions("FROM");
    let version = images[0][0].strip_prefix("rust:").unwrap();
    let version = version.split('-').next().unwrap();
    assert!(
        manifest.contains(&format!("rust-version = \"{version}\"")),
        "{version}"
    );

    let run = instructions("RUN");
    let command = [
        "cargo",
        "build",
        "--release",
        "--locked",
        "-p",
        "examples",
        "--bin",
        "container",
    ];
    assert_eq!(run, [command]);
    let folder = instructions("WORKDIR")[0][0];
    let copied = instructions("COPY").pop().unwrap();
    let (stage, built) = (images[0][2], format!("{folder}/target/release/container"));
    assert_eq!(copied[..2], [&*format!("--from={stage}"), &*built]);
    let program = copied[2];
    assert_eq!(instructions("ENTRYPOINT"), [[program]]);
    assert!(SERVICE_UNIT.contains(&format!("ExecStart={program} ")));

    let [deployment, ..] = manifests();
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let port = container["ports"][0]["containerPort"].to_string();
    assert_eq!(instructions("EXPOSE"), [[&*port]]);
    let mount = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    let help = Command::new(env!("CARGO_BIN_EXE_container"))
        .arg("--help")
        .output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let unit = SERVICE_UNIT.split_whitespace();
    for word in instructions("CMD").pop().unwrap().into_iter().chain(unit) {
        if word.starts_with("--") {
            assert!(help.contains(word), "{word}\n{help}");
        } else if word.ends_with("/keys.toml") && word.starts_with('/') {
            assert!(word.starts_with(mount), "{word}");
        }
    }
}

/// The page shows the files as they are, and names files that are there.
#[test]
fn the_page_shows_these_files() {
    for file in [SERVICE_UNIT, SOCKET_UNIT] {
        assert!(PAGE.contains(file), "{file}");
    }
    let named = PAGE.split(['`', ' ', '\n', '(', ')']);
    let named = named.filter(|word| word.starts_with("examples/"));
    let named: Vec<_> = named.collect();
    assert!(named.len() >= 4, "{named:?}");
    for path in named {
        assert!(Path::new(ROOT).join(path).exists(), "{path}");
    }
}
