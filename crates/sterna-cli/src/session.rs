//! A connection to the server that was named.

use std::fmt;
use std::sync::Arc;

use anyhow::Context as _;
use sterna_client::{Builder, Client, Command, Error, ErrorKind};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::elicitation::{ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::roots::ListRootsResult;
use sterna_protocol::sampling::CreateMessageResult;
use tokio::sync::Mutex;

use crate::ask::{Answer, Asker, Desk};
use crate::config::Settings;
use crate::exit::{Exit, Failure};
use crate::headers;
use crate::interrupt;
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
        Some(desk) => with_desk(builder, desk).await,
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

/// Has `desk` answer in revisions that ask in the middle of a call, and
/// declares what it answers.
async fn with_desk(mut builder: Builder, desk: &SharedDesk) -> Builder {
    let (samples, has_roots) = {
        let desk = desk.lock().await;
        (desk.samples(), desk.has_roots())
    };
    let form = Arc::clone(desk);
    builder = builder.on_form(move |question| {
        let desk = Arc::clone(&form);
        async move {
            let request = InputRequest::elicit(question.params);
            match ask(&desk, &question.server, &question.about, request).await? {
                InputResponse::Elicit(result) => Ok::<ElicitResult, _>(result),
                _ => Err("an answer of another kind".into()),
            }
        }
    });
    let url = Arc::clone(desk);
    builder = builder.on_url(move |question| {
        let desk = Arc::clone(&url);
        async move {
            let request = InputRequest::elicit(question.params);
            match ask(&desk, &question.server, &question.about, request).await? {
                InputResponse::Elicit(result) => Ok::<ElicitResult, _>(result),
                _ => Err("an answer of another kind".into()),
            }
        }
    });
    if samples {
        let desk = Arc::clone(desk);
        builder = builder.on_sample(move |question| {
            let desk = Arc::clone(&desk);
            async move {
                let request = InputRequest::create_message(question.params);
                match ask(&desk, &question.server, &question.about, request).await? {
                    InputResponse::CreateMessage(result) => Ok::<CreateMessageResult, _>(result),
                    _ => Err("an answer of another kind".into()),
                }
            }
        });
    }
    if has_roots {
        let desk = Arc::clone(desk);
        builder = builder.on_roots(move |question| {
            let desk = Arc::clone(&desk);
            async move {
                let request = InputRequest::list_roots();
                match ask(&desk, &question.server, &question.about, request).await? {
                    InputResponse::ListRoots(ListRootsResult { roots, .. }) => Ok(roots),
                    _ => Err("an answer of another kind".into()),
                }
            }
        });
    }
    builder
}

async fn ask(
    desk: &SharedDesk,
    server: &str,
    about: &str,
    request: InputRequest,
) -> Result<InputResponse, sterna_client::BoxError> {
    let key = name(&request);
    let asker = Asker { server, about, key };
    match desk.lock().await.answer(asker, &request).await {
        Ok(Answer::Ready(response)) => Ok(*response),
        Ok(Answer::Nobody) => Err(Unanswered.into()),
        // The desk has said so, and the call is about to be dropped: nothing more is sent.
        Ok(Answer::Stopped) => std::future::pending().await,
        Err(failure) => Err(failure.error.into()),
    }
}

/// What to call a question in the middle of a call, which has no key: by its
/// only field, or by its kind.
fn name(request: &InputRequest) -> &str {
    match request {
        InputRequest::CreateMessage(_) => "sample",
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => {
                let mut fields = params.requested_schema.properties.iter();
                match (fields.next(), fields.next()) {
                    (Some((only, _)), None) => only,
                    _ => "form",
                }
            }
            _ => "url",
        },
        _ => "roots",
    }
}

/// A question in the middle of a call found nobody to answer it.
#[derive(Clone, Copy, Debug)]
struct Unanswered;

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody is here to answer")
    }
}

impl std::error::Error for Unanswered {}

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
    let unanswered = unanswered.is_some_and(|source| source.is::<Unanswered>());
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
    let ended = runtime.block_on(work);
    // A prompt may still wait for a key; nobody waits for the prompt.
    runtime.shutdown_background();
    ended
}
