//! Checks the statements of `docs/request-state.md` for operators.

use std::fs;
use std::path::Path;

use expect_test::expect;
use sterna_seal::{Budget, Keyring, Lifetimes, OpenError};

use crate::stage::{ring, seal};

fn page() -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join("request-state.md")).unwrap()
}

#[test]
fn the_key_file_on_the_page_can_be_read() {
    let page = page();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let ring = Keyring::from_toml(example).unwrap();
    let times = ring.keys().map(|key| (key.activate_at(), key.retire_at()));
    let times: Vec<_> = times
        .map(|(from, to)| {
            format!(
                "{from} {}",
                to.map_or_else(String::new, |to| to.to_string())
            )
        })
        .collect();
    expect![[r#"
        1970-01-01T00:00:00Z 2026-08-01T13:01:00Z
        2026-08-01T12:00:00Z "#]]
    .assert_eq(&times.join("\n"));
}

#[test]
fn the_sizes_on_the_page_are_the_sizes_of_tokens() {
    let page = page();
    for (row, len) in [
        ("up to 34 bytes", 34),
        ("up to 98 bytes", 98),
        ("256 bytes", 256),
        ("1 KiB", 1024),
        ("4 KiB", 4 * 1024),
        ("8 KiB", 8 * 1024),
        ("64 KiB", 64 * 1024),
    ] {
        let (_, rest) = page.split_once(&format!("| {row} | ")).unwrap();
        let (cell, _) = rest.split_once(" |").unwrap();
        let told: usize = cell.replace(',', "").parse().unwrap();
        assert_eq!(seal(&ring("a"), &vec![0; len]).len(), told, "{row}");
    }
    let next = [seal(&ring("a"), &[0; 35]), seal(&ring("a"), &[0; 99])];
    assert_eq!(next.map(|token| token.len()), [299, 385], "the next sizes");
}

#[test]
fn the_words_and_defaults_on_the_page_are_ours() {
    let page = page();
    let id = ring("a").keys().next().unwrap().id();
    let now = crate::stage::NOW;
    for reason in [
        OpenError::BlobAltered,
        OpenError::BlobGone,
        OpenError::Expired(now),
        OpenError::FlowExpired(now),
        OpenError::Malformed,
        OpenError::NotYetIssued(now),
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
    ] {
        let label = reason.label();
        assert!(page.contains(&format!("`{label}`")), "{label}");
    }
    assert!(page.contains(OpenError::WIRE_MESSAGE));
    assert!(page.contains(OpenError::WIRE_REASON));
    let (lifetimes, budget) = (Lifetimes::default(), Budget::default());
    assert_eq!(lifetimes.round.as_secs(), 60 * 60);
    assert_eq!(lifetimes.flow.as_secs(), 24 * 60 * 60);
    assert_eq!((budget.warn, budget.refuse), (4 * 1024, 64 * 1024));
}
