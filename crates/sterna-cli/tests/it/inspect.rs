//! `sterna inspect` as its users start and end it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use sterna_http::clock;

use crate::command::{command, run, sterna};
use crate::running::Running;
use crate::server;

/// The status and the body of a page.
fn get(url: &str) -> (String, String) {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (status, rest) = answer.split_once("\r\n").unwrap();
    (status.to_owned(), rest.to_owned())
}

#[test]
fn the_first_line_is_the_address_and_ctrl_c_ends_it() {
    let args = ["inspect", &server::start(), "--no-open"];
    let mut running = Running::until(&args, "Ctrl-C ends the inspector");
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let mut url = String::new();
    stdout.read_line(&mut url).unwrap();
    let url = url.trim();
    assert!(url.starts_with("http://127.0.0.1:"), "{url}");
    let (status, page) = get(url);
    assert_eq!(status, "HTTP/1.1 200 OK", "{page}");
    assert!(page.contains("HttpOnly; SameSite=Strict"), "{page}");
    assert_eq!(get(url).0, "HTTP/1.1 403 Forbidden");
    let (code, words) = running.interrupt();
    assert_eq!(code, Some(0), "{words}");
}

#[test]
fn for_programs_the_address_is_json() {
    let args = ["--json", "inspect", "--no-open", "http://127.0.0.1:1/mcp"];
    let mut running = Running::until(&args, "Ctrl-C ends the inspector");
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert!(said["url"].as_str().unwrap().contains("/?ticket="));
    assert_eq!(running.interrupt().0, Some(0));
}

#[test]
fn a_key_file_that_cannot_be_read_is_told_before_anything_is_served() {
    let ran = sterna("inspect http://127.0.0.1:1/mcp --no-open --keys /nonexistent");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(
        ran.stderr.contains("/nonexistent cannot be read"),
        "{ran:?}"
    );
    assert_eq!(sterna("inspect --no-open").code, 2);
    assert_eq!(
        sterna("inspect http://127.0.0.1:1/mcp extra --no-open").code,
        2
    );
}

/// The cookie that a ticket is exchanged for.
fn cookie_of(url: &str) -> String {
    let (status, page) = get(url);
    assert_eq!(status, "HTTP/1.1 200 OK", "{page}");
    let (_, rest) = page.split_once("et-cookie: ").unwrap();
    rest.split(';').next().unwrap().to_owned()
}

/// A page of an inspector, as its user sees it.
fn page(url: &str, cookie: &str, path: &str) -> String {
    let host = url.strip_prefix("http://").unwrap();
    let host = host.split('/').next().unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_client_is_recorded_on_its_way() {
    let target = server::start();
    let args = ["inspect", &target, "--no-open", "--record", "0"];
    let mut running = Running::until(&args, "Ctrl-C ends the inspector");
    let stdout = BufReader::new(running.child.stdout.take().unwrap());
    let lines: Vec<String> = stdout.lines().take(2).map(Result::unwrap).collect();
    let [url, record] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    let cookie = cookie_of(url);
    let listed = sterna(&format!("list {record}"));
    assert_eq!(listed.code, 0, "{listed:?}");
    let seen = page(url, &cookie, "/recorded");
    assert!(seen.contains("tools/list"), "{seen}");
    assert_eq!(running.interrupt().0, Some(0));

    for (listen, why) in [
        ("0.0.0.0:8700", "only this machine"),
        ("somewhere", "no address such as"),
    ] {
        let ran = sterna(&format!("inspect {target} --no-open --record {listen}"));
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains(why), "{ran:?}");
    }
    let ran = sterna("inspect --no-open --record 0 -- cat");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("write --record stdio"), "{ran:?}");
    for args in [
        format!("inspect --record stdio {target}"),
        "--json inspect --record stdio -- cat".to_owned(),
    ] {
        let ran = sterna(&args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    }
}

/// A server on stdio that answers each line, and says goodbye at the end.
const ECHO: &str = r#"while read -r line; do printf '%s\r\n' "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"heard\":\"$WORD\"}}"; done; printf bye; exit 3"#;

/// A client's server that is recorded: the process, and the address of its page.
fn recorded(script: &str, folder: &std::path::Path) -> (std::process::Child, String) {
    let file = folder.join("url");
    let mut child = command()
        .args(["inspect", "--record", "stdio", "--url-file"])
        .arg(&file)
        .args(["--", "sh", "-c", script])
        .env("WORD", "terns")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let url = std::fs::read_to_string(file).unwrap().trim().to_owned();
    assert!(line.contains(&url), "{line}");
    child.stderr = Some(stderr.into_inner());
    (child, url)
}

#[test]
fn a_client_on_stdio_is_recorded_and_hears_only_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, url) = recorded(ECHO, folder.path());
    let mut stdin = child.stdin.take().unwrap();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"deploy"}}"#;
    stdin.write_all(format!("{call}\n").as_bytes()).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut heard = String::new();
    stdout.read_line(&mut heard).unwrap();
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"heard\":\"terns\"}}\r\n";
    assert_eq!(heard, answer);
    let opened = get(&url);
    assert!(opened.1.contains("url=/recorded"), "{opened:?}");
    let (_, rest) = opened.1.split_once("et-cookie: ").unwrap();
    let cookie = rest.split(';').next().unwrap().to_owned();
    let begun = clock::now();
    let mut seen = String::new();
    while !seen.contains(">done<") {
        assert!(begun.elapsed() < Duration::from_secs(30), "{seen}");
        seen = page(&url, &cookie, "/recorded");
    }
    assert!(seen.contains("tools/call deploy"), "{seen}");

    // The end of the client's input ends the server, and that ends the recorder.
    drop(stdin);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "bye");
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let words = String::from_utf8(ended.stderr).unwrap();
    assert!(
        words.contains("the server has ended: exit status: 3"),
        "{words}"
    );
}

#[test]
fn a_recorder_on_stdio_that_is_told_to_end_tells_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "trap 'echo told; exit 0' TERM; echo ready; while :; do read -r x || sleep 0.05; done";
    let (mut child, _) = recorded(script, folder.path());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    // Its input has ended, which this server does not heed.
    drop(child.stdin.take());
    let id = child.id().to_string();
    run(std::process::Command::new("kill").args(["-TERM", &id]), "");
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!((line.as_str(), rest.as_str()), ("ready\n", "told\n"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_cannot_be_started_is_told_on_stderr_alone() {
    let ran = sterna("inspect --record stdio -- /nonexistent/server");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    assert!(
        ran.stderr
            .contains("`/nonexistent/server` cannot be started"),
        "{ran:?}"
    );
}

#[test]
fn a_kept_call_is_opened_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("call.json");
    let call = r#"{"sterna-inspect-call": 1, "call": {"target": "http://there/mcp", "era": "modern",
        "kind": "tool", "name": "deploy", "arguments": {"service": "web"},
        "rounds": [{"parent": null, "status": {"kind": "cancelled"}}]}}"#;
    std::fs::write(&file, call).unwrap();
    let file = file.to_str().unwrap();
    let mut running = Running::until(&["inspect", "--no-open", file], "Ctrl-C ends");
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let mut url = String::new();
    stdout.read_line(&mut url).unwrap();
    let cookie = cookie_of(url.trim());
    let seen = page(url.trim(), &cookie, "/calls/1");
    assert!(seen.contains("The call was cancelled."), "{seen}");
    assert!(seen.contains("http://there/mcp"), "{seen}");
    assert_eq!(running.interrupt().0, Some(0));

    std::fs::write(file, "{}").unwrap();
    let ran = sterna(&format!("inspect --no-open {file}"));
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("not a call"), "{ran:?}");
}

#[test]
fn a_store_that_is_none_is_told_before_anything_is_served() {
    let ran = sterna("inspect http://127.0.0.1:1/mcp --no-open --store /nonexistent/tasks.db");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("the store cannot be opened"), "{ran:?}");
    assert!(ran.stderr.contains("MR0705"), "{ran:?}");
    let ran = sterna("inspect http://127.0.0.1:1/mcp --no-open --store postgres://[ --schema x");
    assert_eq!(ran.code, 1, "{ran:?}");
}
