//! Authorization servers that the application names, and tokens of callers that
//! are traded there.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{
    AssertionSource, BoxError, BoxFuture, ClientAuth, ClientCredentials, ErrorKind, OAuth,
    Registration, Secret, Step, TokenExchange, TokenIssuer,
};

use crate::registration::know;
use crate::world::{TestKey, World};

/// A world in which a gateway is registered, and callers have signed tokens.
async fn world() -> (World, TestKey) {
    let world = World::start().await;
    let key = TestKey::generate();
    know(&world.auth, "gateway", Some("s"));
    world
        .auth
        .change(|state| state.assertion_key = Some(key.public()));
    (world, key)
}

fn endpoint(world: &World) -> TokenIssuer {
    TokenIssuer::at_token_endpoint(format!("{}/token", world.auth.issuer()))
}

fn gateway(issuer: &TokenIssuer) -> Registration {
    Registration::new(issuer.url(), "gateway", ClientAuth::secret("s"))
}

fn exchange(world: &World, subject: impl AssertionSource + 'static) -> OAuth {
    let issuer = endpoint(world);
    let grant = TokenExchange::new(gateway(&issuer), subject);
    world.builder(grant).issuer(issuer).build().unwrap()
}

#[tokio::test]
async fn a_named_issuer_is_asked_before_the_server_is() {
    let (world, _) = world().await;
    let issuer = endpoint(&world);
    let grant = ClientCredentials::new(gateway(&issuer));
    let oauth = world.builder(grant).scopes(["run"]).issuer(issuer);
    let oauth = oauth.build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        as POST /token [gateway:s] grant_type=client_credentials resource={mcp}/mcp scope=run -> 200
        mcp POST /mcp Bearer at-1 -> 200
        mcp POST /mcp Bearer at-1 -> 200
    "#]]);
}

#[tokio::test]
async fn a_named_issuer_may_publish_metadata() {
    let (world, _) = world().await;
    let issuer = TokenIssuer::new(world.auth.issuer());
    let grant = ClientCredentials::new(gateway(&issuer));
    let oauth = world.builder(grant).issuer(issuer).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token [gateway:s] grant_type=client_credentials resource={mcp}/mcp -> 200
        mcp POST /mcp Bearer at-1 -> 200
    "#]]);
}

#[tokio::test]
async fn the_token_of_a_caller_is_traded_and_goes_nowhere_else() {
    let (world, key) = world().await;
    let token = key.sign(&json!({"sub": "ann"}));
    let oauth = exchange(&world, Secret::from(&*token));
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count(&token), 0);
    world.log.check(expect![[r#"
        as POST /token [gateway:s] grant_type=urn:ietf:params:oauth:grant-type:token-exchange resource={mcp}/mcp requested_token_type=urn:ietf:params:oauth:token-type:access_token subject_token=… subject_token_type=urn:ietf:params:oauth:token-type:access_token -> 200
        mcp POST /mcp Bearer at-1 -> 200
    "#]]);
}

#[tokio::test]
async fn an_audience_stands_in_place_of_the_resource() {
    let (world, key) = world().await;
    let issuer = endpoint(&world);
    let subject = Secret::from(key.sign(&json!({"sub": "ann"})));
    let grant = TokenExchange::new(gateway(&issuer), subject).audience(world.mcp.url());
    let oauth = world.builder(grant).issuer(issuer).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("audience={mcp}/mcp"), 1);
    assert_eq!(world.log.count("resource="), 0);
}

#[tokio::test]
async fn the_newest_token_of_a_caller_is_traded_when_the_old_one_ends() {
    #[derive(Default)]
    struct Newest(Mutex<Option<Secret>>);
    impl AssertionSource for Newest {
        fn assertion<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
            let newest = self.0.lock().unwrap().clone();
            Box::pin(async move { newest.ok_or_else(|| "there is none".into()) })
        }
    }
    let (world, key) = world().await;
    world
        .auth
        .change(|state| state.token = json!({"expires_in": 0}));
    let newest = Arc::new(Newest::default());
    let oauth = exchange(&world, Arc::clone(&newest));
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.step()),
        (ErrorKind::Misuse, Step::TokenExchange)
    );
    for number in 1..=2 {
        let token = key.sign(&json!({"sub": "ann", "jti": number}));
        *newest.0.lock().unwrap() = Some(Secret::from(token));
        assert_eq!(world.outcome(&oauth).await, "200");
    }
    *newest.0.lock().unwrap() = Some(Secret::from(TestKey::generate().sign(&json!({}))));
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Denied, Some("invalid_grant"))
    );
}

#[tokio::test]
async fn a_token_that_the_server_refuses_is_traded_once_more_and_then_given_up() {
    let (world, key) = world().await;
    let oauth = exchange(&world, Secret::from(key.sign(&json!({"sub": "ann"}))));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.expire_tokens();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.mcp.change(|rules| rules.refuses_all = true);
    world.log.clear();
    let refused = world.outcome(&oauth).await;
    assert!(refused.contains("has just issued"), "{refused}");
    assert_eq!(world.log.count("as POST /token"), 1);
    assert_eq!(world.log.count("metadata"), 0);
}

#[tokio::test]
async fn an_exchange_needs_an_issuer_and_its_client_is_shown_to_no_other() {
    let (world, key) = world().await;
    let subject = Secret::from(key.sign(&json!({"sub": "ann"})));
    let issuer = endpoint(&world);
    let grant = TokenExchange::new(gateway(&issuer), subject.clone());
    let error = world.builder(grant).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    let elsewhere = Registration::new("https://as.example", "gateway", ClientAuth::secret("s"));
    let oauth = world.builder(TokenExchange::new(elsewhere, subject));
    let oauth = oauth.issuer(issuer).build().unwrap();
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    assert_eq!(world.log.count("as POST"), 0);
}
