//! Questions of a server of before 2026-07-28 that belong to none of its calls.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sterna_client::{BoxError, Builder};
use sterna_protocol::capabilities::{ClientCapabilities, SamplingCapability};
use sterna_protocol::elicitation::ElicitResult;
use sterna_protocol::roots::Root;
use sterna_protocol::sampling::CreateMessageResult;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// Questions of one session from outside of its calls.
///
/// Some servers ask for the roots of the client as soon as a session is open. That
/// question waits for the next call, whose client answers it. All others are
/// refused, because no user is there to be asked.
#[derive(Debug)]
pub(crate) struct OutsideQuestions {
    server: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Methods of the questions so far.
    asked: BTreeSet<&'static str>,
    /// Requests for the roots that wait.
    waiting: Vec<oneshot::Sender<Vec<Root>>>,
    /// Roots that the client told for a request that had not come yet, and when.
    told: Option<(Vec<Root>, Instant)>,
}

impl OutsideQuestions {
    pub(super) fn new(server: &str) -> Arc<Self> {
        Arc::new(Self {
            server: server.to_owned(),
            state: Mutex::default(),
        })
    }

    /// Methods of the questions so far.
    pub(crate) fn asked(&self) -> Vec<&'static str> {
        self.lock().asked.iter().copied().collect()
    }

    /// Returns `true` while the server waits for the roots of the client.
    pub(crate) fn wants_roots(&self) -> bool {
        let mut state = self.lock();
        state.waiting.retain(|one| !one.is_closed());
        !state.waiting.is_empty()
    }

    /// Tells the server the roots of the client. If the session is so new that the
    /// server has not asked yet, they wait for its question.
    pub(crate) fn tell_roots(&self, roots: &[Root]) {
        let mut state = self.lock();
        state.waiting.retain(|one| !one.is_closed());
        if state.waiting.is_empty() {
            state.told = Some((roots.to_vec(), Instant::now()));
        }
        for waiting in state.waiting.drain(..) {
            // A server that has taken its question back needs no answer.
            let _ = waiting.send(roots.to_vec());
        }
    }

    async fn ask_for_roots(&self) -> Result<Vec<Root>, BoxError> {
        let answered = {
            let mut state = self.lock();
            state.asked.insert("roots/list");
            if let Some((roots, at)) = state.told.take()
                && at.elapsed() < LONGEST_TOLD
            {
                return Ok(roots);
            }
            state.waiting.retain(|one| !one.is_closed());
            if state.waiting.len() >= MOST_WAITING {
                return Err("the server asks for the roots too often".into());
            }
            let (reply, answered) = oneshot::channel();
            state.waiting.push(reply);
            answered
        };
        match tokio::time::timeout(LONGEST_WAIT, answered).await {
            Ok(Ok(roots)) => Ok(roots),
            _ => Err("no call of the client came in time".into()),
        }
    }

    fn refuse<T>(&self, method: &'static str) -> Result<T, BoxError> {
        self.lock().asked.insert(method);
        let server = &self.server;
        tracing::warn!(target: "sterna::gateway", server, method, "a question that belongs to no call was refused");
        Err("the question belongs to no call".into())
    }

    /// Has `builder` declare `capabilities` to the session, and treat questions
    /// from outside of its calls.
    pub(super) fn attach(
        self: &Arc<Self>,
        mut builder: Builder,
        capabilities: &ClientCapabilities,
    ) -> Builder {
        if let Some(elicitation) = &capabilities.elicitation {
            if elicitation.has_form() {
                let outside = Arc::clone(self);
                let refuse = move || outside.refuse::<ElicitResult>("elicitation/create");
                builder = builder.on_form(move |_| std::future::ready(refuse()));
            }
            if elicitation.has_url() {
                let outside = Arc::clone(self);
                let refuse = move || outside.refuse::<ElicitResult>("elicitation/create");
                builder = builder.on_url(move |_| std::future::ready(refuse()));
            }
        }
        if let Some(SamplingCapability { tools, .. }) = &capabilities.sampling {
            let outside = Arc::clone(self);
            let refuse = move || outside.refuse::<CreateMessageResult>("sampling/createMessage");
            let refuse = move |_| std::future::ready(refuse());
            builder = match tools {
                Some(_) => builder.on_sample_with_tools(refuse),
                None => builder.on_sample(refuse),
            };
        }
        if capabilities.roots.is_some() {
            let outside = Arc::clone(self);
            builder = builder.on_roots(move |_| {
                let outside = Arc::clone(&outside);
                async move { outside.ask_for_roots().await }
            });
        }
        builder.session_capabilities(capabilities.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Requests for the roots of one session that may wait.
const MOST_WAITING: usize = 16;

/// Time for which a server waits for the roots. The libraries of servers give up
/// after a minute.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Time between the answer of the client and the question, in a session that was
/// opened for the call.
const LONGEST_TOLD: Duration = Duration::from_secs(5);
