//! A connection to the server that was named.

use anyhow::Context as _;
use sterna_client::{Builder, Client, Command, Error, ErrorKind, LostOutcome};
use sterna_protocol::capabilities::ExtensionId;

use crate::ask::SharedAnswerer;
use crate::config::Settings;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::session_questions;
use crate::target::{Server, Target};
use crate::text::excerpt;
use crate::trace;

/// Connects to `target`; `answerer` answers what it asks.
pub(crate) async fn connect(
    target: &Target,
    settings: &Settings,
    answerer: Option<&SharedAnswerer>,
    screen: Screen,
) -> Result<Client, Failure> {
    connect_by(target, settings, answerer, screen, Builder::connect).await
}

/// The same, connecting as `connect` does.
pub(crate) async fn connect_by(
    target: &Target,
    settings: &Settings,
    answerer: Option<&SharedAnswerer>,
    screen: Screen,
    connect: impl AsyncFnOnce(Builder) -> Result<Client, Error>,
) -> Result<Client, Failure> {
    let Prepared { builder, held_back } = prepare(target, settings, screen)?;
    let builder = match answerer {
        Some(answerer) => session_questions::answer_by(answerer, builder).await,
        None => builder,
    };
    let connecting = async { connect(builder).await.map_err(no_connection) };
    let connected = interrupt::or("interrupted", connecting).await;
    match (connected, held_back) {
        // The token that would have helped was there; say why it was not sent.
        (Err(failed), Some(reason)) if failed.exit == Exit::Unauthorized => Err(Failure {
            error: reason
                .error
                .context("the server wants to know who is calling"),
            ..reason
        }),
        (connected, _) => connected,
    }
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

/// A connection that is not made yet.
struct Prepared {
    builder: Builder,
    /// Reason why a token of the environment is not sent.
    held_back: Option<Failure>,
}

/// A connection to `target` that is not made yet.
pub(crate) fn builder(
    target: &Target,
    settings: &Settings,
    screen: Screen,
) -> Result<Builder, Failure> {
    Ok(prepare(target, settings, screen)?.builder)
}

fn prepare(target: &Target, settings: &Settings, screen: Screen) -> Result<Prepared, Failure> {
    let mut held_back = None;
    let builder = match &target.server {
        Server::Url { url, headers } => {
            let credentials = &settings.credentials;
            let granted = credentials.for_server(url, &target.named_by, headers)?;
            if let Some(reason) = &granted.held_back {
                screen.detail(format!("{:#}", reason.error));
            }
            held_back = granted.held_back;
            trace::own_headers(&granted.headers, screen);
            Client::builder(url).headers(granted.headers)
        }
        Server::Command {
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
    let builder = trace::watch(builder, screen)
        .config(config)
        .era(settings.era)
        .extension(&ExtensionId::TASKS);
    Ok(Prepared { builder, held_back })
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
    let unanswered = unanswered.is_some_and(|source| source.is::<session_questions::NoAnswer>());
    let missing = error.missing_capabilities();
    let (exit, hint) = match (error.kind(), error.code()) {
        _ if unanswered => (
            Exit::InputRequired,
            Some("give --answer, --answers, --accept, --decline or --cancel"),
        ),
        _ if !missing.is_empty() => {
            let hint = declare(&missing);
            return Failure::new(Exit::Failed, error).hint(hint);
        }
        (ErrorKind::Auth, _) => (
            Exit::Unauthorized,
            Some(
                "give a token with --bearer-file, --bearer-env or $STERNA_BEARER; \
                 with --credentials-for URL if the URL is not typed",
            ),
        ),
        (_, "MR0502") if matches!(error.status(), Some(404 | 405)) => (
            Exit::Failed,
            Some(
                "is this the MCP endpoint? Its path is often /mcp, such as http://127.0.0.1:8080/mcp",
            ),
        ),
        (_, "MR0505") => (Exit::Unreachable, None),
        (_, "MR0520") => (
            Exit::Unreachable,
            Some("run the command by itself to see why it ends; -v shows all that it writes"),
        ),
        (ErrorKind::Unavailable, _) if is_of_process(&error) => (
            Exit::Unreachable,
            Some("is the command after `--` or in the mcp.json installed, and in $PATH?"),
        ),
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
        (ErrorKind::Lost, _) => (
            Exit::Failed,
            Some(match error.lost() {
                Some(LostOutcome::None) => "start the call over",
                _ => "find out what the tool has done before you start the call over",
            }),
        ),
        _ => (Exit::Failed, None),
    };
    let mut failure = Failure::new(exit, error);
    failure.hint = hint.map(str::to_owned);
    failure
}

/// Returns `true` if the server's process did not start.
fn is_of_process(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
}

/// Hint for capabilities that a server requires.
fn declare(missing: &[String]) -> String {
    let each = missing.iter().map(|name| match name.as_str() {
        "roots" => "`roots`: name the folders with --root FOLDER".to_owned(),
        "sampling" => {
            "`sampling`: leave --no-sampling out, or name a model with --sampler COMMAND".to_owned()
        }
        "elicitation" => {
            "`elicitation`: use a command that can ask, such as `sterna call`".to_owned()
        }
        other => format!("`{}`: this command does not have it", excerpt(other)),
    });
    each.collect::<Vec<_>>().join("; ")
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
    // A prompt may still wait for a key; its result is not used.
    runtime.shutdown_background();
    ended
}
