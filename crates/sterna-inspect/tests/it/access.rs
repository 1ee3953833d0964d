//! Access to the pages.

use crate::inspected;
use crate::visitor::{Visitor, inspector, send};

#[test]
fn a_ticket_opens_the_pages_once() {
    let (address, ticket) = inspector("http://127.0.0.1:1/mcp", None);
    let request = format!("GET /?ticket={ticket} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let first = send(address, &request);
    assert_eq!(first.status, 200);
    let cookie = first.header("set-cookie").unwrap();
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    first.lacks(&ticket);
    let second = send(address, &request);
    assert_eq!(second.status, 403);
    assert_eq!(second.header("set-cookie"), None);
    second.has("The ticket in this address was used before");
    let wrong = send(
        address,
        &request.replace(&ticket, &ticket.replace(char::is_numeric, "x")),
    );
    assert_eq!(wrong.status, 403);
}

#[test]
fn a_browser_that_goes_back_to_the_ticket_still_has_its_cookie() {
    let visitor = Visitor::new("http://127.0.0.1:1/mcp", None);
    assert_eq!(visitor.get("/?ticket=used").status, 200);
}

#[test]
fn without_the_cookie_a_request_learns_nothing() {
    let visitor = Visitor::new(&inspected::start(), None);
    let address = visitor.address;
    for path in [
        "/",
        "/calls",
        "/connection",
        "/inspect.css",
        "/inspect.js",
        "/events",
        "/nowhere",
    ] {
        for cookie in ["", "Cookie: sterna_inspect_1=x\r\n", "Cookie: a=b; c\r\n"] {
            let page = send(
                address,
                &format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{cookie}\r\n"),
            );
            assert_eq!(page.status, 403, "{path}");
            page.lacks("desk").lacks("/mcp").lacks("form_token");
        }
    }
}

#[test]
fn another_name_for_this_machine_is_refused() {
    let visitor = Visitor::new(&inspected::start(), None);
    let (address, cookie) = (visitor.address, &visitor.cookie);
    for host in [
        "evil.test",
        "evil.test:80",
        "127.0.0.1.evil.test",
        "192.0.2.1",
    ] {
        let page = send(
            address,
            &format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"),
        );
        assert_eq!(page.status, 403, "{host}");
        page.lacks("desk");
    }
    let page = send(
        address,
        &format!("GET / HTTP/1.1\r\nHost: localhost:9\r\nCookie: {cookie}\r\n\r\n"),
    );
    assert_eq!(page.status, 200, "a port that was forwarded");
}

#[test]
fn another_page_cannot_send_a_form() {
    let visitor = Visitor::new(&inspected::start(), None);
    let (address, cookie, token) = (visitor.address, &visitor.cookie, &visitor.form_token);
    let post = |headers: &str, body: &str| {
        let request = format!(
            "POST /reload HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\n{headers}\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        send(address, &request)
    };
    let good = format!("form_token={token}");
    let own = format!("Origin: http://{address}\r\n");
    assert_eq!(post(&own, &good).status, 303);
    assert_eq!(post("", &good).status, 303, "a client that is no browser");
    for origin in [
        "http://evil.test",
        "http://127.0.0.1:1",
        "http://localhost",
        "null",
        "",
    ] {
        let page = post(&format!("Origin: {origin}\r\n"), &good);
        assert_eq!(page.status, 403, "{origin}");
        assert_eq!(page.header("access-control-allow-origin"), None);
    }
    for site in ["cross-site", "same-site", "none"] {
        let page = post(&format!("Sec-Fetch-Site: {site}\r\n"), &good);
        assert_eq!(page.status, 403, "{site}");
    }
    for body in ["", "form_token=", "form_token=x", &good[..good.len() - 1]] {
        assert_eq!(post(&own, body).status, 403, "{body}");
    }
}

#[test]
fn another_page_cannot_read() {
    let visitor = Visitor::new(&inspected::start(), None);
    let (address, cookie) = (visitor.address, &visitor.cookie);
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("none", 200),
        ("same-origin", 200),
    ] {
        let page = send(
            address,
            &format!(
                "GET /calls HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nSec-Fetch-Site: {site}\r\n\r\n"
            ),
        );
        assert_eq!(page.status, status, "{site}");
    }
    // A preflight is not answered: no page of another origin may call.
    let page = send(
        address,
        &format!(
            "OPTIONS / HTTP/1.1\r\nHost: {address}\r\nOrigin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\n\r\n"
        ),
    );
    assert_eq!(page.status, 403);
    assert_eq!(page.header("access-control-allow-origin"), None);
}

#[test]
fn every_response_has_the_policy() {
    let visitor = Visitor::new(&inspected::start(), None);
    let address = visitor.address;
    let denied = send(
        address,
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
    );
    let foreign = send(address, "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    for page in [
        visitor.get("/"),
        visitor.get("/inspect.js"),
        visitor.get("/no"),
        denied,
        foreign,
    ] {
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"));
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        page.lacks(" style=\"")
            .lacks("onclick")
            .lacks("<style")
            .lacks("javascript:");
    }
}

#[test]
fn only_forms_are_taken() {
    let visitor = Visitor::new("http://127.0.0.1:1/mcp", None);
    let (address, cookie) = (visitor.address, &visitor.cookie);
    for kind in [
        "application/json",
        "text/plain",
        "multipart/form-data; boundary=x",
    ] {
        let page = send(
            address,
            &format!(
                "POST /reload HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nContent-Type: {kind}\r\nContent-Length: 2\r\n\r\n{{}}"
            ),
        );
        assert_eq!(page.status, 415, "{kind}");
    }
}
