//! Exchanges that passed the proxy, masked and bounded.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use sterna_client::Direction;
use sterna_http::clock;

use super::reading::Reading;
use crate::calls::Calls;
use crate::record::WireRecord;

/// The latest exchanges.
#[derive(Debug)]
pub(crate) struct Recordings {
    state: Mutex<RecordingsState>,
    /// Digests of request states. The states themselves are not kept.
    hasher: RandomState,
    /// The pages that are open are told of changes through it.
    calls: Arc<Calls>,
}

#[derive(Debug, Default)]
struct RecordingsState {
    next: u64,
    exchanges: BTreeMap<u64, Exchange>,
    unread: u64,
}

/// One request of the client and the response to it.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) id: u64,
    pub(crate) began: Instant,
    /// Time until the response ended; `None` while it goes on.
    pub(crate) took: Option<Duration>,
    /// The method and the path of HTTP; `None` for messages on stdio.
    pub(crate) place: Option<(String, String)>,
    /// Method of the message, such as `tools/call`.
    pub(crate) method: Option<String>,
    /// Name of the tool or the prompt, or the URI of the resource.
    pub(crate) name: Option<String>,
    pub(crate) status: Option<u16>,
    pub(crate) outcome: ExchangeOutcome,
    /// The exchange whose request state it returns: it is the next round.
    pub(crate) before: Option<u64>,
    pub(crate) wire: Vec<WireRecord>,
    /// Messages beyond what is kept.
    pub(crate) left_out: usize,
    /// Digest of the state that the response handed out.
    state: Option<u64>,
}

/// The result of an exchange, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeOutcome {
    /// The server asks; the keys of its questions.
    Asks(Vec<String>),
    /// The response was cut off.
    Broken(String),
    Done,
    /// The server or the tool reports an error.
    Error,
    Open,
}

impl Exchange {
    pub(crate) fn is_running(&self) -> bool {
        self.took.is_none()
    }
}

impl Recordings {
    pub(crate) fn new(calls: Arc<Calls>) -> Self {
        Self {
            state: Mutex::default(),
            hasher: RandomState::new(),
            calls,
        }
    }

    /// Records that a request came in, and returns its number.
    pub(super) fn begin(&self, method: &Method, path: &str, headers: &HeaderMap) -> u64 {
        let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let method = method.as_str().chars().take(20).collect();
        let place = (method, shortened(path));
        self.insert(Some(place), said("mcp-method"), said("mcp-name"))
    }

    /// Records that a message came on stdio, and returns its number.
    pub(super) fn open(&self, method: Option<&str>, name: Option<&str>) -> u64 {
        self.insert(None, method, name)
    }

    fn insert(
        &self,
        place: Option<(String, String)>,
        method: Option<&str>,
        name: Option<&str>,
    ) -> u64 {
        let mut state = self.lock();
        state.next += 1;
        let id = state.next;
        let exchange = Exchange {
            id,
            began: clock::now(),
            took: None,
            place,
            method: method.map(shortened),
            name: name.map(shortened),
            status: None,
            outcome: ExchangeOutcome::Open,
            before: None,
            wire: Vec::new(),
            left_out: 0,
            state: None,
        };
        state.exchanges.insert(id, exchange);
        while state.exchanges.len() > MOST_EXCHANGES {
            state.exchanges.pop_first();
        }
        drop(state);
        self.calls.notify();
        id
    }

    pub(super) fn answered(&self, id: u64, status: StatusCode) {
        self.change(id, |exchange| exchange.status = Some(status.as_u16()));
    }

    pub(super) fn failed(&self, id: u64, error: &dyn std::error::Error) {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        self.finish(id, Some(&text));
    }

    /// Ends an exchange, because of `problem` if there is one.
    pub(super) fn finish(&self, id: u64, problem: Option<&str>) {
        self.change(id, |exchange| exchange.end(problem.map(str::to_owned)));
    }

    /// Counts messages that were passed on unread.
    pub(super) fn left_unread(&self, messages: u64) {
        self.lock().unread += messages;
        self.calls.notify();
    }

    /// Messages that were passed on unread.
    pub(crate) fn unread(&self) -> u64 {
        self.lock().unread
    }

    /// Keeps one message of an exchange. `message` is it as JSON if it is the
    /// request or the response.
    pub(super) fn keep(
        &self,
        id: u64,
        direction: Direction,
        headers: &HeaderMap,
        bytes: &[u8],
        message: Option<&Value>,
    ) {
        let began = self.read(id, |exchange| exchange.began);
        let after = began.map_or(Duration::ZERO, |began| {
            clock::now().saturating_duration_since(began)
        });
        let record = WireRecord::of(direction, None, headers, bytes, after);
        self.saw(id, record, message, direction);
    }

    /// Digest of an id or a token of a peer, which may be of any size.
    pub(super) fn digest_of(&self, value: &Value) -> u64 {
        self.hasher.hash_one(value)
    }

    /// A reader of one side of an exchange.
    pub(super) fn tap(
        self: &Arc<Self>,
        exchange: u64,
        direction: Direction,
        headers: &HeaderMap,
        status: Option<u16>,
    ) -> Tap {
        Tap {
            recordings: Arc::clone(self),
            exchange,
            direction,
            reading: Reading::of(headers),
            head: Some((headers.clone(), status)),
            bytes: 0,
            is_over: false,
        }
    }

    /// Reads an exchange.
    pub(crate) fn read<T>(&self, id: u64, read: impl FnOnce(&Exchange) -> T) -> Option<T> {
        self.lock().exchanges.get(&id).map(read)
    }

    /// Reads all exchanges, the latest first.
    pub(crate) fn each<T>(&self, read: impl Fn(&Exchange) -> T) -> Vec<T> {
        self.lock().exchanges.values().rev().map(read).collect()
    }

    /// The rounds of the call that `id` belongs to, the first one first.
    pub(crate) fn rounds_of(&self, id: u64) -> Vec<u64> {
        let state = self.lock();
        let mut first = id;
        while let Some(before) = state.exchanges.get(&first).and_then(|one| one.before) {
            first = before;
        }
        // An exchange follows an earlier one, so one pass finds all of them.
        let mut rounds = vec![first];
        for exchange in state.exchanges.values() {
            if exchange
                .before
                .is_some_and(|before| rounds.contains(&before))
            {
                rounds.push(exchange.id);
            }
        }
        rounds.retain(|round| state.exchanges.contains_key(round));
        rounds
    }

    fn saw(&self, id: u64, record: WireRecord, message: Option<&Value>, direction: Direction) {
        let returned = message.and_then(|message| self.digest(&message["params"]["requestState"]));
        let handed = message.and_then(|message| self.digest(&message["result"]["requestState"]));
        let mut state = self.lock();
        let before = returned
            .filter(|_| direction == Direction::Sent)
            .and_then(|digest| {
                let mut others = state.exchanges.values().rev();
                let found = others.find(|other| other.id < id && other.state == Some(digest));
                found.map(|found| found.id)
            });
        if let Some(exchange) = state.exchanges.get_mut(&id) {
            exchange.before = exchange.before.or(before);
            exchange.state = exchange.state.or(handed);
            if let Some(message) = message {
                exchange.read_message(message, direction);
            }
            match exchange.wire.len() < MOST_MESSAGES {
                true => exchange.wire.push(record),
                false => exchange.left_out += 1,
            }
        }
        drop(state);
        self.calls.notify();
    }

    fn digest(&self, state: &Value) -> Option<u64> {
        state.as_str().map(|state| self.hasher.hash_one(state))
    }

    fn change(&self, id: u64, change: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = self.lock().exchanges.get_mut(&id) {
            change(exchange);
        }
        self.calls.notify();
    }

    fn lock(&self) -> MutexGuard<'_, RecordingsState> {
        // Every change is one assignment, so a panic leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange {
    /// Notes what a message says about the exchange.
    fn read_message(&mut self, message: &Value, direction: Direction) {
        let text = |value: &Value| value.as_str().map(shortened);
        if direction == Direction::Sent {
            self.method = text(&message["method"]).or_else(|| self.method.take());
            let params = &message["params"];
            let name = text(&params["name"]).or_else(|| text(&params["uri"]));
            self.name = name.or_else(|| self.name.take());
            return;
        }
        let result = &message["result"];
        if message.get("error").is_some() || result["isError"] == Value::Bool(true) {
            self.outcome = ExchangeOutcome::Error;
        } else if result["resultType"] == "input_required" {
            let asked = result["inputRequests"].as_object();
            let keys = asked.into_iter().flat_map(|asked| asked.keys());
            let keys = keys.take(20).map(|key| shortened(key));
            self.outcome = ExchangeOutcome::Asks(keys.collect());
        } else if message.get("result").is_some() {
            self.outcome = ExchangeOutcome::Done;
        }
    }

    /// Ends the exchange, because of `problem` if there is one.
    fn end(&mut self, problem: Option<String>) {
        if self.took.is_some() {
            return;
        }
        self.took = Some(clock::now().saturating_duration_since(self.began));
        match problem {
            Some(problem) => self.outcome = ExchangeOutcome::Broken(problem),
            None if self.outcome == ExchangeOutcome::Open => {
                let is_bad = self.status.is_some_and(|status| status >= 400);
                self.outcome = if is_bad {
                    ExchangeOutcome::Error
                } else {
                    ExchangeOutcome::Done
                };
            }
            None => {}
        }
    }
}

/// Reads one side of an exchange while it passes by.
#[derive(Debug)]
pub(super) struct Tap {
    recordings: Arc<Recordings>,
    exchange: u64,
    direction: Direction,
    reading: Reading,
    /// Header fields and status, until the first message shows them.
    head: Option<(HeaderMap, Option<u16>)>,
    bytes: usize,
    is_over: bool,
}

impl Tap {
    pub(super) fn saw(&mut self, data: &[u8]) {
        self.bytes += data.len();
        for message in self.reading.take(data) {
            self.keep(&message);
        }
    }

    pub(super) fn ended(&mut self) {
        self.close(None);
    }

    pub(super) fn broke(&mut self, why: &str) {
        self.close(Some(why.to_owned()));
    }

    fn close(&mut self, problem: Option<String>) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        if let Some(last) = self.reading.end() {
            self.keep(&last);
        }
        if let Some((headers, status)) = self.head.take() {
            let after = self.after();
            let unread = WireRecord::unread(self.direction, status, &headers, self.bytes, after);
            self.recordings
                .saw(self.exchange, unread, None, self.direction);
        }
        // The exchange goes on until the response ends.
        if self.direction == Direction::Received || problem.is_some() {
            self.recordings
                .change(self.exchange, |exchange| exchange.end(problem));
        }
    }

    fn keep(&mut self, message: &[u8]) {
        let (headers, status) = self.head.take().unwrap_or_default();
        let after = self.after();
        let record = WireRecord::of(self.direction, status, &headers, message, after);
        let json = serde_json::from_slice(message).ok();
        self.recordings
            .saw(self.exchange, record, json.as_ref(), self.direction);
    }

    fn after(&self) -> Duration {
        let began = self
            .recordings
            .read(self.exchange, |exchange| exchange.began);
        began.map_or(Duration::ZERO, |began| {
            clock::now().saturating_duration_since(began)
        })
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        // A server may answer before it has read everything.
        match self.direction {
            Direction::Sent => self.close(None),
            Direction::Received => self.broke("the connection was closed before the end"),
        }
    }
}

/// The beginning of a name.
fn shortened(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

/// Exchanges that are kept; the oldest is forgotten for a new one.
const MOST_EXCHANGES: usize = 300;

/// Messages of one exchange.
const MOST_MESSAGES: usize = 200;

/// Characters of a name.
const LONGEST_NAME: usize = 200;
