//! Names of a server that are offered.

use serde::Deserialize;

/// Names of a server that are offered: patterns in which `*` stands for any text
/// and `?` for any one character.
///
/// # Examples
///
/// ```
/// use sterna_gateway::NameFilter;
///
/// let mut filter = NameFilter::default();
/// assert!(filter.admits("refund"), "an empty filter admits every name");
/// filter.allow = vec!["get_*".to_owned(), "refund".to_owned()];
/// filter.deny = vec!["get_secret*".to_owned()];
/// assert!(filter.admits("get_order") && !filter.admits("get_secrets"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NameFilter {
    /// Patterns of names that are offered. Without one, all are.
    pub allow: Vec<String>,
    /// Patterns of names that are not offered, whatever `allow` says.
    pub deny: Vec<String>,
}

impl NameFilter {
    /// Returns `true` if `name` is offered.
    #[must_use]
    pub fn admits(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        (self.allow.is_empty() || any(&self.allow)) && !any(&self.deny)
    }
}

/// Returns `true` if `name` is what `pattern` stands for. The time is at most
/// the product of the lengths.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut of) = (0, 0);
    // The last star, and the part of the name that it stands for.
    let mut star: Option<(usize, usize)> = None;
    while of < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(&one) if one == '?' || one == name[of] => {
                at += 1;
                of += 1;
            }
            _ => {
                let Some((begin, taken)) = star else {
                    return false;
                };
                star = Some((begin, taken + 1));
                at = begin + 1;
                of = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_stand_for_text() {
        for (pattern, name, expected) in [
            ("get_*", "get_order", true),
            ("get_*", "get_", true),
            ("get_*", "forget_me", false),
            ("*_order", "get_order", true),
            ("g*t*r", "get_order", true),
            ("g*t*r", "get_orders", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("**a**", "bab", true),
            ("ä?*", "äöü", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let (pattern, name) = ("*a".repeat(50) + "b", "a".repeat(5000));
        assert!(!matches(&pattern, &name));
    }
}
