//! Following an operation to its end: its questions answered, its progress
//! shown.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::anyhow;
use http::StatusCode;
use serde_json::{Map, Value};

use super::exchange::HttpResponse;
use super::operation::{Operation, OperationState, gone, pause, refused_answers};
use super::request::HttpRequest;
use super::rounds::{HttpEnd, HttpRounds};
use super::saved::{SavedRequest, SavedStep};
use crate::ask::{OperationChoice, offer_to_cancel};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::progress::Progress;
use crate::rounds::Asked;
use crate::text::one_line;

/// Outcome of a look at an operation.
enum LookedAt {
    Changed(Box<Operation>),
    /// The user has interrupted.
    Interrupted,
    /// The response shows no operation.
    Other(HttpResponse),
}

impl HttpRounds<'_> {
    /// Follows the operation at `location`. `first` is how the server has shown it
    /// already.
    pub(super) async fn follow(
        &self,
        saved: SavedRequest,
        first: Option<Operation>,
    ) -> Result<HttpEnd, Failure> {
        let SavedStep::Operation { location } = &saved.step else {
            return Err(anyhow!("the request is no operation").into());
        };
        let place = saved.request.to_operation("GET", location)?;
        let bar = Progress::new(self.screen);
        let followed = self.watch(&saved, &place, first, &bar).await;
        bar.finish();
        match followed {
            Err(failed) if matches!(failed.exit, Exit::TimedOut | Exit::Unreachable) => {
                self.keep(&saved)?;
                Err(failed.hint(self.come_back(&saved)))
            }
            followed => followed,
        }
    }

    async fn watch(
        &self,
        saved: &SavedRequest,
        place: &HttpRequest,
        first: Option<Operation>,
        bar: &Progress,
    ) -> Result<HttpEnd, Failure> {
        let mut answered = BTreeSet::new();
        let mut seen = first;
        loop {
            let waited = match seen.take() {
                Some(operation) => LookedAt::Changed(Box::new(operation)),
                None => self.look(place, None).await?,
            };
            let operation = match waited {
                LookedAt::Changed(operation) => operation,
                LookedAt::Interrupted => match self.interrupted(saved, place, bar).await? {
                    Some(end) => return Ok(end),
                    None => continue,
                },
                LookedAt::Other(response) if response.status == StatusCode::UNAUTHORIZED => {
                    return Ok(HttpEnd::Response(response));
                }
                LookedAt::Other(response) => return Err(gone(&response)),
            };
            operation.show(bar);
            let Operation {
                state, tag, pause, ..
            } = *operation;
            let open = match state {
                OperationState::Cancelled => return Err(cancelled()),
                OperationState::Ended(response) => return Ok(HttpEnd::Response(response)),
                OperationState::InputRequired(open) => open,
                OperationState::Working => Map::new(),
            };
            // What is still shown is not asked anew.
            answered.retain(|key: &String| open.contains_key(key));
            let fresh = open.into_iter().filter(|(key, _)| !answered.contains(key));
            let fresh: Map<String, Value> = fresh.collect();
            if !fresh.is_empty() {
                // A bar that moves would write over the form.
                let (server, about) = (place.server(), saved.request.name());
                let mut answers = Map::new();
                let asked = bar.suspended(self.ask(&server, &about, &fresh, &mut answers));
                match asked.await? {
                    Asked::Answered => {}
                    Asked::Unanswered => return self.put_aside(saved, &fresh),
                    Asked::Stopped => {
                        self.keep(saved)?;
                        let error = anyhow!("you stopped; the operation waits for an answer");
                        return Err(Failure::new(Exit::Declined, error).hint(self.come_back(saved)));
                    }
                }
                let keys: Vec<String> = answers.keys().cloned().collect();
                seen = self.send_answers(place, answers).await?;
                if seen.is_some() {
                    answered.extend(keys);
                }
                continue;
            }
            match self.wait(place, tag.as_deref(), pause).await? {
                LookedAt::Changed(operation) => seen = Some(*operation),
                LookedAt::Interrupted => {
                    if let Some(end) = self.interrupted(saved, place, bar).await? {
                        return Ok(end);
                    }
                }
                LookedAt::Other(response) => return Err(gone(&response)),
            }
        }
    }

    /// Waits until the operation has changed.
    async fn wait(
        &self,
        place: &HttpRequest,
        tag: Option<&str>,
        mut next: Duration,
    ) -> Result<LookedAt, Failure> {
        loop {
            tokio::select! {
                () = tokio::time::sleep(next) => {}
                () = interrupt::heard() => return Ok(LookedAt::Interrupted),
            }
            match self.look(place, tag).await? {
                LookedAt::Other(response) if response.status == StatusCode::NOT_MODIFIED => {
                    next = pause(&response);
                }
                waited => return Ok(waited),
            }
        }
    }

    async fn look(&self, place: &HttpRequest, tag: Option<&str>) -> Result<LookedAt, Failure> {
        let request = match tag {
            Some(tag) => place.with("If-None-Match", tag),
            None => place.clone(),
        };
        let response = tokio::select! {
            response = self.send_patiently(&request) => response?,
            () = interrupt::heard() => return Ok(LookedAt::Interrupted),
        };
        match Operation::read(&response) {
            Some(operation) if response.status.is_success() => {
                Ok(LookedAt::Changed(Box::new(operation?)))
            }
            _ => Ok(LookedAt::Other(response)),
        }
    }

    /// Sends a request that changes nothing, again while the server is away: the
    /// operation goes on meanwhile, or another instance takes it over.
    async fn send_patiently(&self, request: &HttpRequest) -> Result<HttpResponse, Failure> {
        let mut failures = 0;
        loop {
            match self.server.send(request).await {
                Err(failed) if failed.exit == Exit::Unreachable && failures < MOST_FAILURES => {
                    failures += 1;
                    self.screen.detail(format!("{:#}", failed.error));
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
                response => return response,
            }
        }
    }

    /// Sends answers; `None` if the operation must be looked at again.
    async fn send_answers(
        &self,
        place: &HttpRequest,
        answers: Map<String, Value>,
    ) -> Result<Option<Operation>, Failure> {
        let sent = async { self.server.send(&place.answers(&answers)?).await };
        let response = interrupt::or("interrupted; the answer may not have arrived", sent).await?;
        if response.status.is_success() {
            return Operation::read(&response).transpose();
        }
        match response.status {
            StatusCode::UNPROCESSABLE_ENTITY => {
                for (key, why) in refused_answers(&response) {
                    self.screen
                        .warn(format!("the answer to `{key}` was not accepted: {why}"));
                }
                Ok(None)
            }
            // Answered by another meanwhile, or withdrawn.
            StatusCode::CONFLICT => Ok(None),
            _ => Err(gone(&response)),
        }
    }

    /// Has the user choose what becomes of the operation; `None` follows it on.
    async fn interrupted(
        &self,
        saved: &SavedRequest,
        place: &HttpRequest,
        bar: &Progress,
    ) -> Result<Option<HttpEnd>, Failure> {
        let choice = match self.answerer.lock().await.is_interactive() {
            true => bar.suspended(offer_to_cancel()).await?,
            false => OperationChoice::Leave,
        };
        match choice {
            OperationChoice::Cancel => {
                let response = self.server.send(&place.with_method("DELETE")).await?;
                match Operation::read(&response).transpose()? {
                    Some(Operation {
                        state: OperationState::Ended(response),
                        ..
                    }) => Ok(Some(HttpEnd::Response(response))),
                    Some(_) => Err(cancelled()),
                    None => Err(gone(&response)),
                }
            }
            OperationChoice::Follow => Ok(None),
            OperationChoice::Leave => {
                self.keep(saved)?;
                if self.screen.json {
                    self.screen.json(&saved.to_json())?;
                }
                let line = self.come_back(saved);
                self.screen
                    .note(format!("interrupted; the operation goes on; {line}"));
                Ok(Some(HttpEnd::Later(Exit::Declined)))
            }
        }
    }

    /// The command that comes back to an operation.
    fn come_back(&self, saved: &SavedRequest) -> String {
        let SavedStep::Operation { location } = &saved.step else {
            return String::new();
        };
        match self.save {
            Some(file) => format!("follow it with: sterna resume {}", file.display()),
            None => format!(
                "look at it with: sterna call-http GET {} (with --save FILE, `sterna resume FILE` follows it)",
                one_line(location)
            ),
        }
    }
}

/// Requests without a response before an operation is given up.
const MOST_FAILURES: u32 = 5;
const AFTER_FAILURE: Duration = Duration::from_millis(500);

fn cancelled() -> Failure {
    Failure::new(Exit::Declined, anyhow!("the operation was cancelled"))
}
