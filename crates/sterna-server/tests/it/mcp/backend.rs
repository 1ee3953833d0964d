//! A backend in place of a catalog: what it offers depends on who asks, and what
//! it answers goes out as it is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_protocol::completion::{
    CompleteResult, Completion, CompletionArgument, CompletionContext, CompletionReference,
};
use sterna_protocol::elicitation::{ElicitRequestFormParams, FormSchema, StringSchema};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_protocol::jsonrpc::{ErrorCode, ErrorObject};
use sterna_protocol::prompt::{GetPromptResult, Prompt, PromptArgument};
use sterna_protocol::resource::{
    ReadResourceResult, ResourceContents, ResourceTemplate, TextResourceContents,
};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::{CallToolResult, ObjectSchema, Tool};
use sterna_server::auth::{Gate, StaticTokens};
use sterna_server::{
    Backend, BackendCall, BackendFuture, Cx, RequestError, Server, View, ViewRequest,
};

use super::{Client, accept};
use crate::legacy::Session;

/// Offers `greet_…` to each caller, and `form` to clients that show forms.
#[derive(Default)]
struct Personal {
    views: Mutex<Vec<(String, Arc<View>)>>,
    made: Arc<AtomicUsize>,
}

fn tool(name: &str) -> Tool {
    // A member of a later revision.
    let later = json!({"name": name, "inputSchema": {"type": "object"}, "later": [1.0, 2]});
    serde_json::from_value(later).unwrap()
}

impl Backend for Personal {
    fn view(self: Arc<Self>, request: ViewRequest) -> BackendFuture<Arc<View>> {
        let subject = request.caller().principal().subject().unwrap_or("guest");
        let forms = request.capabilities().elicitation.is_some();
        let key = format!("{subject} {forms}");
        let mut views = self.views.lock().unwrap();
        let known = views.iter().find(|(known, _)| *known == key);
        let view = match known {
            Some((_, view)) => Arc::clone(view),
            None => {
                self.made.fetch_add(1, Ordering::SeqCst);
                let mut view = View::new();
                view.tools.push(tool(&format!("greet_{subject}")));
                view.tools.push(tool("echo"));
                view.tools.push(tool("echo"));
                if forms {
                    view.tools.push(Tool::new("form", ObjectSchema::default()));
                }
                let mut prompt = Prompt::new("say");
                prompt.arguments = Some(vec![PromptArgument::new("word")]);
                view.prompts.push(prompt);
                // A form of RFC 6570 that a catalog does not read.
                let template = ResourceTemplate::new("note://{?id*}", "notes");
                view.resource_templates.push(template);
                let dead = serde_json::from_value(json!(["billing"])).unwrap();
                view.meta.insert("com.example/dead", dead);
                let view = Arc::new(view);
                views.push((key, Arc::clone(&view)));
                view
            }
        };
        Box::pin(async move { Ok(view) })
    }

    fn call_tool(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<CallToolResult>> {
        Box::pin(async move {
            match (call.name(), call.state()) {
                ("form", None) => {
                    let form = FormSchema::new().with_required("word", StringSchema::default());
                    let form = ElicitRequestFormParams::new("Which word?", form);
                    let question = InputRequest::elicit(form);
                    let required = InputRequired::asking("word", question);
                    let required = required.with_state(RequestState::new("of upstream"));
                    Ok(Outcome::InputRequired(required))
                }
                ("form", Some(state)) => {
                    let answer = call
                        .answers()
                        .get("word")
                        .map_or("", |answer| answer.as_str());
                    Ok(Outcome::Complete(CallToolResult::text(format!(
                        "{state}: {answer}"
                    ))))
                }
                ("echo", _) => {
                    let arguments = call
                        .arguments()
                        .map_or("none", |arguments| arguments.as_str());
                    Ok(Outcome::Complete(CallToolResult::text(arguments)))
                }
                (name, _) => {
                    let error = ErrorObject::new(ErrorCode(-32055), format!("{name} is asleep"));
                    let mut error = error.with_data(json!({"server": "billing"}));
                    error.extra.insert("later".to_owned(), json!(true));
                    Err(RequestError::of(error))
                }
            }
        })
    }

    fn get_prompt(self: Arc<Self>, call: BackendCall) -> BackendFuture<Outcome<GetPromptResult>> {
        let mut result = GetPromptResult::new(Vec::new());
        result.description = call.arguments().map(|given| given.as_str().to_owned());
        Box::pin(async { Ok(Outcome::Complete(result)) })
    }

    fn read_resource(
        self: Arc<Self>,
        call: BackendCall,
    ) -> BackendFuture<Outcome<ReadResourceResult>> {
        Box::pin(async move {
            if call.name() == "note://none" {
                return Err(RequestError::not_found(call.name()));
            }
            let text = TextResourceContents::new(call.name(), "read");
            let contents = vec![ResourceContents::Text(text)];
            Ok(Outcome::Complete(ReadResourceResult::new(contents)))
        })
    }

    fn complete(
        self: Arc<Self>,
        request: ViewRequest,
        _: CompletionReference,
        argument: CompletionArgument,
        _: Option<CompletionContext>,
    ) -> BackendFuture<CompleteResult> {
        let subject = request.caller().principal().subject();
        let value = format!("{}{}", argument.value, subject.unwrap_or("guest"));
        Box::pin(async { Ok(CompleteResult::new(Completion::new(vec![value]))) })
    }
}

fn server() -> Server {
    Server::new("front", "1").backend(Personal::default())
}

fn guarded() -> Server {
    let long = |token: &str| format!("{token}-0123456789abcdef0123456789abcdef");
    let tokens = format!("{} ann\n{} bob\n", long("ann"), long("bob"));
    server().gate(Gate::guarded(StaticTokens::parse(&tokens).unwrap()))
}

async fn names(client: &Client) -> String {
    let list = client.send("tools/list", json!({})).await.into_result();
    let tools = list["tools"].as_array().unwrap().iter();
    let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    names.join(" ")
}

#[tokio::test]
async fn what_is_offered_depends_on_the_caller_and_on_what_it_declares() {
    let client = Client::of(guarded());
    let (ann, bob) = (
        client.with_token("ann-0123456789abcdef0123456789abcdef"),
        client.with_token("bob-0123456789abcdef0123456789abcdef"),
    );
    assert_eq!(names(&ann).await, "greet_ann echo form");
    assert_eq!(names(&bob).await, "greet_bob echo form");
    let plain = bob.with_capabilities(json!({}));
    assert_eq!(names(&plain).await, "greet_bob echo");
    // The tool of another caller is unknown, and its name is not suggested.
    let params = json!({"name": "greet_ann", "arguments": {}});
    expect![[r#"200 -32602 "Unknown tool `greet_ann`; `tools/list` has those of this server""#]]
        .assert_eq(&bob.send("tools/call", params).await.error());
}

#[tokio::test]
async fn a_session_sees_what_it_declared_when_it_was_opened() {
    let all = json!({"elicitation": {}});
    for (capabilities, expected) in [(all, 3), (json!({}), 2)] {
        let session = Session::none(server())
            .open("2025-11-25", capabilities)
            .await;
        let list = session.send("tools/list", json!({})).await.into_result();
        assert_eq!(list["tools"].as_array().unwrap().len(), expected);
        assert_eq!(list["_meta"], json!({"com.example/dead": ["billing"]}));
    }
}

#[tokio::test]
async fn entries_and_metadata_go_out_as_they_came() {
    let client = Client::of(server());
    let list = client.send("tools/list", json!({})).await.into_result();
    assert_eq!(list["tools"][0]["later"], json!([1.0, 2]));
    assert_eq!(list["_meta"]["com.example/dead"], json!(["billing"]));
    assert_eq!(list["cacheScope"], "private");
    let found = client
        .send("server/discover", json!({}))
        .await
        .into_result();
    let declared = found["capabilities"].as_object().unwrap().keys();
    let declared: Vec<_> = declared.map(String::as_str).collect();
    expect!["tools prompts resources completions logging"].assert_eq(&declared.join(" "));
}

#[tokio::test]
async fn arguments_reach_the_backend_as_they_were_written() {
    let client = Client::of(server());
    let arguments = json!({"big": 10_000_000_000_000_000_000_u64, "nested": [{"a": 1.50}]});
    let result = client.call_tool("echo", arguments.clone()).await;
    assert_eq!(result["content"][0]["text"], arguments.to_string());
    let spaced = r#"{ "big": 123456789012345678901234567890, "twice": 1.0e2 }"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{spaced},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let mut headers = super::headers("2026-07-28", "tools/call");
    headers.insert("mcp-name", "echo".parse().unwrap());
    let reply = super::Reply::read(client.post(headers, body).await).await;
    assert_eq!(reply.into_result()["content"][0]["text"], spaced);
}

#[tokio::test]
async fn an_error_goes_out_as_it_is_and_not_as_the_text_of_a_tool() {
    let client = Client::of(server());
    let params = json!({"name": "greet_guest", "arguments": {}});
    let reply = client.send("tools/call", params.clone()).await;
    let error = json!({
        "code": -32055,
        "message": "greet_guest is asleep",
        "data": {"server": "billing"},
        "later": true,
    });
    assert_eq!(reply.messages[0]["error"], error);
    let session = Session::of(server()).await;
    let reply = session.send("tools/call", params).await;
    assert_eq!(reply.messages.last().unwrap()["error"], error);
}

#[tokio::test]
async fn questions_and_state_take_the_rounds_of_both_eras() {
    let client = Client::of(server());
    let params = json!({"name": "form", "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let state = asked["requestState"].as_str().unwrap();
    assert!(!state.contains("upstream"), "the state is sealed");
    let answers = json!({"word": accept(json!({"word": "tern"})), "unasked": accept(json!({}))});
    let reply = client.retry("tools/call", &params, &asked, answers).await;
    let expected = r#"of upstream: {"action":"accept","content":{"word":"tern"}}"#;
    assert_eq!(reply.into_result()["content"][0]["text"], expected);

    let session = Session::of(server()).await;
    let answers = [accept(json!({"word": "tern"}))];
    let shown = session.play("tools/call", params, &answers).await;
    assert_eq!(
        shown,
        format!("elicitation/create: Which word? -> {expected}")
    );
}

#[tokio::test]
async fn prompts_resources_and_completions_come_from_the_backend() {
    let client = Client::of(server());
    let params = json!({"name": "say", "arguments": {"word": "tern"}});
    let said = client.send("prompts/get", params).await.into_result();
    assert_eq!(said["description"], r#"{"word":"tern"}"#);
    // No list names it.
    let read = client
        .send("resources/read", json!({"uri": "note://7"}))
        .await;
    assert_eq!(read.into_result()["contents"][0]["uri"], "note://7");
    let none = client
        .send("resources/read", json!({"uri": "note://none"}))
        .await;
    assert!(none.error().contains("-32602"), "{}", none.error());
    for reference in [
        json!({"type": "ref/prompt", "name": "say"}),
        json!({"type": "ref/resource", "uri": "note://{?id*}"}),
    ] {
        let params = json!({"ref": reference, "argument": {"name": "word", "value": "by "}});
        let completed = client
            .send("completion/complete", params)
            .await
            .into_result();
        assert_eq!(completed["completion"]["values"], json!(["by guest"]));
    }
}

#[tokio::test]
async fn a_view_that_comes_again_is_not_made_again() {
    let backend = Personal::default();
    let made = Arc::clone(&backend.made);
    let client = Client::of(Server::new("front", "1").backend(backend));
    for _ in 0..5 {
        names(&client).await;
        client.call_tool("echo", json!({})).await;
    }
    assert_eq!(made.load(Ordering::SeqCst), 1);
}

/// A backend whose every method panics.
struct Panics;

impl Backend for Panics {
    fn view(self: Arc<Self>, _: ViewRequest) -> BackendFuture<Arc<View>> {
        Box::pin(async { panic!("no view") })
    }

    fn call_tool(self: Arc<Self>, _: BackendCall) -> BackendFuture<Outcome<CallToolResult>> {
        Box::pin(async { panic!("no call") })
    }

    fn get_prompt(self: Arc<Self>, _: BackendCall) -> BackendFuture<Outcome<GetPromptResult>> {
        Box::pin(async { panic!("no prompt") })
    }

    fn read_resource(
        self: Arc<Self>,
        _: BackendCall,
    ) -> BackendFuture<Outcome<ReadResourceResult>> {
        Box::pin(async { panic!("no resource") })
    }
}

#[tokio::test]
async fn a_backend_that_panics_fails_its_own_request() {
    let client = Client::of(Server::new("front", "1").backend(Panics));
    for _ in 0..2 {
        let reply = client.send("tools/list", json!({})).await;
        assert_eq!(reply.error(), r#"500 -32603 "Internal error""#);
    }
}

#[test]
fn a_server_with_a_backend_has_no_offers_of_its_own() {
    async fn hello(_: Cx<'_>, (): ()) -> &'static str {
        "hello"
    }
    let both = server().tool("hello", "Says hello", hello).build();
    let error = both.unwrap_err().to_string();
    assert!(error.contains("MR0214"), "{error}");
    let error = server().serverless().build().unwrap_err().to_string();
    assert!(error.contains("MR0213"), "{error}");
}

#[tokio::test]
async fn clients_that_listen_hear_of_changed_lists() {
    let service = super::mounted(server()).build().unwrap();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let params = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let mut stream = client.open("subscriptions/listen", params).await;
    let acknowledged: Value = crate::legacy::next(&mut stream).await;
    assert_eq!(
        acknowledged["params"]["notifications"]["toolsListChanged"],
        true
    );
    changes.resources();
    changes.tools();
    let told: Value = crate::legacy::next(&mut stream).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
}
