//! Servers whose lists change while they run.

use std::sync::atomic::{AtomicU32, Ordering};

use expect_test::expect;
use serde_json::{Value, json};
use sterna_server::{
    AskError, BuildError, Changes, Cx, Edit, Prompt, Resource, ResourceTemplate, Server,
    ServerConfig, Service, TaskMode, Tool, Uri,
};

use super::{Client, accept, mounted};

async fn says(_: Cx<'_>, (): ()) -> &'static str {
    "said"
}

async fn read(_: Cx<'_>, uri: Uri) -> String {
    uri.to_string()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Id {
    id: String,
}

async fn read_one(_: Cx<'_>, args: Id) -> String {
    args.id
}

async fn asks(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
    cx.ask("name", "Name?").await
}

/// Changes the list of tools once more.
pub(crate) fn tools(changes: &Changes) {
    let tool = Tool::new("turned", turn(), says);
    let edit = Edit::new().without_tool("turned").offer(tool);
    changes.update(edit).unwrap();
}

/// Changes the list of prompts once more.
pub(crate) fn prompts(changes: &Changes) {
    let prompt = Prompt::new("turned", turn(), says);
    let edit = Edit::new().without_prompt("turned").offer(prompt);
    changes.update(edit).unwrap();
}

/// Changes the list of resources once more.
pub(crate) fn resources(changes: &Changes) {
    let resource = Resource::new("test://turned", turn(), read);
    let edit = Edit::new()
        .without_resource("test://turned")
        .offer(resource);
    changes.update(edit).unwrap();
}

fn turn() -> String {
    static TURNS: AtomicU32 = AtomicU32::new(0);
    format!("turn {}", TURNS.fetch_add(1, Ordering::Relaxed))
}

fn service() -> Service {
    let server = Server::new("changing", "1")
        .tool("asks", "Asks", asks)
        .dynamic_lists();
    mounted(server).build().unwrap()
}

async fn listed(client: &Client, method: &str, member: &str, name: &str) -> Vec<Value> {
    let result = client.send(method, json!({})).await.into_result();
    let items = result[member].as_array().unwrap().iter();
    items.map(|item| item[name].clone()).collect()
}

#[tokio::test]
async fn what_is_added_can_be_used_and_what_is_removed_is_unknown() {
    let service = service();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let edit = Edit::new()
        .offer(Tool::new("says", "Says", says))
        .offer(Prompt::new("greets", "Greets", says))
        .offer(Resource::new("test://a", "a", read))
        .offer(ResourceTemplate::new("note://{id}", "note", read_one))
        .without_tool("asks");
    changes.update(edit).unwrap();
    for (method, member, name, expected) in [
        ("tools/list", "tools", "name", "says"),
        ("prompts/list", "prompts", "name", "greets"),
        ("resources/list", "resources", "uri", "test://a"),
        (
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
            "note://{id}",
        ),
    ] {
        assert_eq!(listed(&client, method, member, name).await, [expected]);
    }
    let calls = [
        ("tools/call", json!({"name": "says"})),
        ("prompts/get", json!({"name": "greets"})),
        ("resources/read", json!({"uri": "test://a"})),
        ("resources/read", json!({"uri": "note://7"})),
    ];
    for (method, params) in calls.clone() {
        let result = client.send(method, params).await.into_result();
        assert_eq!(result["resultType"], "complete", "{method}");
    }
    let gone = client.send("tools/call", json!({"name": "asks"})).await;
    assert_eq!(gone.messages[0]["error"]["code"], -32602);
    let edit = Edit::new()
        .without_tool("says")
        .without_prompt("greets")
        .without_resource("test://a")
        .without_resource_template("note://{id}");
    changes.update(edit).unwrap();
    for (method, params) in calls {
        let reply = client.send(method, params).await;
        assert_eq!(reply.messages[0]["error"]["code"], -32602, "{method}");
    }
    assert!(
        listed(&client, "tools/list", "tools", "name")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn an_edit_that_is_wrong_changes_nothing_and_says_all_that_is_wrong() {
    let service = service();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let edit = Edit::new()
        .offer(Tool::new("fine", "", says))
        .offer(Tool::new("asks", "", says))
        .offer(Tool::new("not a name", "", says))
        .offer(Tool::new("later", "", says).task(TaskMode::Always));
    let error = changes.update(edit).unwrap_err();
    expect![[r#"MR0207: the server cannot be changed: the tool `asks` is there twice; the tool `not a name` has a name that is not 1 to 128 of A-Z, a-z, 0-9, `_`, `-` and `.`; MR0400: the tool `later` runs as a task, and the server has no store"#]]
        .assert_eq(&error.to_string());
    let names = listed(&client, "tools/list", "tools", "name").await;
    assert_eq!(names, ["asks"]);
}

#[test]
fn a_server_that_was_not_built_to_change_does_not() {
    let service = Server::new("fixed", "1").build().unwrap();
    let error: BuildError = service.changes().update(Edit::new()).unwrap_err();
    expect!["MR0207: the server cannot be changed: it was built without `Server::dynamic_lists`"]
        .assert_eq(&error.to_string());
}

#[test]
fn what_outlives_its_server_changes_nothing() {
    let changes = service().changes().clone();
    changes.update(Edit::new().without_tool("asks")).unwrap();
}

#[tokio::test]
async fn a_server_that_changes_declares_what_may_come() {
    let server = Server::new("empty", "1").dynamic_lists();
    let client = Client::of(server);
    let found = client.send("server/discover", json!({})).await;
    expect![[r#"{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}}"#]]
        .assert_eq(&found.into_result()["capabilities"].to_string());
    assert!(
        listed(&client, "tools/list", "tools", "name")
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn a_cursor_is_good_for_as_long_as_its_list_is_the_same() {
    let mut config = ServerConfig::default();
    config.page = 1;
    let server = Server::new("pages", "1")
        .tool("one", "", says)
        .tool("two", "", says)
        .config(config)
        .dynamic_lists();
    let service = mounted(server).build().unwrap();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let first = client.send("tools/list", json!({})).await.into_result();
    let params = json!({"cursor": first["nextCursor"]});
    prompts(&changes);
    let second = client.send("tools/list", params.clone()).await;
    assert_eq!(second.into_result()["tools"][0]["name"], "two");
    tools(&changes);
    let second = client.send("tools/list", params).await;
    assert_eq!(
        second.error(),
        r#"400 -32602 "Invalid params: `cursor` is none that this list gave out, or too old; begin again without one""#
    );
    let first = client.send("tools/list", json!({})).await.into_result();
    let params = json!({"cursor": first["nextCursor"]});
    let second = client.send("tools/list", params).await.into_result();
    assert_eq!(second["tools"][0]["name"], "two");
}

#[tokio::test]
async fn only_lists_that_are_others_are_announced() {
    let service = service();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let filter = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
    });
    let params = json!({"notifications": filter});
    let mut stream = client.open("subscriptions/listen", params).await;
    super::subscriptions::next(&mut stream).await;
    // The same entry with another handler: no list tells the difference.
    let same = Edit::new()
        .without_tool("asks")
        .offer(Tool::new("asks", "Asks", asks))
        .without_prompt("never there");
    changes.update(same).unwrap();
    let template = ResourceTemplate::new("note://{id}", "note", read_one);
    changes.update(Edit::new().offer(template)).unwrap();
    let heard = super::subscriptions::next(&mut stream).await;
    assert_eq!(heard["method"], "notifications/resources/list_changed");
}

#[tokio::test]
async fn a_flow_goes_on_in_the_tool_that_took_the_place_of_its_own() {
    let service = service();
    let changes = service.changes().clone();
    let client = Client::at(service);
    let params = json!({"name": "asks", "arguments": {}});
    let asked = client
        .send("tools/call", params.clone())
        .await
        .into_result();
    let answers = json!({"name": accept(json!({"name": "Ada"}))});
    let other = Tool::new("asks", "Asks as well", asks);
    changes
        .update(Edit::new().without_tool("asks").offer(other))
        .unwrap();
    let again = client
        .retry("tools/call", &params, &asked, answers.clone())
        .await;
    assert_eq!(super::show(&again.into_result()), "Ada");
    changes.update(Edit::new().without_tool("asks")).unwrap();
    let gone = client.retry("tools/call", &params, &asked, answers).await;
    assert_eq!(gone.messages[0]["error"]["code"], -32602);
}

#[tokio::test]
async fn a_call_ends_with_what_it_began_with() {
    async fn removes_itself(cx: Cx<'_>, (): ()) -> Result<&'static str, AskError> {
        let edit = Edit::new().without_tool("removes_itself");
        cx.request().changes().update(edit).expect("it changes");
        Ok("done")
    }
    let server = Server::new("changing", "1")
        .tool("removes_itself", "Is there once", removes_itself)
        .dynamic_lists();
    let client = Client::of(server);
    let done = client.call_tool("removes_itself", json!({})).await;
    assert_eq!(super::show(&done), "done");
    let params = json!({"name": "removes_itself"});
    let again = client.send("tools/call", params).await;
    assert_eq!(again.messages[0]["error"]["code"], -32602);
}
