//! One server of the demo: the work item of the MRTR proposal, in two builds.

use std::io::Write as _;
use std::net::TcpListener;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sterna_server::http::interrupted;
use sterna_server::{Cx, Server, ToolError};

use super::durable_tools;
use crate::args::ReplicaArgs;
use crate::exit::{Exit, Failure};

pub(crate) async fn run(args: ReplicaArgs) -> Result<Exit, Failure> {
    let replica = Replica {
        name: args.name,
        build: args.build,
    };
    let mut server = Server::new("work-items", format!("{}.0.0", args.build))
        .key_file(args.keys)
        .state(replica)
        .configure(|config| config.announce = false)
        .tool(
            "update_work_item",
            "Resolves a work item after asking how",
            update_work_item,
        );
    if let Some(folder) = &args.store {
        server = durable_tools::add(server, folder)?;
    }
    let server = server.build()?;
    let listener = TcpListener::bind("127.0.0.1:0").context("no port is free")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    server.serve_on(listener, interrupted()).await?;
    Ok(Exit::Done)
}

struct Replica {
    name: String,
    build: u8,
}

#[derive(Deserialize, JsonSchema)]
struct WorkItem {
    /// The number of the work item
    id: String,
}

#[derive(Deserialize, JsonSchema)]
struct Resolution {
    /// How was it resolved?
    resolution: How,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum How {
    Duplicate,
    Fixed,
}

#[derive(Deserialize, JsonSchema)]
struct Details {
    #[schemars(length(min = 1), extend("default" = "4301"))]
    details: String,
}

/// The second build wants to know more.
#[derive(Deserialize, JsonSchema)]
struct Confirmed {
    #[schemars(length(min = 1), extend("default" = "4301"))]
    details: String,
    #[schemars(length(min = 1), extend("default" = "Ada"))]
    confirmed_by: String,
}

async fn update_work_item(cx: Cx<'_>, item: WorkItem) -> Result<String, ToolError> {
    let here = cx.state::<Replica>();
    let looked_up_by = cx.step("look_up", async || here.name.clone()).await;
    let Resolution { resolution } = cx
        .ask(
            "resolution",
            format!("How was work item {} resolved?", item.id),
        )
        .await?;
    let question = match resolution {
        How::Duplicate => "Which work item is the original?",
        How::Fixed => "Which release has the fix?",
    };
    let details = if here.build == 1 {
        cx.ask::<Details>("details", question).await?.details
    } else {
        let question = format!("{question} And who has confirmed that?");
        let Confirmed {
            details,
            confirmed_by,
        } = cx.ask("details", question).await?;
        format!("{details}, confirmed by {confirmed_by}")
    };
    Ok(format!(
        "{} is {resolution:?} ({details}); looked up once, by replica {looked_up_by}",
        item.id
    ))
}
