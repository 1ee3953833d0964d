//! A call from its first request to its end, asking in between.

mod follow_task;
mod tasks;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde::Serialize;
use serde_json::json;
use sterna_client::{Call, CallOptions, Client, HeldReason, PausedCall, Reply, Step};
use sterna_protocol::input::{InputRequests, InputResponse};

use crate::ask::{Answer, Asker, SharedAnswerer};
use crate::config::Limits;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::screen::Screen;
use crate::session::failure;
use crate::target::Target;
use crate::text::{JsonLayout, Text, one_line, printable_json};

/// Context of a call and its rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds<'a> {
    pub(crate) client: &'a Client,
    pub(crate) answerer: &'a SharedAnswerer,
    pub(crate) save: Option<&'a Path>,
    /// A call that becomes a task is left to itself.
    pub(crate) detach: bool,
    pub(crate) limits: Limits,
    /// The server as the user named it; the demo has named it itself.
    pub(crate) target: Option<&'a Target>,
    pub(crate) screen: Screen,
}

/// Progress of a call.
#[derive(Debug)]
pub(crate) enum CallProgress<T> {
    /// To its end.
    End(Ended<T>),
    /// It goes on another time; the user has been told how.
    Later(Exit),
}

/// End of a call.
#[derive(Debug)]
pub(crate) struct Ended<T> {
    pub(crate) result: T,
    /// The user declined or cancelled something on the way.
    pub(crate) refused: bool,
    /// A question that could not stay open had no answer.
    pub(crate) missed: bool,
}

impl Rounds<'_> {
    /// Makes a call.
    pub(crate) async fn call<T: Reply>(&self, call: Call<T>) -> Result<CallProgress<T>, Failure> {
        let progress = Progress::new(self.screen);
        let call = call.options(self.options(&progress));
        let sent = async { call.start().await.map_err(failure) };
        let step = interrupt::or(CANCELLED, self.unless_stopped(sent)).await;
        progress.finish();
        self.go_on(step?).await
    }

    /// Goes on from `step`.
    pub(crate) async fn go_on<T: Reply>(
        &self,
        mut step: Step<T>,
    ) -> Result<CallProgress<T>, Failure> {
        let mut pause = self.limits.pause;
        loop {
            let mut paused = match step {
                Step::Complete(result) => return Ok(self.end(result).await),
                Step::InputRequired(paused) => paused,
                Step::Task(task) if self.detach => return self.leave(&task),
                Step::Task(task) => {
                    self.screen
                        .note(self.follow_hint("it goes on as a task", &task));
                    return self.follow(&task).await;
                }
                _ => {
                    return Err(
                        anyhow!("the call ended in a way this release does not know").into(),
                    );
                }
            };
            self.tell(&paused);
            if paused.rounds() >= self.limits.rounds {
                self.keep(&paused)?;
                let rounds = self.limits.rounds;
                let error = anyhow!("after {rounds} rounds the server still asks for more");
                return Err(Failure::new(Exit::Failed, error).hint("--max-rounds lets it ask on"));
            }
            let mut wait = Duration::ZERO;
            if paused.questions().is_empty() {
                wait = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            } else {
                match self.answer_all(&mut paused).await? {
                    Asked::Answered => pause = self.limits.pause,
                    Asked::Unanswered => return self.put_aside(&paused),
                    Asked::Stopped => {
                        self.keep(&paused)?;
                        return Err(stopped());
                    }
                }
            }
            step = match self.send_again(&paused, wait).await {
                Ok(step) => step,
                Err(failed) => {
                    // What the user has typed is not lost with the connection.
                    if let Exit::Unreachable | Exit::TimedOut | Exit::Declined = failed.exit {
                        self.keep(&paused)?;
                    }
                    return Err(failed);
                }
            };
        }
    }

    async fn send_again<T: Reply>(
        &self,
        paused: &PausedCall<T>,
        wait: Duration,
    ) -> Result<Step<T>, Failure> {
        let progress = Progress::new(self.screen);
        let sent = async {
            tokio::time::sleep(wait).await;
            let resumed = paused.resume(self.client);
            let resumed = resumed.options(self.options(&progress));
            resumed.await.map_err(failure)
        };
        let interrupted = match paused.is_in_session() && paused.is_detached() {
            true => LEFT,
            false => CANCELLED,
        };
        let step = interrupt::or(interrupted, self.unless_stopped(sent)).await;
        progress.finish();
        step
    }

    /// Options that show progress and log messages on the screen.
    fn options(&self, progress: &Progress) -> CallOptions {
        let bar = progress.clone();
        let options = CallOptions::new().on_progress(move |params| bar.show(params));
        match self.screen.log_level() {
            Some(level) => {
                let (bar, screen) = (progress.clone(), self.screen);
                options.on_log(level, move |message| bar.log(screen, message))
            }
            None => options,
        }
    }

    /// Waits for `work`, in the middle of which a server of the earlier era may
    /// ask; a user who stops there drops it.
    pub(crate) fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> impl Future<Output = Result<T, Failure>> {
        let work = Box::pin(work);
        async move {
            let has_stopped = self.answerer.lock().await.stopped();
            tokio::select! {
                ended = work => ended,
                () = has_stopped.notified() => Err(stopped()),
            }
        }
    }

    /// The end of a call.
    pub(crate) async fn end<T>(&self, result: T) -> CallProgress<T> {
        let answerer = self.answerer.lock().await;
        CallProgress::End(Ended {
            result,
            refused: answerer.refused(),
            missed: answerer.missed(),
        })
    }

    /// Answers what is open in a paused call.
    pub(crate) async fn answer_all<T: Reply>(
        &self,
        paused: &mut PausedCall<T>,
    ) -> Result<Asked, Failure> {
        let open = paused.open();
        let open = open.map(|(key, request)| (key.to_owned(), request.clone()));
        let (answers, asked) = self
            .ask(paused.server(), paused.name(), open.collect())
            .await?;
        for (key, response) in answers {
            paused.answer(&key, response).map_err(failure)?;
        }
        Ok(asked)
    }

    /// Asks one after the other, up to the first without an answer.
    pub(crate) async fn ask(
        &self,
        server: &str,
        about: &str,
        open: InputRequests,
    ) -> Result<(Vec<(String, InputResponse)>, Asked), Failure> {
        let mut answerer = self.answerer.lock().await;
        let mut answers = Vec::new();
        for (key, request) in open {
            let asker = Asker {
                server,
                about,
                key: &key,
            };
            match answerer.answer(asker, &request).await? {
                Answer::Ready(response) => answers.push((key, *response)),
                Answer::Missing => return Ok((answers, Asked::Unanswered)),
                Answer::Stopped => return Ok((answers, Asked::Stopped)),
            }
        }
        Ok((answers, Asked::Answered))
    }

    /// Keeps a call with open questions: in the file, or on stdout.
    fn put_aside<T: Reply>(&self, paused: &PausedCall<T>) -> Result<CallProgress<T>, Failure> {
        let keys = listed(paused.open().map(|(key, _)| key));
        if let Some(reason) = paused.held() {
            return Err(not_kept(&keys, reason));
        }
        let resume = |file: &str| match self.target {
            Some(target) => target.resume_line(file),
            None => format!("sterna resume {file}"),
        };
        match self.save {
            Some(file) => {
                self.write(file, paused)?;
                let open = paused.open();
                let open = open.map(|(key, request)| (key.to_owned(), request.clone()));
                let open: InputRequests = open.collect();
                self.screen.result(
                    &json!({"inputRequired": open, "saved": file}),
                    format!("input required: {keys}\nsaved to {}\n", file.display()),
                )?;
                let line = resume(&file.to_string_lossy());
                self.screen.note(format!("go on with: {line}"));
            }
            None => {
                self.screen.json(paused)?;
                let line = resume("FILE");
                self.screen.note(format!(
                    "input required: {keys}\nkeep the JSON in a file and go on with: {line}"
                ));
            }
        }
        Ok(CallProgress::Later(Exit::InputRequired))
    }

    /// Keeps a call that ends before its time, if the user said where.
    fn keep<T: Reply>(&self, paused: &PausedCall<T>) -> Result<(), Failure> {
        let Some(file) = self.save else {
            return Ok(());
        };
        if let Some(reason) = paused.held() {
            self.screen.warn(format!("the call is not saved: {reason}"));
            return Ok(());
        }
        self.write(file, paused)?;
        self.screen.note(format!("saved to {}", file.display()));
        Ok(())
    }

    fn write<T: Reply>(&self, file: &Path, paused: &PausedCall<T>) -> Result<(), Failure> {
        // The same value, also for a reader who prints the file.
        let text = printable_json(&serde_json::to_string_pretty(paused)?, JsonLayout::Lines);
        let written = crate::private_file::write(file, &text);
        Ok(written.with_context(|| format!("the call cannot be saved to {}", file.display()))?)
    }

    fn tell<T: Reply>(&self, paused: &PausedCall<T>) {
        let keys = listed(paused.open().map(|(key, _)| key));
        let asks = match keys.is_empty() {
            true => "nothing, and wants to be called again",
            false => keys.as_str(),
        };
        let (round, server) = (paused.rounds() + 1, one_line(paused.server()));
        self.screen
            .detail(format!("round {round}: {server} asks {asks}"));
    }
}

/// Keys of questions in a sentence.
pub(crate) fn listed<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    keys.map(one_line).collect::<Vec<_>>().join(", ")
}

/// Outcome of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    Answered,
    Stopped,
    Unanswered,
}

fn stopped() -> Failure {
    let error = anyhow!("you stopped the call; nothing more was sent");
    Failure::new(Exit::Declined, error)
}

/// Error for an open question of a call that ends with this process.
fn not_kept(keys: &str, reason: HeldReason) -> Failure {
    let error = anyhow!(
        "the server asks {keys} in the middle of the call, and the call cannot be saved: {reason}"
    );
    Failure::new(Exit::InputRequired, error).hint(
        "the call was cancelled; call again and give the answers beforehand, with --answer, \
         --answers, --accept, --decline or --cancel",
    )
}

/// Shows a result and says how it ends.
pub(crate) fn finish<T: Serialize>(
    reached: CallProgress<T>,
    screen: Screen,
    text: impl FnOnce(&T) -> (Text, Exit),
) -> Result<Exit, Failure> {
    let ended = match reached {
        CallProgress::End(ended) => ended,
        CallProgress::Later(exit) => return Ok(exit),
    };
    let (text, exit) = text(&ended.result);
    screen.result(&ended.result, text)?;
    Ok(match (ended.missed, ended.refused) {
        (true, _) => Exit::InputRequired,
        (false, true) => Exit::Declined,
        (false, false) => exit,
    })
}

const CANCELLED: &str = "interrupted; the call was cancelled";

const LEFT: &str = "interrupted; the call goes on at the server and can be resumed";

/// However often it is doubled.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
