//! `sterna doctor`: what clients of both eras get from a server.

use serde_json::{Value, json};
use sterna_inspect::doctor::{DoctorError, Examination, Finding, Report, Trial};

use super::{NamedServer, doctor_store};
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
    let stores = doctor_store::examine(&args.store, args.schema.as_deref()).await;
    let names_server = !args.target.words.is_empty() || !args.target.connect.command.is_empty();
    if !stores.is_empty() && !names_server {
        let healthy = doctor_store::are_healthy(&stores);
        let findings: Vec<Value> = stores.iter().map(doctor_store::to_json).collect();
        let json = json!({"ok": healthy, "findings": findings});
        screen.result(&json, doctor_store::text(&stores) + verdict(healthy))?;
        return Ok(match healthy {
            true => Exit::Done,
            false => Exit::Failed,
        });
    }
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
    let healthy = report.is_healthy() && doctor_store::are_healthy(&stores);
    let findings = report.findings.iter().map(to_json);
    let findings: Vec<Value> = findings
        .chain(stores.iter().map(doctor_store::to_json))
        .collect();
    let json = json!({"ok": healthy, "findings": findings});
    let text = text(&report) + doctor_store::text(&stores) + verdict(healthy);
    screen.result(&json, text)?;
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
    text
}

fn verdict(healthy: bool) -> &'static str {
    match healthy {
        true => "healthy\n",
        false => "not healthy\n",
    }
}
