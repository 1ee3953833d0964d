//! The wire in the author's own hands: a handler that returns its questions and
//! its state itself. The server still seals the state, binds it to the request
//! and its caller, lets it expire and checks that the client can be asked.
//!
//! ```text
//! $ cargo run --bin low_level
//! client: count {}
//! server: more? "1 so far. How many more?"
//! client: {"more":{"more":41}}
//! server: more? "42 so far. How many more?"
//! client: {"more":{"more":0}}
//! server: "42 in all"
//! ```

use examples::{Conversation, keys};
use serde_json::json;
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, NumberSchema, NumberType};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::{Answers, Call, Server, Tool, ToolError};

async fn count(call: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
    let before: u32 = call.state().unwrap_or("1").parse()?;
    let more = answers.form::<u32>("more").transpose()?;
    if more == Some(0) {
        let text = format!("{before} in all");
        return Ok(Outcome::Complete(CallToolResult::text(text)));
    }
    let sum = before + more.unwrap_or(0);
    let form = FormSchema::new().with_required("more", NumberSchema::new(NumberType::Integer));
    let message = format!("{sum} so far. How many more?");
    let question = InputRequest::elicit(ElicitRequestFormParams::new(message, form));
    let state = RequestState::new(sum.to_string());
    let required = InputRequired::asking("more", question).with_state(state);
    Ok(Outcome::InputRequired(required))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server::new("counter", env!("CARGO_PKG_VERSION"))
        .offer(Tool::low_level(
            "count",
            "Counts together with the user",
            count,
        ))
        .keys(keys()?)
        .anonymous();
    let server = server.build()?.into_tower()?;

    let mut call = Conversation::begin("count", json!({}))?;
    call.round(&server).await?;
    call.answer(json!({"more": {"more": 41}}))?;
    call.round(&server).await?;
    call.answer(json!({"more": {"more": 0}}))?;
    call.round(&server).await
}

#[cfg(test)]
mod tests {
    use sterna_testkit::Flow;

    use super::*;

    #[tokio::test]
    async fn a_sum_survives_its_replicas() {
        let build = || {
            let count = Tool::low_level("count", "Counts together with the user", count);
            Server::new("counter", "1.0.0").offer(count)
        };
        let flow = Flow::on(build, "count")
            .answer("more", 41)
            .answer("more", 0);
        assert_eq!(flow.run().await.text(), "42 in all");
        flow.check().await;
    }
}
