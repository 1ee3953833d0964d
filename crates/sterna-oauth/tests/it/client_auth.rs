//! Authentication of the client at the token endpoint.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sterna_oauth::{ClientAuth, ClientCredentials, ErrorKind, Registration, SigningKey, Step};

use crate::registration::know;
use crate::world::{Client, TestKey, World};

#[tokio::test]
async fn a_dynamic_client_uses_what_the_server_takes() {
    dynamic(json!(["none"]), expect![[r#"
        as POST /token grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
    "#]]).await;
    dynamic(json!(["client_secret_basic", "none"]), expect![[r#"
        as POST /token grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 -> 200
    "#]]).await;
    dynamic(
        json!(["client_secret_post", "client_secret_basic"]),
        expect![[r#"
            as POST /token [client-1:secret-2] grant_type=authorization_code code=code-3 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp -> 200
        "#]],
    )
    .await;
    dynamic(
        json!(["private_key_jwt", "client_secret_post"]),
        expect![[r#"
            as POST /token grant_type=authorization_code code=code-3 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-1 client_secret=secret-2 -> 200
        "#]],
    )
    .await;
    dynamic(json!(null), expect![[r#"
        as POST /token [client-1:secret-2] grant_type=authorization_code code=code-3 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp -> 200
    "#]]).await;
}

#[tokio::test]
async fn a_server_that_takes_nothing_we_have_is_refused() {
    let world = World::start().await;
    let methods = json!({"token_endpoint_auth_methods_supported": ["tls_client_auth"]});
    world.auth.change(|state| state.metadata = methods);
    expect!["Peer client registration: none of the methods tls_client_auth can be used to authenticate this client; report it to the server's operator"].assert_eq(&world.outcome(&world.user()).await);
    let issuer = world.auth.issuer();
    let client = Registration::new(issuer, "known", ClientAuth::secret("s"));
    let oauth = world.build(ClientCredentials::new(client));
    expect!["Peer token request: none of the methods tls_client_auth can be used to authenticate this client; report it to the server's operator"].assert_eq(&world.outcome(&oauth).await);
    assert_eq!(world.log.count("/token"), 0);
}

#[tokio::test]
async fn a_secret_is_sent_the_way_it_was_configured() {
    known(ClientAuth::secret("s:&=ü"), expect![[r#"
        as POST /token [known:s%3A%26%3D%C3%BC] grant_type=client_credentials resource={mcp}/mcp -> 200
    "#]]).await;
    known(ClientAuth::secret_basic("s:&=ü"), expect![[r#"
        as POST /token [known:s%3A%26%3D%C3%BC] grant_type=client_credentials resource={mcp}/mcp -> 200
    "#]]).await;
    known(ClientAuth::secret_post("s:&=ü"), expect![[r#"
        as POST /token grant_type=client_credentials resource={mcp}/mcp client_id=known client_secret=s:&=ü -> 200
    "#]]).await;
}

#[tokio::test]
async fn a_key_signs_an_assertion_for_the_issuer() {
    let world = World::start().await;
    let key = TestKey::generate();
    let client = Client {
        key: Some(key.public()),
        ..Client::default()
    };
    world
        .auth
        .change(|state| _ = state.clients.insert("known".to_owned(), client));
    let key = SigningKey::from_pem(&key.pem).unwrap().key_id("one");
    let registration = Registration::new(world.auth.issuer(), "known", ClientAuth::key(key));
    let oauth = world.build(ClientCredentials::new(registration));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check_matching("/token", "as ", expect![[r#"
        as POST /token grant_type=client_credentials resource={mcp}/mcp client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer client_assertion=… -> 200
    "#]]);
}

#[tokio::test]
async fn a_key_whose_algorithm_the_server_does_not_know_is_not_used() {
    let world = World::start().await;
    let algorithms = json!({"token_endpoint_auth_signing_alg_values_supported": ["RS256"]});
    world.auth.change(|state| state.metadata = algorithms);
    let key = SigningKey::from_pem(&TestKey::generate().pem).unwrap();
    let registration = Registration::new(world.auth.issuer(), "known", ClientAuth::key(key));
    let oauth = world.build(ClientCredentials::new(registration));
    expect!["Misuse token request: the server knows none of the key's algorithms, only RS256; register a key of an algorithm that the server knows"].assert_eq(&world.outcome(&oauth).await);
}

#[test]
fn a_key_that_is_none_is_refused() {
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let nonsense = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    for pem in ["", "hello", encrypted, nonsense] {
        let error = SigningKey::from_pem(pem).unwrap_err();
        assert_eq!(
            (error.kind(), error.step()),
            (ErrorKind::Misuse, Step::Setup)
        );
    }
}

async fn dynamic(methods: Value, expected: Expect) {
    let world = World::start().await;
    let methods = json!({"token_endpoint_auth_methods_supported": methods});
    world.auth.change(|state| state.metadata = methods);
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.log.check_matching("/token", "as ", expected);
}

async fn known(auth: ClientAuth, expected: Expect) {
    let world = World::start().await;
    know(&world.auth, "known", Some("s:&=ü"));
    let registration = Registration::new(world.auth.issuer(), "known", auth);
    let oauth = world.build(ClientCredentials::new(registration));
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check_matching("/token", "as ", expected);
}
