//! `sterna inspect`: the web inspector.

use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use sterna_inspect::{Inspector, InspectorConfig};
use sterna_store::Survey;
use sterna_store_postgres::PostgresSurvey;
use sterna_store_sqlite::SqliteSurvey;

use super::NamedServer;
use crate::args::InspectServerArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::keys;
use crate::screen::Screen;
use crate::session;
use crate::target::Server;

pub(crate) async fn run(args: InspectServerArgs, screen: Screen) -> Result<Exit, Failure> {
    let NamedServer {
        target, settings, ..
    } = NamedServer::alone(&args.target)?;
    // A mistake in the settings is told here, and not on a page.
    let _ = session::builder(&target, &settings, screen)?;
    let name = match &target.server {
        // A query may hold a secret, and a page is made to be shown.
        Server::Url { url, .. } => url.split('?').next().unwrap_or(url).to_owned(),
        Server::Command { program, args, .. } => {
            let words: Vec<_> = std::iter::once(program).chain(args).cloned().collect();
            words.join(" ")
        }
    };
    let connector = Arc::new(move || {
        let builder = session::builder(&target, &settings, screen);
        builder.map_err(|failure| failure.error.into())
    });
    let mut config = InspectorConfig::new(name, connector);
    config.keys = args.keys.as_deref().map(keys::file::read).transpose()?;
    config.audience = args.audience;
    config.tenant = args.tenant;
    if let Some(store) = &args.store {
        config.store = Some(survey(store, args.schema.as_deref()).await?);
    }
    let inspector = Inspector::bind(config).map_err(anyhow::Error::from)?;
    let url = inspector.url();
    screen.line(&json!({"url": url}), format!("{url}\n"))?;
    if !args.no_open && !open(&url) {
        screen.note("no browser could be started; open the address in one");
    }
    screen.note("the address is good once, and only on this machine; Ctrl-C ends the inspector");
    let served = inspector.serve(interrupt::heard()).await;
    served.map_err(anyhow::Error::from)?;
    Ok(Exit::Done)
}

/// Opens a store to look at: a file, or a database of PostgreSQL.
async fn survey(store: &str, schema: Option<&str>) -> Result<Arc<dyn Survey>, Failure> {
    let failed = |error: sterna_store::Error| {
        let hint = error
            .code()
            .map(|code| format!("see docs/errors/{code}.md"));
        let failure =
            Failure::from(anyhow::Error::from(error).context("the store cannot be opened"));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    };
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        let mut config = sterna_store_postgres::Config::new(store).map_err(failed)?;
        if let Some(schema) = schema {
            config.schema = sterna_store_postgres::Schema::new(schema).map_err(failed)?;
        }
        let survey = PostgresSurvey::connect(config).await.map_err(failed)?;
        return Ok(Arc::new(survey));
    }
    let path = store.strip_prefix("sqlite:").unwrap_or(store);
    let path = path.strip_prefix("//").unwrap_or(path);
    Ok(Arc::new(SqliteSurvey::open(path).map_err(failed)?))
}

/// Has the system open an address; returns false if it does not know how.
fn open(url: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}
