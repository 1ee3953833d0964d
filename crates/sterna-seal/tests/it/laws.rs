//! Properties of every payload and every binding.

use proptest::prelude::*;
use sterna_seal::{
    Binding, Flow, FlowId, Principal, Realm, SealRequest, Target, ThreadEntropy, mint_flow_id,
};

use crate::stage::{Counting, HOUR, NOW, Request, flow, later, named, ring, seal};

fn any_binding() -> impl Strategy<Value = Binding> {
    let principal = prop_oneof![
        Just(Principal::anonymous()),
        (any::<String>(), any::<String>(), any::<Option<String>>())
            .prop_map(|(issuer, subject, client)| named(&issuer, &subject, client.as_deref())),
    ];
    let place = (
        any::<String>(),
        any::<Option<String>>(),
        any::<String>(),
        any::<String>(),
    );
    (principal, place, any::<Option<(String, i64)>>()).prop_map(
        |(principal, (audience, tenant, method, name), arguments)| {
            let realm = Realm::new(&audience, tenant.as_deref());
            let target = Target::new(&method, &name);
            let arguments =
                arguments.map(|(name, value)| serde_json::json!({ name: value }).to_string());
            Binding::new(&realm, &principal, &target, arguments.as_deref()).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_was_sealed_is_what_is_opened(
        payload in prop::collection::vec(any::<u8>(), 0..5000),
        binding in any_binding(),
        id in any::<[u8; 16]>(),
        round in 1_u16..,
        age in 0..24 * HOUR,
    ) {
        let mut flow = Flow::begin(FlowId::from_bytes(id), NOW);
        flow.round = round;
        let now = later(age);
        let ring = ring("ab");
        let sealed = ring
            .seal(&SealRequest::new(flow, &payload), &binding, now, &mut ThreadEntropy)
            .unwrap();
        let claims = ring.open(&sealed.token, &binding, now).unwrap();
        prop_assert_eq!(claims.content.inline(), Some(payload.as_slice()));
        prop_assert_eq!(claims.flow, flow);
        prop_assert_eq!(claims.issued_at, now);
        prop_assert_eq!(claims.key_id, sealed.key_id);
        prop_assert_eq!(claims.expires_at, sealed.expires_at);
        prop_assert!(sealed.token.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\'));
    }

    #[test]
    fn two_bindings_never_open_each_others_tokens(a in any_binding(), b in any_binding()) {
        let ring = ring("a");
        let sealed = ring
            .seal(&SealRequest::new(flow(), b"state"), &a, NOW, &mut ThreadEntropy)
            .unwrap();
        prop_assert_eq!(ring.open(&sealed.token, &b, NOW).is_ok(), a == b);
    }

    #[test]
    fn nothing_a_peer_sends_opens_or_panics(token in "(s1\\.)?[A-Za-z0-9_-]{0,400}|\\PC{0,40}") {
        prop_assert!(ring("a").open(&token, &Request::by_alice().binding(), NOW).is_err());
    }
}

#[test]
fn a_token_shows_only_the_padded_size_of_its_payload() {
    let ring = ring("a");
    let mut lengths = Vec::new();
    for len in 0..1500 {
        let length = seal(&ring, &vec![0; len]).len();
        assert_eq!(seal(&ring, &vec![b'x'; len]).len(), length);
        if lengths.last() != Some(&length) {
            lengths.push(length);
        }
    }
    expect_test::expect![[r#"
        [
            214,
            299,
            385,
            470,
            555,
            641,
            726,
            811,
            897,
            982,
            1067,
            1153,
            1238,
            1323,
            1409,
            1494,
            1579,
            1665,
            1750,
            1835,
            1921,
            2006,
            2091,
            2177,
        ]
    "#]]
    .assert_debug_eq(&lengths);
}

#[test]
fn two_tokens_of_one_state_have_nothing_in_common() {
    let ring = ring("a");
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), b"state");
    let mut entropy = Counting::default();
    let mut token = || {
        ring.seal(&draft, &binding, NOW, &mut entropy)
            .unwrap()
            .token
    };
    let (one, two) = (token(), token());
    let shared = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b);
    assert_eq!(
        shared.count(),
        "s1.".len() + 8,
        "prefix, version, suite and key id"
    );
}

#[test]
fn flows_of_different_callers_differ_even_with_a_generator_that_repeats() {
    let bob = Request {
        principal: Principal::named("https://login.example", "bob"),
        ..Request::by_alice()
    };
    let mint = |request: Request, now| {
        mint_flow_id(&request.binding(), now, &mut Counting::default()).unwrap()
    };
    let alice = mint(Request::by_alice(), NOW);
    assert_eq!(mint(Request::by_alice(), NOW), alice);
    assert_ne!(mint(bob, NOW), alice);
    assert_ne!(mint(Request::by_alice(), later(1)), alice);
    let tenant = Request {
        tenant: None,
        ..Request::by_alice()
    };
    assert_ne!(mint(tenant, NOW), alice);
}

#[test]
fn nothing_that_is_logged_shows_a_secret_or_a_state() {
    let ring = ring("a");
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), b"private");
    let sealed = ring
        .seal(&draft, &binding, NOW, &mut Counting::default())
        .unwrap();
    let claims = ring.open(&sealed.token, &binding, NOW).unwrap();
    let key = ring.keys().next().unwrap();
    expect_test::expect![[r#"
        Keyring([KeyId(b118fa87)])
        Key { id: KeyId(b118fa87), secret: SecretKey(..), activate_at: UnixMillis(0), retire_at: None, comment: None }
        Binding(..)
        SealRequest { flow: Flow { id: FlowId(..), round: 1, started_at: UnixMillis(1785196800000) }, len: 7, .. }
        Sealed { len: 214, key_id: KeyId(b118fa87), expires_at: UnixMillis(1785200400000), .. }
        Claims { flow: Flow { id: FlowId(..), round: 1, started_at: UnixMillis(1785196800000) }, issued_at: UnixMillis(1785196800000), expires_at: UnixMillis(1785200400000), key_id: KeyId(b118fa87), content: Inline(Payload(7 bytes)) }
    "#]].assert_eq(&format!(
        "{ring:?}\n{key:?}\n{binding:?}\n{draft:?}\n{sealed:?}\n{claims:?}\n"
    ));
}
