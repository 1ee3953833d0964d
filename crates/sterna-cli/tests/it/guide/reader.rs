//! A reader who does what a page says, in an empty folder, in a real shell.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use expectrl::session::OsSession;
use expectrl::{Any, Expect as _, Regex, Session};
use tempfile::TempDir;

use super::page::Task;
use crate::project::{forget_the_test, target};

/// Input of the reader at a command that asks.
pub(super) struct Dialogue {
    /// A part of the command.
    pub(super) at: &'static str,
    /// Output to wait for, and the input that follows.
    pub(super) turns: &'static [(&'static str, &'static str)],
    /// The exit code of the command.
    pub(super) code: i32,
}

/// A shell in a folder of its own. What a page says is done to the letter, but
/// for where the checkout is and which ports are free; cargo does not use the
/// network, installs what has been built for the tests, and adds the crate of the
/// checkout.
pub(super) struct Reader {
    shell: OsSession,
    folder: TempDir,
    /// Text on the page, and the text typed in its place.
    instead: Vec<(String, String)>,
    /// The ports of the page, and those that are free.
    ports: Vec<(String, String)>,
    /// The processes in the background, in the order of their start.
    jobs: Vec<String>,
    /// The project that the page made, in which its files are.
    project: String,
    begun: Instant,
    /// Readers build programs of one name in one place, so one reads at a time.
    _turn: File,
}

impl Reader {
    pub(super) fn new(ports: &[&str]) -> Self {
        let turn = File::create(Path::new(env!("CARGO_TARGET_TMPDIR")).join("reader")).unwrap();
        turn.lock().unwrap();
        #[expect(
            clippy::disallowed_methods,
            reason = "measures what a newcomer waits for"
        )]
        let begun = Instant::now();
        let folder = TempDir::new().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        write_cargo(&bin);
        let path = std::env::var_os("PATH").unwrap();
        let mut command = Command::new("bash");
        command
            .args(["--norc", "--noprofile", "--noediting", "-i"])
            .current_dir(folder.path())
            .env("PS1", "<$?>~ ")
            .env("PATH", format!("{}:{}", bin.display(), path.display()))
            .env("CARGO_NET_OFFLINE", "true")
            .env("CARGO_TARGET_DIR", target())
            .env("CARGO_TERM_COLOR", "never")
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1");
        forget_the_test(&mut command);
        let mut shell = Session::spawn(command).unwrap();
        // The longest thing a reader waits for is a whole build.
        shell.set_expect_timeout(Some(Duration::from_secs(900)));
        let ports = ports.iter().map(|port| ((*port).to_owned(), free_port()));
        let ports: Vec<_> = ports.collect();
        let checkout = [
            ("../sterna/".to_owned(), workspace()),
            (" sterna/".to_owned(), format!(" {}", workspace())),
        ];
        let mut reader = Self {
            shell,
            folder,
            instead: checkout.into_iter().chain(ports.clone()).collect(),
            ports,
            jobs: Vec::new(),
            project: String::new(),
            begun,
            _turn: turn,
        };
        reader.ends("bash", 0);
        reader
    }

    /// Does everything a page says.
    #[track_caller]
    pub(super) fn does(&mut self, tasks: Vec<Task>, dialogues: &[Dialogue]) {
        for task in tasks {
            match task {
                Task::File { name, text } => {
                    let text = self.as_typed(&text);
                    let project = self.folder.path().join(&self.project);
                    std::fs::write(project.join(name), text).unwrap();
                }
                Task::Command(line) => {
                    let dialogue = dialogues.iter().find(|dialogue| line.contains(dialogue.at));
                    self.runs(&line, dialogue);
                }
            }
        }
    }

    #[track_caller]
    fn runs(&mut self, line: &str, dialogue: Option<&Dialogue>) {
        if let Some((_, project)) = line.split_once(" && cd ") {
            project.clone_into(&mut self.project);
        }
        self.begins(line);
        if let Some(dialogue) = dialogue {
            self.talks(line, dialogue.turns);
        }
        let is_job = line.ends_with('&');
        if is_job {
            let started = self.shell.expect(Regex(r"\[\d+\] (\d+)\r")).unwrap();
            let id = String::from_utf8(started.get(1).unwrap().to_vec()).unwrap();
            self.jobs.push(id);
        }
        self.ends(line, dialogue.map_or(0, |dialogue| dialogue.code));
        if is_job {
            self.waits_for_a_port(line);
        }
    }

    /// Types a line.
    pub(super) fn begins(&mut self, line: &str) {
        self.shell.send_line(self.as_typed(line)).unwrap();
    }

    /// Answers what a command asks.
    #[track_caller]
    pub(super) fn talks(&mut self, line: &str, turns: &[(&'static str, &'static str)]) {
        for (seen, typed) in turns {
            // A command that has ended shows nothing more.
            let either = Any::boxed(vec![Box::new(*seen), Box::new(Regex(PROMPT))]);
            let found = self.shell.expect(either);
            let found = found.unwrap_or_else(|error| panic!("`{line}`: no {seen:?}: {error}"));
            let shown = String::from_utf8_lossy(found.before());
            assert_eq!(
                found.get(0),
                Some(seen.as_bytes()),
                "`{line}` ended before {seen:?}: {shown}"
            );
            self.shell.send(*typed).unwrap();
        }
    }

    /// Waits for the prompt and looks at how the command ended.
    #[track_caller]
    pub(super) fn ends(&mut self, line: &str, code: i32) {
        let prompt = self.shell.expect(Regex(PROMPT));
        let prompt = prompt.unwrap_or_else(|error| panic!("`{line}` did not end: {error}"));
        let ended = String::from_utf8_lossy(prompt.get(1).unwrap());
        let shown = String::from_utf8_lossy(prompt.before());
        assert_eq!(ended, code.to_string(), "`{line}`: {shown}");
    }

    /// Stops what was started first.
    #[track_caller]
    pub(super) fn stops_a_job(&mut self) {
        let stopped = Command::new("kill").arg(self.jobs.remove(0)).status();
        assert!(stopped.unwrap().success());
    }

    /// A command in the background is ready when its port is open: the one it
    /// names, or else the first of the page. A build may stand before that.
    #[track_caller]
    fn waits_for_a_port(&mut self, line: &str) {
        let mut ports = self.ports.iter();
        let named = ports.clone().find(|(port, _)| line.contains(port.as_str()));
        let (_, port) = named.or_else(|| ports.next()).unwrap();
        let open = format!("(: < /dev/tcp/127.0.0.1/{port}) 2> /dev/null");
        let wait = format!("until {open}; do kill -0 $! && sleep 0.1 || break; done; {open}");
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
            // One that has ended by itself needs no help.
            let _ = Command::new("kill").arg(job).output();
        }
        eprintln!("{}: {:.1?}", self.project, self.begun.elapsed());
    }
}

/// A cargo that takes what is here already: the command that is under test, and
/// what the workspace has built, with its versions and its profile.
fn write_cargo(bin: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let (cargo, sterna) = (env!("CARGO"), env!("CARGO_BIN_EXE_sterna"));
    let (workspace, bin) = (workspace(), bin.display());
    let script = format!(
        "#!/bin/sh\n\
         case $1 in\n\
         install) grep -q '^name = \"sterna-cli\"' \"$3/Cargo.toml\" && cp {sterna} {bin} ;;\n\
         add) shift; case $* in *--path*) ;;\n\
             sterna*) shift; set -- --path {workspace}crates/sterna \"$@\" ;; esac\n\
             exec {cargo} add \"$@\" ;;\n\
         new) {cargo} \"$@\" && cp {workspace}Cargo.lock \"$2\" &&\n\
             sed -n '/^\\[profile\\.dev/,/^$/p' {workspace}Cargo.toml >> \"$2/Cargo.toml\" ;;\n\
         *) exec {cargo} \"$@\" ;;\n\
         esac\n",
    );
    let path = format!("{bin}/cargo");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A port that is free, and in which no port of a page is found.
fn free_port() -> String {
    let ports = std::iter::repeat_with(|| {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port().to_string()
    });
    let mut ports = ports.filter(|port| !port.contains("808"));
    ports.next().unwrap()
}

/// Path of the checkout, with a slash at its end.
fn workspace() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    format!("{}/", root.canonicalize().unwrap().display())
}

/// The prompt that shows that a command has ended, and with which code.
const PROMPT: &str = r"<(\d+)>~ ";
