//! The part of `sterna doctor` that looks at a store.

use serde_json::{Value, json};
use sterna_store_postgres::{PostgresSurvey, Replication};
use sterna_store_sqlite::SqliteSurvey;

use crate::text::{Text, one_line};

/// Condition of one store.
pub(super) struct StoreFinding {
    /// Its number among those that were named: a URL may hold a password.
    number: usize,
    ok: bool,
    seen: String,
}

/// Looks at `stores`. No table is changed.
pub(super) async fn examine(stores: &[String], schema: Option<&str>) -> Vec<StoreFinding> {
    let mut findings = Vec::new();
    for (index, store) in stores.iter().enumerate() {
        let (ok, seen) = match look(store, schema).await {
            Ok((ok, seen)) => (ok, seen),
            // With its code and its causes.
            Err(error) => (false, format!("{error:?}")),
        };
        findings.push(StoreFinding {
            number: index + 1,
            ok,
            seen,
        });
    }
    findings
}

async fn look(store: &str, schema: Option<&str>) -> Result<(bool, String), sterna_store::Error> {
    if !store.starts_with("postgres://") && !store.starts_with("postgresql://") {
        let path = store.strip_prefix("sqlite:").unwrap_or(store);
        SqliteSurvey::open(path.strip_prefix("//").unwrap_or(path))?;
        return Ok((true, "a SQLite file".to_owned()));
    }
    let mut config = sterna_store_postgres::Config::new(store)?;
    // An answer within seconds, also while no server takes writes.
    config.failover = std::time::Duration::ZERO;
    if let Some(schema) = schema {
        config.schema = sterna_store_postgres::Schema::new(schema)?;
    }
    let replication = PostgresSurvey::connect(config).await?.replication();
    Ok(match replication {
        Replication::Asynchronous { .. } => (
            false,
            format!(
                "{replication}; a failover loses what was acknowledged last, and effects are refused (MR0710)"
            ),
        ),
        _ => (true, replication.to_string()),
    })
}

pub(super) fn are_healthy(findings: &[StoreFinding]) -> bool {
    findings.iter().all(|finding| finding.ok)
}

pub(super) fn to_json(finding: &StoreFinding) -> Value {
    json!({
        "era": "store",
        "check": format!("store {}", finding.number),
        "ok": finding.ok,
        "seen": one_line(&finding.seen),
    })
}

pub(super) fn text(findings: &[StoreFinding]) -> Text {
    let mut text = Text::default();
    for finding in findings {
        let mark = match finding.ok {
            true => Text::good("yes"),
            false => Text::bad("no "),
        };
        let check = format!("store {}", finding.number);
        let seen = format!("  {check:<12}  {}\n", one_line(&finding.seen));
        text += Text::from("  ") + mark + seen;
    }
    text
}
