//! `sterna doctor`: what clients of both eras get from a server.

use serde_json::{Value, json};
use sterna_inspect::doctor::{DoctorError, Examination, Finding, Report, Trial};

use super::NamedServer;
use crate::args::DoctorArgs;
use crate::arguments;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::target::Server;
use crate::text::{Text, one_line};

pub(crate) async fn run(args: DoctorArgs, screen: Screen) -> Result<Exit, Failure> {
    interrupt::or("interrupted", examine(args, screen)).await
}

async fn examine(args: DoctorArgs, screen: Screen) -> Result<Exit, Failure> {
    let server = NamedServer::alone(&args.target)?;
    let mut examination = Examination::default();
    examination.has_headers = matches!(server.target.server, Server::Url { .. });
    let trials = args.trials.iter().map(|text| trial(text));
    examination.trials = trials.collect::<Result<_, _>>()?;
    let NamedServer {
        target, settings, ..
    } = server;
    let connector = move || {
        let builder = session::builder(&target, &settings, screen);
        builder.map_err(|failure| failure.error.into())
    };
    let report = examination.run(&connector).await.map_err(refused)?;
    let healthy = report.is_healthy();
    let findings: Vec<Value> = report.findings.iter().map(to_json).collect();
    let json = json!({"ok": healthy, "findings": findings});
    screen.result(&json, text(&report))?;
    Ok(match (report.served, healthy) {
        (0, _) => Exit::Unreachable,
        (_, true) => Exit::Done,
        (_, false) => Exit::Failed,
    })
}

/// `TOOL [key=value …]`.
fn trial(text: &str) -> Result<Trial, Failure> {
    let words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
    let [tool, rest @ ..] = &words[..] else {
        return Err(Failure::usage("--try names no tool").hint("write --try \"TOOL key=value\""));
    };
    Ok(Trial {
        tool: tool.clone(),
        arguments: arguments::read(rest, None)?,
    })
}

fn refused(error: DoctorError) -> Failure {
    match error {
        DoctorError::Unauthorized(error) => failure(error),
        other => anyhow::Error::from(other).into(),
    }
}

fn to_json(finding: &Finding) -> Value {
    json!({
        "era": finding.era,
        "check": finding.check,
        "ok": finding.ok,
        "seen": one_line(&finding.seen),
    })
}

fn text(report: &Report) -> Text {
    let mut text = Text::default();
    let mut last = "";
    for finding in &report.findings {
        if finding.era != last {
            last = finding.era;
            text += Text::bold(format!("a {last} client")) + "\n";
        }
        let mark = match finding.ok {
            true => Text::good("yes"),
            false => Text::bad("no "),
        };
        let seen = format!("  {:<12}  {}\n", finding.check, one_line(&finding.seen));
        text += Text::from("  ") + mark + seen;
    }
    text += match report.is_healthy() {
        true => "healthy\n",
        false => "not healthy\n",
    };
    text
}
