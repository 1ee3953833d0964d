//! `sterna install`: what a host finds in its configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::server;
use crate::terminal::{DOWN, ENTER, User};

const PAGE: &str = include_str!("../../../../docs/hosts.md");

/// The home of a user, with a server in it that can be started.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        fs::write(folder.path().join("bin/greeter"), "").unwrap();
        Self(folder)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap()
    }

    fn install(&self, args: &str) -> Ran {
        let mut install = command();
        install
            .current_dir(self.0.path())
            .env("HOME", self.0.path());
        install.env_remove("XDG_CONFIG_HOME");
        run(install.arg("install").args(args.split(' ')), "")
    }
}

#[test]
fn every_host_gets_an_entry_in_its_own_shape() {
    let home = Home::new();
    let program = home.at("bin/greeter").display().to_string();
    for (host, file, expected) in [
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            expect![[
                r#"{"mcpServers":{"hi":{"command":"GREETER","args":["--fast"],"env":{"A":"b=c"}}}}"#
            ]],
        ),
        (
            "claude-code",
            ".claude.json",
            expect![[
                r#"{"mcpServers":{"hi":{"type":"stdio","command":"GREETER","args":["--fast"],"env":{"A":"b=c"}}}}"#
            ]],
        ),
        (
            "cursor",
            ".cursor/mcp.json",
            expect![[
                r#"{"mcpServers":{"hi":{"command":"GREETER","args":["--fast"],"env":{"A":"b=c"}}}}"#
            ]],
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            expect![[
                r#"{"servers":{"hi":{"type":"stdio","command":"GREETER","args":["--fast"],"env":{"A":"b=c"}}}}"#
            ]],
        ),
    ] {
        let ran = home.install(&format!(
            "{host} hi --yes --env A=b=c -- bin/greeter --fast"
        ));
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(
            ran.stdout,
            format!("{}\n", fs::canonicalize(home.at(file)).unwrap().display())
        );
        let written = home.json(file).to_string().replace(&program, "GREETER");
        expected.assert_eq(&written);
    }
}

#[test]
fn a_project_has_paths_that_hold_on_every_machine() {
    let home = Home::new();
    for (host, file, program) in [
        ("claude-code", ".mcp.json", "./bin/greeter"),
        (
            "cursor",
            ".cursor/mcp.json",
            "${workspaceFolder}/bin/greeter",
        ),
        (
            "vscode",
            ".vscode/mcp.json",
            "${workspaceFolder}/bin/greeter",
        ),
    ] {
        let ran = home.install(&format!("{host} hi --yes --project -- ./bin/greeter"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = home.text(file);
        assert!(
            text.contains(&format!("\"command\": \"{program}\"")),
            "{text}"
        );
    }
    let ran = home.install("claude-desktop hi --yes --project -- ./bin/greeter");
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_url_is_written_for_hosts_that_take_one() {
    let home = Home::new();
    let url = "https://mcp.example/mcp";
    for (host, file, member) in [
        ("claude-code", ".claude.json", "mcpServers"),
        ("cursor", ".cursor/mcp.json", "mcpServers"),
        ("vscode", ".config/Code/User/mcp.json", "servers"),
    ] {
        assert_eq!(home.install(&format!("{host} hi {url} --yes")).code, 0);
        assert_eq!(home.json(file)[member]["hi"]["url"], url);
    }
    let ran = home.install(&format!("claude-desktop hi {url} --yes"));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("Connectors"), "{ran:?}");
    assert_eq!(home.install("cursor hi ftp://x --yes").code, 2);
    assert_eq!(home.install("cursor hi").code, 2);
    assert_eq!(home.install("cursor two=words https://x --yes").code, 2);
}

#[test]
fn what_is_there_stays_as_it_is_and_has_a_copy() {
    let home = Home::new();
    let before = "{\n\t\"theme\" : \"dark\",\n\t\"mcpServers\": {\n\t\t\"a\": {\"url\":\"http://a\"}\n\t}\n}\n";
    fs::create_dir(home.at(".cursor")).unwrap();
    fs::write(home.at(".cursor/mcp.json"), before).unwrap();
    let ran = home.install("cursor b https://b --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    let added = ",\n\t\t\"b\": {\n\t\t\t\"url\": \"https://b\"\n\t\t}\n\t}\n}\n";
    let (kept, _) = before.split_at(before.find("\n\t}\n}").unwrap());
    assert_eq!(home.text(".cursor/mcp.json"), format!("{kept}{added}"));
    assert_eq!(home.text(".cursor/mcp.json.bak"), before);

    // The same again changes nothing, and makes no copy.
    let ran = home.install("cursor b https://b --yes");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("has this entry already"), "{ran:?}");
    assert!(!home.at(".cursor/mcp.json.bak2").exists());
    assert_eq!(home.install("cursor b https://other --yes").code, 0);
    assert!(home.text(".cursor/mcp.json.bak2").contains("https://b"));
    assert_eq!(home.text(".cursor/mcp.json.bak"), before);
}

#[test]
fn a_file_with_comments_is_left_alone_and_the_entry_is_shown() {
    let home = Home::new();
    let before = "{\n  // my servers\n  \"servers\": {}\n}\n";
    fs::create_dir_all(home.at(".config/Code/User")).unwrap();
    fs::write(home.at(".config/Code/User/mcp.json"), before).unwrap();
    let ran = home.install("vscode hi https://x/mcp --yes");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("comments"), "{ran:?}");
    assert!(
        ran.stderr
            .contains("add this to `servers` in it:\n\"hi\": {"),
        "{ran:?}"
    );
    assert_eq!(home.text(".config/Code/User/mcp.json"), before);
    assert!(!home.at(".config/Code/User/mcp.json.bak").exists());
}

#[test]
#[cfg(unix)]
fn a_link_stays_one_and_the_mode_of_the_file_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::new();
    fs::create_dir(home.at("dotfiles")).unwrap();
    fs::create_dir(home.at(".cursor")).unwrap();
    fs::write(home.at("dotfiles/mcp.json"), "{}").unwrap();
    fs::set_permissions(
        home.at("dotfiles/mcp.json"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    std::os::unix::fs::symlink("../dotfiles/mcp.json", home.at(".cursor/mcp.json")).unwrap();
    assert_eq!(home.install("cursor hi https://x --yes").code, 0);
    assert!(
        fs::symlink_metadata(home.at(".cursor/mcp.json"))
            .unwrap()
            .is_symlink()
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.at("dotfiles/mcp.json")), 0o640);
    assert_eq!(mode(&home.at("dotfiles/mcp.json.bak")), 0o600);
    // A new file is its user's own, as it may come to hold a secret.
    assert_eq!(home.install("claude-code hi https://x --yes").code, 0);
    assert_eq!(mode(&home.at(".claude.json")), 0o600);
}

#[test]
fn a_person_is_asked_and_a_script_is_told_how_to_agree() {
    let home = Home::new();
    let ran = home.install("cursor hi https://x");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("--yes"), "{ran:?}");
    assert!(!home.at(".cursor").exists());
    let asks = || {
        let mut install = Command::new(env!("CARGO_BIN_EXE_sterna"));
        install.env("HOME", home.0.path());
        install.args(["install", "cursor", "hi", "https://x"]);
        User::types_in(install)
            .sees("\"url\": \"https://x\"")
            .sees("Write this?")
    };
    asks()
        .types(DOWN)
        .types(ENTER)
        .sees("nothing was written")
        .ends_with(5);
    assert!(!home.at(".cursor").exists());
    asks().types(ENTER).sees("mcp.json").ends_with(0);
    assert_eq!(
        home.json(".cursor/mcp.json")["mcpServers"]["hi"]["url"],
        "https://x"
    );
}

#[test]
fn a_program_that_is_not_there_is_not_written() {
    let home = Home::new();
    let ran = home.install("cursor hi --yes -- target/release/greeter");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("cargo build --release"), "{ran:?}");
    let ran = home.install("cursor hi --yes -- no-such-program-here");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("in no folder of $PATH"), "{ran:?}");
}

#[test]
fn what_was_written_is_an_mcp_json_for_this_command_too() {
    let home = Home::new();
    let url = server::start();
    let url = url.as_str();
    assert_eq!(
        home.install(&format!("vscode hi {url} --yes --project"))
            .code,
        0
    );
    assert_eq!(
        home.install(&format!("cursor hi {url} --yes --project"))
            .code,
        0
    );
    for file in [".vscode/mcp.json", ".cursor/mcp.json"] {
        let mut list = command();
        list.args(["list", "hi", "--mcp-json"]).arg(home.at(file));
        let ran = run(&mut list, "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

#[test]
fn the_snippets_of_the_page_are_what_the_command_writes() {
    let home = Home::new();
    let mut shown = 0;
    let mut blocks = PAGE.split("```").skip(1).step_by(2);
    while let Some(block) = blocks.next() {
        let Some(line) = block.strip_prefix("console\nsterna install ") else {
            continue;
        };
        let line = line.trim_end();
        let (options, command) = line.split_once(" -- ").unwrap_or((line, ""));
        let command = match command {
            "" => String::new(),
            command => format!(" -- {command}"),
        };
        let ran = home.install(&format!("{options} --print{command}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let snippet = blocks.next().unwrap().strip_prefix("json\n").unwrap();
        assert_eq!(ran.stdout, snippet, "{line}");
        shown += 1;
    }
    assert_eq!(shown, 8);
    assert_eq!(fs::read_dir(home.0.path()).unwrap().count(), 1);
}
