//! Every kind of question, of answer and of content.

use expect_test::expect;
use serde_json::{Value, json};
use sterna_protocol::content::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, Role,
};
use sterna_protocol::implementation::Icon;
use sterna_protocol::resource::Resource;
use sterna_server::{AskError, Cx, SamplingRequest, Server};

use super::{Client, accept};

async fn form(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask("form", "Which?").await
}

async fn model(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let said = cx
        .sample("model", SamplingRequest::new("Write.", 9))
        .await?;
    Ok(format!("{} block", said.content.blocks().len()))
}

async fn places(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    let roots = cx.roots("places").await?;
    Ok(format!("{} root", roots.len()))
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let url = "https://example.com/in".parse().expect("a URL");
    cx.ask_url("visit", "Sign in", url).await?;
    Ok("signed in")
}

async fn gallery(_: Cx<'_>, (): ()) -> Vec<ContentBlock> {
    let mut image = ImageContent::new(b"png", "image/png");
    let mut annotations = Annotations::default();
    annotations.audience = Some(vec![Role::User]);
    image.annotations = Some(annotations);
    let mut linked = Resource::new("file:///a.txt", "a");
    linked.icons = Some(vec![Icon::new("https://example.com/a.png")]);
    vec![
        ContentBlock::text("see"),
        image.into(),
        AudioContent::new(b"wav", "audio/wav").into(),
        ResourceLink::new(linked).into(),
        EmbeddedResource::text("note://1", "text/plain", "a note").into(),
    ]
}

fn client() -> Client {
    let server = Server::new("kinds", "1")
        .tool("form", "Asks with a form", form)
        .tool("model", "Asks a model", model)
        .tool("places", "Asks for roots", places)
        .tool("visit", "Sends the user to a page", visit)
        .tool("gallery", "Shows everything", gallery);
    Client::of(server)
}

#[tokio::test]
async fn an_answer_of_another_kind_is_asked_for_again() {
    let sampled = json!({"role": "assistant", "model": "m",
        "content": {"type": "text", "text": "t"}});
    let answers = [
        ("form", accept(json!({"form": "this"}))),
        ("model", sampled),
        ("places", json!({"roots": [{"uri": "file:///srv"}]})),
        ("visit", json!({"action": "accept"})),
    ];
    let mut shown = String::new();
    for (tool, right) in &answers {
        for (kind, wrong) in &answers {
            // A form that is accepted and a visit that is are told apart by nothing but the form's content.
            if tool == kind || (*tool, *kind) == ("visit", "form") {
                continue;
            }
            let again = format!("{tool}~2");
            let rounds = [json!({*tool: wrong}), json!({again: right})];
            let played = client().play(tool, json!({}), &rounds).await;
            shown += &format!("{tool} answered as {kind}: {}\n", played.replace('\n', " "));
        }
    }
    expect![[r#"
        form answered as model: ask {form: Which?} -> ask {form~2: Which?  The last answer was not accepted: it is not of the kind that was asked for.} -> this
        form answered as places: ask {form: Which?} -> ask {form~2: Which?  The last answer was not accepted: it is not of the kind that was asked for.} -> this
        form answered as visit: ask {form: Which?} -> ask {form~2: Which?  The last answer was not accepted: `form` must be filled in.} -> this
        model answered as form: ask {model: sampling/createMessage} -> ask {model~2: sampling/createMessage} -> 1 block
        model answered as places: ask {model: sampling/createMessage} -> ask {model~2: sampling/createMessage} -> 1 block
        model answered as visit: ask {model: sampling/createMessage} -> ask {model~2: sampling/createMessage} -> 1 block
        places answered as form: ask {places: roots/list} -> ask {places~2: roots/list} -> 1 root
        places answered as model: ask {places: roots/list} -> ask {places~2: roots/list} -> 1 root
        places answered as visit: ask {places: roots/list} -> ask {places~2: roots/list} -> 1 root
        visit answered as model: ask {visit: Sign in} -> ask {visit~2: Sign in  The last answer was not accepted: it is not of the kind that was asked for.} -> signed in
        visit answered as places: ask {visit: Sign in} -> ask {visit~2: Sign in  The last answer was not accepted: it is not of the kind that was asked for.} -> signed in
    "#]].assert_eq(&shown);
}

#[tokio::test]
async fn a_visit_is_accepted_declined_or_cancelled() {
    let mut shown = String::new();
    for action in ["accept", "decline", "cancel"] {
        let answer = json!({"visit": {"action": action}});
        shown += &client().play("visit", json!({}), &[answer]).await;
        shown += "\n";
    }
    expect![[r#"
        ask {visit: Sign in} -> signed in
        ask {visit: Sign in} -> error: The user declined.
        ask {visit: Sign in} -> error: The user did not answer.
    "#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn every_kind_of_content_goes_out_as_it_is() {
    let result = client().call_tool("gallery", json!({})).await;
    let content = result["content"].as_array().unwrap();
    let shown: String = content
        .iter()
        .map(|block: &Value| format!("{block}\n"))
        .collect();
    expect![[r#"
        {"type":"text","text":"see"}
        {"type":"image","data":"cG5n","mimeType":"image/png","annotations":{"audience":["user"]}}
        {"type":"audio","data":"d2F2","mimeType":"audio/wav"}
        {"type":"resource_link","uri":"file:///a.txt","name":"a","icons":[{"src":"https://example.com/a.png"}]}
        {"type":"resource","resource":{"uri":"note://1","text":"a note","mimeType":"text/plain"}}
    "#]].assert_eq(&shown);
}
