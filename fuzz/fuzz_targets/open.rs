//! No text opens but a token we sealed, and none stops us.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use sterna_seal::{
    Binding, Flow, FlowId, Keyring, Principal, Realm, SealRequest, Target, ThreadEntropy,
    UnixMillis,
};

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    /// Any text.
    Text(&'a str),
    /// Any bytes, spelled as a token.
    Bytes(&'a [u8]),
    /// A true token with some of its bytes changed, cut at some place.
    Changed { changes: Vec<(u16, u8)>, cut: u16 },
}

struct Server {
    ring: Keyring,
    binding: Binding,
    token: String,
}

const NOW: UnixMillis = UnixMillis::new(1_785_196_800_000);

static SERVER: LazyLock<Server> = LazyLock::new(|| {
    let ring = Keyring::generate(&mut ThreadEntropy).expect("a key");
    let realm = Realm::new("https://tools.example", None);
    let target = Target::new("tools/call", "deploy");
    let binding = Binding::new(&realm, &Principal::anonymous(), &target, None).expect("a binding");
    let flow = Flow::begin(FlowId::from_bytes([7; 16]), NOW);
    let sealed = ring.seal(
        &SealRequest::new(flow, b"state"),
        &binding,
        NOW,
        &mut ThreadEntropy,
    );
    let token = sealed.expect("a token").token;
    Server {
        ring,
        binding,
        token,
    }
});

fuzz_target!(|input: Input<'_>| {
    let server = &*SERVER;
    let token = match input {
        Input::Text(text) => text.to_owned(),
        Input::Bytes(bytes) => spell(bytes),
        Input::Changed { changes, cut } => {
            let mut bytes = base64_simd::URL_SAFE_NO_PAD
                .decode_to_vec(&server.token[3..])
                .expect("our own spelling");
            for (at, change) in changes {
                let at = usize::from(at) % bytes.len();
                bytes[at] ^= change;
            }
            bytes.truncate(bytes.len() - usize::from(cut) % bytes.len());
            spell(&bytes)
        }
    };
    match server.ring.open(&token, &server.binding, NOW) {
        Ok(claims) => {
            assert_eq!(token, server.token, "another text opened");
            assert_eq!(claims.content.inline(), Some(&b"state"[..]));
        }
        Err(error) => {
            assert_ne!(token, server.token, "our own token was refused: {error}");
        }
    }
});

fn spell(bytes: &[u8]) -> String {
    format!(
        "s1.{}",
        base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
    )
}
