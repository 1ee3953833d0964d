//! `sterna demo`: three servers that share nothing but a key file, and a call
//! that outlives them; then a store besides, and a task.

mod claims;
mod durable;
mod durable_tools;
mod fleet;
mod proxy;
mod replica;
mod stage;
mod story;

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use sterna_client::Client;
use sterna_inspect::{Inspector, InspectorConfig};
use sterna_protocol::capabilities::ExtensionId;
use sterna_seal::{Keyring, OsEntropy};
use sterna_store_sqlite::SqliteSurvey;
use tokio::sync::Mutex;

use crate::args::DemoArgs;
use crate::ask::Answerer;
use crate::config::Limits;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::keys;
use crate::private_file;
use crate::rounds::Rounds;
use crate::screen::Screen;
use crate::session::failure;

pub(crate) use replica::run as replica;

use claims::Claims;
use fleet::Fleet;
use proxy::Proxy;
use stage::Stage;

pub(crate) async fn run(args: DemoArgs, screen: Screen) -> Result<Exit, Failure> {
    let folder = tempfile::tempdir().context("no folder for the keys")?;
    let keys = folder.path().join("keys.toml");
    private_file::write(&keys, Keyring::generate(&mut OsEntropy)?.to_toml().as_str())?;
    let mut fleet = Fleet::start(&keys).await?;
    if args.serve {
        fleet.restart_on(folder.path()).await?;
        let proxy = Proxy::start(fleet.addresses()).await?;
        return serve(&fleet, &proxy, folder.path(), &keys, screen).await;
    }
    let auto = args.auto || screen.json || !Screen::is_interactive();
    let proxy = Proxy::start(fleet.addresses()).await?;
    let played = play(&mut fleet, &proxy, folder.path(), auto, screen);
    let claims = interrupt::or("interrupted; the demo ends here", played).await?;
    screen.result(&claims, claims.table())?;
    if auto {
        screen.note("`sterna demo --serve` shows the replicas on a web page");
    } else {
        let inspector = inspector(&proxy, folder.path(), &keys)?;
        screen.note(format!(
            "\nsee it on a web page: {}\nCtrl-C ends it",
            inspector.url()
        ));
        let served = inspector.serve(interrupt::heard()).await;
        served.map_err(anyhow::Error::from)?;
    }
    Ok(match claims.all_hold() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

async fn play(
    fleet: &mut Fleet,
    proxy: &Proxy,
    folder: &Path,
    auto: bool,
    screen: Screen,
) -> Result<Claims, Failure> {
    let client = Client::builder(proxy.url()).extension(&ExtensionId::TASKS);
    let client = client.connect().await.map_err(failure)?;
    let answerer = Answerer::for_demo(&stage::answers(auto), auto, screen)?;
    let answerer = Arc::new(Mutex::new(answerer));
    let stage = Stage {
        proxy,
        screen,
        rounds: Rounds {
            client: &client,
            answerer: &answerer,
            save: None,
            detach: false,
            limits: Limits::default(),
            target: None,
            screen,
        },
    };
    let mut claims = Claims::default();
    stage.open("three server processes, one key file, a round-robin proxy in front");
    story::play(fleet, &stage, &mut claims).await?;
    durable::play(fleet, &stage, folder, &mut claims).await?;
    Ok(claims)
}

/// The inspector of the replicas, with their keys and their store.
fn inspector(proxy: &Proxy, folder: &Path, keys: &Path) -> Result<Inspector, Failure> {
    let url = proxy.url();
    let target = url.clone();
    let connector = Arc::new(move || Ok(Client::builder(&target).extension(&ExtensionId::TASKS)));
    let mut config = InspectorConfig::new(url, connector);
    config.keys = Some(keys::file::read(keys)?);
    config.store = Some(Arc::new(SqliteSurvey::open(durable_tools::store_in(
        folder,
    ))?));
    Ok(Inspector::bind(config).map_err(anyhow::Error::from)?)
}

async fn serve(
    fleet: &Fleet,
    proxy: &Proxy,
    folder: &Path,
    keys: &Path,
    screen: Screen,
) -> Result<Exit, Failure> {
    let inspector = inspector(proxy, folder, keys)?;
    let (url, keys) = (proxy.url(), keys.display());
    let (seen, store) = (inspector.url(), durable_tools::store_in(folder));
    let store = store.display();
    let mut text = String::new();
    for (name, address) in fleet.addresses() {
        text.push_str(&format!("  replica {name}  http://{address}/mcp\n"));
    }
    text.push_str(&format!(
        "  proxy      {url}\n\
         \x20 inspector  {seen}\n\n\
         try, in another terminal:\n\n\
         \x20 sterna list {url}\n\
         \x20 sterna call {url} update_work_item id=4522\n\
         \x20 sterna call {url} update_work_item id=4522 --no-input --save call.json\n\
         \x20 sterna resume call.json\n\
         \x20 sterna call {url} publish title=Terns --detach\n\
         \x20 sterna inspect {url} --keys {keys} --store {store}\n\n\
         Ctrl-C ends it.\n"
    ));
    let json = serde_json::json!({"proxy": url, "inspector": seen});
    screen.result(&json, text)?;
    let served = inspector.serve(interrupt::heard()).await;
    served.map_err(anyhow::Error::from)?;
    Ok(Exit::Done)
}
