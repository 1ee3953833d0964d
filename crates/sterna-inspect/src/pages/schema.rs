//! A schema as a table.

use maud::{Markup, html};
use serde_json::Value;

use super::shorten;
use crate::fields::{Field, Kind, fields_of};

/// The members of an object schema, one a row. The schema itself follows, for
/// what the table cannot say.
pub(crate) fn table(schema: &Value) -> Markup {
    let fields = fields_of(schema, "");
    html! {
        @if fields.is_empty() {
            p.dim { "No named members." }
        } @else {
            div.scroll {
                table {
                    thead { tr { th { "name" } th { "type" } th { "limits" } th { "description" } } }
                    tbody { (rows(&fields)) }
                }
            }
        }
        details {
            summary { "JSON Schema" }
            pre tabindex="0" { (shorten(&format!("{schema:#}"), 20_000)) }
        }
    }
}

fn rows(fields: &[Field]) -> Markup {
    html! {
        @for field in fields {
            tr {
                td {
                    code { (shorten(field.path.trim_start_matches('/'), 200)) }
                    @if field.is_required { span.required title="required" { " *" } }
                }
                td { (kind(&field.kind)) }
                td {
                    @for limit in &field.limits { span.limit { (shorten(limit, 200)) } " " }
                    @if let Some(default) = &field.default {
                        span.limit { "default " (shorten(&default.to_string(), 200)) }
                    }
                }
                td { (shorten(field.description.as_deref().unwrap_or_default(), 1000)) }
            }
            @if let Kind::Object(members) | Kind::Rows(members) = &field.kind { (rows(members)) }
        }
    }
}

fn kind(kind: &Kind) -> Markup {
    let listed = |choices: &[crate::fields::Choice]| {
        let mut keys: Vec<String> = choices.iter().map(crate::fields::Choice::key).collect();
        let more = keys.len().saturating_sub(12);
        keys.truncate(12);
        html! {
            @for key in &keys { code.choice { (shorten(key, 80)) } " " }
            @if more > 0 { "and " (more) " more" }
        }
    };
    match kind {
        Kind::Boolean => html! { "boolean" },
        Kind::Choice(choices) => html! { "one of " (listed(choices)) },
        Kind::Choices(choices) => html! { "some of " (listed(choices)) },
        Kind::Json => html! { "any" },
        Kind::Lines(items) => html! { "list of " (self::kind(items)) },
        Kind::Number { is_integer: true } => html! { "integer" },
        Kind::Number { is_integer: false } => html! { "number" },
        Kind::Object(_) => html! { "object" },
        Kind::Rows(_) => html! { "list of objects" },
        Kind::Text { .. } => html! { "text" },
    }
}
