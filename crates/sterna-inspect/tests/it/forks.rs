//! Taking a past round up again.

use crate::inspected;
use crate::visitor::Visitor;

#[test]
fn a_round_is_answered_again_and_both_branches_stay() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.call("deploy", &[("arg/service", "web")]);
    visitor.post("/calls/1/rounds/0/answer", &[("q0/reason", "tested")]);
    visitor
        .post("/calls/1/rounds/1/answer", &[("q0/owner", "ada")])
        .has("tested, ada");
    // The first round once more, with another answer.
    let page = visitor.get("/calls/1?round=0");
    page.has("This round was answered 1 time.")
        .has("Why deploy web?");
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0/reason", "urgent")])
        .has("Who owns it?");
    let page = visitor.post("/calls/1/rounds/3/answer", &[("q0/owner", "bob")]);
    page.has("plan for web: urgent, bob")
        .has("class=\"tree fork\"");
    // And the branch from before is as it was.
    visitor
        .get("/calls/1?round=2")
        .has("plan for web: tested, ada");
    visitor.post("/calls/1/rounds/0/answer", &[("q0?action", "decline")]);
    visitor
        .get("/calls/1?round=0")
        .has("This round was answered 3 times.");
}

#[test]
fn a_server_that_takes_a_state_once_refuses_the_fork_and_the_page_explains_it() {
    let visitor = Visitor::new(&inspected::start_single_use(), None);
    visitor.call("deploy", &[("arg/service", "web")]);
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0/reason", "tested")])
        .has("Who owns it?");
    let page = visitor.post("/calls/1/rounds/0/answer", &[("q0/reason", "urgent")]);
    page.has("state refused")
        .has("allows each state only once")
        .has("MR0513");
}

#[test]
fn a_call_is_made_again_with_its_arguments_filled_in() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.call("deploy", &[("arg/service", "web")]);
    visitor
        .get("/request?again=1")
        .has("value=\"web\"")
        .has("&quot;service&quot;: &quot;web&quot;");
}
