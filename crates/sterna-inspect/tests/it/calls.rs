//! Exploring and calling without a script.

use crate::inspected;
use crate::visitor::Visitor;

#[test]
fn the_first_page_lists_what_the_server_offers() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .get("/")
        .has("desk")
        .has("2026-07-28")
        .has("/request?kind=tool&amp;name=deploy")
        .has("Writes a brief")
        .has("note://{id}")
        .has("<span class=\"count\">11</span> <span class=\"dim\">caching 60000 ms, private");
    visitor
        .get("/?find=BRIEF")
        .has("brief")
        .lacks("Deploys after asking");
}

#[test]
fn a_schema_is_a_table_and_a_form() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.get("/request?kind=tool&name=order");
    page.has("list of objects")
        .has("<code>to/street</code>")
        .has("one of <code class=\"choice\">small</code>");
    page.has("name=\"arg/to/street\"")
        .has("name=\"arg/extras\"")
        .has("Who ordered");
    visitor.get("/request?kind=tool&name=add").has("0 to 99");
}

#[test]
fn a_template_has_a_field_for_each_variable() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .get("/request?kind=resource&name=note%3A%2F%2F%7Bid%7D")
        .has("data-complete=\"id\"")
        .lacks("for=\"name\"");
}

#[test]
fn a_form_with_nested_objects_and_lists_is_sent() {
    let visitor = Visitor::new(&inspected::start(), None);
    let fields = [
        ("kind", "tool"),
        ("name", "order"),
        ("mode", "form"),
        ("arg/name", "Ada"),
        ("arg/size", "large"),
        ("arg/to/street", "High St"),
        ("arg/tags", "one\r\ntwo"),
        ("arg/extras", "small"),
        ("arg/extras", "large"),
        ("arg/gift", "true"),
        ("arg/lines#", "1"),
        ("arg/lines/0/item", "tea"),
        ("arg/lines/0/count", "2"),
    ];
    let mut adding = fields.to_vec();
    adding.push(("add", "arg/lines"));
    visitor
        .post("/calls", &adding)
        .has("row 2")
        .has("value=\"tea\"");
    visitor.post("/calls", &fields).has(
        "{&quot;name&quot;:&quot;Ada&quot;,&quot;size&quot;:&quot;large&quot;,&quot;to&quot;:{&quot;street&quot;:&quot;High St&quot;},\
         &quot;tags&quot;:[&quot;one&quot;,&quot;two&quot;],&quot;extras&quot;:[&quot;small&quot;,&quot;large&quot;],\
         &quot;lines&quot;:[{&quot;item&quot;:&quot;tea&quot;,&quot;count&quot;:2}],&quot;gift&quot;:true}",
    );
}

#[test]
fn a_value_that_cannot_be_read_keeps_the_form_and_names_the_field() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.call("add", &[("arg/left", "seven"), ("arg/right", "2")]);
    assert_eq!(page.status, 422);
    page.has("`seven` is not a number")
        .has("value=\"seven\"")
        .has("aria-invalid=\"true\"");
    let page = visitor.post(
        "/calls",
        &[
            ("kind", "tool"),
            ("name", "add"),
            ("mode", "json"),
            ("json", "[1"),
        ],
    );
    assert_eq!(page.status, 422);
    page.has("This is not JSON");
}

#[test]
fn arguments_as_json_are_sent_as_they_are_and_the_server_decides() {
    let visitor = Visitor::new(&inspected::start(), None);
    let json = |json| {
        visitor.post(
            "/calls",
            &[
                ("kind", "tool"),
                ("name", "add"),
                ("mode", "json"),
                ("json", json),
            ],
        )
    };
    json(r#"{"left":1,"right":2}"#).has("<pre class=\"text\" tabindex=\"0\">3</pre>");
    json(r#"{"left":"one"}"#).has("badge bad");
}

#[test]
fn a_call_goes_through_its_rounds() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.call("deploy", &[("arg/service", "web")]);
    page.has("Why deploy web?")
        .has("Round 1")
        .has("The state has ");
    let page = visitor.post(
        "/calls/1/rounds/0/answer",
        &[("q0/reason", "tested"), ("q0?action", "accept")],
    );
    page.has("Who owns it?").has("Round 2");
    let page = visitor.post("/calls/1/rounds/1/answer", &[("q0/owner", "ada")]);
    page.has("plan for web: tested, ada").has("3 rounds, ");
    // The wire is there, and the state in it is not.
    page.has("tools/call")
        .has("requestState")
        .has("(hidden, ")
        .lacks("s1.");
    visitor.get("/calls").has("3 rounds");
}

#[test]
fn an_answer_is_corrected_declined_or_cancelled() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .call("survey", &[])
        .has("18 to 99")
        .has("at least 2 characters");
    let page = visitor.post(
        "/calls/1/rounds/0/answer",
        &[("q0/name", "Ada"), ("q0/age", "7"), ("q0/size", "small")],
    );
    assert_eq!(page.status, 422);
    page.has("must be at least 18")
        .has("value=\"Ada\"")
        .has("aria-invalid");
    let page = visitor.post("/calls/1/rounds/0/answer", &[("q0/age", "36")]);
    page.has("must be filled in");
    let fields = [
        ("q0/name", "Ada"),
        ("q0/age", "36"),
        ("q0/size", "small"),
        ("q0/newsletter", "true"),
        ("q0/extras", "large"),
    ];
    visitor.post("/calls/1/rounds/0/answer", &fields).has(
        "{&quot;name&quot;:&quot;Ada&quot;,&quot;age&quot;:36,&quot;size&quot;:&quot;small&quot;,&quot;newsletter&quot;:true,&quot;extras&quot;:[&quot;large&quot;]}",
    );
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0?action", "decline")])
        .has("was declined");
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0?action", "cancel")])
        .has("was cancelled");
}

#[test]
fn a_page_to_visit_is_shown_whole_and_opened_by_a_click() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.call("visit", &[]);
    page.has("<code>https://login.example/start?next=%2Fhome</code>");
    page.has("rel=\"noopener noreferrer external\"");
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0?action", "accept")])
        .has("visited");
}

#[test]
fn a_model_and_folders_are_answered_by_hand() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .call("write", &[])
        .has("Write a line")
        .has("at most 100 tokens");
    visitor
        .post("/calls/1/rounds/0/answer", &[])
        .has("Write the text of the model.");
    visitor
        .post(
            "/calls/1/rounds/0/answer",
            &[("q0/text", "a tern"), ("q0/model", "m")],
        )
        .has("m: a tern");
    visitor.call("folders", &[]).has("Folders, one a line");
    visitor
        .post("/calls/2/rounds/0/answer", &[("q0/roots", "/no")])
        .has("MR0509");
    visitor
        .post(
            "/calls/2/rounds/0/answer",
            &[("q0/roots", "file:///srv\nfile:///home")],
        )
        .has("file:///srv file:///home");
}

#[test]
fn progress_and_logs_are_shown_and_a_call_is_cancelled() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.call("render", &[]);
    let page = visitor.until("/calls/1", "drawing the sky");
    page.has("the brush is wet")
        .has("<progress max=\"4\" value=\"1\">")
        .has("http-equiv=\"refresh\"");
    visitor.post("/calls/1/rounds/0/cancel", &[]);
    visitor
        .until("/calls/1", "The call was cancelled.")
        .lacks("http-equiv=\"refresh\"");
}

#[test]
fn a_later_round_that_runs_is_loaded_again_and_a_form_is_not() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor.call("brood", &[]).lacks("http-equiv=\"refresh\"");
    let page = visitor.post("/calls/1/rounds/0/answer", &[("q0/eggs", "two")]);
    page.has("Waiting for the server")
        .has("http-equiv=\"refresh\"");
    // A user at the form of the first round keeps the text typed there.
    visitor
        .get("/calls/1?round=0")
        .has("data-live")
        .lacks("http-equiv=\"refresh\"");
    visitor.post("/calls/1/rounds/1/cancel", &[]);
    visitor.until("/calls/1", "The call was cancelled.");
}

#[test]
fn prompts_and_resources_take_rounds_too() {
    let visitor = Visitor::new(&inspected::start(), None);
    let page = visitor.post(
        "/calls",
        &[
            ("kind", "prompt"),
            ("name", "brief"),
            ("mode", "form"),
            ("arg/topic", "terns"),
        ],
    );
    page.has("For whom?");
    visitor
        .post("/calls/1/rounds/0/answer", &[("q0/audience", "birders")])
        .has("Brief about terns for birders");
    let page = visitor.post(
        "/calls",
        &[("kind", "resource"), ("name", "note://7"), ("mode", "form")],
    );
    page.has("What is the PIN?");
    visitor
        .post("/calls/2/rounds/0/answer", &[("q0/pin", "12")])
        .has("note 7 unlocked with 12");
}

#[test]
fn a_tool_that_fails_says_so() {
    let visitor = Visitor::new(&inspected::start(), None);
    visitor
        .call("fail", &[])
        .has("The tool says that it failed.")
        .has("the disk is full");
}

#[test]
fn a_task_is_followed_and_answered() {
    let visitor = Visitor::new(&inspected::start_with_tasks(), None);
    visitor.call("deploy", &[("arg/service", "web")]);
    visitor
        .until("/calls/1", "Why deploy web?")
        .has("input_required")
        .lacks("http-equiv=\"refresh\"");
    visitor.post("/calls/1/rounds/0/task", &[("q0/reason", "tested")]);
    visitor.until("/calls/1", "Who owns it?");
    visitor.post("/calls/1/rounds/0/task", &[("q0/owner", "ada")]);
    visitor.until("/calls/1", "plan for web: tested, ada");
}

#[test]
fn a_server_that_is_not_there_is_told_and_tried_again() {
    let visitor = Visitor::new("http://127.0.0.1:1/mcp", None);
    let page = visitor.get("/");
    assert_eq!(page.status, 502);
    page.has("No connection").has("MR0501");
    assert_eq!(visitor.get("/calls").status, 200);
}
