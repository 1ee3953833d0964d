//! Running calls: every round is a task of its own, and writes into its record.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use sterna_client::{
    CallOptions, CancelHandle, Client, Era, Error, PausedCall, Reply, Step, TaskHandle, WireMessage,
};
use sterna_http::clock;
use sterna_protocol::input::{InputRequest, InputResponse, InputResponses};
use sterna_protocol::logging::LoggingLevel;
use sterna_protocol::tasks::TaskState;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

use crate::record::{
    Altered, AskedRound, CallKind, CallRecord, CallRequest, Failure, LiveAnswer, LiveQuestion,
    LogLine, Paused, Progress, Round, Status, TaskRecord, WireRecord,
};

/// All calls of the inspector.
#[derive(Debug)]
pub(crate) struct Calls {
    state: Mutex<State>,
    /// Counts the changes; the pages that are open wait for the next one.
    changes: watch::Sender<u64>,
    running: Mutex<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    calls: BTreeMap<u64, CallRecord>,
    /// Messages that belong to no call: connecting, and lists.
    wire: Vec<WireRecord>,
}

/// A round of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundId {
    pub(crate) call: u64,
    pub(crate) round: usize,
}

/// A round that is about to be sent.
enum Work {
    Resume(Box<Paused>),
    Start(CallRequest),
}

impl Calls {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State::default()),
            changes: watch::Sender::new(0),
            running: Mutex::new(JoinSet::new()),
        }
    }

    /// Begins a call.
    pub(crate) fn begin(self: &Arc<Self>, client: Client, request: CallRequest) -> u64 {
        let id = self.add(client.era(), request.clone());
        let id = RoundId { call: id, round: 0 };
        self.spawn(client, id, Work::Start(request));
        id.call
    }

    /// Records a call that cannot even be sent.
    pub(crate) fn begin_failed(&self, era: Era, request: CallRequest, error: &Error) -> u64 {
        let call = self.add(era, request);
        let failed = Status::Failed(Failure::of(error));
        self.settle(RoundId { call, round: 0 }, failed);
        call
    }

    fn add(&self, era: Era, request: CallRequest) -> u64 {
        let mut state = self.lock();
        state.next += 1;
        let id = state.next;
        let record = CallRecord {
            id,
            era,
            request,
            rounds: vec![Round::new(None, Vec::new(), clock::now())],
        };
        state.calls.insert(id, record);
        while state.calls.len() > MOST_CALLS {
            let oldest = state.calls.values().find(|call| !call.is_running());
            let Some(oldest) = oldest.map(|call| call.id) else {
                break;
            };
            state.calls.remove(&oldest);
        }
        id
    }

    /// Adds a call that was read from a file.
    pub(crate) fn restore(&self, call: CallRecord) {
        let mut state = self.lock();
        state.next = state.next.max(call.id);
        state.calls.insert(call.id, call);
    }

    /// Takes a paused round up with these answers. The round itself stays as it
    /// is: another set of answers makes another branch.
    pub(crate) fn answer(
        self: &Arc<Self>,
        client: Client,
        at: RoundId,
        answers: Vec<(String, InputResponse)>,
    ) -> Result<RoundId, Error> {
        let Some(mut paused) = self.paused(at) else {
            return Ok(at);
        };
        for (key, response) in answers {
            paused.answer(&key, response)?;
        }
        Ok(self.resume(client, at, paused, None))
    }

    /// Sends a paused call whose state was changed on purpose.
    pub(crate) fn resume(
        self: &Arc<Self>,
        client: Client,
        at: RoundId,
        paused: Paused,
        altered: Option<Altered>,
    ) -> RoundId {
        let mut state = self.lock();
        let Some(call) = state.calls.get_mut(&at.call) else {
            return at;
        };
        let mut round = Round::new(Some(at.round), paused.given(), clock::now());
        round.altered = altered;
        call.rounds.push(round);
        let next = RoundId {
            round: call.rounds.len() - 1,
            ..at
        };
        drop(state);
        self.spawn(client, next, Work::Resume(Box::new(paused)));
        next
    }

    /// The paused call of a round that asks.
    pub(crate) fn paused(&self, at: RoundId) -> Option<Paused> {
        let state = self.lock();
        match &state.calls.get(&at.call)?.rounds.get(at.round)?.status {
            Status::Asked(asked) => asked.paused.clone(),
            _ => None,
        }
    }

    /// Answers a question that is open while its request is.
    pub(crate) fn answer_live(&self, at: RoundId, question: usize, response: InputResponse) {
        self.change(at, |round| {
            let Some(asked) = round.questions.get_mut(question) else {
                return;
            };
            let given = serde_json::to_value(&response).unwrap_or_default();
            if let LiveAnswer::Open(waiting) =
                std::mem::replace(&mut asked.answer, LiveAnswer::Given(given))
            {
                // A request that ended meanwhile needs no answer.
                let _ = waiting.send(response);
            }
        });
    }

    /// Cancels a round that runs.
    pub(crate) fn cancel(&self, at: RoundId) {
        let state = self.lock();
        let round = state
            .calls
            .get(&at.call)
            .and_then(|call| call.rounds.get(at.round));
        if let Some(cancel) = round.and_then(|round| round.cancel.as_ref()) {
            cancel.cancel();
        }
    }

    /// The handle of a task that has not ended.
    pub(crate) fn task(&self, at: RoundId) -> Option<TaskHandle> {
        let state = self.lock();
        match &state.calls.get(&at.call)?.rounds.get(at.round)?.status {
            Status::Task(task) => Some(task.handle.clone()),
            _ => None,
        }
    }

    /// Drops every call that runs, which cancels it at the server.
    pub(crate) async fn stop(&self) {
        let mut running = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *running)
        };
        running.shutdown().await;
    }

    /// Reads a call.
    pub(crate) fn read<T>(&self, id: u64, read: impl FnOnce(&CallRecord) -> T) -> Option<T> {
        self.lock().calls.get(&id).map(read)
    }

    /// Reads all calls, the latest first.
    pub(crate) fn each<T>(&self, read: impl Fn(&CallRecord) -> T) -> Vec<T> {
        self.lock().calls.values().rev().map(read).collect()
    }

    /// Messages that belong to no call.
    pub(crate) fn connection_wire(&self) -> Vec<WireRecord> {
        self.lock().wire.clone()
    }

    /// Tells the pages that are open of a change elsewhere.
    pub(crate) fn notify(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Waits until a round has an outcome or asks, but not for long: the page
    /// shows a round that still runs.
    pub(crate) async fn settled(&self, at: RoundId) {
        let mut changes = self.subscribe();
        let settled = async {
            loop {
                let runs = self.read(at.call, |call| {
                    let round = call.rounds.get(at.round);
                    round.is_some_and(|round| round.is_running() && round.questions.is_empty())
                });
                if runs != Some(true) || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        // The page says how far it came.
        let _ = tokio::time::timeout(BRIEFLY, settled).await;
    }

    /// Records a message on the wire, with the round that it belongs to.
    pub(crate) fn saw(&self, message: &WireMessage<'_>) {
        match CURRENT.try_with(|at| *at) {
            Ok(at) => self.change(at, |round| {
                let after = clock::now().saturating_duration_since(round.began);
                let record = WireRecord::new(message, after);
                Round::keep(&mut round.wire, &mut round.left_out, record);
            }),
            Err(_) => {
                let mut state = self.lock();
                if state.wire.len() >= MOST_UNRELATED {
                    state.wire.remove(0);
                }
                state.wire.push(WireRecord::new(message, Duration::ZERO));
            }
        }
    }

    /// Has a person answer a question of a request that stays open.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        about: &str,
        key: String,
        request: InputRequest,
    ) -> Option<InputResponse> {
        let at = CURRENT.try_with(|at| *at).ok();
        let at = at.or_else(|| self.running_call(about))?;
        let (answer, answered) = oneshot::channel();
        let mut number = 0;
        self.change(at, |round| {
            number = round.questions.len();
            round.questions.push(LiveQuestion {
                key,
                request,
                answer: LiveAnswer::Open(answer),
            });
        });
        let guard = Withdraw {
            calls: self.clone(),
            at,
            number,
        };
        let answer = answered.await.ok();
        drop(guard);
        answer
    }

    /// The latest call of that name that is running.
    fn running_call(&self, about: &str) -> Option<RoundId> {
        let state = self.lock();
        let running = || state.calls.values().rev().filter(|call| call.is_running());
        let named = running().find(|call| call.request.name == about);
        // Over stdio a session does not say which call a question is about.
        let call = named.or_else(|| running().next())?;
        let round = call.rounds.iter().rposition(Round::is_running)?;
        Some(RoundId {
            call: call.id,
            round,
        })
    }

    fn spawn(self: &Arc<Self>, client: Client, at: RoundId, work: Work) {
        let calls = self.clone();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        while running.try_join_next().is_some() {}
        running.spawn(CURRENT.scope(at, async move {
            calls.run(&client, at, work).await;
        }));
    }

    async fn run(self: &Arc<Self>, client: &Client, at: RoundId, work: Work) {
        let reached = match work {
            Work::Start(request) => self.start(client, at, request).await,
            Work::Resume(paused) => match *paused {
                Paused::Prompt(paused) => self.go_on(client, at, paused, Paused::Prompt).await,
                Paused::Resource(paused) => self.go_on(client, at, paused, Paused::Resource).await,
                Paused::Tool(paused) => self.go_on(client, at, paused, Paused::Tool).await,
            },
        };
        match reached {
            Ok(Status::Task(task)) => {
                let handle = task.handle.clone();
                self.settle(at, Status::Task(task));
                let ended = self.follow(client, at, &handle).await;
                self.settle(at, ended.unwrap_or_else(|error| failed(&error)));
            }
            Ok(status) => self.settle(at, status),
            Err(error) => self.settle(at, failed(&error)),
        }
    }

    async fn start(
        self: &Arc<Self>,
        client: &Client,
        at: RoundId,
        request: CallRequest,
    ) -> Result<Status, Error> {
        let options = self.options(at);
        match request.kind {
            CallKind::Prompt => {
                let mut call = client.prompt(request.name).options(options);
                for (name, value) in request.arguments {
                    let text = value
                        .as_str()
                        .map_or_else(|| value.to_string(), str::to_owned);
                    call = call.arg(name, text);
                }
                self.cancel_by(at, call.handle());
                Ok(status(call.start().await?, Paused::Prompt))
            }
            CallKind::Resource => {
                let call = client.read(request.name).options(options);
                self.cancel_by(at, call.handle());
                Ok(status(call.start().await?, Paused::Resource))
            }
            CallKind::Tool => {
                let call = client.call(request.name).args(request.arguments);
                let call = call.options(options);
                self.cancel_by(at, call.handle());
                Ok(status(call.start().await?, Paused::Tool))
            }
        }
    }

    async fn go_on<T: Reply + serde::Serialize>(
        self: &Arc<Self>,
        client: &Client,
        at: RoundId,
        paused: PausedCall<T>,
        wrap: fn(PausedCall<T>) -> Paused,
    ) -> Result<Status, Error> {
        let resume = paused.resume(client).options(self.options(at));
        self.cancel_by(at, resume.handle());
        Ok(status(resume.await?, wrap))
    }

    /// Follows a task to its end.
    async fn follow(
        self: &Arc<Self>,
        client: &Client,
        at: RoundId,
        handle: &TaskHandle,
    ) -> Result<Status, Error> {
        if client.era() == Era::Legacy {
            // The server asks while the task is followed; the handlers answer.
            let result = Box::pin(handle.follow(client)).await?;
            return Ok(done(&result));
        }
        loop {
            let seen = handle.get(client).await?;
            let pace = seen
                .task()
                .poll_interval_ms
                .map_or(USUAL_PACE, Duration::from_millis);
            let ended = match seen.state() {
                TaskState::Completed(result) => Some(done(result)),
                TaskState::Cancelled => Some(Status::Cancelled),
                TaskState::Failed(error) => Some(Status::Failed(Failure {
                    text: "the task failed".to_owned(),
                    code: "MR0510".to_owned(),
                    is_of_state: false,
                    rpc: Some((error.code.0, error.message.clone())),
                })),
                _ => None,
            };
            self.change(at, |round| {
                if let Status::Task(task) = &mut round.status {
                    task.seen = Some(seen);
                }
            });
            if let Some(ended) = ended {
                return Ok(ended);
            }
            tokio::time::sleep(pace.clamp(FASTEST_PACE, SLOWEST_PACE)).await;
        }
    }

    /// Sends answers to a task.
    pub(crate) async fn answer_task(
        &self,
        client: &Client,
        at: RoundId,
        answers: Vec<(String, InputResponse)>,
    ) -> Result<(), Error> {
        let Some(handle) = self.task(at) else {
            return Ok(());
        };
        let mut responses = InputResponses::new();
        for (key, response) in answers {
            responses.insert(key, response);
        }
        CURRENT.scope(at, handle.update(client, responses)).await
    }

    fn options(self: &Arc<Self>, at: RoundId) -> CallOptions {
        let (progress, logs) = (self.clone(), self.clone());
        CallOptions::new()
            // Its pages show such a question as what it is: a request that stays open.
            .handle_session_questions()
            .on_progress(move |told| {
                progress.change(at, |round| {
                    let item = Progress {
                        after: clock::now().saturating_duration_since(round.began),
                        progress: told.progress.as_f64(),
                        total: told.total.map(|total| total.as_f64()),
                        message: told.message.clone(),
                    };
                    Round::keep(&mut round.progress, &mut round.left_out, item);
                });
            })
            .on_log(LoggingLevel::Debug, move |told| {
                logs.change(at, |round| {
                    let text: Option<String> = told.data.decode().ok();
                    let item = LogLine {
                        after: clock::now().saturating_duration_since(round.began),
                        level: told.level.as_str().to_owned(),
                        logger: told.logger.clone(),
                        text: text.unwrap_or_else(|| told.data.as_str().to_owned()),
                    };
                    Round::keep(&mut round.logs, &mut round.left_out, item);
                });
            })
    }

    fn cancel_by(&self, at: RoundId, handle: CancelHandle) {
        self.change(at, |round| round.cancel = Some(handle));
    }

    fn settle(&self, at: RoundId, status: Status) {
        self.change(at, |round| {
            let took = clock::now().saturating_duration_since(round.began);
            round.took = Some(took);
            if !matches!(status, Status::Task(_)) {
                round.cancel = None;
            }
            round.status = status;
        });
    }

    fn change(&self, at: RoundId, change: impl FnOnce(&mut Round)) {
        let mut state = self.lock();
        let call = state.calls.get_mut(&at.call);
        if let Some(round) = call.and_then(|call| call.rounds.get_mut(at.round)) {
            change(round);
        }
        drop(state);
        self.notify();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one assignment, so a panic leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks a question as withdrawn if it is dropped before the answer.
struct Withdraw {
    calls: Arc<Calls>,
    at: RoundId,
    number: usize,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        self.calls.change(self.at, |round| {
            if let Some(question) = round.questions.get_mut(self.number)
                && matches!(question.answer, LiveAnswer::Open(_))
            {
                question.answer = LiveAnswer::Withdrawn;
            }
        });
    }
}

fn status<T: Reply + serde::Serialize>(step: Step<T>, wrap: fn(PausedCall<T>) -> Paused) -> Status {
    match step {
        Step::Complete(result) => done(&result),
        Step::InputRequired(paused) => Status::Asked(Box::new(AskedRound::of(wrap(paused)))),
        Step::Task(handle) => Status::Task(Box::new(TaskRecord { handle, seen: None })),
        _ => Status::Cancelled,
    }
}

fn done(result: &impl serde::Serialize) -> Status {
    let result = serde_json::to_value(result).unwrap_or_default();
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    Status::Done { result, is_error }
}

fn failed(error: &Error) -> Status {
    match error.code() {
        "MR0514" => Status::Cancelled,
        _ => Status::Failed(Failure::of(error)),
    }
}

tokio::task_local! {
    /// The round that a task runs for.
    static CURRENT: RoundId;
}

/// Calls that are kept; the oldest that ended is forgotten for a new one.
const MOST_CALLS: usize = 200;

/// Messages that belong to no call.
const MOST_UNRELATED: usize = 100;

/// A call that ends within this time is shown with its end at once.
const BRIEFLY: Duration = Duration::from_millis(400);

const USUAL_PACE: Duration = Duration::from_millis(500);
const FASTEST_PACE: Duration = Duration::from_millis(100);
const SLOWEST_PACE: Duration = Duration::from_secs(5);
