//! Formats of strings in a form.

use super::StringFormat;
use crate::uri::Uri;

/// Returns true if `text` has the `format`. An unknown format accepts every
/// text.
pub(super) fn matches(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        StringFormat::Email => is_email(text),
        StringFormat::Uri => text.parse::<Uri>().is_ok(),
        StringFormat::Other(_) => true,
    }
}

/// Checks for an RFC 3339 `full-date`.
fn is_date(text: &str) -> bool {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else {
        return false;
    };
    let (Some(century), Some(year), Some(month), Some(day)) =
        (two(y1, y2), two(y3, y4), two(m1, m2), two(d1, d2))
    else {
        return false;
    };
    let leap = match year {
        0 => century % 4 == 0,
        _ => year % 4 == 0,
    };
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// Checks for an RFC 3339 `date-time`.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else {
        return false;
    };
    let bytes = time.as_bytes();
    let Some((&[h1, h2, b':', m1, m2, b':', s1, s2], rest)) = bytes.split_first_chunk::<8>() else {
        return false;
    };
    let (Some(hour @ 0..=23), Some(minute @ 0..=59), Some(second @ 0..=60)) =
        (two(h1, h2), two(m1, m2), two(s1, s2))
    else {
        return false;
    };
    let Some(offset) = after_fraction(rest).and_then(offset_minutes) else {
        return false;
    };
    // A leap second comes only at the end of a day in UTC.
    let utc = (i16::from(hour) * 60 + i16::from(minute) - offset).rem_euclid(24 * 60);
    is_date(date) && (second < 60 || utc == 23 * 60 + 59)
}

fn after_fraction(rest: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Some(rest);
    };
    let digits = fraction
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (digits > 0).then(|| &fraction[digits..])
}

fn offset_minutes(text: &[u8]) -> Option<i16> {
    match *text {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => match (two(h1, h2)?, two(m1, m2)?) {
            (hours @ 0..=23, minutes @ 0..=59) => {
                let minutes = i16::from(hours) * 60 + i16::from(minutes);
                Some(if sign == b'-' { -minutes } else { minutes })
            }
            _ => None,
        },
        _ => None,
    }
}

/// The number written in two digits.
fn two(tens: u8, ones: u8) -> Option<u8> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| byte - b'0');
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// Checks for an RFC 5321 `Mailbox`, without address literals.
fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    (1..=64).contains(&local.len())
        && domain.len() <= 255
        && (local.split('.').all(is_atom) || is_quoted(local))
        && domain.split('.').all(is_label)
}

fn is_atom(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

fn is_quoted(text: &str) -> bool {
    let Some(inner) = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'))
    else {
        return false;
    };
    let mut bytes = inner.bytes();
    while let Some(byte) = bytes.next() {
        let plain = match byte {
            b'"' => false,
            b'\\' => bytes.next().is_some_and(|next| matches!(next, b' '..=b'~')),
            _ => matches!(byte, b' '..=b'~'),
        };
        if !plain {
            return false;
        }
    }
    true
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(allowed)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: &str, good: &[&str], bad: &[&str]) {
        let format = StringFormat::from(format);
        for text in good {
            assert!(matches(&format, text), "{format} should admit {text:?}");
        }
        for text in bad {
            assert!(!matches(&format, text), "{format} should refuse {text:?}");
        }
    }

    #[test]
    fn a_date_is_a_day_that_exists() {
        check(
            "date",
            &["2026-07-28", "2024-02-29", "2000-02-29", "0000-01-01"],
            &[
                "2025-02-29",
                "1900-02-29",
                "2026-04-31",
                "2026-13-01",
                "2026-00-10",
                "2026-01-00",
                "2026-1-01",
                "26-01-01",
                "2026-01-01T00:00:00Z",
                "",
                "२०२६-०७-२८",
            ],
        );
    }

    #[test]
    fn a_moment_has_a_time_and_an_offset() {
        check(
            "date-time",
            &[
                "2026-07-28T10:30:00Z",
                "2026-07-28t10:30:00z",
                "2026-07-28T10:30:00.123456789Z",
                "2026-07-28T10:30:00+05:30",
                "1998-12-31T23:59:60Z",
                "1998-12-31T15:59:60.5-08:00",
            ],
            &[
                "2026-07-28",
                "2026-07-28T10:30:00",
                "2026-07-28T10:30Z",
                "2026-07-28 10:30:00Z",
                "2026-07-28T24:00:00Z",
                "2026-07-28T10:60:00Z",
                "2026-07-28T10:30:60Z",
                "2026-07-28T10:30:00.Z",
                "2026-07-28T10:30:00+0530",
                "2026-07-28T10:30:00+24:00",
                "2026-02-30T10:30:00Z",
                "2026-07-28T10:30:00ZZ",
                "2026-07-28T",
                "T10:30:00Z",
            ],
        );
    }

    #[test]
    fn a_mail_address_has_two_sides() {
        let long_label = format!("a@{}.example", "x".repeat(64));
        let long_local = format!("{}@b.example", "x".repeat(65));
        check(
            "email",
            &[
                "a@b",
                "joe.bloggs@example.com",
                "te~st+tag@example-1.com",
                "\"joe b@x\"@example.com",
                "\"a\\\"b\"@example.com",
            ],
            &[
                "",
                "2962",
                "@b",
                "a@",
                ".a@b",
                "a.@b",
                "a..b@c",
                "a@b..c",
                "a@-b.c",
                "a@b-.c",
                "a b@c.example",
                "é@c.example",
                "a@é.example",
                "\"a\"b\"@c",
                "\"a\\\"@c",
                &long_label,
                &long_local,
            ],
        );
    }

    #[test]
    fn an_unknown_format_admits_everything() {
        check("phone", &["", "anything"], &[]);
    }
}
