//! The tools, as a client sees them.

use serde_json::json;
use sterna::testkit::Flow;

use my_server::server;

#[tokio::test]
async fn a_table_is_booked() {
    let arguments = json!({"day": "friday", "name": "Ada", "guests": 4});
    let run = Flow::on(server, "book").args(arguments).run().await;
    assert_eq!(run.text(), "A table for 4 on Friday, Ada.");
}

#[tokio::test]
async fn a_party_that_is_too_large_is_refused_with_the_reason() {
    let arguments = json!({"day": "sunday", "name": "Ada", "guests": 40});
    let run = Flow::on(server, "book").args(arguments).run().await;
    assert!(run.is_error());
    assert!(
        run.text().contains("`guests` must be at most 6"),
        "{}",
        run.text()
    );
}

#[tokio::test]
async fn a_new_restaurant_is_empty() {
    let flow = Flow::on(server, "free_tables").args(json!({"day": "saturday"}));
    assert_eq!(
        flow.run().await.text(),
        "8 of 8 tables are free on Saturday."
    );
}
