//! Connections that are wrong: shapes that two readers could read in two ways,
//! and peers that hold us up.

use anyhow::{Context, Result};
use serde_json::json;

use crate::good::{Post, call, listen, weather};
use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::tally::Tally;
use crate::wire::Wire;

/// Options of a server that loses its patience while somebody watches.
pub const IMPATIENT: [&str; 2] = ["--patience", "400"];

/// Tries everything that can be wrong with a connection, on a server that is
/// [`IMPATIENT`].
///
/// # Errors
///
/// A connection that was not ended, or a good request that was not answered.
pub fn try_all(subject: &Subject) -> Result<Tally> {
    let mut suite = Suite {
        subject,
        tally: Tally::default(),
    };
    suite.smuggle()?;
    suite.dawdle()?;
    suite.never_read()?;
    Ok(suite.tally)
}

struct Suite<'a> {
    subject: &'a Subject,
    tally: Tally,
}

impl Suite<'_> {
    fn row(
        &mut self,
        tried: &'static str,
        shapes: impl IntoIterator<Item = Vec<u8>>,
        play: impl Fn(&mut Wire, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.tally.begin(tried);
        for shape in shapes {
            let mut wire = Wire::connect(self.subject.address())?;
            // Who has heard enough may hang up while we still speak.
            let _ = play(&mut wire, &shape);
            let outcome = listen_to_the_end(&mut wire);
            self.tally.count(&outcome, &shape)?;
        }
        let well = self.subject.must_be_well();
        well.with_context(|| format!("a good request after `{tried}`"))
    }

    /// A peer that stops sending has gone, as far as can be seen: whether its
    /// answer was under way by then is a matter of luck.
    fn row_either(
        &mut self,
        tried: &'static str,
        shape: &[u8],
        play: impl Fn(&mut Wire, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut wire = Wire::connect(self.subject.address())?;
        play(&mut wire, shape)?;
        let outcome = listen_to_the_end(&mut wire);
        let is_clean = ["closed", "200 result, closed"].contains(&outcome.label());
        self.tally.begin(tried);
        let either = Outcome::new("closed, answered or not", is_clean);
        self.tally.count(&either, shape)?;
        self.subject.must_be_well()
    }

    /// Shapes that two readers could read in two ways.
    fn smuggle(&mut self) -> Result<()> {
        let send = |wire: &mut Wire, shape: &[u8]| Ok(wire.send(shape)?);
        let chunked = "transfer-encoding: chunked";
        self.row(
            "a content length beside chunks",
            [
                shape(&["content-length: 6", chunked], "1\r\nx\r\n0\r\n\r\n"),
                shape(&[chunked, "content-length: 6"], "1\r\nx\r\n0\r\n\r\n"),
                shape(&["content-length: 0", chunked], "1\r\nx\r\n0\r\n\r\n"),
            ],
            send,
        )?;
        let lengths = [
            "content-length: 1\r\ncontent-length: 2",
            "content-length: 1, 2",
            "content-length: +1",
            "content-length: -1",
            "content-length: 0x1",
            "content-length: 1 1",
            "content-length: ",
            "content-length: 99999999999999999999999",
            "content-length : 1",
            "content-length\t: 1",
            "transfer-encoding: identity",
            "transfer-encoding: chunked, identity",
            "transfer-encoding: xchunked",
            "transfer-encoding: chunked\r\ntransfer-encoding: identity",
            "transfer-encoding\u{b}: chunked",
            "transfer-encoding: \u{b}chunked",
            "x: y\r\n folded",
            " x: y",
            "x y: z",
            ": nameless",
        ];
        let shapes = lengths.map(|lines| shape(&[lines], "x"));
        self.row("a length that is none", shapes, send)?;
        let chunks = [
            "x\r\n",
            "-1\r\nx\r\n0\r\n\r\n",
            "0x1\r\nx\r\n0\r\n\r\n",
            "FFFFFFFFFFFFFFFFF\r\nx\r\n0\r\n\r\n",
            "1\r\nxy\r\n0\r\n\r\n",
            "1;\nx\r\n0\r\n\r\n",
            "1 \r\nx\r\n0\n\n",
        ];
        let shapes = chunks.map(|body| shape(&[chunked], body));
        self.row("a chunk that is none", shapes, send)?;
        let odd = [
            "\r\n\r\n\r\n\r\n",
            "POST /mcp\r\n\r\n",
            "POST  /mcp HTTP/1.1\r\n\r\n",
            "POST /mcp HTTP/1.1\r\r\n\r\n",
            "POST /mcp HTTP/9.9\r\n\r\n",
            "POST /mcp http/1.1\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}",
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\nx: \u{0}\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n",
        ];
        let shapes = odd.map(|text| text.as_bytes().to_vec());
        self.row(
            "what is no HTTP/1.1, or TLS, or half of HTTP/2",
            shapes,
            send,
        )
    }

    /// Peers that take their time.
    fn dawdle(&mut self) -> Result<()> {
        let good = weather().to_bytes();
        let body_at = good.len() - weather().body.len();
        let send = |wire: &mut Wire, shape: &[u8]| Ok(wire.send(shape)?);
        let starts = |ends: &[usize]| ends.iter().map(|end| good[..*end].to_vec()).collect();
        let (silent, head, body): (Vec<_>, Vec<_>, Vec<_>) = (
            starts(&[0]),
            starts(&[1, 20, body_at - 1]),
            starts(&[body_at, body_at + 1, good.len() - 1]),
        );
        self.row("a connection without a word", silent, send)?;
        self.row("half a head and then nothing", head, send)?;
        self.row("half a body and then nothing", body, send)?;
        self.row("a whole request and then nothing", [good.clone()], send)?;
        let finish = |wire: &mut Wire, shape: &[u8]| {
            wire.send(shape)?;
            Ok(wire.finish()?)
        };
        let halves = vec![
            good[..20].to_vec(),
            good[..body_at].to_vec(),
            good[..good.len() - 1].to_vec(),
        ];
        self.row(
            "half a request from a peer that stops sending",
            halves,
            finish,
        )?;
        self.row(
            "a hundred requests before the first answer is read",
            [good.repeat(100)],
            send,
        )?;
        self.row_either(
            "a whole request from a peer that stops sending",
            &good,
            finish,
        )
    }

    /// Peers that let us speak and do not listen.
    fn never_read(&mut self) -> Result<()> {
        let good = weather().to_bytes();
        let listen = listen().to_bytes();
        self.row(
            "requests without end from a peer that never reads",
            [good.repeat(100)],
            |wire, shape| {
                // Ends when nothing more is taken, at the latest when we are cut off.
                loop {
                    wire.send(shape)?;
                }
            },
        )?;
        let subject = self.subject;
        let shout = Post::of(&call("shout", "shout", &json!({"times": 20_000}))).to_bytes();
        self.row(
            "twenty listeners that never read, and 20,000 events for each",
            std::iter::repeat_n(listen, 20),
            |wire, shape| {
                wire.send(shape)?;
                // Events of the time before it listens are nothing to a listener.
                wire.begins()?;
                let mut other = Wire::connect(subject.address())?;
                other.send(&shout)?;
                other.answer()?.context("shouting is answered")?;
                Ok(())
            },
        )
    }
}

/// Everything that is said until the peer hangs up.
fn listen_to_the_end(wire: &mut Wire) -> Outcome {
    let mut said: Vec<(String, usize)> = Vec::new();
    loop {
        let outcome = Outcome::read(wire);
        if !outcome.is_clean() {
            return outcome;
        }
        let (label, goes_on) = (outcome.label().to_owned(), outcome.goes_on);
        match said.last_mut() {
            Some((last, times)) if *last == label => *times += 1,
            _ => said.push((label.clone(), 1)),
        }
        if label == "closed" {
            break;
        }
        if !goes_on {
            let ended = if wire.closes() { "closed" } else { "left open" };
            said.push((ended.to_owned(), 1));
            break;
        }
    }
    let is_clean = said.last().is_some_and(|(label, _)| label == "closed");
    let said = said.into_iter().map(|(label, times)| match times {
        1 => label,
        2..=100 => format!("{times} times {label}"),
        // How much fits into buffers is not ours to say.
        _ => format!("many times {label}"),
    });
    Outcome::new(said.collect::<Vec<_>>().join(", "), is_clean)
}

/// A request whose length is told by `lines`, with another one behind it.
fn shape(lines: &[&str], body: &str) -> Vec<u8> {
    let head = weather().head("POST /mcp HTTP/1.1");
    let lines = lines.join("\r\n");
    let mut bytes = format!("{head}{lines}\r\n\r\n{body}").into_bytes();
    bytes.extend(weather().to_bytes());
    bytes
}
