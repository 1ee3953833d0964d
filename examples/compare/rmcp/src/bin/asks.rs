use rmcp::handler::server::tool::InputResponses;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, InputRequest, InputRequests,
    InputRequiredResult,
};
use rmcp::{ErrorData, ServiceExt, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Deploy {
    service: String,
}

#[derive(Clone)]
struct Server;

#[tool_router(server_handler)]
impl Server {
    /// Deploys a service after asking why
    #[tool]
    fn deploy(
        &self,
        Parameters(Deploy { service }): Parameters<Deploy>,
        InputResponses(answers): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(answer) = answers.and_then(|mut answers| answers.remove("reason")) else {
            let params = json!({
                "mode": "form",
                "message": format!("Why deploy {service}?"),
                "requestedSchema": {
                    "type": "object",
                    "properties": { "reason": { "type": "string" } },
                    "required": ["reason"],
                },
            });
            let params = serde_json::from_value(params)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            let question = InputRequest::Elicitation(ElicitRequest::new(params));
            let questions = InputRequests::from([("reason".to_owned(), question)]);
            return Ok(InputRequiredResult::new(Some(questions), None).into());
        };
        let text = match answer["action"].as_str() {
            Some("accept") => {
                let reason = answer["content"]["reason"].as_str().unwrap_or_default();
                format!("{service} deployed: {reason}")
            }
            _ => "the user declined".to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
