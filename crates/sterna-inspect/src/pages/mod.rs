//! The pages, rendered with escaping by construction.

mod call;
mod doctor;
mod explore;
mod export;
mod form;
mod questions;
mod recorded;
mod result;
mod schema;
mod store;
mod token;
mod wire;

use maud::{DOCTYPE, Markup, html};

pub(crate) use call::{CallView, call_line, call_page, calls_page, column, eras_page};
pub(crate) use doctor::doctor_page;
pub(crate) use explore::{Entry, ServerView, explore_page, request_page};
pub(crate) use export::export_page;
pub(crate) use questions::{AnswerErrors, read_answers};
pub(crate) use recorded::{
    exchange_card, exchange_line, exchange_page, recorded_page, title as recorded_title,
};
pub(crate) use result::image_of;
pub(crate) use store::{ShownValue, store_page, task_page, value_of};
pub(crate) use token::{TokenView, token_page};
pub(crate) use wire::connection_page;

/// Things that every page shows.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// Name of the inspected server.
    pub(crate) target: &'a str,
    pub(crate) form_token: &'a str,
    /// True if the page shows a call that runs: the script then follows it.
    pub(crate) is_live: bool,
    /// True if the page is loaded again every second without the script. A page
    /// with a form is not: typed text would be lost.
    pub(crate) is_reloaded: bool,
    /// True if a client is recorded.
    pub(crate) has_recorder: bool,
    /// True if the inspector shows a call that was kept in a file, and has no server.
    pub(crate) is_kept: bool,
    /// True if the inspector has a store to show.
    pub(crate) has_store: bool,
    /// The entry of the navigation that is marked.
    pub(crate) here: Here,
}

/// Entries of the navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    Calls,
    Connection,
    Doctor,
    Explore,
    Recorded,
    Store,
}

/// A whole page.
pub(crate) fn page(frame: &Frame<'_>, title: &str, body: &Markup) -> Markup {
    let entry = |here: Here, address: &str, name: &str| {
        html! {
            a href=(address) aria-current=[(frame.here == here).then_some("page")] { (name) }
        }
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (shorten(title, 80)) " · sterna inspect" }
                link rel="stylesheet" href="/inspect.css";
                script type="module" src="/inspect.js" {}
                @if frame.is_reloaded {
                    noscript { meta http-equiv="refresh" content="1"; }
                }
            }
            body data-live[frame.is_live] {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    span.brand { "sterna " b { "inspect" } }
                    nav aria-label="Pages" {
                        @if !frame.is_kept { (entry(Here::Explore, "/", "Explore")) }
                        (entry(Here::Calls, "/calls", "Calls"))
                        @if frame.has_recorder { (entry(Here::Recorded, "/recorded", "Recorded")) }
                        @if frame.has_store { (entry(Here::Store, "/store", "Store")) }
                        @if !frame.is_kept {
                            (entry(Here::Doctor, "/doctor", "Doctor"))
                            (entry(Here::Connection, "/connection", "Connection"))
                        }
                    }
                    span.target title=(frame.target) { (frame.target) }
                }
                main #main tabindex="-1" { (body) }
            }
        }
    }
}

/// A page that says that something went wrong.
pub(crate) fn problem_page(frame: &Frame<'_>, title: &str, text: &str) -> Markup {
    let body = html! {
        section.card.bad role="alert" {
            h1 { (title) }
            p.pre { (shorten(text, 4000)) }
        }
    };
    page(frame, title, &body)
}

/// The page for a request that is refused. It says nothing about the inspected
/// server.
pub(crate) fn denied_page(is_used_ticket: bool) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "sterna inspect" }
            }
            body {
                h1 { "Not allowed" }
                @if is_used_ticket {
                    p { "The ticket in this address was used before, or is wrong. Run the command again for a new one." }
                } @else {
                    p { "Open the address that `sterna inspect` printed." }
                }
            }
        }
    }
}

/// The page that a ticket leads to: it goes on to the first page. A redirect
/// would not do, because a browser withholds a strict cookie from a request that
/// another site caused, and a terminal may be a web page.
pub(crate) fn welcome_page(first: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0; url=" (first) };
                title { "sterna inspect" }
            }
            body { p { a href=(first) { "Go on" } } }
        }
    }
}

/// A form that posts, with its token.
pub(crate) fn post_form(frame: &Frame<'_>, action: &str, body: &Markup) -> Markup {
    html! {
        form method="post" action=(action) novalidate autocomplete="off" {
            input type="hidden" name="form_token" value=(frame.form_token);
            (body)
        }
    }
}

/// The beginning of a long text.
pub(crate) fn shorten(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A size in words.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        _ if bytes < 1 << 20 => format!("{}.{} KiB", bytes >> 10, (bytes % 1024) * 10 / 1024),
        _ => format!(
            "{}.{} MiB",
            bytes >> 20,
            (bytes % (1 << 20)) * 10 / (1 << 20)
        ),
    }
}

/// A duration in words.
pub(crate) fn time(duration: std::time::Duration) -> String {
    let millis = duration.as_millis();
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
    }
}
