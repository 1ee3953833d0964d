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
use sterna_protocol::capabilities::ExtensionId;
use sterna_seal::{Keyring, OsEntropy};
use tokio::sync::Mutex;

use crate::args::DemoArgs;
use crate::ask::Answerer;
use crate::config::Limits;
use crate::exit::{Exit, Failure};
use crate::interrupt;
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
        return serve(&fleet, &proxy, &keys, screen).await;
    }
    let auto = args.auto || screen.json || !Screen::is_interactive();
    let played = play(fleet, folder.path(), auto, screen);
    let claims = interrupt::or("interrupted; the demo ends here", played).await?;
    screen.result(&claims, claims.table())?;
    Ok(match claims.all_hold() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

async fn play(
    mut fleet: Fleet,
    folder: &Path,
    auto: bool,
    screen: Screen,
) -> Result<Claims, Failure> {
    let proxy = Proxy::start(fleet.addresses()).await?;
    let client = Client::builder(proxy.url()).extension(&ExtensionId::TASKS);
    let client = client.connect().await.map_err(failure)?;
    let answerer = Answerer::for_demo(&stage::answers(auto), auto, screen)?;
    let answerer = Arc::new(Mutex::new(answerer));
    let stage = Stage {
        proxy: &proxy,
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
    story::play(&mut fleet, &stage, &mut claims).await?;
    durable::play(&mut fleet, &stage, folder, &mut claims).await?;
    Ok(claims)
}

async fn serve(fleet: &Fleet, proxy: &Proxy, keys: &Path, screen: Screen) -> Result<Exit, Failure> {
    let (url, keys) = (proxy.url(), keys.display());
    let mut text = String::new();
    for (name, address) in fleet.addresses() {
        text.push_str(&format!("  replica {name}  http://{address}/mcp\n"));
    }
    text.push_str(&format!(
        "  proxy      {url}\n\n\
         try, in another terminal:\n\n\
         \x20 sterna list {url}\n\
         \x20 sterna call {url} update_work_item id=4522\n\
         \x20 sterna call {url} update_work_item id=4522 --no-input --save call.json\n\
         \x20 sterna resume call.json\n\
         \x20 sterna call {url} publish title=Terns --detach\n\
         \x20 sterna inspect {url} --keys {keys}\n\n\
         Ctrl-C ends it.\n"
    ));
    screen.result(&serde_json::json!({"proxy": url}), text)?;
    interrupt::heard().await;
    Ok(Exit::Done)
}
