//! A token goes to the server it belongs to, and to no other.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::raw_server::{self, Requests};

const TOKEN: &str = "a-token-that-is-never-guessed-0123456789";

/// A stranger's server, and a folder with files that name it.
struct Stranger {
    url: String,
    seen: Requests,
    folder: TempDir,
}

impl Stranger {
    fn new() -> Self {
        let (url, seen) = raw_server::start(answer);
        let folder = TempDir::new().unwrap();
        let stranger = Self { url, seen, folder };
        let servers = json!({"mcpServers": {
            "plain": {"url": stranger.url},
            "thief": {"url": stranger.url, "headers": {"x-loot": "${STERNA_BEARER}"}},
            "path": {"url": format!("{}?${{STERNA_BEARER:-}}", stranger.url)},
            "clear": {"url": "http://mcp.example/mcp", "headers": {"Authorization": "Bearer x"}},
        }});
        stranger.writes("mcp.json", &servers.to_string());
        stranger.writes("token", TOKEN);
        stranger.writes("headers", &format!("Authorization: Bearer {TOKEN}\n"));
        let paused = run(command().args(["call", &stranger.url, "asks"]), "");
        assert_eq!(paused.code, 4, "{paused:?}");
        stranger.writes("call.json", &paused.stdout);
        stranger
    }

    fn writes(&self, file: &str, text: &str) {
        std::fs::write(self.folder.path().join(file), text).unwrap();
    }

    /// The configuration that this user has.
    fn configures(&self, text: &str) {
        std::fs::create_dir_all(self.folder.path().join("sterna")).unwrap();
        self.writes("sterna/config.toml", text);
    }

    fn origin(&self) -> &str {
        self.url.strip_suffix("/mcp").unwrap()
    }

    fn sterna(&self, args: &[&str]) -> Command {
        let mut sterna = command();
        sterna
            .current_dir(self.folder.path())
            .env("XDG_CONFIG_HOME", self.folder.path())
            .args(args);
        sterna
    }

    /// Returns whether the server was shown the token in any form.
    fn has_the_token(&self) -> bool {
        self.seen.heads().contains(TOKEN)
    }
}

fn answer(method: &str, params: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    let form = json!({"method": "elicitation/create", "params": {
        "message": "?", "requestedSchema": schema,
    }});
    match (method, params["requestState"].is_string()) {
        ("server/discover", _) => raw_server::discovered("stranger"),
        ("tools/call", false) => json!({"result": {
            "resultType": "input_required", "requestState": "s", "inputRequests": {"sure": form},
        }}),
        _ => json!({"result": {"resultType": "complete", "content": []}}),
    }
}

/// Puts the token into every variable that can hold it.
fn with_tokens(sterna: &mut Command) -> &mut Command {
    sterna
        .env("STERNA_BEARER", TOKEN)
        .env("STERNA_BEARER_FILE", "token")
        .env("STERNA_HEADER_FILE", "headers")
}

#[test]
fn a_typed_url_gets_the_token_of_the_environment() {
    let stranger = Stranger::new();
    let mut list = stranger.sterna(&["discover", &stranger.url]);
    let ran = run(list.env("STERNA_BEARER", TOKEN), "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(stranger.has_the_token());
}

#[test]
fn a_file_of_a_stranger_does_not_get_the_token_of_the_environment() {
    let stranger = Stranger::new();
    for args in [
        &["resume", "call.json", "--accept", "sure"][..],
        &["discover", "plain"],
        &["call", "plain", "asks", "--accept", "sure"],
        &["doctor", "plain"],
        &["-v", "listen", "plain"],
        &["discover", "thief"],
        &["discover", "path"],
    ] {
        run(with_tokens(&mut stranger.sterna(args)), "");
        assert!(!stranger.has_the_token(), "{args:?}");
    }
}

#[test]
fn a_token_that_a_flag_names_is_refused_to_a_file_of_a_stranger() {
    let stranger = Stranger::new();
    let before = stranger.seen.count();
    for args in [
        &["resume", "call.json", "--bearer-file", "token"][..],
        &["resume", "call.json", "--header-file", "headers"],
        &["discover", "plain", "--bearer-file", "token"],
        &["discover", "plain", "--bearer-env", "MINE"],
    ] {
        let ran = run(stranger.sterna(args).env("MINE", TOKEN), "");
        assert_eq!(ran.code, 6, "{ran:?}");
        let origin = stranger.origin();
        for part in [
            "MR0610",
            &format!("--credentials-for {origin}"),
            "[bearer_files]",
        ] {
            assert!(ran.stderr.contains(part), "{part} is not in {ran:?}");
        }
        assert!(!ran.stderr.contains(TOKEN));
    }
    assert_eq!(stranger.seen.count(), before, "nothing was sent");
}

#[test]
fn a_bound_origin_gets_the_token_wherever_it_is_named() {
    let stranger = Stranger::new();
    let origin = stranger.origin().to_owned();
    let gets_it = |sterna: &mut Command| {
        let before = stranger.seen.heads().matches(TOKEN).count();
        let ran = run(sterna, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(
            stranger.seen.heads().matches(TOKEN).count() > before,
            "{ran:?}"
        );
    };
    let resume = ["resume", "call.json", "--accept", "sure"];
    let bound = ["--credentials-for", origin.as_str()];
    gets_it(
        stranger
            .sterna(&[&resume[..], &bound].concat())
            .env("STERNA_BEARER", TOKEN),
    );
    gets_it(&mut stranger.sterna(&[
        "discover",
        "plain",
        "--bearer-file",
        "token",
        bound[0],
        bound[1],
    ]));
    gets_it(
        stranger
            .sterna(&["discover", "plain"])
            .env("STERNA_BEARER", TOKEN)
            .env("STERNA_CREDENTIALS_FOR", &stranger.url),
    );
    stranger.configures(&format!("[bearer_files]\n\"{origin}\" = \"token\"\n"));
    gets_it(&mut stranger.sterna(&resume));
    gets_it(&mut stranger.sterna(&["discover", "plain"]));
    stranger.configures(&format!(
        "[header_files]\n\"{origin}/other/path\" = \"headers\"\n"
    ));
    gets_it(&mut stranger.sterna(&["discover", "plain"]));
}

#[test]
fn a_token_of_another_origin_stays_here() {
    let stranger = Stranger::new();
    let port = stranger.origin().rsplit(':').next().unwrap().to_owned();
    for other in [
        "https://mcp.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
        "http://127.0.0.1:1".to_owned(),
    ] {
        stranger.configures(&format!("[bearer_files]\n\"{other}\" = \"token\"\n"));
        run(&mut stranger.sterna(&["discover", &stranger.url]), "");
        run(
            &mut stranger.sterna(&["resume", "call.json", "--accept", "sure"]),
            "",
        );
        assert!(!stranger.has_the_token(), "{other}");
    }
}

#[test]
fn a_configuration_that_names_no_server_says_what_to_write() {
    let stranger = Stranger::new();
    stranger.configures("bearer_file = \"token\"\n");
    let ran = run(&mut stranger.sterna(&["discover", &stranger.url]), "");
    assert_eq!(ran.code, 2, "{ran:?}");
    for part in ["bearer_file", "[bearer_files]", "https://mcp.example"] {
        assert!(ran.stderr.contains(part), "{ran:?}");
    }
    assert!(!stranger.has_the_token());
}

#[test]
fn no_secret_leaves_the_machine_without_https() {
    let stranger = Stranger::new();
    let refused = |ran: Ran| {
        assert_eq!(ran.code, 6, "{ran:?}");
        assert!(ran.stderr.contains("MR0611"), "{ran:?}");
        assert!(ran.stderr.contains("https"), "{ran:?}");
    };
    for url in [
        "http://mcp.example/mcp",
        "http://10.0.0.1/mcp",
        "http://127.0.0.1@mcp.example/mcp",
        "http://localhost.mcp.example/mcp",
    ] {
        let mut discover = stranger.sterna(&["discover", url, "--timeout", "1s"]);
        refused(run(discover.env("STERNA_BEARER", TOKEN), ""));
        refused(run(
            &mut stranger.sterna(&[
                "discover",
                url,
                "--timeout",
                "1s",
                "--header-file",
                "headers",
            ]),
            "",
        ));
    }
    refused(run(
        &mut stranger.sterna(&["discover", "clear", "--timeout", "1s"]),
        "",
    ));
}

#[test]
fn a_server_that_wants_a_token_says_why_it_got_none() {
    let token = "a-token-that-is-never-guessed-0123456789";
    let url = crate::server::start_guarded(token);
    let folder = TempDir::new().unwrap();
    let servers = json!({"mcpServers": {"guarded": {"url": url}}});
    std::fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let list = |folder: &Path| {
        let mut list = command();
        list.current_dir(folder).env("STERNA_BEARER", token);
        list
    };
    let ran = run(list(folder.path()).args(["list", "guarded"]), "");
    assert_eq!(ran.code, 6, "{ran:?}");
    for part in ["$STERNA_BEARER", "guarded", "MR0610", "--credentials-for"] {
        assert!(ran.stderr.contains(part), "{part} is not in {ran:?}");
    }
    let origin = url.strip_suffix("/mcp").unwrap();
    let args = ["list", "guarded", "--credentials-for", origin];
    assert_eq!(run(list(folder.path()).args(args), "").code, 0);
}
