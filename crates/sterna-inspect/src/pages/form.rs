//! The fields of a form.

use maud::{Markup, html};
use serde_json::Value;

use super::shorten;
use crate::fields::{Choice, Errors, Field, Kind, in_row, row_count};
use crate::urlencoded::Fields;

/// Values, errors and rows of a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled<'a> {
    /// The form as it was sent; `None` shows the defaults.
    pub(crate) entered: Option<&'a Fields>,
    pub(crate) errors: &'a Errors,
    /// Path of a list that gets one row more.
    pub(crate) add_row: Option<&'a str>,
    /// True if a button that adds a row can be shown.
    pub(crate) can_add: bool,
}

/// Renders fields.
pub(crate) fn fields(fields: &[Field], filled: Filled<'_>) -> Markup {
    html! {
        @for field in fields { (one(field, filled, None)) }
    }
}

fn one(field: &Field, filled: Filled<'_>, row: Option<usize>) -> Markup {
    let path = in_row(&field.path, row);
    let error = filled.errors.get(&path);
    let hint = format!("{path}?hint");
    let about = html! {
        @if field.description.is_some() || !field.limits.is_empty() || field.default.is_some() || error.is_some() {
            p.hint id=(hint) {
                @if let Some(error) = error { strong.error { (field.title) " " (error) } " " }
                @if let Some(description) = &field.description { span { (shorten(description, 2000)) } " " }
                @for limit in &field.limits { span.limit { (shorten(limit, 200)) } " " }
                @if let Some(default) = &field.default {
                    span.limit { "default " (shorten(&spelled(default), 200)) }
                }
            }
        }
    };
    let label = html! {
        (shorten(&field.title, 200))
        @if field.is_required { span.required title="required" { " *" } }
        @if field.title != field.name { " " code { (shorten(&field.name, 200)) } }
    };
    match &field.kind {
        Kind::Object(members) => html! {
            fieldset {
                legend { (label) }
                (about)
                @for member in members { (one(member, filled, row)) }
            }
        },
        Kind::Rows(members) => rows(&path, members, filled, &label, &about),
        Kind::Choices(choices) => html! {
            fieldset.choices {
                legend { (label) }
                (about)
                @for choice in choices {
                    label.check {
                        input type="checkbox" name=(path) value=(choice.key())
                            checked[is_picked(field, &path, filled, choice)];
                        " " (shorten(&choice.title, 200))
                    }
                }
            }
        },
        kind => html! {
            div.field {
                label for=(path) { (label) }
                (input(field, kind, &path, filled, &hint, error.is_some()))
                (about)
            }
        },
    }
}

fn input(
    field: &Field,
    kind: &Kind,
    path: &str,
    filled: Filled<'_>,
    hint: &str,
    is_wrong: bool,
) -> Markup {
    let value = shown(field, path, filled);
    let wrong = is_wrong.then_some("true");
    match kind {
        Kind::Boolean => {
            let choices = [("true", "yes"), ("false", "no")];
            html! {
                select id=(path) name=(path) aria-describedby=(hint) aria-invalid=[wrong] {
                    option value="" { "—" }
                    @for (key, title) in choices {
                        option value=(key) selected[value == key] { (title) }
                    }
                }
            }
        }
        Kind::Choice(choices) => html! {
            select id=(path) name=(path) aria-describedby=(hint) aria-invalid=[wrong] {
                option value="" { "—" }
                @for choice in choices {
                    option value=(choice.key()) selected[value == choice.key()] {
                        (shorten(&choice.title, 200))
                    }
                }
            }
        },
        Kind::Lines(_) => html! {
            textarea id=(path) name=(path) rows="3" placeholder="one a line"
                aria-describedby=(hint) aria-invalid=[wrong] { "\n" (value) }
        },
        Kind::Json => html! {
            textarea.code id=(path) name=(path) rows="3" placeholder="JSON" spellcheck="false"
                aria-describedby=(hint) aria-invalid=[wrong] { "\n" (value) }
        },
        Kind::Number { .. } => html! {
            input id=(path) name=(path) inputmode="decimal" value=(value)
                aria-describedby=(hint) aria-invalid=[wrong];
        },
        Kind::Text { is_secret, format } => {
            let kind = match (is_secret, format.as_deref()) {
                (true, _) => "password",
                (false, Some("date")) => "date",
                (false, Some("email")) => "email",
                _ => "text",
            };
            html! {
                input id=(path) name=(path) type=(kind) value=(value) data-complete=(field.name)
                    aria-describedby=(hint) aria-invalid=[wrong];
            }
        }
        Kind::Choices(_) | Kind::Object(_) | Kind::Rows(_) => html! {},
    }
}

/// A list of objects. The button sends the form, which comes back with one row
/// more.
fn rows(
    path: &str,
    members: &[Field],
    filled: Filled<'_>,
    label: &Markup,
    about: &Markup,
) -> Markup {
    let sent = filled.entered.map_or(0, |entered| row_count(path, entered));
    let count = sent + usize::from(filled.add_row == Some(path));
    let count = if filled.can_add { count } else { count.max(3) };
    html! {
        fieldset {
            legend { (label) }
            (about)
            input type="hidden" name={ (path) "#" } value=(count);
            @for row in 0..count {
                fieldset.row {
                    legend { "row " (row + 1) }
                    @for member in members { (one(member, filled, Some(row))) }
                }
            }
            @if filled.can_add {
                button.quiet type="submit" name="add" value=(path) { "Add a row" }
            }
        }
    }
}

fn shown(field: &Field, path: &str, filled: Filled<'_>) -> String {
    match filled.entered {
        Some(entered) => entered.get(path).unwrap_or_default().to_owned(),
        None => match (&field.default, &field.kind) {
            (None, _) => String::new(),
            (Some(Value::Array(items)), Kind::Lines(_)) => {
                let lines: Vec<String> = items.iter().map(spelled).collect();
                lines.join("\n")
            }
            (Some(value), _) => spelled(value),
        },
    }
}

fn is_picked(field: &Field, path: &str, filled: Filled<'_>, choice: &Choice) -> bool {
    match filled.entered {
        Some(entered) => entered.all(path).any(|key| key == choice.key()),
        None => {
            let default = field.default.as_ref().and_then(Value::as_array);
            default.is_some_and(|picked| picked.contains(&choice.value))
        }
    }
}

fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
