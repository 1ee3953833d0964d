//! Bodies of parts (RFC 7578), one of which may be named `resume`.

use std::ops::Range;

use bytes::Bytes;
use memchr::memmem;
use ring::digest::{SHA256, digest};
use serde::Serialize;

use super::{MalformedResume, RESUME, SplitBody};

/// Returns the boundary that a `Content-Type` names.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1);
    parameters
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("boundary"))
        .map(|(_, value)| value.trim().trim_matches('"'))
        .filter(|boundary| !boundary.is_empty())
}

/// Takes the part `resume` out. A body that has another form stays as it is.
pub(super) fn split(body: Bytes, boundary: &str) -> Result<SplitBody, MalformedResume> {
    let whole = |body| SplitBody {
        rest: body,
        resume: None,
    };
    if memmem::find(&body, RESUME.as_bytes()).is_none() {
        return Ok(whole(body));
    }
    let Some(parts) = parts(&body, boundary) else {
        return Ok(whole(body));
    };
    let mut ours = parts.iter().filter(|part| part.name == RESUME);
    let Some(part) = ours.next() else {
        return Ok(whole(body));
    };
    if ours.next().is_some() {
        return Err(MalformedResume);
    }
    let content = &body[part.content.clone()];
    let resume = serde_json::from_slice(content).map_err(|_| MalformedResume)?;
    let mut rest = Vec::with_capacity(body.len());
    rest.extend_from_slice(&body[..part.whole.start]);
    rest.extend_from_slice(&body[part.whole.end..]);
    Ok(SplitBody {
        rest: rest.into(),
        resume: Some(resume),
    })
}

/// Returns the parts for a binding, without the boundary: a client makes a new
/// one for each request.
pub(super) fn bound(rest: &[u8], boundary: &str) -> Option<String> {
    #[derive(Serialize)]
    struct Bound<'a> {
        head: &'a str,
        sha256: String,
    }
    let parts = parts(rest, boundary)?;
    let bound = parts.iter().map(|part| {
        let hash = digest(&SHA256, &rest[part.content.clone()]);
        let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Some(Bound {
            head: std::str::from_utf8(&rest[part.head.clone()]).ok()?,
            sha256: hex.collect(),
        })
    });
    let bound: Vec<_> = bound.collect::<Option<_>>()?;
    serde_json::to_string(&bound).ok()
}

/// One part of a body.
struct Part {
    name: String,
    head: Range<usize>,
    content: Range<usize>,
    /// The part with the boundary before it.
    whole: Range<usize>,
}

/// Returns the parts of `body`; `None` if it has another form.
fn parts(body: &[u8], boundary: &str) -> Option<Vec<Part>> {
    let mark = format!("--{boundary}");
    let next = format!("\r\n{mark}");
    let next = memmem::Finder::new(&next);
    let mut parts = Vec::new();
    let mut start = match body.starts_with(mark.as_bytes()) {
        true => 0,
        false => next.find(body)? + 2,
    };
    loop {
        let after = start + mark.len();
        match body.get(after..after + 2)? {
            b"--" => return Some(parts),
            b"\r\n" => {}
            _ => return None,
        }
        let head_start = after + 2;
        let head_len = memmem::find(&body[head_start..], b"\r\n\r\n")?;
        let head = head_start..head_start + head_len;
        let content_start = head.end + 4;
        let content_len = next.find(body.get(content_start..)?)?;
        let content = content_start..content_start + content_len;
        let end = content.end + 2;
        parts.push(Part {
            name: name_in(&body[head.clone()])?,
            head,
            whole: start..end,
            content,
        });
        if parts.len() > MOST_PARTS {
            return None;
        }
        start = end;
    }
}

/// Returns the name that the head of a part gives it.
fn name_in(head: &[u8]) -> Option<String> {
    let head = std::str::from_utf8(head).ok()?;
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim()
            .eq_ignore_ascii_case("content-disposition")
            .then_some(value)
    })?;
    let parameters = disposition.split(';').skip(1);
    let name = parameters
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("name"));
    name.map(|(_, value)| value.trim().trim_matches('"').to_owned())
}

/// More parts than any form of a person has.
const MOST_PARTS: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn body(boundary: &str, parts: &[(&str, &str)]) -> Bytes {
        let part = |(name, content): &(&str, &str)| {
            format!(
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{content}\r\n"
            )
        };
        let parts: String = parts.iter().map(part).collect();
        format!("{parts}--{boundary}--\r\n").into()
    }

    #[test]
    fn the_part_is_taken_out_and_the_others_are_bound_without_their_boundary() {
        let resume = r#"{"token":"t","answers":{"q":1}}"#;
        let first = body("one", &[("file", "a,b\r\nc"), ("kind", "csv")]);
        let retry = body(
            "two",
            &[("file", "a,b\r\nc"), ("resume", resume), ("kind", "csv")],
        );
        let split = split(retry, "two").unwrap();
        assert_eq!(split.resume.unwrap().token, "t");
        assert_eq!(
            split.rest,
            body("two", &[("file", "a,b\r\nc"), ("kind", "csv")])
        );
        assert_eq!(bound(&split.rest, "two"), bound(&first, "one"));
        let other = body("two", &[("file", "a,b\r\nd"), ("kind", "csv")]);
        assert_ne!(bound(&other, "two"), bound(&first, "one"));
    }

    #[test]
    fn a_body_that_is_cut_short_has_no_parts() {
        let whole = body("b", &[("a", "1"), ("resume", "{}")]);
        for end in 0..whole.len() - 4 {
            assert!(bound(&whole[..end], "b").is_none(), "{end}");
        }
    }

    #[test]
    fn a_boundary_is_read_from_the_content_type() {
        assert_eq!(boundary("multipart/form-data; boundary=x"), Some("x"));
        assert_eq!(
            boundary("multipart/form-data; charset=utf-8; Boundary=\"x y\""),
            Some("x y")
        );
        assert_eq!(boundary("multipart/form-data"), None);
    }
}
