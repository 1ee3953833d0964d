//! Servers of revision 2025-03-26, which publish less.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use sterna_oauth::{Builder, Config, MissingMetadata, OAuth};
use url::Url;

use crate::world::{Log, Reply, call, serve, user};

#[tokio::test]
async fn such_a_server_is_refused_unless_the_application_allows_it() {
    let (origin, _) = start(false).await;
    let url = format!("{origin}/mcp");
    let error = call(&OAuth::builder(&*url, user()).build().unwrap(), &url)
        .await
        .unwrap_err();
    expect!["resource metadata: there is no protected resource metadata; ask the server's operator to publish it (RFC 9728), or allow servers without it in the configuration"].assert_eq(&error.to_string());
}

#[tokio::test]
async fn metadata_at_its_origin_is_used() {
    let (origin, log) = start(true).await;
    let url = format!("{origin}/mcp");
    assert_eq!(
        call(&allowing(&url).build().unwrap(), &url).await.unwrap(),
        200
    );
    log.check(expect![[r#"
        POST /mcp -
        GET /.well-known/oauth-protected-resource/mcp -
        GET /.well-known/oauth-protected-resource -
        GET /.well-known/oauth-authorization-server -
        POST /oauth/register -
        GET /oauth/authorize -
        POST /oauth/token Basic Yzpz
        POST /mcp Bearer at
    "#]]);
}

#[tokio::test]
async fn without_any_metadata_the_usual_paths_are_used() {
    let (origin, log) = start(false).await;
    let url = format!("{origin}/mcp");
    assert_eq!(
        call(&allowing(&url).build().unwrap(), &url).await.unwrap(),
        200
    );
    log.check(expect![[r#"
        POST /mcp -
        GET /.well-known/oauth-protected-resource/mcp -
        GET /.well-known/oauth-protected-resource -
        GET /.well-known/oauth-authorization-server -
        GET /.well-known/openid-configuration -
        POST /register -
        GET /authorize -
        POST /token Basic Yzpz
        POST /mcp Bearer at
    "#]]);
}

fn allowing(url: &str) -> Builder {
    let mut config = Config::default();
    config.missing_metadata = MissingMetadata::AssumeOrigin;
    OAuth::builder(url, user()).config(config)
}

/// One site that is MCP server and authorization server at once.
async fn start(publishes: bool) -> (String, Log) {
    let log = Log::default();
    let seen = log.clone();
    let challenge = Arc::new(Mutex::new(String::new()));
    let origin = serve(move |asked| {
        let token = asked.header("authorization").unwrap_or("-").to_owned();
        seen.add(&format!("{} {} {token}", asked.method, asked.path));
        let origin = format!("http://{}", asked.header("host").unwrap());
        let base = if publishes { "/oauth" } else { "" };
        let query = |name: &str| {
            let url = Url::parse(&format!("{origin}?{}", asked.query)).unwrap();
            let value = url.query_pairs().find(|(own, _)| own == name);
            value
                .map(|(_, value)| value.into_owned())
                .unwrap_or_default()
        };
        let reply = match asked.path.strip_prefix(base).unwrap_or(&asked.path) {
            "/mcp" => Reply::status(if token == "Bearer at" { 200 } else { 401 }),
            "/.well-known/oauth-authorization-server" if publishes => {
                let document = json!({
                    "issuer": origin,
                    "authorization_endpoint": format!("{origin}/oauth/authorize"),
                    "token_endpoint": format!("{origin}/oauth/token"),
                    "registration_endpoint": format!("{origin}/oauth/register"),
                    "code_challenge_methods_supported": ["S256"],
                });
                Reply::json(200, &document)
            }
            "/register" => Reply::json(201, &json!({"client_id": "c", "client_secret": "s"})),
            "/authorize" => {
                *challenge.lock().unwrap() = query("code_challenge");
                let (uri, state) = (query("redirect_uri"), query("state"));
                Reply::redirect(format!("{uri}?code=c&state={state}"))
            }
            "/token" => {
                let body = Url::parse(&format!("{origin}?{}", asked.body)).unwrap();
                let verifier = body.query_pairs().find(|(name, _)| name == "code_verifier");
                let hash =
                    ring::digest::digest(&ring::digest::SHA256, verifier.unwrap().1.as_bytes());
                let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
                let hash = base64::Engine::encode(&engine, hash);
                assert_eq!(hash, *challenge.lock().unwrap());
                Reply::json(200, &json!({"access_token": "at", "token_type": "bearer"}))
            }
            _ => Reply::status(404),
        };
        std::future::ready(reply)
    })
    .await;
    (origin, log)
}
