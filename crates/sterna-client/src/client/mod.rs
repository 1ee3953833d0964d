//! The client: connecting, and everything a server can be asked.

mod build;
mod extension;

use std::sync::Arc;

pub use build::Builder;
use http::HeaderMap;
use sterna_protocol::discover::DiscoverResult;

use crate::core::{Core, Protocol};
use crate::era::Era;
use crate::error::Error;
use crate::transport::Target;

/// A connection to one MCP server.
///
/// Cheap to clone; clones share the connection and what was learned about the
/// server. See the [crate] for a whole program.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) core: Arc<Core>,
}

impl Client {
    /// Connects without any handlers; see [`builder`](Self::builder).
    ///
    /// # Errors
    ///
    /// The server cannot be reached, refuses, or speaks no revision that this
    /// client does.
    pub async fn connect(target: impl Into<Target>) -> Result<Self, Error> {
        Self::builder(target).connect().await
    }

    /// Prepares a connection to a URL, a [`Command`](crate::Command) or a
    /// [`Duplex`](crate::Duplex).
    pub fn builder(target: impl Into<Target>) -> Builder {
        Builder::new(target.into())
    }

    /// Description that the server sent when the connection was made.
    pub fn server(&self) -> &DiscoverResult {
        &self.core.server
    }

    /// Ends the connection in good order: a child process gets time to leave,
    /// a session is closed. Calls that are under way fail.
    ///
    /// A session in which a call was detached stays open, until the server ends it:
    /// the call needs it to be resumed.
    pub async fn close(self) {
        let headers = match &self.core.protocol {
            Protocol::Legacy(session) if !session.is_kept() => session.headers(),
            // A call that was detached goes on in the session.
            Protocol::Legacy(_) | Protocol::Modern => HeaderMap::new(),
        };
        self.core.wire.transport.close(headers).await;
    }

    /// Which era the server belongs to.
    pub fn era(&self) -> Era {
        match &self.core.protocol {
            Protocol::Legacy(_) => Era::Legacy,
            Protocol::Modern => Era::Modern,
        }
    }

    /// Returns true if a server of an earlier revision has shown, in a response so
    /// far, that its streams can be resumed: a [call](crate::Call::start) that
    /// pauses there is plain data, unless the server asks outside of the call's
    /// stream.
    pub fn has_resumable_streams(&self) -> bool {
        self.core.wire.has_resumable_streams()
    }

    /// Endpoint of the server, as questions and paused calls name it.
    pub fn endpoint(&self) -> &str {
        self.core.endpoint()
    }
}
