//! A deployment in the middle of a flow: the old build asks for two logins, the
//! new one for one of them and another. What still counts is kept, what does
//! not is dropped, and only what is missing is asked for.
//!
//! ```text
//! $ cargo run --bin rolling_upgrade
//! client: sync {}
//! server: github_login? "Your GitHub login?"
//! server: google_login? "Your Google login?"
//! client: {"github_login":{"github_login":"ada"},"google_login":{"google_login":"ada@gmail"}}
//! server: microsoft_login? "Your Microsoft login?"
//! client: {"microsoft_login":{"microsoft_login":"ada@outlook"}}
//! server: "ada and ada@outlook are in sync"
//! ```

use examples::{Conversation, keys};
use serde_json::json;
use sterna_seal::Keyring;
use sterna_server::{Cx, Refused, Server};

async fn old_sync(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let (github, google) = tokio::join!(
        cx.ask::<String>("github_login", "Your GitHub login?"),
        cx.ask::<String>("google_login", "Your Google login?"),
    );
    Ok(format!("{} and {} are in sync", github?, google?))
}

async fn new_sync(cx: Cx<'_>, (): ()) -> Result<String, Refused> {
    let (github, microsoft) = tokio::join!(
        cx.ask::<String>("github_login", "Your GitHub login?"),
        cx.ask::<String>("microsoft_login", "Your Microsoft login?"),
    );
    Ok(format!("{} and {} are in sync", github?, microsoft?))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let keys = keys()?.to_toml();
    let keys = || Keyring::from_toml(keys.as_str());
    let old = Server::new("sync", "1.0.0").tool("sync", "Syncs accounts", old_sync);
    let old = old.keys(keys()?).build()?.into_tower()?;
    let new = Server::new("sync", "2.0.0").tool("sync", "Syncs accounts", new_sync);
    let new = new.keys(keys()?).build()?.into_tower()?;

    let mut call = Conversation::begin("sync", json!({}))?;
    call.round(&old).await?;
    call.answer(json!({
        "github_login": {"github_login": "ada"},
        "google_login": {"google_login": "ada@gmail"},
    }))?;
    call.round(&new).await?;
    call.answer(json!({"microsoft_login": {"microsoft_login": "ada@outlook"}}))?;
    call.round(&new).await
}
