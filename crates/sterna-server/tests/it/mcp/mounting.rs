//! A server inside an application that knows its users.

use bytes::Bytes;
use expect_test::expect;
use http::Request;
use http_body_util::Full;
use serde_json::{Value, json};
use sterna_server::auth::{Caller, Principal};
use sterna_server::http::HttpServer;
use sterna_server::{Cx, Mcp, Server, StartError, ToolError};
use tower_service::Service as _;

use super::{CAPABILITIES, Reply, VERSION, accept, headers, keys, show};

/// The application's own idea of a user, as its middleware leaves it.
#[derive(Clone)]
struct User(&'static str);

async fn transfer(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    let subject = cx.caller().principal().subject().map(str::to_owned);
    let amount: u32 = cx.ask("amount", "How much?").await?;
    Ok(format!(
        "{amount} from {}",
        subject.as_deref().unwrap_or("nobody")
    ))
}

fn server() -> Server {
    Server::new("bank", "1")
        .tool("transfer", "", transfer)
        .keys(keys())
}

fn mounted(server: Server) -> HttpServer<Mcp> {
    server.build().unwrap().into_tower().unwrap()
}

/// Calls `transfer` as `user`, with whatever `more` adds to the parameters.
async fn call(http: &HttpServer<Mcp>, user: Option<User>, more: &Value) -> Reply {
    let mut params = json!({"name": "transfer", "arguments": {}, "_meta": {
        VERSION: "2026-07-28",
        CAPABILITIES: {"elicitation": {"form": {}}},
    }});
    for (name, value) in more.as_object().unwrap() {
        params[name] = value.clone();
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let mut request = Request::post("/mcp")
        .body(Full::new(Bytes::from(body.to_string())))
        .unwrap();
    *request.headers_mut() = headers("2026-07-28", "tools/call");
    request
        .headers_mut()
        .insert("mcp-name", "transfer".parse().unwrap());
    if let Some(user) = user {
        request.extensions_mut().insert(user);
    }
    Reply::read(http.clone().call(request).await.unwrap()).await
}

/// Ada begins a call, and each of `users` answers it in turn.
async fn answered_by(http: &HttpServer<Mcp>, users: [Option<User>; 3]) -> String {
    let asked = call(http, Some(User("ada")), &json!({}))
        .await
        .into_result();
    let retry = json!({
        "requestState": asked["requestState"],
        "inputResponses": {"amount": accept(json!({"amount": 7}))},
    });
    let mut shown = String::new();
    for user in users {
        let reply = call(http, user, &retry).await;
        let error = reply.messages.last().unwrap().get("error").is_some();
        shown += &match error {
            true => reply.error(),
            false => show(&reply.into_result()),
        };
        shown.push('\n');
    }
    shown
}

#[tokio::test]
async fn a_state_of_one_user_of_the_application_is_refused_to_another() {
    let expected = expect![[r#"
        400 -32602 "Invalid or expired requestState" {"reason":"invalid_request_state"}
        401 -32600 "an access token is needed: send `Authorization: Bearer <token>`"
        7 from ada
    "#]];
    let users = || [Some(User("bob")), None, Some(User("ada"))];
    let by_extension =
        mounted(server().callers_from_extension(|user: &User| Principal::named("bank", user.0)));
    expected.assert_eq(&answered_by(&by_extension, users()).await);

    let by_closure = mounted(server().callers(|head| {
        let user = head.extensions.get::<User>()?;
        Some(Caller::from(Principal::named("bank", user.0)))
    }));
    expected.assert_eq(&answered_by(&by_closure, users()).await);
}

#[tokio::test]
async fn a_mounted_server_says_who_may_call() {
    let error = server().build().unwrap().into_tower().unwrap_err();
    assert!(matches!(error, StartError::NoGate { address: None }));
    expect![[r#"MR0206: a mounted service may be reached from elsewhere and the server does not say who its callers are: take them from the application's middleware with `Server::callers_from_extension(|user: &User| Principal::named("app", &user.id))`, authenticate them with `Server::gate(Gate::guarded(..))`, or write `Server::anonymous()` if every caller is to be the same anonymous one"#]].assert_eq(&error.to_string());
    let open = mounted(server().anonymous());
    let shown = answered_by(&open, [None, Some(User("bob")), None]).await;
    assert_eq!(shown, "7 from nobody\n".repeat(3));
}
