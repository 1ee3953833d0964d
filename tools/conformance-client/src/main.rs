//! The client that the official conformance suite is run against.
//!
//! The suite starts it once per scenario, with the URL of a server that
//! misbehaves in some way. Everything here is what an application would write:
//! which tool to call, which credentials it has. Retries, headers, the OAuth
//! flows and the checking of answers are the library's.

mod auth;
mod calls;
mod connect;
mod scenario;
mod skills;

use anyhow::Result;
use clap::Parser;

use scenario::Scenario;

/// The fixture of the conformance suite.
#[derive(Parser)]
struct Args {
    /// The server of the scenario.
    url: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let scenario = Scenario::from_environment()?;
    let client = connect::connect(&args.url, &scenario).await?;
    match scenario.name() {
        "http-custom-headers" => calls::scripted(&client, &scenario).await?,
        "http-standard-headers" => calls::everything(&client).await?,
        "initialize" | "json-schema-ref-no-deref" | "request-metadata" => {
            client.tools().all().await?;
        }
        "json-schema-2020-12-preservation" => calls::echo_schema(&client).await?,
        "sep-2322-client-request-state" => calls::rounds(&client).await?,
        "sep-2640-client-no-prefetch" => {
            skills::list(&client).await?;
        }
        "sep-2640-client-verify-digest"
        | "sep-2640-client-verify-frontmatter"
        | "sep-2640-client-verify-size" => skills::load(&client).await?,
        "tools_call" => calls::add(&client).await?,
        _ => calls::every_tool(&client).await?,
    }
    client.close().await;
    Ok(())
}
