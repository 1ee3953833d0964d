//! Calls of servers of the earlier era that one process of the `sterna` command
//! saves and another one resumes, or that it cannot save.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use super::older::{
    ANSWER, Everything, Ran, Running, effects, ended, fastmcp, saved_in, sterna, wait_for,
};
use super::peer;
use crate::listening::Listening;

/// The reference server of the protocol's authors, which keeps an event store.
pub(super) fn with_everything() -> Result<()> {
    let Some(server) = Everything::start()? else {
        return Ok(());
    };
    let file = saved_in("everything.json");
    let call = ["call", server.url(), "trigger-elicitation-request"];
    save(&call, &file)?;
    for _ in 0..2 {
        // Again for those who lost the response: the answer is used once.
        let answers = ["--answer", "form.name=Ada", "--answer", "form.check:=true"];
        let ran = resume(&file, &answers)?;
        ensure!(ran.code == 0 && ran.stdout.contains("Ada"), "{ran:?}");
    }
    println!("server-everything: saved by one process, resumed by two others");
    Ok(())
}

/// FastMCP 2, with an event store and without.
pub(super) fn with_fastmcp() -> Result<()> {
    let Some(python) = peer::python_with("fastmcp")? else {
        return Ok(());
    };
    resumable(&fastmcp(&python, &["--events"])?)?;
    not_resumable(&fastmcp(&python, &[])?)?;
    println!("FastMCP: saved and resumed with an event store, refused without one");
    Ok(())
}

fn resumable(server: &Listening) -> Result<()> {
    let file = saved_in("fastmcp.json");
    let call = ["call", server.url(), "deploy", "service=web", "seconds:=3"];
    save(&call, &file)?;
    // The first process to resume is killed after it has sent the answer.
    let mut first = sterna();
    first.arg("resume").arg(&file).args(ANSWER);
    let mut first = Running(first.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    wait_for("the answer has its effect", || {
        effects(server).is_ok_and(|done| done == "1")
    })?;
    ensure!(first.0.try_wait()?.is_none(), "the tool takes 3 seconds");
    first.0.kill()?;
    // The calls of `effects` are stored beside it, and are not taken for it.
    let ran = resume(&file, &ANSWER)?;
    let expected = "web deployed: tested\n";
    ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    ensure!(effects(server)? == "1", "one effect, whoever asks for it");
    // A session that is gone is no answer sent.
    let text = std::fs::read_to_string(&file)?;
    let saved: serde_json::Value = serde_json::from_str(&text)?;
    let session = saved["session"]["id"].as_str().context("a session")?;
    std::fs::write(&file, text.replace(session, &"0".repeat(session.len())))?;
    let ran = resume(&file, &ANSWER)?;
    let lost = ran.stderr.contains("MR0518") && ran.stderr.contains("no answer was sent");
    ensure!(ran.code == 1 && lost, "{ran:?}");
    ensure!(effects(server)? == "1", "and nothing has happened");
    Ok(())
}

fn not_resumable(server: &Listening) -> Result<()> {
    let file = saved_in("fastmcp-plain.json");
    std::fs::remove_file(&file).ok();
    let call = ["call", server.url(), "deploy", "service=web"];
    let mut saving = sterna();
    saving.args(call).args(["--no-input", "--save"]).arg(&file);
    let ran = ended(saving)?;
    let said = ran.stderr.contains("cannot be saved") && ran.stderr.contains("event store");
    ensure!(ran.code == 4 && said && !file.exists(), "{ran:?}");
    let mut answered = sterna();
    let ran = ended({
        answered.args(call).args(ANSWER);
        answered
    })?;
    let expected = "web deployed: tested\n";
    ensure!(ran.code == 0 && ran.stdout == expected, "{ran:?}");
    ensure!(
        effects(server)? == "1",
        "the call that was not saved did nothing"
    );
    Ok(())
}

/// Makes a call that asks, and saves it.
fn save(call: &[&str], file: &Path) -> Result<()> {
    let mut command = sterna();
    command.args(call).args(["--no-input", "--save"]).arg(file);
    let ran = ended(command)?;
    ensure!(ran.code == 4 && ran.stdout.contains("saved to"), "{ran:?}");
    Ok(())
}

fn resume(file: &Path, answers: &[&str]) -> Result<Ran> {
    let mut command = sterna();
    command.arg("resume").arg(file).args(answers);
    ended(command)
}
