//! `sterna doctor`: what clients of both eras get from a server.

use serde::Serialize;
use sterna_client::{Client, Era};

use super::Place;
use crate::args::TargetArgs;
use crate::exit::{Exit, Failure};
use crate::screen::{BAD, BOLD, GOOD, Screen};
use crate::session::{self, failure};
use crate::table::one_line;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    era: &'static str,
    check: &'static str,
    ok: bool,
    seen: String,
}

pub(crate) async fn run(args: TargetArgs, screen: Screen) -> Result<Exit, Failure> {
    let place = Place::read(&args.words, &args.connect)?;
    if let Some(word) = place.rest.first() {
        return Err(Failure::usage(format!("`{word}` is too much")));
    }
    let mut findings = Vec::new();
    let mut served = 0;
    for (era, name) in [(Era::Modern, "modern"), (Era::Legacy, "legacy")] {
        let builder = session::builder(place.target.clone(), &place.settings, screen)?;
        match builder.era(era).connect().await.map_err(failure) {
            Ok(client) => {
                served += 1;
                look(&client, name, &mut findings).await;
                client.close().await;
            }
            // One that cannot be reached at all is no finding about an era.
            Err(failed) if failed.exit == Exit::Unauthorized => return Err(failed),
            Err(failed) => findings.push(Finding {
                era: name,
                check: "connects",
                // Every era that is served counts; one of them is enough.
                ok: false,
                seen: one_line(&format!("{:#}", failed.error)),
            }),
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

async fn look(client: &Client, era: &'static str, findings: &mut Vec<Finding>) {
    let mut note = |check, ok, seen: String| {
        let seen = one_line(&seen);
        findings.push(Finding {
            era,
            check,
            ok,
            seen,
        });
    };
    let found = client.server();
    let versions: Vec<_> = found
        .supported_versions
        .iter()
        .map(ToString::to_string)
        .collect();
    note("connects", true, format!("speaks {}", versions.join(", ")));
    let json = serde_json::to_value(found).unwrap_or_default();
    let names = json["capabilities"].as_object().into_iter().flatten();
    let names: Vec<_> = names.map(|(name, _)| name.as_str()).collect();
    note("capabilities", true, names.join(", "));
    if era == "modern" {
        let caching = match (&found.ttl_ms, &found.cache_scope) {
            (Some(ttl), Some(scope)) => (true, format!("{} ms, {scope}", ttl.get())),
            _ => (
                false,
                "ttlMs or cacheScope is missing: clients cannot keep anything".to_owned(),
            ),
        };
        note("caching", caching.0, caching.1);
    }
    if found.capabilities.tools.is_some() {
        match client.tools().all().await {
            Ok(tools) => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
                note("tools", true, names.join(", "));
            }
            Err(error) => note("tools", false, error.to_string()),
        }
    }
}

fn text(findings: &[Finding], healthy: bool) -> String {
    let mut text = String::new();
    let mut last = "";
    for finding in findings {
        if finding.era != last {
            last = finding.era;
            text.push_str(&format!("{BOLD}a {last} client{BOLD:#}\n"));
        }
        let mark = match finding.ok {
            true => format!("{GOOD}yes{GOOD:#}"),
            false => format!("{BAD}no {BAD:#}"),
        };
        text.push_str(&format!(
            "  {mark}  {:<12}  {}\n",
            finding.check, finding.seen
        ));
    }
    text.push_str(match healthy {
        true => "healthy\n",
        false => "not healthy\n",
    });
    text
}
