//! `sterna doctor`: what clients of both eras get from a server.

mod asks;
mod lists;
mod strict;

use serde::Serialize;
use sterna_client::{Client, Era};

use super::NamedServer;
use crate::args::DoctorArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::target::Server;
use crate::text::{Text, one_line};

use asks::{Overheard, Trial};

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    era: &'static str,
    check: &'static str,
    ok: bool,
    seen: String,
}

/// Findings about one era.
#[derive(Debug)]
struct Findings<'a> {
    era: &'static str,
    all: &'a mut Vec<Finding>,
}

impl Findings<'_> {
    fn note(&mut self, check: &'static str, ok: bool, seen: impl AsRef<str>) {
        self.all.push(Finding {
            era: self.era,
            check,
            ok,
            seen: one_line(seen.as_ref()),
        });
    }
}

pub(crate) async fn run(args: DoctorArgs, screen: Screen) -> Result<Exit, Failure> {
    interrupt::or("interrupted", examine(args, screen)).await
}

async fn examine(args: DoctorArgs, screen: Screen) -> Result<Exit, Failure> {
    let server = NamedServer::alone(&args.target)?;
    let has_headers = matches!(server.target.server, Server::Url { .. });
    let named = args.trials.iter().map(|text| Trial::parse(text));
    let named: Vec<Trial> = named.collect::<Result<_, _>>()?;
    let mut findings = Vec::new();
    let mut served = 0;
    for (era, name) in [(Era::Modern, "modern"), (Era::Legacy, "legacy")] {
        let overheard = Overheard::default();
        let builder = session::builder(&server.target, &server.settings, screen)?;
        let builder = overheard.listen(builder.era(era));
        let mut findings = Findings {
            era: name,
            all: &mut findings,
        };
        match builder.connect().await.map_err(failure) {
            Ok(client) => {
                served += 1;
                look(&client, &named, &overheard, &mut findings).await;
                if has_headers && era == Era::Modern {
                    strict::look(&client, &mut findings).await;
                }
                client.close().await;
            }
            // One that cannot be reached at all is no finding about an era.
            Err(failed) if failed.exit == Exit::Unauthorized => return Err(failed),
            // Every era that is served counts; one of them is enough.
            Err(failed) => findings.note("connects", false, format!("{:#}", failed.error)),
        }
    }
    let healthy = served > 0
        && findings
            .iter()
            .all(|finding| finding.ok || finding.check == "connects");
    let json = serde_json::json!({"ok": healthy, "findings": findings});
    screen.result(&json, text(&findings, healthy))?;
    Ok(match (served, healthy) {
        (0, _) => Exit::Unreachable,
        (_, true) => Exit::Done,
        (_, false) => Exit::Failed,
    })
}

async fn look(
    client: &Client,
    named: &[Trial],
    overheard: &Overheard,
    findings: &mut Findings<'_>,
) {
    let found = client.server();
    let versions: Vec<_> = found
        .supported_versions
        .iter()
        .map(ToString::to_string)
        .collect();
    findings.note("connects", true, format!("speaks {}", versions.join(", ")));
    let json = serde_json::to_value(found).unwrap_or_default();
    let names = json["capabilities"].as_object().into_iter().flatten();
    let names: Vec<_> = names.map(|(name, _)| name.as_str()).collect();
    findings.note("capabilities", true, names.join(", "));
    if client.era() == Era::Modern {
        lists::caching(client, findings).await;
    }
    if found.capabilities.tools.is_some() {
        match client.tools().all().await {
            Ok(tools) => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
                findings.note("tools", true, names.join(", "));
                asks::look(client, &tools, named, overheard, findings).await;
            }
            Err(error) => findings.note("tools", false, error.to_string()),
        }
    }
}

fn text(findings: &[Finding], healthy: bool) -> Text {
    let mut text = Text::default();
    let mut last = "";
    for finding in findings {
        if finding.era != last {
            last = finding.era;
            text += Text::bold(format!("a {last} client")) + "\n";
        }
        let mark = match finding.ok {
            true => Text::good("yes"),
            false => Text::bad("no "),
        };
        let seen = format!("  {:<12}  {}\n", finding.check, finding.seen);
        text += Text::from("  ") + mark + seen;
    }
    text += match healthy {
        true => "healthy\n",
        false => "not healthy\n",
    };
    text
}
