//! Requests that the servers saw, as text that is the same in every run.

use std::sync::{Arc, Mutex};

use expect_test::Expect;
use url::form_urlencoded;

/// The requests of a whole test in their order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    lines: Vec<String>,
    /// Addresses that differ between runs, and what to write instead.
    names: Vec<(String, String)>,
}

impl Log {
    pub(crate) fn name(&self, origin: &str, name: &str) {
        let entry = (origin.to_owned(), format!("{{{name}}}"));
        self.0.lock().unwrap().names.push(entry);
    }

    pub(crate) fn add(&self, line: &str) {
        let line = self.scrub(line);
        self.0.lock().unwrap().lines.push(line);
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        let inner = self.0.lock().unwrap();
        let replace = |text: String, (from, to): &(String, String)| text.replace(from, to);
        inner.names.iter().fold(text.to_owned(), replace)
    }

    /// Compares with what is expected, and starts anew.
    #[track_caller]
    pub(crate) fn check(&self, expected: Expect) {
        let lines = std::mem::take(&mut self.0.lock().unwrap().lines);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        expected.assert_eq(&text);
    }

    /// Compares only the lines that begin and contain as given.
    #[track_caller]
    pub(crate) fn check_matching(&self, needle: &str, start: &str, expected: Expect) {
        let lines = std::mem::take(&mut self.0.lock().unwrap().lines);
        let ours = |line: &&String| line.starts_with(start) && line.contains(needle);
        let text: String = lines
            .iter()
            .filter(ours)
            .map(|line| format!("{line}\n"))
            .collect();
        expected.assert_eq(&text);
    }

    pub(crate) fn count(&self, needle: &str) -> usize {
        let inner = self.0.lock().unwrap();
        inner
            .lines
            .iter()
            .filter(|line| line.contains(needle))
            .count()
    }

    pub(crate) fn clear(&self) {
        self.0.lock().unwrap().lines.clear();
    }
}

/// Shows a query or a form; what is random is only shown to be there.
pub(crate) fn show_pairs(encoded: &str) -> String {
    let pairs = form_urlencoded::parse(encoded.as_bytes()).map(|(name, value)| match &*name {
        "state" | "code_challenge" | "code_verifier" | "dpop_jkt" | "client_assertion"
        | "assertion" | "subject_token" => format!(" {name}=…"),
        _ => format!(" {name}={value}"),
    });
    pairs.collect()
}
