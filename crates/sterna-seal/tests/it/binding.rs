//! Requests that count as the same one, and the texts about them.

use expect_test::expect;
use sterna_seal::{Principal, Realm, Target};

use crate::stage::Request;

#[test]
fn two_bindings_are_equal_if_every_part_of_the_request_is() {
    let alice = Request::by_alice();
    assert_eq!(alice.binding(), alice.binding());
    for other in [
        Request {
            audience: "https://other.example",
            ..alice.clone()
        },
        Request {
            tenant: None,
            ..alice.clone()
        },
        Request {
            principal: Principal::anonymous(),
            ..alice.clone()
        },
        Request {
            method: "prompts/get",
            ..alice.clone()
        },
        Request {
            name: "undeploy",
            ..alice.clone()
        },
        Request {
            arguments: None,
            ..alice.clone()
        },
    ] {
        assert_ne!(alice.binding(), other.binding());
    }
}

#[test]
fn two_targets_are_equal_if_method_and_name_are() {
    let target = Target::new("tools/call", "deploy");
    assert_eq!(target, target.with_digest(target.digest()));
    assert_ne!(target, Target::new("tools/call", "undeploy"));
    assert_ne!(target, Target::new("prompts/get", "deploy"));
}

#[test]
fn a_log_shows_nothing_of_a_request() {
    let alice = Request::by_alice();
    let realm = Realm::new(alice.audience, alice.tenant);
    let target = Target::new(alice.method, alice.name);
    let shown = format!(
        "{:?} {realm:?} {:?} {:?} {target:?} {:?}",
        alice.binding(),
        alice.principal,
        Principal::anonymous(),
        target.digest(),
    );
    expect![
        "Binding(..) Realm(..) Principal(named by \"https://login.example\") Principal(anonymous) Target(..) TargetDigest(..)"
    ]
    .assert_eq(&shown);
}
