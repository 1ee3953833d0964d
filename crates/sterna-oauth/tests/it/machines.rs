//! Clients that need no person: their own credentials, a platform, an enterprise.

use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{
    AssertionSource, BoxError, BoxFuture, ClientAuth, ClientCredentials, EnterpriseManaged,
    ErrorKind, IdentityProvider, Registration, Secret, Step, WorkloadIdentity,
};

use crate::registration::know;
use crate::world::{IdentityServer, TestKey, World};

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

#[tokio::test]
async fn a_client_acts_for_itself() {
    let world = World::start().await;
    know(&world.auth, "robot", Some("s"));
    world
        .mcp
        .change(|rules| rules.challenge_scope = Some("run"));
    // Neither a browser nor PKCE is involved, so neither is demanded.
    world.auth.change(|state| {
        state.metadata = json!({
            "authorization_endpoint": null,
            "code_challenge_methods_supported": null,
        });
    });
    let oauth = world.build(robot(&world));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token [robot:s] grant_type=client_credentials resource={mcp}/mcp scope=run -> 200
        mcp POST /mcp Bearer at-1 -> 200
    "#]]);
}

#[tokio::test]
async fn a_machine_renews_its_token_by_itself() {
    let world = World::start().await;
    know(&world.auth, "robot", Some("s"));
    world
        .auth
        .change(|state| state.token = json!({"expires_in": 0}));
    let oauth = world.build(robot(&world));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        as POST /token [robot:s] grant_type=client_credentials resource={mcp}/mcp -> 200
        mcp POST /mcp Bearer at-2 -> 200
    "#]]);
}

#[tokio::test]
async fn the_credentials_of_a_machine_belong_to_their_issuer() {
    let world = World::start().await;
    let key = TestKey::generate();
    let foreign = || Registration::new("https://as.example", "robot", ClientAuth::secret("s"));
    let provider = IdentityProvider::new("https://idp.example", "app", ClientAuth::none());
    let assertion = key.sign(&json!({}));
    let grants = [
        ClientCredentials::new(foreign()).into(),
        WorkloadIdentity::new(foreign(), Secret::from(&*assertion)).into(),
        EnterpriseManaged::new(foreign(), provider, Secret::from(&*assertion)).into(),
    ];
    let refusal = expect![
        "Misuse client registration: the client is registered with https://as.example, but the server trusts {as}; register with the issuer that the server names, if you trust it, and configure that registration"
    ];
    for grant in grants {
        let grant: sterna_oauth::Grant = grant;
        refusal.assert_eq(&world.outcome(&world.build(grant)).await);
    }
    assert_eq!(world.log.count("as POST"), 0);
}

#[tokio::test]
async fn a_client_may_choose_to_trust_every_issuer() {
    let world = World::start().await;
    know(&world.auth, "robot", Some("s"));
    let registration = Registration::dangerous_any_issuer("robot", ClientAuth::secret("s"));
    let oauth = world.build(ClientCredentials::new(registration));
    assert_eq!(world.outcome(&oauth).await, "200");
}

#[tokio::test]
async fn a_workload_shows_the_assertion_of_its_platform() {
    let world = World::start().await;
    let key = TestKey::generate();
    let issuer = world.auth.issuer();
    world
        .auth
        .change(|state| state.assertion_key = Some(key.public()));
    let assertion = key.sign(&json!({"aud": issuer, "sub": "workload"}));
    // A token read from a file ends in a newline.
    let source = Secret::from(format!("{assertion}\n"));
    let oauth = world.build(WorkloadIdentity::anonymous(issuer, source));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check_matching("POST", "as ", expect![[r#"
        as POST /token grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer resource={mcp}/mcp assertion=… -> 200
    "#]]);
}

#[tokio::test]
async fn a_refused_assertion_is_not_tried_again() {
    let world = World::start().await;
    let assertion = TestKey::generate().sign(&json!({"aud": "https://wrong.example"}));
    let issuer = world.auth.issuer();
    let oauth = world.build(WorkloadIdentity::anonymous(issuer, Secret::from(assertion)));
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(
        (error.step(), error.code()),
        (Step::Token, Some("invalid_grant"))
    );
    assert_eq!(world.log.count("as POST"), 1);
}

#[tokio::test]
async fn an_assertion_is_asked_for_each_time_and_for_the_right_audience() {
    struct Source(AtomicUsize, TestKey);
    impl AssertionSource for Source {
        fn assertion<'a>(&'a self, audience: &'a str) -> BoxFuture<'a, Result<Secret, BoxError>> {
            Box::pin(async move {
                match self.0.fetch_add(1, Ordering::SeqCst) {
                    0 => Ok(Secret::from(self.1.sign(&json!({"aud": audience})))),
                    _ => Err("the platform is gone".into()),
                }
            })
        }
    }
    let world = World::start().await;
    let key = TestKey::generate();
    world.auth.change(|state| {
        state.assertion_key = Some(key.public());
        state.token = json!({"expires_in": 0});
    });
    let issuer = world.auth.issuer();
    let oauth = world.build(WorkloadIdentity::anonymous(
        issuer,
        Source(AtomicUsize::new(0), key),
    ));
    assert_eq!(world.outcome(&oauth).await, "200");
    let error = world.call(&oauth).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Misuse);
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "the platform is gone");
}

#[tokio::test]
async fn an_enterprise_decides_for_its_users() {
    let world = World::start().await;
    let idp = IdentityServer::start(&world.log, ID_JAG).await;
    know(&world.auth, "app", Some("s"));
    world
        .auth
        .change(|state| state.assertion_key = Some(idp.public()));
    world
        .mcp
        .change(|rules| rules.challenge_scope = Some("read"));
    let oauth = world.build(enterprise(&world, &idp));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        idp GET /.well-known/oauth-authorization-server
        idp GET /.well-known/openid-configuration
        idp POST /token grant_type=urn:ietf:params:oauth:grant-type:token-exchange requested_token_type=urn:ietf:params:oauth:token-type:id-jag audience={as} resource={mcp}/mcp scope=read subject_token=… subject_token_type=urn:ietf:params:oauth:token-type:id_token client_id=sso
        as POST /token [app:s] grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer resource={mcp}/mcp scope=read assertion=… -> 200
        mcp POST /mcp Bearer at-1 -> 200
    "#]]);
}

#[tokio::test]
async fn a_provider_may_be_known_by_its_token_endpoint_alone() {
    let world = World::start().await;
    let idp = IdentityServer::start(&world.log, ID_JAG).await;
    know(&world.auth, "app", Some("s"));
    world
        .auth
        .change(|state| state.assertion_key = Some(idp.public()));
    let registration = Registration::new(world.auth.issuer(), "app", ClientAuth::secret("s"));
    let endpoint = format!("{}/token", idp.origin);
    let provider = IdentityProvider::at_token_endpoint(endpoint, "sso", ClientAuth::none());
    let id_token = Secret::from(idp.id_token("sso"));
    let oauth = world.build(EnterpriseManaged::new(registration, provider, id_token));
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("idp GET"), 0);
}

#[tokio::test]
async fn what_an_enterprise_refuses_or_confuses_is_reported() {
    let world = World::start().await;
    let idp = IdentityServer::start(&world.log, "urn:ietf:params:oauth:token-type:jwt").await;
    expect!["Peer token exchange: a token of the type `urn:ietf:params:oauth:token-type:jwt` was issued; report it to the server's operator"].assert_eq(&world.outcome(&world.build(enterprise(&world, &idp))).await);

    let registration = Registration::new(world.auth.issuer(), "app", ClientAuth::secret("s"));
    let provider = IdentityProvider::new(&*idp.origin, "sso", ClientAuth::none());
    let foreign = Secret::from(idp.id_token("another user"));
    let oauth = world.build(EnterpriseManaged::new(registration, provider, foreign));
    expect!["Denied token exchange: the authorization server refused: invalid_grant; see the authorization server's message, then try again"].assert_eq(&world.outcome(&oauth).await);
    assert_eq!(world.log.count("as POST"), 0);
}

fn robot(world: &World) -> ClientCredentials {
    let registration = Registration::new(world.auth.issuer(), "robot", ClientAuth::secret("s"));
    ClientCredentials::new(registration)
}

fn enterprise(world: &World, idp: &IdentityServer) -> EnterpriseManaged {
    let registration = Registration::new(world.auth.issuer(), "app", ClientAuth::secret("s"));
    let provider = IdentityProvider::new(&*idp.origin, "sso", ClientAuth::none());
    EnterpriseManaged::new(registration, provider, Secret::from(idp.id_token("sso")))
}
