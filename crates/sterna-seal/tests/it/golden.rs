//! Tokens of earlier releases still open.
//!
//! The files in `tests/golden` are never regenerated, only added to: clients
//! hold tokens of the previous release while a new one is rolled out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64_simd::URL_SAFE_NO_PAD;
use futures::executor::block_on;
use sterna_seal::{
    Binding, BlobFuture, BlobId, Key, Keyring, Principal, Realm, SecretKey, Spill, Target,
    UnixMillis,
};

use crate::stage::named;

#[test]
fn every_token_ever_released_opens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut opened = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("opening {}", path.display());
        Golden::read(&fs::read_to_string(path).unwrap()).check();
        opened += 1;
    }
    assert!(opened >= 4, "files are missing");
}

/// One token with everything that is needed to open it and to check it.
pub(crate) struct Golden {
    fields: BTreeMap<String, String>,
}

impl Golden {
    /// The token of a file.
    pub(crate) fn named(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        Self::read(&fs::read_to_string(folder.join(name).with_extension("txt")).unwrap())
    }

    pub(crate) fn of(fields: impl Iterator<Item = (String, String)>) -> Self {
        Self {
            fields: fields.collect(),
        }
    }

    fn read(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let fields = lines.map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_owned(), value.trim_start().to_owned())
        });
        Self {
            fields: fields.collect(),
        }
    }

    fn check(&self) {
        let key = Key::new(SecretKey::from_base64url(self.field("secret")).unwrap());
        assert_eq!(key.id().to_string(), self.field("key id"));
        let ring = Keyring::new([key]).unwrap();
        let claims = ring
            .open(self.field("token"), &self.binding(), self.time("issued at"))
            .unwrap();
        assert_eq!(claims.flow.id.to_string(), self.field("flow"));
        assert_eq!(claims.flow.round.to_string(), self.field("round"));
        assert_eq!(claims.flow.started_at, self.time("started at"));
        assert_eq!(claims.issued_at, self.time("issued at"));
        assert_eq!(claims.expires_at, self.time("expires at"));
        let payload = block_on(claims.content.load(Some(self))).unwrap();
        assert_eq!(*payload, self.bytes("payload"));
    }

    pub(crate) fn binding(&self) -> Binding {
        let realm = Realm::new(self.field("audience"), self.optional("tenant"));
        let principal = match self.optional("subject") {
            Some(subject) => named(self.field("issuer"), subject, self.optional("client")),
            None => Principal::anonymous(),
        };
        let target = Target::new(self.field("method"), self.field("target"));
        Binding::new(&realm, &principal, &target, self.optional("arguments")).unwrap()
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.optional(name).unwrap()
    }

    pub(crate) fn optional(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    fn time(&self, name: &str) -> UnixMillis {
        UnixMillis::new(self.field(name).parse().unwrap())
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode_to_vec(self.field(name)).unwrap()
    }
}

/// A spilled payload stands in the same file.
impl Spill for Golden {
    fn put(&self, _: BlobId, _: Vec<u8>, _: UnixMillis) -> BlobFuture<'_, ()> {
        unreachable!("nothing is sealed here")
    }

    fn get(&self, id: BlobId, _: usize) -> BlobFuture<'_, Option<Vec<u8>>> {
        // The token has the digest of the blob, the store its first half.
        assert_eq!(id.to_string(), self.field("blob id")[..32]);
        Box::pin(async { Ok(Some(self.bytes("blob"))) })
    }
}
