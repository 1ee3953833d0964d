//! A call from its first request to its end, asking in between.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use serde::Serialize;
use serde_json::{Value, json};
use sterna_client::{Call, Client, PausedCall, Reply, Step};
use sterna_protocol::input::InputRequest;

use crate::ask::{Answer, Asker};
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::screen::Screen;
use crate::session::{SharedDesk, failure};

/// What a call goes on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds<'a> {
    pub(crate) client: &'a Client,
    pub(crate) desk: &'a SharedDesk,
    pub(crate) save: Option<&'a Path>,
    pub(crate) screen: Screen,
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
    pub(crate) async fn call<T: Reply>(&self, call: Call<T>) -> Result<Option<Ended<T>>, Failure> {
        let progress = Progress::new(self.screen);
        let bar = progress.clone();
        let call = call.on_progress(move |params| bar.show(params));
        let step = call.start().await.map_err(failure);
        progress.finish();
        self.go_on(step?).await
    }

    /// Goes on from `step`; `None` if nobody is there to answer, and the call
    /// has been put aside.
    pub(crate) async fn go_on<T: Reply>(
        &self,
        mut step: Step<T>,
    ) -> Result<Option<Ended<T>>, Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            let mut paused = match step {
                Step::Complete(result) => {
                    let desk = self.desk.lock().await;
                    return Ok(Some(Ended {
                        result,
                        refused: desk.refused(),
                        missed: desk.missed(),
                    }));
                }
                Step::InputRequired(paused) => paused,
                _ => {
                    return Err(
                        anyhow!("the call ended in a way this release does not know").into(),
                    );
                }
            };
            self.tell(&paused);
            if paused.rounds() >= MAX_ROUNDS {
                return Err(
                    anyhow!("after {MAX_ROUNDS} rounds the server still asks for more").into(),
                );
            }
            if paused.questions().is_empty() {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            } else {
                match self.answer_all(&mut paused).await? {
                    Asked::Answered => pause = FIRST_PAUSE,
                    Asked::Nobody => return self.put_aside(&paused).map(|()| None),
                    Asked::Stopped => {
                        if let Some(file) = self.save {
                            self.write(file, &paused)?;
                        }
                        let error = anyhow!("you stopped the call; nothing more was sent");
                        return Err(Failure::new(Exit::Declined, error));
                    }
                }
            }
            let progress = Progress::new(self.screen);
            let resumed = paused.resume(self.client).await.map_err(failure);
            progress.finish();
            step = match resumed {
                Ok(step) => step,
                Err(failed) => {
                    // What the user has typed is not lost with the connection.
                    if let (Exit::Unreachable | Exit::TimedOut, Some(file)) =
                        (failed.exit, self.save)
                    {
                        self.write(file, &paused)?;
                    }
                    return Err(failed);
                }
            };
        }
    }

    /// Answers what is open; whether somebody did.
    pub(crate) async fn answer_for_demo<T: Reply>(
        &self,
        paused: &mut PausedCall<T>,
    ) -> Result<bool, Failure> {
        let asked = self.answer_all(paused).await?;
        Ok(matches!(asked, Asked::Answered))
    }

    async fn answer_all<T: Reply>(&self, paused: &mut PausedCall<T>) -> Result<Asked, Failure> {
        let mut desk = self.desk.lock().await;
        let open: Vec<(String, InputRequest)> = paused
            .open()
            .map(|(key, request)| (key.to_owned(), request.clone()))
            .collect();
        for (key, request) in open {
            let asker = Asker {
                server: paused.server(),
                about: paused.name(),
                key: &key,
            };
            let response = match desk.answer(asker, &request).await? {
                Answer::Ready(response) => response,
                Answer::Nobody => return Ok(Asked::Nobody),
                Answer::Stopped => return Ok(Asked::Stopped),
            };
            paused.answer(&key, *response).map_err(failure)?;
        }
        Ok(Asked::Answered)
    }

    /// Keeps a call that nobody is there to answer: in the file, or on stdout.
    fn put_aside<T: Reply>(&self, paused: &PausedCall<T>) -> Result<(), Failure> {
        let keys: Vec<_> = paused.open().map(|(key, _)| key).collect();
        let keys = keys.join(", ");
        match self.save {
            Some(file) => {
                self.write(file, paused)?;
                let open = open_questions(paused)?;
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

enum Asked {
    Answered,
    Nobody,
    Stopped,
}

fn open_questions<T: Reply>(paused: &PausedCall<T>) -> Result<Value, Failure> {
    let mut open = serde_json::Map::new();
    for (key, request) in paused.open() {
        open.insert(key.to_owned(), serde_json::to_value(request)?);
    }
    Ok(Value::Object(open))
}

/// Shows a result and says how it ends.
pub(crate) fn finish<T: Serialize>(
    ended: Option<Ended<T>>,
    screen: Screen,
    text: impl FnOnce(&T) -> (String, Exit),
) -> Result<Exit, Failure> {
    let Some(ended) = ended else {
        return Ok(Exit::InputRequired);
    };
    let (text, exit) = text(&ended.result);
    screen.result(&ended.result, text)?;
    Ok(match (ended.missed, ended.refused) {
        (true, _) => Exit::InputRequired,
        (false, true) => Exit::Declined,
        (false, false) => exit,
    })
}

/// Servers keep within eight; other clients stop at ten.
const MAX_ROUNDS: u32 = 10;

/// Before a retry that needs no answer, doubled each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
