//! Limits on the size of the state that a client carries.

use std::cell::Cell;

use expect_test::expect;
use sterna_seal::{Budget, Part, SealError, SealRequest, Sealed};

use crate::stage::{Counting, NOW, Request, flow, ring};

fn seal(draft: &SealRequest<'_>) -> Result<Sealed, SealError> {
    let binding = Request::by_alice().binding();
    ring("a").seal(draft, &binding, NOW, &mut Counting::default())
}

#[test]
fn a_payload_is_heavy_above_the_soft_limit_and_refused_above_the_hard_one() {
    let budget = Budget::default();
    for (len, outcome) in [
        (budget.warn, Some(false)),
        (budget.warn + 1, Some(true)),
        (budget.refuse, Some(true)),
        (budget.refuse + 1, None),
    ] {
        let payload = vec![0; len];
        let sealed = seal(&SealRequest::new(flow(), &payload));
        assert_eq!(
            sealed.ok().map(|sealed| sealed.over_warn_budget),
            outcome,
            "{len}"
        );
    }
}

#[test]
fn the_refusal_names_what_fills_the_budget() {
    let payload = vec![0; 70_000];
    let parts = || {
        vec![
            Part::new("approval", 300),
            Part::new("plan", 61_000),
            Part::new("summary", 8_700),
        ]
    };
    let error = seal(&SealRequest::new(flow(), &payload).with_parts(&parts)).unwrap_err();
    expect!["the state has 70000 bytes, 65536 are allowed: plan 61000, summary 8700, approval 300"]
        .assert_eq(&error.to_string());
}

#[test]
fn parts_are_listed_only_when_the_operator_has_to_read_them() {
    let asked = Cell::new(0);
    let parts = || {
        asked.set(asked.get() + 1);
        Vec::new()
    };
    let mut budget = Budget::default();
    budget.refuse = 5;
    let draft = |payload| {
        SealRequest::new(flow(), payload)
            .with_budget(budget)
            .with_parts(&parts)
    };
    assert!(seal(&draft(b"state")).is_ok());
    assert_eq!(asked.get(), 0);
    assert!(seal(&draft(b"state!")).is_err());
    assert_eq!(asked.get(), 1);
}

#[test]
fn no_budget_seals_a_token_too_long_to_be_opened() {
    let mut budget = Budget::default();
    budget.refuse = usize::MAX;
    let longest = vec![7; 92 * 1024];
    let ring = ring("a");
    let sealed = seal(&SealRequest::new(flow(), &longest).with_budget(budget)).unwrap();
    let claims = ring
        .open(&sealed.token, &Request::by_alice().binding(), NOW)
        .unwrap();
    assert_eq!(claims.content.inline(), Some(longest.as_slice()));
    let longer = vec![7; 92 * 1024 + 1];
    let error = seal(&SealRequest::new(flow(), &longer).with_budget(budget)).unwrap_err();
    expect!["the state has 94209 bytes, 94208 are allowed"].assert_eq(&error.to_string());
}
