//! A connection to the server that was named.

use std::sync::Arc;

use anyhow::Context as _;
use sterna_client::{Builder, Client, Command, Error, ErrorKind};
use sterna_protocol::capabilities::ExtensionId;
use tokio::sync::Mutex;

use crate::ask::Desk;
use crate::config::Settings;
use crate::exit::{Exit, Failure};
use crate::headers;
use crate::interrupt;
use crate::midcall;
use crate::screen::Screen;
use crate::target::Target;
use crate::trace;

/// Whoever answers, shared by all questions: a person is asked one at a time.
pub(crate) type SharedDesk = Arc<Mutex<Desk>>;

/// Connects to `target`; `desk` answers what it asks.
pub(crate) async fn connect(
    target: Target,
    settings: &Settings,
    desk: Option<&SharedDesk>,
    screen: Screen,
) -> Result<Client, Failure> {
    let builder = builder(target, settings, screen)?;
    let builder = match desk {
        Some(desk) => midcall::answer_by(desk, builder).await,
        None => builder,
    };
    let connecting = async { builder.connect().await.map_err(no_connection) };
    interrupt::or("interrupted", connecting).await
}

/// Does `work` and ends the connection in good order, however it went.
pub(crate) fn closing<T>(
    client: &Client,
    work: impl Future<Output = Result<T, Failure>>,
) -> impl Future<Output = Result<T, Failure>> {
    let work = interrupt::or("interrupted", work);
    async move {
        let ended = work.await;
        close(client.clone()).await;
        ended
    }
}

/// Ends a connection in good order; who interrupts that wants it to end at
/// once.
pub(crate) async fn close(client: Client) {
    tokio::select! {
        () = client.close() => {}
        () = interrupt::heard() => {}
    }
}

/// A connection to `target` that is not made yet.
pub(crate) fn builder(
    target: Target,
    settings: &Settings,
    screen: Screen,
) -> Result<Builder, Failure> {
    let builder = match target {
        Target::Url { url, headers } => {
            let headers = headers::read(settings, &headers)?;
            trace::own_headers(&headers, screen);
            Client::builder(url).headers(headers)
        }
        Target::Command {
            program,
            args,
            env,
            folder,
        } => {
            let mut command = Command::new(program).args(args);
            for (name, value) in env {
                command = command.env(name, value);
            }
            if let Some(folder) = folder {
                command = command.current_dir(folder);
            }
            Client::builder(command.on_stderr(move |line| screen.detail(line)))
        }
    };
    let mut config = sterna_client::Config::default();
    config.timeout = settings.timeout;
    config.connect_timeout = config.connect_timeout.min(settings.timeout);
    Ok(trace::watch(builder, screen)
        .config(config)
        .era(settings.era)
        .extension(&ExtensionId::TASKS))
}

/// A server that refuses the very first request speaks nothing that we do.
fn no_connection(error: Error) -> Failure {
    let refused = error.kind() == ErrorKind::Refused;
    let mut failed = failure(error);
    if refused {
        failed.exit = Exit::Unreachable;
    }
    failed
}

/// Which exit code an error of the client library has, and what to do.
pub(crate) fn failure(error: Error) -> Failure {
    let unanswered = std::error::Error::source(&error);
    let unanswered = unanswered.is_some_and(|source| source.is::<midcall::Unanswered>());
    let (exit, hint) = match (error.kind(), error.code()) {
        _ if unanswered => (
            Exit::InputRequired,
            Some("give --answer, --answers, --accept, --decline or --cancel"),
        ),
        (ErrorKind::Auth, _) => (
            Exit::Unauthorized,
            Some("give a token with --bearer-file, --bearer-env or $STERNA_BEARER"),
        ),
        (_, "MR0505") => (Exit::Unreachable, None),
        (ErrorKind::Unavailable, _) => (
            Exit::Unreachable,
            Some(
                "is the server running, and is the address its MCP endpoint, such as http://127.0.0.1:8080/mcp?",
            ),
        ),
        (_, "MR0506") => (
            Exit::TimedOut,
            Some("--timeout sets how long the server may be silent"),
        ),
        (_, "MR0508") => (Exit::InputRequired, None),
        (_, "MR0514") => (Exit::Declined, None),
        (ErrorKind::RequestState, _) => (Exit::Failed, Some("start the call over")),
        _ => (Exit::Failed, None),
    };
    let mut failure = Failure::new(exit, error);
    failure.hint = hint.map(str::to_owned);
    failure
}

/// Runs `work` on a runtime of its own.
pub(crate) fn block_on(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("no runtime can be started")?;
    runtime.spawn(interrupt::listen());
    let ended = runtime.block_on(work);
    // A prompt may still wait for a key; nobody waits for the prompt.
    runtime.shutdown_background();
    ended
}
