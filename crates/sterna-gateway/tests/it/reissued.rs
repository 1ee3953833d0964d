//! Calls that are lost while their users answer, and sent anew where that is allowed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use sterna_client::{Era, PausedCall};
use sterna_gateway::{Gateway, GatewayConfig};
use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
use sterna_protocol::tool::CallToolResult;
use sterna_server::SharedKeyring;

use crate::Running;
use crate::carried::{answered, asked, done, next, question, ring};
use crate::resumable::{Events, Resumable};

async fn allowed(events: Events) -> Resumable {
    let mut server = Resumable::start("only", events).await;
    server.config.reissue = vec!["gre*".to_owned()];
    server
}

async fn gateway(server: &Resumable, ring: &Arc<SharedKeyring>) -> Running {
    let config = GatewayConfig::new(vec![server.config.clone()]);
    let gateway = Gateway::start(config).await.unwrap();
    Running::serving(gateway, |server| server.shared_keys(Arc::clone(ring)))
}

async fn refusal(paused: &PausedCall<CallToolResult>, gateway: &Running) -> String {
    let client = gateway.plain(Era::Modern).await;
    let refused = paused.resume(&client).await.unwrap_err();
    refused.rpc().unwrap().message.clone()
}

#[tokio::test]
async fn a_lost_call_is_told_again_what_it_was_told_before() {
    for events in [Events::Live, Events::None] {
        let server = allowed(events).await;
        let ring = ring();
        let gateway_one = gateway(&server, &ring).await;
        let first = answered(asked(&gateway_one).await, "Ann", &gateway_one);
        let second = next(&first, &gateway_one).await;
        assert!(question(&second).contains("Ann, really?"));
        // The server forgets the carried call, the gateway the held one.
        server.forget_sessions();
        drop(gateway_one);
        let other = gateway(&server, &ring).await;
        let second = answered(second, "Bob", &other);
        assert_eq!(done(&second, &other).await, "Hello, Bob!", "{events:?}");
        assert_eq!(server.greeted(), 1);
    }
}

#[tokio::test]
async fn a_question_that_has_changed_is_asked_again() {
    let server = allowed(Events::Live).await;
    let gateway = gateway(&server, &ring()).await;
    let first = answered(asked(&gateway).await, "Ann", &gateway);
    let second = next(&first, &gateway).await;
    server.forget_sessions();
    server.server.insists.store(true, Ordering::SeqCst);
    let again = next(&answered(second, "Bob", &gateway), &gateway).await;
    assert!(question(&again).contains("are you really sure"));
    assert_eq!(server.greeted(), 0);
    let again = answered(again, "Cleo", &gateway);
    assert_eq!(done(&again, &gateway).await, "Hello, Cleo!");
}

#[tokio::test]
async fn no_call_is_sent_anew_without_permission() {
    for events in [Events::Live, Events::None] {
        let mut server = Resumable::start("only", events).await;
        server.config.reissue = vec!["get_*".to_owned()];
        let ring = ring();
        let one = gateway(&server, &ring).await;
        let first = answered(asked(&one).await, "Ann", &one);
        server.forget_sessions();
        drop(one);
        let two = gateway(&server, &ring).await;
        let first = first.dangerous_moved_to(&two.url);
        let refused = refusal(&first, &two).await;
        assert!(refused.contains("(MR09"), "{events:?}: {refused}");
        // The server says that the tool is idempotent: its word counts where it is trusted.
        server.config.trust_annotations = true;
        let three = gateway(&server, &ring).await;
        let first = first.dangerous_moved_to(&three.url);
        let second = next(&first, &three).await;
        assert_eq!(server.greeted(), 0);
        drop(second);
    }
}

#[tokio::test]
async fn a_call_that_was_approved_is_not_sent_anew() {
    let mut server = allowed(Events::Live).await;
    server.config.approve = vec!["greet".to_owned()];
    let gateway = gateway(&server, &ring()).await;
    let mut approval = asked(&gateway).await;
    let yes = ElicitContent::from_iter([("approve", true)]);
    approval
        .answer("approval", ElicitResult::accept(yes))
        .unwrap();
    let first = answered(next(&approval, &gateway).await, "Ann", &gateway);
    server.forget_sessions();
    let refused = refusal(&first, &gateway).await;
    assert!(refused.contains("MR0910"), "{refused}");
    assert_eq!(server.greeted(), 0);
}
