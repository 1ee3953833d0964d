//! Operations that ask, and round trips that become operations.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::crm::{Crms, Instance, answer, import_of, location, look_at, prefer};
use crate::shop::{Answer, Call, post_to};

fn is_asked(shown: &Value) -> bool {
    shown["status"] == "input_required"
}

async fn asked(instance: &Instance, wish: &Value) -> (String, Answer) {
    let call = prefer(import_of(wish), "respond-async");
    let location = location(&call.send(&instance.app).await.expect(202));
    let asked = instance.until(&location, is_asked).await;
    (location, asked)
}

#[tokio::test]
async fn an_operation_shows_its_questions_as_a_paused_request_does() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let wish = json!({"chunks": 1, "review": true});
    let paused = import_of(&wish).send(&instance.app).await.expect(428);
    let _workers = instance.work();
    let (_, asked) = asked(&instance, &wish).await;
    assert_eq!(asked.json["questions"], paused.json["questions"]);
    assert_eq!(asked.json["questions"]["review"]["data"], "row 7");
    // A client that waits is told at once that it is asked.
    let waiting = prefer(import_of(&wish), "respond-async, wait=30");
    let accepted = waiting.send(&instance.app).await.expect(202);
    assert_eq!(accepted.json["status"], "input_required");
    assert_eq!(accepted.json["questions"], paused.json["questions"]);
}

#[tokio::test]
async fn an_answer_is_checked_before_it_is_taken() {
    let crms = Crms::new(1);
    let (instance, other) = (crms.instance(), crms.instance());
    let _workers = instance.work();
    let (location, _) = asked(&instance, &json!({"chunks": 1, "review": true})).await;
    let invalid = answer(
        &location,
        &json!({"review": [{"line": "seven", "mail": "a"}]}),
    );
    let invalid = invalid.send(&other.app).await.expect(422);
    assert_eq!(
        invalid.json["type"],
        "https://sterna.dev/problems/invalid-answer"
    );
    let why = invalid.json["errors"]["review"].as_str().unwrap();
    assert!(why.contains("seven") && why.contains("/0/line"), "{why}");
    let unasked = json!({"review": [], "other": 1});
    let unasked = answer(&location, &unasked)
        .send(&other.app)
        .await
        .expect(409);
    assert_eq!(unasked.json["keys"], json!(["other"]));
    for (body, status) in [("{}", 400), ("[", 400), ("{\"answers\": 7}", 400)] {
        let headers = [("x-user", "ada"), ("content-type", "application/json")];
        let call = Call::new("POST", &format!("{location}/answers"), &headers, body);
        let refused = call.send(&other.app).await.expect(status);
        assert_eq!(
            refused.json["type"],
            "https://sterna.dev/problems/malformed-answers"
        );
    }
    let form = answer(&location, &json!({"review": []}));
    let form = form.with("content-type", "application/x-www-form-urlencoded");
    form.send(&other.app).await.expect(415);
    let shown = look_at(&location).send(&other.app).await.expect(200);
    assert_eq!(shown.json["status"], "input_required");
    let good = answer(
        &location,
        &json!({"review": [{"line": 7, "mail": "ada@example.org"}]}),
    );
    let taken = good.send(&other.app).await.expect(200);
    assert_eq!(taken.json.get("questions"), None);
    let ended = other.ended(&location).await;
    let fixes = &ended.json["result"]["body"]["fixes"];
    assert_eq!(fixes, &json!([{"line": 7, "mail": "ada@example.org"}]));
    let late = good.send(&other.app).await.expect(409);
    assert_eq!(late.json["type"], "https://sterna.dev/problems/not-asked");
}

#[tokio::test]
async fn null_declines_a_question_of_an_operation() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let (location, _) = asked(&instance, &json!({"chunks": 1, "review": true})).await;
    let declined = answer(&location, &json!({"review": null}));
    declined.send(&instance.app).await.expect(200);
    let ended = instance.ended(&location).await;
    assert_eq!(ended.json["result"]["status"], 403);
    let kind = &ended.json["result"]["body"]["type"];
    assert_eq!(kind, "https://sterna.dev/problems/unanswered");
}

#[tokio::test]
async fn a_body_of_answers_that_is_too_large_is_not_read() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let (location, _) = asked(&instance, &json!({"chunks": 1, "review": true})).await;
    let large = answer(&location, &json!({"review": "x".repeat(3 << 20)}));
    large.send(&instance.app).await.expect(413);
}

fn with_answer(paused: &Answer, wish: &Value, answer: &Value) -> Call {
    let mut body = wish.clone();
    body["resume"] = json!({ "token": paused.token(), "answers": { "review": answer } });
    import_of(&body)
}

#[tokio::test]
async fn a_flow_that_has_asked_becomes_an_operation_with_its_journal() {
    let crms = Crms::new(2);
    let (one, other) = (crms.instance(), crms.instance());
    let wish = json!({"chunks": 2, "review": true, "promote": true});
    let paused = import_of(&wish).send(&one.app).await.expect(428);
    let retry = with_answer(&paused, &wish, &json!([{"line": 7, "mail": "a"}]));
    let accepted = retry.send(&other.app).await.expect(202);
    assert!(!accepted.headers.contains_key("preference-applied"));
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 0);
    let again = retry.send(&one.app).await.expect(202);
    assert_eq!(
        (again.text, again.headers),
        (accepted.text.clone(), accepted.headers.clone())
    );
    let _workers = one.work();
    let ended = one.ended(&location(&accepted)).await;
    let body = &ended.json["result"]["body"];
    assert_eq!(body["fixes"], json!([{"line": 7, "mail": "a"}]));
    assert_eq!(body["loaded"], 2);
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_retry_that_prefers_it_takes_its_answers_along() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let wish = json!({"chunks": 1, "review": true});
    let paused = import_of(&wish).send(&instance.app).await.expect(428);
    let retry = with_answer(&paused, &wish, &json!([{"line": 7, "mail": "a"}]));
    let accepted = prefer(retry, "respond-async");
    let accepted = accepted.send(&instance.app).await.expect(202);
    let ended = instance.ended(&location(&accepted)).await;
    assert_eq!(
        ended.json["result"]["body"]["fixes"],
        json!([{"line": 7, "mail": "a"}])
    );
}

#[tokio::test]
async fn an_answer_that_came_along_and_does_not_fit_is_asked_for_again() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let wish = json!({"chunks": 1, "review": true});
    let paused = import_of(&wish).send(&instance.app).await.expect(428);
    let retry = with_answer(&paused, &wish, &json!("none"));
    let accepted = prefer(retry, "respond-async");
    let accepted = accepted.send(&instance.app).await.expect(202);
    let location = location(&accepted);
    let asked = instance.until(&location, is_asked).await;
    let questions = asked.json["questions"].as_object().unwrap();
    let (key, question) = questions.iter().next().unwrap();
    let message = question["message"].as_str().unwrap();
    assert!(
        message.contains("The last answer was not accepted"),
        "{message}"
    );
    let good = answer(&location, &json!({key: [{"line": 8, "mail": "b"}]}));
    good.send(&instance.app).await.expect(200);
    let ended = instance.ended(&location).await;
    assert_eq!(
        ended.json["result"]["body"]["fixes"],
        json!([{"line": 8, "mail": "b"}])
    );
}

#[tokio::test]
async fn a_secret_is_guessed_five_times_in_an_operation_too() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let _workers = instance.work();
    let paused = post_to("/v1/sign", &json!({})).send(&instance.app).await;
    let paused = paused.expect(428);
    // One guess in a round trip, the others in the operation.
    let resume = json!({"token": paused.token(), "answers": {"otp": {"code": "1"}}});
    let retry = post_to("/v1/sign", &json!({"resume": resume}));
    let accepted = prefer(retry, "respond-async");
    let location = location(&accepted.send(&instance.app).await.expect(202));
    let mut answered = Vec::new();
    for guess in 2..10 {
        let shown = instance
            .until(&location, |shown| {
                let open = shown["questions"].as_object();
                let is_new = |key: &String| !answered.contains(key);
                shown["status"] == "failed" || open.is_some_and(|open| open.keys().any(is_new))
            })
            .await;
        if shown.json["status"] == "failed" {
            let kind = &shown.json["result"]["body"]["type"];
            assert_eq!(kind, "https://sterna.dev/problems/too-many-attempts");
            break;
        }
        let open = shown.json["questions"].as_object().unwrap();
        let key = open.keys().next().unwrap().clone();
        let code = json!({ key.clone(): { "code": guess.to_string() } });
        answer(&location, &code)
            .send(&instance.app)
            .await
            .expect(200);
        answered.push(key);
    }
    assert_eq!(crms.crm.guesses.load(Ordering::Relaxed), 5);
}
