//! A request from its first round to its response, asking in between.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Map, Value, json};

use super::exchange::{HttpResponse, HttpServer};
use super::operation::Operation;
use super::reply::HttpReply;
use super::request::HttpRequest;
use super::saved::{SavedRequest, SavedStep};
use crate::ask::{Asker, HttpQuestion, JsonAnswer, SharedAnswerer};
use crate::config::Limits;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::rounds::{Asked, listed};
use crate::screen::Screen;
use crate::target::Target;
use crate::text::one_line;

/// Context of a request and its rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HttpRounds<'a> {
    pub(crate) server: &'a HttpServer,
    pub(crate) answerer: &'a SharedAnswerer,
    pub(crate) save: Option<&'a Path>,
    pub(crate) limits: Limits,
    /// Longest wait for an equal request that is being served.
    pub(crate) patience: Duration,
    pub(crate) screen: Screen,
}

/// End of a request.
#[derive(Debug)]
pub(crate) enum HttpEnd {
    /// It goes on another time; the user has been told how.
    Later(Exit),
    Response(HttpResponse),
}

impl HttpRounds<'_> {
    /// Sends a request for the first time.
    pub(crate) async fn call(&self, request: &HttpRequest) -> Result<HttpEnd, Failure> {
        let reply = self.exchange(request).await;
        let reply = reply.map_err(|failed| is_safe_to_repeat(failed, request))?;
        match reply {
            HttpReply::Paused(pause) => self.go_on(SavedRequest::paused(request, 1, pause)).await,
            HttpReply::Done(response) => Ok(HttpEnd::Response(response)),
            HttpReply::InProgress(_) => Err(still_served()),
            HttpReply::Operation { location, response } => {
                let saved = SavedRequest::operation(request, 0, location);
                Box::pin(self.begin_following(saved, &response)).await
            }
        }
    }

    /// Goes on with a request that has paused.
    pub(crate) async fn go_on(&self, mut saved: SavedRequest) -> Result<HttpEnd, Failure> {
        loop {
            if let SavedStep::Operation { .. } = &saved.step {
                return Box::pin(self.follow(saved, None)).await;
            }
            self.tell(&saved);
            if saved.rounds > self.limits.rounds {
                self.keep(&saved)?;
                let rounds = self.limits.rounds;
                let error = anyhow!("after {rounds} rounds the server still asks for more");
                return Err(Failure::new(Exit::Failed, error).hint("--max-rounds lets it ask on"));
            }
            let SavedStep::Paused {
                token,
                questions,
                answers,
                ..
            } = &mut saved.step
            else {
                continue;
            };
            if questions.is_empty() {
                tokio::time::sleep(self.limits.pause).await;
            }
            let (server, name) = (saved.request.server(), saved.request.name());
            match self.ask(&server, &name, questions, answers).await? {
                Asked::Answered => {}
                Asked::Stopped => {
                    self.keep(&saved)?;
                    let error = anyhow!("you stopped the call; nothing more was sent");
                    return Err(Failure::new(Exit::Declined, error));
                }
                Asked::Unanswered => return self.put_aside(&saved, &saved.open()),
            }
            let retry = saved.request.resuming(token, answers)?;
            match self.exchange(&retry).await {
                Ok(HttpReply::Paused(pause)) => {
                    saved = SavedRequest::paused(&saved.request, saved.rounds + 1, pause);
                }
                Ok(HttpReply::Operation { location, response }) => {
                    let saved = SavedRequest::operation(&saved.request, saved.rounds, location);
                    return Box::pin(self.begin_following(saved, &response)).await;
                }
                Ok(HttpReply::Done(response)) => return Ok(HttpEnd::Response(response)),
                Ok(HttpReply::InProgress(_)) => {
                    self.keep(&saved)?;
                    return Err(still_served());
                }
                Err(failed) => {
                    // What the user has typed is not lost with the connection.
                    if let Exit::Unreachable | Exit::TimedOut | Exit::Declined = failed.exit {
                        self.keep(&saved)?;
                    }
                    return Err(failed);
                }
            }
        }
    }

    /// Follows an operation that `response` shows.
    async fn begin_following(
        &self,
        saved: SavedRequest,
        response: &HttpResponse,
    ) -> Result<HttpEnd, Failure> {
        let first = Operation::read(response).transpose()?;
        if let SavedStep::Operation { location } = &saved.step {
            let location = one_line(location);
            self.screen
                .note(format!("it goes on as the operation {location}"));
        }
        self.follow(saved, first).await
    }

    /// Sends a request, and again while an equal one is being served.
    async fn exchange(&self, request: &HttpRequest) -> Result<HttpReply, Failure> {
        let progress = Progress::new(self.screen);
        let sent = async {
            let mut waited = Duration::ZERO;
            loop {
                let reply = HttpReply::read(self.server.send(request).await?)?;
                let HttpReply::InProgress(pause) = reply else {
                    return Ok(reply);
                };
                waited += pause;
                if waited > self.patience {
                    return Ok(reply);
                }
                progress.say("an equal request is being served");
                tokio::time::sleep(pause).await;
            }
        };
        let reply = interrupt::or("interrupted; the request was abandoned", sent).await;
        progress.finish();
        reply
    }

    /// Asks what has no answer yet, one after the other.
    pub(super) async fn ask(
        &self,
        server: &str,
        about: &str,
        questions: &Map<String, Value>,
        answers: &mut Map<String, Value>,
    ) -> Result<Asked, Failure> {
        let mut answerer = self.answerer.lock().await;
        for (key, question) in questions {
            let question = HttpQuestion::read(question).filter(|_| !answers.contains_key(key));
            let Some(question) = question else {
                continue;
            };
            let asker = Asker { server, about, key };
            match answerer.answer_http(asker, &question).await? {
                JsonAnswer::Ready(answer) => {
                    answers.insert(key.clone(), answer);
                }
                JsonAnswer::Missing => return Ok(Asked::Unanswered),
                JsonAnswer::Stopped => return Ok(Asked::Stopped),
            }
        }
        Ok(Asked::Answered)
    }

    /// Keeps a request with open questions: in the file, or on stdout.
    pub(super) fn put_aside(
        &self,
        saved: &SavedRequest,
        open: &Map<String, Value>,
    ) -> Result<HttpEnd, Failure> {
        let keys = listed(open.keys().map(String::as_str));
        let target = Target::parse(&saved.request.url, None)?;
        match self.save {
            Some(file) => {
                saved.write(file)?;
                self.screen.result(
                    &json!({"inputRequired": open, "saved": file}),
                    format!("input required: {keys}\nsaved to {}\n", file.display()),
                )?;
                let line = target.resume_line(&file.to_string_lossy());
                self.screen.note(format!("go on with: {line}"));
            }
            None => {
                self.screen.json(&saved.to_json())?;
                let line = target.resume_line("FILE");
                self.screen.note(format!(
                    "input required: {keys}\nkeep the JSON in a file and go on with: {line}"
                ));
            }
        }
        Ok(HttpEnd::Later(Exit::InputRequired))
    }

    /// Keeps a request that ends before its time, if the user said where.
    pub(super) fn keep(&self, saved: &SavedRequest) -> Result<(), Failure> {
        let Some(file) = self.save else {
            return Ok(());
        };
        saved.write(file)?;
        self.screen.note(format!("saved to {}", file.display()));
        Ok(())
    }

    fn tell(&self, saved: &SavedRequest) {
        let keys = listed(saved.open().keys().map(String::as_str));
        let (round, server) = (saved.rounds, saved.request.server());
        self.screen
            .detail(format!("round {round}: {server} asks {keys}"));
    }
}

/// Says how a first request whose response was lost is repeated without doing
/// its work twice.
fn is_safe_to_repeat(failed: Failure, request: &HttpRequest) -> Failure {
    let is_lost = failed.hint.is_none() && failed.exit == Exit::Unreachable;
    match request.idempotency_key() {
        Some(key) if is_lost || failed.exit == Exit::TimedOut => failed.hint(format!(
            "the server may have served it: send it again with --idempotency-key {}, \
             and a server that keeps such keys does nothing twice",
            one_line(key)
        )),
        _ => failed,
    }
}

fn still_served() -> Failure {
    let error = anyhow!("an equal request is still being served");
    Failure::new(Exit::TimedOut, error).hint("try again later, or wait longer with --timeout")
}
