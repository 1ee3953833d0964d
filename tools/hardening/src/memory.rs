//! Peers that try to fill the memory of the server.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::good::{Post, call, message, weather};
use crate::http2::Shut;
use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::tally::Tally;
use crate::wire::Wire;

/// Tries what is known to fill the memory of a server: names, lists, values
/// and answers as large as the limits of a request let them be.
///
/// The server has its default limits and [`OPTIONS`].
///
/// # Errors
///
/// A good request that was not answered, a connection that was not closed, or
/// more memory than [`MOST`].
pub fn try_all(subject: &Subject) -> Result<Tally> {
    let start = now();
    let mut suite = Suite {
        subject,
        tally: Tally::default(),
    };
    suite.names()?;
    suite.values()?;
    suite.unread()?;
    let took = start.elapsed();
    ensure!(took < LONGEST, "it took {took:?}");
    Ok(suite.tally)
}

struct Suite<'a> {
    subject: &'a Subject,
    tally: Tally,
}

impl Suite<'_> {
    /// Sends every request on a connection of its own and reads its answer.
    fn row(&mut self, tried: &'static str, times: usize, post: &Post) -> Result<()> {
        self.tally.begin(tried);
        let before = self.subject.resident()?;
        let bytes = post.to_bytes();
        for _ in 0..times {
            let mut wire = Wire::connect(self.subject.address())?;
            // A request that is refused by its head is not read to its end.
            let _ = wire.send(&bytes);
            let outcome = Outcome::read(&mut wire);
            self.tally.count(&outcome, &bytes[..bytes.len().min(200)])?;
        }
        let after = self.subject.resident()?;
        let kept = after.saturating_sub(before);
        ensure!(kept < MOST_KEPT, "{kept} KiB were kept after `{tried}`");
        self.is_well(tried)
    }

    /// Names and lists of names.
    fn names(&mut self) -> Result<()> {
        let long = "x".repeat(LARGE);
        let session = self.session()?;
        let in_session = |method: &str, params: Value| {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
            let mut post = Post::of(&message).with("mcp-protocol-version", "2025-11-25");
            post = post.without("mcp-method").without("mcp-name");
            post.and("mcp-session-id", &session)
        };
        self.row(
            "a subscription of a session to a resource whose address is 4 MB",
            TIMES,
            &in_session("resources/subscribe", json!({"uri": long})),
        )?;
        self.row(
            "a log level of 4 MB",
            TIMES,
            &in_session("logging/setLevel", json!({"level": long})),
        )?;
        self.row(
            "a request id of 4 MB",
            TIMES,
            &Post::of(&message(&long, "tools/list", json!({}))),
        )?;
        let filter = |uris: Value| {
            let wish = json!({"notifications": {"resourceSubscriptions": uris}});
            Post::of(&message("listener", "subscriptions/listen", wish))
        };
        self.row(
            "a listener that names 1,300,000 resources",
            TIMES,
            &filter(json!(vec![""; 1_300_000])),
        )?;
        self.row(
            "a listener that names a resource of 4 MB",
            TIMES,
            &filter(json!([long])),
        )
    }

    /// Values that are small as text and large in memory.
    fn values(&mut self) -> Result<()> {
        let good = weather();
        let text = String::from_utf8(good.body.clone())?;
        let nested = format!("{}{}", "[".repeat(100), "]".repeat(100));
        for (tried, value) in [
            (
                "4 MB of lists in lists, in an argument that no handler reads",
                format!("{nested},"),
            ),
            (
                "4 MB of lists of nothing, in an argument that no handler reads",
                "[],".to_owned(),
            ),
            (
                "4 MB of numbers of one digit, in an argument that no handler reads",
                "1,".to_owned(),
            ),
        ] {
            let values = value.repeat(LARGE / value.len());
            let argument = format!("\"New York\",\"unread\":[{values}0]");
            let body = text.replacen("\"New York\"", &argument, 1);
            self.row(tried, TIMES, &good.with_body(body))?;
        }
        Ok(())
    }

    /// Answers that are not read.
    fn unread(&mut self) -> Result<()> {
        let long = Post::of(&call("long", "long", &json!({"bytes": LARGE})));
        let tried = "200 connections that do not read an answer of 4 MB";
        self.tally.begin(tried);
        let mut wires = Vec::new();
        for _ in 0..200 {
            let mut wire = Wire::connect(self.subject.address())?;
            wire.send(&long.to_bytes())?;
            wires.push(wire);
        }
        for wire in &mut wires {
            // Whether there was memory for it depends on how many came before.
            let is_clean = wire.begins().is_ok();
            let outcome = Outcome::new("answered, refused or closed", is_clean);
            self.tally.count(&outcome, &long.body)?;
        }
        self.is_well(tried)?;
        drop(wires);
        let tried = "4 HTTP/2 connections of 100 answers of 4 MB, without room for a byte";
        self.tally.begin(tried);
        let mut shut = Vec::new();
        for _ in 0..4 {
            let mut connection = Shut::connect(self.subject.address())?;
            for _ in 0..100 {
                connection.post(&long)?;
            }
            shut.push(connection);
        }
        for connection in &mut shut {
            let closed = connection.closes(PATIENCE)?;
            let outcome = Outcome::new("closed", closed.is_some());
            self.tally.count(&outcome, &long.body)?;
        }
        self.is_well(tried)
    }

    /// Opens a session of 2025-11-25; its id.
    fn session(&self) -> Result<String> {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "1"},
        }});
        let post = Post::of(&hello).without("mcp-protocol-version");
        let mut wire = Wire::connect(self.subject.address())?;
        wire.send(&post.without("mcp-method").to_bytes())?;
        let answer = wire.answer()?.context("there is an answer")?;
        let id = answer.header("mcp-session-id");
        Ok(id.context("there is a session")?.to_owned())
    }

    /// A good request is answered, at the latest when the peers that do not
    /// read have been cut off, and the memory has stayed within its bound.
    fn is_well(&self, tried: &'static str) -> Result<()> {
        let start = now();
        loop {
            match self.subject.must_be_well() {
                Ok(()) => break,
                Err(_) if start.elapsed() < PATIENCE => std::thread::yield_now(),
                Err(error) => return Err(error.context(format!("a good request after `{tried}`"))),
            }
        }
        let peak = self.subject.peak()?;
        ensure!(peak < MOST, "{peak} KiB after `{tried}`");
        Ok(())
    }
}

fn now() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "this is a client, and it waits")]
    Instant::now()
}

/// Options of a server that gives up a peer that does not read after three
/// seconds.
pub const OPTIONS: [&str; 2] = ["--patience", "3000"];

/// The memory that the server may have held at once by the end, in KiB: its
/// budget of 256 MiB twice, because an answer has a copy while it is written
/// down and an allocator keeps some of what was freed.
pub const MOST: u64 = 512 << 10;

/// What may be kept of [`TIMES`] requests of 4 MB, in KiB: what an allocator
/// keeps for itself, and none of the requests.
const MOST_KEPT: u64 = 24 << 10;

/// How often a large request is sent.
const TIMES: usize = 12;

/// Less than the 4 MiB that a body may have.
const LARGE: usize = 4_000_000;

/// How long the server may take to find the peers that do not read.
const PATIENCE: Duration = Duration::from_secs(12);

/// For all of it, on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(300);
