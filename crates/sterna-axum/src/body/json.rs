//! JSON objects that may have a member `resume`.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{MalformedResume, RESUME, ResumeMember, SplitBody};

/// Takes the member out of a JSON object. A text that is no JSON object stays as
/// it is: the author's extractor says what is wrong with it.
pub(super) fn split(body: Bytes) -> Result<SplitBody, MalformedResume> {
    let whole = |body| SplitBody {
        rest: body,
        resume: None,
    };
    // Most requests are not retries: they are not read twice.
    if MEMBER.find(&body).is_none() {
        return Ok(whole(body));
    }
    let Ok(Members(members)) = serde_json::from_slice(&body) else {
        return Ok(whole(body));
    };
    let mut ours = members.iter().filter(|(name, _)| name == RESUME);
    let Some((_, resume)) = ours.next() else {
        return Ok(whole(body));
    };
    if ours.next().is_some() {
        return Err(MalformedResume);
    }
    let resume: ResumeMember = serde_json::from_str(resume.get()).map_err(|_| MalformedResume)?;
    let mut rest = Vec::with_capacity(body.len());
    for (name, value) in members.iter().filter(|(name, _)| name != RESUME) {
        rest.push(if rest.is_empty() { b'{' } else { b',' });
        serde_json::to_writer(&mut rest, name).map_err(|_| MalformedResume)?;
        rest.push(b':');
        rest.extend_from_slice(value.get().as_bytes());
    }
    if rest.is_empty() {
        rest.push(b'{');
    }
    rest.push(b'}');
    Ok(SplitBody {
        rest: rest.into(),
        resume: Some(resume),
    })
}

/// Returns the object for a binding. An empty body and an empty object are the
/// same: a retry of a request without a body must have one.
pub(super) fn bound(rest: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(rest).ok()?.trim_ascii();
    if text.is_empty() {
        return Some("{}".to_owned());
    }
    // All of it is one object, so that nothing in it can end the text around it.
    let is_object = text.starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    is_object.then(|| text.to_owned())
}

/// Search for the name of the member as it is usually spelled, prepared once.
static MEMBER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""resume""#));

/// Members of an object in their order, and as they are written.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    members.push((name.0, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(body: &'static str, expected: Expect) {
        let shown = match split(Bytes::from_static(body.as_bytes())) {
            Err(MalformedResume) => "malformed".to_owned(),
            Ok(SplitBody { rest, resume }) => {
                let rest = String::from_utf8_lossy(&rest).into_owned();
                match resume {
                    None => rest,
                    Some(resume) => format!("{rest} {} {:?}", resume.token, resume.answers),
                }
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_member_is_taken_out_and_the_rest_stays_as_it_was() {
        check(
            r#"{"a": 1.0, "b":[ 2 ]}"#,
            expect![[r#"{"a": 1.0, "b":[ 2 ]}"#]],
        );
        check(
            r#"{"a": 1.0, "resume": {"token": "t", "answers": {"q": [1, 2]}}, "b":[ 2 ]}"#,
            expect![[r#"{"a":1.0,"b":[ 2 ]} t {"q": RawValue([1, 2])}"#]],
        );
        check(r#"{"resume": {"token": "t"}}"#, expect!["{} t {}"]);
    }

    #[test]
    fn a_deeper_member_of_that_name_is_the_authors() {
        check(
            r#"{"person": {"resume": "…"}}"#,
            expect![[r#"{"person": {"resume": "…"}}"#]],
        );
        check(r#"["resume"]"#, expect![[r#"["resume"]"#]]);
    }

    #[test]
    fn a_member_that_is_there_twice_or_of_another_shape_is_malformed() {
        check(r#"{"resume": "my life"}"#, expect!["malformed"]);
        check(
            r#"{"resume": {"token": "a"}, "resume": {"token": "b"}}"#,
            expect!["malformed"],
        );
        check(
            r#"{"resume": {"token": "a"}, "\u0072esume": {"token": "b"}}"#,
            expect!["malformed"],
        );
    }

    #[test]
    fn only_one_object_is_bound() {
        assert_eq!(bound(b"").as_deref(), Some("{}"));
        assert_eq!(bound(b" {\"a\":1} ").as_deref(), Some("{\"a\":1}"));
        for other in ["1", "{\"a\":1},\"b\":{}", "{", "[]"] {
            assert_eq!(bound(other.as_bytes()), None, "{other}");
        }
    }
}
