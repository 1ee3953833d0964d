//! A server on standard streams: a program that its client starts and ends.
//! Here both are one program, which starts itself a second time.
//!
//! ```text
//! $ cargo run --bin stdio
//! client: greet
//! server: name? "What is your name?"
//! client: "Ada"
//! server: "Hello, Ada!"
//! ```
//!
//! `cargo run --bin stdio -- --serve` is the server alone, one message per
//! line: give that command to any MCP client.

use anyhow::bail;
use clap::Parser;
use examples::say;
use sterna_client::{BoxError, Client, Command, Question};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::{ElicitContent, ElicitRequestFormParams, ElicitResult};
use sterna_server::{AskError, Cx, Server};

#[derive(Parser)]
struct Args {
    /// Be the server, and say nothing but messages.
    #[arg(long)]
    serve: bool,
}

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: String = cx.ask("name", "What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    if Args::parse().serve {
        // It needs no keys: nobody else will ever see what it seals.
        let server = Server::new("greeter", env!("CARGO_PKG_VERSION"))
            .tool("greet", "Greets whoever is there", greet)
            .log_to_stderr();
        return Ok(server.stdio().await?);
    }
    let server = Command::new(std::env::current_exe()?).arg("--serve");
    let client = Client::builder(server).on_form(answer).connect().await?;
    say("client: greet")?;
    let result = client.call("greet").await?;
    let Some(ContentBlock::Text(said)) = result.content.first() else {
        bail!("not text");
    };
    say(format_args!("server: {:?}", said.text))?;
    // Its input ends, so the server does.
    client.close().await;
    Ok(())
}

/// Stands for a dialogue.
async fn answer(question: Question<ElicitRequestFormParams>) -> Result<ElicitResult, BoxError> {
    let Question { key, params, .. } = question;
    say(format_args!("server: {key}? {:?}", params.message))?;
    say(r#"client: "Ada""#)?;
    let name = ElicitContent::from_iter([(key, "Ada")]);
    Ok(ElicitResult::accept(name))
}
