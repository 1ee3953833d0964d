//! The file of a gateway: it is read again while the gateway serves, and says where
//! the audit log is.

use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::command::{command, run, sterna};
use crate::running::Running;
use crate::server;

/// A gateway that reads its file again.
struct Changing {
    url: String,
    file: PathBuf,
    head: String,
    gateway: Running,
    folder: TempDir,
}

impl Changing {
    fn start(servers: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let (file, head) = (
            folder.path().join("gateway.toml"),
            format!("listen = \"{address}\"\naudit = \"audit.jsonl\"\n"),
        );
        std::fs::write(&file, format!("{head}{servers}")).unwrap();
        let mut gateway = command();
        gateway.arg("gateway").arg(&file);
        Self {
            gateway: Running::started(&mut gateway, &address.to_string()),
            url: format!("http://{address}/mcp"),
            file,
            head,
            folder,
        }
    }

    /// Replaces the file at once, as an operator should.
    fn becomes(&self, text: &str) {
        let next = self.folder.path().join("next");
        std::fs::write(&next, text).unwrap();
        std::fs::rename(&next, &self.file).unwrap();
    }

    fn tools(&self) -> Vec<String> {
        let listed = sterna(&format!("list {} --json", self.url)).json();
        let tools = listed["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn a_changed_file_is_taken_over_and_a_broken_one_is_not() {
    let url = server::start();
    let server = |name: &str, more: &str| {
        format!("[servers.{name}]\nurl = \"{url}\"\ntools = {{ allow = [\"echo\"] }}\n{more}")
    };
    let changing = Changing::start(&server("one", ""));
    assert_eq!(changing.tools(), ["echo"]);
    changing.becomes(&format!(
        "{}{}prefx = 1\n",
        changing.head,
        server("one", "")
    ));
    changing.gateway.says("MR0923");
    assert_eq!(changing.tools(), ["echo"]);
    let colliding = server("one", "prefix = \"\"\n") + &server("two", "prefix = \"\"\n");
    changing.becomes(&format!("{}{colliding}", changing.head));
    changing.gateway.says("MR0904");
    assert_eq!(changing.tools(), ["echo"]);
    let two = server("one", "") + &server("two", "");
    changing.becomes(&format!("{}{two}", changing.head));
    changing.gateway.says("was read again");
    assert_eq!(changing.tools(), ["one_echo", "two_echo"]);
    changing.becomes(&format!(
        "audience = \"https://other.example/mcp\"\n{}{two}",
        changing.head
    ));
    changing.gateway.says("MR0924");
    assert_eq!(changing.gateway.interrupt().0, Some(0));
}

#[test]
fn an_audit_log_is_complete_when_the_gateway_has_ended() {
    let url = server::start();
    let changing = Changing::start(&format!("[servers.desk]\nurl = \"{url}\"\n"));
    let mut call = command();
    let called = run(
        call.args(["call", &changing.url, "echo", "text=a-secret"]),
        "",
    );
    assert_eq!(called.code, 0, "{called:?}");
    let (code, _) = changing.gateway.interrupt();
    assert_eq!(code, Some(0));
    let log = std::fs::read_to_string(changing.folder.path().join("audit.jsonl")).unwrap();
    let line: Value = serde_json::from_str(log.trim()).unwrap();
    assert_eq!(
        (&line["name"], &line["server"], &line["outcome"]),
        (&"echo".into(), &"desk".into(), &"done".into())
    );
    assert!(!log.contains("a-secret"), "{log}");
}
