//! The progress of an operation, as the note of its task. Frozen: other builds
//! read it.

use serde::{Deserialize, Serialize};
use sterna_flow::Progress;
use sterna_store::Note;

/// Progress as the store keeps it, and as clients see it.
#[derive(Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct StoredProgress {
    done: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl StoredProgress {
    /// Reads the progress in a note.
    pub(super) fn read(note: &Note) -> Option<Self> {
        serde_json::from_str(note.as_str()).ok()
    }
}

/// Writes `progress` as a note; `None` if its numbers are none.
pub(crate) fn to_note(progress: Progress) -> Option<Note> {
    let mut message = progress.message;
    if let Some(message) = &mut message {
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE));
    }
    let stored = StoredProgress {
        done: progress.done,
        total: progress.total.filter(|total| total.is_finite()),
        message,
    };
    let text = serde_json::to_string(&stored).ok()?;
    (stored.done.is_finite() && text.len() <= Note::LONGEST).then(|| Note::new(&text))
}

/// Most bytes of a message. Each is at most six in JSON, and the numbers need
/// some room too.
const LONGEST_MESSAGE: usize = 640;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_frozen() {
        let progress = Progress::new(500.0).of(10_000.0).saying("Row \"500\"");
        let note = to_note(progress).unwrap();
        let frozen = r#"{"done":500.0,"total":10000.0,"message":"Row \"500\""}"#;
        assert_eq!(note.as_str(), frozen);
        assert_eq!(StoredProgress::read(&note).unwrap().total, Some(10_000.0));
        assert_eq!(StoredProgress::read(&Note::new("half of it")), None);
    }

    #[test]
    fn a_message_of_any_length_fits() {
        for message in ["\u{1}".repeat(10_000), "é".repeat(10_000)] {
            let note = to_note(Progress::new(1.0).saying(message)).unwrap();
            assert!(StoredProgress::read(&note).is_some());
        }
        assert_eq!(to_note(Progress::new(f64::NAN)), None);
    }
}
