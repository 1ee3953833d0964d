//! Who answers what a server asks: answers given beforehand, a command, or
//! the person at the terminal.

mod field;
mod form;
mod given;
mod left;
mod sample;
mod value;
mod visit;

use std::path::Path;
use std::sync::Arc;

use inquire::InquireError;
use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::roots::{ListRootsResult, Root};
use tokio::sync::Notify;

use crate::args::AnswerArgs;
use crate::config::Settings;
use crate::exit::Failure;
use crate::interrupt;
use crate::screen::{BOLD, DIM, Screen};
use crate::table::{one_line, plain};

use given::Given;
use left::Left;

/// Everybody who may answer.
#[derive(Debug)]
pub(crate) struct Desk {
    given: Given,
    sampler: Option<String>,
    samples: bool,
    roots: Vec<Root>,
    interactive: bool,
    answered: bool,
    refused: bool,
    missed: bool,
    left: Left,
    stopped: Arc<Notify>,
    screen: Screen,
}

/// Who asks, for the user to see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    /// The server.
    pub(crate) server: &'a str,
    /// The tool, the prompt or the resource.
    pub(crate) about: &'a str,
    /// The name of the question.
    pub(crate) key: &'a str,
}

/// What came of a question.
#[derive(Debug)]
pub(crate) enum Answer {
    /// This is to be sent.
    Ready(Box<InputResponse>),
    /// Nobody is there to answer.
    Nobody,
    /// The user wants no part of the whole call.
    Stopped,
}

impl Desk {
    pub(crate) fn new(
        args: &AnswerArgs,
        settings: &Settings,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let roots = args.roots.iter().map(|folder| root(folder));
        Ok(Self {
            given: Given::read(args)?,
            sampler: args.sampler.clone().or_else(|| settings.sampler.clone()),
            samples: !args.no_sampling,
            roots: roots.collect::<Result<_, _>>()?,
            interactive: !settings.no_input && Screen::is_interactive(),
            answered: false,
            refused: false,
            missed: false,
            left: Left::default(),
            stopped: Arc::default(),
            screen,
        })
    }

    /// A desk without settings: the demo's own answers, or the person.
    pub(crate) fn for_demo(args: &AnswerArgs, auto: bool, screen: Screen) -> Result<Self, Failure> {
        Ok(Self {
            given: Given::read(args)?,
            sampler: None,
            samples: false,
            roots: Vec::new(),
            interactive: !auto,
            answered: false,
            refused: false,
            missed: false,
            left: Left::default(),
            stopped: Arc::default(),
            screen,
        })
    }

    /// Tells when the user has stopped the whole call.
    pub(crate) fn stopped(&self) -> Arc<Notify> {
        Arc::clone(&self.stopped)
    }

    /// Whether a server may be told that a model is here.
    pub(crate) fn samples(&self) -> bool {
        self.samples
    }

    /// Whether a server may be told of folders.
    pub(crate) fn has_roots(&self) -> bool {
        !self.roots.is_empty() || self.given.has_file()
    }

    /// Whether a question was declined or cancelled.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// Whether a question found nobody to answer it.
    pub(crate) fn missed(&self) -> bool {
        self.missed
    }

    /// Whether any question was answered.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered
    }

    /// Lets questions of `task` that come in the middle of waiting for it stay
    /// open if nobody answers them; tells when one does.
    pub(crate) fn may_leave(&mut self, task: &str) -> Arc<Notify> {
        self.left.allow(task)
    }

    /// Leaves a question open, if it may be.
    pub(crate) fn leave(&mut self, asker: Asker<'_>, request: &InputRequest) -> bool {
        self.left.add(asker, request)
    }

    /// What was left open.
    pub(crate) fn take_left(&mut self) -> InputRequests {
        self.left.take()
    }

    /// Answers a question, if anybody can.
    pub(crate) async fn answer(
        &mut self,
        asker: Asker<'_>,
        request: &InputRequest,
    ) -> Result<Answer, Failure> {
        let answer = tokio::select! {
            biased;
            () = interrupt::heard() => {
                leave_prompt();
                Answer::Stopped
            }
            found = self.find_answer(asker, request) => found?,
        };
        match &answer {
            Answer::Ready(response) => {
                self.answered = true;
                self.refused |= is_refusal(response);
            }
            Answer::Nobody => self.missed = true,
            Answer::Stopped => self.stopped.notify_one(),
        }
        Ok(answer)
    }

    async fn find_answer(
        &mut self,
        asker: Asker<'_>,
        request: &InputRequest,
    ) -> Result<Answer, Failure> {
        if let Some(response) = self.given.take(asker.key, request)? {
            return Ok(Answer::Ready(Box::new(response)));
        }
        match request {
            InputRequest::ListRoots(_) if !self.roots.is_empty() => {
                let roots = ListRootsResult::new(self.roots.clone());
                Ok(Answer::Ready(Box::new(InputResponse::ListRoots(roots))))
            }
            InputRequest::CreateMessage(message) if self.sampler.is_some() => {
                let command = self.sampler.as_deref().unwrap_or_default();
                let result = sample::by_command(command, &message.params).await?;
                Ok(Answer::Ready(Box::new(InputResponse::CreateMessage(
                    result,
                ))))
            }
            _ if self.interactive => {
                self.introduce(asker, request);
                let request = request.clone();
                // A prompt blocks its thread until the user has typed.
                tokio::task::spawn_blocking(move || on_terminal(&request)).await?
            }
            _ => Ok(Answer::Nobody),
        }
    }

    /// ELICIT-C1: the user sees which server asks, and for what.
    fn introduce(&self, asker: Asker<'_>, request: &InputRequest) {
        let (server, about) = (one_line(asker.server), one_line(asker.about));
        let key = one_line(asker.key);
        self.screen.ask(format!(
            "\n{BOLD}{server}{BOLD:#} asks, for {BOLD}{about}{BOLD:#} {DIM}({key}){DIM:#}"
        ));
        if let InputRequest::Elicit(elicit) = request {
            self.screen.ask(plain(elicit.params.message()));
        }
    }
}

/// A prompt that is left without its knowledge leaves the terminal as it used
/// it: no echo, no cursor.
fn leave_prompt() {
    use crossterm::{cursor, execute, terminal};
    let _ = terminal::disable_raw_mode();
    let _ = execute!(std::io::stderr(), cursor::Show);
}

fn on_terminal(request: &InputRequest) -> Result<Answer, Failure> {
    let elicited = |result: ElicitResult| Answer::Ready(Box::new(InputResponse::Elicit(result)));
    let answered = match request {
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => {
                form::fill_in(&params.requested_schema).map(elicited)
            }
            ElicitRequestParams::Url(params) => visit::offer(&params.url).map(elicited),
            _ => Ok(Answer::Nobody),
        },
        InputRequest::CreateMessage(message) => sample::by_hand(&message.params)
            .map(|result| Answer::Ready(Box::new(InputResponse::CreateMessage(result)))),
        // Folders are named by --root or not at all.
        _ => Ok(Answer::Nobody),
    };
    match answered {
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => {
            Ok(Answer::Stopped)
        }
        answered => Ok(answered?),
    }
}

/// Whether the user said no.
fn is_refusal(response: &InputResponse) -> bool {
    match response {
        InputResponse::Elicit(result) => result.action != ElicitAction::Accept,
        _ => false,
    }
}

fn root(folder: &Path) -> Result<Root, Failure> {
    let whole = folder
        .canonicalize()
        .map_err(|error| Failure::usage(format!("--root {}: {error}", folder.display())))?;
    let mut uri = "file://".to_owned();
    for byte in whole.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(Root::new(uri))
}
