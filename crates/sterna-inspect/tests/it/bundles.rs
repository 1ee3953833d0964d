//! Calls that are kept in a file, and opened again.

use std::sync::Arc;

use sterna_protocol::sampling::{CreateMessageResult, SamplingMessageContentBlock};

use crate::visitor::Visitor;
use crate::{hostile, inspected};

#[test]
fn a_kept_call_opens_again_with_both_branches_and_without_secrets() {
    let target = inspected::start();
    let visitor = Visitor::new(&target, None);
    visitor.call("deploy", &[("arg/service", "web")]);
    for (reason, owner, round) in [("tested", "ada", "1"), ("urgent", "bob", "3")] {
        visitor.post("/calls/1/rounds/0/answer", &[("q0/reason", reason)]);
        let address = format!("/calls/1/rounds/{round}/answer");
        visitor.post(&address, &[("q0/owner", owner)]);
    }
    let file = visitor.get("/calls/1/bundle");
    assert_eq!(
        file.header("content-disposition").unwrap(),
        "attachment; filename=\"call.json\""
    );
    file.lacks("s1.").has("sterna-inspect-call");

    let again = Visitor::of_bundle(file.body.as_bytes());
    let page = again.get("/calls/1");
    page.has(&target)
        .has("plan for web: urgent, bob")
        .has("class=\"tree fork\"")
        .has("reason: tested")
        .has("Messages")
        .lacks("href=\"/doctor\"");
    again
        .get("/calls/1?round=2")
        .has("plan for web: tested, ada");
    // Its questions are shown, and cannot be answered.
    again
        .get("/calls/1?round=0")
        .has("Why deploy web?")
        .lacks("<form");
    let sent = again.post_only("/calls/1/rounds/0/answer", &[("q0/reason", "x")]);
    assert!([403, 405].contains(&sent.status), "{sent:?}");
    assert_eq!(again.get("/").header("location"), Some("/calls/1"));
    // What was kept is what is kept again.
    assert_eq!(again.get("/calls/1/bundle").body, file.body);
}

#[test]
fn secrets_of_a_call_are_not_in_its_file() {
    let visitor = Visitor::new(&inspected::start(), None);
    let fields = [
        ("kind", "resource"),
        ("name", "note://{id}"),
        ("mode", "form"),
        ("arg/id", "7"),
    ];
    visitor.post("/calls", &fields).has("What is the PIN?");
    visitor.post("/calls/1/rounds/0/answer", &[("q0/pin", "4711")]);
    let file = visitor.get("/calls/1/bundle");
    file.has("note://7").has("(hidden, 4 characters)");
    // The tool itself says the PIN; nothing else of the file does.
    assert_eq!(
        file.body.matches("4711").count(),
        file.body.matches("unlocked with 4711").count()
    );
}

#[test]
fn a_file_of_a_hostile_server_runs_nothing() {
    let visitor = Visitor::new(&hostile::start(), None);
    visitor.call("t", &[]);
    let file = visitor.get("/calls/1/bundle");
    assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
    let again = Visitor::of_bundle(file.body.as_bytes());
    again
        .get("/calls/1")
        .lacks("<script>fetch")
        .has("&lt;script&gt;fetch");
}

#[test]
fn a_command_writes_for_the_model_and_a_person_checks_it() {
    let visitor = Visitor::with(&inspected::start(), |config| {
        config.sampler = Some(Arc::new(|params| {
            Box::pin(async move {
                let text = format!("for {} tokens", params.max_tokens);
                let block = SamplingMessageContentBlock::text(text);
                Ok(CreateMessageResult::new("echo", block))
            })
        }));
    });
    visitor.call("write", &[]).has("Have the command write it");
    let written = visitor.post("/calls/1/rounds/0/answer", &[("sampler", "0")]);
    assert_eq!(written.status, 200);
    written.has("for 100 tokens").has("value=\"echo\"");
    let fields = [("q0/text", "for 100 tokens"), ("q0/model", "echo")];
    visitor
        .post("/calls/1/rounds/0/answer", &fields)
        .has("echo: for 100 tokens");
}

#[test]
fn a_command_that_fails_is_told_beside_its_field() {
    let visitor = Visitor::with(&inspected::start(), |config| {
        config.sampler = Some(Arc::new(|_| {
            Box::pin(async { Err("the model is asleep".into()) })
        }));
    });
    visitor.call("write", &[]);
    let failed = visitor.post("/calls/1/rounds/0/answer", &[("sampler", "0")]);
    assert_eq!(failed.status, 422);
    failed.has("the model is asleep");
    // Without a sampler the field has no effect.
    let plain = Visitor::new(&inspected::start(), None);
    plain.call("write", &[]).lacks("Have the command write it");
    let refused = plain.post("/calls/1/rounds/0/answer", &[("sampler", "0")]);
    refused.has("Write the text of the model.");
}
