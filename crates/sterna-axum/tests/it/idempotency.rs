use std::sync::atomic::Ordering;

use futures::future::join;

use crate::shop::{Fleet, checkout_of, code_for};

#[tokio::test]
async fn two_equal_first_requests_with_one_key_are_one() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.instance(), fleet.instance());
    let first = || checkout_of("big").with("idempotency-key", "\"k1\"");
    let paused = first().send(&one).await.expect(428);
    let again = first().send(&other).await.expect(428);
    assert_eq!(paused.text, again.text);
    assert_eq!(paused.headers, again.headers);
    let done = code_for(&again, "big", "246810").with("idempotency-key", "\"k1\"");
    let (done, done_again) = (done.send(&one).await, done.send(&other).await);
    assert_eq!(done.expect(200).text, done_again.expect(200).text);
    assert_eq!(fleet.shop.codes_sent.load(Ordering::Relaxed), 1);
    assert_eq!(fleet.shop.charges.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn equal_requests_at_the_same_time_do_the_work_once() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.instance(), fleet.instance());
    let call = checkout_of("small").with("idempotency-key", "k1");
    let (first, second) = join(call.send(&one), call.send(&other)).await;
    assert_eq!(first.expect(200).text, second.expect(200).text);
    assert_eq!(fleet.shop.charges.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_request_that_is_being_served_is_a_conflict_until_it_is_done() {
    let fleet = Fleet::new();
    let (one, other) = (fleet.instance(), fleet.instance());
    let call = checkout_of("slow").with("idempotency-key", "k1");
    let second = async {
        while fleet.shop.price_read.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let busy = call.send(&other).await.expect(409);
        fleet.shop.slow.notify_one();
        busy
    };
    let (first, busy) = join(call.send(&one), second).await;
    first.expect(428);
    assert_eq!(busy.headers["retry-after"], "1");
    assert_eq!(busy.json["type"], "https://sterna.dev/problems/in-progress");
}

#[tokio::test]
async fn a_key_belongs_to_one_payload_one_caller_and_one_route() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let keyed = |order: &str| checkout_of(order).with("idempotency-key", "k1");
    keyed("small").send(&app).await.expect(200);
    let reused = keyed("big").send(&app).await.expect(422);
    assert_eq!(
        reused.json["type"],
        "https://sterna.dev/problems/idempotency-key-reused"
    );
    keyed("small").by("bob").send(&app).await.expect(200);
    keyed("small").at("/keyed").send(&app).await.expect(200);
    assert_eq!(fleet.shop.charges.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_route_that_requires_a_key_refuses_a_first_request_without_one() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let missing = checkout_of("small")
        .at("/keyed")
        .send(&app)
        .await
        .expect(400);
    assert_eq!(
        missing.json["type"],
        "https://sterna.dev/problems/idempotency-key-missing"
    );
    let key = "k".repeat(256);
    checkout_of("small")
        .with("idempotency-key", &key)
        .send(&app)
        .await
        .expect(400);
    let paused = checkout_of("big").at("/keyed").with("idempotency-key", "k");
    let paused = paused.send(&app).await.expect(428);
    code_for(&paused, "big", "246810")
        .at("/keyed")
        .send(&app)
        .await
        .expect(200);
}
