//! A tool that says how far it has come. The first word turns the answer into
//! an event stream; a client that wants to hear nothing gets plain JSON.
//!
//! ```text
//! $ cargo run --bin progress
//! client: copy {}
//! server: notifications/progress {"progressToken":"p","progress":1.0,"total":2.0}
//! server: notifications/message {"level":"notice","data":"half of it is there"}
//! server: notifications/progress {"progressToken":"p","progress":2.0,"total":2.0}
//! server: "2 files copied"
//! ```

use examples::{Conversation, keys};
use serde_json::json;
use sterna_server::{Cx, Level, Progress, Server};

async fn copy(cx: Cx<'_>, (): ()) -> &'static str {
    // Each file would be a step, so that a replay neither copies nor reports it again.
    cx.now("start").await;
    cx.progress(Progress::new(1.0).of(2.0));
    cx.log(Level::Notice, "half of it is there");
    cx.progress(Progress::new(2.0).of(2.0));
    "2 files copied"
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("copier", env!("CARGO_PKG_VERSION"))
        .tool("copy", "Copies two files", copy)
        .keys(keys()?)
        .anonymous();
    let server = server.build()?.into_tower()?;

    let mut call = Conversation::begin("copy", json!({}))?;
    call.round(&server).await
}
