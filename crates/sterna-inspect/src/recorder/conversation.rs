//! Messages of a client and a server on stdio, put together as exchanges.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderMap;
use serde_json::Value;
use sterna_client::Direction;
use sterna_protocol::lines::LineReader;
use tokio::sync::mpsc;

use super::recordings::Recordings;
use super::stdio::Copied;

/// Reads the copies of both directions.
#[derive(Debug)]
pub(crate) struct Conversation {
    recordings: Arc<Recordings>,
    to_server: Lines,
    to_client: Lines,
    /// Exchanges of the client's open requests, by their ids.
    of_client: HashMap<u64, u64>,
    /// Exchanges in which the server's open requests are shown, by their ids.
    of_server: HashMap<u64, ServerRequest>,
    /// Exchanges by the progress tokens of their requests.
    by_progress: HashMap<u64, u64>,
}

#[derive(Clone, Copy, Debug)]
struct ServerRequest {
    exchange: u64,
    /// True if the exchange has no other request.
    is_alone: bool,
}

impl Conversation {
    pub(super) fn new(recordings: Arc<Recordings>) -> Self {
        Self {
            recordings,
            to_server: Lines::new(),
            to_client: Lines::new(),
            of_client: HashMap::new(),
            of_server: HashMap::new(),
            by_progress: HashMap::new(),
        }
    }

    /// Reads copies until both sides have ended.
    pub(super) async fn listen(&mut self, mut arriving: mpsc::Receiver<Copied>) {
        while let Some(copied) = arriving.recv().await {
            self.take(&copied);
            // Many lines may have come at once, and the pages have their turn.
            tokio::task::yield_now().await;
        }
        for exchange in self.of_client.values() {
            let why = "the connection was closed before the response";
            self.recordings.finish(*exchange, Some(why));
        }
    }

    fn take(&mut self, copied: &Copied) {
        let lines = match copied.direction {
            Direction::Received => &mut self.to_client,
            Direction::Sent => &mut self.to_server,
        };
        let (whole, unread) = lines.take(&copied.bytes, copied.is_after_gap);
        if unread > 0 {
            self.recordings.left_unread(unread);
        }
        for line in whole {
            self.read_line(copied.direction, &line);
        }
    }

    fn read_line(&mut self, direction: Direction, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(line) {
            // A batch of the revision 2025-03-26.
            Ok(Value::Array(messages)) => {
                for message in messages.iter().take(MOST_IN_A_BATCH) {
                    self.read(direction, message, message.to_string().as_bytes());
                }
            }
            Ok(message) => self.read(direction, &message, line),
            Err(_) => {
                let exchange = self.recordings.open(None, None);
                self.recordings
                    .keep(exchange, direction, &HeaderMap::new(), line, None);
                let why = match direction {
                    Direction::Received => "the server wrote a line that is no JSON to its stdout",
                    Direction::Sent => "the client sent a line that is no JSON",
                };
                self.recordings.finish(exchange, Some(why));
            }
        }
    }

    fn read(&mut self, direction: Direction, message: &Value, line: &[u8]) {
        let id = message.get("id").map(|id| self.recordings.digest_of(id));
        let method = message["method"].as_str();
        match (method, id) {
            (Some(method), Some(id)) => self.read_request(direction, method, id, message, line),
            (Some(method), None) => self.read_notification(direction, method, message, line),
            (None, id) => self.read_response(direction, id, message, line),
        }
    }

    fn read_request(
        &mut self,
        direction: Direction,
        method: &str,
        id: u64,
        message: &Value,
        line: &[u8],
    ) {
        self.forget_old();
        let params = &message["params"];
        if direction == Direction::Sent {
            let exchange = self.begin(Some(method), message);
            self.of_client.insert(id, exchange);
            if let Some(token) = params["_meta"].get("progressToken") {
                let token = self.recordings.digest_of(token);
                self.by_progress.insert(token, exchange);
            }
            self.keep(exchange, direction, line, Some(message));
            return;
        }
        // A server of an earlier revision asks while it works on a request.
        let newest = self.of_client.values().max().copied();
        let request = ServerRequest {
            exchange: newest.unwrap_or_else(|| self.begin(Some(method), message)),
            is_alone: newest.is_none(),
        };
        self.of_server.insert(id, request);
        self.keep(request.exchange, direction, line, None);
    }

    fn read_notification(&self, direction: Direction, method: &str, message: &Value, line: &[u8]) {
        let params = &message["params"];
        let named = |value: &Value| {
            let named = (!value.is_null()).then(|| self.recordings.digest_of(value))?;
            self.of_client.get(&named).copied()
        };
        let only = match self.of_client.len() {
            1 => self.of_client.values().next().copied(),
            _ => None,
        };
        let about = match (direction, method) {
            (Direction::Received, "notifications/progress") => {
                let token = self.recordings.digest_of(&params["progressToken"]);
                self.by_progress.get(&token).copied()
            }
            (Direction::Received, "notifications/message") => only,
            (Direction::Received, _) => {
                named(&params["_meta"]["io.modelcontextprotocol/subscriptionId"])
            }
            (Direction::Sent, "notifications/cancelled") => named(&params["requestId"]),
            (Direction::Sent, _) => None,
        };
        if let Some(exchange) = about {
            self.keep(exchange, direction, line, None);
            return;
        }
        let exchange = self.begin(Some(method), message);
        self.keep(exchange, direction, line, None);
        self.recordings.finish(exchange, None);
    }

    fn read_response(
        &mut self,
        direction: Direction,
        id: Option<u64>,
        message: &Value,
        line: &[u8],
    ) {
        if direction == Direction::Sent {
            if let Some(request) = id.and_then(|id| self.of_server.remove(&id)) {
                self.keep(request.exchange, direction, line, None);
                if request.is_alone {
                    self.recordings.finish(request.exchange, None);
                }
                return;
            }
        } else if let Some(exchange) = id.and_then(|id| self.of_client.remove(&id)) {
            self.by_progress.retain(|_, of| *of != exchange);
            self.keep(exchange, direction, line, Some(message));
            self.recordings.finish(exchange, None);
            return;
        }
        let exchange = self.begin(None, message);
        self.keep(exchange, direction, line, None);
        let why = "a response to a request that was not seen";
        self.recordings.finish(exchange, Some(why));
    }

    fn begin(&self, method: Option<&str>, message: &Value) -> u64 {
        let params = &message["params"];
        let name = params["name"].as_str().or_else(|| params["uri"].as_str());
        self.recordings.open(method, name)
    }

    fn keep(&self, exchange: u64, direction: Direction, line: &[u8], message: Option<&Value>) {
        self.recordings
            .keep(exchange, direction, &HeaderMap::new(), line, message);
    }

    /// Forgets requests without a response whose exchanges were forgotten.
    fn forget_old(&mut self) {
        let open = self.of_client.len() + self.of_server.len() + self.by_progress.len();
        if open > MOST_OPEN {
            let kept = |exchange: u64| self.recordings.read(exchange, |_| ()).is_some();
            self.of_client.retain(|_, exchange| kept(*exchange));
            self.by_progress.retain(|_, exchange| kept(*exchange));
            // A server may ask without end within one exchange that is kept.
            match self.of_server.len() > MOST_OPEN / 2 {
                true => self.of_server.clear(),
                false => self.of_server.retain(|_, request| kept(request.exchange)),
            }
        }
    }
}

/// The lines of one direction.
#[derive(Debug)]
struct Lines {
    reader: LineReader,
    /// True until the end of a line whose beginning is not known.
    is_skipping: bool,
}

impl Lines {
    fn new() -> Self {
        Self {
            reader: LineReader::new(LONGEST_LINE),
            is_skipping: false,
        }
    }

    /// Takes the next bytes; returns the lines that are whole with them, and the
    /// number of those that cannot be read.
    fn take(&mut self, mut bytes: &[u8], is_after_gap: bool) -> (Vec<Vec<u8>>, u64) {
        let (mut whole, mut unread) = (Vec::new(), 0);
        if is_after_gap {
            *self = Self::new();
            self.is_skipping = true;
            unread += 1;
        }
        if self.is_skipping {
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                return (whole, unread);
            };
            bytes = &bytes[end + 1..];
            self.is_skipping = false;
        }
        loop {
            match self.reader.read(&mut bytes) {
                Ok(Some(line)) => whole.push(line.to_vec()),
                Ok(None) => return (whole, unread),
                Err(_) => unread += 1,
            }
        }
    }
}

/// Bytes of a line that is read. Longer ones are passed on unread.
const LONGEST_LINE: usize = 8 << 20;

/// Messages of one line that are read.
const MOST_IN_A_BATCH: usize = 100;

/// Requests that are remembered before the old ones are looked at.
const MOST_OPEN: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn text((whole, unread): (Vec<Vec<u8>>, u64)) -> (Vec<String>, u64) {
        let text = |line| String::from_utf8(line).unwrap();
        (whole.into_iter().map(text).collect(), unread)
    }

    #[test]
    fn lines_are_read_in_any_pieces() {
        let mut lines = Lines::new();
        assert_eq!(text(lines.take(b"{\"a\"", false)), (vec![], 0));
        let read = text(lines.take(b":1}\r\n{}\n{", false));
        assert_eq!(read, (vec!["{\"a\":1}".to_owned(), "{}".to_owned()], 0));
    }

    #[test]
    fn after_a_gap_the_next_whole_line_is_read() {
        let mut lines = Lines::new();
        lines.take(b"{\"lost", false);
        assert_eq!(text(lines.take(b"half of a line", true)), (vec![], 1));
        let read = text(lines.take(b" and its end\n{}\n", false));
        assert_eq!(read, (vec!["{}".to_owned()], 0));
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_left_out() {
        let mut lines = Lines::new();
        let mut unread = 0;
        for _ in 0..=LONGEST_LINE / 65_536 {
            unread += lines.take(&[b' '; 65_536], false).1;
        }
        let read = text(lines.take(b"\n{}\n", false));
        assert_eq!((read.0, read.1 + unread), (vec!["{}".to_owned()], 1));
    }
}
