//! The token workbench.

use maud::{Markup, html};
use sterna_seal::{OpenError, UnixMillis};
use sterna_server::{SealedState, StateContent};

use super::{Frame, page, post_form, shorten, size};
use crate::record::CallRequest;
use crate::token::{Circumstance, TokenCheck, asked, entry_kind, entry_value, hex, trace};
use crate::workbench::{CallerFields, Opened};

/// Everything that the page shows of a token. The token itself is not among it.
#[derive(Debug)]
pub(crate) struct TokenView<'a> {
    pub(crate) call: u64,
    pub(crate) round: usize,
    /// Characters of the token.
    pub(crate) length: usize,
    pub(crate) audience: &'a str,
    pub(crate) opened: Result<&'a Opened, &'a OpenError>,
    pub(crate) now: UnixMillis,
    pub(crate) show_values: bool,
    /// The request that the checks are made for.
    pub(crate) request: &'a CallRequest,
    pub(crate) caller: &'a CallerFields,
    pub(crate) minutes: i64,
    pub(crate) checks: Result<&'a [TokenCheck], String>,
    /// The arguments as they were typed.
    pub(crate) arguments: &'a str,
}

/// The page of a token.
pub(crate) fn token_page(frame: &Frame<'_>, view: &TokenView<'_>) -> Markup {
    let (call, round) = (view.call, view.round);
    let address = format!("/calls/{call}/rounds/{round}");
    let body = html! {
        p.crumbs {
            a href="/calls" { "Calls" } " / " a href={ "/calls/" (call) "?round=" (round) } { "call " (call) }
            " / state"
        }
        h1 { "Request state " span.dim { (size(view.length)) } }
        @match view.opened {
            Err(reason) => (unreadable(reason, view.audience)),
            Ok(opened) => {
                div.columns {
                    section.card {
                        h2 { "Claims" }
                        (claims(opened, view.now))
                    }
                    section.card {
                        h2 { "State" }
                        (state(opened, view, &address))
                    }
                }
                div.columns {
                    section.card {
                        h2 { "Would it be accepted?" }
                        (circumstances(view, &address))
                    }
                    section.card {
                        h2 { "Break it" }
                        p { "Each attempt is sent to the server as a new branch of the call. The page of that round names the check that catches it, and what the client was told." }
                        (attempts(frame, view, &address))
                    }
                }
            }
        }
    };
    page(frame, "Request state", &body)
}

fn unreadable(reason: &OpenError, audience: &str) -> Markup {
    html! {
        section.card.bad role="alert" {
            p { "The keys do not open it: " b { code { (reason.label()) } } ", " (reason) "." }
            @match reason {
                OpenError::UnknownKey(_) => p { "The server that sealed it has another key file, or no key file at all." },
                OpenError::Unauthentic => p {
                    "The audience was taken to be " code { (shorten(audience, 200)) }
                    ". If the server is configured with another one, give it with " code { "--audience" }
                    ", and its tenant with " code { "--tenant" } "."
                },
                OpenError::Malformed => p { "It is no state of a Sterna server." },
                _ => p { "It may come from a later release." },
            }
        }
    }
}

fn claims(opened: &Opened, now: UnixMillis) -> Markup {
    let seen = &opened.seen;
    let moment = |at: UnixMillis| html! { time datetime=(at) { (at) } };
    let end = |at: UnixMillis| {
        let left = at.get() - now.get();
        html! {
            (moment(at)) " "
            @if left > 0 {
                span.countdown data-left-ms=(left) { "in " (minutes_and_seconds(left)) }
            } @else {
                span.error { "over" }
            }
        }
    };
    html! {
        dl.facts {
            dt { "flow" } dd { code { (seen.flow.id) } }
            dt { "round" } dd { (seen.flow.round) }
            dt { "started" } dd { (moment(seen.flow.started_at)) }
            dt { "issued" } dd { (moment(seen.issued_at)) }
            dt { "round ends" } dd { (end(seen.round_ends_at)) }
            dt { "flow ends" } dd { (end(seen.flow_ends_at)) }
            dt { "key" } dd { code { (seen.key_id) } }
            dt { "caller" } dd { @if seen.is_named { "known" } @else { "anonymous" } }
        }
    }
}

/// Time in words, as the script counts it down.
fn minutes_and_seconds(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

fn state(opened: &Opened, view: &TokenView<'_>, address: &str) -> Markup {
    let Some(state) = &opened.state else {
        return match opened.seen.content.inline() {
            Some(_) => html! { p { "The state cannot be read by this release." } },
            None => html! { p { "The state is in a blob store. The token holds its key." } },
        };
    };
    html! {
        dl.facts {
            dt { "build" } dd { code { (hex(&state.build)) } }
            @if let Some(trace) = trace(state) { dt { "trace" } dd { code { (trace) } } }
            @if state.sheds > 0 { dt { "sent away" } dd { (state.sheds) " times in a row" } }
        }
        (content(state, view.show_values))
        @if view.show_values {
            p { a href={ (address) "/token" } { "Hide values" } }
        } @else {
            p { a href={ (address) "/token?values=1" } { "Show values" } }
        }
    }
}

fn content(state: &SealedState, show_values: bool) -> Markup {
    let waits = |keys: &[String]| {
        html! {
            p {
                "Waits for "
                @if keys.is_empty() { "nothing: the client may send the call again at once" }
                @for key in keys { code { (shorten(key, 100)) } " " }
            }
        }
    };
    match &state.content {
        StateContent::Journal(journal) => html! {
            (waits(&asked(journal)))
            @if journal.entries().is_empty() { p.dim { "The journal is empty." } }
            @else {
                div.scroll { table {
                    thead { tr { th { "journal entry" } th { "kind" } th.number { "bytes" } @if show_values { th { "value" } } } }
                    tbody {
                        @for entry in journal.entries() {
                            tr {
                                td { code { (shorten(entry.key().as_str(), 200)) } }
                                td { (entry_kind(entry)) }
                                td.number { (entry.value().len()) }
                                @if show_values { td { code { (shorten(&entry_value(entry), 500)) } } }
                            }
                        }
                    }
                } }
            }
        },
        StateContent::Author { asked, state } => html! {
            (waits(asked))
            p { "The handler keeps " (size(state.len())) " of its own." }
            @if show_values { pre tabindex="0" { (shorten(state, 10_000)) } }
        },
        _ => html! { p { "It is of a kind that this release does not know." } },
    }
}

/// The checks of a server for circumstances that can be changed.
fn circumstances(view: &TokenView<'_>, address: &str) -> Markup {
    let word = view.request.kind.word();
    let field = |name: &str, label: &str, value: &str| {
        html! {
            div.field {
                label for=(name) { (label) }
                input id=(name) name=(name) value=(value);
            }
        }
    };
    html! {
        @match &view.checks {
            Ok(checks) => {
                ul.checks {
                    @for check in *checks { (check_line(check, word)) }
                }
                @if checks.iter().any(|check| check.refusal.is_some()) {
                    p.verdict { b { "No. " } "The client would be told " code { (OpenError::WIRE_MESSAGE) } " and nothing else." }
                } @else {
                    p.verdict.good { b { "Yes, " } "unless the server allows a state only once and this one was used." }
                }
            }
            Err(error) => p.error role="alert" { (shorten(error, 500)) },
        }
        form method="get" action={ (address) "/token" } autocomplete="off" {
            (field("name", &format!("For the {word}"), &view.request.name))
            div.field {
                label for="arguments" { "With these arguments" }
                textarea.code id="arguments" name="arguments" rows="3" spellcheck="false" { "\n" (view.arguments) }
            }
            (field("minutes", "In so many minutes from now", &view.minutes.to_string()))
            fieldset {
                legend { "From the caller" }
                p.hint { "Leave all three empty for an anonymous caller." }
                (field("issuer", "Issuer", &view.caller.issuer))
                (field("subject", "Subject", &view.caller.subject))
                (field("client", "Client", &view.caller.client))
            }
            div.actions { button type="submit" { "Check" } }
        }
    }
}

fn check_line(check: &TokenCheck, word: &str) -> Markup {
    let about = match check.about {
        Circumstance::Arguments => "arguments",
        Circumstance::Caller => "caller",
        Circumstance::Target => word,
        _ => "time",
    };
    html! {
        li {
            @match &check.refusal {
                None => { span.badge.good { "ok" } " " (about) },
                Some(refusal) => {
                    span.badge.bad { "refused" } " " (about) ": "
                    b { code { (refusal.label) } } ", " (refusal.detail)
                }
            }
        }
    }
}

fn attempts(frame: &Frame<'_>, view: &TokenView<'_>, address: &str) -> Markup {
    let action = format!("{address}/break");
    let middle = view.length / 2;
    let hidden = |name: &str, value: &str| html! { input type="hidden" name=(name) value=(value); };
    let caller = html! {
        (hidden("issuer", &view.caller.issuer))
        (hidden("subject", &view.caller.subject))
        (hidden("client", &view.caller.client))
    };
    html! {
        (post_form(frame, &action, &html! {
            (hidden("attempt", "flip")) (caller)
            div.field {
                label for="at" { "Change the character at position" }
                input id="at" name="at" inputmode="numeric" value=(middle);
                p.hint { span.limit { "0 to " (view.length.saturating_sub(1)) } }
            }
            button.quiet type="submit" { "Flip a character" }
        }))
        (post_form(frame, &action, &html! {
            (hidden("attempt", "swap")) (caller)
            div.field {
                label for="swap" { "Send it for another " (view.request.kind.word()) }
                input id="swap" name="name" value="";
            }
            button.quiet type="submit" { "Swap the " (view.request.kind.word()) }
        }))
        (post_form(frame, &action, &html! {
            (hidden("attempt", "expire")) (caller)
            p.hint { "The same state is sealed again with your key, for a round that ended some seconds ago." }
            button.quiet type="submit" { "Let it expire" }
        }))
    }
}
