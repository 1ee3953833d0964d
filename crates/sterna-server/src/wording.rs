//! Names and values of a peer inside a text: quoted, short, and harmless to a
//! terminal.

use std::fmt::{self, Write as _};

use serde_json::Value;

/// A name in backticks, cut to [`LONGEST_NAME`] characters.
pub(crate) fn name(name: &str) -> String {
    let mut text = String::with_capacity(name.len().min(LONGEST_NAME) + 8);
    text.push('`');
    push_cut(&mut text, name, LONGEST_NAME);
    text.push('`');
    text
}

/// A JSON value in a few words: a scalar as it is written, cut to
/// [`LONGEST_VALUE`] characters, and of a structure its kind alone, because a
/// secret may be inside.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => {
            let mut shown = String::with_capacity(text.len().min(LONGEST_VALUE) + 8);
            shown.push('"');
            push_cut(&mut shown, text, LONGEST_VALUE);
            shown.push('"');
            shown
        }
        // A number can have any number of digits where precision is arbitrary.
        scalar => cut(&scalar.to_string(), LONGEST_VALUE),
    }
}

/// `text`, cut to `longest` characters, without characters that a terminal acts
/// on.
pub(crate) fn cut(text: &str, longest: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(longest) + 3);
    push_cut(&mut shown, text, longest);
    shown
}

fn push_cut(shown: &mut String, text: &str, longest: usize) {
    let mut letters = text.chars();
    for letter in letters.by_ref().take(longest) {
        shown.push(if is_inert(letter) { letter } else { '\u{fffd}' });
    }
    if letters.next().is_some() {
        shown.push('…');
    }
}

/// Returns `true` if a terminal shows the character and does nothing else.
fn is_inert(letter: char) -> bool {
    let is_format = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    );
    !letter.is_control() && !is_format
}

/// A list in words, "`a`, `b` and `c`", of at most [`MOST_LISTED`] entries.
pub(crate) fn list<T: fmt::Display>(
    entries: impl ExactSizeIterator<Item = T>,
    last: &str,
) -> String {
    let total = entries.len();
    let mut text = String::new();
    for (at, entry) in entries.take(MOST_LISTED).enumerate() {
        let lead = match at {
            0 => "",
            _ if at + 1 == total => last,
            _ => ", ",
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{lead}{entry}");
    }
    if total > MOST_LISTED {
        let _ = write!(text, "{last}{} more", total - MOST_LISTED);
    }
    text
}

/// The candidate that `wanted` was most likely meant to be: the same but for
/// case and separators, or one or two slips away.
pub(crate) fn closest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    if wanted.is_empty() || wanted.len() > LONGEST_COMPARED {
        return None;
    }
    let plain = plain(wanted);
    let slips = match plain.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    candidates
        .take(MOST_COMPARED)
        .filter(|candidate| candidate.len().abs_diff(wanted.len()) <= 2)
        .filter_map(|candidate| {
            Some((distance(&plain, &self::plain(candidate), slips)?, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A name as it is compared: lower case, with one kind of separator.
fn plain(name: &str) -> Vec<u8> {
    let fold = |byte: u8| match byte {
        b'-' | b'.' | b' ' => b'_',
        byte => byte.to_ascii_lowercase(),
    };
    name.bytes().map(fold).collect()
}

/// The number of bytes to insert, remove, replace or swap with their neighbour
/// to get from one name to the other; `None` if it is more than `most`.
fn distance(one: &[u8], other: &[u8], most: usize) -> Option<usize> {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, byte) in one.iter().enumerate() {
        let mut here = Vec::with_capacity(above.len());
        here.push(row + 1);
        for (column, candidate) in other.iter().enumerate() {
            let replaced = above[column] + usize::from(byte != candidate);
            let mut best = replaced.min(above[column + 1] + 1).min(here[column] + 1);
            if row > 0 && column > 0 && one[row - 1] == *candidate && *byte == other[column - 1] {
                best = best.min(before[column - 1] + 1);
            }
            here.push(best);
        }
        if here.iter().all(|distance| *distance > most) {
            return None;
        }
        before = std::mem::replace(&mut above, here);
    }
    above.last().copied().filter(|distance| *distance <= most)
}

/// The longest name that is shown whole: as long as a tool may be called.
pub(crate) const LONGEST_NAME: usize = 128;

/// Enough to recognise a value by.
const LONGEST_VALUE: usize = 40;

/// A longer list is not read.
const MOST_LISTED: usize = 12;

/// Names that are longer than any of ours are like none of them.
const LONGEST_COMPARED: usize = 160;

/// Bounds what one unknown name costs a server with very many offers.
const MOST_COMPARED: usize = 1000;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_name_is_cut_and_loses_what_a_terminal_would_act_on() {
        let long = "x".repeat(1 << 22);
        assert_eq!(name(&long).chars().count(), LONGEST_NAME + 3);
        assert_eq!(
            name("a\u{1b}[2Jb\u{9b}c\u{202e}d"),
            "`a\u{fffd}[2Jb\u{fffd}c\u{fffd}d`"
        );
    }

    #[test]
    fn of_a_structure_only_its_kind_is_shown() {
        assert_eq!(value(&json!({"password": "p"})), "an object");
        assert_eq!(value(&json!(["p"])), "an array");
        assert_eq!(value(&json!("p")), r#""p""#);
        assert_eq!(value(&json!(-1.5)), "-1.5");
        assert_eq!(
            value(&json!("é".repeat(99))).chars().count(),
            LONGEST_VALUE + 3
        );
    }

    #[test]
    fn a_list_ends_in_how_many_were_left_out() {
        let of = |count: usize| list((0..count).collect::<Vec<_>>().into_iter(), " and ");
        assert_eq!(of(0), "");
        assert_eq!(of(1), "0");
        assert_eq!(of(3), "0, 1 and 2");
        assert_eq!(of(12), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11");
        assert_eq!(of(14), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more");
    }

    #[test]
    fn the_name_that_was_meant_is_found() {
        let names = ["deploy", "delete_all", "ls", "roll-back"];
        let closest = |wanted: &str| closest(wanted, names.into_iter());
        for (wanted, expected) in [
            ("depoly", Some("deploy")),
            ("Deploy", Some("deploy")),
            ("deploys", Some("deploy")),
            ("delete-all", Some("delete_all")),
            ("rollback", Some("roll-back")),
            ("LS", Some("ls")),
            ("lx", None),
            ("destroy", None),
            ("", None),
        ] {
            assert_eq!(closest(wanted), expected, "{wanted}");
        }
        assert_eq!(closest(&"deploy".repeat(99)), None);
    }
}
