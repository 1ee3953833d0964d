//! Both eras over a pair of byte streams.

mod modern;
mod old;
mod streams;

use serde_json::{Value, json};
use sterna_server::{Server, Service, StartError};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::task::JoinHandle;

use crate::mcp::{CAPABILITIES, VERSION};

/// A client at the other end of a server's streams.
pub(crate) struct Client {
    input: Option<WriteHalf<DuplexStream>>,
    output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    server: JoinHandle<Result<(), StartError>>,
    /// Everything the server has said.
    tap: Vec<Value>,
}

impl Client {
    pub(crate) fn of(server: Server) -> Self {
        Self::at(server.build().unwrap())
    }

    pub(crate) fn at(service: Service) -> Self {
        let (ours, theirs) = duplex(64 << 10);
        let (reader, writer) = split(theirs);
        #[expect(clippy::disallowed_methods, reason = "the other end of the streams")]
        let server = tokio::spawn(service.serve_lines(reader, writer));
        let (output, input) = split(ours);
        Self {
            input: Some(input),
            output: BufReader::new(output).lines(),
            server,
            tap: Vec::new(),
        }
    }

    pub(crate) async fn say(&mut self, message: &Value) {
        self.write(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it has not been closed");
        input.write_all(bytes).await.unwrap();
    }

    /// The next message. What is no message fails the test.
    pub(crate) async fn hear(&mut self) -> Value {
        self.try_hear().await.expect("a message")
    }

    pub(crate) async fn try_hear(&mut self) -> Option<Value> {
        let line = self.output.next_line().await.unwrap()?;
        let message: Value = serde_json::from_str(&line).expect("one message per line");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        self.tap.push(message.clone());
        Some(message)
    }

    /// Sends a modern request that is in order.
    pub(crate) async fn request(&mut self, id: u32, method: &str, mut params: Value) {
        params["_meta"][VERSION] = json!("2026-07-28");
        params["_meta"][CAPABILITIES] =
            json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    /// Sends a request of the older revisions.
    pub(crate) async fn old_request(&mut self, id: u32, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn cancel(&mut self, id: u32) {
        let params = json!({"requestId": id, "reason": "enough"});
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
    }

    /// Ends the input, hears what is still said, and waits for the server.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        let mut input = self.input.take().expect("it is closed once");
        input.shutdown().await.unwrap();
        while self.try_hear().await.is_some() {}
        self.server.await.unwrap().unwrap();
        self.tap
    }
}
