//! The five servers of `compare/sterna`, each in a process of its own, called by
//! clients of both eras.

use std::path::Path;

use sterna_client::{Client, Command, Era};
use sterna_protocol::capabilities::ExtensionId;
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::resource::ResourceContents;
use sterna_protocol::tool::CallToolResult;

const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

/// A client of the program at `path`, which answers every form with "tested".
async fn client(path: &str, folder: &Path, era: Era) -> Client {
    let server = Command::new(path).current_dir(folder);
    Client::builder(server)
        .era(era)
        .extension(&ExtensionId::TASKS)
        .on_form(|question| async move {
            assert_eq!(question.params.message, "Why deploy billing?");
            let reason = ElicitContent::from_iter([("reason", "tested")]);
            Ok(ElicitResult::accept(reason))
        })
        .connect()
        .await
        .unwrap()
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("not one text: {other:?}"),
    }
}

async fn read(client: &Client, uri: &str) -> Option<String> {
    let read = client.read(uri).await.ok()?;
    match read.contents.into_iter().next()? {
        ResourceContents::Text(text) => Some(text.text),
        ResourceContents::Blob(_) => panic!("not text"),
    }
}

#[tokio::test]
async fn the_five_servers_do_the_same_in_both_eras() {
    let folder = tempfile::tempdir().unwrap();
    for era in ERAS {
        let echo = client(env!("CARGO_BIN_EXE_compare_echo"), folder.path(), era).await;
        let said = echo.call("echo").arg("text", "hi").await.unwrap();
        assert_eq!(text(&said), "hi");
        echo.close().await;

        let typed = client(env!("CARGO_BIN_EXE_compare_typed"), folder.path(), era).await;
        let forecast = typed.call("forecast").arg("city", "Bergen").await.unwrap();
        let content = forecast.structured_content.unwrap();
        assert_eq!(content.as_str(), r#"{"celsius":21.5,"rain":true}"#);
        typed.close().await;

        let asks = client(env!("CARGO_BIN_EXE_compare_asks"), folder.path(), era).await;
        let deployed = asks.call("deploy").arg("service", "billing").await;
        assert_eq!(text(&deployed.unwrap()), "billing deployed: tested");
        asks.close().await;

        let offers = client(env!("CARGO_BIN_EXE_compare_offers"), folder.path(), era).await;
        let prompt = offers.prompt("review").arg("code", "x").await.unwrap();
        let ContentBlock::Text(asked) = &prompt.messages[0].content else {
            panic!("not text");
        };
        assert_eq!(asked.text, "Review this code:\nx");
        let colours = read(&offers, "paint://colours").await;
        assert_eq!(colours.as_deref(), Some("red, white"));
        let wall = read(&offers, "paint://walls/3").await;
        assert_eq!(wall.as_deref(), Some("Wall 3 is white."));
        assert_eq!(read(&offers, "paint://walls/9").await, None);
        offers.close().await;

        let printer = client(env!("CARGO_BIN_EXE_compare_task"), folder.path(), era).await;
        let printed = printer.call("print").arg("title", "Terns").await.unwrap();
        assert_eq!(text(&printed), "Terns is printed");
        printer.close().await;
    }
}
