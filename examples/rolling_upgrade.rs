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
use sterna_server::{AskError, Cx, Server};

async fn old_sync(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (github, google) = tokio::join!(
        cx.ask::<String>("github_login", "Your GitHub login?"),
        cx.ask::<String>("google_login", "Your Google login?"),
    );
    Ok(format!("{} and {} are in sync", github?, google?))
}

async fn new_sync(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
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
    let old = old.keys(keys()?).anonymous().build()?.into_tower()?;
    let new = Server::new("sync", "2.0.0").tool("sync", "Syncs accounts", new_sync);
    let new = new.keys(keys()?).anonymous().build()?.into_tower()?;

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

#[cfg(test)]
mod tests {
    use sterna_testkit::Flow;

    use super::*;

    #[tokio::test]
    async fn whichever_replica_dies_only_what_is_missing_is_asked_for() {
        let flow = Flow::of(old_sync)
            .upgrade(2, new_sync)
            .answer("github_login", "ada")
            .answer("google_login", "ada@gmail")
            .answer("microsoft_login", "ada@outlook");
        let run = flow.run().await;
        assert_eq!(run.rounds(), 3);
        run.asked("microsoft_login").in_round(2);
        flow.check().await;
    }
}
