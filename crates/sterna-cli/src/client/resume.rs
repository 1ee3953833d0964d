use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;
use sterna_client::{PausedCall, Reply, Step};

use super::{Asking, call, call_http};
use crate::args::{AskingArgs, ResumeArgs};
use crate::config::Settings;
use crate::exit::{Exit, Failure};
use crate::http_calls::SavedRequest;
use crate::rounds::{self, CallProgress};
use crate::screen::Screen;
use crate::target::{Server, Target};

pub(crate) async fn run(args: ResumeArgs, screen: Screen) -> Result<Exit, Failure> {
    let text = read_file(&args.file)?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| not_paused(&args.file, &error))?;
    if SavedRequest::is_one(&json) {
        let saved = SavedRequest::read(&json, &args.file)?;
        return call_http::resume(saved, &args, screen).await;
    }
    match json["request"]["method"].as_str() {
        Some("prompts/get") => {
            let reached = go_on(&args, &text, screen).await?;
            rounds::finish(reached, screen, call::prompt_text)
        }
        Some("resources/read") => {
            let reached = go_on(&args, &text, screen).await?;
            rounds::finish(reached, screen, call::resource_text)
        }
        _ => {
            let reached = go_on(&args, &text, screen).await?;
            rounds::finish(reached, screen, call::text)
        }
    }
}

async fn go_on<T: Reply>(
    args: &ResumeArgs,
    text: &str,
    screen: Screen,
) -> Result<CallProgress<T>, Failure> {
    let mut paused: PausedCall<T> =
        serde_json::from_str(text).map_err(|error| not_paused(&args.file, &error))?;
    let AskingArgs { answers, connect } = &args.asking;
    let settings = Settings::read(connect)?;
    let target = match (Target::command(&connect.command), &args.at) {
        (Some(command), _) => command,
        (None, Some(at)) => Target::parse(at, settings.mcp_json.as_deref())?,
        (None, None) => Target::of_paused(paused.server(), &args.file)?,
    };
    if let (Some(_), Server::Url { url, .. }) = (&args.at, &target.server) {
        paused = paused.dangerous_moved_to(url);
    }
    let connect = async |builder| paused.connect(builder).await;
    let asking = Asking::connect_by(target, &settings, answers, screen, connect).await?;
    if args.at.is_some() {
        paused = paused.dangerous_moved_to(asking.client.endpoint());
    }
    let rounds = asking.rounds();
    let reached = Box::pin(rounds.go_on(Step::InputRequired(paused))).await;
    asking.close(&reached).await;
    reached
}

fn read_file(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    let text = std::fs::read_to_string(file);
    Ok(text.with_context(|| format!("{} cannot be read", file.display()))?)
}

fn not_paused(file: &Path, error: &serde_json::Error) -> Failure {
    Failure::usage(format!("{} is not a paused call: {error}", file.display()))
        .hint("`sterna call … --save FILE` writes one when a question has no answer")
}
