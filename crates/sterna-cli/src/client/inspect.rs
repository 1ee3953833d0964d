//! `sterna inspect`: the web inspector.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;
use sterna_inspect::{Bundle, Inspector, InspectorConfig, RecordConfig};

use super::{NamedServer, record_stdio};
use crate::args::{InspectServerArgs, RecordAt};
use crate::ask::sample;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::keys;
use crate::private_file;
use crate::screen::Screen;
use crate::session;
use crate::store::open_survey;
use crate::target::Server;

pub(crate) async fn run(args: InspectServerArgs, screen: Screen) -> Result<Exit, Failure> {
    let config = match kept_call(&args) {
        Some(file) => InspectorConfig::of_bundle(read_bundle(&file)?),
        None => inspected_server(&args, screen).await?,
    };
    let inspector = Inspector::bind(config).map_err(anyhow::Error::from)?;
    if let Some(file) = &args.url_file {
        let written = private_file::write(file, &format!("{}\n", inspector.url()));
        written.with_context(|| format!("the address cannot be written to {}", file.display()))?;
    }
    if let Some(recorder) = inspector.stdio_recorder() {
        // stdout belongs to the client.
        screen.note(format!("recorded at {}", inspector.url()));
        let target = NamedServer::alone(&args.target)?.target;
        return record_stdio::run(inspector, recorder, &target.server).await;
    }
    let (url, record) = (inspector.url(), inspector.record_url());
    let mut lines = format!("{url}\n");
    if let Some(record) = &record {
        lines.push_str(&format!("{record}\n"));
    }
    screen.line(&json!({"url": url, "record": record}), lines)?;
    if !args.no_open && !open(&url) {
        screen.note("no browser could be started; open the address in one");
    }
    if let Some(record) = record {
        screen.note(format!("connect the client that is recorded to {record}"));
    }
    screen.note("the address is good once, and only on this machine; Ctrl-C ends the inspector");
    let served = inspector.serve(interrupt::heard()).await;
    served.map_err(anyhow::Error::from)?;
    Ok(Exit::Done)
}

async fn inspected_server(
    args: &InspectServerArgs,
    screen: Screen,
) -> Result<InspectorConfig, Failure> {
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
    let record = record_config(args, &target.server, screen)?;
    let connector = Arc::new(move || {
        let builder = session::builder(&target, &settings, screen);
        builder.map_err(|failure| failure.error.into())
    });
    let mut config = InspectorConfig::new(name, connector);
    config.keys = args.keys.as_deref().map(keys::file::read).transpose()?;
    config.audience.clone_from(&args.audience);
    config.tenant.clone_from(&args.tenant);
    config.record = record;
    if !args.store.is_empty() {
        let rings = args.rings.as_ref();
        let survey = open_survey(&args.store, rings, args.schema.as_deref());
        config.store = Some(survey.await?);
    }
    if let Some(command) = args.sampler.clone() {
        config.sampler = Some(Arc::new(move |params| {
            let command = command.clone();
            Box::pin(async move {
                let written = sample::by_command(&command, &params).await;
                written.map_err(|failure| failure.error.into())
            })
        }));
    }
    Ok(config)
}

/// The way of the client that is recorded, which the server must fit.
fn record_config(
    args: &InspectServerArgs,
    server: &Server,
    screen: Screen,
) -> Result<Option<RecordConfig>, Failure> {
    let mistake = |what: &str, remedy: &str| Err(Failure::usage(what).hint(remedy));
    match (args.record, server) {
        (None, _) => Ok(None),
        (Some(RecordAt::Http(listen)), Server::Url { url, .. }) => {
            Ok(Some(RecordConfig::http(listen, url)))
        }
        (Some(RecordAt::Http(_)), Server::Command { .. }) => mistake(
            "a server that is a command has no address to record at",
            "write --record stdio, and have the client start this command instead of the server",
        ),
        (Some(RecordAt::Stdio), Server::Url { .. }) => mistake(
            "`--record stdio` records a server that is a command, not one with a URL",
            "write --record 127.0.0.1:8700 and give that address to the client",
        ),
        (Some(RecordAt::Stdio), Server::Command { .. }) if screen.json => mistake(
            "`--json` would write to stdout, which belongs to the client",
            "take the address of the page from stderr, or from --url-file FILE",
        ),
        (Some(RecordAt::Stdio), Server::Command { .. }) => Ok(Some(RecordConfig::Stdio)),
    }
}

/// The file of a kept call, if that is what was named. Names of an `mcp.json` have
/// no ending and no folder.
fn kept_call(args: &InspectServerArgs) -> Option<PathBuf> {
    let [word] = args.target.words.as_slice() else {
        return None;
    };
    let path = Path::new(word);
    let is_path = path.extension().is_some() || path.components().count() > 1;
    (is_path && args.target.connect.command.is_empty() && path.is_file()).then(|| path.to_owned())
}

fn read_bundle(path: &Path) -> Result<Bundle, Failure> {
    let named = || path.display().to_string();
    let file = File::open(path).with_context(named)?;
    let mut bytes = Vec::new();
    // One byte more than a call can have is enough to refuse it.
    let mut limited = file.take(Bundle::LARGEST as u64 + 1);
    limited.read_to_end(&mut bytes).with_context(named)?;
    Ok(Bundle::parse(&bytes).with_context(named)?)
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
