//! A call: its rounds as a tree and on a timeline, and one of them in full.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;
use sterna_http::clock;
use sterna_protocol::input::InputRequest;

use super::explore::era_name;
use super::questions::{self, AnswerErrors};
use super::{Frame, page, post_form, shorten, size, time, wire};
use crate::export::Export;
use crate::record::{
    AskedRound, CallRecord, Failure, LiveAnswer, LiveQuestion, Round, Status, TaskRecord,
};
use crate::urlencoded::Fields;

/// Details of a page that do not come from the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallView<'a> {
    /// The round that is shown in full; the latest by default.
    pub(crate) round: Option<usize>,
    /// Answers that were not sent, and the reasons.
    pub(crate) entered: Option<(&'a Fields, &'a AnswerErrors)>,
    /// True if a command can write the text of a model.
    pub(crate) has_sampler: bool,
    /// True if the inspector has the keys of the server.
    pub(crate) has_keys: bool,
    /// The other call, if two eras are compared: this call is one column.
    pub(crate) pair: Option<(u64, u64)>,
}

/// All calls, the latest first.
pub(crate) fn calls_page(frame: &Frame<'_>, lines: &[Markup]) -> Markup {
    let body = html! {
        h1 { "Calls" }
        @if lines.is_empty() {
            p.dim { "No calls yet. " a href="/" { "Pick a tool" } " to make one." }
        } @else {
            ul.list.card { @for line in lines { (line) } }
        }
    };
    page(frame, "Calls", &body)
}

/// One line of the list of calls.
pub(crate) fn call_line(call: &CallRecord) -> Markup {
    let branches = call.rounds.len();
    let last = call.rounds.last();
    html! {
        li {
            a.name href={ "/calls/" (call.id) } { (shorten(&call.request.name, 200)) }
            " " span.dim { "call " (call.id) ", " (branches) @if branches == 1 { " round" } @else { " rounds" } ", " (era_name(call.era)) }
            " " @if let Some(round) = last { (badge(round)) }
        }
    }
}

/// The page of a call.
pub(crate) fn call_page(frame: &Frame<'_>, call: &CallRecord, view: CallView<'_>) -> Markup {
    let latest = call.rounds.len().saturating_sub(1);
    let selected = view
        .round
        .filter(|round| *round <= latest)
        .unwrap_or(latest);
    let request = &call.request;
    let again = format!("/request?again={}", call.id);
    let body = html! {
        p.crumbs { a href="/calls" { "Calls" } " / " (call.id) }
        h1 { (shorten(&request.name, 300)) " " span.dim { (request.kind.word()) } }
        dl.facts {
            dt { "era" } dd { (era_name(call.era)) }
            dt { "arguments" } dd { code { (arguments(&request.arguments)) } }
        }
        p {
            @if !frame.is_kept {
                a href=(again) { "Call it again with other arguments" }
                " · "
            }
            @if Export::of(call, selected).is_some() {
                a href={ "/calls/" (call.id) "/export?round=" (selected) } { "Keep it as a test, a command or a script" }
                " · "
            }
            a href={ "/calls/" (call.id) "/bundle" } download={ "call-" (call.id) ".json" } { "Keep it in a file" }
        }
        (timeline(call, selected))
        div.columns.tree-and-round {
            nav.card aria-label="Rounds" {
                h2 { "Rounds" }
                ol.tree { (branch(call, 0, selected)) }
            }
            (round_card(frame, call, selected, view))
        }
    };
    page(frame, &request.name, &body)
}

/// Two calls beside each other.
pub(crate) fn eras_page(frame: &Frame<'_>, columns: &[Markup]) -> Markup {
    let body = html! {
        p.crumbs { a href="/calls" { "Calls" } " / both eras" }
        h1 { "One call, two eras" }
        p { "The same request, as a client of each era sends it. Answer in each column by itself." }
        div.columns.eras { @for column in columns { (column) } }
    };
    page(frame, "Both eras", &body)
}

/// A call as one column: every round, with its messages open to be compared.
pub(crate) fn column(frame: &Frame<'_>, call: &CallRecord, view: CallView<'_>) -> Markup {
    let latest = call.rounds.len().saturating_sub(1);
    html! {
        section aria-label=(era_name(call.era)) {
            h2 { "Client of " (era_name(call.era)) }
            @for round in call.path_to(latest) {
                (round_card(frame, call, round, CallView { round: Some(round), ..view }))
            }
        }
    }
}

/// A round and what follows from it. A round that was answered twice has two
/// branches.
fn branch(call: &CallRecord, at: usize, selected: usize) -> Markup {
    let Some(round) = call.rounds.get(at) else {
        return html! {};
    };
    let children: Vec<usize> = call.children(at).collect();
    html! {
        li {
            a href={ "/calls/" (call.id) "?round=" (at) } aria-current=[(at == selected).then_some("true")] {
                b { "Round " (depth(call, at)) } " " (badge(round))
                @if let Some(took) = round.took { " " span.dim { (time(took)) } }
                @if let Some(state) = state_size(round) { " " span.dim { "state " (size(state)) } }
                @if let Some(instance) = round.instance() { " " span.tag { (shorten(instance, 40)) } }
                @if round.altered.is_some() { " " span.tag.bad { "altered" } }
            }
            @if let Some(answer) = sent(round) { p.dim { (answer) } }
            @if !children.is_empty() {
                ol.tree.fork[children.len() > 1] {
                    @for child in children { (branch(call, child, selected)) }
                }
            }
        }
    }
}

/// Number of the round in its branch.
fn depth(call: &CallRecord, at: usize) -> usize {
    call.path_to(at).len()
}

/// The answers that a round was sent with, in one line.
fn sent(round: &Round) -> Option<String> {
    let words = round.answers.iter().map(|(key, answer)| {
        let mut answer = answer.clone();
        crate::mask::body(&mut answer);
        let content = answer.get("content").and_then(Value::as_object);
        match (answer.get("action").and_then(Value::as_str), content) {
            (Some("accept"), Some(content)) => format!("{key}: {}", spelled(key, content)),
            (Some(action), _) => format!("{key}: {action}"),
            (None, _) => format!("{key}: answered"),
        }
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| shorten(&words.join("; "), 160))
}

/// The fields of an answer. One that is called as its question is only a value.
fn spelled(key: &str, content: &serde_json::Map<String, Value>) -> String {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let words = content.iter().map(|(name, value)| match name == key {
        true => text(value),
        false => format!("{name} {}", text(value)),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn masked(value: &Value) -> String {
    let mut value = value.clone();
    crate::mask::body(&mut value);
    value.to_string()
}

fn arguments(arguments: &serde_json::Map<String, Value>) -> String {
    shorten(&masked(&Value::Object(arguments.clone())), 600)
}

fn state_size(round: &Round) -> Option<usize> {
    match &round.status {
        Status::Asked(asked) => asked.state_bytes,
        _ => None,
    }
}

fn badge(round: &Round) -> Markup {
    let (class, word) = match &round.status {
        Status::Asked(asked) if asked.questions.is_empty() => ("wait", "call again"),
        Status::Asked(_) => ("wait", "asks"),
        Status::Cancelled => ("off", "cancelled"),
        Status::Done { is_error: true, .. } => ("bad", "tool error"),
        Status::Done { .. } => ("good", "done"),
        Status::Failed(failure) if failure.is_of_state => ("bad", "state refused"),
        Status::Failed(_) => ("bad", "failed"),
        Status::Running if has_open_question(round) => ("wait", "asks"),
        Status::Running => ("busy", "running"),
        Status::Task(_) => ("busy", "task"),
        Status::Unfinished(_) => ("off", "unfinished"),
    };
    html! { span class={ "badge " (class) } { (word) } }
}

fn has_open_question(round: &Round) -> bool {
    let is_open = |question: &LiveQuestion| matches!(question.answer, LiveAnswer::Open(_));
    round.questions.iter().any(is_open)
}

/// The rounds of the selected branch, as long as the server took for each.
fn timeline(call: &CallRecord, selected: usize) -> Markup {
    let path = call.path_to(selected);
    let now = clock::now();
    let took = |at: &usize| {
        let round = &call.rounds[*at];
        round
            .took
            .unwrap_or_else(|| now.saturating_duration_since(round.began))
    };
    let times: Vec<u64> = path
        .iter()
        .map(|at| {
            u64::try_from(took(at).as_millis())
                .unwrap_or(u64::MAX)
                .clamp(1, 86_400_000)
        })
        .collect();
    let total: u64 = times.iter().sum();
    let bars = u64::try_from(path.len()).unwrap_or(1);
    // A bar has a least width, so that a fast round can be seen beside a slow one.
    let (width, gap, least) = (1000, 14, 24);
    let free = (width - gap * bars.min(20)).saturating_sub(least * bars.min(20));
    let mut x = 0;
    let mut drawn = String::new();
    for (at, millis) in path.iter().zip(&times).take(20) {
        let wide = least + free * millis / total.max(1);
        let class = match &call.rounds[*at].status {
            Status::Asked(_) => "wait",
            Status::Done {
                is_error: false, ..
            } => "good",
            Status::Running | Status::Task(_) => "busy",
            Status::Cancelled | Status::Unfinished(_) => "off",
            Status::Done { .. } | Status::Failed(_) => "bad",
        };
        // Only numbers and names of ours are written here.
        drawn.push_str(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"4\" width=\"{wide}\" height=\"20\" rx=\"4\"/>"
        ));
        x += wide + gap;
    }
    html! {
        figure.timeline {
            svg viewBox="0 0 1000 28" preserveAspectRatio="none" role="img"
                aria-label={ (path.len()) @if path.len() == 1 { " round, " } @else { " rounds, " } (total) " ms at the server" } { (PreEscaped(drawn)) }
            figcaption {
                @for (number, at) in path.iter().enumerate().take(20) {
                    span {
                        "Round " (number + 1) ": " (time(took(at)))
                        @if let Some(instance) = call.rounds[*at].instance() { " by " (shorten(instance, 40)) }
                    }
                }
                span.dim { "Gaps between bars are the time that answers took; it is not drawn to scale." }
            }
        }
    }
}

/// One round in full.
fn round_card(frame: &Frame<'_>, call: &CallRecord, at: usize, view: CallView<'_>) -> Markup {
    let Some(round) = call.rounds.get(at) else {
        return html! {};
    };
    let address = format!("/calls/{}/rounds/{at}", call.id);
    html! {
        section.card aria-label={ "Round " (depth(call, at)) } {
            h2 { "Round " (depth(call, at)) " " (badge(round)) }
            @if let Some(altered) = &round.altered { (alteration(altered)) }
            @if let Some(answers) = sent(round) { p { "Sent with " code { (answers) } } }
            (outcome(frame, call, at, round, &address, view))
            @if !round.progress.is_empty() { (progress(round)) }
            @if !round.logs.is_empty() { (logs(round)) }
            details.wires open[view.pair.is_some()] {
                summary { "Messages " span.count { (round.wire.len()) } }
                (wire::messages(&round.wire, true))
            }
            @if round.left_out > 0 { p.dim { (round.left_out) " more items were not kept." } }
        }
    }
}

fn alteration(altered: &crate::record::Altered) -> Markup {
    html! {
        p { "Sent on purpose with an altered state: " (altered.what) "." }
        @match &altered.refusal {
            Some((label, detail)) => p.verdict { "The check that catches it: " b { code { (label) } } ", " (detail) "." },
            None => p.verdict { "No check of the seal catches it: the server has to accept it." },
        }
    }
}

fn outcome(
    frame: &Frame<'_>,
    call: &CallRecord,
    at: usize,
    round: &Round,
    address: &str,
    view: CallView<'_>,
) -> Markup {
    let cancel = post_form(
        frame,
        &format!("{address}/cancel"),
        &html! {
            (pair_field(view))
            button.quiet type="submit" { "Cancel the call" }
        },
    );
    match &round.status {
        Status::Asked(kept) if frame.is_kept => kept_questions(kept),
        Status::Asked(paused) => asked(frame, call, at, paused, address, view),
        Status::Cancelled => html! { p { "The call was cancelled." } (asked_before(round)) },
        Status::Done { result, is_error } => html! {
            @if *is_error { p.error { "The tool says that it failed." } }
            (asked_before(round))
            (super::result::result(result, address))
        },
        Status::Failed(failure) => {
            html! { (failed(failure, round, view.has_keys)) (asked_before(round)) }
        }
        Status::Running => html! {
            @for (number, question) in round.questions.iter().enumerate() {
                (live_question(frame, number, question, address, view))
            }
            @if !has_open_question(round) {
                p.spinner role="status" {
                    "Waiting for the server, "
                    span data-since-ms=(clock::now().saturating_duration_since(round.began).as_millis()) {
                        (time(clock::now().saturating_duration_since(round.began)))
                    }
                    " so far"
                }
            }
            (cancel)
        },
        Status::Task(record) => html! {
            (task(frame, record, address, view))
            @for (number, question) in round.questions.iter().enumerate() {
                (live_question(frame, number, question, address, view))
            }
        },
        Status::Unfinished(was) => html! {
            p { "The call was " (shorten(was, 100)) " when it was kept." }
            (asked_before(round))
        },
    }
}

/// Questions that were asked while the request was open.
fn asked_before(round: &Round) -> Markup {
    html! { @for question in &round.questions { (answered_question(question)) } }
}

/// Questions of a call that was read from a file: there is no server to answer.
fn kept_questions(asked: &AskedRound) -> Markup {
    html! {
        @if asked.questions.is_empty() { p { "The server asked nothing, and wanted the call to be sent again." } }
        ul.lines {
            @for (key, request) in &asked.questions {
                li { (questions::kind(request)) " " code { (shorten(key, 200)) } " " (questions::summary(request)) }
            }
        }
        @if let Some(state) = asked.state_bytes { p.dim { "The state had " (size(state)) "." } }
    }
}

fn asked(
    frame: &Frame<'_>,
    call: &CallRecord,
    at: usize,
    paused: &AskedRound,
    address: &str,
    view: CallView<'_>,
) -> Markup {
    let questions = &paused.questions;
    let answered = call.children(at).count();
    let shown = view
        .entered
        .filter(|_| view.round == Some(at) || view.pair.is_none());
    html! {
        @if questions.is_empty() {
            p { "The server asks nothing. It wants the call to be sent again with the state it returned." }
        }
        @if answered > 0 {
            p.note {
                "This round was answered " (answered) @if answered == 1 { " time" } @else { " times" }
                ". Other answers fork the call here: the server keeps nothing, so a round can be taken up as often as its state is valid. "
                "A server that has a store and remembers its rounds refuses other answers."
            }
        }
        (post_form(frame, &format!("{address}/answer"), &html! {
            (pair_field(view))
            (questions::questions(questions, shown, view.has_sampler))
        }))
        @if let Some(state) = paused.state_bytes {
            p.dim {
                "The state has " (size(state)) ". "
                @if view.has_keys {
                    a href={ (address) "/token" } { "Open it on the workbench" }
                } @else {
                    "Start the inspector with " code { "--keys FILE" } " to open it."
                }
            }
        }
    }
}

fn pair_field(view: CallView<'_>) -> Markup {
    html! {
        @if let Some((modern, legacy)) = view.pair {
            input type="hidden" name="pair" value={ (modern) "," (legacy) };
        }
    }
}

fn live_question(
    frame: &Frame<'_>,
    number: usize,
    question: &LiveQuestion,
    address: &str,
    view: CallView<'_>,
) -> Markup {
    let asked: [(String, InputRequest); 1] = [(question.key.clone(), question.request.clone())];
    match &question.answer {
        LiveAnswer::Open(_) => post_form(
            frame,
            &format!("{address}/live"),
            &html! {
                (pair_field(view))
                input type="hidden" name="question" value=(number);
                p.dim { "The request stays open while the server waits for this answer." }
                (questions::questions(&asked, view.entered, view.has_sampler))
            },
        ),
        LiveAnswer::Given(_) | LiveAnswer::Withdrawn => answered_question(question),
    }
}

/// A question that needs no answer any more.
fn answered_question(question: &LiveQuestion) -> Markup {
    match &question.answer {
        LiveAnswer::Given(answer) => html! {
            p {
                "It asked " code { (shorten(&question.key, 100)) } " "
                (questions::summary(&question.request)) " and got "
                code { (shorten(&masked(answer), 200)) }
            }
        },
        LiveAnswer::Open(_) | LiveAnswer::Withdrawn => html! {
            p { "It asked " code { (shorten(&question.key, 100)) } " and took the question back." }
        },
    }
}

fn task(frame: &Frame<'_>, record: &TaskRecord, address: &str, view: CallView<'_>) -> Markup {
    let seen = record.seen.as_ref();
    html! {
        p.spinner role="status" { "The call goes on as a task." }
        dl.facts {
            dt { "task" } dd { code { (shorten(record.handle.task_id(), 200)) } }
            @if let Some(seen) = seen {
                dt { "status" } dd { (shorten(seen.task().status.as_str(), 60)) }
                @if let Some(message) = &seen.task().status_message { dt { "message" } dd { (shorten(message, 500)) } }
                dt { "created" } dd { (shorten(&seen.task().created_at, 60)) }
                dt { "updated" } dd { (shorten(&seen.task().last_updated_at, 60)) }
            }
        }
        @if let Some(asked) = record.questions() {
            (post_form(frame, &format!("{address}/task"), &html! {
                (pair_field(view))
                (questions::questions(&asked, view.entered, view.has_sampler))
            }))
        }
        (post_form(frame, &format!("{address}/task-cancel"), &html! {
            (pair_field(view))
            button.quiet type="submit" { "Cancel the task" }
        }))
    }
}

/// A failure, with an explanation where the state was refused.
fn failed(failure: &Failure, round: &Round, has_keys: bool) -> Markup {
    html! {
        div.problem role="alert" {
            p { (shorten(&failure.text, 2000)) }
            @if let Some((code, message)) = &failure.rpc {
                p { "The client was told " code { (code) } " " code { (shorten(message, 500)) } }
            }
            @if failure.is_of_state && round.altered.is_none() {
                p {
                    "The server did not take its state back. It tells a client no more than that. "
                    "The state may have expired or its key may be gone. The tool may be one that allows each state only once, and this one was used. "
                    "Or the server has a store, remembers its rounds, and this one was answered otherwise. "
                    "Then the round cannot be forked, and the call has to begin again."
                }
                @if has_keys {
                    p { "The workbench of the round before names the check that refuses it." }
                } @else {
                    p { "With " code { "--keys FILE" } " the workbench names the check." }
                }
            }
            p.dim { "Code " code { (failure.code) } }
        }
    }
}

fn progress(round: &Round) -> Markup {
    html! {
        h3 { "Progress" }
        @if let Some(last) = round.progress.last()
            && let Some(total) = last.total
        {
            progress max=(total) value=(last.progress) {}
        }
        ol.lines {
            @for told in &round.progress {
                li {
                    span.dim { (time(told.after)) } " "
                    (told.progress) @if let Some(total) = told.total { " of " (total) }
                    @if let Some(message) = &told.message { " " (shorten(message, 500)) }
                }
            }
        }
    }
}

fn logs(round: &Round) -> Markup {
    html! {
        h3 { "Log" }
        ol.lines {
            @for line in &round.logs {
                li {
                    span.dim { (time(line.after)) } " " span.tag { (shorten(&line.level, 40)) } " "
                    @if let Some(logger) = &line.logger { code { (shorten(logger, 100)) } " " }
                    (shorten(&line.text, 2000))
                }
            }
        }
    }
}
