//! The token workbench.

use sterna_seal::{Keyring, ThreadEntropy};

use crate::inspected;
use crate::visitor::Visitor;

fn paused() -> Visitor {
    let visitor = Visitor::new(&inspected::start(), Some(inspected::keys()));
    visitor
        .call("deploy", &[("arg/service", "web")])
        .has("Open it on the workbench");
    visitor
}

#[test]
fn a_state_is_opened_with_sizes_and_its_values_on_a_click() {
    let visitor = paused();
    let page = visitor.get("/calls/1/rounds/0/token");
    page.has("round ends")
        .has("in 59 min")
        .has("anonymous")
        .has("<code>plan</code>")
        .has("<code>reason</code>");
    page.lacks("plan for web").lacks("s1.");
    page.has("<b>Yes, </b>");
    visitor
        .get("/calls/1/rounds/0/token?values=1")
        .has("plan for web")
        .lacks("s1.");
}

#[test]
fn each_circumstance_has_a_check_with_a_name() {
    let visitor = paused();
    let check = |query: &str, label: &str| {
        let page = visitor.get(&format!("/calls/1/rounds/0/token?{query}"));
        page.has(&format!("<code>{label}</code>"));
        page.has("Invalid or expired requestState");
    };
    check("name=destroy", "other_target");
    check(
        "arguments=%7B%22service%22%3A%22db%22%7D",
        "other_arguments",
    );
    check(
        "issuer=https%3A%2F%2Flogin.example&subject=mallory",
        "other_principal",
    );
    check("minutes=61", "expired");
    check("minutes=1500", "flow_expired");
    visitor
        .get("/calls/1/rounds/0/token?arguments=%7B")
        .has("the arguments are not a JSON object");
}

#[test]
fn a_broken_state_is_named_by_its_check_and_refused_by_the_server() {
    let visitor = paused();
    let attempt = |fields: &[(&str, &str)], label: &str| {
        let page = visitor.post("/calls/1/rounds/0/break", fields);
        page.has("Sent on purpose with an altered state");
        page.has(&format!(
            "The check that catches it: <b><code>{label}</code></b>"
        ));
        page.has(
            "The client was told <code>-32602</code> <code>Invalid or expired requestState</code>",
        );
        page.has("state refused");
    };
    attempt(&[("attempt", "flip"), ("at", "60")], "unauthentic");
    attempt(&[("attempt", "flip"), ("at", "0")], "malformed");
    attempt(&[("attempt", "swap"), ("name", "destroy")], "other_target");
    attempt(&[("attempt", "expire")], "expired");
    // The round itself can still be answered.
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0/reason", "tested")])
        .has("Who owns it?");
    let page = visitor.post(
        "/calls/1/rounds/0/break",
        &[("attempt", "flip"), ("at", "99999999")],
    );
    assert_eq!(page.status, 422);
}

#[test]
fn keys_of_another_server_open_nothing_and_the_page_says_why() {
    let keys = Keyring::generate(&mut ThreadEntropy).unwrap();
    let visitor = Visitor::new(&inspected::start(), Some(keys));
    visitor.call("deploy", &[("arg/service", "web")]);
    visitor
        .get("/calls/1/rounds/0/token")
        .has("unknown_key")
        .has("another key file");
}

#[test]
fn without_keys_there_is_no_workbench() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .call("deploy", &[("arg/service", "web")])
        .has("--keys FILE");
    assert_eq!(visitor.get("/calls/1/rounds/0/token").status, 404);
    assert_eq!(
        visitor
            .post("/calls/1/rounds/0/break", &[("attempt", "expire")])
            .status,
        404
    );
}
