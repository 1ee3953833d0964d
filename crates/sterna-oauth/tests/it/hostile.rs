//! Servers that mean harm: each gets a typed error within bounds.

use std::time::Duration;

use axum::body::Body;
use expect_test::{Expect, expect};
use serde_json::json;
use sterna_oauth::{Config, ErrorKind, OAuth, Step};

use crate::world::{Reply, World, call, serve, user};

#[tokio::test]
async fn a_giant_document_is_not_read_to_its_end() {
    check(
        |path| match path {
            "/mcp" => Reply::status(401),
            _ => Reply::status(200).body(vec![b' '; 10 << 20]),
        },
        expect!["Peer resource metadata: the answer is larger than 262144 bytes; report it to the server's operator"],
    )
    .await;
}

#[tokio::test]
async fn a_document_that_never_ends_is_cut() {
    let url = site(|path| match path {
        "/mcp" => Reply::status(401),
        _ => Reply::status(200).body(endless()),
    })
    .await;
    let error = failure(&url, Config::default()).await;
    assert_eq!(error.kind(), ErrorKind::Peer);
    assert!(
        error.to_string().contains("larger than 262144 bytes"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let pointer = format!("Bearer resource_metadata=\"http://{address}/\"");
    let url = site(move |_| Reply::status(401).with("www-authenticate", pointer.clone())).await;
    let mut config = Config::default();
    config.request_timeout = Duration::from_millis(50);
    let error = failure(&url, config).await;
    assert_eq!(
        (error.kind(), error.step()),
        (ErrorKind::Unavailable, Step::ResourceMetadata)
    );
}

#[tokio::test]
async fn endless_redirects_end() {
    check(
        |path| match path {
            "/mcp" => Reply::status(401),
            path => Reply::redirect(format!("{path}x")),
        },
        expect!["Peer resource metadata: the answer redirects to {other}/.well-known/oauth-protected-resource/mcpxxxx; report it to the server's operator"],
    )
    .await;
}

#[tokio::test]
async fn json_that_is_too_deep_is_refused() {
    check(
        |path| match path {
            "/mcp" => Reply::status(401),
            _ => Reply::status(200).body(format!("{{\"resource\":{}", "[".repeat(100_000))),
        },
        expect!["Peer resource metadata: the answer is not a JSON object; report it to the server's operator"],
    )
    .await;
}

#[tokio::test]
async fn metadata_of_the_wrong_types_is_refused_field_by_field() {
    let fields = [
        ("issuer", json!(["x"])),
        ("token_endpoint", json!({})),
        ("token_endpoint", json!(null)),
        ("authorization_endpoint", json!(7)),
        ("registration_endpoint", json!(true)),
        ("code_challenge_methods_supported", json!("S256")),
        ("token_endpoint_auth_methods_supported", json!([null])),
        (
            "authorization_response_iss_parameter_supported",
            json!("yes"),
        ),
        ("scopes_supported", json!([["a"]])),
    ];
    for (field, value) in fields {
        let world = World::start().await;
        world
            .auth
            .change(|state| state.metadata = json!({field: value}));
        let outcome = world.outcome(&world.user()).await;
        let start = format!("Peer authorization server metadata: `{field}` is not ");
        assert!(outcome.starts_with(&start), "{outcome}");
        assert_eq!(world.log.count("as POST"), 0);
    }
}

#[tokio::test]
async fn token_responses_that_cannot_be_used_are_refused() {
    let tokens = [
        (
            json!({"access_token": "a\r\nX-Evil: 1"}),
            expect![
                "Peer token request: the issued token has characters that a header cannot carry; report it to the server's operator"
            ],
        ),
        (
            json!({"access_token": ["at"]}),
            expect![
                "Peer token request: `access_token` is not a string; report it to the server's operator"
            ],
        ),
        (
            json!({"access_token": null}),
            expect![
                "Peer token request: `access_token` is not present; report it to the server's operator"
            ],
        ),
        (
            json!({"token_type": "mac"}),
            expect![
                "Peer token request: a token of the type `mac` was issued; report it to the server's operator"
            ],
        ),
        (
            json!({"expires_in": "soon"}),
            expect![
                "Peer token request: `expires_in` is not a number of seconds; report it to the server's operator"
            ],
        ),
        (
            json!({"refresh_token": 7}),
            expect![
                "Peer token request: `refresh_token` is not a string; report it to the server's operator"
            ],
        ),
    ];
    for (token, expected) in tokens {
        let world = World::start().await;
        world.auth.change(|state| state.token = token);
        expected.assert_eq(&world.outcome(&world.user()).await);
    }
}

#[tokio::test]
async fn a_token_endpoint_that_redirects_is_not_followed() {
    let world = World::start().await;
    let target = world.auth.issuer();
    let trap = serve(move |_| std::future::ready(Reply::redirect(format!("{target}/trap")))).await;
    world
        .auth
        .change(|state| state.metadata = json!({"token_endpoint": trap}));
    let outcome = world.outcome(&world.user()).await;
    assert!(
        outcome.contains("token request: unexpected HTTP status 302"),
        "{outcome}"
    );
    assert_eq!(world.log.count("/trap"), 0);
}

#[tokio::test]
async fn an_error_of_a_token_endpoint_is_shown_on_one_line() {
    let world = World::start().await;
    let trap = serve(|_| {
        let text = format!("first\nsecond \u{1b}[2J {}", "x".repeat(10_000));
        let document = json!({"error": "invalid_grant", "error_description": text});
        std::future::ready(Reply::json(400, &document))
    })
    .await;
    world
        .auth
        .change(|state| state.metadata = json!({"token_endpoint": trap}));
    let error = world.call(&world.user()).await.unwrap_err();
    assert_eq!(error.code(), Some("invalid_grant"));
    let text = error.to_string();
    assert!(
        !text.contains(char::is_control) && text.len() < 500,
        "{text}"
    );
}

/// An attacker's server names an honest authorization server's endpoints for
/// parts of the flow, to get at codes that are meant for the other.
#[tokio::test]
async fn a_mix_up_of_two_authorization_servers_is_noticed() {
    let world = World::start().await;
    let honest = format!("{}/authorize", world.auth.issuer());
    let register = format!("{}/register", world.auth.issuer());
    let log = world.log.clone();
    let attacker = serve(move |asked| {
        log.add(&format!("attacker {} {}", asked.method, asked.path));
        let origin = format!("http://{}", asked.header("host").unwrap());
        let document = json!({
            "issuer": origin,
            "authorization_endpoint": honest,
            "registration_endpoint": register,
            "token_endpoint": format!("{origin}/token"),
            "code_challenge_methods_supported": ["S256"],
        });
        std::future::ready(Reply::json(200, &document))
    })
    .await;
    world.log.name(&attacker, "attacker");
    world
        .mcp
        .change(|rules| rules.metadata = json!({"authorization_servers": [attacker]}));
    expect!["Peer user authorization: the redirect names the issuer {as}, expected {attacker}; do not go on: this may be an attack, otherwise the server is set up wrongly"].assert_eq(&world.outcome(&world.user()).await);
    assert_eq!(world.log.count("attacker POST"), 0);
}

#[tokio::test]
async fn a_server_in_the_network_cannot_send_us_to_this_machine() {
    let oauth = OAuth::builder("https://mcp.example/mcp", user())
        .build()
        .unwrap();
    let pointers = [
        "http://127.0.0.1:1/admin",
        "https://localhost/admin",
        "https://169.254.169.254/latest/meta-data",
        "http://mcp.example/metadata",
        "file:///etc/passwd",
    ];
    for pointer in pointers {
        let challenge = format!("Bearer resource_metadata=\"{pointer}\"");
        let headers = [(http::header::WWW_AUTHENTICATE, challenge.parse().unwrap())];
        let headers = headers.into_iter().collect();
        let error = oauth
            .attempt()
            .review(http::StatusCode::UNAUTHORIZED, &headers)
            .await;
        let error = error.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("resource metadata: resource_metadata `"),
            "{error}"
        );
    }
}

#[test]
fn the_servers_own_url_must_be_safe() {
    for url in [
        "http://mcp.example/mcp",
        "mcp.example",
        "https://mcp.example/#x",
        "https://u:p@mcp.example/",
    ] {
        let error = OAuth::builder(url, user()).build().unwrap_err();
        assert_eq!(
            (error.kind(), error.step()),
            (ErrorKind::Misuse, Step::Setup)
        );
    }
}

async fn check(answer: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static, expected: Expect) {
    let url = site(answer).await;
    let error = failure(&url, Config::default()).await;
    let origin = url.trim_end_matches("/mcp");
    expected.assert_eq(&format!("{:?} {error}", error.kind()).replace(origin, "{other}"));
}

async fn failure(url: &str, config: Config) -> sterna_oauth::Error {
    let oauth = OAuth::builder(url, user()).config(config).build().unwrap();
    call(&oauth, url).await.unwrap_err()
}

async fn site(answer: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static) -> String {
    let origin = serve(move |asked| std::future::ready(answer(&asked.path))).await;
    format!("{origin}/mcp")
}

/// A body that goes on as long as the client reads.
fn endless() -> Body {
    struct Endless;
    impl http_body::Body for Endless {
        type Data = axum::body::Bytes;
        type Error = std::convert::Infallible;
        fn poll_frame(
            self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
            let chunk = axum::body::Bytes::from_static(&[b' '; 4096]);
            std::task::Poll::Ready(Some(Ok(http_body::Frame::data(chunk))))
        }
    }
    Body::new(Endless)
}
