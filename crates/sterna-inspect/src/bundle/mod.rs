//! A call in a file: masked, and opened again by an inspector.
//!
//! A file comes from a stranger. It is bounded, parsed before anything is shown,
//! and only ever shown: nothing of it is sent or run.

mod v1;

use std::time::Duration;

use serde_json::{Map, Value};
use sterna_client::{Direction, Era};
use sterna_http::clock;
use sterna_protocol::input::InputRequest;
use thiserror::Error;

use crate::mask;
use crate::record::{
    Altered, AskedRound, CallKind, CallRecord, CallRequest, Failure, LiveAnswer, LiveQuestion,
    LogLine, Progress, Round, Status, WireRecord,
};

/// A call that was read from a file.
#[derive(Debug)]
pub struct Bundle {
    /// The server that the call was made to.
    pub(crate) target: String,
    pub(crate) call: CallRecord,
}

/// A file is not a call that this release can show.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// It is not a call of an inspector.
    #[error("this is not a call that `sterna inspect` has kept")]
    Format(#[from] serde_json::Error),
    /// It is larger than a call can be.
    #[error("a kept call has at most 16 MiB, and this file has more")]
    TooLarge,
    /// Its rounds do not form a tree, or there are too many.
    #[error("the rounds of the call do not follow from each other")]
    Rounds,
    /// A later release wrote it.
    #[error("the call was kept in format {0}, and this release reads format 1")]
    Version(u32),
}

impl Bundle {
    /// Largest file that is read, in bytes.
    pub const LARGEST: usize = 16 << 20;

    /// Reads a file that an inspector wrote.
    ///
    /// # Errors
    ///
    /// [`BundleError`] if it is none, or too large.
    pub fn parse(bytes: &[u8]) -> Result<Self, BundleError> {
        if bytes.len() > Self::LARGEST {
            return Err(BundleError::TooLarge);
        }
        let stored: v1::Envelope = serde_json::from_slice(bytes)?;
        if stored.version != VERSION {
            return Err(BundleError::Version(stored.version));
        }
        let stored: v1::StoredCall = serde_json::from_value(stored.call)?;
        let is_tree = |(at, round): (usize, &v1::StoredRound)| match round.parent {
            Some(parent) => parent < at,
            None => at == 0,
        };
        let mut rounds = stored.rounds.iter().enumerate();
        if stored.rounds.is_empty() || stored.rounds.len() > MOST_ROUNDS || !rounds.all(is_tree) {
            return Err(BundleError::Rounds);
        }
        let kind = CallKind::parse(&stored.kind).unwrap_or(CallKind::Tool);
        Ok(Self {
            target: stored.target,
            call: CallRecord {
                id: 1,
                era: match stored.era.as_str() {
                    "legacy" => Era::Legacy,
                    _ => Era::Modern,
                },
                request: CallRequest {
                    kind,
                    name: stored.name,
                    arguments: stored.arguments,
                },
                rounds: stored.rounds.into_iter().map(restored).collect(),
            },
        })
    }

    /// The server that the call was made to, as it was shown.
    pub fn target(&self) -> &str {
        &self.target
    }
}

/// Writes a call as a file, without its secrets.
pub(crate) fn write(call: &CallRecord, target: &str) -> String {
    let stored = v1::StoredCall {
        target: without_login(target),
        era: match call.era {
            Era::Legacy => "legacy".to_owned(),
            _ => "modern".to_owned(),
        },
        kind: call.request.kind.word().to_owned(),
        name: call.request.name.clone(),
        arguments: masked_object(&call.request.arguments),
        rounds: call.rounds.iter().take(MOST_ROUNDS).map(stored).collect(),
    };
    let envelope = v1::Envelope {
        version: VERSION,
        call: serde_json::to_value(stored).unwrap_or_default(),
    };
    serde_json::to_string_pretty(&envelope).unwrap_or_default()
}

/// An address without the name and the password that some write into it.
fn without_login(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else {
        return target.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
        None => target.to_owned(),
    }
}

fn stored(round: &Round) -> v1::StoredRound {
    let answers = round.answers.iter();
    v1::StoredRound {
        parent: round.parent,
        answers: answers
            .map(|(key, answer)| (key.clone(), masked_answer(key, answer)))
            .collect(),
        altered: round.altered.as_ref().map(|altered| v1::StoredAlteration {
            what: altered.what.clone(),
            refusal: altered.refusal.clone(),
        }),
        took_ms: round.took.map(in_millis),
        status: stored_status(&round.status),
        live: round.questions.iter().map(stored_question).collect(),
        progress: round.progress.iter().map(stored_progress).collect(),
        logs: round.logs.iter().map(stored_log).collect(),
        wire: round.wire.iter().map(stored_message).collect(),
        left_out: round.left_out,
    }
}

fn stored_status(status: &Status) -> v1::StoredStatus {
    match status {
        Status::Asked(asked) => v1::StoredStatus::Asked {
            questions: asked
                .questions
                .iter()
                .map(|(key, request)| (key.clone(), masked_request(request)))
                .collect(),
            state_bytes: asked.state_bytes,
        },
        Status::Cancelled => v1::StoredStatus::Cancelled,
        Status::Done { result, is_error } => v1::StoredStatus::Done {
            result: masked(result),
            is_error: *is_error,
        },
        Status::Failed(failure) => v1::StoredStatus::Failed {
            text: failure.text.clone(),
            code: failure.code.clone(),
            is_of_state: failure.is_of_state,
            rpc: failure.rpc.clone(),
        },
        Status::Running => v1::StoredStatus::Unfinished {
            was: "running".to_owned(),
        },
        Status::Task(_) => v1::StoredStatus::Unfinished {
            was: "a task that had not ended".to_owned(),
        },
        Status::Unfinished(was) => v1::StoredStatus::Unfinished { was: was.clone() },
    }
}

fn stored_question(question: &LiveQuestion) -> v1::StoredQuestion {
    v1::StoredQuestion {
        key: question.key.clone(),
        request: masked_request(&question.request),
        answer: match &question.answer {
            LiveAnswer::Given(answer) => Some(masked_answer(&question.key, answer)),
            LiveAnswer::Open(_) | LiveAnswer::Withdrawn => None,
        },
    }
}

fn stored_progress(told: &Progress) -> v1::StoredProgress {
    v1::StoredProgress {
        after_ms: in_millis(told.after),
        progress: told.progress,
        total: told.total,
        message: told.message.clone(),
    }
}

fn stored_log(line: &LogLine) -> v1::StoredLogLine {
    v1::StoredLogLine {
        after_ms: in_millis(line.after),
        level: line.level.clone(),
        logger: line.logger.clone(),
        text: line.text.clone(),
    }
}

/// Messages are masked when they are recorded.
fn stored_message(message: &WireRecord) -> v1::StoredMessage {
    v1::StoredMessage {
        after_ms: in_millis(message.after),
        sent: message.direction == Direction::Sent,
        title: message.title.clone(),
        status: message.status,
        headers: message.headers.clone(),
        body: message.body.clone(),
        bytes: message.bytes,
    }
}

fn restored(round: v1::StoredRound) -> Round {
    let mut made = Round::new(round.parent, round.answers, clock::now());
    made.altered = round.altered.map(|altered| Altered {
        what: altered.what,
        refusal: altered.refusal,
    });
    made.took = Some(Duration::from_millis(round.took_ms.unwrap_or(0)));
    made.status = match round.status {
        v1::StoredStatus::Asked {
            questions,
            state_bytes,
        } => Status::Asked(Box::new(AskedRound {
            questions: questions.into_iter().filter_map(readable).collect(),
            state_bytes,
            paused: None,
        })),
        v1::StoredStatus::Cancelled => Status::Cancelled,
        v1::StoredStatus::Done { result, is_error } => Status::Done { result, is_error },
        v1::StoredStatus::Failed {
            text,
            code,
            is_of_state,
            rpc,
        } => Status::Failed(Failure {
            text,
            code,
            is_of_state,
            rpc,
        }),
        v1::StoredStatus::Unfinished { was } => Status::Unfinished(was),
    };
    for question in round.live {
        let readable = readable((question.key, question.request));
        made.questions.extend(readable.map(|(key, request)| {
            LiveQuestion {
                key,
                request,
                answer: question
                    .answer
                    .map_or(LiveAnswer::Withdrawn, LiveAnswer::Given),
            }
        }));
    }
    for told in round.progress {
        let item = Progress {
            after: Duration::from_millis(told.after_ms),
            progress: told.progress,
            total: told.total,
            message: told.message,
        };
        Round::keep(&mut made.progress, &mut made.left_out, item);
    }
    for line in round.logs {
        let item = LogLine {
            after: Duration::from_millis(line.after_ms),
            level: line.level,
            logger: line.logger,
            text: line.text,
        };
        Round::keep(&mut made.logs, &mut made.left_out, item);
    }
    for message in round.wire {
        let item = WireRecord {
            after: Duration::from_millis(message.after_ms),
            direction: match message.sent {
                true => Direction::Sent,
                false => Direction::Received,
            },
            title: message.title,
            status: message.status,
            headers: message.headers,
            body: message.body,
            bytes: message.bytes,
        };
        Round::keep(&mut made.wire, &mut made.left_out, item);
    }
    made.left_out = made.left_out.saturating_add(round.left_out);
    made
}

/// A question that this release knows.
fn readable((key, request): (String, Value)) -> Option<(String, InputRequest)> {
    let request = serde_json::from_value(request).ok()?;
    Some((key, request))
}

fn masked_request(request: &InputRequest) -> Value {
    masked(&serde_json::to_value(request).unwrap_or_default())
}

/// An answer is secret if its question is called so.
fn masked_answer(key: &str, answer: &Value) -> Value {
    let mut named = Value::Object(Map::from_iter([(key.to_owned(), answer.clone())]));
    mask::body(&mut named);
    named[key].take()
}

fn masked(value: &Value) -> Value {
    let mut value = value.clone();
    mask::body(&mut value);
    value
}

fn masked_object(object: &Map<String, Value>) -> Map<String, Value> {
    match masked(&Value::Object(object.clone())) {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn in_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

const VERSION: u32 = 1;

/// Rounds of a call: the page draws them as a tree, one inside the other.
const MOST_ROUNDS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, why: &str) {
        let error = Bundle::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn a_file_that_is_no_call_is_refused() {
        refused("", "not a call");
        refused("[]", "not a call");
        refused(r#"{"sterna-inspect-call":2,"call":{}}"#, "format 2");
        refused(
            r#"{"sterna-inspect-call":1,"call":{"target":1}}"#,
            "not a call",
        );
        refused(&"[".repeat(100_000), "not a call");
        refused(&" ".repeat(Bundle::LARGEST + 1), "at most");
    }

    #[test]
    fn rounds_that_go_in_circles_are_refused() {
        let call = |parents: &[&str]| {
            let round =
                |parent: &&str| format!(r#"{{"parent":{parent},"status":{{"kind":"cancelled"}}}}"#);
            let rounds: Vec<_> = parents.iter().map(round).collect();
            format!(
                r#"{{"sterna-inspect-call":1,"call":{{"target":"t","era":"modern","kind":"tool","name":"n","arguments":{{}},"rounds":[{}]}}}}"#,
                rounds.join(",")
            )
        };
        assert!(Bundle::parse(call(&["null", "0", "0", "2"]).as_bytes()).is_ok());
        for parents in [
            &[][..],
            &["0"],
            &["null", "1"],
            &["null", "5"],
            &["null", "null"],
        ] {
            refused(&call(parents), "do not follow");
        }
        refused(&call(&vec!["null"; 1000]), "do not follow");
    }

    #[test]
    fn a_login_in_an_address_is_left_out() {
        assert_eq!(without_login("http://a:b@host/p@q"), "http://host/p@q");
        assert_eq!(without_login("http://host/mcp"), "http://host/mcp");
        assert_eq!(without_login("npx server"), "npx server");
    }
}
