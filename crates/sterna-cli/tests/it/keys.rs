use std::path::PathBuf;

use expect_test::{Expect, expect};
use sterna_seal::{Key, Keyring, SecretKey};
use tempfile::TempDir;

use crate::command::{Ran, sterna};

/// A folder with a key file, and commands on that file.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("keys.toml")
    }

    fn write(&self, keys: impl IntoIterator<Item = Key>) {
        let ring = Keyring::new(keys).unwrap();
        std::fs::write(self.file(), ring.to_toml().as_str()).unwrap();
        self.close();
    }

    /// Lets only the owner read the file.
    fn close(&self) {
        use std::os::unix::fs::PermissionsExt as _;
        let owner_only = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(self.file(), owner_only).unwrap();
    }

    #[track_caller]
    fn keys(&self, command: &str) -> Ran {
        sterna(&command.replace("FILE", self.file().to_str().unwrap()))
    }

    /// Runs a command and compares what the user sees, but for the folder.
    #[track_caller]
    fn check(&self, command: &str, expected: Expect) {
        let folder = self.folder.path().to_str().unwrap();
        expected.assert_eq(&self.keys(command).shown().replace(folder, "."));
    }
}

fn key(letter: char) -> Key {
    let text = format!("{letter} is the letter of this secret key");
    Key::new(SecretKey::from_bytes(text.as_bytes()).unwrap())
}

#[test]
fn a_new_file_is_private_and_usable() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    let made = desk.keys("--json keys new FILE");
    assert_eq!(made.code, 0);
    let mode = std::fs::metadata(desk.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let listed = desk.keys("--json keys list FILE").json();
    assert_eq!(listed["keys"][0]["id"], made.json()["key"]);
    assert_eq!(listed["keys"][0]["does"], "seals, opens");
    assert_eq!(desk.keys("keys check FILE").code, 0);
    let secret = std::fs::read_to_string(desk.file()).unwrap();
    let secret = secret
        .split("secret = \"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for ran in [
        made,
        desk.keys("keys list FILE"),
        desk.keys("keys rotate FILE"),
    ] {
        assert!(!ran.shown().contains(secret));
    }
}

#[test]
fn a_file_that_exists_is_left_alone() {
    let desk = Desk::new();
    desk.write([key('a')]);
    let before = std::fs::read(desk.file()).unwrap();
    desk.check(
        "keys new FILE",
        expect![[r#"
            error: ./keys.toml exists already, and was left alone
             hint: `sterna keys rotate ./keys.toml` adds a key to it
            exit 1
        "#]],
    );
    assert_eq!(std::fs::read(desk.file()).unwrap(), before);
}

#[test]
fn a_rotation_says_what_to_deploy_and_when_the_old_key_is_done() {
    let desk = Desk::new();
    desk.write([key('a').commented("made in May")]);
    let planned = desk
        .keys("--json keys rotate FILE --rollout 30m --dry-run")
        .json();
    assert_eq!(planned["written"], false);
    assert_eq!(
        desk.keys("--json keys list FILE").json()["keys"][1],
        serde_json::Value::Null
    );

    let done = desk
        .keys("--json keys rotate FILE --rollout 30m --comment June")
        .json();
    let keys = &desk.keys("--json keys list FILE").json()["keys"];
    assert_eq!(keys, &done["keys"]);
    assert_eq!(keys[0]["comment"], "made in May");
    assert_eq!(keys[0]["retireAt"], done["oldKeysRetireAt"]);
    assert_eq!(keys[1]["comment"], "June");
    assert_eq!(keys[1]["activateAt"], done["deployBefore"]);
    assert_eq!(
        (&keys[0]["does"], &keys[1]["does"]),
        (&"seals, opens".into(), &"opens".into())
    );

    let shown = desk.keys("keys rotate FILE --dry-run").stdout;
    assert!(
        shown.contains("1. Deploy the file to every replica before 20"),
        "{shown}"
    );
    assert_eq!(desk.keys("keys check FILE").code, 0);
}

#[test]
fn a_rotation_that_would_lose_tokens_is_refused() {
    let desk = Desk::new();
    desk.write([key('a')]);
    desk.check(
        "keys rotate FILE --rollout 0s",
        expect![[r#"
            error: the new key must activate in the future
             hint: give --rollout more than no time
            exit 2
        "#]],
    );
}

#[test]
fn a_check_finds_what_would_stop_a_server() {
    let desk = Desk::new();
    desk.write([key('a').retiring_at("2026-08-01T00:00:00Z".parse().unwrap())]);
    desk.check(
        "keys check FILE --at 2026-07-28T00:00:00Z",
        expect![[r#"
            key       now           seals from  opens until           comment
            b118fa87  seals, opens  always      2026-08-01T00:00:00Z

            problem: key b118fa87 seals until 2026-08-01T00:00:00Z and no other takes over: run `sterna keys rotate`
            exit 1
        "#]],
    );
    let ran = desk.keys("--json keys check FILE --at 2026-08-02T00:00:00Z");
    assert_eq!((ran.code, &ran.json()["ok"]), (1, &false.into()));
    assert!(ran.stdout.contains("no key seals then"));
}

#[test]
fn a_file_others_can_read_is_a_problem() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    desk.write([key('a')]);
    let for_all = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(desk.file(), for_all).unwrap();
    let ran = desk.keys("--json keys check FILE");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("chmod 600"), "{ran:?}");
}

#[test]
fn mistakes_in_a_file_are_shown_with_their_place_and_without_secrets() {
    let desk = Desk::new();
    desk.check(
        "keys list FILE",
        expect![[r#"
            error: ./keys.toml cannot be read: No such file or directory (os error 2)
             hint: `sterna keys new ./keys.toml` makes a key file
            exit 1
        "#]],
    );
    std::fs::write(desk.file(), "[[key]]\nsecret = \"c2VjcmV0\"\n").unwrap();
    desk.check(
        "keys list FILE",
        expect![[r#"
            error: ./keys.toml is not a key file: line 2, column 10: the secret has 6 bytes, at least 32 are needed
            exit 1
        "#]],
    );
}
