//! A hook around every round.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sterna_http::clock;
use sterna_protocol::result::Outcome;

use crate::call::{FlowPosition, Request};
use crate::failure::{Failure, RequestError};
use crate::telemetry::flow_name;

/// Sees every round of every tool, prompt and resource: its method, its
/// target, who calls, which round of which flow it is, and how it ends.
///
/// A tower layer around [`Service::into_tower`](crate::Service::into_tower)
/// sees HTTP requests; this sees what they mean. Both methods run on the task
/// of the request, so they must not block.
///
/// # Examples
///
/// ```
/// use sterna_server::{Around, RequestError, RoundSeen, Server};
///
/// struct NoDeployOnFriday;
///
/// impl Around for NoDeployOnFriday {
///     fn before(&self, round: &RoundSeen<'_>) -> Result<(), RequestError> {
///         match round.target() {
///             "deploy" => Err(RequestError::invalid_params("Not on a Friday")),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// let server = Server::new("deployer", "1.0.0").around(NoDeployOnFriday);
/// # let _ = server;
/// ```
pub trait Around: Send + Sync + 'static {
    /// Called before the handler runs, after the state has been opened.
    ///
    /// # Errors
    ///
    /// What the client is told; the handler does not run. A tool's caller gets
    /// it as a JSON-RPC error too, not as a result.
    fn before(&self, round: &RoundSeen<'_>) -> Result<(), RequestError> {
        let _ = round;
        Ok(())
    }

    /// Called when the round is over; `took` is the time since `before`.
    fn after(&self, round: &RoundSeen<'_>, ended: RoundEnd, took: Duration) {
        let _ = (round, ended, took);
    }
}

/// All hooks of a server.
pub(crate) type Hooks = Arc<[Box<dyn Around>]>;

/// What a hook sees of a round.
pub struct RoundSeen<'a> {
    method: &'static str,
    target: &'a str,
    request: &'a Request,
    place: FlowPosition,
}

impl RoundSeen<'_> {
    /// `tools/call`, `prompts/get` or `resources/read`.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.method
    }

    /// The name of the tool or the prompt, the URI of the resource. A URI may
    /// hold what its client would not want to see in a log.
    #[must_use]
    pub fn target(&self) -> &str {
        self.target
    }

    /// Who sent the request and what came with it.
    #[must_use]
    pub fn request(&self) -> &Request {
        self.request
    }

    /// How often the flow has been at the client.
    #[must_use]
    pub fn round(&self) -> u32 {
        self.place.round
    }

    /// A name of the flow, the same in all its rounds, and the one that spans
    /// have as `sterna.flow.id`. It tells nothing about the flow's own id.
    #[must_use]
    pub fn flow(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(flow_name(self.place.flow)))
    }
}

impl fmt::Debug for RoundSeen<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundSeen")
            .field("method", &self.method)
            .field("round", &self.place.round)
            .finish_non_exhaustive()
    }
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoundEnd {
    /// The client is asked something.
    Asked,
    /// The client went away.
    Cancelled,
    /// With an error, or with a tool that failed in words for the model.
    Failed,
    /// With a result.
    Finished,
    /// The client is to come back at once, perhaps to another instance.
    Shed,
}

impl RoundEnd {
    pub(crate) fn of<T, X>(outcome: &Result<Outcome<T, X>, Failure>) -> Self {
        match outcome {
            Ok(Outcome::InputRequired(required)) if required.requests().is_empty() => Self::Shed,
            Ok(Outcome::InputRequired(_)) => Self::Asked,
            Ok(_) => Self::Finished,
            Err(_) => Self::Failed,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Finished => "finished",
            Self::Shed => "shed",
        }
    }
}

/// A round that hooks look at. Says that it was cancelled when it is dropped.
pub(crate) struct Watched(Option<Inner>);

struct Inner {
    hooks: Hooks,
    request: Request,
    method: &'static str,
    target: String,
    start: Instant,
}

impl Watched {
    /// Costs nothing where there are no hooks.
    pub(crate) fn begin(
        hooks: &Hooks,
        request: &Request,
        method: &'static str,
        target: &str,
    ) -> Self {
        if hooks.is_empty() {
            return Self(None);
        }
        Self(Some(Inner {
            hooks: Arc::clone(hooks),
            request: request.clone(),
            method,
            target: target.to_owned(),
            start: clock::now(),
        }))
    }

    pub(crate) fn end(mut self, ended: RoundEnd) {
        if let Some(inner) = self.0.take() {
            inner.end(ended);
        }
    }
}

impl Inner {
    fn end(self, ended: RoundEnd) {
        // A round that was refused before it had a place was seen by no hook.
        let Some(place) = self.request.position() else {
            return;
        };
        let seen = RoundSeen {
            method: self.method,
            target: &self.target,
            request: &self.request,
            place: *place,
        };
        let took = clock::now().saturating_duration_since(self.start);
        for hook in self.hooks.iter() {
            hook.after(&seen, ended, took);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            inner.end(RoundEnd::Cancelled);
        }
    }
}

/// Asks every hook whether the round may go on.
pub(crate) fn may_go_on(
    hooks: &Hooks,
    request: &Request,
    method: &'static str,
    target: &str,
    place: FlowPosition,
) -> Result<(), Failure> {
    let seen = RoundSeen {
        method,
        target,
        request,
        place,
    };
    for hook in hooks.iter() {
        hook.before(&seen).map_err(Failure::Handler)?;
    }
    Ok(())
}
