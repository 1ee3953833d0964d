//! Credentials that servers are shown: the gateway's own, and those of callers,
//! whose tokens are traded and go nowhere else.

use std::sync::{Arc, Mutex};

use http::request::Parts;
use serde_json::{Map, Value, json};
use sterna_client::oauth::TokenIssuer;
use sterna_client::{Client, Era, ErrorKind};
use sterna_gateway::{
    Connection, Credential, Gateway, GatewayConfig, SessionScope, TokenClient, UpstreamConfig,
};
use sterna_server::auth::{Caller, Gate, Principal};
use tokio::task::JoinSet;

use crate::issuer::Issuer;
use crate::sessions::{ANN, BOB, client};
use crate::upstream::{at, http, process, server};
use crate::{BOTH, Running, get, names, serve, text};

/// A server that lets in who shows a token that begins with `prefix`, and the
/// heads of all requests that it has seen.
struct Protected {
    config: UpstreamConfig,
    seen: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Protected {
    fn start(era: Era, prefix: &'static str, credential: Credential) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tap = Arc::clone(&seen);
        let upstream = server(&Arc::default()).callers(move |head: &Parts| {
            let shown = |(name, value): (_, &http::HeaderValue)| {
                format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()))
            };
            let written: String = head.headers.iter().map(shown).collect();
            tap.lock().unwrap().push(written.clone());
            let token = written
                .lines()
                .find_map(|line| line.strip_prefix("authorization: Bearer "))?;
            let known = token.starts_with(prefix);
            known.then(|| Caller::from(Principal::named("upstream", token)))
        });
        let (url, serving) = serve(upstream);
        let mut config = at("only", &url, era);
        config.credential = credential;
        Self {
            config,
            seen,
            _serving: serving,
        }
    }

    /// Tokens that it was shown, each once, in their order.
    fn shown(&self) -> Vec<String> {
        let mut shown = Vec::new();
        for head in self.seen.lock().unwrap().iter() {
            let mut lines = head.lines();
            let token = lines.find_map(|line| line.strip_prefix("authorization: "));
            let token = token.unwrap_or("none").to_owned();
            if shown.last() != Some(&token) {
                shown.push(token);
            }
        }
        shown
    }

    fn saw(&self, text: &str) -> bool {
        let seen = self.seen.lock().unwrap();
        seen.iter().any(|head| head.contains(text))
    }
}

fn gateway_client(issuer: &Issuer) -> TokenClient {
    let issuer = TokenIssuer::at_token_endpoint(&issuer.endpoint);
    let mut client = TokenClient::new(issuer, "gateway");
    client.secret = Some("s3cret".into());
    client
}

/// A gate whose callers are the tokens themselves, with their scope behind a dot.
fn keeping() -> Gate {
    let caller = |head: &Parts| {
        let header = head.headers.get("authorization")?.to_str().ok()?;
        let token = header.strip_prefix("Bearer ")?;
        let (subject, scope) = token.split_once('.').unwrap_or((token, ""));
        let claims = [("sub", subject), ("scope", scope), ("jti", token)];
        let claims: Map<String, Value> = claims
            .map(|(name, value)| (name.to_owned(), json!(value)))
            .into_iter()
            .collect();
        Some(Caller::from(Principal::named("login", subject)).with_claims(claims))
    };
    Gate::callers(caller).keeping_tokens()
}

async fn gateway(protected: &Protected) -> Running {
    let config = GatewayConfig::new(vec![protected.config.clone()]);
    Running::with(config, |server| server.gate(keeping())).await
}

async fn echo(client: &Client) -> String {
    match client.call("echo").arg("word", "tern").await {
        Ok(result) => text(&result),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn the_gateway_shows_a_token_of_its_own_for_all_callers() {
    for upstream in BOTH {
        let issuer = Issuer::start().await;
        let credential = Credential::Client(gateway_client(&issuer));
        let protected = Protected::start(upstream, "own", credential);
        let gateway = gateway(&protected).await;
        for (token, era) in [(ANN, Era::Modern), (BOB, Era::Legacy)] {
            assert_eq!(echo(&client(&gateway, token, era).await).await, "tern");
        }
        assert_eq!(protected.shown(), ["Bearer own"], "{upstream:?}");
        let asked = issuer.asked();
        assert_eq!(asked.len(), 1, "one token serves all sessions");
        assert_eq!(asked[0]["grant_type"], "client_credentials");
    }
}

#[tokio::test]
async fn the_token_of_each_caller_is_traded_and_never_reaches_the_server() {
    for upstream in BOTH {
        let issuer = Issuer::start().await;
        let mut own = gateway_client(&issuer);
        own.audience = Some("billing".to_owned());
        own.scopes = vec!["read".to_owned()];
        let protected = Protected::start(upstream, "for-", Credential::Exchange(own));
        let gateway = gateway(&protected).await;
        for era in BOTH {
            for token in [ANN, BOB] {
                let client = client(&gateway, token, era).await;
                assert_eq!(echo(&client).await, "tern", "{upstream:?} behind {era:?}");
                assert!(names(&client).await.contains("echo"));
            }
        }
        let shown = protected.shown();
        let traded = |token: &str| format!("Bearer for-{token}");
        assert!(shown.contains(&traded(ANN)) && shown.contains(&traded(BOB)));
        for token in [ANN, BOB] {
            assert!(!protected.saw(&format!("Bearer {token}")), "{shown:?}");
        }
        let asked = issuer.asked();
        assert_eq!(asked.len(), 2, "one exchange for each caller: {asked:?}");
        assert_eq!(asked[0]["audience"], "billing");
        assert_eq!(asked[0]["scope"], "read");
    }
}

#[tokio::test]
async fn a_token_with_fewer_rights_is_not_served_with_that_of_many() {
    let issuer = Issuer::start().await;
    let credential = Credential::Exchange(gateway_client(&issuer));
    let protected = Protected::start(Era::Legacy, "for-", credential);
    let gateway = gateway(&protected).await;
    for token in ["ann.write", "ann.read", "ann.write"] {
        let client = client(&gateway, token, Era::Modern).await;
        assert_eq!(echo(&client).await, "tern");
    }
    let shown = protected.shown();
    let traded = [
        "Bearer for-ann.write",
        "Bearer for-ann.read",
        "Bearer for-ann.write",
    ];
    assert_eq!(shown, traded);
}

#[tokio::test]
async fn a_caller_whose_token_is_refused_keeps_no_other_from_the_server() {
    let issuer = Issuer::start().await;
    issuer.refuse(ANN);
    let credential = Credential::Exchange(gateway_client(&issuer));
    let protected = Protected::start(Era::Any, "for-", credential);
    let gateway = gateway(&protected).await;
    let (status, report) = get(&gateway.url.replace("/mcp", "/readyz")).await;
    assert_eq!(status, 200, "no caller has come yet: {report}");
    let ann = client(&gateway, ANN, Era::Modern).await;
    let refused: Value = ann.request("tools/list", ()).await.unwrap();
    let named = &refused["_meta"]["io.github.sterna-mcp/unavailable"];
    assert_eq!(named[0]["reason"], "upstream_unauthorized", "{refused}");
    let bob = client(&gateway, BOB, Era::Modern).await;
    assert_eq!(echo(&bob).await, "tern");
    let error = ann.call("echo").arg("word", "tern").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
    assert!(!protected.saw(ANN));
}

#[tokio::test]
async fn a_credential_that_cannot_be_shown_keeps_the_gateway_from_starting() {
    let issuer = Issuer::start().await;
    let own = || Credential::Client(gateway_client(&issuer));
    let traded = || Credential::Exchange(gateway_client(&issuer));
    let refusal = async |server: UpstreamConfig| {
        let error = Gateway::start(GatewayConfig::new(vec![server])).await;
        error.unwrap_err().to_string()
    };
    let mut program = process("only", Era::Any);
    program.credential = own();
    let error = refusal(program).await;
    assert!(error.contains("in `env`"), "{error}");
    let upstream = http("only", Era::Any);
    let mut shared = upstream.config.clone();
    shared.credential = traded();
    shared.session = SessionScope::Shared;
    let error = refusal(shared).await;
    assert!(error.contains("leave `session` out"), "{error}");
    let mut twice = upstream.config.clone();
    twice.credential = own();
    if let Connection::Url { headers, .. } = &mut twice.connection {
        headers.insert("authorization".to_owned(), "Bearer x".to_owned());
    }
    let error = refusal(twice).await;
    assert!(error.contains("both have Authorization"), "{error}");
    let mut away = upstream.config.clone();
    let elsewhere = TokenIssuer::at_token_endpoint("http://as.example/token");
    away.credential = Credential::Client(TokenClient::new(elsewhere, "gateway"));
    let error = refusal(away).await;
    assert!(error.contains("https"), "{error}");
}
