//! Keys: the names of the questions and steps of a flow.

use std::borrow::Borrow;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name under which the journal keeps one answer or one result.
///
/// `scope/name`, then `#2` for the second use of a name in its scope, then `~2`
/// when the same thing had to be asked or run again. Keys of questions go to the
/// client as they are, so a name is no place for secrets or personal data.
#[derive(Clone)]
pub struct Key {
    // Keys that came out of one journal share one allocation.
    text: Arc<str>,
    start: u32,
    end: u32,
}

impl Key {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text[self.start as usize..self.end as usize]
    }

    pub(crate) fn new(text: &str) -> Self {
        Self::part(Arc::from(text), 0, text.len())
    }

    /// The part `start..end` of a text that several keys share.
    pub(crate) fn part(text: Arc<str>, start: usize, end: usize) -> Self {
        let narrow = |at: usize| u32::try_from(at).expect("a journal is far smaller than 4 GiB");
        Self {
            text,
            start: narrow(start),
            end: narrow(end),
        }
    }

    /// The part that all uses of the name in its scope have in common.
    pub(crate) fn without_ordinal(&self) -> &str {
        let text = self.as_str();
        // A scope may have an ordinal of its own.
        match text.rfind([ORDINAL, SCOPE]) {
            Some(at) if text[at..].starts_with(ORDINAL) => &text[..at],
            _ => text,
        }
    }

    /// The same name asked or run for the `generation`-th time.
    pub(crate) fn generation(&self, generation: u32) -> Self {
        if generation == 1 {
            return self.clone();
        }
        Self::new(&format!("{self}{GENERATION}{generation}"))
    }

    /// Of which name and generation this key is.
    pub(crate) fn split_generation(&self) -> (&str, u32) {
        let text = self.as_str();
        text.rsplit_once(GENERATION)
            .and_then(|(name, generation)| Some((name, generation.parse().ok()?)))
            .unwrap_or((text, 1))
    }

    /// Key under which the journal keeps the moment at which `self` runs out.
    pub(crate) fn timer(&self) -> Self {
        Self::new(&format!("{self}{TIMER}"))
    }

    /// The scope of everything inside the memo `self`.
    pub(crate) fn memo_scope(&self) -> Self {
        Self::new(&format!("{self}{MEMO}"))
    }

    /// Returns whether `self` was recorded inside the memo `memo`.
    pub(crate) fn is_inside_memo(&self, memo: &Self) -> bool {
        self.as_str()
            .strip_prefix(memo.as_str())
            .and_then(|rest| rest.strip_prefix(MEMO))
            .is_some_and(|rest| rest.starts_with(SCOPE))
    }

    /// The memos that `self` was recorded inside, the outermost first.
    pub(crate) fn memos(&self) -> impl Iterator<Item = Self> {
        let start = self.start as usize;
        let ends = self.as_str().match_indices(INSIDE_MEMO);
        ends.map(move |(end, _)| Self::part(self.text.clone(), start, start + end))
    }

    /// The key whose end a timer entry holds, if `self` is a timer entry's key.
    pub(crate) fn timed(&self) -> Option<Self> {
        let text = self.as_str().strip_suffix(TIMER)?;
        let start = self.start as usize;
        Some(Self::part(self.text.clone(), start, start + text.len()))
    }
}

/// Writes `scope/name` to `out`.
///
/// The name that an author gives may hold any character (a row's id, a path);
/// those with a meaning in keys are written as `%xx`, so two different names
/// never become one key.
pub(crate) fn write_key(out: &mut String, scope: Option<&Key>, name: &str) {
    if let Some(scope) = scope {
        out.push_str(scope.as_str());
        out.push(SCOPE);
    }
    if is_written_as_is(name) {
        out.push_str(name);
        return;
    }
    for character in name.chars() {
        if is_reserved(character) {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                write!(out, "%{byte:02x}").expect("writing to a string cannot fail");
            }
        } else {
            out.push(character);
        }
    }
}

/// Returns `true` for a name without characters that have a meaning in keys.
pub(crate) fn is_written_as_is(name: &str) -> bool {
    !name.contains(is_reserved)
}

/// Writes the mark of the `nth` use of a name.
pub(crate) fn write_ordinal(out: &mut String, nth: u32) {
    write!(out, "{ORDINAL}{nth}").expect("writing to a string cannot fail");
}

fn is_reserved(character: char) -> bool {
    matches!(
        character,
        '%' | SCOPE | ORDINAL | GENERATION | TIMER | UNDO | RANDOM | MEMO
    ) || character.is_control()
}

const SCOPE: char = '/';
const ORDINAL: char = '#';
const GENERATION: char = '~';
const TIMER: char = '@';
/// Sets a compensation apart from a step of the same name.
pub(crate) const UNDO: char = '!';
/// Sets randomness apart from a step of the same name.
pub(crate) const RANDOM: char = '?';
const MEMO: char = '*';
/// Follows the name of a memo in the keys inside it.
const INSIDE_MEMO: &str = "*/";

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Key {
    // `Borrow<str>` promises that a key hashes as its text does.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn key(scope: Option<&str>, name: &str) -> String {
        let mut out = String::new();
        write_key(&mut out, scope.map(Key::new).as_ref(), name);
        out
    }

    #[test]
    fn a_key_is_found_compared_and_shown_as_its_text() {
        let keys = HashSet::from(["plan", "plan#2"].map(Key::new));
        assert!(keys.contains("plan"));
        assert!(!keys.contains("plan#3"));
        assert!(Key::new("a") < Key::new("b"));
        assert_eq!(format!("{:?}", Key::new("plan")), "\"plan\"");
    }

    #[test]
    fn characters_with_a_meaning_are_spelled_out() {
        assert_eq!(key(None, "approval"), "approval");
        assert_eq!(key(Some("item-42"), "approval"), "item-42/approval");
        assert_eq!(key(Some("a"), "b/c#2~3@!?*"), "a/b%2fc%232%7e3%40%21%3f%2a");
        assert_eq!(key(None, "50%"), "50%25");
        assert_eq!(key(None, "a\nb\u{85}"), "a%0ab%c2%85");
        assert_eq!(key(None, "größe"), "größe");
    }

    #[test]
    fn the_ordinal_of_a_scope_is_part_of_the_name() {
        for (key, name) in [
            ("plan", "plan"),
            ("plan#2", "plan"),
            ("item#3/plan", "item#3/plan"),
            ("item#3/plan#2", "item#3/plan"),
            ("profile#2*/name#12", "profile#2*/name"),
        ] {
            assert_eq!(Key::new(key).without_ordinal(), name);
        }
    }

    #[test]
    fn a_memo_owns_its_inside_and_nothing_else() {
        let memo = Key::new("profile");
        let inside = |text| Key::new(text).is_inside_memo(&memo);
        assert!(inside("profile*/name"));
        assert!(!inside("profile/name"));
        assert!(!inside("profile#2*/name"));
        assert!(!inside("profile"));
    }

    #[test]
    fn a_generation_is_read_back() {
        assert_eq!(Key::new("a~b").split_generation(), ("a~b", 1));
        for generation in [1, 2, 17] {
            let key = Key::new("x/a#2").generation(generation);
            assert_eq!(key.split_generation(), ("x/a#2", generation));
        }
    }

    #[test]
    fn a_timer_knows_what_it_times() {
        assert_eq!(Key::new("wait@").timed(), Some(Key::new("wait")));
        assert_eq!(Key::new("wait").timed(), None);
    }
}
