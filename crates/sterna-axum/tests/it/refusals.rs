use std::time::Duration;

use serde_json::json;

use crate::shop::{Answer, Call, Fleet, checkout_of, code_for, post_to};

/// All refusals must be one response.
async fn refused(fleet: &Fleet, call: Call) -> Answer {
    call.send(&fleet.instance()).await.expect(400)
}

#[tokio::test]
async fn every_refusal_is_the_same_response_and_only_the_metrics_tell_them_apart() {
    let fleet = Fleet::new();
    let paused = checkout_of("big").send(&fleet.instance()).await.expect(428);
    let retry = || code_for(&paused, "big", "246810");
    let mut altered = paused.clone();
    let token = paused.token();
    let middle = token.len() / 2;
    let other = if token.as_bytes()[middle] == b'A' {
        "B"
    } else {
        "A"
    };
    altered.json["resume"] = format!("{}{other}{}", &token[..middle], &token[middle + 1..]).into();
    let foreign = checkout_of("big").send(&Fleet::new().instance()).await;
    let mut refusals = vec![
        refused(&fleet, retry().by("mallory")).await,
        refused(&fleet, code_for(&paused, "huge", "246810")).await,
        refused(&fleet, retry().at("/checkout?dry=true")).await,
        refused(&fleet, retry().at("/keyed")).await,
        refused(&fleet, code_for(&altered, "big", "246810")).await,
        refused(&fleet, code_for(&foreign, "big", "246810")).await,
        refused(
            &fleet,
            post_to("/checkout", &json!({"order": "big", "resume": "cv"})),
        )
        .await,
        refused(
            &fleet,
            post_to(
                "/checkout",
                &json!({"order": "big", "resume": {"token": "s1.x"}}),
            ),
        )
        .await,
    ];
    fleet.wait(Duration::from_secs(60 * 60 + 1));
    refusals.push(refused(&fleet, retry()).await);
    let first = &refusals[0];
    assert_eq!(
        first.json["type"],
        "https://sterna.dev/problems/resume-refused"
    );
    for refusal in &refusals {
        assert_eq!(refusal.text, first.text);
        assert_eq!(refusal.headers, first.headers);
    }
    assert_eq!(
        fleet
            .shop
            .codes_checked
            .load(std::sync::atomic::Ordering::Relaxed),
        0
    );
}

#[tokio::test]
async fn the_reason_of_a_refusal_is_counted() {
    let fleet = Fleet::new();
    let resume = fleet.resume();
    let app = axum::Router::new().route(
        "/checkout",
        axum::routing::post(
            sterna_axum::pausing(async |cx: sterna_axum::Cx<'_>| {
                cx.confirm("ok", "Go on?")
                    .await
                    .map(|ok| ok.to_string())
                    .unwrap_or_default()
            })
            .confirms("ok")
            .build(&resume)
            .unwrap(),
        ),
    );
    let paused = checkout_of("big").send(&app).await.expect(428);
    code_for(&paused, "big", "1")
        .by("mallory")
        .send(&app)
        .await
        .expect(400);
    assert_eq!(resume.metrics().refused("other_principal"), 1);
    let text = resume.metrics().to_prometheus();
    assert!(
        text.contains("sterna_http_refused_total{reason=\"other_principal\"} 1"),
        "{text}"
    );
    assert!(text.contains("sterna_http_paused_total 1"), "{text}");
}

#[tokio::test]
async fn a_second_answer_to_the_same_state_is_refused() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let paused = checkout_of("big").send(&app).await.expect(428);
    code_for(&paused, "big", "000000")
        .send(&app)
        .await
        .expect(428);
    let second = code_for(&paused, "big", "246810")
        .send(&app)
        .await
        .expect(400);
    assert_eq!(
        second.json["type"],
        "https://sterna.dev/problems/resume-refused"
    );
}

#[tokio::test]
async fn a_caller_that_is_not_known_is_told_so_and_its_body_is_not_read() {
    let fleet = Fleet::new();
    let headers = [("content-type", "application/json")];
    let call = Call::new("POST", "/checkout", &headers, "not JSON");
    call.send(&fleet.instance()).await.expect(401);
}

#[tokio::test]
async fn a_body_that_is_too_large_or_has_a_name_twice_is_refused() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let large = "x".repeat(3 << 20);
    checkout_of(&large).send(&app).await.expect(413);
    let headers = [("x-user", "ada"), ("content-type", "application/json")];
    let twice = Call::new("DELETE", "/projects/a", &headers, r#"{"a": 1, "a": 2}"#);
    let twice = twice.send(&app).await.expect(400);
    assert_eq!(
        twice.json["type"],
        "https://sterna.dev/problems/ambiguous-body"
    );
}
