//! The pages that are read.

use std::fmt::Write as _;

use http::{Response, StatusCode};
use maud::Markup;
use serde_json::{Value, json};
use sterna_client::Client;
use sterna_http::ResponseBody;
use sterna_protocol::completion::{
    CompletionArgument, CompletionReference, PromptReference, ResourceTemplateReference,
};
use sterna_seal::UnixMillis;

use super::Site;
use super::response::{download, html, image, json as json_response};
use crate::bundle;
use crate::calls::RoundId;
use crate::connections::ConnectError;
use crate::export::Export;
use crate::fields::Errors;
use crate::pages::{self, AnswerErrors, CallView, Entry, Frame, Here, ServerView, TokenView};
use crate::record::{CallKind, CallRecord, LiveAnswer, LiveQuestion, Round, Status};
use crate::urlencoded::Fields;
use crate::workbench::{CallerFields, now};

/// Answers that were not sent: the call, the form and the reasons.
pub(super) type NotSent<'a> = Option<(u64, &'a Fields, &'a AnswerErrors)>;

impl Site {
    pub(super) fn frame(&self, here: Here) -> Frame<'_> {
        Frame {
            target: &self.target,
            form_token: self.guard.form_token(),
            is_live: false,
            is_reloaded: false,
            has_recorder: self.recorded.is_some(),
            is_kept: self.is_kept,
            has_store: self.survey.is_some(),
            here,
        }
    }

    pub(super) fn not_found(&self) -> Response<ResponseBody> {
        let text = "There is no such page. Calls are kept until the inspector ends.";
        self.problem(StatusCode::NOT_FOUND, "Not found", text)
    }

    pub(super) fn problem(
        &self,
        status: StatusCode,
        title: &str,
        text: &str,
    ) -> Response<ResponseBody> {
        let frame = self.frame(Here::Explore);
        html(status, &pages::problem_page(&frame, title, text))
    }

    pub(super) fn unreachable(&self, error: &ConnectError) -> Response<ResponseBody> {
        let mut text = error.to_string();
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            write!(text, "\n{error}").expect("a string takes what is written");
            cause = error.source();
        }
        text.push_str("\n\nLoad this page again once the server can be reached.");
        self.problem(StatusCode::BAD_GATEWAY, "No connection", &text)
    }

    pub(super) async fn explore(&self, query: &Fields) -> Response<ResponseBody> {
        let client = match self.connections.client().await {
            Ok(client) => client,
            Err(error) => return self.unreachable(&error),
        };
        let catalog = self.catalog.get(&client, self.patience).await;
        let find = query.get("find").unwrap_or_default();
        let (frame, server) = (self.frame(Here::Explore), ServerView::of(&client));
        html(
            StatusCode::OK,
            &pages::explore_page(&frame, &server, &catalog, find),
        )
    }

    pub(super) async fn show_request(&self, query: &Fields) -> Response<ResponseBody> {
        let before = query.number("again");
        let before = before.and_then(|call| self.calls.read(call, |call| call.request.clone()));
        let (kind, name) = match &before {
            Some(request) => (Some(request.kind), Some(request.name.as_str())),
            None => (
                query.get("kind").and_then(CallKind::parse),
                query.get("name"),
            ),
        };
        let (Some(kind), Some(name)) = (kind, name) else {
            return self.not_found();
        };
        let entry = match self.entry(kind, name).await {
            Ok(Some(entry)) => entry,
            Ok(None) => return self.not_found(),
            Err(error) => return self.unreachable(&error),
        };
        let frame = self.frame(Here::Explore);
        let page = pages::request_page(&frame, &entry, None, &Errors::new(), before.as_ref());
        html(StatusCode::OK, &page)
    }

    /// An entry of the lists.
    pub(super) async fn entry(
        &self,
        kind: CallKind,
        name: &str,
    ) -> Result<Option<Entry>, ConnectError> {
        let client = self.connections.client().await?;
        let catalog = self.catalog.get(&client, self.patience).await;
        Ok(Entry::find(&catalog, kind, name))
    }

    pub(super) fn list_calls(&self) -> Response<ResponseBody> {
        let lines = self.calls.each(pages::call_line);
        let mut frame = self.frame(Here::Calls);
        let running = self.calls.each(CallRecord::is_running);
        frame.is_live = running.contains(&true);
        frame.is_reloaded = frame.is_live;
        html(StatusCode::OK, &pages::calls_page(&frame, &lines))
    }

    pub(super) fn show_connection(&self) -> Response<ResponseBody> {
        let frame = self.frame(Here::Connection);
        let wire = self.calls.connection_wire();
        html(StatusCode::OK, &pages::connection_page(&frame, &wire))
    }

    pub(super) fn show_call(&self, call: &str, query: &Fields) -> Response<ResponseBody> {
        match call.parse() {
            Ok(call) => self.render_call(call, query.number("round"), None, StatusCode::OK),
            Err(_) => self.not_found(),
        }
    }

    pub(super) fn render_call(
        &self,
        call: u64,
        round: Option<usize>,
        not_sent: NotSent<'_>,
        status: StatusCode,
    ) -> Response<ResponseBody> {
        let page = self.calls.read(call, |call| {
            let mut frame = self.frame(Here::Calls);
            frame.is_live = call.is_running();
            let latest = call.rounds.len().saturating_sub(1);
            let shown = round.unwrap_or(latest);
            frame.is_reloaded = frame.is_live && !call.rounds.get(shown).is_some_and(has_form);
            pages::call_page(&frame, call, self.view(call, round, not_sent, None))
        });
        match page {
            Some(page) => html(status, &page),
            None => self.not_found(),
        }
    }

    /// Two calls beside each other.
    pub(super) fn show_eras(
        &self,
        query: &Fields,
        not_sent: NotSent<'_>,
        status: StatusCode,
    ) -> Response<ResponseBody> {
        let (Some(modern), Some(legacy)) = (query.number("modern"), query.number("legacy")) else {
            return self.not_found();
        };
        self.render_eras((modern, legacy), not_sent, status)
    }

    pub(super) fn render_eras(
        &self,
        pair: (u64, u64),
        not_sent: NotSent<'_>,
        status: StatusCode,
    ) -> Response<ResponseBody> {
        let mut frame = self.frame(Here::Calls);
        let mut columns: Vec<Markup> = Vec::new();
        let mut has_forms = false;
        for id in [pair.0, pair.1] {
            let column = self.calls.read(id, |call| {
                frame.is_live |= call.is_running();
                has_forms |= call.rounds.last().is_some_and(has_form);
                let frame = self.frame(Here::Calls);
                pages::column(&frame, call, self.view(call, None, not_sent, Some(pair)))
            });
            columns.extend(column);
        }
        frame.is_reloaded = frame.is_live && !has_forms;
        match columns.len() {
            2 => html(status, &pages::eras_page(&frame, &columns)),
            _ => self.not_found(),
        }
    }

    fn view<'a>(
        &self,
        call: &CallRecord,
        round: Option<usize>,
        not_sent: NotSent<'a>,
        pair: Option<(u64, u64)>,
    ) -> CallView<'a> {
        let of_this_call = not_sent.filter(|(id, ..)| *id == call.id);
        CallView {
            round,
            entered: of_this_call.map(|(_, entered, errors)| (entered, errors)),
            has_sampler: self.sampler.is_some(),
            has_keys: self.workbench.is_some(),
            pair,
        }
    }

    /// The call as a test, a command and a script.
    pub(super) fn show_export(&self, call: &str, query: &Fields) -> Response<ResponseBody> {
        let exported = call.parse().ok().and_then(|call| {
            self.calls.read(call, |call| {
                let round = query.number("round").unwrap_or(call.rounds.len() - 1);
                Export::of(call, round)
            })
        });
        match exported {
            Some(Some(export)) => {
                let frame = self.frame(Here::Calls);
                html(
                    StatusCode::OK,
                    &pages::export_page(&frame, &export, &self.target),
                )
            }
            Some(None) => {
                let text = "Only a call of 2026-07-28 whose state was not altered can be exported: \
                            in a session the questions have no keys.";
                self.problem(StatusCode::NOT_FOUND, "No export", text)
            }
            None => self.not_found(),
        }
    }

    /// The call as a file that opens again.
    pub(super) fn download_call(&self, call: &str) -> Response<ResponseBody> {
        let written = call.parse().ok().and_then(|call| {
            self.calls
                .read(call, |call| bundle::write(call, &self.target))
        });
        match written {
            Some(written) => download(written),
            None => self.not_found(),
        }
    }

    pub(super) fn show_image(&self, at: RoundId, query: &Fields) -> Response<ResponseBody> {
        let block = query.number("block").unwrap_or(0);
        let found = self
            .calls
            .read(at.call, |call| match &call.rounds.get(at.round)?.status {
                Status::Done { result, .. } => pages::image_of(result, block),
                _ => None,
            });
        let bytes = found.flatten().and_then(|(kind, data)| {
            let bytes = base64_simd::STANDARD.decode_to_vec(data.as_bytes());
            bytes.ok().map(|bytes| (kind, bytes))
        });
        match bytes {
            Some((kind, bytes)) => image(kind, bytes),
            None => self.not_found(),
        }
    }

    /// The token workbench.
    pub(super) async fn show_token(&self, at: RoundId, query: &Fields) -> Response<ResponseBody> {
        let request = self.calls.read(at.call, |call| call.request.clone());
        let state = self.calls.paused(at).and_then(|paused| paused.state());
        let (Some(request), Some(state)) = (request, state) else {
            return self.not_found();
        };
        let Some(workbench) = &self.workbench else {
            let text =
                "The inspector has no keys. Start it with --keys FILE to open request state.";
            return self.problem(StatusCode::NOT_FOUND, "No keys", text);
        };
        let server = match self.connections.client().await {
            Ok(client) => server_name(&client),
            Err(error) => return self.unreachable(&error),
        };
        let caller = caller_of(query);
        let mut checked = request.clone();
        if let Some(name) = query.get("name") {
            checked.name = name.to_owned();
        }
        let spelled = Value::Object(request.arguments.clone()).to_string();
        let arguments = query.get("arguments").unwrap_or(&spelled);
        let typed = serde_json::from_str(arguments);
        let minutes: i64 = query.number("minutes").unwrap_or(0);
        let then = UnixMillis::new(now().get().saturating_add(minutes.saturating_mul(60_000)));
        let opened = workbench.open(&state, &server);
        let checks = match (&opened, typed) {
            (Ok(opened), Ok(arguments)) => {
                checked.arguments = arguments;
                let made = opened.checks(&checked, &caller, then);
                made.map_err(|error| error.to_string())
            }
            (_, Err(error)) => Err(format!("the arguments are not a JSON object: {error}")),
            (Err(_), _) => Ok(Vec::new()),
        };
        let view = TokenView {
            call: at.call,
            round: at.round,
            length: state.len(),
            audience: workbench.audience(&server),
            opened: opened.as_ref(),
            now: now(),
            show_values: query.get("values").is_some(),
            request: &checked,
            caller: &caller,
            minutes,
            checks: checks.as_deref().map_err(Clone::clone),
            arguments,
        };
        let frame = self.frame(Here::Calls);
        html(StatusCode::OK, &pages::token_page(&frame, &view))
    }

    /// Suggestions for an argument, as JSON.
    pub(super) async fn complete(&self, query: &Fields) -> Response<ResponseBody> {
        let text = |name: &str| query.get(name).unwrap_or_default().to_owned();
        let reference = match query.get("kind").and_then(CallKind::parse) {
            Some(CallKind::Prompt) => {
                CompletionReference::Prompt(PromptReference::new(text("name")))
            }
            Some(CallKind::Resource) => {
                CompletionReference::ResourceTemplate(ResourceTemplateReference::new(text("name")))
            }
            _ => return json_response(&json!({"values": []})),
        };
        let argument = CompletionArgument::new(text("argument"), text("value"));
        let values = match self.connections.client().await {
            Ok(client) => {
                let found = client.complete(reference, argument, None).await;
                found.map(|found| found.values).unwrap_or_default()
            }
            Err(_) => Vec::new(),
        };
        json_response(&json!({"values": values}))
    }
}

pub(super) fn caller_of(fields: &Fields) -> CallerFields {
    let text = |name: &str| fields.get(name).unwrap_or_default().to_owned();
    CallerFields {
        issuer: text("issuer"),
        subject: text("subject"),
        client: text("client"),
    }
}

/// The name that the server gives itself.
pub(super) fn server_name(client: &Client) -> String {
    ServerView::of(client).name
}

/// Returns true if a round is shown with a form that a person may be filling in.
fn has_form(round: &Round) -> bool {
    let asks = |question: &LiveQuestion| matches!(question.answer, LiveAnswer::Open(_));
    round.questions.iter().any(asks)
        || matches!(&round.status, Status::Asked(_))
        || matches!(&round.status, Status::Task(task) if task.asks())
}
