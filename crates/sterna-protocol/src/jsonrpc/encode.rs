//! Encoding of messages, directly into one buffer.

use serde::Serialize;

use super::{ErrorResponse, Message, Notification, Request, ResultResponse};

impl<P: Serialize> Request<'_, P> {
    /// Appends the message to `buffer`. On failure the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// The parameters cannot be written as JSON.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::jsonrpc::Request;
    ///
    /// let mut buffer = Vec::new();
    /// Request::new(1.into(), "ping", None::<()>).encode(&mut buffer)?;
    /// assert_eq!(buffer, br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        write(buffer, |members| {
            members.add("id", &self.id)?;
            members.add("method", &self.method)?;
            members.add_unless_null("params", &self.params)
        })
    }
}

impl<P: Serialize> Notification<'_, P> {
    /// Appends the message to `buffer`. On failure the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// The parameters cannot be written as JSON.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        write(buffer, |members| {
            members.add("method", &self.method)?;
            members.add_unless_null("params", &self.params)
        })
    }
}

impl<A: Serialize> ResultResponse<A> {
    /// Appends the message to `buffer`. On failure the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// The result cannot be written as JSON.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        write(buffer, |members| {
            members.add("id", &self.id)?;
            members.add("result", &self.result)
        })
    }
}

impl ErrorResponse {
    /// Appends the message to `buffer`. On failure the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// The data of the error cannot be written as JSON.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        write(buffer, |members| {
            members.add_unless_null("id", &self.id)?;
            members.add("error", &self.error)
        })
    }
}

impl<R: Serialize, N: Serialize, A: Serialize> Message<'_, R, N, A> {
    /// Appends the message to `buffer`. On failure the buffer is unchanged.
    ///
    /// # Errors
    ///
    /// The payload cannot be written as JSON.
    pub fn encode(&self, buffer: &mut Vec<u8>) -> serde_json::Result<()> {
        match self {
            Self::Request(request) => request.encode(buffer),
            Self::Notification(notification) => notification.encode(buffer),
            Self::Result(response) => response.encode(buffer),
            Self::Error(response) => response.encode(buffer),
        }
    }
}

fn write(
    buffer: &mut Vec<u8>,
    members: impl FnOnce(&mut EnvelopeWriter<'_>) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    let start = buffer.len();
    buffer.extend_from_slice(br#"{"jsonrpc":"2.0""#);
    let written = members(&mut EnvelopeWriter(buffer));
    match written {
        Ok(()) => buffer.push(b'}'),
        Err(_) => buffer.truncate(start),
    }
    written
}

/// Envelope that is being written.
struct EnvelopeWriter<'a>(&'a mut Vec<u8>);

impl EnvelopeWriter<'_> {
    fn add(&mut self, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
        for part in [",\"", name, "\":"] {
            self.0.extend_from_slice(part.as_bytes());
        }
        serde_json::to_writer(&mut *self.0, value)
    }

    /// Adds a member, unless its value is null: optional members must not be
    /// null. The written text is checked, since a type cannot be asked
    /// beforehand.
    fn add_unless_null(&mut self, name: &str, value: &impl Serialize) -> serde_json::Result<()> {
        let start = self.0.len();
        self.add(name, value)?;
        if self.0.ends_with(b":null") && self.0.len() == start + name.len() + 8 {
            self.0.truncate(start);
        }
        Ok(())
    }
}
