//! The errors of a newcomer: each says which place, which value and what to do.

use allocation_counter::measure;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_server::auth::{Gate, ScopePolicy, Scopes, StaticTokens};
use sterna_server::{Answers, AskError, Call, Cx, ResourceTemplate, Server, Tool};

use super::{Client, accept, show};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Deploy {
    service: String,
    #[serde(default)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    replicas: Option<u8>,
    #[serde(default)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    region: Option<Region>,
    #[serde(default)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    hooks: Vec<Hook>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Region {
    Eu,
    Us,
}

#[derive(Deserialize, JsonSchema)]
struct Hook {
    #[expect(dead_code, reason = "only its schema is looked at")]
    url: String,
}

async fn deploy(_: Cx<'_>, args: Deploy) -> String {
    args.service
}

async fn ping(_: Cx<'_>, (): ()) -> &'static str {
    "pong"
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    #[schemars(extend("writeOnly" = true))]
    #[expect(dead_code, reason = "only its schema is looked at")]
    password: u64,
    #[schemars(extend("format" = "password"))]
    #[expect(dead_code, reason = "only its schema is looked at")]
    pin: Option<u64>,
    #[expect(dead_code, reason = "only its schema is looked at")]
    proxy: Option<Proxy>,
}

#[derive(Deserialize, JsonSchema)]
struct Proxy {
    #[schemars(extend("writeOnly" = true))]
    #[expect(dead_code, reason = "only its schema is looked at")]
    token: u64,
}

async fn login(_: Cx<'_>, _: Login) -> &'static str {
    "in"
}

#[derive(Deserialize, JsonSchema)]
struct Brief {
    topic: String,
    #[expect(dead_code, reason = "only its schema is looked at")]
    tone: Option<String>,
}

async fn brief(_: Cx<'_>, args: Brief) -> String {
    args.topic
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[expect(dead_code, reason = "only its schema is looked at")]
    region: Region,
}

async fn ask_region(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    let _: Place = cx.ask("place", "Where?").await?;
    Ok("there")
}

async fn visit(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
    cx.sample("text", "Write").await?;
    Ok("visited")
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    id: String,
}

async fn note(_: Cx<'_>, note: Note) -> String {
    note.id
}

fn server() -> Server {
    Server::new("mistakes", "1")
        .tool("deploy", "Deploys", deploy)
        .tool("ping", "Answers", ping)
        .tool("login", "Logs in", login)
        .tool("ask_region", "Asks", ask_region)
        .tool("visit", "Samples", visit)
        .prompt("brief", "Writes", brief)
        .offer(ResourceTemplate::new("note://{id}", "note", note))
        .resource("clock://now", "clock", clock)
}

async fn clock(_: Cx<'_>, _: sterna_server::Uri) -> &'static str {
    "now"
}

fn client() -> Client {
    Client::of(server())
}

async fn refused(tool: &str, arguments: Value) -> String {
    let shown = show(&client().call_tool(tool, arguments).await);
    let told = shown.strip_prefix("error: The arguments are not valid: ");
    told.unwrap_or_else(|| panic!("{shown}")).to_owned()
}

#[tokio::test]
async fn an_unexpected_argument_is_named_beside_those_that_the_tool_takes() {
    assert_eq!(
        refused("deploy", json!({"service": "a", "replica": 1})).await,
        "unexpected argument `replica`; `deploy` takes `service`, `replicas`, `region` and `hooks`"
    );
    assert_eq!(
        refused("ping", json!({"x": 1})).await,
        "unexpected argument `x`; `ping` takes no arguments"
    );
}

#[tokio::test]
async fn a_missing_argument_is_named() {
    assert_eq!(
        refused("deploy", json!({})).await,
        "missing argument `service`; `deploy` takes `service`, `replicas`, `region` and `hooks`"
    );
    assert_eq!(
        refused("deploy", json!({"service": "a", "hooks": [{}]})).await,
        "`/hooks/0` lacks the member `url`"
    );
    let reply = client().send("prompts/get", json!({"name": "brief"})).await;
    assert_eq!(
        reply.error(),
        r#"400 -32602 "Invalid params: missing argument `topic`; `brief` takes `topic` and `tone`""#
    );
}

#[tokio::test]
async fn a_value_that_breaks_a_rule_is_shown_with_the_rule() {
    for (arguments, expected) in [
        (
            json!({"service": 7}),
            "`service` must be a string, but it is 7",
        ),
        (
            json!({"service": "a", "replicas": "three"}),
            r#"`replicas` must be an integer or null, but it is "three""#,
        ),
        (
            json!({"service": "a", "replicas": 256}),
            "`replicas` must be at most 255, but it is 256",
        ),
        (
            json!({"service": "a", "region": "asia"}),
            r#"`region` must be "eu", "us" or null, but it is "asia""#,
        ),
        (
            json!({"service": "a", "hooks": [{"url": ["u"]}]}),
            "`/hooks/0/url` must be a string, but it is an array",
        ),
    ] {
        assert_eq!(refused("deploy", arguments.clone()).await, expected);
    }
}

/// 4 MiB of argument came back with the error.
#[tokio::test]
async fn a_large_value_does_not_come_back() {
    let large = "x".repeat(3 << 20);
    for (tool, arguments) in [
        ("deploy", json!({"service": "a", "replicas": large})),
        ("deploy", json!({"service": "a", "region": large})),
        ("deploy", json!({"service": {"nested": large}})),
        ("deploy", json!({"service": "a", large.as_str(): 1})),
        (
            "deploy",
            json!({"service": "a", "hooks": [{large.as_str(): 1}]}),
        ),
        ("ping", json!({large.as_str(): 1})),
    ] {
        let told = refused(tool, arguments).await;
        assert!(told.len() < 600, "{} bytes", told.len());
    }
}

#[tokio::test]
async fn a_value_of_a_secret_place_does_not_come_back() {
    for (arguments, expected) in [
        (
            json!({"password": "hunter2"}),
            "`password` must be an integer; its value is secret and not repeated",
        ),
        (
            json!({"password": 1, "pin": "hunter2"}),
            "`pin` must be an integer or null; its value is secret and not repeated",
        ),
        (
            json!({"password": 1, "proxy": {"token": "hunter2"}}),
            "`/proxy/token` must be an integer; its value is secret and not repeated",
        ),
        (
            json!({"password": {"hunter2": "hunter2"}}),
            "`password` must be an integer; its value is secret and not repeated",
        ),
    ] {
        assert_eq!(refused("login", arguments).await, expected);
    }
}

/// The error of a tool with this input schema.
async fn refused_by(mut schema: Value, arguments: Value) -> String {
    schema["type"] = json!("object");
    let Value::Object(schema) = schema else {
        unreachable!("it is written as an object")
    };
    let tool = Tool::low_level("any", "Takes anything", |_: Call, _: Answers| async {
        Err::<Outcome<CallToolResult>, &str>("never called")
    });
    let client = Client::of(Server::new("s", "1").offer(tool.input_schema(schema)));
    show(&client.call_tool("any", arguments).await)
}

#[tokio::test]
async fn a_secret_is_found_behind_every_kind_of_reference() {
    let secret = json!({"type": "integer", "writeOnly": true});
    let anchored = json!({"$anchor": "s", "type": "integer", "writeOnly": true});
    let plain = json!({"a": {"type": "integer"}});
    for schema in [
        json!({"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": secret}}),
        json!({"properties": {"a": {"$ref": "#s"}}, "$defs": {"s": anchored}}),
        json!({"properties": {"a": {"allOf": [secret]}}}),
        json!({"properties": {"a": {"anyOf": [{"type": "null"}, secret]}}}),
        json!({"properties": plain, "allOf": [{"properties": {"a": {"writeOnly": true}}}]}),
        json!({"patternProperties": {"^a$": secret}}),
        json!({"additionalProperties": secret}),
        json!({
            "properties": plain,
            "if": {"required": ["a"]},
            "then": {"properties": {"a": {"format": "password"}}},
        }),
        json!({"properties": plain, "writeOnly": true}),
    ] {
        let told = refused_by(schema.clone(), json!({"a": "hunter2"})).await;
        assert!(told.contains("not valid: `a`"), "{told} by {schema}");
        assert!(!told.contains("hunter2"), "{told} by {schema}");
    }
    let object = json!({"type": "object", "writeOnly": true});
    for rule in [
        json!({"additionalProperties": false}),
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"maxProperties": 0}),
        json!({"propertyNames": {"maxLength": 1}}),
    ] {
        let mut schema = json!({"properties": {"a": object}});
        let rule = rule.as_object().unwrap().clone();
        schema["properties"]["a"]
            .as_object_mut()
            .unwrap()
            .extend(rule);
        let told = refused_by(schema.clone(), json!({"a": {"hunter2": "hunter2"}})).await;
        assert!(told.contains("not valid: "), "{told} by {schema}");
        assert!(!told.contains("hunter2"), "{told} by {schema}");
    }
}

/// One error was put together for each of a million wrong items.
#[test]
fn very_many_wrong_values_cost_no_more_than_one() {
    let hooks = vec![json!(1); 500_000];
    for arguments in [
        json!({"service": "a", "hooks": hooks}),
        json!({"service": "a", "region": hooks}),
    ] {
        let params = json!({"name": "deploy", "arguments": arguments});
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        let client = client();
        let mut told = 0;
        let cost = measure(|| {
            let reply = runtime.block_on(client.send("tools/call", params));
            told = show(&reply.into_result()).len();
        });
        // The arguments themselves, parsed and as text, are some 60 MiB.
        assert!(cost.bytes_max < 96 << 20, "{} MiB", cost.bytes_max >> 20);
        assert!(told < 600, "{told} bytes");
    }
}

#[tokio::test]
async fn an_unknown_name_brings_the_one_that_was_meant() {
    let client = client();
    for (method, params, expected) in [
        (
            "tools/call",
            json!({"name": "depoly"}),
            r#"200 -32602 "Unknown tool `depoly`; did you mean `deploy`?""#,
        ),
        (
            "tools/call",
            json!({"name": "frobnicate"}),
            r#"200 -32602 "Unknown tool `frobnicate`; `tools/list` has those of this server""#,
        ),
        (
            "prompts/get",
            json!({"name": "Brief"}),
            r#"200 -32602 "Unknown prompt `Brief`; did you mean `brief`?""#,
        ),
        (
            "resources/read",
            json!({"uri": "clock://mow"}),
            r#"200 -32602 "Unknown resource `clock://mow`; did you mean `clock://now`?" {"uri":"clock://mow"}"#,
        ),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "breif"}, "argument": {"name": "topic", "value": ""}}),
            r#"404 -32601 "Method not found: `completion/complete`; this server does not offer it""#,
        ),
    ] {
        assert_eq!(client.send(method, params).await.error(), expected);
    }
}

#[tokio::test]
async fn a_name_that_the_caller_may_not_use_is_not_suggested() {
    let policy = ScopePolicy::default().for_calls(|_, name| match name {
        Some("deploy" | "brief" | "clock://now") => Scopes::parse("secrets"),
        _ => Scopes::none(),
    });
    let tokens = "admin-0123456789 admin secrets\nplain-0123456789 plain\n";
    let tokens = StaticTokens::parse(tokens).unwrap();
    let client = Client::of(server().gate(Gate::guarded(tokens).with_scopes(policy)));
    for (method, params) in [
        ("tools/call", json!({"name": "depoly"})),
        ("prompts/get", json!({"name": "breif"})),
        ("resources/read", json!({"uri": "clock://mow"})),
    ] {
        let ann = client.with_token("plain-0123456789");
        let told = ann.send(method, params.clone()).await.error();
        assert!(!told.contains("did you mean"), "{told}");
        let bob = client.with_token("admin-0123456789");
        let told = bob.send(method, params).await.error();
        assert!(told.contains("did you mean"), "{told}");
    }
}

#[tokio::test]
async fn a_capability_that_is_missing_is_named_with_where_to_declare_it() {
    let client = client().with_capabilities(json!({}));
    let reply = client
        .send("tools/call", json!({"name": "ask_region"}))
        .await;
    assert_eq!(
        reply.error(),
        r#"400 -32021 "Missing required client capability `elicitation.form`: declare it in `io.modelcontextprotocol/clientCapabilities` of the request's `_meta`" {"requiredCapabilities":{"elicitation":{"form":{}}}}"#
    );
    let reply = client.send("tools/call", json!({"name": "visit"})).await;
    assert!(
        reply.error().contains("capability `sampling`: declare it"),
        "{}",
        reply.error()
    );
}

#[tokio::test]
async fn an_answer_that_is_none_of_the_choices_is_asked_again_with_them() {
    let played = client()
        .play(
            "ask_region",
            json!({}),
            &[
                json!({"place": accept(json!({"region": "asia"}))}),
                json!({"place~2": accept(json!({}))}),
            ],
        )
        .await;
    assert!(
        played.contains("The last answer was not accepted: `region` must be one of `eu` and `us`."),
        "{played}"
    );
    assert!(
        played.contains("The last answer was not accepted: `region` must be filled in."),
        "{played}"
    );
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_described_without_their_values() {
    let client = client();
    for (method, params, expected) in [
        (
            "tools/call",
            json!({}),
            r#"400 -32602 "Invalid params: missing field `name`""#,
        ),
        (
            "tools/call",
            json!({"name": "ping", "arguments": "hunter2"}),
            r#"400 -32602 "Invalid params: `arguments`: expected an object""#,
        ),
        (
            "tools/list",
            json!({"cursor": "made up"}),
            r#"400 -32602 "Invalid params: `cursor` is none that this list gave out, or too old; begin again without one""#,
        ),
    ] {
        assert_eq!(client.send(method, params).await.error(), expected);
    }
}
