use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sterna_protocol::logging::{LoggingLevel, LoggingMessageNotificationParams};
use sterna_protocol::progress::ProgressNotificationParams;

use super::run::{Run, answer};
use super::terms::Terms;
use super::{CancelHandle, PausedCall, Reply, Step};
use crate::client::Client;
use crate::error::{Error, Fault, printable};
use crate::oauth::BoxFuture;

/// A paused call that is about to go on; awaiting it sends the call, up to the
/// next question.
///
/// # Examples
///
/// ```no_run
/// # use sterna_client::{Client, Error, PausedCall};
/// # use sterna_protocol::tool::CallToolResult;
/// # async fn example(client: Client, paused: PausedCall<CallToolResult>) -> Result<(), Error> {
/// let step = paused
///     .resume(&client)
///     .on_progress(|progress| println!("{:?}", progress.message))
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is resumed by awaiting this"]
pub struct Resume<'a, T> {
    paused: &'a PausedCall<T>,
    client: &'a Client,
    terms: Terms,
}

impl<'a, T: Reply> Resume<'a, T> {
    pub(super) fn new(paused: &'a PausedCall<T>, client: &'a Client) -> Self {
        let terms = Terms::new(&client.core.config);
        Self {
            paused,
            client,
            terms,
        }
    }

    /// Asks for progress.
    pub fn on_progress(
        mut self,
        tell: impl Fn(&ProgressNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.terms.listeners.progress = Some(Arc::new(tell));
        self
    }

    /// Asks for log messages about this call, from `level` up.
    pub fn on_log(
        mut self,
        level: LoggingLevel,
        tell: impl Fn(&LoggingMessageNotificationParams) + Send + Sync + 'static,
    ) -> Self {
        self.terms.listeners.log = Some((level, Arc::new(tell)));
        self
    }

    /// How long the server may be silent in one round.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.limits.timeout = timeout;
        self
    }

    /// How long the rounds from here on may take together, without the time
    /// that people take to answer.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.terms.limits.deadline = deadline;
        self
    }

    /// How often [`finish`](Self::finish) may send the call again, counted from
    /// its beginning.
    pub fn max_rounds(mut self, rounds: u32) -> Self {
        self.terms.limits.rounds = rounds;
        self
    }

    /// A handle that cancels the call from elsewhere.
    pub fn handle(&self) -> CancelHandle {
        self.terms.handle.clone()
    }

    /// Sends the call until it is done; the handlers of the client answer what
    /// is open, now and later.
    ///
    /// # Errors
    ///
    /// As of awaiting a [`Call`](crate::Call), and of [`PausedCall::resume`].
    pub async fn finish(self) -> Result<T, Error> {
        let Self {
            paused,
            client,
            terms,
        } = self;
        client.core.check_place(&paused.server)?;
        // Nobody is asked for an answer that could not be sent any more.
        terms.limits.admit(paused.flow.rounds)?;
        let open = paused.open();
        let open = open.map(|(key, request)| (key.to_owned(), request.clone()));
        let found = answer(&client.core, paused.name(), open.collect()).await?;
        let mut answered = paused.clone();
        for (key, response) in found {
            answered.answers.insert(key, response);
        }
        Box::pin(run(&answered, client, terms).finish()).await
    }
}

impl<'a, T: Reply> IntoFuture for Resume<'a, T> {
    type Output = Result<Step<T>, Error>;
    type IntoFuture = BoxFuture<'a, Result<Step<T>, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self {
                paused,
                client,
                terms,
            } = self;
            if let Some((key, _)) = paused.open().next() {
                let key = printable(key);
                return Err(Fault::OpenQuestion { key }.into());
            }
            client.core.check_place(&paused.server)?;
            run(paused, client, terms).start().await
        })
    }
}

/// The next round of a call.
fn run<T: Reply>(paused: &PausedCall<T>, client: &Client, terms: Terms) -> Run<T> {
    let mut flow = paused.flow.clone();
    if let Some((level, _)) = &terms.listeners.log {
        flow.log_level = Some(level.clone());
    }
    let answers = Some(paused.answers.clone()).filter(|_| !paused.questions.is_empty());
    flow.again(answers, paused.state.clone());
    Run {
        core: client.core.clone(),
        flow,
        terms,
    }
}

impl<T> fmt::Debug for Resume<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume")
            .field("paused", self.paused)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}
