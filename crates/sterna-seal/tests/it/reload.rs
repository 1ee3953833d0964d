//! A key file is read again while requests are being served.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use sterna_seal::{Key, Keyring, ReloadError, SharedKeyring};
use tempfile::TempDir;

use crate::stage::{MINUTE, NOW, Request, later, ring, seal, secret};

struct File {
    folder: TempDir,
}

impl File {
    fn with(ring: &Keyring) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Self { folder };
        file.write(ring.to_toml().as_str());
        file
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("keys.toml")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }

    /// The error and its causes, without the folder that the test made.
    fn told(&self, error: &ReloadError) -> String {
        let mut told = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            told += &format!(": {error}");
            cause = error.source();
        }
        told.replace(&self.folder.path().display().to_string(), "")
    }
}

#[test]
fn a_reload_changes_the_ring_for_requests_that_come_after_it() {
    let file = File::with(&ring("a"));
    let keys = SharedKeyring::from_file(file.path(), NOW).unwrap();
    let before = keys.current();
    file.write(ring("ab").to_toml().as_str());
    assert_eq!(keys.current().keys().count(), 1, "nothing is read unasked");

    let reloaded = keys.reload(NOW).unwrap();
    let b = Key::new(secret('b')).id();
    assert_eq!((reloaded.added, reloaded.cut_short), (vec![b], vec![]));
    let token = seal(&keys.current(), b"state");
    let binding = Request::by_alice().binding();
    assert!(keys.current().open(&token, &binding, NOW).is_ok());
    assert!(before.open(&token, &binding, NOW).is_err());
}

#[test]
fn a_reload_says_which_tokens_it_makes_worthless() {
    let retired = Key::new(secret('r')).retiring_at(later(MINUTE));
    let keys = [Key::new(secret('a')), Key::new(secret('b')), retired];
    let file = File::with(&Keyring::new(keys).unwrap());
    let shared = SharedKeyring::from_file(file.path(), NOW).unwrap();
    file.write(ring("b").to_toml().as_str());
    let reloaded = shared.reload(later(MINUTE)).unwrap();
    let a = Key::new(secret('a')).id();
    assert_eq!((reloaded.added, reloaded.cut_short), (vec![], vec![a]));
}

#[test]
fn a_reload_that_fails_keeps_the_ring_that_works() {
    let file = File::with(&ring("a"));
    let keys = SharedKeyring::from_file(file.path(), NOW).unwrap();
    let token = seal(&keys.current(), b"state");
    let future = Key::new(secret('b')).activating_at(later(1));
    let not_yet = Keyring::new([future]).unwrap().to_toml();
    let mut told = String::new();
    for text in ["", "[[key]]\nsecret = \"c2hvcnQ\"\n", not_yet.as_str()] {
        file.write(text);
        told += &file.told(&keys.reload(NOW).unwrap_err());
        told.push('\n');
    }
    fs::remove_file(file.path()).unwrap();
    told += &file.told(&keys.reload(NOW).unwrap_err());
    expect![[r#"
        /keys.toml is not a key file: line 1, column 1: there is no key in the ring
        /keys.toml is not a key file: line 2, column 10: the secret has 5 bytes, at least 32 are needed
        no key in /keys.toml is active at 2026-07-28T00:00:00Z
        cannot read /keys.toml: No such file or directory (os error 2)"#]]
    .assert_eq(&told);
    let binding = Request::by_alice().binding();
    assert!(keys.current().open(&token, &binding, NOW).is_ok());
}

#[test]
fn a_ring_without_a_file_stays_as_it_is() {
    let keys = SharedKeyring::new(ring("a"));
    assert_eq!(keys.reload(NOW).unwrap(), Default::default());
    assert_eq!(keys.current().keys().count(), 1);
    let replaced = keys.replace(ring("b"), NOW);
    assert_eq!((replaced.added.len(), replaced.cut_short.len()), (1, 1));
}

#[test]
fn a_server_does_not_start_with_keys_it_cannot_use() {
    let file = File::with(&ring("a"));
    file.write("[[key]]\n");
    let error = SharedKeyring::from_file(file.path(), NOW).unwrap_err();
    expect!["/keys.toml is not a key file: line 1, column 1: this key has no secret"]
        .assert_eq(&file.told(&error));
}

/// A `main` that returns the error prints its `Debug`.
#[test]
fn an_error_is_in_words_where_a_main_prints_it() {
    let file = File::with(&ring("a"));
    let told = |path: PathBuf| {
        let error = SharedKeyring::from_file(path, NOW).map(drop).unwrap_err();
        format!("{error:?}").replace(&file.folder.path().display().to_string(), "")
    };
    let missing = told(file.folder.path().join("none.toml"));
    assert!(missing.starts_with("cannot read /none.toml: "), "{missing}");
    assert!(
        missing.ends_with("; make one with `sterna keys new /none.toml`"),
        "{missing}"
    );
    file.write("[[keys]]\nsecret = 1\n");
    assert_eq!(
        told(file.path()),
        "/keys.toml is not a key file: line 1, column 3: unknown field: a [[key]] has secret, activate_at, retire_at and comment"
    );
}
