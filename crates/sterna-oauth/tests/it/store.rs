//! Credentials kept between runs, and the readers who may see them.

use std::sync::Arc;

use expect_test::expect;
use sterna_oauth::{
    BoxError, BoxFuture, CredentialKey, CredentialStore, ErrorKind, OAuth, Secret, Step,
};

use crate::world::{Client, Drawer, Granted, World, user};

#[tokio::test]
async fn the_next_process_goes_on_where_this_one_stopped() {
    let world = World::start().await;
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.log.clear();
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp Bearer at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn what_is_stored_is_this_text() {
    let world = World::start().await;
    world.auth.change(|state| {
        state.issues_refresh_tokens = true;
        state.token = serde_json::json!({"expires_in": null});
    });
    let store = Arc::new(Drawer::default());
    let oauth = world.builder(user()).store(store.clone()).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    let text = world.log.scrub(&store.show());
    expect![[r#"
        client {as}
          {"v":1,"issuer":"{as}","client_id":"client-1","method":"none","redirect_uri":"http://127.0.0.1:9/callback"}
        server {mcp}/mcp
          {"v":1,"url":"{mcp}/mcp","issuer":"{as}","resource":"{mcp}/mcp"}
        tokens {as} {mcp}/mcp
          {"v":1,"issuer":"{as}","resource":"{mcp}/mcp","client_id":"client-1","registered":{"v":1,"issuer":"{as}","client_id":"client-1","method":"none","redirect_uri":"http://127.0.0.1:9/callback"},"access":"at-3","scheme":"Bearer","refresh":"rt-4","requested":[]}
    "#]].assert_eq(&text);
}

#[tokio::test]
async fn what_version_1_stored_can_still_be_read() {
    let world = World::start().await;
    let fill = |text: &str| {
        let text = text.replace("{as}", &world.auth.issuer());
        text.replace("{mcp}", world.mcp.origin())
    };
    let client = Client {
        secret: Some("cs".to_owned()),
        ..Client::default()
    };
    let granted = Granted {
        client: "c".to_owned(),
        resource: world.mcp.url(),
        scope: "a b".to_owned(),
        thumbprint: Some(V1_THUMBPRINT.to_owned()),
        refreshed: false,
    };
    world.auth.change(|state| {
        state.clients.insert("c".to_owned(), client);
        state.remember("stored-at", "stored-rt", granted);
    });
    let store = Arc::new(Drawer::default());
    for (key, value) in V1 {
        store.put(&fill(key), &fill(value));
    }
    let oauth = world.builder(user()).store(store).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.auth.expire_tokens();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp DPoP stored-at -> 200
        mcp POST /mcp DPoP stored-at -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /token [c:cs] [proof] grant_type=refresh_token refresh_token=stored-rt resource={mcp}/mcp -> 200
        mcp POST /mcp DPoP at-1 -> 200
    "#]]);
}

/// Frozen: what version 1 has stored.
const V1: [(&str, &str); 3] = [
    (
        "client {as}",
        r#"{"v":1,"issuer":"{as}","client_id":"c","method":"client_secret_basic","secret":"cs","secret_expires":9999999999,"redirect_uri":"http://127.0.0.1:9/callback"}"#,
    ),
    (
        "server {mcp}/mcp",
        r#"{"v":1,"url":"{mcp}/mcp","issuer":"{as}","resource":"{mcp}/mcp"}"#,
    ),
    (
        "tokens {as} {mcp}/mcp",
        r#"{"v":1,"issuer":"{as}","resource":"{mcp}/mcp","client_id":"c","registered":{"v":1,"issuer":"{as}","client_id":"c","method":"client_secret_basic","secret":"cs","secret_expires":9999999999,"redirect_uri":"http://127.0.0.1:9/callback"},"access":"stored-at","scheme":"DPoP","expires":9999999999,"refresh_at":9999999999,"refresh":"stored-rt","requested":["a","b"],"dpop_key":"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVz4oLVZJ_JxZX9ly5WubJL3ME6ZeB4JcSFc45FHFHquhRANCAASh_c6yXPlse5cmKiNKp_iE4qtTBLr57lTKZ4TWP1k69SDlyiBkm_t-K73PLhQArJJKvkNwGcTXXt53xl42DMzl"}"#,
    ),
];

const V1_THUMBPRINT: &str = "xQEyiw45Vig2sqEC2nJBWK3s-yh2JPzjyDPOOFLoqiA";

#[tokio::test]
async fn what_does_not_belong_together_is_not_believed() {
    let world = World::start().await;
    let store = Arc::new(Drawer::default());
    let oauth = || world.builder(user()).store(store.clone()).build().unwrap();
    assert_eq!(world.outcome(&oauth()).await, "200");
    let kept = store.entries();
    let tokens = kept.keys().find(|key| key.starts_with("tokens")).unwrap();
    let server = kept.keys().find(|key| key.starts_with("server")).unwrap();
    let changes = [
        (tokens, "\"issuer\":\"http:", "\"issuer\":\"https:"),
        (tokens, "\"resource\":\"http:", "\"resource\":\"https:"),
        (tokens, "\"scheme\":\"Bearer\"", "\"scheme\":\"DPoP\""),
        (tokens, "\"v\":1", "\"v\":2"),
        (tokens, "{", "["),
        (server, "\"url\":\"http:", "\"url\":\"https:"),
        (server, "/mcp\",\"issuer\"", "/other\",\"issuer\""),
    ];
    for (key, from, to) in changes {
        store.replace(kept.clone());
        store.put(key, &kept[key].replacen(from, to, 1));
        world.log.clear();
        assert_eq!(world.outcome(&oauth()).await, "200");
        assert_eq!(
            world.log.count("mcp POST /mcp -> 401"),
            1,
            "{from} became {to}"
        );
    }
}

#[tokio::test]
async fn a_token_is_shown_to_its_own_resource_only() {
    let world = World::start().await;
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    let origin = world.mcp.origin();
    let elsewhere = [
        world.auth.issuer(),
        format!("{origin}/other"),
        format!("{origin}/mcp2"),
        format!("{origin}/mcp/../other"),
        "https://evil.example/mcp".to_owned(),
        "/mcp".to_owned(),
    ];
    for uri in elsewhere {
        let uri = uri.parse().unwrap();
        let error = oauth
            .attempt()
            .authorize(&http::Method::POST, &uri)
            .await
            .unwrap_err();
        assert_eq!(
            (error.kind(), error.step()),
            (ErrorKind::Misuse, Step::Request)
        );
    }
    let below = format!("{origin}/mcp/sub?x=1").parse().unwrap();
    let headers = oauth
        .attempt()
        .authorize(&http::Method::GET, &below)
        .await
        .unwrap();
    assert!(headers["authorization"].is_sensitive());
}

#[tokio::test]
async fn to_forget_is_to_start_from_the_beginning() {
    let world = World::start().await;
    let store = Arc::new(Drawer::default());
    let oauth = world.builder(user()).store(store.clone()).build().unwrap();
    assert_eq!(world.outcome(&oauth).await, "200");
    oauth.forget().await.unwrap();
    assert!(!store.show().contains("at-"), "{}", store.show());
    assert!(!store.show().contains("client-"), "{}", store.show());
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("/register"), 2);
}

#[tokio::test]
async fn a_registration_that_got_stuck_can_be_forgotten() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.token_error = Some((400, "server_confused")));
    let oauth = world.user();
    assert!(world.call(&oauth).await.is_err());
    oauth.forget().await.unwrap();
    world.auth.change(|state| state.token_error = None);
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("/register"), 2);
}

#[tokio::test]
async fn a_store_that_fails_is_reported_as_such() {
    struct Broken;
    impl CredentialStore for Broken {
        fn load<'a>(
            &'a self,
            _: &'a CredentialKey,
        ) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
            Box::pin(async { Err("disk on fire".into()) })
        }
        fn save<'a>(
            &'a self,
            _: &'a CredentialKey,
            _: Secret,
        ) -> BoxFuture<'a, Result<(), BoxError>> {
            Box::pin(async { Err("disk on fire".into()) })
        }
        fn remove<'a>(&'a self, _: &'a CredentialKey) -> BoxFuture<'a, Result<(), BoxError>> {
            Box::pin(async { Err("disk on fire".into()) })
        }
    }
    let world = World::start().await;
    let oauth = world
        .builder(user())
        .store(Arc::new(Broken))
        .build()
        .unwrap();
    expect!["Internal credential store: the credential store failed; check the credential store that was configured"].assert_eq(&world.outcome(&oauth).await);
}

#[tokio::test]
async fn nothing_secret_is_printed() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.issues_refresh_tokens = true);
    let oauth: OAuth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    let printed = format!("{oauth:?} {:?} {:?}", oauth.attempt(), world.store);
    assert!(
        !printed.contains("at-") && !printed.contains("rt-"),
        "{printed}"
    );
}
