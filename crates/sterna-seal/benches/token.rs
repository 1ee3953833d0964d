//! The cost of `seal` and `open` beside the bare cipher and base64url of the same
//! bytes: `cargo bench -p sterna-seal`.
//!
//! The bare column draws a random nonce, encrypts the payload with AES-256-GCM
//! under one fixed key and spells both in base64url, or the reverse, with the
//! same libraries: what it leaves out is what makes a token. Both sides take
//! turns and the best of many turns counts, which keeps a busy machine from
//! favouring one.
#![expect(clippy::print_stdout, reason = "prints a table")]
#![expect(clippy::unwrap_used, reason = "nothing here comes from outside")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use base64_simd::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use sterna_seal::{
    Binding, Entropy, Flow, Keyring, Principal, Realm, SealRequest, Target, ThreadEntropy,
    UnixMillis, mint_flow_id,
};

fn main() {
    keep_the_heap();
    println!(
        "| payload | token | bare seal | seal | ratio | bare open | open | ratio |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for len in [256, 1024, 8 * 1024, 64 * 1024] {
        println!("{}", row(&vec![b'x'; len]));
    }
    println!("\nbinding of a small request: {}", micros(binding_cost()));
}

/// Leaves an allocation behind two free places, as a server's heap has them
/// everywhere. Without it the allocator gives memory back to the system
/// after every run, and both sides measure page faults.
fn keep_the_heap() {
    let places = black_box([vec![0_u8; 120_000], vec![0_u8; 120_000]]);
    std::mem::forget(black_box(vec![0_u8; 120_000]));
    drop(places);
}

fn row(payload: &[u8]) -> String {
    let bare = Bare::new();
    let ours = Ours::new();
    let turn = (100_000 / (payload.len() + 500)).max(5);

    let [bare_seal, seal] = best_of(
        turn,
        [
            &mut || drop(black_box(bare.seal(black_box(payload)))),
            &mut || {
                drop(black_box(ours.seal(black_box(payload))));
            },
        ],
    );
    let (bare_token, token) = (bare.seal(payload), ours.seal(payload));
    let [bare_open, open] = best_of(
        turn,
        [
            &mut || drop(black_box(bare.open(black_box(&bare_token)))),
            &mut || {
                drop(black_box(ours.open(black_box(&token))));
            },
        ],
    );
    format!(
        "| {} | {} | {} | {} | {:.2} | {} | {} | {:.2} |",
        payload.len(),
        token.len(),
        micros(bare_seal),
        micros(seal),
        seal / bare_seal,
        micros(bare_open),
        micros(open),
        open / bare_open,
    )
}

/// The cipher and the spelling, and nothing else.
struct Bare {
    key: LessSafeKey,
}

impl Bare {
    fn new() -> Self {
        let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &[7; 32]).unwrap());
        Self { key }
    }

    fn seal(&self, payload: &[u8]) -> String {
        let mut nonce = [0; 12];
        ThreadEntropy.fill(&mut nonce).unwrap();
        let mut bytes = Vec::with_capacity(12 + payload.len() + 16);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(payload);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::empty(), &mut bytes[12..])
            .unwrap();
        bytes.extend_from_slice(tag.as_ref());
        URL_SAFE_NO_PAD.encode_to_string(bytes)
    }

    fn open(&self, token: &str) -> Vec<u8> {
        let mut bytes = URL_SAFE_NO_PAD.decode_to_vec(token).unwrap();
        let (nonce, sealed) = bytes.split_first_chunk_mut().unwrap();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        self.key.open_in_place(nonce, Aad::empty(), sealed).unwrap();
        bytes
    }
}

struct Ours {
    ring: Keyring,
    binding: Binding,
    flow: Flow,
}

impl Ours {
    fn new() -> Self {
        let binding = small_binding();
        let id = mint_flow_id(&binding, NOW, &mut ThreadEntropy).unwrap();
        Self {
            ring: Keyring::generate(&mut ThreadEntropy).unwrap(),
            binding,
            flow: Flow::begin(id, NOW),
        }
    }

    fn seal(&self, payload: &[u8]) -> String {
        let draft = SealRequest::new(self.flow, payload);
        let sealed = self
            .ring
            .seal(&draft, &self.binding, NOW, &mut ThreadEntropy);
        sealed.unwrap().token
    }

    fn open(&self, token: &str) -> sterna_seal::Claims {
        self.ring.open(token, &self.binding, NOW).unwrap()
    }
}

const NOW: UnixMillis = UnixMillis::new(1_785_196_800_000);

fn small_binding() -> Binding {
    let realm = Realm::new("https://tools.example", None);
    let target = Target::new("tools/call", "deploy");
    let principal = Principal::named("https://login.example", "alice");
    Binding::new(&realm, &principal, &target, Some(ARGUMENTS)).unwrap()
}

const ARGUMENTS: &str = r#"{"environment":"production","service":"billing","replicas":3}"#;

fn binding_cost() -> f64 {
    let realm = Realm::new("https://tools.example", None);
    let target = Target::new("tools/call", "deploy");
    let principal = Principal::named("https://login.example", "alice");
    let [cost] = best_of(
        1000,
        [&mut || {
            let binding = Binding::new(&realm, &principal, &target, Some(black_box(ARGUMENTS)));
            let _ = black_box(binding);
        }],
    );
    cost
}

/// Nanoseconds of one run of each, from the best of many turns.
fn best_of<const N: usize>(turn: usize, mut bodies: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut best = [f64::INFINITY; N];
    let start = clock();
    while start.elapsed() < Duration::from_millis(1500) {
        for (body, best) in bodies.iter_mut().zip(&mut best) {
            let start = clock();
            for _ in 0..turn {
                body();
            }
            let count = u32::try_from(turn).unwrap();
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(count));
        }
    }
    best
}

#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn clock() -> Instant {
    Instant::now()
}

fn micros(nanos: f64) -> String {
    format!("{:.2} µs", nanos / 1000.0)
}
