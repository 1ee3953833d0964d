use http::Request;

use super::*;

fn access(hosts: &[&str], origins: &[&str]) -> Access {
    let config = HttpConfig {
        hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
        origins: origins.iter().map(|&origin| origin.to_owned()).collect(),
        ..HttpConfig::default()
    };
    Access::new(&config).unwrap()
}

fn head(target: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post(target);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

#[track_caller]
fn check_origin(access: &Access, origin: &str, served: bool) {
    let head = head("/mcp", &[("origin", origin)]);
    let result = access.origin(&head.headers);
    assert_eq!(result.is_ok(), served, "{origin}");
}

#[track_caller]
fn check_host(access: &Access, host: &str, expected: Result<(), Refusal>) {
    let bound = Some("192.0.2.1:8080".parse().unwrap());
    let head = head("/mcp", &[("host", host)]);
    assert_eq!(access.host(&head, bound), expected, "{host}");
}

#[test]
fn pages_on_loopback_are_served_by_default_and_no_others() {
    let access = access(&[], &[]);
    for origin in [
        "http://localhost",
        "http://localhost:6274",
        "https://LOCALHOST:1",
        "http://127.0.0.1:8080",
        "http://127.9.9.9",
        "http://[::1]",
        "http://[::1]:6274",
    ] {
        check_origin(&access, origin, true);
    }
    for origin in [
        "null",
        "",
        "http://evil.example",
        "http://localhost.evil.example",
        "http://evil.example:80@localhost",
        "http://localhost@evil.example",
        "http://localhost/",
        "http://localhost:",
        "http://localhost:99999",
        "http://localhost:+1",
        "http://localhost.",
        "http://127.0.0.1.evil.example",
        "http://127.1",
        "http://0x7f.0.0.1",
        "http://0.0.0.0",
        "http://[::1",
        "http://[::1]x",
        "http://[::ffff:10.0.0.1]",
        "http://192.0.2.1:8080",
        "file://localhost",
        "chrome-extension://localhost",
        "localhost",
        "http://localhost http://evil.example",
    ] {
        check_origin(&access, origin, false);
    }
}

#[test]
fn a_listed_page_is_served_and_nothing_that_looks_like_it() {
    let access = access(
        &["mcp.example.com"],
        &["https://app.example.com", "vscode-webview://abc", "null"],
    );
    for origin in [
        "https://app.example.com",
        "HTTPS://APP.example.com",
        "vscode-webview://abc",
        "null",
        "http://localhost:3000",
    ] {
        check_origin(&access, origin, true);
    }
    for origin in [
        "http://app.example.com",
        "https://app.example.com:8443",
        "https://evil.app.example.com",
        "https://app.example.com.evil.example",
        "https://mcp.example.com",
    ] {
        check_origin(&access, origin, false);
    }
}

#[test]
fn two_origins_are_none() {
    let access = access(&[], &[]);
    let head = head(
        "/mcp",
        &[
            ("origin", "http://localhost"),
            ("origin", "http://localhost"),
        ],
    );
    assert_eq!(access.origin(&head.headers), Err(Refusal::ForeignOrigin));
}

#[test]
fn loopback_and_the_bound_address_are_our_names_by_default() {
    let access = access(&[], &[]);
    for host in [
        "localhost",
        "LocalHost:1234",
        "127.0.0.1:8080",
        "[::1]:8080",
        "[::1]",
        "192.0.2.1:8080",
        "192.0.2.1",
    ] {
        check_host(&access, host, Ok(()));
    }
    for host in [
        "evil.example.com",
        "localhost.evil.example",
        "192.0.2.1:9090",
        "192.0.2.2:8080",
        "0.0.0.0:8080",
    ] {
        check_host(&access, host, Err(Refusal::ForeignHost));
    }
    for host in ["", "a b", "localhost:x", "user@localhost", "[::1", "a/b"] {
        check_host(&access, host, Err(Refusal::BadHost));
    }
}

#[test]
fn a_listed_name_without_a_port_covers_every_port() {
    let access = access(&["mcp.example.com", "fixed.example.com:8443"], &[]);
    check_host(&access, "mcp.example.com", Ok(()));
    check_host(&access, "MCP.example.com:443", Ok(()));
    check_host(&access, "fixed.example.com:8443", Ok(()));
    let foreign = Err(Refusal::ForeignHost);
    check_host(&access, "fixed.example.com", foreign.clone());
    check_host(&access, "sub.mcp.example.com", foreign);
}

#[test]
fn a_request_names_one_host() {
    let access = access(&[], &[]);
    let check = |target: &str, hosts: &[&str], expected| {
        let headers: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
        let result = access.host(&head(target, &headers), None);
        assert_eq!(result, expected, "{target} {hosts:?}");
    };
    check("/mcp", &[], Err(Refusal::BadHost));
    check("/mcp", &["localhost", "localhost"], Err(Refusal::BadHost));
    check("http://localhost/mcp", &[], Ok(()));
    check("http://localhost/mcp", &["localhost"], Ok(()));
    check(
        "http://localhost/mcp",
        &["evil.example"],
        Err(Refusal::BadHost),
    );
    check(
        "http://evil.example/mcp",
        &["localhost"],
        Err(Refusal::BadHost),
    );
    check("http://evil.example/mcp", &[], Err(Refusal::ForeignHost));
}

#[test]
fn a_list_that_cannot_match_is_refused_when_configured() {
    for host in ["", "https://mcp.example.com", "a b", "mcp.example.com:x"] {
        let mut config = HttpConfig::default();
        config.hosts.push(host.to_owned());
        assert!(Access::new(&config).is_err(), "{host}");
    }
    for origin in ["", "app.example.com", "https://app.example.com/", "*"] {
        let mut config = HttpConfig::default();
        config.origins.push(origin.to_owned());
        assert!(Access::new(&config).is_err(), "{origin}");
    }
}
