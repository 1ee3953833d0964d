//! Requests that two readers could read in two ways.

use std::sync::atomic::Ordering;

use crate::desk::Server;
use crate::wire::post;

/// Sends `request` and everything until the connection ends; returns the
/// statuses that came back and how many calls reached the endpoint.
async fn check(request: &str, statuses: &[&str], calls: usize) {
    let server = Server::start(|_| {});
    let mut wire = server.connect().await;
    wire.try_send(request.as_bytes()).await;
    let said = wire.rest().await;
    let found: Vec<_> = said
        .lines()
        .filter_map(|line| line.strip_prefix("HTTP/1.1 "))
        .map(|line| &line[..3])
        .collect();
    assert_eq!(found, statuses, "{request}");
    let begun = server.state.begun.load(Ordering::SeqCst);
    assert_eq!(begun, calls, "{request}");
}

/// A call whose length is told by `lines`, with another call behind it.
fn shape(lines: &str, body: &str) -> String {
    let head = post("", "").replace("Content-Length: 0\r\n\r\n", "");
    format!("{head}{lines}\r\n{body}{}", post("", "smuggled"))
}

#[tokio::test]
async fn two_ways_to_tell_the_length_end_the_connection_after_one_answer() {
    for lines in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
    ] {
        check(&shape(lines, "1\r\nx\r\n0\r\n\r\n"), &["200"], 1).await;
    }
}

#[tokio::test]
async fn a_length_that_is_no_length_is_refused() {
    for lines in [
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1, 2\r\n",
        "Content-Length: +1\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: 0x1\r\n",
        "Content-Length: 1 1\r\n",
        "Content-Length: \r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length : 1\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding\t: chunked\r\n",
        "X: y\r\n folded\r\n",
    ] {
        check(&shape(lines, "x"), &["400"], 0).await;
    }
}

#[tokio::test]
async fn a_chunk_that_is_no_chunk_is_refused() {
    let chunked = "Transfer-Encoding: chunked\r\n";
    for body in [
        "x\r\n",
        "-1\r\nx\r\n0\r\n\r\n",
        "0x1\r\nx\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n",
        "1\r\nxy\r\n0\r\n\r\n",
    ] {
        check(&shape(chunked, body), &["400"], 0).await;
    }
}

#[tokio::test]
async fn an_old_client_cannot_send_chunks() {
    let request = shape("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n");
    check(&request.replace("HTTP/1.1", "HTTP/1.0"), &["400"], 0).await;
}
