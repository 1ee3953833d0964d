//! The forms that were sent.

use std::time::Duration;

use http::{Response, StatusCode};
use serde_json::{Map, Value};
use sterna_client::{Client, Era};
use sterna_http::ResponseBody;
use sterna_protocol::elicitation::ElicitResult;
use sterna_protocol::input::{InputRequest, InputResponse};
use sterna_protocol::roots::ListRootsResult;
use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};

use super::Site;
use super::response::{html, see_other};
use super::views::{caller_of, server_name};
use crate::calls::RoundId;
use crate::connections::ConnectError;
use crate::fields::{Errors, expand, fields_of, read};
use crate::pages::{self, AnswerErrors, Here, read_answers};
use crate::record::{Altered, CallKind, CallRequest, Status};
use crate::urlencoded::Fields;
use crate::workbench::Alteration;

impl Site {
    /// Begins a call, in one era or in both.
    pub(super) async fn begin(&self, form: &Fields) -> Response<ResponseBody> {
        let kind = form.get("kind").and_then(CallKind::parse);
        let (Some(kind), Some(name)) = (kind, form.get("name")) else {
            return self.not_found();
        };
        let entry = match self.entry(kind, name).await {
            Ok(Some(entry)) => entry,
            Ok(None) => return self.not_found(),
            Err(error) => return self.unreachable(&error),
        };
        let arguments = match form.get("mode") {
            Some("json") => parse_object(form.get("json").unwrap_or_default()),
            _ => read(&fields_of(&entry.schema, "arg"), form),
        };
        // A row that is to be added changes the form, and sends nothing.
        let adds = form.get("add").is_some();
        let arguments = match arguments {
            Ok(arguments) if !adds => arguments,
            checked => {
                let errors = checked.err().filter(|_| !adds).unwrap_or_default();
                let frame = self.frame(Here::Explore);
                let page = pages::request_page(&frame, &entry, Some(form), &errors, None);
                let status = match adds {
                    true => StatusCode::OK,
                    false => StatusCode::UNPROCESSABLE_ENTITY,
                };
                return html(status, &page);
            }
        };
        let mut request = CallRequest {
            kind,
            name: name.to_owned(),
            arguments,
        };
        if entry.is_template {
            request.name = expand(name, &std::mem::take(&mut request.arguments));
        }
        match form.get("eras") {
            Some(_) => self.begin_both(request).await,
            None => match self.connections.client().await {
                Ok(client) => {
                    let call = self.calls.begin(client, request);
                    self.calls.settled(RoundId { call, round: 0 }).await;
                    see_other(&format!("/calls/{call}"))
                }
                Err(error) => self.unreachable(&error),
            },
        }
    }

    async fn begin_both(&self, request: CallRequest) -> Response<ResponseBody> {
        let mut calls = [0; 2];
        for (slot, era) in calls.iter_mut().zip([Era::Modern, Era::Legacy]) {
            *slot = match self.connections.client_of(era).await {
                Ok(client) => self.calls.begin(client, request.clone()),
                Err(ConnectError::Client(error)) => {
                    self.calls.begin_failed(era, request.clone(), &error)
                }
                Err(error) => return self.unreachable(&error),
            };
        }
        let [modern, legacy] = calls;
        let first = |call| RoundId { call, round: 0 };
        tokio::join!(
            self.calls.settled(first(modern)),
            self.calls.settled(first(legacy))
        );
        see_other(&format!("/eras?modern={modern}&legacy={legacy}"))
    }

    /// Does something with a round.
    pub(super) async fn act(
        &self,
        at: RoundId,
        action: &str,
        form: &Fields,
    ) -> Response<ResponseBody> {
        let Some(era) = self.calls.read(at.call, |call| call.era) else {
            return self.not_found();
        };
        let client = match self.connections.client_of(era).await {
            Ok(client) => client,
            Err(error) => return self.unreachable(&error),
        };
        match action {
            "answer" => self.answer_round(client, at, form).await,
            "break" => self.break_state(client, at, form).await,
            "cancel" => {
                self.calls.cancel(at);
                self.back_to(at, form).await
            }
            "live" => self.answer_live(at, form).await,
            "task" => self.answer_task(&client, at, form).await,
            "task-cancel" => match self.calls.task(at) {
                Some(task) => match task.cancel(&client).await {
                    Ok(()) => self.back_to(at, form).await,
                    Err(error) => self.failed(&error),
                },
                None => self.back_to(at, form).await,
            },
            _ => self.not_found(),
        }
    }

    async fn answer_round(
        &self,
        client: Client,
        at: RoundId,
        form: &Fields,
    ) -> Response<ResponseBody> {
        let Some(paused) = self.calls.paused(at) else {
            return self.back_to(at, form).await;
        };
        if let Some(written) = self.written_by_command(&paused.questions(), form).await {
            return self.to_be_checked(at, form, written);
        }
        let answers = match read_answers(&paused.questions(), form) {
            Ok(answers) => answers,
            Err(errors) => return self.not_sent(at, form, &errors),
        };
        match self.calls.answer(client, at, answers) {
            Ok(next) => self.back_to(next, form).await,
            Err(error) => {
                let errors = AnswerErrors {
                    form: Some(error.to_string()),
                    ..AnswerErrors::default()
                };
                self.not_sent(at, form, &errors)
            }
        }
    }

    async fn answer_live(&self, at: RoundId, form: &Fields) -> Response<ResponseBody> {
        let number: usize = form.number("question").unwrap_or(0);
        let asked = self.calls.read(at.call, |call| {
            let question = call.rounds.get(at.round)?.questions.get(number)?;
            Some([(question.key.clone(), question.request.clone())])
        });
        let Some(asked) = asked.flatten() else {
            return self.back_to(at, form).await;
        };
        if let Some(written) = self.written_by_command(&asked, form).await {
            return self.to_be_checked(at, form, written);
        }
        match read_answers(&asked, form) {
            Ok(answers) => {
                for (_, response) in answers {
                    self.calls.answer_live(at, number, response);
                }
                self.back_to(at, form).await
            }
            Err(errors) => self.not_sent(at, form, &errors),
        }
    }

    async fn answer_task(
        &self,
        client: &Client,
        at: RoundId,
        form: &Fields,
    ) -> Response<ResponseBody> {
        let asked = self
            .calls
            .read(at.call, |call| match &call.rounds.get(at.round)?.status {
                Status::Task(task) => task.questions(),
                _ => None,
            });
        let Some(asked) = asked.flatten() else {
            return self.back_to(at, form).await;
        };
        if let Some(written) = self.written_by_command(&asked, form).await {
            return self.to_be_checked(at, form, written);
        }
        match read_answers(&asked, form) {
            Ok(answers) => match self.calls.answer_task(client, at, answers).await {
                Ok(()) => self.back_to(at, form).await,
                Err(error) => self.failed(&error),
            },
            Err(errors) => self.not_sent(at, form, &errors),
        }
    }

    /// Has the command of the command line write the text of a model, if that
    /// button was pressed. The text comes back in the form, for a person to check.
    async fn written_by_command(
        &self,
        asked: &[(String, InputRequest)],
        form: &Fields,
    ) -> Option<Result<Fields, AnswerErrors>> {
        let sampler = self.sampler.as_ref()?;
        let at: usize = form.number("sampler")?;
        let (_, InputRequest::CreateMessage(create)) = asked.get(at)? else {
            return None;
        };
        let wrong = |text: String| {
            let mut errors = AnswerErrors::default();
            errors.fields.insert(format!("q{at}/text"), text);
            errors
        };
        let writing = tokio::time::timeout(LONGEST_SAMPLING, sampler(create.params.clone()));
        Some(match writing.await {
            Ok(Ok(written)) => {
                let blocks = written.content.blocks();
                let texts = blocks.iter().filter_map(|block| match block {
                    SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
                    _ => None,
                });
                let text = texts.collect::<Vec<_>>().join("\n");
                let filled = form.with(&format!("q{at}/text"), &text);
                Ok(filled.with(&format!("q{at}/model"), &written.model))
            }
            Ok(Err(error)) => Err(wrong(error.to_string())),
            Err(_) => Err(wrong(format!(
                "The command did not end within {LONGEST_SAMPLING:?}."
            ))),
        })
    }

    /// The form again, with the text that the command wrote or the reason why there
    /// is none.
    fn to_be_checked(
        &self,
        at: RoundId,
        form: &Fields,
        written: Result<Fields, AnswerErrors>,
    ) -> Response<ResponseBody> {
        match written {
            Ok(filled) => self.form_again(at, &filled, &AnswerErrors::default(), StatusCode::OK),
            Err(errors) => self.not_sent(at, form, &errors),
        }
    }

    /// Sends a state that was altered on purpose.
    async fn break_state(
        &self,
        client: Client,
        at: RoundId,
        form: &Fields,
    ) -> Response<ResponseBody> {
        let request = self.calls.read(at.call, |call| call.request.clone());
        let paused = self.calls.paused(at);
        let (Some(workbench), Some(request), Some(mut paused)) = (&self.workbench, request, paused)
        else {
            return self.not_found();
        };
        let alteration = match form.get("attempt") {
            Some("flip") => Alteration::Flip(form.number("at").unwrap_or(usize::MAX)),
            Some("swap") => Alteration::Swap(form.get("name").unwrap_or_default().to_owned()),
            _ => Alteration::Expire,
        };
        let Some(state) = paused.state() else {
            return self.not_found();
        };
        let server = server_name(&client);
        let altered = workbench.alter(&state, &server, &request, &caller_of(form), &alteration);
        let Some(altered) = altered else {
            let text = "The state cannot be altered that way: the position is not in it, it is in a \
                        blob store, or it was sealed for a caller that was not given.";
            return self.problem(StatusCode::UNPROCESSABLE_ENTITY, "Not altered", text);
        };
        for (key, request) in paused.questions() {
            if let Some(answer) = stand_in(&request)
                && let Err(error) = paused.answer(&key, answer)
            {
                return self.failed(&error);
            }
        }
        let Some(paused) = paused.altered(Some(&altered.state), altered.name.as_deref()) else {
            return self.not_found();
        };
        let about = Altered {
            what: altered.what,
            refusal: altered.refusal,
        };
        let next = self.calls.resume(client, at, paused, Some(about));
        self.back_to(next, form).await
    }

    /// The page of a round, once it has an outcome or a moment passed.
    async fn back_to(&self, at: RoundId, form: &Fields) -> Response<ResponseBody> {
        self.calls.settled(at).await;
        match pair_of(form) {
            Some((modern, legacy)) => see_other(&format!("/eras?modern={modern}&legacy={legacy}")),
            None => see_other(&format!("/calls/{}?round={}", at.call, at.round)),
        }
    }

    fn not_sent(
        &self,
        at: RoundId,
        form: &Fields,
        errors: &AnswerErrors,
    ) -> Response<ResponseBody> {
        self.form_again(at, form, errors, StatusCode::UNPROCESSABLE_ENTITY)
    }

    fn form_again(
        &self,
        at: RoundId,
        form: &Fields,
        errors: &AnswerErrors,
        status: StatusCode,
    ) -> Response<ResponseBody> {
        let not_sent = Some((at.call, form, errors));
        match pair_of(form) {
            Some(pair) => self.render_eras(pair, not_sent, status),
            None => self.render_call(at.call, Some(at.round), not_sent, status),
        }
    }

    fn failed(&self, error: &sterna_client::Error) -> Response<ResponseBody> {
        let text = error.to_string();
        self.problem(StatusCode::BAD_GATEWAY, "The server refused", &text)
    }
}

/// Time that the command for sampling may take.
const LONGEST_SAMPLING: Duration = Duration::from_secs(120);

fn pair_of(form: &Fields) -> Option<(u64, u64)> {
    let (modern, legacy) = form.get("pair")?.split_once(',')?;
    Some((modern.parse().ok()?, legacy.parse().ok()?))
}

fn parse_object(text: &str) -> Result<Map<String, Value>, Errors> {
    let wrong = |text: String| Errors::from([("json".to_owned(), text)]);
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(wrong("The arguments must be an object.".to_owned())),
        Err(error) => Err(wrong(format!("This is not JSON: {error}"))),
    }
}

/// An answer for an attempt that is expected to be refused before it is read.
fn stand_in(request: &InputRequest) -> Option<InputResponse> {
    match request {
        InputRequest::Elicit(_) => Some(ElicitResult::decline().into()),
        InputRequest::CreateMessage(_) => {
            let block = SamplingMessageContentBlock::text("(no text)");
            Some(CreateMessageResult::new("by hand", block).into())
        }
        InputRequest::ListRoots(_) => Some(ListRootsResult::new(Vec::new()).into()),
        _ => None,
    }
}
