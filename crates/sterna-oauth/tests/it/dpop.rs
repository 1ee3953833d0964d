//! Tokens that are bound to a key (RFC 9449).

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{Config, Dpop};

use crate::world::{World, user};

#[tokio::test]
async fn a_server_that_asks_for_it_gets_a_fresh_proof_with_each_request() {
    let world = bound_world().await;
    let oauth = world.user();
    // The MCP server refuses a proof it has seen before.
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /register {"application_type":"native","client_name":"Test","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:9/callback"],"response_types":["code"],"token_endpoint_auth_method":"none"} -> 201
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp dpop_jkt=… -> 302
        as POST /token [proof] grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp DPoP at-3 -> 200
        mcp POST /mcp DPoP at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn nonces_of_both_servers_are_put_into_new_proofs() {
    let world = bound_world().await;
    world.auth.change(|state| state.nonce = Some("as-nonce"));
    world.mcp.change(|rules| rules.nonce = Some("mcp-nonce"));
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /register {"application_type":"native","client_name":"Test","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:9/callback"],"response_types":["code"],"token_endpoint_auth_method":"none"} -> 201
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp dpop_jkt=… -> 302
        as POST /token [proof] grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 400
        as POST /token [proof] grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp DPoP at-3 -> 200
    "#]]);
    // What was learned is used at once.
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp DPoP at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn a_nonce_may_change_at_any_time() {
    let world = bound_world().await;
    world.mcp.change(|rules| rules.nonce = Some("one"));
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.mcp.change(|rules| rules.nonce = Some("two"));
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp DPoP at-3 -> 401
        mcp POST /mcp DPoP at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn a_server_that_only_sends_nonces_is_given_up() {
    let world = bound_world().await;
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    let uri = world.mcp.url().parse().unwrap();
    let mut attempt = oauth.attempt();
    let mut nonces = 0;
    let error = loop {
        attempt.authorize(&http::Method::POST, &uri).await.unwrap();
        nonces += 1;
        assert!(nonces < 10, "the client asks for nonces without end");
        let mut headers = http::HeaderMap::new();
        headers.insert(
            "www-authenticate",
            "DPoP error=use_dpop_nonce".parse().unwrap(),
        );
        headers.insert("dpop-nonce", format!("n{nonces}").parse().unwrap());
        if let Err(error) = attempt
            .review(http::StatusCode::UNAUTHORIZED, &headers)
            .await
        {
            break error;
        }
    };
    expect![
        "request: the server asks for a new DPoP nonce every time; report it to the server's operator"
    ]
    .assert_eq(&error.to_string());
    assert_eq!(nonces, 4);
}

#[tokio::test]
async fn a_token_endpoint_that_only_sends_nonces_is_given_up() {
    let world = bound_world().await;
    world.auth.change(|state| {
        state.nonce = Some("n");
        state.token_error = Some((400, "use_dpop_nonce"));
    });
    expect!["Denied token request: the authorization server refused: use_dpop_nonce (because use_dpop_nonce); see the authorization server's message, then try again"].assert_eq(&world.outcome(&world.user()).await);
    assert_eq!(world.log.count("/token"), 2);
}

#[tokio::test]
async fn a_renewed_token_is_bound_to_the_same_key_also_after_a_restart() {
    let world = bound_world().await;
    world.auth.change(|state| {
        state.issues_refresh_tokens = true;
        state.token = json!({"expires_in": 0});
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    // The authorization server refuses a refresh that another key proves.
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("/authorize"), 1);
    assert_eq!(world.log.count("grant_type=refresh_token"), 2);
}

#[tokio::test]
async fn a_bearer_token_in_place_of_a_bound_one_is_refused() {
    let world = bound_world().await;
    world
        .auth
        .change(|state| state.token = json!({"token_type": "Bearer"}));
    expect!["Peer token request: the token is not bound to our key, although that was asked for; report it to the server's operator"].assert_eq(&world.outcome(&world.user()).await);
    assert_eq!(world.log.count("mcp POST /mcp Bearer"), 0);
}

#[tokio::test]
async fn a_server_that_does_not_ask_gets_bearer_tokens() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata = json!({"dpop_signing_alg_values_supported": ["ES256"]}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("[proof]"), 0);
}

#[tokio::test]
async fn a_server_may_ask_in_its_metadata() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata = json!({"dpop_signing_alg_values_supported": ["ES256"]}));
    world
        .mcp
        .change(|rules| rules.metadata = json!({"dpop_bound_access_tokens_required": true}));
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("[proof]"), 1);
}

#[tokio::test]
async fn what_cannot_be_bound_is_refused_where_it_must_be() {
    let refusal = expect![
        "Peer authorization server metadata: the server wants DPoP tokens, which the authorization server does not issue for ES256; report it to the server's operator"
    ];
    for algorithms in [json!(null), json!([]), json!(["RS256"])] {
        let world = bound_world().await;
        world.auth.change(|state| {
            state.metadata = json!({"dpop_signing_alg_values_supported": algorithms});
        });
        refusal.assert_eq(&world.outcome(&world.user()).await);
    }
}

#[tokio::test]
async fn the_application_decides_whether_to_bind() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata = json!({"dpop_signing_alg_values_supported": ["ES256"]}));
    let with = |dpop| {
        let mut config = Config::default();
        config.dpop = dpop;
        world.builder(user()).config(config).build().unwrap()
    };
    assert_eq!(world.outcome(&with(Dpop::Required)).await, "200");
    assert_eq!(world.log.count("mcp POST /mcp DPoP"), 1);

    let world = bound_world().await;
    let mut config = Config::default();
    config.dpop = Dpop::Never;
    let oauth = world.builder(user()).config(config).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("[proof]"), 0);
}

/// A world whose MCP server asks for bound tokens.
async fn bound_world() -> World {
    let world = World::start().await;
    world.mcp.change(|rules| rules.scheme = "DPoP");
    world
        .auth
        .change(|state| state.metadata = json!({"dpop_signing_alg_values_supported": ["ES256"]}));
    world
}
