//! Calls that every SDK's servers answer in the same way.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::Start;
use crate::shell::target_dir;

/// The servers, in the order of the table.
pub(super) const SERVERS: [&str; 5] = ["echo", "typed", "asks", "task", "offers"];

/// A call of one server by the `sterna` command.
pub(super) struct Case {
    server: &'static str,
    /// What the command is told, before `--` and the command of the server.
    words: &'static [&'static str],
    /// Text that the command prints.
    prints: &'static str,
    /// SDKs whose server does not serve this call.
    not_served_by: &'static [&'static str],
}

const fn case(
    server: &'static str,
    words: &'static [&'static str],
    prints: &'static str,
    not_served_by: &'static [&'static str],
) -> Case {
    Case {
        server,
        words,
        prints,
        not_served_by,
    }
}

const MODERN: &[&str] = &["call", "deploy", "service=billing", "--era", "modern"];
const LEGACY: &[&str] = &["call", "deploy", "service=billing", "--era", "legacy"];

pub(super) const CASES: [Case; 7] = [
    case("echo", &["call", "echo", "text=hi"], "hi", &[]),
    case(
        "typed",
        &["call", "forecast", "city=Bergen", "--json"],
        r#""structuredContent":{"celsius":21.5,"rain":true}"#,
        &[],
    ),
    case("asks", MODERN, "billing deployed: tested", &[]),
    // Their handlers ask clients of the older revisions in another way.
    case(
        "asks",
        LEGACY,
        "billing deployed: tested",
        &["rmcp/src/bin", "fastmcp"],
    ),
    // The TypeScript SDK does not have the tasks extension.
    case(
        "task",
        &["call", "print", "title=Terns"],
        "Terns is printed",
        &["typescript"],
    ),
    case(
        "offers",
        &["prompt", "review", "code=x"],
        "Review this code:\nx",
        &[],
    ),
    case(
        "offers",
        &["read", "paint://walls/3"],
        "Wall 3 is white.",
        &[],
    ),
];

impl Case {
    pub(super) fn title(&self) -> String {
        format!("{}: {}", self.server, self.words.join(" "))
    }

    pub(super) fn run(&self, start: &Start, sdk: &str) -> Result<()> {
        if self.not_served_by.contains(&sdk) {
            return Ok(());
        }
        let server = start(self.server);
        let folder = target_dir().join("compare");
        std::fs::create_dir_all(&folder)?;
        let mut sterna = Command::new(target_dir().join("debug/sterna"));
        sterna.args(self.words);
        if self.server == "asks" {
            sterna.args(["--answer", "reason=tested"]);
        }
        if !self.words.contains(&"--era") {
            sterna.args(["--era", "modern"]);
        }
        let output = sterna
            .args(["--no-input", "--"])
            .arg(server.get_program())
            .args(server.get_args())
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .context("the command does not start")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success() && printed.contains(self.prints),
            "{}\n{printed}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }
}
