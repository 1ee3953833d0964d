//! A route as it was built.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use sterna_seal::Principal;
use sterna_store::{Name, Owner};

use crate::declared::DeclaredQuestion;
use crate::handler::ErasedHandler;
use crate::operations::{OperationSettings, OperationStore};
use crate::resume::{FindCaller, Resume, digest_of};

/// Route that was built.
pub(crate) struct RouteCore<S> {
    pub(crate) resume: Resume<S>,
    pub(crate) handler: ErasedHandler<S>,
    /// `None` if every caller is anonymous.
    pub(crate) caller: Option<Arc<FindCaller>>,
    pub(crate) questions: Vec<DeclaredQuestion>,
    pub(crate) requires_key: bool,
    /// `None` if no request to it becomes an operation.
    pub(crate) operation: Option<RouteOperation>,
}

/// Way in which requests to a route become operations.
pub(crate) struct RouteOperation {
    pub(crate) settings: Arc<OperationSettings>,
    pub(crate) place: OperationStore,
    /// Target of its tasks.
    pub(crate) target: Name,
    pub(crate) mode: OperationMode,
    /// Lifetime of its operations, if it is not that of the others.
    pub(crate) ttl: Option<Duration>,
}

/// Requests to a route that become operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationMode {
    /// All of them.
    Always,
    /// Those whose client prefers it, and those whose handler wants it.
    OnDemand,
}

impl<S> RouteCore<S> {
    /// Returns the declaration of the question that is asked under `key`.
    pub(crate) fn question(&self, key: &str) -> Option<&DeclaredQuestion> {
        let mut questions = self.questions.iter();
        questions.find(|question| question.is_asked_by(key))
    }

    /// Returns the caller of a request with this head; `None` if it is not known.
    pub(crate) fn caller_of(&self, head: &Parts) -> Option<Principal> {
        match &self.caller {
            None => Some(Principal::anonymous()),
            Some(find) => find(head),
        }
    }

    /// Returns the owner of the operations that `caller` begins.
    pub(crate) fn owner_of(&self, caller: &Principal) -> Owner {
        let audience = self.resume.audience.as_bytes();
        let parts = [audience, &caller.to_bytes()];
        Owner::from_digest(digest_of("sterna operation owner v1", &parts))
    }

    /// Returns the time for which effects and blobs of a flow are kept; `None` is
    /// without an end. A flow that becomes an operation takes them along.
    pub(crate) fn effects_lifetime(&self) -> Option<Duration> {
        let flow = self.resume.config.lifetimes.flow;
        match &self.operation {
            None => Some(flow),
            Some(operation) => Some(flow.saturating_add(operation.lifetime()?)),
        }
    }
}

impl RouteOperation {
    /// Returns the lifetime of an operation after its beginning; `None` is without
    /// an end.
    pub(crate) fn lifetime(&self) -> Option<Duration> {
        self.ttl.or(self.settings.tasks.ttl)
    }
}
