use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;
use sterna_client::{PausedCall, Reply, Step};

use super::{Asking, call, prompt, read};
use crate::args::{AskingArgs, ResumeArgs};
use crate::config::Settings;
use crate::exit::{Exit, Failure};
use crate::rounds::{self, Reached};
use crate::screen::Screen;
use crate::target::Target;

pub(crate) async fn run(args: ResumeArgs, screen: Screen) -> Result<Exit, Failure> {
    let text = read_file(&args.file)?;
    let json: Value =
        serde_json::from_str(&text).map_err(|error| not_paused(&args.file, &error))?;
    match json["request"]["method"].as_str() {
        Some("prompts/get") => {
            let reached = go_on(&args, &text, screen).await?;
            rounds::finish(reached, screen, prompt::text)
        }
        Some("resources/read") => {
            let reached = go_on(&args, &text, screen).await?;
            rounds::finish(reached, screen, read::text)
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
) -> Result<Reached<T>, Failure> {
    let mut paused: PausedCall<T> =
        serde_json::from_str(text).map_err(|error| not_paused(&args.file, &error))?;
    let AskingArgs { answers, connect } = &args.asking;
    let settings = Settings::read(connect)?;
    if let Some(at) = &args.at {
        paused = paused.dangerous_moved_to(at);
    }
    let target = match connect.command.is_empty() {
        true => Target::parse(paused.server(), &settings)?,
        false => Target::split(&[], &connect.command, &settings)?.0,
    };
    let asking = Asking::connect_to(target, &settings, answers, screen).await?;
    let rounds = asking.rounds();
    let reached = Box::pin(rounds.go_on(Step::InputRequired(paused))).await;
    asking.close().await;
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
        .hint("`sterna call … --save FILE` writes one when nobody is there to answer")
}
