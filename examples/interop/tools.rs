//! Tools that ask in every way there is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sterna_protocol::input::{InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::sampling::SamplingMessageContentBlock;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, AskError, Call, Cx, SamplingRequest, ToolError};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Echo {
    text: String,
}

pub(crate) async fn echo(_: Cx<'_>, args: Echo) -> String {
    format!("echo: {}", args.text)
}

pub(crate) async fn ask_name(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    match cx.ask::<String>("name", "What is your name?").await {
        Ok(name) => Ok(format!("Hello, {name}!")),
        Err(AskError::Declined) => Ok("refused: decline".to_owned()),
        Err(AskError::Cancelled) => Ok("refused: cancel".to_owned()),
        Err(refused) => Err(refused),
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Profile {
    #[schemars(length(min = 1))]
    name: String,
    #[schemars(range(min = 18, max = 99))]
    age: u8,
    #[serde(default)]
    newsletter: bool,
    color: Color,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Green,
}

pub(crate) async fn multi(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (profile, capital, roots) = tokio::join!(
        cx.ask::<Profile>("profile", "Who are you?"),
        cx.sample(
            "capital",
            SamplingRequest::new("What is the capital of France?", 100)
        ),
        cx.roots("roots"),
    );
    let capital = capital?;
    let text = capital
        .content
        .blocks()
        .iter()
        .find_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
    Ok(json!({"profile": profile?, "sample": text, "roots": roots?}).to_string())
}

pub(crate) async fn two_rounds(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let first: String = cx.ask("first", "First?").await?;
    let second: String = cx.ask("second", "Second?").await?;
    Ok(format!("first={first};second={second}"))
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Shed {
    #[serde(default = "two")]
    times: u32,
}

const fn two() -> u32 {
    2
}

pub(crate) async fn shed(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    let Shed { times } = call.arguments()?;
    if call.round() < times {
        let state = RequestState::new("on the way");
        return Ok(Outcome::InputRequired(InputRequired::retry_with(state)));
    }
    let text = format!("done after {times} shed rounds");
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

pub(crate) async fn ask_url(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let page = "https://example.com/signin";
    let page = page.parse().expect("it is a URL");
    cx.ask_url("signin", "Please sign in", page).await?;
    Ok("url: accept")
}
