//! A call as code.

use maud::{Markup, html};

use super::{Frame, page, shorten};
use crate::export::Export;

/// The page with all forms of a call.
pub(crate) fn export_page(frame: &Frame<'_>, export: &Export, target: &str) -> Markup {
    let block = |id: &str, title: &str, hint: &str, text: &str| {
        html! {
            section.card.export {
                h2 { label for=(id) { (title) } }
                p.hint { (hint) }
                textarea.code id=(id) rows=(text.lines().count().clamp(3, 24)) readonly spellcheck="false" {
                    "\n" (shorten(text, 50_000))
                }
            }
        }
    };
    let body = html! {
        p.crumbs { a href="/calls" { "Calls" } " / export" }
        h1 { "Keep this call" }
        p { "The branch from round 1 to the round that was selected. Values with the name of a secret are masked; no state is in any of them." }
        (block(
            "test",
            "A test for sterna-testkit",
            "It needs a function `server` that builds your server, and crashes the call at every point.",
            &export.as_test(),
        ))
        (block("command", "The sterna command", "The text of a model and folders are asked for.", &export.as_command(target)))
        @if target.starts_with("http") {
            (block("script", "curl and jq", "One request for each round; the state is handed on by jq.", &export.as_script(target)))
        }
    };
    page(frame, "Keep this call", &body)
}
