//! Typed errors of multi round-trip requests.

use expect_test::{Expect, expect};
use sterna_protocol::elicitation::ElicitResult;
use sterna_protocol::input::{
    InputRequest, InputRequestError, InputRequests, InputRequired, InputRequiredError,
    InputResponse, InputResponseError, InputResponses, RequestState,
};
use sterna_protocol::json::JsonObject;
use sterna_protocol::result::{Outcome, OutcomeError};
use sterna_protocol::roots::ListRootsResult;
use sterna_protocol::tasks::CreateTaskResult;
use sterna_protocol::tool::CallToolResult;

#[test]
fn a_question_that_is_none_is_named() {
    let check = |json: &str, expected: Expect| {
        let members: JsonObject = serde_json::from_str(json).unwrap();
        let error = InputRequests::decode(&members).unwrap_err();
        let kind = match error.source {
            InputRequestError::Malformed(_) => "malformed",
            InputRequestError::NotAnObject => "not an object",
            InputRequestError::UnknownMethod(_) => "unknown method",
            _ => "something else",
        };
        expected.assert_eq(&format!("{}: {kind}", error.key));
    };
    check(
        r#"{"a":{"method":"roots/list"},"b":null}"#,
        expect!["b: not an object"],
    );
    check(r#"{"b":"roots/list"}"#, expect!["b: not an object"]);
    check(r#"{"b":{"method":"ping"}}"#, expect!["b: unknown method"]);
    check(r#"{"b":{"method":null}}"#, expect!["b: malformed"]);
    check(r#"{"b":{}}"#, expect!["b: malformed"]);
    check(
        r#"{"b":{"method":"sampling/createMessage"}}"#,
        expect!["b: malformed"],
    );
}

#[test]
fn a_result_without_question_and_state_is_an_error_of_its_own() {
    for json in [
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","inputRequests":{}}"#,
    ] {
        let error = InputRequired::decode(json).unwrap_err();
        assert!(matches!(error, InputRequiredError::Neither), "{json}");
    }
    let built = InputRequired::new(InputRequests::new(), None);
    assert!(matches!(built, Err(InputRequiredError::Neither)));
}

#[test]
fn a_state_alone_can_spell_out_that_nothing_is_asked() {
    let result = InputRequired::retry_with(RequestState::new("s"));
    let text = |result: &InputRequired| serde_json::to_string(result).unwrap();
    assert_eq!(
        text(&result),
        r#"{"resultType":"input_required","requestState":"s"}"#
    );
    assert_eq!(
        text(&result.spelling_out_none()),
        r#"{"resultType":"input_required","inputRequests":{},"requestState":"s"}"#
    );
}

#[test]
fn what_is_asked_needs_no_spelling_out() {
    let asking = || InputRequired::asking("k", InputRequest::list_roots());
    assert_eq!(asking().spelling_out_none(), asking());
    let state = || RequestState::new("s");
    let later = InputRequired::retry_with(state()).spelling_out_none();
    let later = later.and("k", InputRequest::list_roots());
    assert_eq!(later, asking().with_state(state()));
}

#[test]
fn a_key_asked_twice_keeps_the_later_question() {
    let result = InputRequired::asking("k", InputRequest::list_roots());
    let later = serde_json::from_str::<InputRequest>(r#"{"method":"roots/list","params":{}}"#);
    let later = later.unwrap();
    let result = result.and("k", later.clone());
    assert_eq!(result.requests().len(), 1);
    assert_eq!(result.requests().get("k"), Some(&later));
}

#[test]
fn outcomes_are_told_apart_by_their_result_type_alone() {
    let kind = |json: &str| match Outcome::<CallToolResult, CreateTaskResult>::decode(json) {
        Ok(Outcome::Complete(_)) => "complete".to_owned(),
        Ok(Outcome::InputRequired(_)) => "input required".to_owned(),
        Ok(Outcome::Extension(_)) => "task".to_owned(),
        Err(OutcomeError::UnknownResultType(name)) => format!("unknown: {name}"),
        Err(OutcomeError::InputRequired(error)) => format!("bad question: {error}"),
        Err(error) => error.to_string(),
    };
    let all = r#""content":[],"inputRequests":{"k":{"method":"roots/list"}},"taskId":"t",
        "status":"working","createdAt":"a","lastUpdatedAt":"b","ttlMs":null"#;
    let with = |result_type: &str| kind(&format!(r#"{{{all},"resultType":"{result_type}"}}"#));
    assert_eq!(kind(&format!("{{{all}}}")), "complete");
    assert_eq!(with("complete"), "complete");
    assert_eq!(with("input_required"), "input required");
    assert_eq!(with("task"), "task");
    assert_eq!(with("deferred"), "unknown: deferred");
    assert_eq!(
        kind(r#"{"content":[],"resultType":null}"#),
        "malformed result"
    );
    assert_eq!(
        kind(r#"{"resultType":"input_required","inputRequests":{"k":null}}"#),
        "bad question: input request `k` is malformed"
    );
}

#[test]
fn a_client_without_the_extension_does_not_know_its_results() {
    let json = r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"a","lastUpdatedAt":"b","ttlMs":1}"#;
    let error = Outcome::<CallToolResult>::decode(json).unwrap_err();
    assert!(matches!(error, OutcomeError::UnknownResultType(name) if name == "task"));
}

#[test]
fn an_answer_is_read_as_its_question_demands() {
    let responses = r#"{"roots":{"roots":[]},"null":null,"list":[],"wrong":{"action":1}}"#;
    let responses: InputResponses = serde_json::from_str(responses).unwrap();
    let answer = InputRequest::list_roots()
        .response_in(&responses, "roots")
        .unwrap();
    assert_eq!(
        answer,
        Some(InputResponse::ListRoots(ListRootsResult::new(vec![])))
    );
    assert!(
        responses
            .decode::<ElicitResult>("absent")
            .unwrap()
            .is_none()
    );
    for (key, is_object) in [
        ("null", false),
        ("list", false),
        ("wrong", true),
        ("roots", true),
    ] {
        let error = responses.decode::<ElicitResult>(key).unwrap_err();
        assert_eq!(error.key(), key);
        assert_eq!(
            matches!(error, InputResponseError::Malformed { .. }),
            is_object
        );
    }
}
