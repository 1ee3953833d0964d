//! `sterna inspect` as its users start and end it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::command::sterna;
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
    assert!(ran.stderr.contains("not a command"), "{ran:?}");
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
