use serde_json::Value;
use sterna_protocol::discover::DiscoverResult;

use super::Place;
use crate::args::TargetArgs;
use crate::exit::{Exit, Failure};
use crate::screen::{BOLD, Screen};
use crate::session;
use crate::table::{one_line, plain};

pub(crate) async fn run(args: TargetArgs, screen: Screen) -> Result<Exit, Failure> {
    let client = Place::alone(&args)?.connect(screen).await?;
    let found = client.server();
    screen.result(found, text(found)?)?;
    session::close(client).await;
    Ok(Exit::Done)
}

fn text(found: &DiscoverResult) -> Result<String, Failure> {
    let json = serde_json::to_value(found)?;
    let info = &json["_meta"]["io.modelcontextprotocol/serverInfo"];
    let of = |value: &Value| one_line(value.as_str().unwrap_or("(not said)"));
    let mut text = format!(
        "{BOLD}{} {}{BOLD:#}\n",
        of(&info["name"]),
        of(&info["version"])
    );
    let versions: Vec<_> = found
        .supported_versions
        .iter()
        .map(ToString::to_string)
        .collect();
    text.push_str(&format!(
        "  versions      {}\n",
        one_line(&versions.join(", "))
    ));
    let capabilities = json["capabilities"].as_object().into_iter().flatten();
    let names: Vec<_> = capabilities.map(|(name, _)| one_line(name)).collect();
    text.push_str(&format!("  capabilities  {}\n", names.join(", ")));
    if let Some(instructions) = &found.instructions {
        text.push_str(&format!("\n{}\n", plain(instructions)));
    }
    Ok(text)
}
