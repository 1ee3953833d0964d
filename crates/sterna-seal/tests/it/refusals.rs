//! Every alteration of a token is refused, and the log can say why.

use std::collections::BTreeMap;
use std::time::Duration;

use base64_simd::URL_SAFE_NO_PAD;
use expect_test::{Expect, expect};
use sterna_seal::{Keyring, Lifetimes, OpenError, Principal, SealRequest, UnixMillis};

use crate::stage::{
    self, Counting, HOUR, MINUTE, NOW, Request, SECOND, earlier, flow, later, ring, seal,
};

#[test]
fn the_peer_is_told_one_thing_only() {
    assert_eq!(OpenError::WIRE_MESSAGE, "Invalid or expired requestState");
    assert_eq!(OpenError::WIRE_REASON, "invalid_request_state");
}

#[test]
fn every_flipped_bit_of_the_bytes_is_refused() {
    let token = seal(&ring("a"), b"state");
    let mut bytes = decode(&token);
    let mut reasons = Reasons::default();
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        reasons.of(&encode(&bytes));
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    reasons.check(expect![[r#"
        unauthentic 1216
        unknown_key 32
        unknown_suite 8
        unknown_version 8
    "#]]);
}

#[test]
fn every_flipped_bit_of_the_text_is_refused() {
    let token = seal(&ring("a"), b"state");
    let mut reasons = Reasons::default();
    for bit in 0..token.len() * 8 {
        let mut text = token.clone().into_bytes();
        text[bit / 8] ^= 1 << (bit % 8);
        // A flipped high bit is no longer UTF-8; the nearest text stands in.
        reasons.of(&String::from_utf8_lossy(&text));
    }
    reasons.check_labels(expect![
        "malformed unauthentic unknown_key unknown_suite unknown_version"
    ]);
}

#[test]
fn every_truncation_is_refused() {
    let token = seal(&ring("a"), b"state");
    let mut reasons = Reasons::default();
    for len in 0..token.len() {
        reasons.of(&token[..len]);
    }
    reasons.check_labels(expect!["malformed unauthentic"]);
}

#[test]
fn every_truncation_of_the_bytes_is_refused() {
    let bytes = decode(&seal(&ring("a"), b"state"));
    let mut reasons = Reasons::default();
    for len in 0..bytes.len() {
        reasons.of(&encode(&bytes[..len]));
    }
    reasons.check(expect![[r#"
        malformed 30
        unauthentic 128
    "#]]);
}

#[test]
fn a_second_spelling_of_the_same_bytes_is_refused() {
    let token = seal(&ring("a"), b"state");
    let bytes = decode(&token);
    assert_eq!(bytes.len() % 3, 2, "the last character has loose bits");
    let loose_bits = format!("{}{}", &token[..token.len() - 1], {
        let last = token.as_bytes()[token.len() - 1];
        char::from(last + 1)
    });
    let standard = base64_simd::STANDARD_NO_PAD.encode_to_string(&bytes);
    assert_ne!(standard, token[3..], "the alphabets differ in this token");
    for text in [
        format!("{token}="),
        format!("{token}=="),
        format!("{token} "),
        format!(" {token}"),
        format!("{token}\n"),
        format!("{}\n{}", &token[..80], &token[80..]),
        format!("S1.{}", &token[3..]),
        format!("s01.{}", &token[3..]),
        format!("s1.s1.{}", &token[3..]),
        format!("s1.{standard}"),
        token[3..].to_owned(),
        loose_bits,
    ] {
        assert_eq!(open(&text), Err(OpenError::Malformed), "{text:?}");
    }
}

#[test]
fn more_than_we_ever_seal_is_refused_before_it_is_decoded() {
    let limit = 128 * 1024;
    let long = format!("s1.{}", "?".repeat(limit - 3));
    assert_eq!(open(&long), Err(OpenError::Malformed));
    assert_eq!(
        open(&format!("{long}?")),
        Err(OpenError::TooLong(limit + 1))
    );
}

#[test]
fn another_version_and_another_suite_are_refused_by_name() {
    let mut bytes = decode(&seal(&ring("a"), b"state"));
    bytes[1] = 9;
    assert_eq!(open(&encode(&bytes)), Err(OpenError::UnknownSuite(9)));
    bytes[0] = 2;
    assert_eq!(open(&encode(&bytes)), Err(OpenError::UnknownVersion(2)));
}

#[test]
fn a_token_that_moves_is_refused_with_its_own_reason() {
    let alice = Request::by_alice();
    let named = |issuer, subject, client| Request {
        principal: stage::named(issuer, subject, client),
        ..alice.clone()
    };
    let (issuer, client) = ("https://login.example", Some("editor"));
    let to = |request: Request| request;
    for (moved, reason) in [
        (named(issuer, "mallory", client), OpenError::OtherPrincipal),
        (
            named("https://evil.example", "alice", client),
            OpenError::OtherPrincipal,
        ),
        (
            named(issuer, "alice", Some("other")),
            OpenError::OtherPrincipal,
        ),
        (named(issuer, "alice", None), OpenError::OtherPrincipal),
        (
            named("https://login.exampl", "ealice", client),
            OpenError::OtherPrincipal,
        ),
        (
            to(Request {
                principal: Principal::anonymous(),
                ..alice.clone()
            }),
            OpenError::OtherPrincipal,
        ),
        (
            to(Request {
                name: "destroy",
                ..alice.clone()
            }),
            OpenError::OtherTarget,
        ),
        (
            to(Request {
                method: "prompts/get",
                ..alice.clone()
            }),
            OpenError::OtherTarget,
        ),
        (
            to(Request {
                method: "tools/cal",
                name: "ldeploy",
                ..alice.clone()
            }),
            OpenError::OtherTarget,
        ),
        (
            to(Request {
                arguments: Some(r#"{"service":"billing","replicas":4}"#),
                ..alice.clone()
            }),
            OpenError::OtherArguments,
        ),
        (
            to(Request {
                arguments: Some("{}"),
                ..alice.clone()
            }),
            OpenError::OtherArguments,
        ),
        (
            to(Request {
                arguments: None,
                ..alice.clone()
            }),
            OpenError::OtherArguments,
        ),
        (
            to(Request {
                audience: "https://other.example",
                ..alice.clone()
            }),
            OpenError::Unauthentic,
        ),
        (
            to(Request {
                tenant: Some("umbrella"),
                ..alice.clone()
            }),
            OpenError::Unauthentic,
        ),
        (
            to(Request {
                tenant: Some(""),
                ..alice.clone()
            }),
            OpenError::Unauthentic,
        ),
        (
            to(Request {
                tenant: None,
                ..alice.clone()
            }),
            OpenError::Unauthentic,
        ),
    ] {
        let ring = ring("a");
        let token = seal(&ring, b"state");
        let refused = ring.open(&token, &moved.binding(), NOW).unwrap_err();
        assert_eq!(refused, reason);
    }
}

#[test]
fn an_anonymous_token_is_not_a_token_of_a_named_caller() {
    let ring = ring("a");
    let anonymous = Request {
        principal: Principal::anonymous(),
        ..Request::by_alice()
    };
    let draft = SealRequest::new(flow(), b"state");
    let sealed = ring
        .seal(&draft, &anonymous.binding(), NOW, &mut Counting::default())
        .unwrap();
    assert!(ring.open(&sealed.token, &anonymous.binding(), NOW).is_ok());
    for subject in ["", "alice"] {
        let named = Request {
            principal: Principal::named("", subject),
            ..anonymous
        };
        let refused = ring.open(&sealed.token, &named.binding(), NOW);
        assert_eq!(refused.unwrap_err(), OpenError::OtherPrincipal);
    }
}

#[test]
fn arguments_may_be_respelled_on_the_way() {
    let ring = ring("a");
    let token = seal(&ring, b"state");
    let respelled = Request {
        arguments: Some("{ \"replicas\" : 3.0,\n\"serv\\u0069ce\":\"billing\" }"),
        ..Request::by_alice()
    };
    assert!(ring.open(&token, &respelled.binding(), NOW).is_ok());
}

#[test]
fn a_token_of_another_ring_is_refused_by_the_name_of_its_key() {
    let token = seal(&ring("b"), b"state");
    let foreign = ring("b").keys().next().unwrap().id();
    assert_eq!(open(&token), Err(OpenError::UnknownKey(foreign)));
}

#[test]
fn a_round_ends_on_time() {
    check_times(
        Lifetimes::default(),
        &[later(0), later(HOUR - 1), later(HOUR), later(30 * HOUR)],
        expect![[r#"
            2026-07-28T00:00:00Z: open
            2026-07-28T00:59:59.999Z: open
            2026-07-28T01:00:00Z: the round ended at 2026-07-28T01:00:00Z
            2026-07-29T06:00:00Z: the flow ended at 2026-07-29T00:00:00Z
        "#]],
    );
}

#[test]
fn a_flow_ends_on_time_however_long_a_round_may_take() {
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    check_times(
        Lifetimes::new(days(7), days(1)),
        &[later(24 * HOUR - 1), later(24 * HOUR)],
        expect![[r#"
            2026-07-28T23:59:59.999Z: open
            2026-07-29T00:00:00Z: the flow ended at 2026-07-29T00:00:00Z
        "#]],
    );
}

#[test]
fn clocks_may_differ_by_a_minute_and_no_more() {
    check_times(
        Lifetimes::default(),
        &[
            earlier(1),
            earlier(MINUTE),
            earlier(MINUTE + 1),
            earlier(HOUR),
        ],
        expect![[r#"
            2026-07-27T23:59:59.999Z: open
            2026-07-27T23:59:00Z: open
            2026-07-27T23:58:59.999Z: issued in the future, at 2026-07-28T00:00:00Z
            2026-07-27T23:00:00Z: issued in the future, at 2026-07-28T00:00:00Z
        "#]],
    );
}

#[test]
fn a_late_round_lives_only_as_long_as_its_flow() {
    let ring = ring("a");
    let binding = Request::by_alice().binding();
    let last = later(24 * HOUR - 10 * MINUTE);
    let draft = SealRequest::new(flow().next_round(), b"state");
    let sealed = ring
        .seal(&draft, &binding, last, &mut Counting::default())
        .unwrap();
    assert_eq!(sealed.expires_at, later(24 * HOUR));
    let claims = ring.open(&sealed.token, &binding, last).unwrap();
    assert_eq!(claims.expires_at, later(24 * HOUR));
    assert_eq!(claims.issued_at, last);
    assert_eq!((claims.flow.round, claims.flow.started_at), (2, NOW));
    let refused = ring.open(&sealed.token, &binding, later(24 * HOUR));
    assert_eq!(
        refused.unwrap_err(),
        OpenError::FlowExpired(later(24 * HOUR))
    );
}

#[test]
fn a_flow_past_its_age_gets_no_further_token() {
    let binding = Request::by_alice().binding();
    let seal_at = |now| {
        let draft = SealRequest::new(flow(), b"state");
        ring("a").seal(&draft, &binding, now, &mut Counting::default())
    };
    assert!(seal_at(later(24 * HOUR - SECOND)).is_ok());
    let error = seal_at(later(24 * HOUR)).unwrap_err();
    assert_eq!(error.to_string(), "the flow ended at 2026-07-29T00:00:00Z");
}

#[test]
fn every_reason_has_a_label_of_its_own() {
    let id = ring("a").keys().next().unwrap().id();
    let reasons = [
        OpenError::BlobAltered,
        OpenError::BlobGone,
        OpenError::Expired(NOW),
        OpenError::FlowExpired(NOW),
        OpenError::Malformed,
        OpenError::NotYetIssued(NOW),
        OpenError::OtherArguments,
        OpenError::OtherPrincipal,
        OpenError::OtherTarget,
        OpenError::RetiredKey(id),
        OpenError::TooLong(0),
        OpenError::Unauthentic,
        OpenError::UnknownKey(id),
        OpenError::UnknownSuite(0),
        OpenError::UnknownVersion(0),
        OpenError::Unreadable,
    ];
    let table: String = reasons
        .iter()
        .map(|reason| format!("{}: {reason}\n", reason.label()))
        .collect();
    expect![[r#"
        blob_altered: the spilled state was altered
        blob_gone: the spilled state is gone
        expired: the round ended at 2026-07-28T00:00:00Z
        flow_expired: the flow ended at 2026-07-28T00:00:00Z
        malformed: not a token in its canonical spelling
        not_yet_issued: issued in the future, at 2026-07-28T00:00:00Z
        other_arguments: sealed for other arguments
        other_principal: sealed for another principal
        other_target: sealed for another target
        retired_key: sealed with key b118fa87, which is retired
        too_long: 0 characters are too long for a token
        unauthentic: altered, or sealed for another audience or tenant
        unknown_key: sealed with key b118fa87, which is not in the ring
        unknown_suite: sealed with suite 0, which this build does not know
        unknown_version: a token of version 0, which this build does not know
        unreadable: authentic, but not readable by this build
    "#]]
    .assert_eq(&table);
}

/// Seals at `NOW` and says what opening at each of `times` gives.
#[track_caller]
fn check_times(lifetimes: Lifetimes, times: &[UnixMillis], expected: Expect) {
    let ring = ring("a");
    let binding = Request::by_alice().binding();
    let draft = SealRequest::new(flow(), b"state").with_lifetimes(lifetimes);
    let sealed = ring
        .seal(&draft, &binding, NOW, &mut Counting::default())
        .unwrap();
    let lines = times.iter().map(|&now| {
        let outcome = match ring.open(&sealed.token, &binding, now) {
            Ok(_) => "open".to_owned(),
            Err(error) => error.to_string(),
        };
        format!("{now}: {outcome}\n")
    });
    expected.assert_eq(&lines.collect::<String>());
}

/// Counts why tokens are refused.
struct Reasons {
    ring: Keyring,
    counts: BTreeMap<&'static str, usize>,
}

impl Default for Reasons {
    fn default() -> Self {
        Self {
            ring: ring("a"),
            counts: BTreeMap::new(),
        }
    }
}

impl Reasons {
    #[track_caller]
    fn of(&mut self, token: &str) {
        let opened = self.ring.open(token, &Request::by_alice().binding(), NOW);
        let reason = opened.expect_err("a token that was changed must not open");
        *self.counts.entry(reason.label()).or_default() += 1;
    }

    /// The count of each reason may depend on the token's characters.
    #[track_caller]
    fn check_labels(&self, expected: Expect) {
        let labels: Vec<_> = self.counts.keys().copied().collect();
        expected.assert_eq(&labels.join(" "));
    }

    #[track_caller]
    fn check(&self, expected: Expect) {
        let lines = self.counts.iter();
        let table: String = lines.map(|(label, n)| format!("{label} {n}\n")).collect();
        expected.assert_eq(&table);
    }
}

fn open(token: &str) -> Result<(), OpenError> {
    let opened = ring("a").open(token, &Request::by_alice().binding(), NOW);
    opened.map(|_| ())
}

fn decode(token: &str) -> Vec<u8> {
    let spelled = token.strip_prefix("s1.").unwrap();
    URL_SAFE_NO_PAD.decode_to_vec(spelled).unwrap()
}

fn encode(bytes: &[u8]) -> String {
    format!("s1.{}", URL_SAFE_NO_PAD.encode_to_string(bytes))
}
