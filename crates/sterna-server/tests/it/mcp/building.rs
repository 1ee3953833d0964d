use expect_test::{Expect, expect};
use serde_json::json;
use sterna_server::{
    CompletionRequest, Cx, Edit, Prompt, Server, StartError, State, TaskMode, Tool, Uri,
};

async fn nothing(_: Cx<'_>, (): ()) {}

async fn write(_: Cx<'_>, (): ()) -> &'static str {
    ""
}

async fn read(_: Cx<'_>, _: Uri) -> &'static str {
    ""
}

async fn text(_: Cx<'_>, _: String) {}

async fn suggest(_: CompletionRequest) -> Vec<String> {
    Vec::new()
}

#[track_caller]
fn check(server: Server, expected: Expect) {
    let error = server.build().unwrap_err();
    let problems: Vec<_> = error.problems().collect();
    expected.assert_eq(&problems.join("\n"));
}

fn server() -> Server {
    Server::new("building", "1")
}

fn with_schema(schema: serde_json::Value) -> Server {
    let schema = schema.as_object().unwrap().clone();
    server().offer(Tool::new("a", "", nothing).input_schema(schema))
}

#[test]
fn every_mistake_of_an_author_is_listed() {
    check(
        server()
            .tool("a", "", nothing)
            .tool("a", "", nothing)
            .tool("with space", "", nothing)
            .tool("takes_text", "", text)
            .offer(Prompt::new("p", "", write).completing("x", suggest))
            .resource("no-uri", "r", read)
            .resource_template("note://{id}{name}", "t", write),
        expect![[r#"
            the tool `a` is there twice
            the tool `with space` has a name that is not 1 to 128 of A-Z, a-z, 0-9, `_`, `-` and `.`
            the tool `takes_text` takes arguments of type `alloc::string::String`, which is no object
            the prompt `p` completes `x`, which it does not take
            the resource `no-uri` has an address that is no URI
            the resource template `note://{id}{name}` has nothing between `name` and the variable before it"#]],
    );
}

#[test]
fn state_that_is_missing_is_named_with_the_handler_that_takes_it() {
    async fn tool(_: Cx<'_>, _: State<u8>, _: State<Vec<u8>>, (): ()) {}
    async fn page(_: Cx<'_>, _: State<u16>, (): ()) -> &'static str {
        ""
    }
    check(
        server()
            .state(1_u8)
            .tool("deploy", "", tool)
            .prompt("p", "", page)
            .resource("test://r", "r", page)
            .resource_template("note://{id}", "t", page),
        expect![[r#"
            MR0211: the tool `deploy` takes `State<alloc::vec::Vec<u8>>`, and the server has no `alloc::vec::Vec<u8>`: give it one with `Server::state`
            MR0211: the prompt `p` takes `State<u16>`, and the server has no `u16`: give it one with `Server::state`
            MR0211: the resource `test://r` takes `State<u16>`, and the server has no `u16`: give it one with `Server::state`
            MR0211: the resource template `note://{id}` takes `State<u16>`, and the server has no `u16`: give it one with `Server::state`"#]],
    );
    // A server that changes while it runs is checked, too.
    let service = server().dynamic_lists().build().unwrap();
    let edit = Edit::new().offer(Tool::new("deploy", "", tool));
    let error = service.changes().update(edit).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the tool `deploy` takes `State<u8>`"),
        "{text}"
    );
    let server = server().state(1_u8).state(vec![1_u8]);
    assert!(server.tool("deploy", "", tool).build().is_ok());
}

#[test]
fn a_schema_that_is_none_keeps_the_server_from_being_built() {
    check(
        with_schema(json!({"type": "object", "properties": {"x": {"type": "strange"}}})),
        expect![[
            r#"the tool `a` has an input schema that cannot be used: "strange" is not valid under any of the schemas listed in the 'anyOf' keyword"#
        ]],
    );
    check(
        with_schema(json!({"type": "array"})),
        expect![[
            r#"the tool `a` has an input schema that takes no object: the root of the schema must have `"type": "object"`"#
        ]],
    );
    check(
        with_schema(
            json!({"type": "object", "properties": {"x": {"$ref": "https://example.com/x"}}}),
        ),
        expect![
            "the tool `a` has an input schema that cannot be used: Resource 'https://example.com/x' is not present in a registry and retrieving it failed: `resolve-http` feature or a custom resolver is required to resolve external schemas via HTTP"
        ],
    );
    check(
        with_schema(
            json!({"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}),
        ),
        expect![
            "the tool `a` has a bad `x-mcp-header`: the parameter at `/properties/x` is not a string, an integer or a boolean"
        ],
    );
}

#[tokio::test]
async fn a_server_that_could_be_reached_needs_keys_and_a_gate() {
    let bind = || std::net::TcpListener::bind("0.0.0.0:0").unwrap();
    let service = server().tool("a", "", nothing).build().unwrap();
    let error = service.serve_on(bind(), async {}).await.unwrap_err();
    assert!(matches!(error, StartError::NoKeys { address: Some(_) }));
    assert!(error.to_string().contains("sterna keys new"), "{error}");
    let service = server().keys(super::keys()).build().unwrap();
    let error = service.serve_on(bind(), async {}).await.unwrap_err();
    assert!(matches!(error, StartError::NoGate { .. }));
    let error = server().build().unwrap().into_tower().unwrap_err();
    assert!(matches!(error, StartError::NoKeys { address: None }));
}

#[test]
fn a_tool_that_needs_a_store_is_not_built_without() {
    let task = Tool::new("job", "", nothing).task(TaskMode::Optional);
    let effect = Tool::new("pay", "", nothing).requires_store();
    check(
        server().offer(task).offer(effect),
        expect![[r#"
            MR0400: the tool `job` runs as a task, and the server has no store
            MR0401: the tool `pay` requires a store, and the server has none"#]],
    );
}
