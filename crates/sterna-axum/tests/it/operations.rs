//! Requests that are answered before they are finished.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::join;
use serde_json::json;
use tokio::time::Instant;

use crate::crm::{Crms, cancel, import_of, location, look_at, prefer, settle};
use crate::shop::{Call, post_to};

#[tokio::test]
async fn a_request_that_prefers_it_is_accepted_at_once() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let call = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let accepted = call.send(&instance.app).await.expect(202);
    let location = location(&accepted);
    let headers = &accepted.headers;
    assert!(location.starts_with("/v1/operations/"), "{location}");
    assert_eq!(headers["preference-applied"], "respond-async");
    assert_eq!(headers["retry-after"], "1");
    assert_eq!(headers["vary"], "prefer");
    assert_eq!(headers["cache-control"], "no-store");
    assert_eq!(headers["content-type"], "application/json");
    assert_eq!(accepted.json["status"], "working");
    assert!(location.ends_with(accepted.json["id"].as_str().unwrap()));
    // No instance works.
    assert_eq!(
        look_at(&location)
            .send(&instance.app)
            .await
            .expect(200)
            .json,
        accepted.json
    );
    assert_eq!(instance.resume.metrics().accepted(), 1);
}

#[tokio::test]
async fn an_operation_runs_the_handler_with_all_its_extractors() {
    let crms = Crms::new(2);
    let instance = crms.instance();
    let _workers = instance.work();
    let call = prefer(import_of(&json!({"chunks": 2})), "respond-async");
    let accepted = call.send(&instance.app).await.expect(202);
    let ended = instance.ended(&location(&accepted)).await;
    for member in ["id", "createdAt", "updatedAt", "expiresAt"] {
        assert!(ended.json[member].is_string(), "{member}");
    }
    assert_eq!(ended.json["status"], "completed");
    let body = json!({"list": "mails", "dry": true, "loaded": 2, "fixes": [], "by": "ada"});
    let headers = json!({"content-type": "application/json"});
    let result = json!({"status": 200, "headers": headers, "body": body});
    assert_eq!(ended.json["result"], result);
    assert!(!ended.headers.contains_key("retry-after"));
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_client_that_waits_gets_the_response_itself() {
    let crms = Crms::new(2);
    let instance = crms.instance();
    let _workers = instance.work();
    let call = prefer(import_of(&json!({"chunks": 2})), "respond-async, wait=20");
    let done = call.send(&instance.app).await.expect(200);
    assert_eq!(done.json["loaded"], 2);
    assert_eq!(done.headers["preference-applied"], "respond-async, wait=20");
    assert_eq!(done.headers["vary"], "prefer");
    assert!(!done.headers.contains_key("location"));
    let failing = import_of(&json!({"chunks": 0, "fail": true}));
    let failed = prefer(failing, "respond-async, wait=20");
    let failed = failed.send(&instance.app).await.expect(409);
    assert_eq!(failed.json["title"], "It is full");
}

#[tokio::test]
async fn a_client_that_has_waited_long_enough_is_told_where_to_look() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let call = prefer(import_of(&json!({"chunks": 2})), "respond-async, wait=1");
    let began = Instant::now();
    let accepted = call.send(&instance.app).await.expect(202);
    let waited = began.elapsed();
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
    assert!(waited < Duration::from_secs(5), "{waited:?}");
    assert_eq!(
        accepted.headers["preference-applied"],
        "respond-async, wait=1"
    );
    assert_eq!(accepted.json["progress"]["done"], 1.0);
    crms.crm.gate.add_permits(1);
    let ended = instance.ended(&location(&accepted)).await;
    assert_eq!(ended.json["result"]["body"]["loaded"], 2);
}

#[tokio::test]
async fn a_failure_of_the_handler_is_the_result_of_a_failed_operation() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let wish = json!({"chunks": 1, "fail": true});
    let accepted = prefer(import_of(&wish), "respond-async");
    let accepted = accepted.send(&instance.app).await.expect(202);
    let ended = instance.ended(&location(&accepted)).await;
    assert_eq!(ended.json["status"], "failed");
    assert_eq!(ended.json["result"]["status"], 409);
    assert_eq!(ended.json["result"]["body"]["title"], "It is full");
    // A response with an error status is a failure, so its effects are undone.
    assert_eq!(crms.crm.undone.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn an_unchanged_operation_is_not_sent_again() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let accepted = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let accepted = accepted.send(&instance.app).await.expect(202);
    let location = location(&accepted);
    let shown = look_at(&location).send(&instance.app).await.expect(200);
    let tag = shown.headers["etag"].to_str().unwrap();
    assert!(tag.starts_with('"'), "{tag}");
    assert_eq!(shown.headers["cache-control"], "private, no-cache");
    assert_eq!(shown.headers["retry-after"], "1");
    let again = look_at(&location).with("if-none-match", tag);
    let unchanged = again.send(&instance.app).await.expect(304);
    assert_eq!(unchanged.text, "");
    assert_eq!(unchanged.headers["etag"], tag);
    // A cancel is no read: it is done, and shown.
    let cancelled = cancel(&location).with("if-none-match", tag);
    let cancelled = cancelled.send(&instance.app).await.expect(200);
    assert_eq!(cancelled.json["status"], "cancelled");
    let changed = again.send(&instance.app).await.expect(200);
    assert_eq!(changed.headers["etag"], cancelled.headers["etag"]);
}

#[tokio::test]
async fn a_cancelled_operation_undoes_what_it_did() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let accepted = prefer(import_of(&json!({"chunks": 4})), "respond-async");
    let location = location(&accepted.send(&instance.app).await.expect(202));
    instance
        .until(&location, |_| crms.crm.loads.load(Ordering::Relaxed) == 1)
        .await;
    let cancelled = cancel(&location).send(&instance.app).await.expect(200);
    assert_eq!(cancelled.json["status"], "cancelled");
    settle().await;
    // The load that runs comes to its end, and no other begins.
    crms.crm.gate.add_permits(10);
    instance
        .until(&location, |_| crms.crm.undone.load(Ordering::Relaxed) == 1)
        .await;
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 2);
    let again = cancel(&location).send(&instance.app).await.expect(200);
    assert_eq!(again.json["status"], "cancelled");
    assert_eq!(again.json.get("result"), None);
}

#[tokio::test]
async fn an_operation_that_has_ended_is_not_cancelled() {
    let crms = Crms::new(1);
    let instance = crms.instance();
    let _workers = instance.work();
    let accepted = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let location = location(&accepted.send(&instance.app).await.expect(202));
    let ended = instance.ended(&location).await;
    let kept = cancel(&location).send(&instance.app).await.expect(200);
    assert_eq!(kept.json, ended.json);
    assert_eq!(crms.crm.undone.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn another_caller_sees_what_a_caller_sees_of_an_operation_that_never_was() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let accepted = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let location = location(&accepted.send(&instance.app).await.expect(202));
    let never = "/v1/operations/00000000000000000000000000000000";
    let unknown = look_at(never).send(&instance.app).await.expect(404);
    let answers = format!("{location}/answers");
    let body = json!({"answers": {}});
    let calls = [
        look_at(&location).by("bob"),
        cancel(&location).by("bob"),
        post_to(&answers, &body).by("bob"),
        look_at("/v1/operations/x"),
        look_at(
            &location
                .to_uppercase()
                .replace("/V1/OPERATIONS", "/v1/operations"),
        ),
    ];
    for call in calls {
        let seen = call.send(&instance.app).await.expect(404);
        assert_eq!(
            (seen.text, seen.headers),
            (unknown.text.clone(), unknown.headers.clone())
        );
    }
    let unknown_caller = Call::new("GET", &location, &[], "");
    unknown_caller.send(&instance.app).await.expect(401);
    let mine = look_at(&location).send(&instance.app).await.expect(200);
    assert_eq!(mine.json["status"], "working");
}

#[tokio::test]
async fn one_instance_begins_and_another_works() {
    let crms = Crms::new(1);
    let (one, other) = (crms.instance(), crms.instance());
    let _workers = other.work();
    let accepted = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let accepted = accepted.send(&one.app).await.expect(202);
    let ended = one.ended(&location(&accepted)).await;
    assert_eq!(ended.json["status"], "completed");
    let call = prefer(import_of(&json!({"chunks": 0})), "respond-async, wait=20");
    call.send(&one.app).await.expect(200);
}

#[tokio::test]
async fn workers_that_stop_hand_over_and_what_was_done_is_done_once() {
    let mut crms = Crms::new(2);
    crms.tasks.drain = Duration::from_secs(10);
    let (one, other) = (crms.instance(), crms.instance());
    let mut workers = one.work();
    let accepted = prefer(import_of(&json!({"chunks": 4})), "respond-async");
    let location = location(&accepted.send(&one.app).await.expect(202));
    let is_third = |shown: &serde_json::Value| shown["progress"]["done"] == 2.0;
    one.until(&location, is_third).await;
    let began = Instant::now();
    workers.begin_stop().await;
    // The load that runs has its time to end, and no other begins.
    crms.crm.gate.add_permits(10);
    workers.stopped().await;
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 3);
    let _workers = other.work();
    let ended = other.ended(&location).await;
    assert_eq!(ended.json["status"], "completed", "{}", ended.text);
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn work_is_done_in_a_slice_of_time() {
    let crms = Crms::new(3);
    let instance = crms.instance();
    let accepted = prefer(import_of(&json!({"chunks": 3})), "respond-async");
    let accepted = accepted.send(&instance.app).await.expect(202);
    let began = Instant::now();
    let done = instance.operations.work_for(Duration::from_secs(20)).await;
    assert_eq!((done.finished, done.left), (1, 0), "{done:?}");
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(
        instance.ended(&location(&accepted)).await.json["status"],
        "completed"
    );
    assert!(
        instance
            .operations
            .work_for(Duration::from_secs(1))
            .await
            .is_nothing()
    );
}

#[tokio::test]
async fn equal_first_requests_with_a_key_are_one_operation() {
    let crms = Crms::new(1);
    let (one, other) = (crms.instance(), crms.instance());
    let call = || {
        let call = prefer(import_of(&json!({"chunks": 1})), "respond-async");
        call.with("idempotency-key", "\"k1\"")
    };
    let (first, second) = (call(), call());
    let (first, second) = join(first.send(&one.app), second.send(&other.app)).await;
    let (first, second) = (first.expect(202), second.expect(202));
    assert_eq!(
        (&first.text, &first.headers),
        (&second.text, &second.headers)
    );
    let _workers = one.work();
    one.ended(&location(&first)).await;
    // The first response is that of the key, also when the operation has ended.
    let later = call().send(&other.app).await.expect(202);
    assert_eq!(later.text, first.text);
    // One that waits sees its end.
    let waits = prefer(call(), "respond-async, wait=9");
    let done = waits.send(&other.app).await.expect(200);
    assert_eq!(done.json["loaded"], 1);
    assert_eq!(crms.crm.loads.load(Ordering::Relaxed), 1);
    let reused = import_of(&json!({"chunks": 2})).with("idempotency-key", "\"k1\"");
    prefer(reused, "respond-async")
        .send(&one.app)
        .await
        .expect(422);
}

#[tokio::test]
async fn a_route_may_make_an_operation_of_every_request_or_of_none() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let always = post_to("/v1/always/mails", &json!({"chunks": 0}));
    let accepted = always.send(&instance.app).await.expect(202);
    assert!(!accepted.headers.contains_key("preference-applied"));
    let plain = post_to("/v1/plain/mails", &json!({"chunks": 0}));
    let plain = prefer(plain, "respond-async").send(&instance.app).await;
    assert!(!plain.expect(200).headers.contains_key("vary"));
}

#[tokio::test]
async fn a_request_that_an_extractor_rejects_is_no_operation() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let malformed = prefer(import_of(&json!({"chunks": "many"})), "respond-async");
    malformed.send(&instance.app).await.expect(422);
    let untyped = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let untyped = untyped.with("content-type", "text/plain");
    untyped.send(&instance.app).await.expect(415);
    assert_eq!(instance.resume.metrics().accepted(), 0);
}

#[tokio::test]
async fn what_a_middleware_left_is_put_back_for_the_worker() {
    let crms = Crms::new(0);
    let instance = crms.instance();
    let _workers = instance.work();
    let headers = [("x-user", "ada"), ("prefer", "respond-async, wait=20")];
    let call = Call::new("GET", "/v1/whoami", &headers, "");
    assert_eq!(call.send(&instance.app).await.expect(200).text, "ada");
}

#[tokio::test]
async fn a_caller_may_have_only_so_many_unfinished_operations() {
    let mut crms = Crms::new(0);
    crms.tasks.per_owner = Some(2);
    let instance = crms.instance();
    let call = || prefer(import_of(&json!({"chunks": 1})), "respond-async");
    call().send(&instance.app).await.expect(202);
    let second = call().send(&instance.app).await.expect(202);
    let refused = call().send(&instance.app).await.expect(429);
    assert_eq!(
        refused.json["type"],
        "https://sterna.dev/problems/too-many-operations"
    );
    assert_eq!(refused.headers["retry-after"], "1");
    call().by("bob").send(&instance.app).await.expect(202);
    cancel(&location(&second))
        .send(&instance.app)
        .await
        .expect(200);
    call().send(&instance.app).await.expect(202);
}

#[tokio::test]
async fn an_operation_that_is_not_finished_in_its_time_has_failed() {
    let mut crms = Crms::new(0);
    crms.tasks.ttl = Some(Duration::from_millis(300));
    crms.tasks.sweep = Duration::from_millis(50);
    let instance = crms.instance();
    let _workers = instance.work();
    let call = prefer(import_of(&json!({"chunks": 1})), "respond-async");
    let accepted = call.send(&instance.app).await.expect(202);
    let ended = instance.ended(&location(&accepted)).await;
    assert_eq!(ended.json["status"], "failed");
    assert_eq!(
        ended.json["result"]["body"]["type"],
        "https://sterna.dev/problems/operation-expired"
    );
}
