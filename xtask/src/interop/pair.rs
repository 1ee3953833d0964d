//! One client against one server in one era.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::cases::{self, Case, Outcome};
use super::differences;
use super::peer::Peer;
use super::tap::Tap;
use super::{Era, Role, our_client, our_server};
use crate::listening::Listening;

/// No case takes this long, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Pair<'a> {
    pub(super) peer: &'a Peer,
    pub(super) role: Role,
    pub(super) era: Era,
}

/// How one case ended.
pub(super) enum Cell {
    /// As the contract says.
    Right,
    /// Not as the contract says, for a reason in `docs/interop.md`.
    Differs(&'static str),
    /// Neither.
    Wrong(String),
}

impl Pair<'_> {
    /// Runs all cases; the cells are in their order.
    pub(super) fn run(&self, cases: &[Case]) -> Result<Vec<Cell>> {
        let (mut server, mut client) = match self.role {
            Role::Both => (self.peer.server(), self.peer.client()),
            Role::Client => (our_server(), self.peer.client()),
            Role::Commanded | Role::Inspected | Role::Server => (self.peer.server(), our_client()),
        };
        let server = Listening::start(&mut server)?;
        let tap = Tap::before(server.url())?;
        let mut client = client
            .arg(cases::file())
            .args([tap.url(), self.era.word()])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start the client for {}", self.peer.name))?;
        let lines = lines(&mut client);
        let cells = cases
            .iter()
            .map(|case| self.judge(case, &lines, &tap))
            .collect();
        client.kill().ok();
        client.wait()?;
        Ok(cells)
    }

    /// Runs each case in processes of its own.
    pub(super) fn run_commands(
        &self,
        cases: &[Case],
        fields: &Map<String, Value>,
        play: fn(&Case, &Map<String, Value>, &str, Era) -> Outcome,
    ) -> Result<Vec<Cell>> {
        let server = Listening::start(&mut self.peer.server())?;
        let tap = Tap::before(server.url())?;
        let run = |case| {
            let outcome = play(case, fields, tap.url(), self.era);
            self.verdict(case, &outcome, &tap.take())
        };
        Ok(cases.iter().map(run).collect())
    }

    fn judge(&self, case: &Case, lines: &Receiver<String>, tap: &Tap) -> Cell {
        let line = lines.recv_timeout(PATIENCE);
        let transcript = tap.take();
        let outcome = match line.as_deref().map(serde_json::from_str::<Outcome>) {
            Ok(Ok(outcome)) if outcome.id == case.id => outcome,
            Ok(_) => return Cell::Wrong(format!("the client printed {line:?}\n{transcript}")),
            Err(_) => {
                let what = "the client ended or hung before it said how the case went";
                return Cell::Wrong(format!("{what}\n{transcript}"));
            }
        };
        self.verdict(case, &outcome, &transcript)
    }

    fn verdict(&self, case: &Case, outcome: &Outcome, transcript: &str) -> Cell {
        let known = differences::known(self.peer.name, self.role, self.era, &case.id);
        match (case.complaint(outcome), known) {
            (None, None) => Cell::Right,
            (Some(_), Some(known)) => Cell::Differs(known.why),
            (Some(complaint), None) => Cell::Wrong(format!("{complaint}\n{transcript}")),
            (None, Some(known)) => Cell::Wrong(format!(
                "right, though `{}` is in the table of differences: take it out",
                known.why
            )),
        }
    }
}

/// The lines `client` prints; closed when it ends.
fn lines(client: &mut Child) -> Receiver<String> {
    let stdout = client.stdout.take().expect("stdout was piped");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
