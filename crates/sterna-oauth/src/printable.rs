//! Text of peers in error messages, without characters that act on a terminal.

/// Returns the first 200 characters of `text`, with every unprintable
/// character and line separator replaced by U+FFFD.
///
/// A longer text ends with `…`.
pub fn printable(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .map(|each| match is_unprintable(each) || is_separator(each) {
            true => '\u{fffd}',
            false => each,
        })
        .take(MAX_SHOWN)
        .collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns true for an invisible character that acts on the terminal or on the
/// letters beside it.
///
/// These are control characters (Cc), format characters (Cf), variation
/// selectors, tags, and the other code points that Unicode calls ignorable.
pub fn is_unprintable(each: char) -> bool {
    each.is_control()
        || matches!(each,
            '\u{ad}'
            | '\u{34f}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{890}'..='\u{891}'
            | '\u{8e2}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{110bd}'
            | '\u{110cd}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for the line and the paragraph separator.
pub fn is_separator(each: char) -> bool {
    matches!(each, '\u{2028}' | '\u{2029}')
}

const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_peer_is_short_and_stays_on_its_line() {
        assert_eq!(printable("a\n\u{1b}[31m\u{202e}b"), "a��[31m�b");
        assert_eq!(printable("a\u{2028}b\u{e0041}c\u{ad}d"), "a�b�c�d");
        assert_eq!(printable(&"x".repeat(5000)).chars().count(), MAX_SHOWN + 1);
    }

    #[test]
    fn scripts_of_the_world_stay_as_they_are() {
        for text in ["Müller", "日本語", "עברית", "عربى", "é", "한국어", "👍"] {
            assert_eq!(printable(text), text);
        }
    }
}
