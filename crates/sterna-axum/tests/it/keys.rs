//! Keys that are rotated while routes serve.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use sterna_axum::pausing;
use sterna_seal::{Key, Keyring, SecretKey, SharedKeyring, UnixMillis};

use crate::shop::{Fleet, Otp, checkout, checkout_of, code_for};

/// A ring with one key.
fn ring(secret: &[u8; 32]) -> Keyring {
    Keyring::new([Key::new(SecretKey::from_bytes(secret).unwrap())]).unwrap()
}

/// An instance whose keys are others once `is_rotated`, and the number of times
/// that they were read.
fn instance(fleet: &Fleet, is_rotated: &Arc<AtomicBool>) -> (Router, Arc<AtomicU32>) {
    let (is_rotated, reads) = (Arc::clone(is_rotated), Arc::new(AtomicU32::new(0)));
    let counted = Arc::clone(&reads);
    let source = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(match is_rotated.load(Ordering::Relaxed) {
            true => ring(b"the second secret of this test  "),
            false => ring(b"the first secret of this test   "),
        })
    };
    let now = UnixMillis::new(1_800_000_000_000);
    let keys = SharedKeyring::from_source(Arc::new(source), now).unwrap();
    let resume = fleet.resume_with(Arc::new(keys));
    let route = pausing(checkout).asks_secret::<Otp>("otp");
    let route = route.build(&resume).unwrap();
    (Router::new().route("/checkout", post(route)), reads)
}

#[tokio::test]
async fn a_route_reads_its_keys_again_once_a_request_finds_them_old() {
    let (fleet, is_rotated) = (Fleet::new(), Arc::new(AtomicBool::new(false)));
    let (app, reads) = instance(&fleet, &is_rotated);
    let before = checkout_of("big").send(&app).await.expect(428);
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    is_rotated.store(true, Ordering::Relaxed);
    // Fresh keys are not read again.
    fleet.wait(Duration::from_secs(9));
    checkout_of("big").send(&app).await.expect(428);
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    // As after a freeze: this request waits for the keys, and seals with the new one.
    fleet.wait(Duration::from_secs(60));
    let after = checkout_of("big").send(&app).await.expect(428);
    assert_eq!(reads.load(Ordering::Relaxed), 2);
    // An instance that has just started has the new key alone.
    let (other, _) = instance(&fleet, &is_rotated);
    code_for(&after, "big", "246810")
        .send(&other)
        .await
        .expect(200);
    code_for(&before, "big", "246810")
        .send(&app)
        .await
        .expect(400);
}
