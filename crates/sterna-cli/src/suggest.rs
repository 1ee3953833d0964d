//! Names that are close to one that was typed.

use crate::text::{excerpt, one_line};

/// The known name that `word` was probably meant to be.
pub(crate) fn closest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed: Vec<char> = fold(word);
    // One mistake in a short word, two or three in a longer one.
    let most = typed.len().div_ceil(3).min(3);
    let near = known.into_iter().take(MOST_NAMES).filter_map(|name| {
        let other = fold(name);
        let is_comparable = other.len().abs_diff(typed.len()) <= most && other.len() <= LONGEST;
        let far = is_comparable.then(|| distance(&typed, &other))?;
        (far <= most).then_some((far, name))
    });
    near.min().map(|(_, name)| name)
}

/// A sentence that suggests a name and lists the known ones after `has`.
pub(crate) fn among<'a>(
    word: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    has: &str,
) -> String {
    let meant = closest(word, known.clone());
    let meant = meant.map(|name| format!("did you mean `{}`? ", excerpt(name)));
    let mut names = known.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(MOST_SHOWN).map(excerpt).collect();
    if names.next().is_some() {
        shown.push("…".to_owned());
    }
    let shown = match shown.is_empty() {
        true => "nothing".to_owned(),
        false => shown.join(", "),
    };
    format!("{}{has} {shown}", meant.unwrap_or_default())
}

fn fold(name: &str) -> Vec<char> {
    let name = one_line(name).to_lowercase();
    let letters = name
        .chars()
        .map(|each| if each == '_' { '-' } else { each });
    letters.take(LONGEST + 1).collect()
}

/// Edit distance: letters inserted, removed, changed or swapped.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = last[j] + usize::from(x != y);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Longer names are not compared, and no more than so many: a server may have
/// any number of them.
const LONGEST: usize = 64;
const MOST_NAMES: usize = 1000;
const MOST_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognized_and_another_word_is_not() {
        let known = ["reason", "owner", "update_work_item"];
        for (word, expected) in [
            ("reson", Some("reason")),
            ("raeson", Some("reason")),
            ("OWNER", Some("owner")),
            ("update-work-itm", Some("update_work_item")),
            ("x", None),
            ("approval", None),
            ("", None),
        ] {
            assert_eq!(closest(word, known), expected, "{word}");
        }
    }

    #[test]
    fn what_is_known_is_listed_up_to_a_point() {
        assert_eq!(
            among("ehco", ["echo", "fail"], "the server has"),
            "did you mean `echo`? the server has echo, fail"
        );
        assert_eq!(among("x", [], "it has"), "it has nothing");
        let many: Vec<String> = (0..30).map(|n| format!("tool{n}")).collect();
        let text = among("zzz", many.iter().map(String::as_str), "it has");
        assert!(text.ends_with("tool19, …"), "{text}");
    }
}
