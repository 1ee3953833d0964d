//! Which scopes are asked for, and when to stop asking.

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{ClientAuth, ClientCredentials, Registration};

use crate::registration::know;
use crate::world::{World, user};

#[tokio::test]
async fn the_scope_of_the_challenge_comes_before_what_the_server_lists() {
    let world = World::start().await;
    world.mcp.change(|rules| {
        rules.challenge_scope = Some("mcp:basic");
        rules.metadata = json!({"scopes_supported": ["mcp:profile"]});
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count(" scope=mcp:basic ->"), 1);
}

#[tokio::test]
async fn without_a_challenged_scope_all_that_is_listed_is_asked_for() {
    let world = World::start().await;
    world
        .mcp
        .change(|rules| rules.metadata = json!({"scopes_supported": ["b", "a"]}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count(" scope=a b ->"), 1);
}

#[tokio::test]
async fn without_any_hint_no_scope_is_sent() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata = json!({"scopes_supported": ["offline_access", "x"]}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count(" scope="), 0);
}

#[tokio::test]
async fn the_application_may_ask_for_less_than_is_listed() {
    let world = World::start().await;
    world
        .mcp
        .change(|rules| rules.metadata = json!({"scopes_supported": ["b", "a"]}));
    let oauth = world.builder(user()).scopes(["a"]).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count(" scope=a ->"), 1);
}

#[tokio::test]
async fn offline_access_is_asked_for_only_where_it_is_known() {
    let world = World::start().await;
    world.mcp.change(|rules| rules.challenge_scope = Some("a"));
    world
        .auth
        .change(|state| state.metadata = json!({"scopes_supported": ["offline_access"]}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(
        world.log.count(" scope=a offline_access prompt=consent ->"),
        1
    );

    let world = World::start().await;
    world
        .mcp
        .change(|rules| rules.challenge_scope = Some("a offline_access"));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count(" scope=a ->"), 1);
}

#[tokio::test]
async fn a_step_up_asks_for_the_new_scope_and_those_before() {
    let world = World::start().await;
    world.mcp.change(|rules| {
        rules.challenge_scope = Some("read");
        rules.metadata = json!({"scopes_supported": ["profile"]});
    });
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.mcp.change(|rules| {
        rules.challenge_scope = Some("write");
        rules.needs_scope = Some("write");
    });
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp Bearer at-3 -> 403
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp scope=read write -> 302
        as POST /token grant_type=authorization_code code=code-4 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-5 -> 200
    "#]]);
}

#[tokio::test]
async fn a_scope_that_was_asked_for_in_vain_is_not_asked_for_again() {
    let world = World::start().await;
    world.mcp.change(|rules| {
        rules.challenge_scope = Some("admin");
        rules.needs_scope = Some("never granted");
    });
    let oauth = world.user();
    let gave_up = expect![
        "Denied request: the server still wants the scope `admin`, which was asked for before; ask for an account or a grant that has it, then sign in again"
    ];
    gave_up.assert_eq(&world.outcome(&oauth).await);
    gave_up.assert_eq(&world.outcome(&oauth).await);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_server_that_asks_for_ever_more_is_given_up() {
    let world = World::start().await;
    world
        .mcp
        .change(|rules| rules.needs_scope = Some("never granted"));
    let mut more = ["a", "b", "c", "d", "e", "f"].into_iter();
    let oauth = world.user();
    let uri = world.mcp.url().parse().unwrap();
    let mut attempt = oauth.attempt();
    let error = loop {
        attempt.authorize(&http::Method::POST, &uri).await.unwrap();
        let challenge = format!(
            "Bearer error=insufficient_scope, scope={}",
            more.next().unwrap()
        );
        let headers = [(http::header::WWW_AUTHENTICATE, challenge.parse().unwrap())];
        let headers = headers.into_iter().collect();
        if let Err(error) = attempt.review(http::StatusCode::FORBIDDEN, &headers).await {
            break error;
        }
    };
    expect!["request: 3 authorizations for one request did not satisfy the server; report it to the server's operator"].assert_eq(&error.to_string());
    assert_eq!(world.log.count("/authorize"), 3);
}

#[tokio::test]
async fn a_server_that_does_not_say_which_scope_it_wants_is_given_up() {
    let world = World::start().await;
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.mcp.change(|rules| rules.needs_scope = Some("secret"));
    expect!["Peer request: the server requires another scope and does not name it; report it to the server's operator"].assert_eq(&world.outcome(&oauth).await);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn other_refusals_of_the_server_are_not_ours() {
    let world = World::start().await;
    let oauth = world.user();
    let mut attempt = oauth.attempt();
    for challenge in [
        "Bearer error=invalid_request",
        "Basic error=insufficient_scope",
        "",
    ] {
        let headers = [(http::header::WWW_AUTHENTICATE, challenge.parse().unwrap())];
        let headers = headers.into_iter().collect();
        let verdict = attempt.review(http::StatusCode::FORBIDDEN, &headers).await;
        assert_eq!(verdict.unwrap(), sterna_oauth::RetryDecision::Deliver);
    }
    world.log.check(expect![[""]]);
}

#[tokio::test]
async fn a_machine_steps_up_as_well() {
    let world = World::start().await;
    know(&world.auth, "known", Some("s"));
    let registration = Registration::new(world.auth.issuer(), "known", ClientAuth::secret("s"));
    let oauth = world.build(ClientCredentials::new(registration));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.mcp.change(|rules| {
        rules.challenge_scope = Some("write");
        rules.needs_scope = Some("write");
    });
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("scope=write"), 1);
}
