//! As whom the client appears.

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{
    AuthorizationCode, ClientAuth, ClientMetadata, ErrorKind, Headless, Registration, SigningKey,
    Step,
};

use crate::world::{AuthServer, Client, REDIRECT_URI, TestKey, World, user};

const DOCUMENT: &str = "https://app.example/client.json";

#[tokio::test]
async fn what_was_registered_beforehand_comes_first() {
    let world = World::start().await;
    know(&world.auth, "known", Some("pa:ss wörd"));
    world
        .auth
        .change(|state| state.metadata = json!({"client_id_metadata_document_supported": true}));
    let issuer = world.auth.issuer();
    let registration = Registration::new(issuer, "known", ClientAuth::secret("pa:ss wörd"));
    let grant = user().registered(registration).metadata_document(DOCUMENT);
    assert_eq!(world.outcome(&world.build(grant)).await, "200");
    world.log.check_matching("POST", "as ", expect![[r#"
        as POST /token [known:pa%3Ass+w%C3%B6rd] grant_type=authorization_code code=code-1 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp -> 200
    "#]]);
}

#[tokio::test]
async fn a_metadata_document_comes_second_where_it_is_supported() {
    let world = World::start().await;
    know(&world.auth, DOCUMENT, None);
    world
        .auth
        .change(|state| state.metadata = json!({"client_id_metadata_document_supported": true}));
    let grant = || user().metadata_document(DOCUMENT);
    assert_eq!(world.outcome(&world.build(grant())).await, "200");
    assert_eq!(world.log.count(&format!("client_id={DOCUMENT}")), 2);
    assert_eq!(world.log.count("/register"), 0);

    let world = World::start().await;
    assert_eq!(world.outcome(&world.build(grant())).await, "200");
    assert_eq!(world.log.count("/register"), 1);
}

#[tokio::test]
async fn a_metadata_document_may_name_a_key() {
    let world = World::start().await;
    let key = TestKey::generate();
    let client = Client {
        key: Some(key.public()),
        redirect_uri: REDIRECT_URI.to_owned(),
        secret: None,
    };
    world.auth.change(|state| {
        state.clients.insert(DOCUMENT.to_owned(), client);
        state.metadata = json!({"client_id_metadata_document_supported": true});
    });
    let key = SigningKey::from_pem(&key.pem).unwrap();
    let oauth = world.build(user().keyed_metadata_document(DOCUMENT, key));
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("client_assertion=…"), 1);
}

#[tokio::test]
async fn without_a_way_to_introduce_itself_the_client_says_so() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata = json!({"registration_endpoint": null}));
    expect!["Misuse client registration: this client cannot identify itself: register it, or give it a metadata document, at {as}; configure a registration for this issuer, a metadata document or dynamic registration"].assert_eq(&world.outcome(&world.user()).await);
}

#[tokio::test]
async fn a_registration_is_never_shown_to_another_issuer() {
    let world = World::start().await;
    let elsewhere = Registration::new("https://as.example", "known", ClientAuth::secret("s"));
    let grant = AuthorizationCode::new(Headless::new(REDIRECT_URI)).registered(elsewhere);
    expect!["Misuse client registration: the client is registered with https://as.example, but the server trusts {as}; register with the issuer that the server names, if you trust it, and configure that registration"].assert_eq(&world.outcome(&world.build(grant)).await);
    assert_eq!(
        world.log.count("as POST") + world.log.count("/authorize"),
        0
    );
}

#[tokio::test]
async fn a_refused_registration_says_what_the_server_objects_to() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.registration_error = Some((400, "invalid_redirect_uri")));
    let error = world.call(&world.user()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.step()),
        (ErrorKind::Denied, Step::Registration)
    );
    assert_eq!(error.code(), Some("invalid_redirect_uri"));
}

#[tokio::test]
async fn a_registration_is_kept_for_the_next_sign_in() {
    let world = World::start().await;
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.auth.expire_tokens();
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("/register"), 1);
    assert_eq!(world.log.count("/authorize"), 2);
}

#[tokio::test]
async fn another_redirect_uri_needs_another_registration() {
    let world = World::start().await;
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.auth.expire_tokens();
    let moved = AuthorizationCode::new(Headless::new("http://127.0.0.1:10/callback"))
        .dynamic_registration(ClientMetadata::new("Test"));
    assert_eq!(world.outcome(&world.build(moved)).await, "200");
    assert_eq!(world.log.count("/register"), 2);
}

#[tokio::test]
async fn a_secret_that_has_expired_needs_another_registration() {
    let world = World::start().await;
    world.auth.change(|state| {
        state.metadata = json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]});
        state.registration = json!({"client_secret_expires_at": 1});
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.auth.expire_tokens();
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("/register"), 2);
}

#[tokio::test]
async fn a_server_that_has_forgotten_us_is_introduced_to_us_again() {
    let world = World::start().await;
    world
        .auth
        .change(|state| state.token_error = Some((401, "invalid_client")));
    let error = world.call(&world.user()).await.unwrap_err();
    assert_eq!(error.code(), Some("invalid_client"));
    world.auth.change(|state| state.token_error = None);
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("/register"), 2);
}

#[tokio::test]
async fn a_new_authorization_server_gets_a_registration_of_its_own() {
    let world = World::start().await;
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    let second = AuthServer::start("as2", &world.log).await;
    // So that what the two of them issue can be told apart.
    second.change(|state| state.issued = 100);
    world
        .mcp
        .change(|rules| rules.trusted = vec![second.clone()]);
    world.log.clear();
    assert_eq!(world.outcome(&oauth).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp Bearer at-3 -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 200
        as2 GET /.well-known/oauth-authorization-server -> 200
        as2 POST /register {"application_type":"native","client_name":"Test","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:9/callback"],"response_types":["code"],"token_endpoint_auth_method":"none"} -> 201
        as2 GET /authorize response_type=code client_id=client-101 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp}/mcp -> 302
        as2 POST /token grant_type=authorization_code code=code-102 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp}/mcp client_id=client-101 -> 200
        mcp POST /mcp Bearer at-103 -> 200
    "#]]);
}

#[tokio::test]
async fn a_server_may_give_another_method_than_the_one_asked_for() {
    let world = World::start().await;
    world.auth.change(|state| {
        state.registration = json!({
            "token_endpoint_auth_method": "client_secret_post",
            "client_secret": "given",
        });
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("client_secret=given"), 1);
}

#[tokio::test]
async fn a_registration_that_cannot_be_used_is_refused() {
    let cases = [
        (
            json!({"client_id": null}),
            expect![
                "Peer client registration: `client_id` is not present; report it to the server's operator"
            ],
        ),
        (
            json!({"client_id": 7}),
            expect![
                "Peer client registration: `client_id` is not a string; report it to the server's operator"
            ],
        ),
        (
            json!({"token_endpoint_auth_method": "tls_client_auth"}),
            expect![
                "Peer client registration: none of the methods tls_client_auth can be used to authenticate this client; report it to the server's operator"
            ],
        ),
        (
            json!({"token_endpoint_auth_method": "client_secret_basic"}),
            expect![
                "Peer client registration: the server has issued no secret for the method client_secret_basic; report it to the server's operator"
            ],
        ),
        (
            json!({"client_secret_expires_at": "soon"}),
            expect![
                "Peer client registration: `client_secret_expires_at` is not a number of seconds; report it to the server's operator"
            ],
        ),
    ];
    for (registration, expected) in cases {
        let world = World::start().await;
        world.auth.change(|state| state.registration = registration);
        expected.assert_eq(&world.outcome(&world.user()).await);
        assert_eq!(world.log.count("/authorize"), 0);
    }
}

/// Registers a client beforehand.
pub(crate) fn know(auth: &AuthServer, id: &str, secret: Option<&str>) {
    let client = Client {
        secret: secret.map(str::to_owned),
        redirect_uri: REDIRECT_URI.to_owned(),
        key: None,
    };
    auth.change(|state| _ = state.clients.insert(id.to_owned(), client));
}

#[test]
fn the_document_of_a_client_names_itself_and_where_users_are_sent_back_to() {
    let url = "https://app.example/client.json";
    let uris = ["http://127.0.0.1/callback", "https://app.example/back"];
    let document = ClientMetadata::new("My app").to_document(url, uris);
    assert_eq!(document["client_id"], url);
    assert_eq!(document["client_name"], "My app");
    assert_eq!(document["redirect_uris"], json!(uris));
}
