//! What the state inside a token holds.

use serde_json::{Value, json};
use sterna_flow::{Entry, Journal};
use sterna_server::{SealedState, StateContent};

use crate::screen::{BOLD, DIM};
use crate::table::{Table, plain};

/// `None`: the state is in a blob store. `Some(None)`: it cannot be read.
type Found<'a> = Option<&'a Option<SealedState>>;

pub(super) fn as_json(state: Found<'_>, show_values: bool) -> Value {
    let Some(state) = state else {
        return json!({"kind": "spilled"});
    };
    let Some(state) = state else {
        return json!({"kind": "unreadable"});
    };
    let mut json = json!({
        "build": hex(&state.build),
        "sheds": state.sheds,
        "trace": trace(state),
    });
    let content = match &state.content {
        StateContent::Journal(journal) => json!({
            "kind": "journal",
            "asked": asked(journal),
            "entries": journal.entries().iter().map(|entry| entry_json(entry, show_values)).collect::<Vec<_>>(),
        }),
        StateContent::Author { asked, state } => json!({
            "kind": "author",
            "asked": asked,
            "bytes": state.len(),
            "value": show_values.then_some(state),
        }),
        _ => json!({"kind": "unknown"}),
    };
    if let (Some(json), Value::Object(content)) = (json.as_object_mut(), content) {
        json.extend(content);
    }
    json
}

pub(super) fn as_text(state: Found<'_>, show_values: bool) -> String {
    let Some(state) = state else {
        return format!("\n{BOLD}state{BOLD:#}\n  in a blob store; the token holds its key\n");
    };
    let Some(state) = state else {
        return format!("\n{BOLD}state{BOLD:#}\n  not readable by this release\n");
    };
    let mut text = format!(
        "\n{BOLD}state{BOLD:#}\n  build        {}\n",
        hex(&state.build)
    );
    if let Some(trace) = trace(state) {
        text.push_str(&format!("  trace        {trace}\n"));
    }
    if state.sheds > 0 {
        text.push_str(&format!("  sent away    {} times in a row\n", state.sheds));
    }
    match &state.content {
        StateContent::Journal(journal) => {
            text.push_str(&format!("  waits for    {}\n", or_nothing(&asked(journal))));
            text.push_str(&entries(journal, show_values));
        }
        StateContent::Author { asked, state } => {
            text.push_str(&format!("  waits for    {}\n", or_nothing(asked)));
            text.push_str(&format!("  own state    {} bytes\n", state.len()));
            if show_values {
                text.push_str(&format!("  {DIM}{}{DIM:#}\n", plain(state)));
            }
        }
        _ => text.push_str("  of a kind that this release does not know\n"),
    }
    text
}

fn entries(journal: &Journal, show_values: bool) -> String {
    if journal.entries().is_empty() {
        return "  journal      empty\n".to_owned();
    }
    let mut heading = vec!["journal", "kind", "bytes"];
    heading.extend(show_values.then_some("value"));
    let mut table = Table::new(&heading);
    for entry in journal.entries() {
        let mut row = vec![
            entry.key().to_string(),
            kind(entry),
            entry.value().len().to_string(),
        ];
        row.extend(show_values.then(|| value(entry)));
        table.row(row);
    }
    let table = table.to_string();
    table.lines().map(|line| format!("  {line}\n")).collect()
}

fn entry_json(entry: &Entry, show_values: bool) -> Value {
    json!({
        "key": entry.key().as_str(),
        "kind": kind(entry),
        "bytes": entry.value().len(),
        "value": show_values.then(|| value(entry)),
    })
}

fn kind(entry: &Entry) -> String {
    let failed = if entry.failed() { " (failed)" } else { "" };
    format!("{:?}{failed}", entry.kind()).to_lowercase()
}

/// The value as text. One that its author marked as secret stays secret, also
/// for whoever has the keys: terminals and logs keep what they are shown.
fn value(entry: &Entry) -> String {
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

fn asked(journal: &Journal) -> Vec<String> {
    let keys = journal
        .asked()
        .iter()
        .map(|asked| asked.key.as_str().to_owned());
    keys.collect()
}

fn or_nothing(keys: &[String]) -> String {
    match keys.is_empty() {
        true => "nothing: the client may come back at once".to_owned(),
        false => keys.join(", "),
    }
}

fn trace(state: &SealedState) -> Option<String> {
    (state.trace != [0; 16]).then(|| hex(&state.trace))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
