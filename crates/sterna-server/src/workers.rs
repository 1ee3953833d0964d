//! The server as its workers see it: its tools, and their questions and results
//! in MCP.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use sterna_flow::{
    BackendError, BuildMatch, Diagnostic, Error, ExecutionMode, OpenQuestion,
    Outcome as FlowOutcome, Progress, Run, UnixMillis,
};
use sterna_http::{Admission, Shutdown};
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::tool::CallToolResult;
use sterna_protocol::version::ProtocolVersion;
use sterna_runner::Admit;
use sterna_runner::effects::random_bytes;
use sterna_runner::tasks::{
    self, StartedTask, TaskCatalog, TaskHost, TaskProtocol, TaskShared, Unreadable, WorkDone,
    WorkerExit, read_journal,
};
use sterna_store::{BoxFuture, Claimed, Name, Note, Outcome, TaskId};
use tracing::{Instrument, Span, field};

use crate::call::{FlowPosition, Headers, Request, RequestInner, TaskPromotion};
use crate::core::Core;
use crate::current::CurrentCore;
use crate::cx::{Cx, PendingQuestions};
use crate::failure::Failure;
use crate::handler::{HandlerInput, HandlerKind};
use crate::middleware::{self, RoundEnd, RoundGuard};
use crate::reply::finish_tool;
use crate::rounds::gate::Lacking;
use crate::tasks::{Stored, Tasks};

/// Works on tasks until `shutdown` begins, then lets go of them.
pub(crate) async fn work(current: CurrentCore, shutdown: Shutdown) {
    if let Some((host, worker)) = host(current, shutdown) {
        let queue = Arc::clone(&host.tasks.queue);
        tasks::work(host, queue, worker).await;
    }
}

/// Works on tasks for `slice`, or until `shutdown` begins or there is nothing to
/// do, then lets go of them.
pub(crate) async fn work_for(
    current: CurrentCore,
    shutdown: Shutdown,
    slice: Duration,
) -> WorkDone {
    let slice = slice.min(LONGEST_SLICE);
    let over = Shutdown::new();
    let Some((host, worker)) = host(current, over.clone()) else {
        return WorkDone::default();
    };
    let queue = Arc::clone(&host.tasks.queue);
    let drain = host.tasks.config.drain.min(slice / 5);
    let ending = async {
        let ends = tokio::time::sleep(slice - drain);
        tokio::select! {
            () = ends => {}
            () = shutdown.begun() => {}
        }
        over.begin();
        // The work ends by itself.
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        done = tasks::work_for(host, queue, worker, slice, drain) => done,
        never = ending => match never {},
    }
}

fn host(current: CurrentCore, shutdown: Shutdown) -> Option<(Host, Name)> {
    let core = current.core();
    let tasks = core.tasks.clone()?;
    let Some(worker) = worker_name(&core) else {
        tracing::error!(target: "sterna::tasks", "a worker has no name");
        return None;
    };
    let host = Host {
        current,
        tasks,
        shutdown,
    };
    Some((host, worker))
}

/// A day: a clock has no room for the longest durations.
const LONGEST_SLICE: Duration = Duration::from_secs(24 * 60 * 60);

fn worker_name(core: &Core) -> Option<Name> {
    let id = u32::from_be_bytes(random_bytes().ok()?.first_chunk().copied()?);
    let mut name = core.info.name.clone();
    name.truncate(name.floor_char_boundary(200));
    Name::new(format!("{name}-{id:08x}")).ok()
}

struct Host {
    current: CurrentCore,
    tasks: Arc<Tasks>,
    shutdown: Shutdown,
}

impl TaskHost for Host {
    type Catalog = ToolCatalog;

    fn now(&self) -> UnixMillis {
        self.tasks.now()
    }

    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::new(ToolCatalog {
            core: self.current.core(),
            tasks: Arc::clone(&self.tasks),
        })
    }

    fn is_shutting_down(&self) -> bool {
        self.shutdown.has_begun()
    }

    fn shutdown(&self) -> BoxFuture<'static, ()> {
        let shutdown = self.shutdown.clone();
        Box::pin(async move { shutdown.begun().await })
    }

    fn expired(&self) -> Bytes {
        let expired = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The task has expired");
        json(&expired)
    }
}

/// Tools of a server that run as tasks.
struct ToolCatalog {
    core: Arc<Core>,
    tasks: Arc<Tasks>,
}

impl TaskCatalog for ToolCatalog {
    type Protocol = ToolTask;

    fn targets(&self) -> Vec<Name> {
        let tools = self.core.task_tools();
        tools.filter_map(|name| Name::new(name).ok()).collect()
    }

    fn enclose(
        &self,
        task: TaskId,
        attempt: u32,
        work: BoxFuture<'static, ()>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let span = tracing::info_span!(
                target: "sterna::tasks",
                "mcp.task",
                otel.kind = "consumer",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = field::Empty,
                sterna.task = ?task,
                sterna.attempt = attempt,
                sterna.outcome = field::Empty,
            );
            work.instrument(span).await;
        })
    }

    fn start(
        &self,
        claimed: &Claimed,
        shared: &Arc<TaskShared>,
    ) -> Result<StartedTask<ToolTask>, WorkerExit> {
        let task = claimed.lease.task;
        let unreadable = |why| match why {
            Unreadable::Damaged => {
                tracing::error!(target: "sterna::tasks", ?task, "MR0403: a stored task cannot be read");
                finished(&Failure::Internal)
            }
            Unreadable::Newer => {
                tracing::warn!(target: "sterna::tasks", ?task, "MR0405: a task of a newer version is left to others");
                WorkerExit::Left
            }
        };
        let stored = Stored::read(&claimed.request).map_err(unreadable)?;
        Span::current().record("gen_ai.tool.name", &*stored.tool);
        if stored.version > self.core.version {
            return Err(unreadable(Unreadable::Newer));
        }
        let mut journal = read_journal(claimed, &self.core.limits).map_err(unreadable)?;
        journal.set_version(stored.version);
        // A worker that has left a task to others has not tried it.
        let attempts = self.tasks.config.attempts;
        if claimed.attempt > attempts && !claimed.summary.status.is_final() {
            tracing::error!(target: "sterna::tasks", ?task, attempts, "MR0402: a task fails again and again");
            return Err(finished(&Failure::Internal));
        }
        let entry = self.core.offers.tools.get(&stored.tool);
        let entry = entry.ok_or_else(|| unreadable(Unreadable::Damaged))?;
        let way = Arc::clone(&entry.way);
        let HandlerKind::Flow(handler) = &*way else {
            return Err(unreadable(Unreadable::Damaged));
        };
        let summary = &claimed.summary;
        let lifetime = summary.expires_at.map(|end| end - summary.created_at);
        let engine = self.tasks.engine(&self.core.engine, lifetime);
        let engine = engine.map_err(|_| finished(&Failure::Internal))?;
        let build = if stored.build == self.core.build {
            BuildMatch::Same
        } else {
            BuildMatch::Other
        };
        let caller = stored.caller();
        let run = Run::new(engine, claimed.flow)
            .mode(ExecutionMode::Task)
            .resume(journal, 0, build);
        let mut run = shared.attach(run, status_message);
        if let Some(subject) = caller.principal().subject() {
            run = run.principal(subject);
        }
        let request = Request::new(RequestInner {
            environment: Arc::clone(&self.core.environment),
            meta: stored.meta,
            admission: Admission::unlimited(caller),
            extensions: http::Extensions::new(),
            headers: Headers::Own(http::HeaderMap::new()),
            reporter: None,
            mistake: OnceLock::new(),
            position: OnceLock::new(),
            promotion: TaskPromotion::default(),
            pending: PendingQuestions::default(),
        });
        let round = RoundGuard::begin(&self.core.middleware, &request, METHOD, &stored.tool);
        round.ends_as(RoundEnd::Shed);
        let position = FlowPosition {
            flow: *claimed.flow.as_bytes(),
            round: 0,
            trace: None,
        };
        request.set_position(position);
        // A task that has ended runs its compensations; no middleware can keep it from that.
        if !summary.status.is_final() {
            let all = &self.core.middleware;
            let begun = middleware::before(all, &request, METHOD, &stored.tool, position);
            begun.map_err(|failure| {
                round.ends_as(RoundEnd::Failed);
                finished(&failure)
            })?;
        }
        let input = stored.arguments;
        let driver =
            run.drive(|cx| handler(Cx::new(cx, request.clone()), HandlerInput::Tree(&input)));
        let protocol = ToolTask {
            core: Arc::clone(&self.core),
            tool: stored.tool,
            request,
            lacking: Lacking::default(),
            round,
        };
        Ok(StartedTask::new(driver, protocol))
    }
}

/// A task of MCP has no numbers for its progress, only a status message.
fn status_message(progress: Progress) -> Option<Note> {
    progress.message.map(|message| Note::new(&message))
}

/// Call of a tool that runs as a task.
struct ToolTask {
    core: Arc<Core>,
    tool: String,
    request: Request,
    lacking: Lacking,
    round: RoundGuard,
}

/// Method of the calls that become tasks.
const METHOD: &str = "tools/call";

impl TaskProtocol for ToolTask {
    type Output = CallToolResult;
    type Failure = Failure;

    fn misuse(&self) -> Option<Outcome> {
        let mistake = self.request.mistake()?;
        tracing::error!(target: "sterna::tasks", tool = self.tool, "MR0201: {mistake}");
        let mistake = format_args!("MR0201: {mistake}");
        Some(failed(&self.core.mistaken(mistake)))
    }

    fn report(&self, diagnostic: Diagnostic) {
        tracing::warn!(target: "sterna::tasks", tool = self.tool, "{diagnostic}");
    }

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<Bytes>, Outcome> {
        let target = (METHOD, &*self.tool);
        let admitted = self
            .lacking
            .admit(&self.core, &self.request, target, question);
        self.round.ends_as(match &admitted {
            Ok(_) => RoundEnd::Asked,
            Err(_) => RoundEnd::Failed,
        });
        Ok(match admitted.map_err(|failure| failed(&failure))? {
            Admit::FallBack(answer) => Admit::FallBack(answer),
            Admit::Lacking => Admit::Lacking,
            Admit::Send(asked) => Admit::Send(json(&asked.into_request())),
        })
    }

    fn lacking(&mut self) -> Option<Outcome> {
        self.lacking.failure().map(|failure| failed(&failure))
    }

    fn broken(&self) -> Outcome {
        failed(&Failure::Internal)
    }

    fn exit(&self, ended: FlowOutcome<CallToolResult, Failure>) -> WorkerExit {
        let exit = self.exit_of(match ended {
            FlowOutcome::Finished(result) => outcome_of(self.round.result(Ok(result))),
            FlowOutcome::Failed(failure) => outcome_of(self.round.result(Err(failure))),
            ended => ended,
        });
        self.round.ends_as(match &exit {
            WorkerExit::Finished(Outcome::Cancelled) => RoundEnd::Cancelled,
            WorkerExit::Finished(Outcome::Completed(_)) => RoundEnd::Finished,
            WorkerExit::Finished(_) => RoundEnd::Failed,
            _ => RoundEnd::Shed,
        });
        exit
    }
}

fn outcome_of(result: Result<CallToolResult, Failure>) -> FlowOutcome<CallToolResult, Failure> {
    result.map_or_else(FlowOutcome::Failed, FlowOutcome::Finished)
}

impl ToolTask {
    fn exit_of(&self, ended: FlowOutcome<CallToolResult, Failure>) -> WorkerExit {
        match ended {
            FlowOutcome::Finished(mut result) => {
                let checked = finish_tool(&self.core, &self.tool, &mut result);
                WorkerExit::Finished(match checked {
                    Ok(()) => self.outcome(&result),
                    Err(failure) => failed(&failure),
                })
            }
            FlowOutcome::Failed(Failure::Tool(text)) => {
                WorkerExit::Finished(self.outcome(&CallToolResult::error(text)))
            }
            FlowOutcome::Failed(failure) => finished(&failure),
            FlowOutcome::Cancelled => WorkerExit::Finished(Outcome::Cancelled),
            FlowOutcome::Shed(_) => WorkerExit::HandedOver,
            FlowOutcome::Stopped(error) => self.stopped(&error),
            _ => finished(&Failure::Internal),
        }
    }

    /// Returns the outcome of a task whose tool returned `result`. The era
    /// decides whether a tool that failed has completed its task (TASK-S24).
    fn outcome(&self, result: &CallToolResult) -> Outcome {
        let version = &self.request.meta().protocol_version;
        let in_session = *version < ProtocolVersion::V2026_07_28;
        match result.is_error {
            Some(true) if in_session => Outcome::Failed(json(result)),
            _ => Outcome::Completed(json(result)),
        }
    }

    fn stopped(&self, error: &Error) -> WorkerExit {
        if let Error::Plug {
            source: BackendError::FenceLost,
            ..
        } = error
        {
            // Nothing is written any more: giving the task back is refused, and that is fine.
            return WorkerExit::Passivated;
        }
        // The text may hold what a panic said; it is for the author alone.
        tracing::error!(target: "sterna::tasks", tool = self.tool, "{error}");
        match error {
            Error::Plug { .. } | Error::Transient { .. } => WorkerExit::Retry,
            Error::OtherAnswers { .. } => finished(&Failure::State),
            Error::StateVersion { .. } => {
                let why = "The task was begun by an earlier version of the server";
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, why);
                WorkerExit::Finished(Outcome::Failed(json(&error)))
            }
            mistake => finished(&self.core.mistaken(mistake)),
        }
    }
}

fn finished(failure: &Failure) -> WorkerExit {
    WorkerExit::Finished(failed(failure))
}

/// Returns the outcome of a task whose call failed (TASK-S4).
fn failed(failure: &Failure) -> Outcome {
    let (_, error) = failure.to_wire();
    Outcome::Failed(json(&error))
}

fn json(value: &impl Serialize) -> Bytes {
    let bytes = serde_json::to_vec(value).expect("wire types have string keys only");
    bytes.into()
}
