//! Who may use what, checked on every request.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::caching::CacheScope;
use sterna_protocol::resource::{ReadResourceResult, ResourceContents, TextResourceContents};
use sterna_server::auth::{Gate, ScopePolicy, Scopes, StaticTokens};
use sterna_server::edge::{EdgeConfig, Rate};
use sterna_server::{Cx, Prompt, ResourceTemplate, Server, Typed, Uri};

use super::Client;

async fn tool(_: Cx<'_>, (): ()) -> &'static str {
    "done"
}

#[derive(Deserialize, JsonSchema)]
struct Word {
    #[expect(dead_code, reason = "nobody reads it")]
    word: Option<String>,
}

async fn prompt(_: Cx<'_>, _: Word) -> &'static str {
    "said"
}

/// Whatever it says about caches, it is checked who reads it.
async fn read(_: Cx<'_>, uri: Uri) -> ReadResourceResult {
    let text = TextResourceContents::new(uri.as_str(), "read");
    let mut result = ReadResourceResult::new(vec![ResourceContents::Text(text)]);
    result.cache_scope = Some(CacheScope::Public);
    result
}

#[derive(Deserialize, JsonSchema)]
struct Id {
    id: String,
}

async fn read_one(_: Cx<'_>, args: Id) -> String {
    args.id
}

async fn suggest(_: Typed) -> Vec<String> {
    vec!["a secret".to_owned()]
}

fn server() -> Server {
    let guarded = ["secret", "test://secret", "vault://{id}", "vault://7"];
    let policy = ScopePolicy::default().for_calls(move |_, name| match name {
        Some(name) if guarded.contains(&name) => Scopes::parse("secrets"),
        _ => Scopes::none(),
    });
    let tokens = "alice-0123456789 alice secrets\nbob-0123456789 bob\n";
    let tokens = StaticTokens::parse(tokens).unwrap();
    Server::new("guarded", "1")
        .gate(Gate::guarded(tokens).with_scopes(policy))
        .tool("secret", "", tool)
        .offer(Prompt::new("secret", "", prompt).completing("word", suggest))
        .resource("test://secret", "secret", read)
        .offer(ResourceTemplate::new("vault://{id}", "vault", read_one).completing("id", suggest))
}

#[tokio::test]
async fn permission_is_asked_for_on_every_request_whatever_a_cache_may_keep() {
    let client = Client::of(server());
    let (alice, bob) = (
        client.with_token("alice-0123456789"),
        client.with_token("bob-0123456789"),
    );
    for (method, params) in [
        ("tools/call", json!({"name": "secret"})),
        ("prompts/get", json!({"name": "secret"})),
        ("resources/read", json!({"uri": "test://secret"})),
        ("resources/read", json!({"uri": "vault://7"})),
    ] {
        assert_eq!(bob.open(method, params.clone()).await.status(), 403);
        let result = alice.send(method, params.clone()).await.into_result();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(bob.open(method, params).await.status(), 403);
    }
}

fn complete(kind: &str, member: &str, name: &str, argument: &str) -> Value {
    json!({
        "ref": {"type": kind, member: name},
        "argument": {"name": argument, "value": ""},
    })
}

#[tokio::test]
async fn what_a_caller_may_not_use_is_completed_like_what_there_is_not() {
    let client = Client::of(server());
    let (alice, bob) = (
        client.with_token("alice-0123456789"),
        client.with_token("bob-0123456789"),
    );
    for (kind, member, name, argument) in [
        ("ref/prompt", "name", "secret", "word"),
        ("ref/resource", "uri", "vault://{id}", "id"),
    ] {
        let params = complete(kind, member, name, argument);
        let found = alice.send("completion/complete", params.clone()).await;
        let values = &found.into_result()["completion"]["values"];
        assert_eq!(values, &json!(["a secret"]));
        let refused = bob.send("completion/complete", params).await;
        let none = complete(kind, member, "none", argument);
        let unknown = bob.send("completion/complete", none).await;
        assert_eq!(refused.error(), unknown.error());
    }
}

#[tokio::test]
async fn suggestions_are_limited_in_rate() {
    let mut edge = EdgeConfig::default();
    edge.rates.calls = Some(Rate::new(3, Duration::from_secs(60)));
    let client = Client::of(server().edge(edge)).with_token("alice-0123456789");
    let params = complete("ref/prompt", "name", "secret", "word");
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let response = client.open("completion/complete", params.clone()).await;
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
}
