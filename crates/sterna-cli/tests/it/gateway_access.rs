//! Who may use a gateway, and what its servers are shown.

use std::net::TcpListener;
use std::path::Path;

use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::issuer::Issuer;
use crate::running::Running;
use crate::server;

/// A running gateway with a file of its own, and the issuer of its callers.
struct Access {
    issuer: Issuer,
    url: String,
    upstream: server::Tapped,
    folder: TempDir,
    gateway: Option<Running>,
}

impl Drop for Access {
    fn drop(&mut self) {
        self.gateway.take().map(Running::interrupt);
    }
}

impl Access {
    fn start() -> Self {
        let (issuer, upstream) = (Issuer::start(), server::start_tapped("for-"));
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let (login, url) = (issuer.url(), format!("http://{address}/mcp"));
        let file = format!(
            r#"
            listen = "{address}"
            audience = "{url}"
            [auth]
            issuer = "{login}"
            scopes = ["mcp"]
            tools = {{ "fail" = ["fail"] }}
            [servers.desk]
            url = "{}"
            credential = {{ exchange = "{login}/token", client = "gateway", secret_file = "secret", audience = "desk" }}
            "#,
            upstream.url
        );
        std::fs::write(folder.path().join("gateway.toml"), file).unwrap();
        std::fs::write(folder.path().join("secret"), "s3cret\n").unwrap();
        let mut gateway = command();
        gateway
            .arg("gateway")
            .arg(folder.path().join("gateway.toml"));
        Self {
            gateway: Some(Running::started(&mut gateway, &address.to_string())),
            issuer,
            url,
            upstream,
            folder,
        }
    }

    fn call(&self, token: &str, tool: &[&str]) -> Ran {
        let mut call = command();
        call.env("STERNA_BEARER", token);
        run(call.args(["call", &self.url]).args(tool), "")
    }
}

#[test]
fn callers_of_an_issuer_are_let_in_and_their_tokens_stay_at_the_gateway() {
    let access = Access::start();
    let token = access.issuer.token("ann", &access.url, "mcp");
    let called = access.call(&token, &["echo", "text=tern"]);
    assert_eq!(called.code, 0, "{called:?}");
    let elsewhere = access
        .issuer
        .token("ann", "https://other.example/mcp", "mcp");
    let narrow = access.issuer.token("ann", &access.url, "profile");
    let foreign = Issuer::start().token("ann", &access.url, "mcp");
    for refused in [&elsewhere, &narrow, &foreign, "nonsense"] {
        let called = access.call(refused, &["echo", "text=tern"]);
        assert_eq!(called.code, 6, "{called:?}");
    }
    let heads = access.upstream.heads();
    assert!(heads.contains("Bearer for-ann"), "{heads}");
    assert!(!heads.contains(&token), "{heads}");
    assert_eq!(access.issuer.traded(), [token]);
}

#[test]
fn a_tool_may_need_a_scope_of_its_own() {
    let access = Access::start();
    let called = access.call(&access.issuer.token("ann", &access.url, "mcp"), &["fail"]);
    assert_eq!(called.code, 6, "{called:?}");
    let token = access.issuer.token("ann", &access.url, "mcp fail");
    assert_eq!(access.call(&token, &["fail"]).code, 3);
}

#[test]
fn a_check_says_which_credential_a_server_is_shown() {
    let access = Access::start();
    let file = access.folder.path().join("gateway.toml");
    let checked = run(
        command().args(["gateway", "check", "--json"]).arg(&file),
        "",
    );
    assert_eq!(checked.code, 0, "{checked:?}");
    assert_eq!(checked.json()["servers"][0]["credential"], "exchange");
}

#[test]
fn a_file_that_lets_in_no_caller_for_certain_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("tokens"), "t0ken ann\n").unwrap();
    let server = "[servers.desk]\nurl = 'http://127.0.0.1:9/mcp'\n";
    let exchange = "credential = { exchange = 'http://127.0.0.1:9/token', client = 'gw' }\n";
    let auth = "[auth]\nissuer = 'http://127.0.0.1:9'\n";
    for (text, flags, expected) in [
        (format!("{auth}{server}"), None, "no `audience`"),
        (
            format!("tokens = 'tokens'\naudience = 'http://127.0.0.1/mcp'\n{auth}{server}"),
            None,
            "both `tokens` and `[auth]`",
        ),
        (format!("{server}{exchange}"), None, "needs `[auth]`"),
        (
            format!("audience = 'http://127.0.0.1/mcp'\n{auth}{server}{exchange}"),
            Some("--stdio"),
            "shows no token",
        ),
        (
            format!(
                "audience = 'http://127.0.0.1/mcp'\n[auth]\nissuer = 'http://login.example'\n{server}"
            ),
            None,
            "neither an https address",
        ),
    ] {
        let refused = start(folder.path(), &text, flags);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(expected), "{expected}: {refused:?}");
    }
}

/// Starts a gateway with this file, which it refuses.
fn start(folder: &Path, text: &str, flags: Option<&str>) -> Ran {
    let file = folder.join("gateway.toml");
    std::fs::write(&file, text).unwrap();
    run(command().arg("gateway").arg(&file).args(flags), "")
}
