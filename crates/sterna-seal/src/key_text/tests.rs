use expect_test::{Expect, expect};
use proptest::prelude::*;
use sterna_types::UnixMillis;

use crate::key::Key;
use crate::keyring::Keyring;
use crate::secret::SecretKey;

const OLD: &str = "b2xkIGtleSBvbGQga2V5IG9sZCBrZXkgb2xkIGtleSE";
const NEW: &str = "bmV3IGtleSBuZXcga2V5IG5ldyBrZXkgbmV3IGtleSE";

#[track_caller]
fn check_toml(text: &str, expected: Expect) {
    let text = text.replace("OLD", OLD).replace("NEW", NEW);
    check(Keyring::from_toml(&text), expected);
}

#[track_caller]
fn check_compact(text: &str, expected: Expect) {
    let text = text.replace("OLD", OLD).replace("NEW", NEW);
    check(Keyring::from_compact(&text), expected);
}

#[track_caller]
fn check(ring: Result<Keyring, super::KeyTextError>, expected: Expect) {
    let actual = match ring {
        Ok(ring) => describe(&ring),
        Err(error) => error.to_string(),
    };
    assert!(!actual.contains("IGtleSB"), "a secret is told: {actual}");
    expected.assert_eq(&actual);
}

fn describe(ring: &Keyring) -> String {
    let keys = ring.keys().map(|key| {
        let retire_at = key
            .retire_at()
            .map_or_else(|| "never".to_owned(), |at| at.to_string());
        let comment = key.comment().unwrap_or_default();
        format!("{} {} {retire_at} {comment}\n", key.id(), key.activate_at())
    });
    keys.collect()
}

#[test]
fn a_key_file_lists_secrets_with_their_times() {
    check_toml(
        "[[key]]\nsecret = \"NEW\"\nactivate_at = 2026-08-01T02:00:00.5+02:00\n\
         [[key]]\nsecret = 'OLD'\nretire_at = 2026-08-01 01:01:00Z\ncomment = \"until \\\"August\\\"\"\n",
        expect![[r#"
            59441e40 1970-01-01T00:00:00Z 2026-08-01T01:01:00Z until "August"
            4336a5c8 2026-08-01T00:00:00.500Z never 
        "#]],
    );
    check_toml(
        "key = [{ secret = \"OLD\" }]",
        expect![[r#"
        59441e40 1970-01-01T00:00:00Z never 
    "#]],
    );
}

#[test]
fn a_key_file_is_refused_at_the_line_and_column_of_its_fault() {
    for (text, expected) in [
        ("", expect!["line 1, column 1: there is no key in the ring"]),
        (
            "# nothing\n",
            expect!["line 1, column 1: there is no key in the ring"],
        ),
        (
            "[[key]]\n",
            expect!["line 1, column 1: this key has no secret"],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\n\n[[key]]\nsecret = \"OLD\"\n",
            expect!["line 4, column 1: key 59441e40 is in the ring twice"],
        ),
        (
            "[[key]]\nsecret = \"OLD=\"",
            expect![
                "line 2, column 10: the secret is not base64url without padding (A-Z a-z 0-9 - _, no =)"
            ],
        ),
        (
            "[[key]]\n  secret = \"b2xk\"",
            expect!["line 2, column 12: the secret has 3 bytes, at least 32 are needed"],
        ),
        (
            "[[key]]\nsecret = OLD",
            expect![
                "line 2, column 10: not TOML: string values must be quoted, expected literal string"
            ],
        ),
        (
            "[[key]]\nsecret = \"OLD",
            expect![[r#"line 2, column 54: not TOML: invalid basic string, expected `"`"#]],
        ),
        (
            "[[key]]\nsecret = 7",
            expect!["line 2, column 10: this is not text in quotes"],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nsecret = \"NEW\"",
            expect!["line 3, column 1: not TOML: duplicate key"],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nretired_at = 2026-08-01T00:00:00Z",
            expect![
                "line 3, column 1: unknown field: a [[key]] has secret, activate_at, retire_at and comment"
            ],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nretire_at = \"OLD\"",
            expect![
                "line 3, column 13: this is not a time: write it like 2026-07-28T00:00:00Z, without quotes"
            ],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nretire_at = 2026-08-01",
            expect![
                "line 3, column 13: this is not a time: write it like 2026-07-28T00:00:00Z, without quotes"
            ],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nretire_at = 2026-08-01T00:00:00",
            expect![
                "line 3, column 13: a time needs an offset: write it like 2026-07-28T00:00:00Z"
            ],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nretire_at = 2026-02-30T00:00:00Z",
            expect!["line 3, column 13: there is no such day or time"],
        ),
        (
            "[[key]]\nsecret = \"OLD\"\nactivate_at = 2026-08-02T00:00:00Z\nretire_at = 2026-08-01T00:00:00Z",
            expect!["line 1, column 1: key 59441e40 retires before it activates"],
        ),
        (
            "key = \"OLD\"",
            expect!["line 1, column 1: keys are written as tables, each headed [[key]]"],
        ),
        (
            "key = [\"OLD\"]",
            expect!["line 1, column 8: keys are written as tables, each headed [[key]]"],
        ),
        (
            "[key]\nsecret = \"OLD\"",
            expect!["line 1, column 2: keys are written as tables, each headed [[key]]"],
        ),
        (
            "secret = \"OLD\"",
            expect![
                "line 1, column 1: unknown field: a [[key]] has secret, activate_at, retire_at and comment"
            ],
        ),
        (
            "[[keys]]\nsecret = \"OLD\"",
            expect![
                "line 1, column 3: unknown field: a [[key]] has secret, activate_at, retire_at and comment"
            ],
        ),
        (
            "# schlüssel\n[[key]]\ncomment = \"für\", secret = 1",
            expect!["line 3, column 16: not TOML: unexpected key or value, expected newline, `#`"],
        ),
    ] {
        check_toml(text, expected);
    }
}

#[test]
fn an_environment_variable_holds_keys_on_one_line() {
    check_compact(
        "OLD",
        expect![[r#"
        59441e40 1970-01-01T00:00:00Z never 
    "#]],
    );
    check_compact(
        " OLD@1970-01-01T00:00:00Z/2026-08-01T01:01:00Z,\n\tNEW@2026-08-01T00:00:00Z ",
        expect![[r#"
            59441e40 1970-01-01T00:00:00Z 2026-08-01T01:01:00Z 
            4336a5c8 2026-08-01T00:00:00Z never 
        "#]],
    );
}

#[test]
fn an_environment_variable_is_refused_at_the_column_of_its_fault() {
    for (text, expected) in [
        ("", expect!["line 1, column 1: there is no key in the ring"]),
        (
            " , ",
            expect!["line 1, column 1: there is no key in the ring"],
        ),
        (
            "OLD,OLD",
            expect!["line 1, column 45: key 59441e40 is in the ring twice"],
        ),
        (
            "OLD NEW=",
            expect![
                "line 1, column 45: the secret is not base64url without padding (A-Z a-z 0-9 - _, no =)"
            ],
        ),
        (
            "OLD@",
            expect![
                "line 1, column 45: this is not a time: write it like 2026-07-28T00:00:00Z, without quotes"
            ],
        ),
        (
            "OLD@2026-08-01T00:00:00",
            expect![
                "line 1, column 45: a time needs an offset: write it like 2026-07-28T00:00:00Z"
            ],
        ),
        (
            "OLD@2026-08-01T00:00:00Z/soon",
            expect![
                "line 1, column 66: this is not a time: write it like 2026-07-28T00:00:00Z, without quotes"
            ],
        ),
        (
            "OLD@2026-08-01T00:00:00Z/2026-07-01T00:00:00Z",
            expect!["line 1, column 1: key 59441e40 retires before it activates"],
        ),
        (
            "OLD\u{a0}NEW",
            expect![
                "line 1, column 1: the secret is not base64url without padding (A-Z a-z 0-9 - _, no =)"
            ],
        ),
    ] {
        check_compact(text, expected);
    }
}

#[test]
fn a_written_key_file_says_what_it_is() {
    let old = Key::new(SecretKey::from_base64url(OLD).unwrap())
        .retiring_at(UnixMillis::new(1_785_546_060_000))
        .commented("made by \"keys new\" \\ 7\u{7}");
    let new = Key::new(SecretKey::from_base64url(NEW).unwrap())
        .activating_at(UnixMillis::new(1_785_542_400_001));
    let text = Keyring::new([old, new]).unwrap().to_toml();
    let text = text.as_str().replace(OLD, "OLD").replace(NEW, "NEW");
    expect![[r##"
        # The keys that seal request state. Anyone who reads this file can read and forge
        # it: give it to every replica and keep it from everyone else.
        #
        # A key opens tokens from the moment it is here until retire_at. It seals them
        # from activate_at on, unless a later key does. To rotate, add a key that
        # activates after this file has reached every replica.

        [[key]] # 59441e40
        secret = "OLD"
        retire_at = 2026-08-01T01:01:00Z
        comment = "made by \"keys new\" \\ 7\u0007"

        [[key]] # 4336a5c8
        secret = "NEW"
        activate_at = 2026-08-01T00:00:00.001Z
    "##]]
    .assert_eq(&text);
}

fn any_key() -> impl Strategy<Value = Key> {
    let time = || (0..1_i64 << 49).prop_map(UnixMillis::new);
    let secret = prop::collection::vec(any::<u8>(), 32..80)
        .prop_filter_map("a weak secret", |bytes| SecretKey::from_bytes(&bytes).ok());
    (
        secret,
        time(),
        prop::option::of(time()),
        prop::option::of(any::<String>()),
    )
        .prop_map(|(secret, activate_at, retire_at, comment)| {
            let mut key = Key::new(secret).activating_at(activate_at);
            if let Some(time) = retire_at.filter(|time| *time > activate_at) {
                key = key.retiring_at(time);
            }
            if let Some(comment) = comment {
                key = key.commented(comment);
            }
            key
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_ring_survives_being_written_and_read(keys in prop::collection::vec(any_key(), 1..5)) {
        let ring = Keyring::new(keys).unwrap();
        let text = ring.to_toml();
        let read = Keyring::from_toml(text.as_str()).unwrap();
        prop_assert_eq!(describe(&read), describe(&ring));
        let again = read.to_toml();
        prop_assert_eq!(again.as_str(), text.as_str());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]a-z=\" \n0-9:TZ@/,.#_{}\\\\'-]{0,60}") {
        let _ = Keyring::from_toml(&text);
        let _ = Keyring::from_compact(&text);
    }
}
