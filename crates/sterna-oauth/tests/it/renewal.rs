//! Renewing tokens: once, in time, and without losing what was issued.

use std::sync::Arc;

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{ErrorKind, OAuth, Step};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::world::{Drawer, State, World, user};

#[tokio::test]
async fn a_token_that_has_expired_is_renewed_before_the_request() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-5 -> 200
        as POST /token grant_type=refresh_token refresh_token=rt-6 resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-7 -> 200
    "#]]);
}

#[tokio::test]
async fn a_server_that_does_not_rotate_keeps_its_refresh_token() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.change(|state| state.rotates = false);
    for _ in 0..3 {
        assert_eq!(world.outcome(&oauth).await, "200");
    }
    assert_eq!(world.log.count("grant_type=refresh_token"), 3);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_and_the_request_sent_again() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.issues_refresh_tokens = true);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.expire_tokens();
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp Bearer at-3 -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-5 -> 200
    "#]]);
}

#[tokio::test]
async fn many_requests_share_one_renewal() {
    let world = Arc::new(World::start().await);
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.change(|state| state.token = json!({}));
    let (arrived, go) = close_gate(&world);
    let calls = start_calls(&world, &oauth, 20);
    arrived.notified().await;
    open_gate(&world, &go);
    let outcomes = calls.join_all().await;
    assert!(
        outcomes.iter().all(|outcome| outcome == "200"),
        "{outcomes:?}"
    );
    assert_eq!(world.log.count("grant_type=refresh_token"), 1);
}

#[tokio::test]
async fn many_requests_share_one_sign_in() {
    let world = Arc::new(World::start().await);
    let oauth = world.user();
    let (arrived, go) = close_gate(&world);
    let calls = start_calls(&world, &oauth, 20);
    arrived.notified().await;
    open_gate(&world, &go);
    let outcomes = calls.join_all().await;
    assert!(
        outcomes.iter().all(|outcome| outcome == "200"),
        "{outcomes:?}"
    );
    assert_eq!(world.log.count("/authorize"), 1);
    assert_eq!(world.log.count("/register"), 1);
}

#[tokio::test]
async fn many_requests_share_one_failure() {
    let world = Arc::new(World::start().await);
    let oauth = world.user();
    world
        .auth
        .change(|state| state.token_error = Some((400, "invalid_grant")));
    let (arrived, go) = close_gate(&world);
    // All of them wait for the flow before it is allowed to fail.
    let waiting = Arc::new(tokio::sync::Barrier::new(21));
    let mut calls = JoinSet::new();
    for _ in 0..20 {
        let (oauth, waiting) = (oauth.clone(), waiting.clone());
        calls.spawn(async move {
            let headers = http::HeaderMap::new();
            let mut attempt = oauth.attempt();
            let review = attempt.review(http::StatusCode::UNAUTHORIZED, &headers);
            tokio::pin!(review);
            let pending = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(review.as_mut().poll(cx).is_pending())
            });
            assert!(pending.await, "every caller waits");
            waiting.wait().await;
            review.await.unwrap_err().code().map(str::to_owned)
        });
    }
    waiting.wait().await;
    arrived.notified().await;
    open_gate(&world, &go);
    let codes = calls.join_all().await;
    assert!(
        codes
            .iter()
            .all(|code| code.as_deref() == Some("invalid_grant"))
    );
    assert_eq!(world.log.count("/token"), 1);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_renewal_whose_caller_has_gone_is_not_lost() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    let (arrived, go) = close_gate(&world);
    tokio::select! {
        _ = world.call(&oauth) => unreachable!("the gate is closed"),
        () = arrived.notified() => {}
    }
    world.auth.change(|state| state.token = json!({}));
    open_gate(&world, &go);
    assert_eq!(world.outcome(&oauth).await, "200");
    // The refresh token was used once: a second use would have ended the session.
    assert_eq!(world.log.count("grant_type=refresh_token"), 1);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_refresh_token_that_is_refused_leads_to_a_new_sign_in() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.change(State::revoke);
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 400
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp -> 302
        as POST /token grant_type=authorization_code code=code-5 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-6 -> 200
    "#]]);
}

#[tokio::test]
async fn an_ailing_authorization_server_costs_no_refresh_token() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world
        .auth
        .change(|state| state.token_error = Some((503, "unavailable")));
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.step()),
        (ErrorKind::Unavailable, Step::Refresh)
    );
    world.auth.change(|state| state.token_error = None);
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_token_that_still_lives_is_used_while_its_server_ails() {
    let world = World::start().await;
    let store = nearly_over(&world).await;
    world
        .auth
        .change(|state| state.token_error = Some((503, "unavailable")));
    assert_eq!(world.outcome(&restarted(&world, &store)).await, "200");
    world.auth.change(|state| state.token_error = None);
    assert_eq!(world.outcome(&restarted(&world, &store)).await, "200");
    world.log.check(expect![[r#"
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 503
        mcp POST /mcp Bearer at-3 -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-5 -> 200
    "#]]);
}

#[tokio::test]
async fn a_token_that_still_lives_is_used_while_it_is_being_renewed() {
    let world = World::start().await;
    let store = nearly_over(&world).await;
    let oauth = restarted(&world, &store);
    let (arrived, go) = close_gate(&world);
    let others = async {
        arrived.notified().await;
        assert_eq!(world.outcome(&oauth).await, "200");
        open_gate(&world, &go);
    };
    let (first, ()) = tokio::join!(world.outcome(&oauth), others);
    assert_eq!(first, "200");
    world.log.check(expect![[r#"
        as GET /.well-known/oauth-authorization-server -> 200
        mcp POST /mcp Bearer at-3 -> 200
        as POST /token grant_type=refresh_token refresh_token=rt-4 resource={mcp}/mcp client_id=client-1 -> 200
        mcp POST /mcp Bearer at-5 -> 200
    "#]]);
}

#[tokio::test]
async fn a_token_without_a_refresh_token_is_replaced_when_the_server_asks() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.token = json!({"expires_in": 0}));
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("mcp POST /mcp -> 401"), 1);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_server_that_refuses_a_token_just_issued_is_given_up() {
    let world = World::start().await;
    world.mcp.change(|rules| rules.refuses_all = true);
    let oauth = world.user();
    expect!["Peer request: the server refuses the token that its authorization server has just issued; report it to the server's operator"].assert_eq(&world.outcome(&oauth).await);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn a_server_that_refuses_a_refreshed_token_gets_a_new_grant() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.issues_refresh_tokens = true);
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.expire_tokens();
    world.mcp.change(|rules| rules.refuses_refreshed = true);
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("grant_type=refresh_token"), 1);
    assert_eq!(world.log.count("/authorize"), 1);
}

#[tokio::test]
async fn what_another_process_has_renewed_is_used() {
    let world = World::start().await;
    world.auth.change(short_lived);
    let (one, other) = (world.user(), world.user());
    assert_eq!(world.outcome(&one).await, "200");
    world.auth.change(|state| state.token = json!({}));
    assert_eq!(world.outcome(&other).await, "200");
    assert_eq!(world.outcome(&one).await, "200");
    assert_eq!(world.log.count("grant_type=refresh_token"), 1);
    assert_eq!(world.log.count("/authorize"), 1);
}

/// A store with a token most of whose life has passed, and nothing in the log.
async fn nearly_over(world: &World) -> Arc<Drawer> {
    world
        .auth
        .change(|state| state.issues_refresh_tokens = true);
    let store = Arc::new(Drawer::default());
    assert_eq!(world.outcome(&restarted(world, &store)).await, "200");
    make_due(&store);
    world.log.clear();
    store
}

/// A client that knows only what is in the store.
fn restarted(world: &World, store: &Arc<Drawer>) -> OAuth {
    let builder = world.builder(user()).store(store.clone());
    builder.build().unwrap()
}

/// As if most of the stored token's life had passed.
fn make_due(store: &Drawer) {
    for (key, value) in store.entries() {
        if let Some((before, after)) = value.split_once("\"refresh_at\":") {
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            store.put(&key, &format!("{before}\"refresh_at\":1{after}"));
        }
    }
}

fn short_lived(state: &mut State) {
    state.issues_refresh_tokens = true;
    state.token = json!({"expires_in": 0});
}

fn close_gate(world: &World) -> (Arc<Notify>, Arc<Notify>) {
    let gate = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    world.auth.change(|state| state.gate = Some(gate.clone()));
    gate
}

/// Lets the waiting request go on, and lets later ones through.
fn open_gate(world: &World, go: &Notify) {
    world.auth.change(|state| state.gate = None);
    go.notify_one();
}

fn start_calls(world: &Arc<World>, oauth: &OAuth, number: usize) -> JoinSet<String> {
    let mut calls = JoinSet::new();
    for _ in 0..number {
        let (world, oauth) = (world.clone(), oauth.clone());
        calls.spawn(async move { world.outcome(&oauth).await });
    }
    calls
}
