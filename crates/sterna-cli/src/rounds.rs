//! A call from its first request to its end, asking in between.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde::Serialize;
use serde_json::json;
use sterna_client::{Call, Client, PausedCall, Reply, Step};
use sterna_protocol::input::{InputRequests, InputResponse};

use crate::ask::{Answer, Asker};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::screen::Screen;
use crate::session::{SharedDesk, failure};
use crate::tasks::follow_hint;

/// What a call goes on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds<'a> {
    pub(crate) client: &'a Client,
    pub(crate) desk: &'a SharedDesk,
    pub(crate) save: Option<&'a Path>,
    /// A call that becomes a task is left to itself.
    pub(crate) detach: bool,
    pub(crate) limits: Limits,
    pub(crate) screen: Screen,
}

/// How long a call may go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How often it is sent again.
    pub(crate) rounds: u32,
    /// The wait before a retry that needs no answer, doubled each time.
    pub(crate) pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Servers keep within eight; other clients stop at ten.
            rounds: 10,
            pause: Duration::from_millis(100),
        }
    }
}

/// How far a call came.
#[derive(Debug)]
pub(crate) enum Reached<T> {
    /// To its end.
    End(Ended<T>),
    /// It goes on another time; the user has been told how.
    Later(Exit),
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Ended<T> {
    pub(crate) result: T,
    /// The user declined or cancelled something on the way.
    pub(crate) refused: bool,
    /// Nobody answered a question that could not be put aside.
    pub(crate) missed: bool,
}

impl Rounds<'_> {
    /// Makes a call.
    pub(crate) async fn call<T: Reply>(&self, call: Call<T>) -> Result<Reached<T>, Failure> {
        let progress = Progress::new(self.screen);
        let bar = progress.clone();
        let call = call.on_progress(move |params| bar.show(params));
        let sent = async { call.start().await.map_err(failure) };
        let step = interrupt::or(CANCELLED, self.unless_stopped(sent)).await;
        progress.finish();
        self.go_on(step?).await
    }

    /// Goes on from `step`.
    pub(crate) async fn go_on<T: Reply>(&self, mut step: Step<T>) -> Result<Reached<T>, Failure> {
        let mut pause = self.limits.pause;
        loop {
            let mut paused = match step {
                Step::Complete(result) => return Ok(self.end(result).await),
                Step::InputRequired(paused) => paused,
                Step::Task(task) if self.detach => return self.leave(&task),
                Step::Task(task) => {
                    self.screen.note(follow_hint("it goes on as a task", &task));
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
                    Asked::Nobody => return self.put_aside(&paused),
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
        let bar = progress.clone();
        let sent = async {
            tokio::time::sleep(wait).await;
            let show = move |params: &_| bar.show(params);
            let resumed = paused.resume(self.client).on_progress(show).await;
            resumed.map_err(failure)
        };
        let step = interrupt::or(CANCELLED, self.unless_stopped(sent)).await;
        progress.finish();
        step
    }

    /// Waits for `work`, in the middle of which a server of the earlier era may
    /// ask; a user who stops there drops it.
    pub(crate) fn unless_stopped<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> impl Future<Output = Result<T, Failure>> {
        let work = Box::pin(work);
        async move {
            let has_stopped = self.desk.lock().await.stopped();
            tokio::select! {
                ended = work => ended,
                () = has_stopped.notified() => Err(stopped()),
            }
        }
    }

    /// The end of a call.
    pub(crate) async fn end<T>(&self, result: T) -> Reached<T> {
        let desk = self.desk.lock().await;
        Reached::End(Ended {
            result,
            refused: desk.refused(),
            missed: desk.missed(),
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

    /// Asks one after the other, up to the first that nobody answers.
    pub(crate) async fn ask(
        &self,
        server: &str,
        about: &str,
        open: InputRequests,
    ) -> Result<(Vec<(String, InputResponse)>, Asked), Failure> {
        let mut desk = self.desk.lock().await;
        let mut answers = Vec::new();
        for (key, request) in open {
            let asker = Asker {
                server,
                about,
                key: &key,
            };
            match desk.answer(asker, &request).await? {
                Answer::Ready(response) => answers.push((key, *response)),
                Answer::Nobody => return Ok((answers, Asked::Nobody)),
                Answer::Stopped => return Ok((answers, Asked::Stopped)),
            }
        }
        Ok((answers, Asked::Answered))
    }

    /// Keeps a call that nobody is there to answer: in the file, or on stdout.
    fn put_aside<T: Reply>(&self, paused: &PausedCall<T>) -> Result<Reached<T>, Failure> {
        let keys: Vec<_> = paused.open().map(|(key, _)| key).collect();
        let keys = keys.join(", ");
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
                let file = file.display();
                self.screen.note(format!(
                    "go on with: sterna resume {file} --answer KEY.FIELD=VALUE"
                ));
            }
            None => {
                self.screen.json(paused)?;
                self.screen.note(format!(
                    "input required: {keys}\nkeep the JSON in a file and go on with: sterna resume FILE"
                ));
            }
        }
        Ok(Reached::Later(Exit::InputRequired))
    }

    /// Keeps a call that ends before its time, if the user said where.
    fn keep<T: Reply>(&self, paused: &PausedCall<T>) -> Result<(), Failure> {
        let Some(file) = self.save else {
            return Ok(());
        };
        self.write(file, paused)?;
        self.screen.note(format!("saved to {}", file.display()));
        Ok(())
    }

    fn write<T: Reply>(&self, file: &Path, paused: &PausedCall<T>) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(paused)?;
        let written = crate::private_file::write(file, &text);
        Ok(written.with_context(|| format!("{} cannot be written", file.display()))?)
    }

    fn tell<T: Reply>(&self, paused: &PausedCall<T>) {
        let keys: Vec<_> = paused.open().map(|(key, _)| key).collect();
        self.screen.detail(format!(
            "round {}: {} asks {}",
            paused.rounds() + 1,
            paused.server(),
            if keys.is_empty() {
                "nothing, and wants to be called again".to_owned()
            } else {
                keys.join(", ")
            },
        ));
    }
}

/// What came of asking.
#[derive(Debug)]
pub(crate) enum Asked {
    Answered,
    Nobody,
    Stopped,
}

fn stopped() -> Failure {
    let error = anyhow!("you stopped the call; nothing more was sent");
    Failure::new(Exit::Declined, error)
}

/// Shows a result and says how it ends.
pub(crate) fn finish<T: Serialize>(
    reached: Reached<T>,
    screen: Screen,
    text: impl FnOnce(&T) -> (String, Exit),
) -> Result<Exit, Failure> {
    let ended = match reached {
        Reached::End(ended) => ended,
        Reached::Later(exit) => return Ok(exit),
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

/// However often it is doubled.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
