//! The subcommands that talk to a server.

mod call;
mod complete;
mod discover;
mod doctor;
mod list;
mod listen;
mod prompt;
mod read;
mod resume;
mod show;
mod task;

use std::sync::Arc;

use sterna_client::Client;
use tokio::sync::Mutex;

use crate::args::{AnswerArgs, AskingArgs, ConnectArgs, TargetArgs};
use crate::ask::Desk;
use crate::config::Settings;
use crate::exit::Failure;
use crate::rounds::{Limits, Rounds};
use crate::screen::Screen;
use crate::session::{self, SharedDesk};
use crate::target::Target;

pub(crate) use call::run as call;
pub(crate) use complete::run as complete;
pub(crate) use discover::run as discover;
pub(crate) use doctor::run as doctor;
pub(crate) use list::run as list;
pub(crate) use listen::run as listen;
pub(crate) use prompt::run as prompt;
pub(crate) use read::run as read;
pub(crate) use resume::run as resume;
pub(crate) use task::run as task;

/// A connection for calls that may ask.
#[derive(Debug)]
struct Asking<'a> {
    client: Client,
    desk: SharedDesk,
    answers: &'a AnswerArgs,
    limits: Limits,
    screen: Screen,
}

impl<'a> Asking<'a> {
    /// Connects to `place`.
    async fn connect(
        place: Place<'_>,
        args: &'a AskingArgs,
        screen: Screen,
    ) -> Result<Self, Failure> {
        Self::connect_to(place.target, &place.settings, &args.answers, screen).await
    }

    async fn connect_to(
        target: Target,
        settings: &Settings,
        answers: &'a AnswerArgs,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let desk = Arc::new(Mutex::new(Desk::new(answers, settings, screen)?));
        let client = session::connect(target, settings, Some(&desk), screen).await?;
        Ok(Self {
            client,
            desk,
            answers,
            limits: Limits {
                rounds: answers.max_rounds.unwrap_or(settings.limits.rounds),
                pause: answers.pause.unwrap_or(settings.limits.pause),
            },
            screen,
        })
    }

    fn rounds(&self) -> Rounds<'_> {
        Rounds {
            client: &self.client,
            desk: &self.desk,
            save: self.answers.save.as_deref(),
            detach: false,
            limits: self.limits,
            screen: self.screen,
        }
    }

    /// Ends the connection in good order.
    async fn close(self) {
        session::close(self.client).await;
    }
}

/// The server that was named, and the words after it.
#[derive(Debug)]
struct Place<'w> {
    target: Target,
    settings: Settings,
    rest: &'w [String],
}

impl<'w> Place<'w> {
    fn read(words: &'w [String], args: &ConnectArgs) -> Result<Self, Failure> {
        let settings = Settings::read(args)?;
        let (target, rest) = Target::split(words, &args.command, &settings)?;
        Ok(Self {
            target,
            settings,
            rest,
        })
    }

    /// The server, after which nothing may come.
    fn alone(args: &'w TargetArgs) -> Result<Self, Failure> {
        let place = Self::read(&args.words, &args.connect)?;
        place.nothing_more().map(|()| place)
    }

    fn nothing_more(&self) -> Result<(), Failure> {
        match self.rest.first() {
            None => Ok(()),
            Some(word) => Err(Failure::usage(format!("`{word}` is too much"))),
        }
    }

    /// The next word: a tool, a prompt and the like.
    fn take(&mut self, what: &str) -> Result<&'w str, Failure> {
        match self.rest {
            [first, rest @ ..] => {
                self.rest = rest;
                Ok(first)
            }
            [] => Err(Failure::usage(format!("no {what} is named"))
                .hint("`sterna list` shows what the server offers")),
        }
    }

    /// The next word, after which nothing may come.
    fn take_last(&mut self, what: &str) -> Result<&'w str, Failure> {
        let word = self.take(what)?;
        self.nothing_more().map(|()| word)
    }

    /// Connects for requests that never ask.
    async fn connect(self, screen: Screen) -> Result<Client, Failure> {
        session::connect(self.target, &self.settings, None, screen).await
    }
}
