//! Tools that need something of the client before they are done.

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, StringSchema};
use sterna_protocol::input::{InputRequest, InputRequired};
use sterna_protocol::result::Outcome;
use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, AskError, Call, Cx, SamplingRequest, Server, Tool};

pub(crate) fn offer(server: Server) -> Server {
    server
        .offer(Tool::low_level(
            "test_input_required_result_elicitation",
            "Asks for a name",
            elicitation,
        ))
        .tool(
            "test_input_required_result_sampling",
            "Asks a model",
            sampling,
        )
        .tool(
            "test_input_required_result_list_roots",
            "Asks for roots",
            roots,
        )
        .tool(
            "test_input_required_result_request_state",
            "Asks for a yes",
            with_state,
        )
        .tool(
            "test_input_required_result_tampered_state",
            "Asks for a yes",
            with_state,
        )
        .tool(
            "test_input_required_result_multiple_inputs",
            "Asks three things",
            several,
        )
        .tool(
            "test_input_required_result_multi_round",
            "Asks twice",
            twice,
        )
        .tool(
            "test_input_required_result_capabilities",
            "Asks what it may",
            gated,
        )
        .tool("test_missing_capability", "Needs a model", needs_sampling)
        .tool("test_sampling", "Has a model write", write)
        .tool("test_elicitation", "Asks for an account", account)
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Yes {
    ok: bool,
}

/// Keeps no state, so an answer counts whether or not a round went before.
async fn elicitation(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, AskError> {
    let Some(name) = answers.form::<Name>("user_name") else {
        let form = FormSchema::new().with_required("name", StringSchema::default());
        let question = ElicitRequestFormParams::new("What is your name?", form);
        let required = InputRequired::asking("user_name", InputRequest::elicit(question));
        return Ok(Outcome::InputRequired(required));
    };
    let text = format!("Hello, {}!", name?.name);
    Ok(Outcome::Complete(CallToolResult::text(text)))
}

async fn sampling(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let script = SamplingRequest::new("What is the capital of France?", 100);
    let answer = cx.sample("capital_question", script).await?;
    Ok(format!("The model says: {}", said(&answer)))
}

async fn roots(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let roots = cx.roots("client_roots").await?;
    Ok(format!("{} roots", roots.len()))
}

async fn with_state(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let yes: Yes = cx.ask("confirm", "Is it all right?").await?;
    Ok(format!("state-ok: {}", yes.ok))
}

async fn several(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let (name, greeting, roots) = tokio::join!(
        cx.ask::<Name>("user_name", "What is your name?"),
        cx.sample("greeting", SamplingRequest::new("Write a greeting.", 50)),
        cx.roots("client_roots"),
    );
    Ok(format!(
        "{}, {} ({} roots)",
        said(&greeting?),
        name?.name,
        roots?.len()
    ))
}

async fn twice(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let name: Name = cx.ask("step1", "Step 1: what is your name?").await?;
    let color: Color = cx
        .ask(
            "step2",
            format!("Step 2: {}, what is your favourite color?", name.name),
        )
        .await?;
    Ok(format!("{} likes {}", name.name, color.color))
}

async fn gated(cx: Cx<'_>, (): ()) -> String {
    let (name, greeting) = tokio::join!(
        cx.ask::<Name>("user_name", "What is your name?").optional(),
        cx.sample("greeting", SamplingRequest::new("Write a greeting.", 50))
            .optional(),
    );
    let name = name.map_or_else(|refused| refused.to_string(), |name| name.name);
    let greeting = greeting.map_or_else(|refused| refused.to_string(), |text| said(&text));
    format!("{greeting} {name}")
}

async fn needs_sampling(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let answer = cx
        .sample("needed", SamplingRequest::new("Say something.", 50))
        .await?;
    Ok(said(&answer))
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    prompt: String,
}

async fn write(cx: Cx<'_>, args: Write) -> Result<String, AskError> {
    let answer = cx
        .sample("text", SamplingRequest::new(args.prompt, 100))
        .await?;
    Ok(format!("LLM response: {}", said(&answer)))
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Account {
    username: String,
    email: String,
}

async fn account(cx: Cx<'_>, args: Question) -> Result<String, AskError> {
    let account: Account = cx.ask("account", args.message).await?;
    Ok(format!(
        "User response: {} <{}>",
        account.username, account.email
    ))
}

fn said(answer: &CreateMessageResult) -> String {
    let texts = answer
        .content
        .blocks()
        .iter()
        .filter_map(|block| match block {
            SamplingMessageContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
    texts.collect()
}
