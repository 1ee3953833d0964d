//! The contract of `examples/interop`, served by the official Rust SDK.
//!
//! ```text
//! $ server
//! listening on http://127.0.0.1:PORT/mcp
//! ```
//!
//! The SDK does not turn one handler's questions into those of the other era,
//! so [`Server::gather`] does it here.
#![allow(deprecated, reason = "sampling and roots are part of the contract")]

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        || Ok(Server),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    let router = axum::Router::new().nest_service("/mcp", service);
    Ok(axum::serve(listener, router).await?)
}

#[derive(Clone)]
struct Server;

/// What a retry brought, in the same shape for the three methods.
struct Retry {
    answers: Option<InputResponses>,
    state: Option<String>,
}

/// Either every answer, or the result that asks for them.
type Gathered = Result<InputResponses, InputRequiredResult>;

impl Server {
    /// Answers to all of `asked`: those of the retry in the modern era, those
    /// of real requests to the client in the older one.
    async fn gather(
        cx: &RequestContext<RoleServer>,
        retry: &Retry,
        asked: InputRequests,
        state: Option<String>,
    ) -> Result<Gathered, ErrorData> {
        if modern(cx) {
            return Ok(match &retry.answers {
                Some(given) if asked.keys().all(|key| given.contains_key(key)) => Ok(given.clone()),
                _ => Err(InputRequiredResult::new(Some(asked), state)),
            });
        }
        let mut answers = InputResponses::new();
        for (key, request) in asked {
            let answer = match request {
                InputRequest::CreateMessage(request) => {
                    to_json(cx.peer.create_message(request.params).await)?
                }
                InputRequest::Elicitation(request) => {
                    to_json(cx.peer.create_elicitation(request.params).await)?
                }
                _ => to_json(cx.peer.list_roots().await)?,
            };
            answers.insert(key, answer);
        }
        Ok(Ok(answers))
    }

    /// The one field of the form `key`.
    async fn field(
        cx: &RequestContext<RoleServer>,
        retry: &Retry,
        key: &str,
        state: Option<String>,
    ) -> Result<Result<Value, InputRequiredResult>, ErrorData> {
        let schema =
            json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]});
        let asked = InputRequests::from([(key.to_owned(), form(schema))]);
        let gathered = Self::gather(cx, retry, asked, state).await?;
        Ok(gathered.map(|mut answers| answers.remove(key).unwrap_or_default()))
    }

    async fn multi(
        cx: &RequestContext<RoleServer>,
        retry: &Retry,
    ) -> Result<CallToolResponse, ErrorData> {
        let profile = form(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "age": {"type": "integer", "minimum": 18, "maximum": 99},
                "newsletter": {"type": "boolean", "default": false},
                "color": {"type": "string", "enum": ["red", "green"]},
            },
            "required": ["name", "age", "color"],
        }));
        let question = SamplingMessage::user_text("What is the capital of France?");
        let script = CreateMessageRequestParams::new(vec![question], 100);
        let capital = InputRequest::CreateMessage(CreateMessageRequest::new(script));
        let roots = InputRequest::ListRoots(ListRootsRequest::default());
        let asked = InputRequests::from([
            ("profile".to_owned(), profile),
            ("capital".to_owned(), capital),
            ("roots".to_owned(), roots),
        ]);
        Ok(match Self::gather(cx, retry, asked, None).await? {
            Err(questions) => questions.into(),
            Ok(answers) => {
                let mut profile = json!({"newsletter": false});
                for (key, value) in answers["profile"]["content"]
                    .as_object()
                    .into_iter()
                    .flatten()
                {
                    profile[key] = value.clone();
                }
                let content = &answers["capital"]["content"];
                let sample = content.get("text").or_else(|| content[0].get("text"));
                let roots = &answers["roots"]["roots"];
                text(json!({"profile": profile, "sample": sample, "roots": roots}).to_string())
            }
        })
    }

    async fn two_rounds(
        cx: &RequestContext<RoleServer>,
        retry: &Retry,
    ) -> Result<CallToolResponse, ErrorData> {
        let first = match &retry.state {
            Some(state) => codec()
                .open_json(state)
                .map_err(|_| ErrorData::invalid_params("Invalid or expired requestState", None))?,
            None => match Self::field(cx, retry, "first", None).await? {
                Ok(answer) => answer["content"]["first"].clone(),
                Err(question) => return Ok(question.into()),
            },
        };
        let state = codec()
            .seal_json(&first)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(match Self::field(cx, retry, "second", Some(state)).await? {
            Err(question) => question.into(),
            Ok(answer) => {
                let second = &answer["content"]["second"];
                text(format!("first={};second={}", plain(&first), plain(second)))
            }
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(
            ServerCapabilities::builder()
                .enable_tools()
                .enable_prompts()
                .enable_resources()
                .build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let nothing = json!({"type": "object"});
        let tools = [
            (
                "echo",
                json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
            ),
            ("ask_name", nothing.clone()),
            ("multi", nothing.clone()),
            ("two_rounds", nothing.clone()),
            (
                "shed",
                json!({"type": "object", "properties": {"times": {"type": "integer"}}}),
            ),
            ("ask_url", nothing),
        ]
        .map(|(name, schema)| Tool::new(name, name, object(schema)));
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let retry = Retry {
            answers: request.input_responses,
            state: request.request_state,
        };
        Ok(match request.name.as_ref() {
            "echo" => text(format!("echo: {}", plain(&arguments["text"]))),
            "ask_name" => match Self::field(&cx, &retry, "name", None).await? {
                Err(question) => question.into(),
                Ok(answer) if answer["action"] == "accept" => {
                    text(format!("Hello, {}!", plain(&answer["content"]["name"])))
                }
                Ok(answer) => text(format!("refused: {}", plain(&answer["action"]))),
            },
            "multi" => Self::multi(&cx, &retry).await?,
            "two_rounds" => Self::two_rounds(&cx, &retry).await?,
            "shed" => {
                let times = arguments["times"].as_u64().unwrap_or(2);
                // The older era has no way to shed a call, so there it is done at once.
                let round = match &retry.state {
                    _ if !modern(&cx) => times,
                    Some(round) => round.parse().unwrap_or(0),
                    None => 0,
                };
                if round < times {
                    InputRequiredResult::from_request_state((round + 1).to_string()).into()
                } else {
                    text(format!("done after {times} shed rounds"))
                }
            }
            "ask_url" => {
                let page = ElicitRequestParams::UrlElicitationParams {
                    meta: None,
                    message: "Please sign in".to_owned(),
                    url: "https://example.com/signin".to_owned(),
                    elicitation_id: "signin".to_owned(),
                };
                let signin = InputRequest::Elicitation(ElicitRequest::new(page));
                let asked = InputRequests::from([("signin".to_owned(), signin)]);
                match Self::gather(&cx, &retry, asked, None).await? {
                    Err(question) => question.into(),
                    Ok(answers) => text(format!("url: {}", plain(&answers["signin"]["action"]))),
                }
            }
            _ => return Err(ErrorData::invalid_params("unknown tool", None)),
        })
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let topic = PromptArgument::new("topic").with_required(true);
        let brief = Prompt::new("brief", Some("Writes a brief"), Some(vec![topic]));
        Ok(ListPromptsResult::with_all_items(vec![brief]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let topic = Value::Object(request.arguments.unwrap_or_default())["topic"].clone();
        let retry = Retry {
            answers: request.input_responses,
            state: request.request_state,
        };
        Ok(match Self::field(&cx, &retry, "audience", None).await? {
            Err(question) => question.into(),
            Ok(answer) => {
                let audience = plain(&answer["content"]["audience"]);
                let text = format!("Brief about {} for {audience}", plain(&topic));
                GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into()
            }
        })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let note = ResourceTemplate::new("note://{id}", "note");
        Ok(ListResourceTemplatesResult::with_all_items(vec![note]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let id = request.uri.trim_start_matches("note://").to_owned();
        let retry = Retry {
            answers: request.input_responses,
            state: request.request_state,
        };
        Ok(match Self::field(&cx, &retry, "pin", None).await? {
            Err(question) => question.into(),
            Ok(answer) => {
                let text = format!(
                    "note {id} unlocked with {}",
                    plain(&answer["content"]["pin"])
                );
                ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into()
            }
        })
    }
}

fn modern(cx: &RequestContext<RoleServer>) -> bool {
    cx.protocol_version() >= Some(ProtocolVersion::V_2026_07_28)
}

fn codec() -> RequestStateCodec {
    RequestStateCodec::new(*b"a key for interop tests, no secret")
}

fn form(schema: Value) -> InputRequest {
    let requested_schema = serde_json::from_value(schema).expect("a schema the SDK can hold");
    InputRequest::Elicitation(ElicitRequest::new(
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: "Please tell".to_owned(),
            requested_schema,
        },
    ))
}

fn text(text: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

fn to_json<T: serde::Serialize, E: std::fmt::Display>(
    answer: Result<T, E>,
) -> Result<Value, ErrorData> {
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
