//! The same call in both eras.

use crate::inspected;
use crate::visitor::Visitor;

#[test]
fn one_call_is_shown_as_both_clients_send_it() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.call("deploy", &[("arg/service", "web"), ("eras", "both")]);
    page.has("Client of 2026-07-28").has("Client of 2025-11-25");
    // The modern client is told to come back, the other one is asked on its open request.
    let page = visitor.until("/eras?modern=1&legacy=2", "The request stays open");
    page.has("result: input_required").has("elicitation/create");
    let pair = ("pair", "1,2");
    let page = visitor.post("/calls/1/rounds/0/answer", &[pair, ("q0/reason", "tested")]);
    page.has("Who owns it?").has("One call, two eras");
    visitor.post("/calls/1/rounds/1/answer", &[pair, ("q0/owner", "ada")]);
    visitor.post(
        "/calls/2/rounds/0/live",
        &[pair, ("question", "0"), ("q0/reason", "urgent")],
    );
    visitor.until("/calls/2", "Who owns it?");
    visitor.post(
        "/calls/2/rounds/0/live",
        &[pair, ("question", "1"), ("q0/owner", "bob")],
    );
    let page = visitor.until("/eras?modern=1&legacy=2", "plan for web: urgent, bob");
    page.has("plan for web: tested, ada");
    // Session ids are secrets.
    page.has("mcp-session-id").has("(hidden, ");
}

#[test]
fn an_answer_in_a_session_is_corrected_before_it_is_sent() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.call("survey", &[("eras", "both")]);
    visitor.until("/calls/2", "The request stays open");
    let page = visitor.post(
        "/calls/2/rounds/0/live",
        &[("question", "0"), ("q0/age", "3")],
    );
    assert_eq!(page.status, 422);
    page.has("must be ");
    visitor.post(
        "/calls/2/rounds/0/live",
        &[("question", "0"), ("q0?action", "decline")],
    );
    visitor.until("/calls/2", "was declined");
}
