//! The state inside a token.

use serde_json::{Value, json};
use sterna_flow::{Entry, Journal};
use sterna_inspect::token::{asked, entry_kind, entry_value, hex, trace};
use sterna_server::{SealedState, StateContent};

use crate::table::Table;
use crate::text::Text;

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

pub(super) fn as_text(state: Found<'_>, show_values: bool) -> Text {
    let heading = Text::from("\n") + Text::bold("state") + "\n";
    let Some(state) = state else {
        return heading + "  in a blob store; the token holds its key\n";
    };
    let Some(state) = state else {
        return heading + "  not readable by this release\n";
    };
    let mut text = heading + format!("  build        {}\n", hex(&state.build));
    if let Some(trace) = trace(state) {
        text += format!("  trace        {trace}\n");
    }
    if state.sheds > 0 {
        text += format!("  sent away    {} times in a row\n", state.sheds);
    }
    match &state.content {
        StateContent::Journal(journal) => {
            text += format!("  waits for    {}\n", or_nothing(&asked(journal)));
            text += entries(journal, show_values);
        }
        StateContent::Author { asked, state } => {
            text += format!("  waits for    {}\n", or_nothing(asked));
            text += format!("  own state    {} bytes\n", state.len());
            if show_values {
                text += Text::from("  ") + Text::dim(state) + "\n";
            }
        }
        _ => text += "  of a kind that this release does not know\n",
    }
    text
}

fn entries(journal: &Journal, show_values: bool) -> Text {
    if journal.entries().is_empty() {
        return Text::from("  journal      empty\n");
    }
    let mut heading = vec!["journal", "kind", "bytes"];
    heading.extend(show_values.then_some("value"));
    let mut table = Table::new(&heading).indented(2);
    for entry in journal.entries() {
        let mut row = vec![
            entry.key().to_string(),
            entry_kind(entry),
            entry.value().len().to_string(),
        ];
        row.extend(show_values.then(|| entry_value(entry)));
        table.row(row);
    }
    table.to_text()
}

fn entry_json(entry: &Entry, show_values: bool) -> Value {
    json!({
        "key": entry.key().as_str(),
        "kind": entry_kind(entry),
        "bytes": entry.value().len(),
        "value": show_values.then(|| entry_value(entry)),
    })
}

fn or_nothing(keys: &[String]) -> String {
    match keys.is_empty() {
        true => "nothing: the client may come back at once".to_owned(),
        false => keys.join(", "),
    }
}
