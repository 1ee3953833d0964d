//! Calls as code.

use std::process::Command;

use sterna_server::Server;

use crate::inspected;
use crate::visitor::Visitor;

/// The server, as an exported test wants it.
fn server() -> Server {
    inspected::desk()
}

/// The export of the test below, as it was written on the page.
mod exported {
    use super::server;

    include!("exported.in");
}

fn recorded(target: &str) -> Visitor {
    let visitor = Visitor::new(target, None);
    visitor.call("deploy", &[("arg/service", "web \"1\"")]);
    visitor.post("/calls/1/rounds/0/answer", &[("q0/reason", "tested\\")]);
    visitor
        .post("/calls/1/rounds/1/answer", &[("q0/owner", "ada")])
        .has("Keep it as a test");
    visitor
}

/// The text of one block of the page.
fn block(visitor: &Visitor, id: &str) -> String {
    let page = visitor.get("/calls/1/export?round=2");
    page.lacks("s1.");
    let (_, rest) = page.body.split_once(&format!("id=\"{id}\"")).unwrap();
    let (_, rest) = rest.split_once(">\n").unwrap();
    let text = rest.split("</textarea>").next().unwrap();
    let text = text
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    text.replace("&amp;", "&")
}

#[test]
fn a_call_becomes_a_test_that_compiles_and_passes() {
    let visitor = recorded(&inspected::start());
    let text = block(&visitor, "test");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/exported.in"),
            &text,
        )
        .unwrap();
    }
    // It is compiled and run as the module above.
    assert_eq!(text, include_str!("exported.in"));
}

#[test]
fn a_call_becomes_a_script_that_goes_through_the_rounds() {
    let tools = ["curl", "jq"].map(|tool| Command::new(tool).arg("--version").output().is_ok());
    if tools != [true; 2] {
        eprintln!("skipped: curl or jq is not installed");
        return;
    }
    let visitor = recorded(&inspected::start());
    let folder = tempfile::tempdir().unwrap();
    let script = block(&visitor, "script");
    let ran = Command::new("sh")
        .args(["-euc", &script])
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        said.contains(r#"plan for web \"1\": tested\\, ada"#),
        "{script}\n{said}"
    );
}

#[test]
fn an_altered_or_an_older_call_is_not_exported() {
    let visitor = Visitor::new(&inspected::start(), Some(inspected::keys()));
    visitor.call("deploy", &[("arg/service", "web"), ("eras", "both")]);
    assert_eq!(visitor.get("/calls/2/export").status, 404);
    visitor.post(
        "/calls/1/rounds/0/break",
        &[("attempt", "flip"), ("at", "60")],
    );
    assert_eq!(visitor.get("/calls/1/export?round=1").status, 404);
    assert_eq!(visitor.get("/calls/1/export?round=0").status, 200);
    assert_eq!(visitor.get("/calls/9/export").status, 404);
}
