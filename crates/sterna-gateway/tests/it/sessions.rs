//! Sessions with servers belong to one caller each, and no credential of a
//! caller goes to a server.

use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderValue};
use sterna_client::{Client, Era};
use sterna_gateway::{Connection, GatewayConfig, SessionScope};
use sterna_server::auth::{Caller, Gate, StaticTokens};

use crate::upstream::{at, process, server};
use crate::{BOTH, Running, serve, text};

pub(crate) const ANN: &str = "ann-0123456789abcdef";
pub(crate) const BOB: &str = "bob-0123456789abcdef";

pub(crate) fn gate() -> Gate {
    let tokens = format!("{ANN} ann\n{BOB} bob\n");
    Gate::guarded(StaticTokens::parse(&tokens).unwrap())
}

pub(crate) async fn client(gateway: &Running, token: &str, era: Era) -> Client {
    let mut headers = HeaderMap::new();
    let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    headers.insert("authorization", bearer);
    let builder = Client::builder(&gateway.url).headers(headers).era(era);
    builder.connect().await.unwrap()
}

async fn pid(client: &Client) -> String {
    text(&client.call("pid").await.unwrap())
}

#[tokio::test]
async fn two_callers_never_share_a_session() {
    for upstream in BOTH {
        let config = GatewayConfig::new(vec![process("only", upstream)]);
        let gateway = Running::with(config, |server| server.gate(gate())).await;
        let (ann, bob) = (
            client(&gateway, ANN, Era::Modern).await,
            client(&gateway, BOB, Era::Modern).await,
        );
        let first = pid(&ann).await;
        assert_ne!(pid(&bob).await, first, "{upstream:?}");
        assert_eq!(pid(&ann).await, first, "a caller finds its session again");
        let old = client(&gateway, ANN, Era::Legacy).await;
        assert_eq!(pid(&old).await, first, "whatever its era is");
        gateway.gateway.close().await;
    }
}

#[tokio::test]
async fn a_session_is_shared_or_ends_with_its_call_where_that_is_said() {
    for (scope, same_caller, other_caller) in [
        (SessionScope::Shared, true, true),
        (SessionScope::Call, false, false),
    ] {
        let mut server = process("only", Era::Legacy);
        server.session = scope;
        let config = GatewayConfig::new(vec![server]);
        let gateway = Running::with(config, |server| server.gate(gate())).await;
        let (ann, bob) = (
            client(&gateway, ANN, Era::Modern).await,
            client(&gateway, BOB, Era::Modern).await,
        );
        let first = pid(&ann).await;
        assert_eq!(pid(&ann).await == first, same_caller, "{scope:?}");
        assert_eq!(pid(&bob).await == first, other_caller, "{scope:?}");
        gateway.gateway.close().await;
    }
}

#[tokio::test]
async fn a_server_sees_the_credential_of_the_configuration_and_none_of_a_caller() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tap = Arc::clone(&seen);
    let upstream = server(&Arc::default()).callers(move |head| {
        let written = format!(
            "{:?}",
            head.headers
                .iter()
                .map(|(name, value)| {
                    (
                        name.as_str().to_owned(),
                        String::from_utf8_lossy(value.as_bytes()).into_owned(),
                    )
                })
                .collect::<Vec<_>>()
        );
        tap.lock().unwrap().push(written);
        Some(Caller::anonymous())
    });
    let (url, _serving) = serve(upstream);
    for upstream in BOTH {
        let mut server = at("only", &url, upstream);
        if let Connection::Url { headers, .. } = &mut server.connection {
            headers.insert(
                "Authorization".to_owned(),
                "Bearer of-the-gateway".to_owned(),
            );
        }
        let config = GatewayConfig::new(vec![server]);
        let gateway = Running::with(config, |server| server.gate(gate())).await;
        for era in BOTH {
            let ann = client(&gateway, ANN, era).await;
            assert_eq!(
                text(&ann.call("echo").arg("word", "tern").await.unwrap()),
                "tern"
            );
        }
    }
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 4 && seen.iter().all(|head| head.contains("of-the-gateway")));
    assert!(!seen.iter().any(|head| head.contains(ANN)), "{seen:?}");
}
