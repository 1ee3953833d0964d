//! Somebody who does what a page says, in an empty folder, in a real shell.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{Expect as _, Regex, Session};
use tempfile::TempDir;

use super::page::Task;

/// What the reader does at a command that asks.
pub(super) struct Dialogue {
    /// A part of the command.
    pub(super) at: &'static str,
    /// What is seen, and what is typed then.
    pub(super) turns: &'static [(&'static str, &'static str)],
    /// How the command ends.
    pub(super) code: i32,
}

/// A shell in a folder of its own. What a page says is done to the letter, but
/// for where the checkout is, which ports are free, and that cargo neither
/// uses the network nor optimises.
pub(super) struct Reader {
    shell: OsSession,
    folder: TempDir,
    /// What stands on the page, and what is typed for it.
    instead: Vec<(String, String)>,
    /// The processes in the background, in the order of their start.
    pub(super) jobs: Vec<String>,
}

impl Reader {
    pub(super) fn new(ports: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        write_cargo(&bin.join("cargo"));
        let mut command = Command::new("bash");
        let path = std::env::var_os("PATH").unwrap();
        let path = path.to_str().unwrap();
        command
            .args(["--norc", "--noprofile", "--noediting", "-i"])
            .current_dir(folder.path())
            .env("PS1", PROMPT)
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("CARGO_INSTALL_ROOT", folder.path())
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_TERM_COLOR", "never")
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1");
        let mut shell = Session::spawn(command).unwrap();
        // The longest thing a reader waits for is a whole build.
        shell.set_expect_timeout(Some(Duration::from_secs(1500)));
        let mut instead = vec![
            ("../sterna/".to_owned(), workspace()),
            (" sterna/".to_owned(), format!(" {}", workspace())),
        ];
        for port in ports {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let free = free.local_addr().unwrap().port().to_string();
            instead.push(((*port).to_owned(), free));
        }
        let mut reader = Self {
            shell,
            folder,
            instead,
            jobs: Vec::new(),
        };
        reader.ends("the shell", 0);
        reader
    }

    /// Does everything a page says.
    pub(super) fn does(&mut self, tasks: Vec<Task>, dialogues: &[Dialogue]) {
        for task in tasks {
            match task {
                Task::File { name, text } => {
                    let text = self.as_typed(&text);
                    std::fs::write(self.folder.path().join("deployer").join(name), text).unwrap();
                }
                Task::Command(line) => {
                    let dialogue = dialogues.iter().find(|dialogue| line.contains(dialogue.at));
                    self.runs(&line, dialogue);
                }
            }
        }
    }

    fn runs(&mut self, line: &str, dialogue: Option<&Dialogue>) {
        self.shell.send_line(self.as_typed(line)).unwrap();
        if let Some(dialogue) = dialogue {
            self.talks(dialogue.turns);
        }
        if line.ends_with('&') {
            let started = self.shell.expect(Regex(r"\[\d+\] (\d+)\r")).unwrap();
            let id = String::from_utf8(started.get(1).unwrap().to_vec()).unwrap();
            self.jobs.push(id);
        }
        self.ends(line, dialogue.map_or(0, |dialogue| dialogue.code));
        if line.ends_with('&') {
            self.waits_for_a_port(line);
        }
    }

    /// Answers what a command asks.
    pub(super) fn talks(&mut self, turns: &[(&str, &str)]) {
        for (seen, typed) in turns {
            if let Err(error) = self.shell.expect(*seen) {
                panic!("{seen:?} was not shown: {error}");
            }
            self.shell.send(*typed).unwrap();
        }
    }

    /// Types a line that may ask; the reader has not seen its end yet.
    pub(super) fn begins(&mut self, line: &str) {
        self.shell.send_line(self.as_typed(line)).unwrap();
    }

    /// Waits for the prompt and looks at how the command ended.
    pub(super) fn ends(&mut self, line: &str, code: i32) {
        let prompt = self.shell.expect(Regex(r"<(\d+)>~ "));
        let prompt = prompt.unwrap_or_else(|error| panic!("`{line}` did not end: {error}"));
        let ended = String::from_utf8_lossy(prompt.get(1).unwrap());
        let seen = String::from_utf8_lossy(prompt.before());
        assert_eq!(ended, code.to_string(), "`{line}`: {seen}");
    }

    /// A command in the background is ready when its port is open: the one it
    /// names, or else the first of the page. A build may stand before that.
    fn waits_for_a_port(&mut self, line: &str) {
        let mut ports = self.instead[2..].iter();
        let named = ports.clone().find(|(port, _)| line.contains(port.as_str()));
        let (_, port) = named.or_else(|| ports.next()).unwrap();
        let opened = format!("(: < /dev/tcp/127.0.0.1/{port}) 2> /dev/null");
        let wait = format!("until {opened}; do kill -0 $! && sleep 0.1 || break; done; {opened}");
        self.begins(&wait);
        self.ends(line, 0);
    }

    fn as_typed(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (printed, typed) in &self.instead {
            text = text.replace(printed, typed);
        }
        text
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for job in &self.jobs {
            let _ = Command::new("kill").arg(job).status();
        }
    }
}

/// A cargo that builds what is here already: the versions of the workspace,
/// not optimised.
fn write_cargo(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let cargo = env!("CARGO");
    let script = format!(
        "#!/bin/sh\n\
         case $1 in\n\
         install) exec {cargo} \"$@\" --debug --locked ;;\n\
         new) {cargo} \"$@\" && cp {}Cargo.lock \"$2\" ;;\n\
         *) exec {cargo} \"$@\" ;;\n\
         esac\n",
        workspace()
    );
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Where the checkout is, with a slash at its end.
pub(super) fn workspace() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    format!("{}/", root.canonicalize().unwrap().display())
}

fn target() -> PathBuf {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap().to_owned()
}

const PROMPT: &str = "<$?>~ ";
