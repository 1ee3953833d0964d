//! Text for a terminal, free of characters that steer it or deceive its reader.
//!
//! Servers, files and other people choose most of what the command shows. A
//! control character in it can set the window title, fill the clipboard or
//! overwrite a line; a format character can reorder or hide letters. [`Text`]
//! removes them when it is built, and the screen writes nothing but `Text`.

use std::ops::{Add, AddAssign};

use anstyle::{AnsiColor, Color, Style};
use sterna_client::oauth::internal::{is_separator, is_unprintable};

/// Printable text with emphasis of our own.
///
/// The only escape sequences in it are those of [`Emphasis`]: every string that
/// becomes a `Text` loses its control and format characters, except line ends
/// and tabs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(String);

/// A style that the command uses.
#[derive(Clone, Copy, Debug)]
enum Emphasis {
    Bad,
    Bold,
    Dim,
    Error,
    Good,
    Hint,
}

impl Text {
    /// Text of something that is not as it should be.
    pub(crate) fn bad(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Bad, text.as_ref())
    }

    /// Text of headings and results.
    pub(crate) fn bold(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Bold, text.as_ref())
    }

    /// Text that matters less.
    pub(crate) fn dim(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Dim, text.as_ref())
    }

    /// The word that begins an error.
    pub(crate) fn error(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Error, text.as_ref())
    }

    /// Text of something that is as it should be.
    pub(crate) fn good(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Good, text.as_ref())
    }

    /// The word that begins a hint.
    pub(crate) fn hint(text: impl AsRef<str>) -> Self {
        Self::styled(Emphasis::Hint, text.as_ref())
    }

    /// The text with its escape sequences, for the screen and for prompts.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn styled(emphasis: Emphasis, text: &str) -> Self {
        let style = emphasis.style();
        Self(format!("{style}{}{style:#}", printable(text)))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(printable(text))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(printable(&text))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Self(printable(text))
    }
}

impl<T: Into<Self>> Add<T> for Text {
    type Output = Self;

    fn add(mut self, more: T) -> Self {
        self += more;
        self
    }
}

impl<T: Into<Self>> AddAssign<T> for Text {
    fn add_assign(&mut self, more: T) {
        self.0.push_str(&more.into().0);
    }
}

impl FromIterator<Self> for Text {
    fn from_iter<I: IntoIterator<Item = Self>>(parts: I) -> Self {
        let mut whole = Self::default();
        for part in parts {
            whole += part;
        }
        whole
    }
}

impl Emphasis {
    fn style(self) -> Style {
        let style = Style::new();
        let ansi = |color| Some(Color::Ansi(color));
        match self {
            Self::Bad => style.fg_color(ansi(AnsiColor::Red)),
            Self::Bold => style.bold(),
            Self::Dim => style.dimmed(),
            Self::Error => style.bold().fg_color(ansi(AnsiColor::Red)),
            Self::Good => style.fg_color(ansi(AnsiColor::Green)),
            Self::Hint => style.bold().fg_color(ansi(AnsiColor::Cyan)),
        }
    }
}

/// `text` on one line, for names, keys and other text inside a sentence.
pub(crate) fn one_line(text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    for word in text
        .split(|each: char| each.is_whitespace() || each.is_control() || is_separator(each))
        .map(|word| word.replace(is_unprintable, ""))
        .filter(|word| !word.is_empty())
    {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(&word);
    }
    words
}

/// The first `LONGEST` characters of `text` on one line, for quoting a value in
/// an error.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = one_line(text);
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((at, _)) => format!("{}…", &line[..at]),
    }
}

/// `text` without control and format characters; line ends and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for each in text.chars() {
        match each {
            '\n' | '\t' => clean.push(each),
            _ if is_separator(each) => clean.push('\n'),
            _ if is_unprintable(each) => {}
            _ => clean.push(each),
        }
    }
    clean
}

/// `json` with every control and format character written as `\uXXXX`, which
/// is the same JSON value.
///
/// Raw members of a server's message may hold line ends between their tokens;
/// on one line they become spaces.
pub(crate) fn printable_json(json: &str, layout: JsonLayout) -> String {
    let mut clean = String::with_capacity(json.len());
    for each in json.chars() {
        match each {
            // JSON strings hold neither of these as they are: they stand between tokens.
            '\n' | '\t' if layout == JsonLayout::Lines => clean.push(each),
            '\n' | '\t' | '\r' => clean.push(' '),
            _ if is_unprintable(each) || is_separator(each) => {
                for unit in each.encode_utf16(&mut [0; 2]) {
                    clean.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => clean.push(each),
        }
    }
    clean
}

/// The layout of a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonLayout {
    Lines,
    OneLine,
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "a\u{1b}]0;t\u{7}b\u{9b}31mc\u{202e}d\u{200b}e\u{e0041}f\u{fe0f}g\u{85}h\r";

    #[test]
    fn text_keeps_letters_and_line_ends_and_nothing_that_acts() {
        assert_eq!(printable(HOSTILE), "a]0;tb31mcdefgh");
        assert_eq!(printable("a\tb\r\nc\u{2028}d"), "a\tb\nc\nd");
        assert_eq!(one_line("a\u{200b}b\n\u{1b}c\u{2029}d"), "ab c d");
        let styled = Text::bold(HOSTILE) + HOSTILE;
        assert_eq!(
            styled.as_str(),
            "\u{1b}[1ma]0;tb31mcdefgh\u{1b}[0ma]0;tb31mcdefgh"
        );
    }

    #[test]
    fn scripts_of_the_world_stay_as_they_are() {
        for text in ["Müller", "日本語", "עברית", "عربى", "é", "한국어", "👍"] {
            assert_eq!(printable(text), text);
        }
    }

    #[test]
    fn json_is_escaped_and_stays_the_same_value() {
        let value = serde_json::json!({"key": HOSTILE, "\u{7f}": ["\u{10ffff}", "\n"]});
        for layout in [JsonLayout::OneLine, JsonLayout::Lines] {
            let json = match layout {
                JsonLayout::OneLine => value.to_string(),
                JsonLayout::Lines => format!("{value:#}"),
            };
            let shown = printable_json(&json, layout);
            assert!(!shown.contains(|each| is_unprintable(each) && each != '\n'));
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
                value
            );
        }
        let raw = "{\r\n\"a\":\t1}";
        let shown = printable_json(raw, JsonLayout::OneLine);
        assert_eq!(shown, "{  \"a\": 1}");
    }

    #[test]
    fn a_long_value_is_cut_where_it_is_quoted() {
        assert_eq!(excerpt("short"), "short");
        let long = excerpt(&"ä".repeat(100));
        assert_eq!(long.chars().count(), 61);
        assert!(long.ends_with('…'));
    }
}
