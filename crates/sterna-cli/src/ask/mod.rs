//! Answers to a server's questions: from flags or a file, from a command, or
//! from the person at the terminal.

mod field;
mod form;
mod operation;
mod preset;
mod prompt;
mod question;
pub(crate) mod sample;
mod value;
mod visit;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use inquire::InquireError;
use sterna_protocol::elicitation::{ElicitAction, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputRequests, InputResponse};
use sterna_protocol::roots::{ListRootsResult, Root};
use tokio::sync::{Mutex, Notify};

use crate::args::AnswerArgs;
use crate::config::Settings;
use crate::exit::Failure;
use crate::screen::Screen;
use crate::text::{Text, excerpt, one_line};
use crate::{interrupt, suggest};

pub(crate) use operation::{OperationChoice, offer_to_cancel};
use preset::PresetAnswers;
pub(crate) use prompt::Prompt;
pub(crate) use question::{HttpQuestion, JsonAnswer};

/// The answerer of one command, shared by all questions: a person is asked one
/// question at a time.
pub(crate) type SharedAnswerer = Arc<Mutex<Answerer>>;

/// Answers from flags, a file, a command or the person at the terminal.
#[derive(Debug)]
pub(crate) struct Answerer {
    preset: PresetAnswers,
    sampler: Option<String>,
    samples: bool,
    roots: Vec<Root>,
    interactive: bool,
    answered: bool,
    refused: bool,
    missed: bool,
    unanswered: UnansweredQuestions,
    /// The keys of questions that came so far.
    asked: BTreeSet<String>,
    stopped: Arc<Notify>,
    screen: Screen,
}

/// Origin of a question, shown to the user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    /// The server.
    pub(crate) server: &'a str,
    /// The tool, the prompt or the resource.
    pub(crate) about: &'a str,
    /// The name of the question.
    pub(crate) key: &'a str,
}

/// Outcome of a question.
#[derive(Debug)]
pub(crate) enum Answer {
    /// This is to be sent.
    Ready(Box<InputResponse>),
    /// There is no answer, and no person to ask.
    Missing,
    /// The user wants no part of the whole call.
    Stopped,
}

impl Answerer {
    pub(crate) fn new(
        args: &AnswerArgs,
        settings: &Settings,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let roots = args.roots.iter().map(|folder| root(folder));
        let is_interactive = !settings.no_input && Screen::is_interactive();
        Ok(Self {
            sampler: args.sampler.clone().or_else(|| settings.sampler.clone()),
            samples: !args.no_sampling,
            roots: roots.collect::<Result<_, _>>()?,
            ..Self::for_demo(args, !is_interactive, screen)?
        })
    }

    /// An answerer without settings: the demo's own answers, or the person.
    pub(crate) fn for_demo(args: &AnswerArgs, auto: bool, screen: Screen) -> Result<Self, Failure> {
        Ok(Self {
            preset: PresetAnswers::read(args)?,
            sampler: None,
            samples: false,
            roots: Vec::new(),
            interactive: !auto,
            answered: false,
            refused: false,
            missed: false,
            unanswered: UnansweredQuestions::default(),
            asked: BTreeSet::new(),
            stopped: Arc::default(),
            screen,
        })
    }

    /// Tells when the user has stopped the whole call.
    pub(crate) fn stopped(&self) -> Arc<Notify> {
        Arc::clone(&self.stopped)
    }

    /// Returns true if sampling may be declared.
    pub(crate) fn samples(&self) -> bool {
        self.samples
    }

    /// Returns true if roots may be declared.
    pub(crate) fn has_roots(&self) -> bool {
        !self.roots.is_empty() || self.preset.has_file()
    }

    /// Returns true if a question was declined or cancelled.
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// Returns true if a question had no answer.
    pub(crate) fn missed(&self) -> bool {
        self.missed
    }

    /// Warns of typed answers that no question has taken.
    pub(crate) fn tell_unused(&self) {
        let unused: BTreeSet<_> = self.preset.unused().map(one_line).collect();
        for key in unused {
            let asked = self.asked.iter().map(String::as_str);
            let known = suggest::among(&key, asked, "it asked");
            self.screen
                .warn(format!("the server did not ask `{key}`; {known}"));
        }
    }

    /// Returns true if there is a person to ask.
    pub(crate) fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Returns true if any question was answered.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered
    }

    /// Lets questions of `task` that come in the middle of waiting for it stay
    /// open without an answer; the handle is notified when one does.
    pub(crate) fn may_leave(&mut self, task: &str) -> Arc<Notify> {
        self.unanswered.allow(task)
    }

    /// Leaves a question open, if it may be.
    pub(crate) fn leave(&mut self, asker: Asker<'_>, request: &InputRequest) -> bool {
        self.unanswered.add(asker, request)
    }

    /// Takes the questions that were left open.
    pub(crate) fn take_left(&mut self) -> InputRequests {
        self.unanswered.take()
    }

    /// Answers a question, if there is an answer or a person to ask.
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
            Answer::Missing => self.missed = true,
            Answer::Stopped => self.stopped.notify_one(),
        }
        Ok(answer)
    }

    async fn find_answer(
        &mut self,
        asker: Asker<'_>,
        request: &InputRequest,
    ) -> Result<Answer, Failure> {
        self.asked.insert(asker.key.to_owned());
        if let Some(response) = self.preset.take(asker.key, request)? {
            return Ok(Answer::Ready(Box::new(response)));
        }
        if self.interactive
            && let Some(other) = self.preset.misspelled(asker.key)
        {
            let (key, other) = (excerpt(asker.key), excerpt(other));
            self.screen.warn(format!(
                "the server asks `{key}`; the answer given for `{other}` is not used for it"
            ));
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
            _ => Ok(Answer::Missing),
        }
    }

    fn tell_origin(&self, asker: Asker<'_>) {
        let (server, about) = (one_line(asker.server), one_line(asker.about));
        let mut text = Text::from("\n") + Text::bold(server) + " asks, for " + Text::bold(about);
        text += Text::from(" ") + Text::dim(format!("({})", one_line(asker.key)));
        self.screen.ask(text);
    }

    /// ELICIT-C1: the user sees which server asks, and for what.
    fn introduce(&self, asker: Asker<'_>, request: &InputRequest) {
        self.tell_origin(asker);
        match request {
            InputRequest::Elicit(elicit) => self.screen.ask(elicit.params.message()),
            InputRequest::CreateMessage(message) => {
                self.screen.ask("A model is asked to write this:");
                self.screen.ask(sample::transcript(&message.params));
            }
            _ => {}
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
            _ => Ok(Answer::Missing),
        },
        InputRequest::CreateMessage(_) => sample::by_hand()
            .map(|result| Answer::Ready(Box::new(InputResponse::CreateMessage(result)))),
        // Folders are named by --root or not at all.
        _ => Ok(Answer::Missing),
    };
    match answered {
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => {
            Ok(Answer::Stopped)
        }
        answered => Ok(answered?),
    }
}

/// Returns true if the user declined or cancelled.
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

/// Questions of a task that stay open because there is no answer.
///
/// A call that asks in its middle needs an answer of some kind; a task can wait.
#[derive(Debug, Default)]
pub(super) struct UnansweredQuestions {
    task: Option<String>,
    open: InputRequests,
    told: Arc<Notify>,
}

impl UnansweredQuestions {
    /// Lets the questions of `task` stay open; the notifier fires when one does.
    pub(super) fn allow(&mut self, task: &str) -> Arc<Notify> {
        self.task = Some(task.to_owned());
        Arc::clone(&self.told)
    }

    /// Leaves a question open, if it may be.
    pub(super) fn add(&mut self, asker: Asker<'_>, request: &InputRequest) -> bool {
        let may = self.task.as_deref() == Some(asker.about);
        if may {
            self.open.insert(asker.key, request.clone());
            self.told.notify_one();
        }
        may
    }

    /// Takes the questions that were left open.
    pub(super) fn take(&mut self) -> InputRequests {
        std::mem::take(&mut self.open)
    }
}
