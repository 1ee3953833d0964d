use std::sync::atomic::Ordering;

use futures::future::join_all;

use crate::shop::{Fleet, checkout_of, code_for};

#[tokio::test]
async fn of_fifty_guesses_at_one_state_one_is_looked_at() {
    let fleet = Fleet::new();
    let instances = [fleet.instance(), fleet.instance()];
    let paused = checkout_of("big").send(&instances[0]).await.expect(428);
    let guesses = (0..50).map(|guess| {
        let call = code_for(&paused, "big", &format!("{guess:06}"));
        let app = &instances[guess % 2];
        async move { call.send(app).await.status.as_u16() }
    });
    let statuses = join_all(guesses).await;
    assert_eq!(statuses.iter().filter(|status| **status == 428).count(), 1);
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 49);
    assert_eq!(fleet.shop.codes_checked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_flow_ends_after_five_wrong_answers_to_a_secret() {
    let fleet = Fleet::new();
    let app = fleet.instance();
    let mut paused = checkout_of("big").send(&app).await.expect(428);
    for guess in 1..5 {
        paused = code_for(&paused, "big", &guess.to_string())
            .send(&app)
            .await
            .expect(428);
    }
    let last = code_for(&paused, "big", "5");
    let ended = last.send(&app).await.expect(403);
    assert_eq!(
        ended.json["type"],
        "https://sterna.dev/problems/too-many-attempts"
    );
    // The response was kept: the fifth answer cannot be changed.
    assert_eq!(
        last.send(&fleet.instance()).await.expect(403).text,
        ended.text
    );
    code_for(&paused, "big", "246810")
        .send(&app)
        .await
        .expect(400);
    assert_eq!(fleet.shop.codes_checked.load(Ordering::Relaxed), 5);
    assert_eq!(fleet.shop.charges.load(Ordering::Relaxed), 0);
}
