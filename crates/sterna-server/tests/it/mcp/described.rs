use expect_test::expect;
use serde_json::{Value, json};
use sterna_protocol::content::Annotations;
use sterna_protocol::implementation::Icon;
use sterna_protocol::json::JsonObject;
use sterna_protocol::tool::ToolAnnotations;
use sterna_server::{Cx, Prompt, Resource, ResourceTemplate, Server, Tool, Uri};

use super::Client;

async fn nothing(_: Cx<'_>, (): ()) {}

async fn say(_: Cx<'_>, (): ()) -> &'static str {
    "said"
}

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

async fn read_any(_: Cx<'_>, _: Value) -> &'static str {
    "read"
}

fn icons() -> Vec<Icon> {
    vec![Icon::new("https://example.com/icon.png")]
}

fn meta() -> JsonObject {
    serde_json::from_value(json!({"com.example/team": "storage"})).unwrap()
}

fn hints<T: serde::de::DeserializeOwned>(hints: Value) -> T {
    serde_json::from_value(hints).unwrap()
}

#[tokio::test]
async fn whatever_an_author_says_of_an_offer_stands_in_its_list() {
    let matters: Annotations = hints(json!({"audience": ["user"], "priority": 0.5}));
    let behaves: ToolAnnotations = hints(json!({"readOnlyHint": true}));
    let client = Client::of(
        Server::new("described", "1")
            .offer(
                Tool::new("t", "A tool", nothing)
                    .title("Tool")
                    .icons(icons())
                    .annotations(behaves)
                    .meta(meta()),
            )
            .offer(
                Prompt::new("p", "A prompt", say)
                    .title("Prompt")
                    .icons(icons())
                    .meta(meta()),
            )
            .offer(
                Resource::new("r://1", "r", read)
                    .title("Resource")
                    .description("A resource")
                    .mime_type("text/plain")
                    .size(5)
                    .icons(icons())
                    .annotations(matters.clone())
                    .meta(meta()),
            )
            .offer(
                ResourceTemplate::new("r://{id}", "rs", read_any)
                    .title("Resources")
                    .description("Some resources")
                    .mime_type("text/plain")
                    .icons(icons())
                    .annotations(matters)
                    .meta(meta()),
            ),
    );
    let mut listed = String::new();
    for (method, list) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let result = client.send(method, json!({})).await.into_result();
        listed += &format!("{}\n", result[list]);
    }
    expect![[r#"
        [{"name":"t","inputSchema":{"type":"object","additionalProperties":false},"title":"Tool","description":"A tool","annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/icon.png"}],"_meta":{"com.example/team":"storage"}}]
        [{"name":"p","title":"Prompt","description":"A prompt","icons":[{"src":"https://example.com/icon.png"}],"_meta":{"com.example/team":"storage"}}]
        [{"uri":"r://1","name":"r","title":"Resource","description":"A resource","mimeType":"text/plain","size":5,"icons":[{"src":"https://example.com/icon.png"}],"annotations":{"audience":["user"],"priority":0.5},"_meta":{"com.example/team":"storage"}}]
        [{"uriTemplate":"r://{id}","name":"rs","title":"Resources","description":"Some resources","mimeType":"text/plain","icons":[{"src":"https://example.com/icon.png"}],"annotations":{"audience":["user"],"priority":0.5},"_meta":{"com.example/team":"storage"}}]
    "#]]
    .assert_eq(&listed);
}
