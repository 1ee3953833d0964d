//! The official Rust SDK, in the fastest form its documentation shows: the
//! router is built once, no sessions, answers as plain JSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use bench::listen;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::{InputResponses, RequestState};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, InputRequest, InputRequiredResult, RequestStateCodec, SealOptions,
};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Message {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

#[derive(Clone)]
struct Server {
    router: Arc<ToolRouter<Self>>,
    codec: Arc<RequestStateCodec>,
}

#[tool_router]
impl Server {
    #[tool(description = "Says the message again")]
    async fn echo(&self, Parameters(args): Parameters<Message>) -> String {
        args.message
    }

    #[tool(description = "Asks for a name first")]
    async fn ask(
        &self,
        Parameters(args): Parameters<Message>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        self.play(args, "What is your name?", state, responses)
    }

    #[tool(description = "Asks for a name first, with the message in its question")]
    async fn ask_about(
        &self,
        Parameters(args): Parameters<Message>,
        RequestState(state): RequestState,
        InputResponses(responses): InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = format!("What is your name, for {}?", args.message);
        self.play(args, &question, state, responses)
    }
}

impl Server {
    fn play(
        &self,
        args: Message,
        text: &str,
        state: Option<String>,
        responses: Option<rmcp::model::InputResponses>,
    ) -> Result<CallToolResponse, ErrorData> {
        let bound = SealOptions::new().associated_data(args.message.as_bytes());
        let Some(state) = state else {
            let sealed = self
                .codec
                .seal_with(&STATE, &bound.ttl(std::time::Duration::from_secs(3600)));
            return Ok(InputRequiredResult::new(Some(question(text)?), Some(sealed)).into());
        };
        let invalid = || ErrorData::invalid_params("Invalid or expired requestState", None);
        let opened = self
            .codec
            .open_with(&state, args.message.as_bytes())
            .map_err(|_| invalid())?;
        if opened != STATE {
            return Err(invalid());
        }
        let answer = responses.and_then(|mut all| all.remove("name"));
        let content =
            answer.and_then(|mut one| one.get_mut("content").map(serde_json::Value::take));
        let person: Person = content
            .and_then(|content| serde_json::from_value(content).ok())
            .ok_or_else(invalid)?;
        let text = format!("{}, {}", args.message, person.name);
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Server {}

fn question(text: &str) -> Result<BTreeMap<String, InputRequest>, ErrorData> {
    let schema = ElicitationSchema::from_type::<Person>()
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let params = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: text.into(),
        requested_schema: schema,
    };
    let request = InputRequest::Elicitation(ElicitRequest::new(params));
    Ok(BTreeMap::from([("name".into(), request)]))
}

const STATE: [u8; 200] = [7; 200];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = Server {
        router: Arc::new(Server::tool_router()),
        codec: Arc::new(RequestStateCodec::try_new([9; 32])?),
    };
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    let router = Router::new().nest_service("/mcp", service);
    axum::serve(listen()?, router)
        .with_graceful_shutdown(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}
