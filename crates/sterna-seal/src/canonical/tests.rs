use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Value;

use super::{CanonicalError, canonical};

fn respelled(text: &str) -> Result<Vec<u8>, CanonicalError> {
    let before = b"what stands before".to_vec();
    let after = canonical(text, before.clone())?;
    Ok(after.strip_prefix(&*before).unwrap().to_vec())
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let actual = match respelled(text) {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&actual);
}

#[test]
fn space_goes_and_members_are_sorted_at_every_depth() {
    check(
        " { \"b\" : [ 1 , { \"z\" : null , \"a\" : [ ] } ] ,\n\t\"a\" : { } , \"\" : true } \r\n",
        expect![[r#"{"":true,"a":{},"b":[1,{"a":[],"z":null}]}"#]],
    );
}

#[test]
fn names_are_sorted_by_their_utf_16_units() {
    check(
        r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"😀":5,"\u0080":6,"ö":7}"#,
        expect![[r#"{"\r":2,"1":4,"":6,"ö":7,"€":1,"😀":5,"דּ":3}"#]],
    );
}

#[test]
fn two_members_of_one_name_are_refused_however_they_are_spelled() {
    check(
        r#"{"a":1,"b":2,"\u0061":1}"#,
        expect!["error: an object ending at byte 23 has two members of the same name"],
    );
    check(
        r#"[{"a":{"a":1,"a":1}}]"#,
        expect!["error: an object ending at byte 18 has two members of the same name"],
    );
    check(
        r#"{"a":{"a":1},"b":{"a":1}}"#,
        expect![[r#"{"a":{"a":1},"b":{"a":1}}"#]],
    );
}

#[test]
fn strings_keep_only_the_escapes_they_need() {
    check(
        r#""\u0041\/\"\\\b\f\n\r\t\u000b\u001F\u20AC\ud83d\uDE00é""#,
        expect![[r#""A/\"\\\b\f\n\r\t\u000b\u001f€😀é""#]],
    );
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83dx""#,
        r#""\ud83d\n""#,
        r#""\ud83d\ud83d""#,
        r#"{"\ud83d":1}"#,
    ] {
        let error = respelled(text).unwrap_err().to_string();
        assert!(
            error.starts_with("half of a surrogate pair"),
            "{text}: {error}"
        );
    }
}

#[test]
fn numbers_are_written_as_ecmascript_writes_them() {
    check(
        "[-0,0.0,-0.0,1.0,1e0,10e-1,100,1E+2,4.50,2e-3,1e21,1e20,1e-6,1e-7,0.1e1,333333333.33333329,5e-324,1.7976931348623157e308,1e-400,-1496799547986584.25,1496799547986584.75]",
        expect![
            "[0,0,0,1,1,1,100,100,4.5,0.002,1e+21,100000000000000000000,0.000001,1e-7,1,333333333.3333333,5e-324,1.7976931348623157e+308,0,-1496799547986584.2,1496799547986584.8]"
        ],
    );
    check("1e400", expect!["error: a number out of range at byte 0"]);
    let digits = |count: usize| format!("[-{}]", "9".repeat(count));
    check(
        &digits(309),
        expect!["error: a number out of range at byte 1"],
    );
    check(
        &"9".repeat(309),
        expect!["error: a number out of range at byte 0"],
    );
    assert_eq!(respelled(&digits(308)).unwrap(), digits(308).as_bytes());
    let just_fits = format!("1{}", "0".repeat(308));
    assert_eq!(respelled(&just_fits).unwrap(), just_fits.as_bytes());
}

#[test]
fn integers_that_a_double_would_round_stay_apart() {
    check(
        "[9007199254740992,9007199254740993,18446744073709551616,18446744073709551617]",
        expect!["[9007199254740992,9007199254740993,18446744073709551616,18446744073709551617]"],
    );
}

#[test]
fn what_is_not_json_is_refused_where_it_goes_wrong() {
    for (text, at) in [
        ("", 0),
        ("  ", 2),
        ("tru", 0),
        ("nul", 0),
        ("{} {}", 3),
        ("[1,]", 3),
        ("[1 2]", 3),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("{a:1}", 1),
        ("{\"a\":1", 6),
        ("01", 1),
        ("1.", 2),
        (".5", 0),
        ("+1", 0),
        ("-", 1),
        ("1e", 2),
        ("1e+", 3),
        ("NaN", 0),
        ("\"\n\"", 1),
        ("\"a", 2),
        ("\"\\", 2),
        ("\"\\x\"", 2),
        ("\"\\u12g4\"", 5),
        ("\"\\u12é\"", 5),
        ("\u{feff}1", 0),
    ] {
        let error = respelled(text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("not JSON at byte {at}"),
            "{text}"
        );
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(respelled(&nested(128)).unwrap(), nested(128).as_bytes());
    check(&nested(129), expect!["error: nested too deep at byte 128"]);
    check(
        &"{\"a\":".repeat(500_000),
        expect!["error: nested too deep at byte 640"],
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=1 << 53).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn it_agrees_with_another_implementation_of_the_rfc(value in any_json()) {
        let compact = respelled(&value.to_string()).unwrap();
        let pretty = respelled(&serde_json::to_string_pretty(&value).unwrap()).unwrap();
        let theirs = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(&compact, &theirs, "{}", String::from_utf8_lossy(&compact));
        prop_assert_eq!(&pretty, &theirs);
    }

    #[test]
    fn a_canonical_text_is_its_own_canonical_text(value in any_json()) {
        let once = String::from_utf8(respelled(&value.to_string()).unwrap()).unwrap();
        prop_assert_eq!(respelled(&once).unwrap(), once.as_bytes());
    }

    #[test]
    fn it_takes_what_serde_json_takes_and_nothing_else(
        text in r#"[\[\]{}",:\\ue0-9.+\- a-ftrn/\n]{0,24}"#,
    ) {
        use super::CanonicalError::{Syntax, TooDeep};
        let ours = respelled(&text);
        let theirs: Result<Value, _> = serde_json::from_str(&text);
        match ours {
            Ok(_) => prop_assert!(theirs.is_ok()),
            Err(Syntax { .. } | TooDeep { .. }) => prop_assert!(theirs.is_err()),
            Err(_) => {}
        }
    }

    #[test]
    fn a_text_that_is_copied_is_what_the_writer_writes(
        text in r#"\{("[ab\u{e9}]{0,2}":(-?[0-9.e]{1,3}|"[a\\n "]{0,3}"|true|null|\{\}),?){0,3}\}"#,
    ) {
        if super::plain::is_canonical(&text) {
            prop_assert_eq!(super::rewrite(&text, Vec::new()).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn flat_objects_are_copied(
        members in prop::collection::btree_map("[a-z]{1,3}", "[ -!#-\\[\\]-~é]{0,6}", 0..4),
        number in 0..99_999_i64,
    ) {
        let mut object: serde_json::Map<String, Value> = Default::default();
        for (name, value) in members {
            object.insert(name, value.into());
        }
        object.insert("~".to_owned(), number.into());
        let text = Value::Object(object).to_string();
        prop_assert!(super::plain::is_canonical(&text), "{}", text);
    }
}
