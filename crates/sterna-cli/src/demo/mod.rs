//! `sterna demo`: three servers that share nothing but a key file, and a call
//! that outlives them.

mod claims;
mod fleet;
mod proxy;
mod replica;
mod story;

use anyhow::Context as _;
use sterna_seal::{Keyring, OsEntropy};

use crate::args::DemoArgs;
use crate::exit::{Exit, Failure};
use crate::private_file;
use crate::screen::{BOLD, Screen};

pub(crate) use replica::run as replica;

use fleet::Fleet;
use proxy::Proxy;

pub(crate) async fn run(args: DemoArgs, screen: Screen) -> Result<Exit, Failure> {
    let folder = tempfile::tempdir().context("no folder for the keys")?;
    let keys = folder.path().join("keys.toml");
    private_file::write(&keys, Keyring::generate(&mut OsEntropy)?.to_toml().as_str())?;
    let mut fleet = Fleet::start(&keys).await?;
    let proxy = Proxy::start(fleet.addresses()).await?;
    screen.note(format!(
        "{BOLD}three server processes, one key file, a round-robin proxy in front{BOLD:#}"
    ));
    if args.serve {
        return serve(&fleet, &proxy, screen).await;
    }
    let auto = args.auto || screen.json || !Screen::is_interactive();
    let claims = Box::pin(story::play(&mut fleet, &proxy, auto, screen)).await?;
    screen.result(&claims, claims.table())?;
    Ok(match claims.all_hold() {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

async fn serve(fleet: &Fleet, proxy: &Proxy, screen: Screen) -> Result<Exit, Failure> {
    let url = proxy.url();
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
         \x20 sterna resume call.json\n\n\
         Ctrl-C ends it.\n"
    ));
    screen.result(&serde_json::json!({"proxy": url}), text)?;
    tokio::signal::ctrl_c().await?;
    Ok(Exit::Done)
}
