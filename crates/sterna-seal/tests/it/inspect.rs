//! An operator looks into a token that a user has sent in.

use sterna_seal::{Key, Keyring, OpenError, Principal, Realm, SealRequest, Target};

use crate::stage::{
    Counting, HOUR, MINUTE, NOW, Request, earlier, flow, later, ring, seal, secret,
};

fn realm() -> Realm {
    Realm::new("https://tools.example", Some("acme"))
}

#[test]
fn it_tells_what_a_token_is_tied_to() {
    let ring = ring("a");
    let seen = ring.inspect(&seal(&ring, b"state"), &realm()).unwrap();
    let alice = Request::by_alice();
    assert_eq!(seen.content.inline(), Some(&b"state"[..]));
    assert!(seen.is_named);
    assert!(seen.is_of_principal(&alice.principal));
    assert!(!seen.is_of_principal(&Principal::anonymous()));
    let bob = Principal::named("https://login.example", "bob");
    assert!(!seen.is_of_principal(&bob));
    assert!(seen.is_of_target(&Target::new("tools/call", "deploy")));
    assert!(!seen.is_of_target(&Target::new("prompts/get", "deploy")));
    assert!(seen.is_of_request(&alice.binding()));
    let other = Request {
        arguments: Some("{}"),
        ..alice
    };
    assert!(!seen.is_of_request(&other.binding()));
}

#[test]
fn an_anonymous_token_is_seen_to_be_anonymous() {
    let ring = ring("a");
    let request = Request {
        principal: Principal::anonymous(),
        ..Request::by_alice()
    };
    let draft = SealRequest::new(flow(), b"state");
    let sealed = ring.seal(&draft, &request.binding(), NOW, &mut Counting::default());
    let seen = ring.inspect(&sealed.unwrap().token, &realm()).unwrap();
    assert!(!seen.is_named);
    assert!(seen.is_of_principal(&Principal::anonymous()));
    assert!(!seen.is_of_principal(&Request::by_alice().principal));
}

#[test]
fn it_says_what_opening_would_say_at_any_time() {
    let retiring = Key::new(secret('a')).retiring_at(later(30 * HOUR));
    let ring = Keyring::new([retiring]).unwrap();
    let token = seal(&ring, b"state");
    let seen = ring.inspect(&token, &realm()).unwrap();
    let binding = Request::by_alice().binding();
    for now in [
        earlier(2 * MINUTE),
        earlier(MINUTE),
        NOW,
        later(HOUR),
        later(25 * HOUR),
        later(30 * HOUR),
    ] {
        let opened = ring.open(&token, &binding, now);
        assert_eq!(seen.refused_at(now), opened.err(), "at {now}");
    }
}

#[test]
fn what_the_ring_did_not_seal_for_this_realm_cannot_be_seen() {
    let ours = ring("a");
    let token = seal(&ours, b"state");
    let elsewhere = Realm::new("https://tools.example", None);
    let refused = ours.inspect(&token, &elsewhere).unwrap_err();
    assert_eq!(refused, OpenError::Unauthentic);
    let refused = ring("b").inspect(&token, &realm()).unwrap_err();
    assert!(matches!(refused, OpenError::UnknownKey(_)));
}
