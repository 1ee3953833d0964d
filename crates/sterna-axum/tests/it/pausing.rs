use std::sync::atomic::Ordering;

use expect_test::expect;
use serde_json::json;

use crate::shop::{Call, Fleet, checkout_of, code_for, post_to};

#[tokio::test]
async fn a_request_that_asks_nothing_is_answered_at_once() {
    let fleet = Fleet::new();
    let answer = checkout_of("small")
        .send(&fleet.instance())
        .await
        .expect(200);
    assert_eq!(answer.json, json!({"order": "small", "by": "ada"}));
    assert_eq!(fleet.shop.codes_sent.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_paused_request_is_a_problem_with_its_questions() {
    let fleet = Fleet::new();
    let mut paused = checkout_of("big").send(&fleet.instance()).await.expect(428);
    assert_eq!(paused.headers["content-type"], "application/problem+json");
    assert_eq!(paused.headers["cache-control"], "no-store");
    assert!(paused.token().starts_with("s1."));
    paused.json["resume"] = "…".into();
    expect![[r#"
        {
          "type": "https://sterna.dev/problems/input-required",
          "title": "Input required",
          "status": 428,
          "detail": "Which code did we send?",
          "questions": {
            "otp": {
              "message": "Which code did we send?",
              "schema": {
                "type": "object",
                "properties": {
                  "code": {
                    "type": "string",
                    "description": "The six digits that we sent"
                  }
                },
                "required": [
                  "code"
                ]
              }
            }
          },
          "resume": "…",
          "expiresAt": "2027-01-15T09:00:00Z"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&paused.json).unwrap());
}

#[tokio::test]
async fn another_instance_goes_on_and_reads_afresh_what_is_no_step() {
    let fleet = Fleet::new();
    let paused = checkout_of("big").send(&fleet.instance()).await.expect(428);
    let done = code_for(&paused, "big", "246810");
    let done = done.send(&fleet.instance()).await.expect(200);
    assert_eq!(done.json, json!({"order": "big", "by": "ada"}));
    let shop = &fleet.shop;
    assert_eq!(shop.codes_sent.load(Ordering::Relaxed), 1);
    assert_eq!(shop.charges.load(Ordering::Relaxed), 1);
    assert_eq!(shop.price_read.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_lost_response_is_sent_again_byte_for_byte() {
    let fleet = Fleet::new();
    let paused = checkout_of("big").send(&fleet.instance()).await.expect(428);
    let retry = code_for(&paused, "big", "246810");
    let first = retry.send(&fleet.instance()).await.expect(200);
    let second = retry.send(&fleet.instance()).await.expect(200);
    assert_eq!(first.text, second.text);
    assert_eq!(first.headers, second.headers);
    assert_eq!(fleet.shop.charges.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_again_with_the_reason() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let paused = checkout_of("big").send(&app).await.expect(428);
    let resume = json!({"token": paused.token(), "answers": {"otp": {"code": 246810}}});
    let retry = post_to("/checkout", &json!({"order": "big", "resume": resume}));
    let again = retry.send(&app).await.expect(428);
    let message = again.json["detail"].as_str().unwrap();
    assert!(
        message.contains("The last answer was not accepted"),
        "{message}"
    );
    assert_eq!(fleet.shop.codes_checked.load(Ordering::Relaxed), 0);
    code_for(&again, "big", "246810")
        .send(&app)
        .await
        .expect(200);
}

#[tokio::test]
async fn null_declines_a_question() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let paused = checkout_of("big").send(&app).await.expect(428);
    let resume = json!({"token": paused.token(), "answers": {"otp": null}});
    let retry = post_to("/checkout", &json!({"order": "big", "resume": resume}));
    let declined = retry.send(&app).await.expect(403);
    assert_eq!(
        declined.json["type"],
        "https://sterna.dev/problems/unanswered"
    );
}

#[tokio::test]
async fn a_request_without_a_body_is_resumed_by_one_that_has_only_the_member() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let path = "/projects/apollo?dry=false";
    let first = Call::new("DELETE", path, &[("x-user", "ada")], "");
    let paused = first.send(&app).await.expect(428);
    let resume = json!({"resume": {"token": paused.token(), "answers": {"sure": true}}});
    let headers = [("x-user", "ada"), ("content-type", "application/json")];
    let done = Call::new("DELETE", path, &headers, &resume.to_string());
    let done = done.send(&app).await.expect(200);
    assert_eq!(done.json, json!({"deleted": true, "project": "apollo"}));
}

#[tokio::test]
async fn the_order_and_the_spelling_of_the_body_do_not_matter() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let paused = checkout_of("big").send(&app).await.expect(428);
    let token = paused.token();
    let body = format!(
        r#"{{ "resume": {{"answers": {{"otp": {{"code": "246810"}}}}, "token": "{token}"}}, "\u006frder" : "b\u0069g" }}"#
    );
    let headers = [
        ("x-user", "ada"),
        ("content-type", "application/json; charset=utf-8"),
    ];
    Call::new("POST", "/checkout", &headers, &body)
        .send(&app)
        .await
        .expect(200);
}

#[tokio::test]
async fn rejections_of_extractors_are_the_authors() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    post_to("/checkout", &json!({"order": 7}))
        .send(&app)
        .await
        .expect(422);
    checkout_of("small")
        .with("content-type", "text/plain")
        .send(&app)
        .await
        .expect(415);
}
