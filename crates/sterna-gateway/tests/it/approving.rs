//! Tools that are called only after the caller has approved exactly this call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_client::{Client, Era, PausedCall, Step};
use sterna_gateway::{GatewayConfig, UpstreamConfig};
use sterna_protocol::elicitation::{ElicitContent, ElicitRequestParams, ElicitResult};
use sterna_protocol::input::InputRequest;
use sterna_protocol::roots::Root;
use sterna_protocol::tool::CallToolResult;
use sterna_seal::ThreadEntropy;
use sterna_server::{Cx, Keyring, MemoryStore, Server, SharedKeyring, Store};
use tokio::task::JoinSet;

use crate::resumable::{Events, Resumable};
use crate::sessions::{ANN, BOB, client, gate};
use crate::upstream::at;
use crate::{BOTH, Running, serve, text};

#[derive(Deserialize, JsonSchema)]
struct Refund {
    order: String,
}

async fn refund(cx: Cx<'_>, args: Refund) -> String {
    cx.state::<Arc<AtomicUsize>>()
        .fetch_add(1, Ordering::SeqCst);
    format!("{} is refunded", args.order)
}

async fn look(_: Cx<'_>, args: Refund) -> String {
    format!("{} is there", args.order)
}

/// A server whose tool `refund` counts its calls.
struct Shop {
    config: UpstreamConfig,
    refunded: Arc<AtomicUsize>,
    _serving: JoinSet<()>,
}

impl Shop {
    fn open(era: Era) -> Self {
        let refunded = Arc::new(AtomicUsize::new(0));
        let shop = Server::new("shop", "1.0.0").state(Arc::clone(&refunded));
        let shop = shop.tool("refund", "Refunds an order", refund);
        let (url, serving) = serve(shop.tool("look", "Looks at an order", look));
        let mut config = at("shop", &url, era);
        config.approve = vec!["re*".to_owned()];
        Self {
            config,
            refunded,
            _serving: serving,
        }
    }

    fn gateway(&self) -> GatewayConfig {
        GatewayConfig::new(vec![self.config.clone()])
    }

    fn refunded(&self) -> usize {
        self.refunded.load(Ordering::SeqCst)
    }
}

async fn asked(client: &Client, order: &str) -> PausedCall<CallToolResult> {
    let call = client.call("refund").arg("order", order);
    match call.start().await.unwrap() {
        Step::InputRequired(paused) => paused,
        other => panic!("{other:?}"),
    }
}

fn say(paused: &mut PausedCall<CallToolResult>, yes: bool) {
    let content = ElicitContent::from_iter([("approve", yes)]);
    paused
        .answer("approval", ElicitResult::accept(content))
        .unwrap();
}

/// The refusal of a call, as its code and its reason.
async fn refusal(paused: PausedCall<CallToolResult>, client: &Client) -> String {
    let error = paused.resume(client).await.unwrap_err();
    let rpc = error.rpc().unwrap();
    let data = rpc.data.clone().unwrap_or_default();
    format!(
        "{} {}",
        rpc.code.0,
        data["reason"].as_str().unwrap_or_default()
    )
}

#[tokio::test]
async fn the_caller_is_shown_the_call_and_it_is_made_after_a_yes_only() {
    for upstream in BOTH {
        let shop = Shop::open(upstream);
        let gateway = Running::with(shop.gateway(), |server| server).await;
        for (times, era) in BOTH.into_iter().enumerate() {
            for yes in [false, true] {
                let shown = Arc::new(Mutex::new(String::new()));
                let tap = Arc::clone(&shown);
                let builder = Client::builder(&gateway.url).era(era);
                let client = builder.on_form(move |question| {
                    let InputRequest::Elicit(request) = InputRequest::elicit(question.params)
                    else {
                        unreachable!("it is a form");
                    };
                    tap.lock().unwrap().push_str(request.params.message());
                    async move {
                        let content = ElicitContent::from_iter([("approve", yes)]);
                        Ok(ElicitResult::accept(content))
                    }
                });
                let client = client.connect().await.unwrap();
                let result = client.call("refund").arg("order", "o-1").await.unwrap();
                let expected = match yes {
                    true => (None, "o-1 is refunded"),
                    false => (
                        Some(true),
                        "The user did not approve this call of `refund`, and it was not made.",
                    ),
                };
                assert_eq!((result.is_error, &*text(&result)), expected);
                assert_eq!(shop.refunded(), times + usize::from(yes), "{upstream:?}");
                let shown = shown.lock().unwrap();
                assert!(shown.contains("`refund` of `shop`"), "{shown}");
                assert!(shown.contains(r#"{"order":"o-1"}"#), "{shown}");
            }
            let client = gateway.plain(era).await;
            let result = client.call("look").arg("order", "o-1").await.unwrap();
            assert_eq!(
                text(&result),
                "o-1 is there",
                "no other tool is asked about"
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_cannot_call_the_tool() {
    let shop = Shop::open(Era::Modern);
    let gateway = Running::with(shop.gateway(), |server| server).await;
    for era in BOTH {
        let client = Client::builder(&gateway.url).era(era);
        let client = client.connect().await.unwrap();
        let refused = client.call("refund").arg("order", "o-1").await.unwrap_err();
        assert_eq!(refused.missing_capabilities(), ["elicitation"], "{refused}");
    }
    assert_eq!(shop.refunded(), 0);
}

#[tokio::test]
async fn an_approval_serves_neither_other_arguments_nor_another_tool_nor_another_caller() {
    let shop = Shop::open(Era::Modern);
    let gateway = Running::with(shop.gateway(), |server| server.gate(gate())).await;
    let ann = client(&gateway, ANN, Era::Modern).await;
    let mut paused = asked(&ann, "o-1").await;
    say(&mut paused, true);
    let stored = serde_json::to_string(&paused).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(stored.contains(from), "{stored}");
        serde_json::from_str::<PausedCall<CallToolResult>>(&stored.replace(from, to)).unwrap()
    };
    for forged in [changed("o-1", "o-2"), changed("refund", "look")] {
        let refused = refusal(forged, &ann).await;
        assert_eq!(refused, "-32602 invalid_request_state");
    }
    let bob = client(&gateway, BOB, Era::Modern).await;
    let refused = refusal(changed("o-1", "o-1"), &bob).await;
    assert_eq!(refused, "-32602 invalid_request_state");
    assert_eq!(shop.refunded(), 0);
    let Step::Complete(result) = paused.resume(&ann).await.unwrap() else {
        panic!("it asks no further");
    };
    assert_eq!(text(&result), "o-1 is refunded");
}

#[tokio::test]
async fn an_approval_is_used_once() {
    let shop = Shop::open(Era::Modern);
    let gateway = Running::with(shop.gateway(), |server| server).await;
    let client = gateway.plain(Era::Modern).await;
    let mut paused = asked(&client, "o-1").await;
    say(&mut paused, true);
    let again: PausedCall<_> =
        serde_json::from_str(&serde_json::to_string(&paused).unwrap()).unwrap();
    paused.resume(&client).await.unwrap();
    assert_eq!(refusal(again, &client).await, "-32603 approval_used");
    assert_eq!(shop.refunded(), 1);
}

#[tokio::test]
async fn with_a_store_an_approval_is_used_once_at_all_replicas_together() {
    let shop = Shop::open(Era::Modern);
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    let ring = Arc::new(SharedKeyring::new(ring));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut config = shop.gateway();
    config.store = Some(Arc::clone(&store).into());
    let replica = |config: GatewayConfig| {
        // A response that is remembered would be given to both.
        Running::with(config, |server| {
            server.shared_keys(Arc::clone(&ring)).forget_rounds()
        })
    };
    let (one, other) = (replica(config.clone()).await, replica(config).await);
    let client = one.plain(Era::Modern).await;
    let mut paused = asked(&client, "o-1").await;
    say(&mut paused, true);
    let again: PausedCall<CallToolResult> =
        serde_json::from_str(&serde_json::to_string(&paused).unwrap()).unwrap();
    let there = other.plain(Era::Modern).await;
    let moved = again.dangerous_moved_to(other.url.clone());
    let (first, second) = tokio::join!(paused.resume(&client), moved.resume(&there));
    assert_eq!(shop.refunded(), 1);
    let refused = match (first, second) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        other => panic!("{other:?}"),
    };
    assert!(refused.to_string().contains("MR0920"), "{refused}");
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_asked_for_again() {
    let shop = Shop::open(Era::Modern);
    let mut config = shop.gateway();
    config.approval_for = std::time::Duration::ZERO;
    let gateway = Running::with(config, |server| server).await;
    let client = gateway.plain(Era::Modern).await;
    let mut paused = asked(&client, "o-1").await;
    say(&mut paused, true);
    // The clock counts milliseconds: the answer comes in a later one.
    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    let Step::InputRequired(again) = paused.resume(&client).await.unwrap() else {
        panic!("it is too late");
    };
    let (_, question) = again.questions().iter().next().unwrap();
    let InputRequest::Elicit(request) = question else {
        panic!("it is a form");
    };
    assert!(matches!(request.params, ElicitRequestParams::Form(_)));
    assert_eq!(shop.refunded(), 0);
}

#[tokio::test]
async fn an_approved_call_goes_to_a_server_that_wants_the_roots_first() {
    let mut server = Resumable::start("only", Events::Live).await;
    server.server.asks_for_roots.store(true, Ordering::SeqCst);
    server.config.approve = vec!["greet".to_owned()];
    let config = GatewayConfig::new(vec![server.config.clone()]);
    let gateway = Running::with(config, |server| server).await;
    let builder = Client::builder(&gateway.url).era(Era::Modern);
    let builder = builder.roots([Root::new("file:///work")]);
    let client = builder.on_form(|question| async move {
        let content = match question.params.requested_schema.requires("approve") {
            true => ElicitContent::from_iter([("approve", true)]),
            false => ElicitContent::from_iter([("name", "Ann")]),
        };
        Ok(ElicitResult::accept(content))
    });
    let client = client.connect().await.unwrap();
    for calls in 1..=5 {
        assert_eq!(text(&client.call("greet").await.unwrap()), "Hello, Ann!");
        assert_eq!(server.greeted(), calls);
    }
}
