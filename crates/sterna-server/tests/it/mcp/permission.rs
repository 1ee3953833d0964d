//! Who may use what, checked on every request.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::caching::{CacheScope, Caching};
use sterna_protocol::http::encode_value;
use sterna_protocol::resource::{ReadResourceResult, ResourceContents, TextResourceContents};
use sterna_server::auth::{Gate, ScopePolicy, Scopes, StaticTokens};
use sterna_server::http::{HttpConfig, Rate};
use sterna_server::{CompletionRequest, Cx, Prompt, ResourceTemplate, Server, ServerConfig, Uri};

use super::{CAPABILITIES, Client, VERSION, headers};

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

async fn suggest(_: CompletionRequest) -> Vec<String> {
    vec!["a secret".to_owned()]
}

fn server() -> Server {
    guarded(|policy| policy)
}

fn guarded(and: impl FnOnce(ScopePolicy) -> ScopePolicy) -> Server {
    let guarded = ["secret", "test://secret", "vault://{id}", "vault://7"];
    let policy = ScopePolicy::default().for_calls(move |_, name| match name {
        Some(name) if guarded.contains(&name) => Scopes::parse("secrets"),
        _ => Scopes::none(),
    });
    let tokens = "alice-0123456789 alice secrets\nbob-0123456789 bob\n";
    let tokens = StaticTokens::parse(tokens).unwrap();
    Server::new("guarded", "1")
        .gate(Gate::guarded(tokens).with_scopes(and(policy)))
        .tool("secret", "", tool)
        .tool("open", "", tool)
        .offer(Prompt::new("secret", "", prompt).completing("word", suggest))
        .resource("test://secret", "secret", read)
        .resource("test://open", "open", read)
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

#[tokio::test]
async fn what_not_everybody_may_read_is_private_whatever_its_author_says() {
    let client = Client::of(server()).with_token("alice-0123456789");
    let scope = async |uri: &str| {
        let read = client.send("resources/read", json!({"uri": uri})).await;
        read.into_result()["cacheScope"].clone()
    };
    assert_eq!(scope("test://secret").await, "private");
    assert_eq!(scope("test://open").await, "public");
}

#[tokio::test]
async fn an_operation_is_challenged_with_the_same_scopes_whatever_token_comes() {
    let policy = ScopePolicy::everywhere(Scopes::parse("mcp")).for_calls(|method, name| {
        match (method, name) {
            ("prompts/get", Some("größe")) => Scopes::parse("secrets sizes"),
            _ => Scopes::none(),
        }
    });
    let tokens = "none-0123456789 a\nsome-0123456789 b mcp\nmore-0123456789 c mcp sizes\n";
    let tokens = StaticTokens::parse(tokens).unwrap();
    let server = Server::new("guarded", "1")
        .gate(Gate::guarded(tokens).with_scopes(policy))
        .prompt("größe", "Asks for a size", prompt);
    let client = Client::of(server);
    let mut headers = headers("2026-07-28", "prompts/get");
    headers.insert("mcp-name", encode_value("größe"));
    let meta = json!({VERSION: "2026-07-28", CAPABILITIES: {}});
    let params = json!({"name": "größe", "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": params});
    let tokens = [
        "",
        "wrong",
        "none-0123456789",
        "some-0123456789",
        "more-0123456789",
    ];
    for (token, status) in tokens.into_iter().zip([401, 401, 403, 403, 403]) {
        let mut headers = headers.clone();
        if !token.is_empty() {
            let bearer = format!("Bearer {token}").parse().unwrap();
            headers.insert("authorization", bearer);
        }
        let response = client.post(headers, body.to_string()).await;
        assert_eq!(response.status(), status, "{token}");
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(
            challenge.contains(r#"scope="mcp secrets sizes""#),
            "{challenge}"
        );
    }
}

async fn names(client: &Client, method: &str, member: &str) -> Vec<Value> {
    let listed = client.send(method, json!({})).await.into_result();
    assert_eq!(listed["cacheScope"], "private");
    let items = listed[member].as_array().unwrap().iter();
    items.map(|item| item["name"].clone()).collect()
}

#[tokio::test]
async fn a_policy_that_hides_leaves_out_what_a_caller_may_not_use() {
    let mut config = ServerConfig::default();
    config.caching = Caching::new(60_000, CacheScope::Public);
    let client = Client::of(guarded(ScopePolicy::hiding).config(config));
    let (alice, bob) = (
        client.with_token("alice-0123456789"),
        client.with_token("bob-0123456789"),
    );
    for (method, member, all, some) in [
        ("tools/list", "tools", vec!["secret", "open"], vec!["open"]),
        ("prompts/list", "prompts", vec!["secret"], vec![]),
        (
            "resources/list",
            "resources",
            vec!["secret", "open"],
            vec!["open"],
        ),
        (
            "resources/templates/list",
            "resourceTemplates",
            vec!["vault"],
            vec![],
        ),
    ] {
        assert_eq!(names(&alice, method, member).await, all);
        assert_eq!(names(&bob, method, member).await, some);
    }
}

#[tokio::test]
async fn a_page_of_a_callers_own_list_leads_to_the_next_of_it_and_of_no_other() {
    let mut config = ServerConfig::default();
    config.page = 1;
    let server = guarded(ScopePolicy::hiding).tool("last", "", tool);
    let client = Client::of(server.config(config));
    let (alice, bob) = (
        client.with_token("alice-0123456789"),
        client.with_token("bob-0123456789"),
    );
    let first = bob.send("tools/list", json!({})).await.into_result();
    assert_eq!(first["tools"][0]["name"], "open");
    let next = json!({"cursor": first["nextCursor"]});
    let second = bob.send("tools/list", next.clone()).await.into_result();
    assert_eq!(second["tools"][0]["name"], "last");
    let other = alice.send("tools/list", next).await;
    assert_eq!(
        other.error(),
        r#"400 -32602 "Invalid params: `cursor` is none that this list gave out, or too old; begin again without one""#
    );
}

#[tokio::test]
async fn without_hiding_a_client_sees_what_it_could_step_up_for() {
    let bob = Client::of(server()).with_token("bob-0123456789");
    assert_eq!(names(&bob, "tools/list", "tools").await, ["secret", "open"]);
    let call = bob.open("tools/call", json!({"name": "secret"})).await;
    assert_eq!(call.status(), 403);
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
        let refused = refused.error().replace(name, "none");
        assert_eq!(refused, unknown.error());
    }
}

#[tokio::test]
async fn suggestions_are_limited_in_rate() {
    let mut http = HttpConfig::default();
    http.rates.calls = Some(Rate::new(3, Duration::from_secs(60)));
    let client = Client::of(server().http(http)).with_token("alice-0123456789");
    let params = complete("ref/prompt", "name", "secret", "word");
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let response = client.open("completion/complete", params.clone()).await;
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
}
