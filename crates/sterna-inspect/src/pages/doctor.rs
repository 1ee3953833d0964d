//! The findings of the doctor.

use maud::{Markup, html};
use sterna_http::clock;

use super::{Frame, page, post_form, shorten, time};
use crate::checkup::CheckupState;
use crate::doctor::{Finding, Report};
use crate::urlencoded::Fields;

/// The page of the doctor. `tools` can be tried; `entered` is a trial that was not
/// begun, with the reason.
pub(crate) fn doctor_page(
    frame: &Frame<'_>,
    state: &CheckupState,
    tools: &[String],
    entered: Option<(&Fields, &str)>,
) -> Markup {
    let body = html! {
        h1 { "Doctor" }
        p { "What clients of both eras get from the server: the same checks as " code { "sterna doctor" } ". Tools that say that they change nothing and need no arguments are called; a call that asks is abandoned there." }
        @match state {
            CheckupState::Done(report) => (findings(report)),
            CheckupState::Failed(error) => div.problem role="alert" { p { (shorten(error, 2000)) } },
            CheckupState::None => {},
            CheckupState::Running(began) => {
                @let so_far = clock::now().saturating_duration_since(*began);
                p.spinner role="status" {
                    "Examining the server, "
                    span data-since-ms=(so_far.as_millis()) { (time(so_far)) }
                    " so far"
                }
            }
        }
        @if !matches!(state, CheckupState::Running(_)) { (form(frame, state, tools, entered)) }
    };
    page(frame, "Doctor", &body)
}

fn form(
    frame: &Frame<'_>,
    state: &CheckupState,
    tools: &[String],
    entered: Option<(&Fields, &str)>,
) -> Markup {
    let typed = |name: &str| entered.and_then(|(entered, _)| entered.get(name));
    let picked = typed("tool").unwrap_or_default();
    post_form(
        frame,
        "/doctor",
        &html! {
            @if !tools.is_empty() {
                details open[entered.is_some()] {
                    summary { "Call one more tool" }
                    div.field {
                        label for="tool" { "Tool" }
                        select id="tool" name="tool" {
                            option value="" { "none" }
                            @for tool in tools {
                                option value=(tool) selected[tool == picked] { (shorten(tool, 100)) }
                            }
                        }
                    }
                    div.field {
                        label for="arguments" { "Arguments as a JSON object" }
                        textarea.code id="arguments" name="arguments" rows="3" spellcheck="false" {
                            "\n" (typed("arguments").unwrap_or("{}"))
                        }
                        @if let Some((_, error)) = entered { p.hint { strong.error { (shorten(error, 500)) } } }
                    }
                }
            }
            div.actions {
                button type="submit" {
                    @if matches!(state, CheckupState::Done(_)) { "Examine it again" } @else { "Examine the server" }
                }
            }
        },
    )
}

fn findings(report: &Report) -> Markup {
    let of = |era: &str| -> Vec<&Finding> {
        let all = report.findings.iter();
        all.filter(|finding| finding.era == era).collect()
    };
    html! {
        @if report.is_healthy() {
            p.verdict.good { b { "Healthy." } }
        } @else {
            p.verdict { b { "Not healthy." } }
        }
        div.columns {
            @for (era, title) in [("modern", "A client of 2026-07-28"), ("legacy", "A client of 2025-11-25")] {
                section.card {
                    h2 { (title) }
                    div.scroll { table {
                        thead { tr { th { "check" } th { "ok" } th { "seen" } } }
                        tbody {
                            @for finding in of(era).iter().take(MOST_FINDINGS) {
                                tr {
                                    td.short { (finding.check) }
                                    td.short { @if finding.ok { span.badge.good { "yes" } } @else { span.badge.bad { "no" } } }
                                    td { (shorten(&finding.seen, 1000)) }
                                }
                            }
                        }
                    } }
                    @if of(era).len() > MOST_FINDINGS { p.dim { "and " (of(era).len() - MOST_FINDINGS) " more" } }
                }
            }
        }
    }
}

/// Findings of one era on the page. A server may have any number of tools.
const MOST_FINDINGS: usize = 300;
