//! Calls of a real client that passed the recorder.

use maud::{Markup, html};
use sterna_http::clock;

use super::{Frame, page, shorten, time, wire};
use crate::recorder::{Exchange, ExchangeOutcome};

/// All exchanges, the latest first.
pub(crate) fn recorded_page(
    frame: &Frame<'_>,
    url: Option<&str>,
    unread: u64,
    lines: &[Markup],
) -> Markup {
    let body = html! {
        h1 { "Recorded" }
        @match url {
            Some(url) => p { "Connect a client to " code { (url) } ". Its requests are sent on to the server unchanged, and shown here without their secrets." },
            None => p { "The messages between the client that has started this inspector and its server, without their secrets. The other pages start the server a second time, for themselves." },
        }
        @if unread > 0 { p.dim { (unread) " times, messages were too large or came too fast to be shown. They were passed on." } }
        @if lines.is_empty() {
            p.spinner role="status" { "Waiting for the first request" }
        } @else {
            ul.list.card { @for line in lines { (line) } }
        }
    };
    page(frame, "Recorded", &body)
}

/// One line of the list.
pub(crate) fn exchange_line(exchange: &Exchange) -> Markup {
    html! {
        li {
            a.name href={ "/recorded/" (exchange.id) } { (shorten(&title(exchange), 200)) }
            " " (badge(exchange)) " "
            span.dim {
                "#" (exchange.id)
                @if let Some(before) = exchange.before { ", goes on from #" (before) }
                @if let Some(status) = exchange.status { ", HTTP " (status) }
                ", " (duration(exchange))
            }
            @if let ExchangeOutcome::Asks(keys) = &exchange.outcome {
                p { "asks " @for key in keys { code { (shorten(key, 60)) } " " } }
            }
        }
    }
}

/// The rounds of one call.
pub(crate) fn exchange_page(frame: &Frame<'_>, title: &str, rounds: &[Markup]) -> Markup {
    let body = html! {
        p.crumbs { a href="/recorded" { "Recorded" } " / " (shorten(title, 100)) }
        h1 { (shorten(title, 300)) }
        @for round in rounds { (round) }
    };
    page(frame, title, &body)
}

/// One exchange in full.
pub(crate) fn exchange_card(exchange: &Exchange, number: usize) -> Markup {
    html! {
        section.card aria-label={ "Round " (number) } {
            h2 { "Round " (number) " " (badge(exchange)) " " span.dim { (duration(exchange)) } }
            @if let Some((method, path)) = &exchange.place {
                p.dim {
                    (method) " " code { (path) }
                    @if let Some(status) = exchange.status { " HTTP " (status) }
                }
            }
            @match &exchange.outcome {
                ExchangeOutcome::Asks(keys) => p { "It asks " @for key in keys { code { (shorten(key, 100)) } " " } },
                ExchangeOutcome::Broken(why) => p.error { (shorten(why, 500)) },
                ExchangeOutcome::Done | ExchangeOutcome::Error | ExchangeOutcome::Open => {},
            }
            (wire::messages(&exchange.wire, true))
            @if exchange.left_out > 0 { p.dim { (exchange.left_out) " more messages were not kept." } }
        }
    }
}

/// The call in words.
pub(crate) fn title(exchange: &Exchange) -> String {
    match (&exchange.method, &exchange.name, &exchange.place) {
        (Some(method), Some(name), _) => format!("{method} {name}"),
        (Some(method), None, _) => method.clone(),
        (None, _, Some((method, path))) => format!("{method} {path}"),
        (None, _, None) => "a message".to_owned(),
    }
}

fn duration(exchange: &Exchange) -> Markup {
    let so_far = clock::now().saturating_duration_since(exchange.began);
    html! {
        @match exchange.took {
            Some(took) => (time(took)),
            None => span data-since-ms=(so_far.as_millis()) { (time(so_far)) },
        }
    }
}

fn badge(exchange: &Exchange) -> Markup {
    let (class, word) = match &exchange.outcome {
        ExchangeOutcome::Asks(_) => ("wait", "asks"),
        ExchangeOutcome::Broken(_) => ("bad", "broken off"),
        ExchangeOutcome::Done => ("good", "done"),
        ExchangeOutcome::Error => ("bad", "error"),
        ExchangeOutcome::Open => ("busy", "running"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}
