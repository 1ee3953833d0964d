//! The subcommands that talk to a server.

mod advice;
mod call;
mod call_http;
mod discover;
mod doctor;
mod doctor_store;
mod inspect;
mod list;
mod listen;
mod record_stdio;
mod resume;
mod show;
mod task;

use std::sync::Arc;

use anyhow::Context as _;
use sterna_client::{Builder, Client};
use tokio::sync::Mutex;

use crate::args::{AnswerArgs, AskingArgs, ConnectArgs, TargetArgs};
use crate::ask::{Answerer, SharedAnswerer};
use crate::config::{Limits, Settings};
use crate::exit::Failure;
use crate::private_file;
use crate::rounds::Rounds;
use crate::screen::Screen;
use crate::session;
use crate::target::Target;
use crate::text::excerpt;

pub(crate) use call::{call, prompt, read};
pub(crate) use call_http::run as call_http;
pub(crate) use discover::{complete, discover};
pub(crate) use doctor::run as doctor;
pub(crate) use inspect::run as inspect;
pub(crate) use list::run as list;
pub(crate) use listen::run as listen;
pub(crate) use resume::run as resume;
pub(crate) use task::run as task;

/// A connection for calls that may ask.
#[derive(Debug)]
struct Asking<'a> {
    target: Target,
    client: Client,
    answerer: SharedAnswerer,
    answers: &'a AnswerArgs,
    limits: Limits,
    screen: Screen,
}

impl<'a> Asking<'a> {
    /// Connects to the named server.
    async fn connect(
        named: NamedServer<'_>,
        args: &'a AskingArgs,
        screen: Screen,
    ) -> Result<Self, Failure> {
        let NamedServer {
            target, settings, ..
        } = named;
        Self::connect_by(target, &settings, &args.answers, screen, Builder::connect).await
    }

    async fn connect_by(
        target: Target,
        settings: &Settings,
        answers: &'a AnswerArgs,
        screen: Screen,
        connect: impl AsyncFnOnce(Builder) -> Result<Client, sterna_client::Error>,
    ) -> Result<Self, Failure> {
        if let Some(file) = &answers.preset.save {
            // Before the call: what the server says then could not be kept.
            let check = private_file::check(file);
            check.with_context(|| format!("the call cannot be saved to {}", file.display()))?;
        }
        let answerer = Arc::new(Mutex::new(Answerer::new(answers, settings, screen)?));
        let connecting = session::connect_by(&target, settings, Some(&answerer), screen, connect);
        let client = connecting.await?;
        Ok(Self {
            target,
            client,
            answerer,
            answers,
            limits: Limits {
                rounds: answers.preset.max_rounds.unwrap_or(settings.limits.rounds),
                pause: answers.pause.unwrap_or(settings.limits.pause),
            },
            screen,
        })
    }

    fn rounds(&self) -> Rounds<'_> {
        Rounds {
            client: &self.client,
            answerer: &self.answerer,
            save: self.answers.preset.save.as_deref(),
            detach: false,
            limits: self.limits,
            target: Some(&self.target),
            screen: self.screen,
        }
    }

    /// Ends the connection in good order. If the call went well, the user hears
    /// of answers that were given and not asked for.
    async fn close<T>(self, reached: &Result<T, Failure>) {
        if reached.is_ok() {
            self.answerer.lock().await.tell_unused();
        }
        session::close(self.client).await;
    }
}

/// The server that was named, and the words after it.
#[derive(Debug)]
struct NamedServer<'w> {
    target: Target,
    settings: Settings,
    rest: &'w [String],
}

impl<'w> NamedServer<'w> {
    fn read(words: &'w [String], args: &ConnectArgs) -> Result<Self, Failure> {
        let settings = Settings::read(args)?;
        let (target, rest) = Target::split(words, &args.command, settings.mcp_json.as_deref())?;
        Ok(Self {
            target,
            settings,
            rest,
        })
    }

    /// The server, after which nothing may come.
    fn alone(args: &'w TargetArgs) -> Result<Self, Failure> {
        let named = Self::read(&args.words, &args.connect)?;
        named.nothing_more().map(|()| named)
    }

    fn nothing_more(&self) -> Result<(), Failure> {
        match self.rest.first() {
            None => Ok(()),
            Some(word) => Err(Failure::usage(format!(
                "`{}` is one word too many: nothing follows what was named before it",
                excerpt(word)
            ))
            .hint("words with spaces need quotes; `--` begins a command")),
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
        session::connect(&self.target, &self.settings, None, screen).await
    }
}
