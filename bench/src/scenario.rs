//! The scenarios of the benchmark: their requests, and the answers that are
//! right.

use std::net::SocketAddr;

use anyhow::Result;
use clap::ValueEnum;

use crate::wire::{self, Client, MESSAGE, NAME};

/// What is asked of a server, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// `echo`: one request, one answer
    Plain,
    /// `plain`, with every request different from the one before
    PlainVaried,
    /// `ask`: a question, its answer, the result; two requests
    Mrtr2,
    /// `mrtr2`, with every request and every question different from the one before
    Mrtr2Varied,
    /// `tools/list`
    List,
    /// `server/discover`
    Discover,
    /// `POST /checkout` of `tools/bench-axum`, which asks nothing: one request
    Route,
}

impl Scenario {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::PlainVaried => "plain-varied",
            Self::Mrtr2 => "mrtr2",
            Self::Mrtr2Varied => "mrtr2-varied",
            Self::List => "list",
            Self::Discover => "discover",
            Self::Route => "route",
        }
    }

    /// Returns true if no two turns are equal.
    pub fn is_varied(self) -> bool {
        matches!(self, Self::PlainVaried | Self::Mrtr2Varied)
    }

    /// The turn with this number, at the server `host`.
    pub fn turn(self, host: SocketAddr, number: u64) -> Turn {
        let (client, message, name) = if self.is_varied() {
            (
                Client::Varied(number),
                format!("{number:08x}, {MESSAGE}"),
                format!("{NAME} {number:08x}"),
            )
        } else {
            (Client::Constant, MESSAGE.to_owned(), NAME.to_owned())
        };
        Turn {
            scenario: self,
            host,
            client,
            message,
            name,
        }
    }
}

/// One run of a scenario.
pub struct Turn {
    scenario: Scenario,
    host: SocketAddr,
    client: Client,
    message: String,
    /// The answer to the question.
    name: String,
}

impl Turn {
    /// The request that begins it.
    pub fn first(&self) -> Vec<u8> {
        match self.scenario {
            Scenario::Plain | Scenario::PlainVaried => self.call("echo", ""),
            Scenario::Mrtr2 => self.call("ask", ""),
            Scenario::Mrtr2Varied => self.call("ask_about", ""),
            Scenario::List => wire::request(self.client, self.host, "tools/list", None, ""),
            Scenario::Discover => {
                wire::request(self.client, self.host, "server/discover", None, "")
            }
            Scenario::Route => wire::checkout(self.host),
        }
    }

    /// Checks the answer to the first request.
    pub fn check(&self, answer: &[u8]) -> Result<()> {
        match self.scenario {
            Scenario::Plain | Scenario::PlainVaried => wire::contains(answer, &self.message),
            Scenario::Mrtr2 => wire::state(answer).map(drop),
            Scenario::Mrtr2Varied => {
                wire::contains(answer, &self.message)?;
                wire::state(answer).map(drop)
            }
            Scenario::List => wire::contains(answer, r#""inputSchema""#),
            Scenario::Discover => wire::contains(answer, "2026-07-28"),
            Scenario::Route => wire::contains(answer, r#""paid":20,"by":"ada"}"#),
        }
    }

    /// The second request, which answers what `asked` asks; `None` if the
    /// scenario has only one.
    pub fn retry(&self, asked: &[u8]) -> Result<Option<Vec<u8>>> {
        let tool = match self.scenario {
            Scenario::Mrtr2 => "ask",
            Scenario::Mrtr2Varied => "ask_about",
            _ => return Ok(None),
        };
        let more = wire::accepting(asked, &self.name)?;
        Ok(Some(self.call(tool, &more)))
    }

    /// Checks the answer to the second request.
    pub fn check_retry(&self, answer: &[u8]) -> Result<()> {
        wire::contains(answer, &self.message)?;
        wire::contains(answer, &self.name)
    }

    fn call(&self, tool: &str, more: &str) -> Vec<u8> {
        let message = &self.message;
        let params = format!(r#","name":"{tool}","arguments":{{"message":"{message}"}}{more}"#);
        wire::request(self.client, self.host, "tools/call", Some(tool), &params)
    }
}
