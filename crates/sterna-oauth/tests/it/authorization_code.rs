//! A user signs in with a browser.

use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{
    AuthorizationCode, BoxError, BoxFuture, ClientMetadata, Config, ErrorKind, Step, UserAgent,
};

use crate::world::{World, user};

#[tokio::test]
async fn a_user_signs_in_once_and_every_request_carries_the_token() {
    let world = World::start().await;
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /register {"application_type":"native","client_name":"Test","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:9/callback"],"response_types":["code"],"token_endpoint_auth_method":"none"} -> 201
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp -> 302
        as POST /token grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-3 -> 200
        mcp POST /mcp Bearer at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn the_resource_is_sent_exactly_as_the_server_writes_it() {
    let world = World::start().await;
    let written = world.mcp.origin().replace("http://", "HTTP://");
    world
        .mcp
        .change(|rules| rules.metadata = json!({"resource": written}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count(&format!(" resource={written}")), 2);
}

#[tokio::test]
async fn a_server_without_pkce_is_refused_before_anything_is_sent_to_it() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let world = World::start().await;
        let change = json!({"code_challenge_methods_supported": methods});
        world.auth.change(|state| state.metadata = change);
        expect!["Peer authorization server metadata: {as} does not support PKCE with S256; ask its operator to list S256 in code_challenge_methods_supported"]
            .assert_eq(&world.outcome(&world.user()).await);
        assert_eq!(
            world.log.count("/register") + world.log.count("/authorize"),
            0
        );
    }
}

#[tokio::test]
async fn a_refusal_of_the_user_is_reported_with_its_code() {
    let world = World::start().await;
    let refusal = json!({"code": null, "error": "access_denied"});
    world.auth.change(|state| state.redirect = refusal);
    let error = world.call(&world.user()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    assert_eq!(error.step(), Step::Authorization);
    assert_eq!(error.code(), Some("access_denied"));
    assert_eq!(world.log.count("/token"), 0);
}

#[tokio::test]
async fn redirects_that_are_not_ours_lead_to_no_token_request() {
    let cases = [
        (
            json!({"state": "other"}),
            expect![
                "Peer user authorization: the redirect does not belong to this authorization (`state` differs); do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!({"state": null}),
            expect![
                "Peer user authorization: the redirect does not belong to this authorization (`state` differs); do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!({"iss": "https://evil.example"}),
            expect![
                "Peer user authorization: the redirect names the issuer https://evil.example, expected {as}; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!({"iss": null}),
            expect![
                "Peer user authorization: the redirect does not name its issuer, although {as} always does; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!({"iss": "https://evil.example", "error": "x", "error_description": "Call 555"}),
            expect![
                "Peer user authorization: the redirect names the issuer https://evil.example, expected {as}; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
    ];
    for (redirect, expected) in cases {
        let world = World::start().await;
        world.auth.change(|state| state.redirect = redirect);
        expected.assert_eq(&world.outcome(&world.user()).await);
        assert_eq!(world.log.count("/authorize"), 1);
        assert_eq!(world.log.count("/token"), 0);
    }
}

#[tokio::test]
async fn an_issuer_that_is_not_promised_may_be_absent_but_not_wrong() {
    let unpromised = json!({"authorization_response_iss_parameter_supported": null});
    for (redirect, goes_on) in [
        (json!({"iss": null}), true),
        (json!({}), true),
        (json!({"iss": "https://evil.example"}), false),
    ] {
        let world = World::start().await;
        world.auth.change(|state| {
            state.metadata = unpromised.clone();
            state.redirect = redirect;
        });
        assert_eq!(world.call(&world.user()).await.is_ok(), goes_on);
        assert_eq!(world.log.count("/token") == 1, goes_on);
    }
}

#[tokio::test]
async fn a_user_who_never_comes_back_is_not_waited_for_without_end() {
    let world = World::start().await;
    let mut config = Config::default();
    config.user_timeout = Duration::from_millis(20);
    let absent = AuthorizationCode::new(Agent("http://127.0.0.1:9/callback"))
        .dynamic_registration(ClientMetadata::new("Test"));
    let oauth = world.builder(absent).config(config).build().unwrap();
    expect!["Denied user authorization: the user did not finish in time; try again, or allow more time in the configuration"]
        .assert_eq(&world.outcome(&oauth).await);
}

#[tokio::test]
async fn a_redirect_uri_is_https_or_on_this_machine() {
    for uri in [
        "http://app.example/cb",
        "com.example.app:/cb",
        "https://app.example/cb#x",
        "",
    ] {
        let world = World::start().await;
        let grant =
            AuthorizationCode::new(Agent(uri)).dynamic_registration(ClientMetadata::new("Test"));
        let error = world.call(&world.build(grant)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misuse, "{error}");
        assert_eq!(world.log.count("/register"), 0);
    }
}

#[tokio::test]
async fn a_metadata_document_must_have_a_url_that_can_be_a_client_id() {
    let world = World::start().await;
    for url in [
        "http://app.example/client.json",
        "https://app.example",
        "my-client",
    ] {
        let grant = user().metadata_document(url);
        let error = world.builder(grant).build().unwrap_err();
        assert_eq!(
            (error.kind(), error.step()),
            (ErrorKind::Misuse, Step::Setup)
        );
    }
}

/// Names a redirect URI and then waits for ever.
struct Agent(&'static str);

impl UserAgent for Agent {
    fn redirect_uri(&self) -> BoxFuture<'_, Result<String, BoxError>> {
        Box::pin(async { Ok(self.0.to_owned()) })
    }

    fn visit<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<String, BoxError>> {
        Box::pin(std::future::pending())
    }
}
