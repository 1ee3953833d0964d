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
