//! The state inside a token, in words.

use std::fmt::Write as _;

use sterna_flow::{Entry, Journal};
use sterna_server::SealedState;

/// Returns the kind of a journal entry, such as `step` or `answer (failed)`.
pub fn entry_kind(entry: &Entry) -> String {
    let failed = if entry.failed() { " (failed)" } else { "" };
    format!("{:?}{failed}", entry.kind()).to_lowercase()
}

/// Returns the value of an entry as text. One that its author marked as secret
/// stays secret, also for operators who have the keys: terminals and logs keep
/// what they are shown.
pub fn entry_value(entry: &Entry) -> String {
    if entry.secret() {
        return "(marked as secret)".to_owned();
    }
    if entry.by_ref() {
        return "(in a blob store)".to_owned();
    }
    match std::str::from_utf8(entry.value()) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("0x{}", hex(entry.value())),
    }
}

/// Returns the keys of the questions that the flow waits for.
pub fn asked(journal: &Journal) -> Vec<String> {
    let asked = journal.asked().iter();
    asked.map(|asked| asked.key.as_str().to_owned()).collect()
}

/// Returns the id of the trace that the first round belongs to, if it has one.
pub fn trace(state: &SealedState) -> Option<String> {
    (state.trace != [0; 16]).then(|| hex(&state.trace))
}

/// Returns bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes what is written");
    }
    text
}
