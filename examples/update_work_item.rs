//! A tool that asks only when it must: SEP-2322's work item, in straight-line
//! code. The second question depends on the answer to the first, and between
//! the rounds the server keeps nothing.
//!
//! ```text
//! $ cargo run --bin update_work_item
//! client: update_work_item {"id":4522,"state":"Resolved"}
//! server: resolution? "How was it resolved?"
//! client: {"resolution":{"resolution":"Duplicate"}}
//! server: original? "Which item does it repeat?"
//! client: {"original":{"original":4301}}
//! server: "Item 4522 resolved: a duplicate of 4301"
//! ```

use examples::{Conversation, keys};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sterna_server::{AskError, Cx, Server};

#[derive(Deserialize, JsonSchema)]
struct Update {
    id: u64,
    state: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Resolution {
    Fixed,
    Duplicate,
}

async fn update_work_item(cx: Cx<'_>, item: Update) -> Result<String, AskError> {
    let id = item.id;
    if item.state != "Resolved" {
        return Ok(format!("Item {id} is {}", item.state));
    }
    let how: Resolution = cx.ask("resolution", "How was it resolved?").await?;
    Ok(match how {
        Resolution::Fixed => format!("Item {id} resolved: fixed"),
        Resolution::Duplicate => {
            let original: u64 = cx.ask("original", "Which item does it repeat?").await?;
            format!("Item {id} resolved: a duplicate of {original}")
        }
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("work-items", env!("CARGO_PKG_VERSION"))
        .tool(
            "update_work_item",
            "Changes the state of an item",
            update_work_item,
        )
        .keys(keys()?)
        .anonymous();
    let server = server.build()?.into_tower()?;

    let arguments = json!({"id": 4522, "state": "Resolved"});
    let mut call = Conversation::begin("update_work_item", arguments)?;
    call.round(&server).await?;
    call.answer(json!({"resolution": {"resolution": "Duplicate"}}))?;
    call.round(&server).await?;
    call.answer(json!({"original": {"original": 4301}}))?;
    call.round(&server).await
}

#[cfg(test)]
mod tests {
    use sterna_testkit::Flow;

    use super::*;

    #[tokio::test]
    async fn a_duplicate_names_its_original_and_a_fix_does_not() {
        let item = json!({"id": 4522, "state": "Resolved"});
        let duplicate = Flow::of(update_work_item)
            .args(&item)
            .answer("resolution", Resolution::Duplicate)
            .answer("original", 4301);
        let run = duplicate.run().await;
        run.asked("resolution").in_round(1);
        run.asked("original").in_round(2);
        duplicate.check().await;
        let fixed = Flow::of(update_work_item)
            .args(&item)
            .answer("resolution", Resolution::Fixed);
        assert_eq!(fixed.run().await.text(), "Item 4522 resolved: fixed");
        fixed.check().await;
    }
}
