//! Spans of time as people type them: `90s`, `1h30m`, `2d`.

use std::time::Duration;

/// Reads numbers with units: `ms`, `s`, `m`, `h`, `d`.
///
/// # Errors
///
/// Says how to write it.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    read(text).ok_or_else(|| "write it like 500ms, 90s, 15m, 1h30m or 2d".to_owned())
}

fn read(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit())?;
        let (number, after) = rest.split_at(digits);
        let end = after.find(|character: char| character.is_ascii_digit());
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        let millis = UNITS.iter().find(|(name, _)| *name == unit)?.1;
        let millis = number.parse::<u64>().ok()?.checked_mul(millis)?;
        total = total.checked_add(Duration::from_millis(millis))?;
        rest = after;
    }
    Some(total)
}

const UNITS: [(&str, u64); 5] = [
    ("ms", 1),
    ("s", 1000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_they_are_written() {
        for (text, millis) in [
            ("500ms", 500),
            ("90s", 90_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "5", "s", "1x", "-1s", "1.5h", "99999999999999999999d"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
