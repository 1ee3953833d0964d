//! Requests that are wrong, over HTTP.

use std::collections::VecDeque;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::corpus::Example;
use crate::good::{Post, call, message, weather};
use crate::mutate::{cut_off, doubled, left_out, nasty_values, no_text, wrong_types};
use crate::outcome::Outcome;
use crate::subject::Subject;
use crate::tally::Tally;
use crate::wire::Wire;

/// Tries everything that can be wrong with a request.
///
/// # Errors
///
/// An answer that nobody may get, or a good request that was not answered.
pub fn try_all(subject: &Subject, examples: &[Example]) -> Result<Tally> {
    let mut http = Http::new(subject);
    let retry = http.retry()?;
    let messages: Vec<_> = examples
        .iter()
        .map(|example| &example.message)
        .chain([&retry])
        .collect();
    http.row(
        "every official example, whatever it is an example of",
        messages.iter().map(|message| Post::of(message)),
    )?;
    let spoil = |spoil: fn(&Value) -> Vec<Value>| {
        messages.iter().flat_map(move |message| {
            let good = Post::of(message);
            let spoilt = spoil(message).into_iter();
            spoilt.map(move |message| good.with_body(message.to_string()))
        })
    };
    http.row(
        "a wrong type at every path of every example and of a retry with answers",
        spoil(wrong_types),
    )?;
    http.row("every member or element left out", spoil(left_out))?;
    http.row(
        "every member there twice",
        messages.iter().flat_map(|message| {
            let good = Post::of(message);
            doubled(message)
                .into_iter()
                .map(move |text| good.with_body(text))
        }),
    )?;
    http.texts()?;
    http.headers()?;
    Ok(http.tally)
}

/// Tries one kind of wrong request once more, to see what it leaves behind.
///
/// # Errors
///
/// As [`try_all`].
pub fn try_wrong_types(subject: &Subject, examples: &[Example]) -> Result<Tally> {
    let mut http = Http::new(subject);
    http.row(
        "again",
        examples.iter().flat_map(|example| {
            let good = Post::of(&example.message);
            wrong_types(&example.message)
                .into_iter()
                .map(move |message| good.with_body(message.to_string()))
        }),
    )?;
    Ok(http.tally)
}

struct Http<'a> {
    subject: &'a Subject,
    tally: Tally,
}

impl<'a> Http<'a> {
    fn new(subject: &'a Subject) -> Self {
        Self {
            subject,
            tally: Tally::default(),
        }
    }

    fn row(&mut self, tried: &'static str, posts: impl IntoIterator<Item = Post>) -> Result<()> {
        self.raw_row(tried, posts.into_iter().map(|post| post.to_bytes()))
    }

    fn raw_row(
        &mut self,
        tried: &'static str,
        requests: impl IntoIterator<Item = Vec<u8>>,
    ) -> Result<()> {
        self.tally.begin(tried);
        let mut waiting: VecDeque<_> = requests.into_iter().collect();
        while !waiting.is_empty() {
            self.send_some(&mut waiting)?;
        }
        let well = self.subject.must_be_well();
        well.with_context(|| format!("a good request after `{tried}`"))
    }

    /// Sends what fits onto one connection, all at once, and reads the answers.
    /// What was behind an answer that ended the connection is sent again.
    fn send_some(&mut self, waiting: &mut VecDeque<Vec<u8>>) -> Result<()> {
        let mut bytes = Vec::new();
        let mut sent = 0;
        for request in &*waiting {
            if sent > 0 && bytes.len() + request.len() > AT_ONCE {
                break;
            }
            bytes.extend_from_slice(request);
            sent += 1;
        }
        let mut wire = Wire::connect(self.subject.address())?;
        // A peer that has seen enough may hang up before it has read everything.
        let _ = wire.send(&bytes);
        for position in 0..sent {
            let outcome = Outcome::read(&mut wire);
            if position > 0 && outcome.label() == "closed" {
                break;
            }
            if let Some(request) = waiting.pop_front() {
                self.tally.count(&outcome, &request)?;
            }
            if !outcome.goes_on {
                break;
            }
        }
        Ok(())
    }

    /// A retry with answers, whose state is good.
    fn retry(&self) -> Result<Value> {
        let call = call("retry", "book", &json!({}));
        let mut wire = Wire::connect(self.subject.address())?;
        wire.send(&Post::of(&call).to_bytes())?;
        let answer = wire.answer()?.context("there is an answer")?;
        let answer: Value = serde_json::from_slice(&answer.body)?;
        let mut retry = call;
        retry["params"]["requestState"] = answer["result"]["requestState"].clone();
        retry["params"]["inputResponses"] = json!({
            "seats": {"action": "accept", "content": {"seats": 2}},
            "when": {"action": "accept", "content": {"when": "tonight"}},
        });
        Ok(retry)
    }

    /// Bodies that are hardly JSON.
    fn texts(&mut self) -> Result<()> {
        let good = weather();
        let text = String::from_utf8(good.body.clone())?;
        let bodies = |bodies: Vec<Vec<u8>>| {
            let good = good.clone();
            bodies.into_iter().map(move |body| good.with_body(body))
        };
        self.row("a body cut off after every byte", bodies(cut_off(&text)))?;
        self.row(
            "bytes that are no UTF-8, at every seventh place",
            bodies(no_text(&text)),
        )?;
        for (tried, place) in [
            (
                "a nasty value as an argument: up to 100,000 levels deep, huge, no number, no text",
                "\"New York\"",
            ),
            ("a nasty value as the id", "\"good\""),
            ("a nasty value as the method", "\"tools/call\""),
        ] {
            let spoilt = nasty_values().into_iter();
            let spoilt = spoilt.map(|value| text.replacen(place, &value, 1).into_bytes());
            self.row(tried, bodies(spoilt.collect()))?;
        }
        let batches = ["[]", "[1]", "null", "7", "\"text\"", "", " ", "\u{feff}{}"];
        let mut wholes: Vec<_> = batches
            .iter()
            .map(|body| body.as_bytes().to_vec())
            .collect();
        wholes.push(format!("[{text}]").into_bytes());
        wholes.push(format!("{text}{text}").into_bytes());
        self.row("no object at all, several, or a batch", bodies(wholes))
    }

    /// Heads that do not fit, one way or the other.
    fn headers(&mut self) -> Result<()> {
        let good = weather;
        self.row(
            "another content type, or content coding",
            [
                good().with("content-type", "text/plain"),
                good().with("content-type", "application/xml"),
                good().with("content-type", "application/json; charset=utf-16"),
                good().with("content-type", "multipart/form-data; boundary=x"),
                good().without("content-type"),
                good().and("content-encoding", "gzip"),
                good().and("content-encoding", "br, gzip"),
            ],
        )?;
        self.row(
            "nothing acceptable",
            [
                good().with("accept", "text/html"),
                good().with("accept", "application/json;q=0, text/event-stream;q=0"),
                good().with("accept", "image/*"),
            ],
        )?;
        self.row(
            "headers that contradict the body",
            [
                good().with("mcp-method", "tools/list"),
                good().with("mcp-method", "TOOLS/CALL"),
                good().without("mcp-method"),
                good().with("mcp-name", "slow"),
                good().without("mcp-name"),
                good().with("mcp-protocol-version", "2025-11-25"),
                good().with("mcp-protocol-version", "1999-01-01"),
                good().without("mcp-protocol-version"),
            ],
        )?;
        self.row(
            "headers that contradict each other",
            [
                good().and("mcp-method", "tools/list"),
                good().and("mcp-name", "slow"),
                good().and("mcp-protocol-version", "2025-11-25"),
                good().and("content-type", "text/plain"),
                good().and("host", "example.com"),
            ],
        )?;
        self.row(
            "a foreign host or page",
            [
                good().with("host", "evil.example"),
                good().with("host", "localhost:99999"),
                good().with("host", ""),
                good().without("host"),
                good().and("origin", "https://evil.example"),
                good().and("origin", "null"),
            ],
        )?;
        let long = "x".repeat(40_000);
        let many = |count| {
            let names = (0..count).map(|number| format!("x-{number}"));
            names.fold(good(), |post, name| post.and(&name, "y"))
        };
        let large = call(
            "large",
            "get_weather",
            &json!({"location": "x".repeat(5 << 20)}),
        );
        self.row(
            "a head of 40,000 bytes, a hundred headers and more, a body of 5 MiB",
            [
                good().and("x-long", &long),
                good().with("mcp-name", &long),
                good().and("cookie", &long),
                many(90),
                many(200),
                many(5000),
                Post::of(&large),
            ],
        )?;
        self.lines()
    }

    /// Request lines that are not ours.
    fn lines(&mut self) -> Result<()> {
        let good = weather();
        let bodiless = |line: &str| format!("{}\r\n", good.head(line)).into_bytes();
        let uri = format!("GET /{} HTTP/1.1", "x".repeat(40_000));
        self.raw_row(
            "another method or path",
            [
                "GET /mcp HTTP/1.1",
                "PUT /mcp HTTP/1.1",
                "PATCH /mcp HTTP/1.1",
                "OPTIONS /mcp HTTP/1.1",
                "TRACE /mcp HTTP/1.1",
                "BREW /mcp HTTP/1.1",
                "DELETE /mcp HTTP/1.1",
                "GET / HTTP/1.1",
                "GET /mcp/../mcp HTTP/1.1",
                "GET /%6dcp HTTP/1.1",
                "POST /metrics HTTP/1.1",
                &uri,
            ]
            .map(bodiless),
        )?;
        let unknown = [
            message("unknown", "tools/undo", json!({})),
            message("unknown", "", json!({})),
            message("unknown", "constructor", json!({})),
            message("unknown", "notifications/initialized", json!({})),
            message("unknown", "tasks/get", json!({"taskId": "1"})),
            message("unknown", "sampling/createMessage", json!({})),
        ];
        self.row("a method that is not served", unknown.iter().map(Post::of))?;
        let state = |state: String| {
            let mut call = call("state", "book", &json!({}));
            call["params"]["requestState"] = state.into();
            call["params"]["inputResponses"] = json!({"seats": {"action": "accept"}});
            Post::of(&call)
        };
        self.row(
            "a request state that was never sealed",
            [
                String::new(),
                "s1.".to_owned(),
                "x".to_owned(),
                format!("s1.{}", "A".repeat(200)),
                format!("s1.{}", "A".repeat(1 << 20)),
                "s1.\u{0}\u{0}".to_owned(),
            ]
            .map(state),
        )
    }
}

/// How many bytes of requests go out before the first answer is read.
const AT_ONCE: usize = 32 << 10;
