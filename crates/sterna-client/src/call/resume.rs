use std::fmt;

use futures::future::BoxFuture;

use super::options::CallOptions;
use super::runner::CallRunner;
use super::{CancelHandle, PausedCall, Reply, Step, session_resume};
use crate::client::Client;
use crate::error::{Error, Fault, printable};

/// A paused call that is about to go on; awaiting it sends the call, up to the
/// next question.
///
/// # Examples
///
/// ```no_run
/// # use sterna_client::{CallOptions, Client, Error, PausedCall};
/// # use sterna_protocol::tool::CallToolResult;
/// # async fn example(client: Client, paused: PausedCall<CallToolResult>) -> Result<(), Error> {
/// let options = CallOptions::new().on_progress(|progress| println!("{:?}", progress.message));
/// let step = paused.resume(&client).options(options).await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is resumed by awaiting this"]
pub struct Resume<'a, T> {
    paused: &'a PausedCall<T>,
    client: &'a Client,
    options: CallOptions,
    handle: CancelHandle,
}

impl<'a, T: Reply> Resume<'a, T> {
    pub(super) fn new(paused: &'a PausedCall<T>, client: &'a Client) -> Self {
        Self {
            paused,
            client,
            options: CallOptions::new(),
            handle: CancelHandle::new(),
        }
    }

    /// Sets the options of the rounds from here on. The options of the rounds
    /// before are not kept in a paused call.
    pub fn options(mut self, options: CallOptions) -> Self {
        self.options = options;
        self
    }

    /// A handle that cancels the call from elsewhere.
    pub fn handle(&self) -> CancelHandle {
        self.handle.clone()
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
            options,
            handle,
        } = self;
        client.core.check_endpoint(&paused.server)?;
        // Checked before the handlers run: their answers could not be sent.
        options
            .limits(&client.core.config)
            .admit(paused.call.rounds)?;
        let mut answered = answer_open(paused, client).await?;
        let mut budget = options.limits(&client.core.config).budget();
        while let Some(session) = &answered.session {
            let how = (&options, &handle);
            let resumed = session_resume::resume(&answered, session, client, how, &mut budget);
            let paused = match Box::pin(resumed).await? {
                Step::Complete(result) => return Ok(result),
                Step::InputRequired(paused) => paused,
                Step::Task(_) => return Err(Fault::Broken("a task in place of a result").into()),
            };
            options
                .limits(&client.core.config)
                .admit(paused.call.rounds)?;
            answered = answer_open(&paused, client).await?;
        }
        Box::pin(run(&answered, client, options, handle).finish()).await
    }
}

/// Has the handlers of `client` answer the questions that are open.
async fn answer_open<T: Reply>(
    paused: &PausedCall<T>,
    client: &Client,
) -> Result<PausedCall<T>, Error> {
    let open = paused.open();
    let open = open.map(|(key, request)| (key.to_owned(), request.clone()));
    let found = client.core.answer(paused.name(), open.collect()).await?;
    let mut answered = paused.clone();
    for (key, response) in found {
        answered.answers.insert(key, response);
    }
    Ok(answered)
}

impl<'a, T: Reply> IntoFuture for Resume<'a, T> {
    type Output = Result<Step<T>, Error>;
    type IntoFuture = BoxFuture<'a, Result<Step<T>, Error>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let Self {
                paused,
                client,
                options,
                handle,
            } = self;
            if let Some((key, _)) = paused.open().next() {
                let key = printable(key);
                return Err(Fault::OpenQuestion { key }.into());
            }
            client.core.check_endpoint(&paused.server)?;
            if let Some(session) = &paused.session {
                let mut budget = options.limits(&client.core.config).budget();
                let how = (&options, &handle);
                return session_resume::resume(paused, session, client, how, &mut budget).await;
            }
            run(paused, client, options, handle).start().await
        })
    }
}

/// The next round of a call.
fn run<T: Reply>(
    paused: &PausedCall<T>,
    client: &Client,
    options: CallOptions,
    handle: CancelHandle,
) -> CallRunner<T> {
    let mut call = paused.call.clone();
    if let Some((level, _)) = &options.listeners.log {
        call.log_level = Some(level.clone());
    }
    let answers = Some(paused.answers.clone()).filter(|_| !paused.questions.is_empty());
    call.prepare_retry(answers, paused.state.clone());
    CallRunner {
        core: client.core.clone(),
        call,
        options,
        handle,
    }
}

impl<T> fmt::Debug for Resume<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume")
            .field("paused", self.paused)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
