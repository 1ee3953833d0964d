//! Prompts of every kind.

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_protocol::content::{ContentBlock, Role};
use sterna_protocol::prompt::PromptMessage;
use sterna_server::{AskError, CompletionRequest, Cx, Prompt, Server};

use crate::content::{picture, resource};

pub(crate) fn offer(server: Server) -> Server {
    server
        .prompt("test_simple_prompt", "Says one thing", simple)
        .offer(
            Prompt::new(
                "test_prompt_with_arguments",
                "Repeats its arguments",
                repeat,
            )
            .completing("arg1", suggest),
        )
        .prompt(
            "test_prompt_with_embedded_resource",
            "Hands over a resource",
            embedded,
        )
        .prompt("test_prompt_with_image", "Shows a picture", image)
        .prompt(
            "test_input_required_result_prompt",
            "Asks for context",
            asking,
        )
}

async fn simple(_: Cx<'_>, (): ()) -> &'static str {
    "This is a simple prompt for testing."
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first
    arg1: String,
    /// The second
    arg2: String,
}

async fn repeat(_: Cx<'_>, args: Two) -> String {
    format!(
        "Prompt with arguments: arg1='{}', arg2='{}'",
        args.arg1, args.arg2
    )
}

async fn suggest(typed: CompletionRequest) -> Vec<String> {
    let all = ["testing", "testValue1", "tested"];
    let fitting = all.iter().filter(|word| word.starts_with(&typed.value));
    fitting.map(|word| (*word).to_owned()).collect()
}

#[derive(Deserialize, JsonSchema)]
struct About {
    /// The resource to hand over
    #[serde(rename = "resourceUri")]
    resource_uri: String,
}

async fn embedded(_: Cx<'_>, args: About) -> Vec<PromptMessage> {
    let text = "Embedded resource content for testing.";
    vec![
        user(resource(&args.resource_uri, "text/plain", text)),
        user(ContentBlock::text("Please process the resource above.")),
    ]
}

async fn image(_: Cx<'_>, (): ()) -> Vec<PromptMessage> {
    vec![
        user(picture()),
        user(ContentBlock::text("Please look at the picture above.")),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct Context {
    context: String,
}

async fn asking(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let context: Context = cx.ask("user_context", "What is it about?").await?;
    Ok(format!("Go on from here: {}", context.context))
}

fn user(content: ContentBlock) -> PromptMessage {
    PromptMessage::new(Role::User, content)
}
