//! The store: tasks of all owners, one task, and the ledger of effects.

use maud::{Markup, html};
use sterna_store::{
    Cursor, EffectSurvey, Phase, Status, StoredValue, SurveyedEffect, SurveyedTask, TaskDetails,
    TaskSurvey, UnixMillis,
};

use super::{Frame, page, shorten, size};
use crate::urlencoded::encode;

/// One value of a task that was asked for.
#[derive(Debug)]
pub(crate) struct ShownValue {
    /// The value in words, such as the key of a journal entry.
    pub(crate) name: String,
    /// Its text, or the reason why there is none.
    pub(crate) text: String,
}

/// The page of a store.
pub(crate) fn store_page(
    frame: &Frame<'_>,
    tasks: &TaskSurvey,
    only: Option<Status>,
    effects: &EffectSurvey,
) -> Markup {
    let all = [
        None,
        Some(Status::Working),
        Some(Status::InputRequired),
        Some(Status::Completed),
        Some(Status::Failed),
        Some(Status::Cancelled),
    ];
    let body = html! {
        h1 { "Store" }
        p { "Read only. Sizes are shown instead of values; a value is fetched when you ask for it." }
        section.card {
            h2 { "Tasks " span.dim { "latest first" } }
            nav.filter aria-label="Status" {
                @for status in all {
                    a href=(address(status, None)) aria-current=[(status == only).then_some("true")] {
                        (status.map_or("all", Status::as_str))
                    }
                }
            }
            @if tasks.tasks.is_empty() {
                p.dim { "No tasks" @if only.is_some() { " in this status" } "." }
            } @else {
                div.scroll { table {
                    thead { tr {
                        th { "task" } th { "tool" } th { "status" } th { "lease" }
                        th.number { "attempts" } th.number { "journal" } th.number { "open questions" } th { "changed" }
                    } }
                    tbody { @for task in &tasks.tasks { (row(task, tasks.now)) } }
                } }
            }
            @if let Some(next) = tasks.next {
                p { a href=(address(only, Some(next))) { "Older tasks" } }
            }
        }
        section.card {
            h2 { "Ledger of effects " span.dim { "latest claim first" } }
            p.hint { "An effect that was claimed and has no result may be running, may have happened, or may not have happened. No server runs it again." }
            (effect_table(effects))
        }
    };
    page(frame, "Store", &body)
}

fn address(status: Option<Status>, before: Option<Cursor>) -> String {
    let status = status.map(|status| format!("status={}", status.as_str()));
    let before = before.map(|before| format!("before={before}"));
    let query: Vec<String> = status.into_iter().chain(before).collect();
    match query.is_empty() {
        true => "/store".to_owned(),
        false => format!("/store?{}", query.join("&")),
    }
}

fn row(task: &SurveyedTask, now: UnixMillis) -> Markup {
    let summary = &task.summary;
    let id = summary.id.to_string();
    html! {
        tr {
            td { a href={ "/store/tasks/" (id) } { code { (id[..8]) "…" } } }
            td { (shorten(summary.target.as_str(), 60)) }
            td { (status(summary.status)) @if task.problem.is_some() { " " span.tag.bad { "unreadable" } } }
            td { (lease(task, now)) }
            td.number { (task.control.attempts) }
            td.number { (task.control.entries) }
            td.number { (task.control.open) }
            td { (ago(summary.updated_at, now)) }
        }
    }
}

fn status(status: Status) -> Markup {
    let class = match status {
        Status::Working => "busy",
        Status::InputRequired => "wait",
        Status::Completed => "good",
        Status::Failed => "bad",
        Status::Cancelled => "off",
    };
    html! { span class={ "badge " (class) } { (status.as_str()) } }
}

/// The worker and the end of its lease, or when the task may be claimed.
fn lease(task: &SurveyedTask, now: UnixMillis) -> Markup {
    let control = &task.control;
    match (control.held, control.due_at) {
        (true, due) => html! {
            (shorten(task.worker.as_deref().unwrap_or("a worker"), 60))
            @if let Some(due) = due { " " span.dim { (until(due, now)) } }
        },
        (false, Some(due)) if due <= now => html! { span.dim { "wants a worker" } },
        (false, Some(due)) => html! { span.dim { "sleeps, " (until(due, now)) } },
        (false, None) if task.summary.status.is_final() => html! { span.dim { "–" } },
        (false, None) => html! { span.dim { "rests until an answer comes" } },
    }
}

/// Time until a moment, which the script counts down.
fn until(end: UnixMillis, now: UnixMillis) -> Markup {
    let left = end.get().saturating_sub(now.get());
    html! {
        @if left > 0 { span data-left-ms=(left) { "in " (in_words(left)) } }
        @else { span { "over" } }
    }
}

fn ago(moment: UnixMillis, now: UnixMillis) -> Markup {
    let passed = now.get().saturating_sub(moment.get()).max(0);
    html! { time datetime=(moment) title=(moment) { (in_words(passed)) " ago" } }
}

/// Time in words, as the script counts it.
pub(super) fn in_words(millis: i64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn effect_table(effects: &EffectSurvey) -> Markup {
    html! {
        @if effects.effects.is_empty() { p.dim { "No effects." } }
        @else {
            div.scroll { table {
                thead { tr { th { "effect" } th { "flow" } th { "result" } th { "claimed" } th { "forgotten" } } }
                tbody { @for effect in &effects.effects { (effect_row(effect, effects.now)) } }
            } }
        }
        @if effects.is_cut { p.dim { "Older ones are not shown." } }
    }
}

fn effect_row(effect: &SurveyedEffect, now: UnixMillis) -> Markup {
    let flow = effect.effect.flow.to_string();
    html! {
        tr {
            td { code { (shorten(effect.effect.key.as_str(), 100)) } }
            td { code title=(flow) { (shorten(&flow, 8)) } }
            td {
                @match effect.result_bytes {
                    Some(bytes) => { span.badge.good { "settled" } " " span.dim { (bytes_of(bytes)) } },
                    None => span.badge.wait { "no result" },
                }
            }
            td { (ago(effect.claimed_at, now)) }
            td { (until(effect.expires_at, now)) }
        }
    }
}

/// The page of one task.
pub(crate) fn task_page(
    frame: &Frame<'_>,
    details: &TaskDetails,
    effects: &EffectSurvey,
    value: Option<&ShownValue>,
) -> Markup {
    let TaskDetails { task, now, .. } = details;
    let summary = &task.summary;
    let id = summary.id.to_string();
    let ask = |what: &str, key: Option<&str>| {
        let key = key.map_or_else(String::new, |key| format!("&key={}", encode(key)));
        html! { a href={ "/store/tasks/" (id) "?value=" (what) (key) "#value" } { "show" } }
    };
    let more = |listed: usize, all: u32| {
        let all = usize::try_from(all).unwrap_or(usize::MAX);
        html! { @if listed < all { p.dim { "and " (all - listed) " more" } } }
    };
    let body = html! {
        p.crumbs { a href="/store" { "Store" } " / " (id[..8]) "…" }
        h1 { (shorten(summary.target.as_str(), 200)) " " (status(summary.status)) }
        @if let Some(value) = value {
            section.card #value {
                h2 { "Value of " code { (shorten(&value.name, 200)) } }
                pre tabindex="0" { (value.text) }
                p { a href={ "/store/tasks/" (id) } { "Hide it" } }
            }
        }
        div.columns {
            section.card {
                h2 { "Task" }
                dl.facts {
                    dt { "id" } dd { code { (id) } }
                    dt { "flow" } dd { code { (task.flow) } }
                    @if let Some(note) = &summary.note { dt { "note" } dd { (shorten(note.as_str(), 300)) } }
                    dt { "lease" } dd { (lease(task, *now)) }
                    dt { "claims" } dd { (task.control.fence.get()) }
                    dt { "attempts" } dd { (task.control.attempts) " since it last made progress" }
                    dt { "created" } dd { (ago(summary.created_at, *now)) }
                    dt { "changed" } dd { (ago(summary.updated_at, *now)) }
                    @if let Some(end) = summary.expires_at { dt { "expires" } dd { (until(end, *now)) } }
                    dt { "request" } dd { (bytes_of(details.request_bytes)) " " (ask("request", None)) }
                    @if let Some(bytes) = details.outcome_bytes {
                        dt { "outcome" } dd { (bytes_of(bytes)) " " (ask("outcome", None)) }
                    }
                }
            }
            section.card {
                h2 { "Questions" }
                @if details.questions.is_empty() { p.dim { "It has asked nothing." } }
                @else {
                    div.scroll { table {
                        thead { tr { th { "question" } th { "phase" } th { "text" } th { "answer" } } }
                        tbody {
                            @for question in &details.questions {
                                @let key = question.asked.key.as_str();
                                tr {
                                    td { code { (shorten(key, 100)) } }
                                    td { (phase(question.asked.phase)) }
                                    td { (bytes_of(question.request_bytes)) " " (ask("question", Some(key))) }
                                    td {
                                        @if let Some(bytes) = question.response_bytes {
                                            (bytes_of(bytes)) " " (ask("response", Some(key)))
                                        }
                                    }
                                }
                            }
                        }
                    } }
                }
            }
        }
        div.columns {
            section.card {
                h2 { "Journal " span.count { (task.control.entries) } }
                @if details.journal.is_empty() { p.dim { "The journal is empty." } }
                @else {
                    div.scroll { table {
                        thead { tr { th { "entry" } th.number { "bytes" } th { "value" } } }
                        tbody {
                            @for entry in &details.journal {
                                tr {
                                    td { code { (shorten(entry.key.as_str(), 200)) } }
                                    td.number { (entry.bytes) }
                                    td { (ask("entry", Some(entry.key.as_str()))) }
                                }
                            }
                        }
                    } }
                    (more(details.journal.len(), task.control.entries))
                }
            }
            section.card {
                h2 { "Effects of its flow" }
                (effect_table(effects))
            }
        }
    };
    page(frame, summary.target.as_str(), &body)
}

fn phase(phase: Phase) -> Markup {
    let class = match phase {
        Phase::Open => "wait",
        Phase::Answered => "busy",
        Phase::Taken => "good",
        Phase::Withdrawn => "off",
    };
    html! { span class={ "badge " (class) } { (phase.as_str()) } }
}

fn bytes_of(bytes: u64) -> String {
    size(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// The value that a query names.
pub(crate) fn value_of(what: &str, key: Option<&str>) -> Option<StoredValue> {
    let key = || sterna_store::Name::new(key?).ok();
    Some(match what {
        "entry" => StoredValue::Entry(key()?),
        "outcome" => StoredValue::Outcome,
        "question" => StoredValue::Question(key()?),
        "request" => StoredValue::Request,
        "response" => StoredValue::Response(key()?),
        _ => return None,
    })
}
