//! This client against this workspace's own server.

use std::net::TcpListener;

use expect_test::expect;
use sterna_client::{Builder, Client, Duplex, Era, PausedCall, Step};
use sterna_protocol::content::ContentBlock;
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::roots::Root;
use sterna_protocol::tool::CallToolResult;
use sterna_seal::{Key, Keyring, SecretKey, ThreadEntropy};
use sterna_server::{AskError, Cx, RequestError, Server, ToolError, Uri};
use tokio::task::JoinSet;

use super::rounds::text;
use crate::errand::{errand, send};

async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let first: String = cx.ask("first", "First name?").await?;
    let last: String = cx.ask("last", "Last name?").await?;
    Ok(format!("Hello, {first} {last}!"))
}

async fn both(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let (name, roots) = tokio::join!(cx.ask::<String>("name", "Name?"), cx.roots("roots"));
    Ok(format!("{} works on {}", name?, roots?[0].uri))
}

async fn brief(cx: Cx<'_>, (): ()) -> Result<String, RequestError> {
    let audience: String = cx.ask("audience", "For whom?").await?;
    Ok(format!("A brief for {audience}"))
}

async fn note(cx: Cx<'_>, _: Uri) -> Result<String, RequestError> {
    let pin: String = cx.ask("pin", "PIN?").await?;
    Ok(format!("unlocked with {pin}"))
}

fn offers() -> Server {
    Server::new("real", "1")
        .tool("greet", "Greets", greet)
        .tool("both", "Asks two things at once", both)
        .prompt("brief", "Writes a brief", brief)
        .resource("note://1", "note", note)
}

/// A server that lives as long as the set.
pub(super) fn serve(tasks: &mut JoinSet<()>) -> String {
    serve_with(tasks, |server| server)
}

fn serve_with(tasks: &mut JoinSet<()>, prepare: impl FnOnce(Server) -> Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = prepare(offers()).build().unwrap();
    tasks.spawn(async move {
        let forever = std::future::pending();
        server.serve_on(listener, forever).await.unwrap();
    });
    url
}

/// A client that fills in the one field of every form.
pub(super) fn prepared(builder: Builder) -> Builder {
    let filled = builder.on_form(|question| async move {
        let field = question.params.requested_schema.properties.iter().next();
        let field = field.map(|(name, _)| name.to_owned()).unwrap();
        let text = match &*field {
            "first" => "Ada",
            "last" => "Lovelace",
            other => other,
        };
        let content = ElicitContent::from_iter([(field.clone(), text)]);
        Ok(ElicitResult::accept(content))
    });
    filled.roots([Root::new("file:///srv")])
}

/// The contract between both sides over every transport.
async fn contract(client: Client) {
    expect!["Hello, Ada Lovelace!"].assert_eq(text(&client.call("greet").await.unwrap()));
    expect!["name works on file:///srv"].assert_eq(text(&client.call("both").await.unwrap()));
    let brief = client.prompt("brief").await.unwrap();
    match &brief.messages[0].content {
        ContentBlock::Text(said) => expect!["A brief for audience"].assert_eq(&said.text),
        other => panic!("{other:?}"),
    }
    let note = client.read("note://1").await.unwrap();
    let shown = serde_json::to_value(&note.contents[0]).unwrap();
    assert_eq!(shown["text"], "unlocked with pin");
    let tools = client.tools().all().await.unwrap();
    assert_eq!(tools.len(), 2);
}

#[tokio::test]
async fn tools_prompts_and_resources_ask_over_as_many_rounds_as_they_need() {
    let mut tasks = JoinSet::new();
    let url = serve(&mut tasks);
    for era in [Era::Modern, Era::Legacy] {
        let client = prepared(Client::builder(&url)).era(era);
        contract(client.connect().await.unwrap()).await;
    }
}

#[tokio::test]
async fn in_memory_the_same_is_owed_as_over_http() {
    for era in [Era::Modern, Era::Legacy] {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let mut tasks = JoinSet::new();
        let service = offers().build().unwrap();
        tasks.spawn(async move { service.serve_lines(reader, writer).await.unwrap() });
        let (reader, writer) = tokio::io::split(near);
        let client = prepared(Client::builder(Duplex::new("memory", reader, writer))).era(era);
        contract(client.connect().await.unwrap()).await;
    }
}

#[tokio::test]
async fn a_call_is_paused_stored_and_finished_round_by_round() {
    let mut tasks = JoinSet::new();
    let url = serve(&mut tasks);
    let client = Client::connect(&url).await.unwrap();
    let mut step = client.call("greet").start().await.unwrap();
    let mut asked = Vec::new();
    let result = loop {
        let paused = match step {
            Step::Complete(result) => break result,
            Step::InputRequired(paused) => paused,
            other => panic!("{other:?}"),
        };
        let stored = serde_json::to_string(&paused).unwrap();
        let mut paused: PausedCall<CallToolResult> = serde_json::from_str(&stored).unwrap();
        let open: Vec<_> = paused.open().map(|(key, _)| key.to_owned()).collect();
        for key in open {
            let question = serde_json::to_value(paused.questions().get(&key).unwrap()).unwrap();
            let fields = question["params"]["requestedSchema"]["properties"].as_object();
            let field = fields.unwrap().keys().next().unwrap().clone();
            let content = ElicitContent::from_iter([(field, key.as_str())]);
            paused.answer(&key, ElicitResult::accept(content)).unwrap();
            asked.push(key);
        }
        step = paused.resume(&client).await.unwrap();
    };
    assert_eq!(asked, ["first", "last"]);
    expect!["Hello, first last!"].assert_eq(text(&result));
}

#[tokio::test]
async fn a_paused_call_is_resumed_by_another_process_at_another_instance() {
    if let Some(errand) = errand() {
        let (url, stored) = errand.split_once(' ').unwrap();
        let paused: PausedCall<CallToolResult> = serde_json::from_str(stored).unwrap();
        let client = Client::connect(url).await.unwrap();
        let step = paused
            .dangerous_moved_to(url)
            .resume(&client)
            .await
            .unwrap();
        let Step::InputRequired(paused) = step else {
            panic!("{step:?}");
        };
        let open: Vec<_> = paused.open().map(|(key, _)| key).collect();
        assert_eq!(open, ["last"], "the first name was taken");
        return;
    }
    let mut tasks = JoinSet::new();
    let secret = SecretKey::generate(&mut ThreadEntropy).unwrap();
    let keys = || Keyring::new([Key::new(secret.clone())]).unwrap();
    let url = serve_with(&mut tasks, |server| server.keys(keys()));
    let client = Client::connect(&url).await.unwrap();
    let step = client.call("greet").start().await.unwrap();
    let Step::InputRequired(mut paused) = step else {
        panic!("{step:?}");
    };
    let question = serde_json::to_value(paused.questions().get("first").unwrap()).unwrap();
    let fields = question["params"]["requestedSchema"]["properties"].as_object();
    let field = fields.unwrap().keys().next().unwrap().clone();
    let content = ElicitContent::from_iter([(field, "Ada")]);
    paused
        .answer("first", ElicitResult::accept(content))
        .unwrap();
    let stored = serde_json::to_string(&paused).unwrap();

    let other = serve_with(&mut tasks, |server| server.keys(keys()));
    let test = "calls::real::a_paused_call_is_resumed_by_another_process_at_another_instance";
    send(test, &format!("{other} {stored}"), &[]).await;
}
