//! The tools, as a client sees them.

use serde_json::json;
use sterna::testkit::Flow;

use my_server::server;

#[tokio::test]
async fn a_booking_asks_who_comes() {
    let flow = Flow::on(server, "book")
        .args(json!({"day": "friday"}))
        .answer("party", json!({"name": "Ada", "guests": 4}));
    let run = flow.run().await;
    run.asked("party")
        .in_round(1)
        .saying("A table on Friday: who comes?");
    assert_eq!(run.text(), "A table for 4 on Friday, Ada.");
    // Runs the call again and interrupts it at every point.
    flow.check().await;
}

#[tokio::test]
async fn a_party_that_is_too_large_is_asked_again() {
    let flow = Flow::on(server, "book")
        .args(json!({"day": "sunday"}))
        .answer("party", json!({"name": "Ada", "guests": 40}))
        .answer("party", json!({"name": "Ada", "guests": 6}));
    let run = flow.run().await;
    assert_eq!(run.questions().len(), 2);
    assert_eq!(run.text(), "A table for 6 on Sunday, Ada.");
}

#[tokio::test]
async fn a_new_restaurant_is_empty() {
    let flow = Flow::on(server, "free_tables").args(json!({"day": "saturday"}));
    assert_eq!(
        flow.run().await.text(),
        "8 of 8 tables are free on Saturday."
    );
}
