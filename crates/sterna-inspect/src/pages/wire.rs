//! Messages on the wire.

use maud::{Markup, html};
use sterna_client::Direction;

use super::{Frame, page, shorten, size, time};
use crate::record::WireRecord;

/// Messages, one a line that opens.
pub(crate) fn messages(wire: &[WireRecord], has_times: bool) -> Markup {
    html! {
        @if wire.is_empty() { p.dim { "No messages." } }
        ol.wire {
            @for message in wire {
                li {
                    details {
                        summary {
                            @match message.direction {
                                Direction::Sent => span.sent title="sent" { "→ sent" },
                                Direction::Received => span.received title="received" { "← received" },
                            }
                            " " code { (shorten(&message.title, 200)) }
                            span.dim {
                                @if let Some(status) = message.status { " HTTP " (status) }
                                " " (size(message.bytes))
                                @if has_times { " after " (time(message.after)) }
                            }
                        }
                        @if !message.headers.is_empty() {
                            dl.headers {
                                @for (name, value) in &message.headers {
                                    dt { (shorten(name, 200)) } dd { (shorten(value, 1000)) }
                                }
                            }
                        }
                        pre tabindex="0" { (message.body) }
                    }
                }
            }
        }
    }
}

/// The messages that belong to no call.
pub(crate) fn connection_page(frame: &Frame<'_>, wire: &[WireRecord]) -> Markup {
    let body = html! {
        h1 { "Connection" }
        p { "The messages that belong to no call: connecting, and fetching lists. Secrets are masked." }
        (super::post_form(frame, "/reconnect", &html! {
            button type="submit" { "Connect again" }
        }))
        section.card { (messages(wire, false)) }
    };
    page(frame, "Connection", &body)
}
