//! `sterna call-http`, and `sterna resume` of such a request.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use crate::args::{AnswerArgs, AskingArgs, CallHttpArgs, ConnectArgs, ResumeArgs};
use crate::ask::Answerer;
use crate::config::{Limits, Settings};
use crate::exit::{Exit, Failure};
use crate::http_calls::{HttpEnd, HttpRequest, HttpResponse, HttpRounds, HttpServer, SavedRequest};
use crate::private_file;
use crate::screen::Screen;
use crate::target::NamedBy;
use crate::text::{JsonLayout, Text, excerpt, printable_json};

/// Request at its beginning: as it was typed, or as it was saved.
enum Begin {
    First(HttpRequest),
    Saved(SavedRequest),
}

pub(crate) async fn run(args: CallHttpArgs, screen: Screen) -> Result<Exit, Failure> {
    let request = HttpRequest::read(&args)?;
    let asking = AskingArgs {
        answers: AnswerArgs {
            preset: args.answers,
            ..AnswerArgs::default()
        },
        connect: ConnectArgs {
            request: args.connection,
            ..ConnectArgs::default()
        },
    };
    play(
        Begin::First(request),
        &NamedBy::CommandLine,
        &asking,
        screen,
    )
    .await
}

/// Goes on with a request that was saved.
pub(super) async fn resume(
    mut saved: SavedRequest,
    args: &ResumeArgs,
    screen: Screen,
) -> Result<Exit, Failure> {
    let named_by = match &args.at {
        Some(server) => {
            saved.request = saved.request.at(server)?;
            NamedBy::CommandLine
        }
        None => NamedBy::PausedCall(args.file.clone()),
    };
    if !args.asking.connect.command.is_empty() {
        return Err(
            Failure::usage("a request to an HTTP API is sent to no command")
                .hint("--at URL sends it to another address of the same server"),
        );
    }
    play(Begin::Saved(saved), &named_by, &args.asking, screen).await
}

async fn play(
    begin: Begin,
    named_by: &NamedBy,
    args: &AskingArgs,
    screen: Screen,
) -> Result<Exit, Failure> {
    let settings = Settings::read(&args.connect)?;
    let preset = &args.answers.preset;
    if let Some(file) = &preset.save {
        // Before the request: what the server says then could not be kept.
        let check = private_file::check(file);
        check.with_context(|| format!("the request cannot be saved to {}", file.display()))?;
    }
    let answerer = Arc::new(Mutex::new(Answerer::new(&args.answers, &settings, screen)?));
    let request = match &begin {
        Begin::First(request) => request,
        Begin::Saved(saved) => &saved.request,
    };
    let mut server = HttpServer::of(&request.url()?, named_by, &settings, screen)?;
    let rounds = HttpRounds {
        server: &server,
        answerer: &answerer,
        save: preset.save.as_deref(),
        limits: Limits {
            rounds: preset.max_rounds.unwrap_or(settings.limits.rounds),
            ..settings.limits
        },
        patience: settings.timeout,
        screen,
    };
    let end = match begin {
        Begin::First(request) => Box::pin(rounds.call(&request)).await?,
        Begin::Saved(saved) => Box::pin(rounds.go_on(saved)).await?,
    };
    let answerer = answerer.lock().await;
    answerer.tell_unused();
    match end {
        HttpEnd::Later(exit) => Ok(exit),
        HttpEnd::Response(response) if response.status == StatusCode::UNAUTHORIZED => {
            Err(server.unauthorized())
        }
        HttpEnd::Response(response) => match (finish(&response, screen)?, answerer.refused()) {
            (_, true) => Ok(Exit::Declined),
            (exit, false) => Ok(exit),
        },
    }
}

/// Shows a response and says how it ends.
fn finish(response: &HttpResponse, screen: Screen) -> Result<Exit, Failure> {
    let status = response.status;
    let body = Body::of(response);
    let json = json!({"status": status.as_u16(), "body": body.value});
    if status.is_success() {
        screen.result(&json, body.text)?;
        return Ok(Exit::Done);
    }
    if let (true, Some(location)) = (status.is_redirection(), response.location()) {
        let error = anyhow!("the server redirects to `{}`", excerpt(location));
        let failure = Failure::new(Exit::Failed, error);
        return Err(failure.hint(
            "a request goes to no other address by itself; send it there, if that is what you mean",
        ));
    }
    let text = Text::bad(format!("the server answered {status}")) + "\n" + body.text;
    screen.result(&json, text)?;
    Ok(Exit::ToolError)
}

/// Body of a response, for programs and for people.
struct Body {
    value: Value,
    text: Text,
}

impl Body {
    fn of(response: &HttpResponse) -> Self {
        if let Some(value) = response.json() {
            // The text as it came, with its order and its numbers.
            let text = String::from_utf8_lossy(&response.body);
            let text = printable_json(text.trim_end(), JsonLayout::Lines);
            return Self {
                value,
                text: format!("{text}\n").into(),
            };
        }
        match std::str::from_utf8(&response.body) {
            Ok("") => Self {
                value: Value::Null,
                text: Text::default(),
            },
            Ok(text) => Self {
                value: text.into(),
                text: format!("{}\n", text.trim_end()).into(),
            },
            Err(_) => {
                let (size, kind) = (response.body.len(), response.media_type());
                let text = format!("({size} bytes of {})\n", excerpt(&kind));
                Self {
                    value: Value::Null,
                    text: text.into(),
                }
            }
        }
    }
}
