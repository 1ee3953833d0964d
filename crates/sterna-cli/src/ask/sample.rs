//! Writing in a model's place: by hand, or by a command.

use std::fmt::Write as _;
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use inquire::InquireError;
use sterna_protocol::content::Role;
use sterna_protocol::sampling::{
    CreateMessageRequestParams, CreateMessageResult, SamplingMessageContentBlock,
};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::prompt::Prompt;
use crate::exit::Failure;

/// Runs `command` in a shell: the messages on its stdin, the answer on its
/// stdout.
pub(crate) async fn by_command(
    command: &str,
    params: &CreateMessageRequestParams,
) -> Result<CreateMessageResult, Failure> {
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("the sampler `{command}` cannot be started"))?;
    let mut stdin = child.stdin.take().expect("stdin was asked for");
    let text = transcript(params);
    // A command that does not read its input has its reasons.
    let _ = stdin.write_all(text.as_bytes()).await;
    drop(stdin);
    let output = child.wait_with_output().await?;
    let status = output.status;
    ensure_success(command, status.success(), &status.to_string())?;
    let answer = String::from_utf8(output.stdout).context("the sampler's answer is not text")?;
    Ok(written(
        command.split_whitespace().next().unwrap_or("command"),
        answer.trim_end(),
    ))
}

fn ensure_success(command: &str, ok: bool, status: &str) -> anyhow::Result<()> {
    ensure!(ok, "the sampler `{command}` ended with {status}");
    Ok(())
}

/// Has the user write the answer to messages that are on the screen.
pub(super) fn by_hand() -> Result<CreateMessageResult, InquireError> {
    let prompt = Prompt::new("Answer:").help("Enter sends it, Esc stops the call");
    let objection = |text: &str| {
        let is_empty = text.trim().is_empty();
        is_empty.then(|| "an empty answer is not sent; Esc stops the call".to_owned())
    };
    match prompt.line("", objection)? {
        Some(text) => Ok(written("by hand", &text)),
        None => Err(InquireError::OperationCanceled),
    }
}

fn written(model: &str, text: &str) -> CreateMessageResult {
    CreateMessageResult::new(model, SamplingMessageContentBlock::text(text))
}

/// The messages as text; what is no text is named.
pub(super) fn transcript(params: &CreateMessageRequestParams) -> String {
    let mut text = String::new();
    if let Some(system) = &params.system_prompt {
        writeln!(text, "{system}\n").expect("a string takes what is written");
    }
    let several = params.messages.len() > 1;
    for message in &params.messages {
        if several {
            let who = match message.role {
                Role::User => "user",
                _ => "assistant",
            };
            writeln!(text, "{who}:").expect("a string takes what is written");
        }
        for block in message.content.blocks() {
            let line = match block {
                SamplingMessageContentBlock::Text(block) => block.text.as_str(),
                SamplingMessageContentBlock::Image(_) => "(an image)",
                SamplingMessageContentBlock::Audio(_) => "(a sound)",
                _ => "(something that is no text)",
            };
            writeln!(text, "{line}").expect("a string takes what is written");
        }
    }
    text
}
