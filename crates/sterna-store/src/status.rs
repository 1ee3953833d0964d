//! The status of a task that a client sees, and its changes.

/// The status of a task.
///
/// In the spec's order. `Completed`, `Failed` and `Cancelled` are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a sixth status must not compile unnoticed"
)]
pub enum Status {
    /// Being worked on, or waiting for a worker.
    Working,
    /// At least one question is open.
    InputRequired,
    /// Ended with a result.
    Completed,
    /// Ended with an error.
    Failed,
    /// Ended because the client asked for it.
    Cancelled,
}

impl Status {
    pub(crate) const ALL: [Self; 5] = [
        Self::Working,
        Self::InputRequired,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The status after `event`, or nothing if this one is final.
    ///
    /// ```
    /// use sterna_store::{Event, Status};
    ///
    /// assert_eq!(Status::Working.after(Event::Asked), Some(Status::InputRequired));
    /// assert_eq!(Status::Completed.after(Event::Cancelled), None);
    /// ```
    #[must_use]
    pub const fn after(self, event: Event) -> Option<Self> {
        if self.is_final() {
            return None;
        }
        Some(match event {
            Event::Asked => Self::InputRequired,
            Event::Resumed => Self::Working,
            Event::Completed => Self::Completed,
            Event::Failed => Self::Failed,
            Event::Cancelled => Self::Cancelled,
        })
    }

    /// The spec's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status that the spec calls `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Returns `true` if the status cannot change any more.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// An event that may change the status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a sixth event must not compile unnoticed"
)]
pub enum Event {
    /// Questions are open.
    Asked,
    /// No question is open any more.
    Resumed,
    /// The handler returned.
    Completed,
    /// The handler cannot return.
    Failed,
    /// The client lost interest.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_finished_task_ignores_a_late_cancel() {
        check("finish cancel", expect!["working completed (ignored)"]);
    }

    #[test]
    fn a_task_may_ask_as_often_as_it_likes() {
        check(
            "ask resume ask resume finish",
            expect!["working input_required working input_required working completed"],
        );
    }

    #[test]
    fn a_task_may_end_while_a_question_is_open() {
        check("ask finish", expect!["working input_required completed"]);
        check("ask fail", expect!["working input_required failed"]);
        check("ask cancel", expect!["working input_required cancelled"]);
    }

    #[test]
    fn more_of_the_same_changes_nothing() {
        check(
            "resume ask ask",
            expect!["working working input_required input_required"],
        );
    }

    #[test]
    fn every_end_is_the_end() {
        for (end, status) in [
            ("finish", "completed"),
            ("fail", "failed"),
            ("cancel", "cancelled"),
        ] {
            let events = format!("{end} ask resume finish fail cancel");
            let wanted = format!("working {status}{}", " (ignored)".repeat(5));
            assert_eq!(walk(&events), wanted);
        }
    }

    #[test]
    fn every_status_is_found_by_its_word() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), Some(status));
        }
        assert_eq!(Status::parse("Working"), None);
    }

    #[track_caller]
    fn check(events: &str, expected: Expect) {
        expected.assert_eq(&walk(events));
    }

    fn walk(events: &str) -> String {
        let mut status = Status::Working;
        let mut seen = vec![status.as_str()];
        for event in events.split(' ') {
            let event = match event {
                "ask" => Event::Asked,
                "resume" => Event::Resumed,
                "finish" => Event::Completed,
                "fail" => Event::Failed,
                "cancel" => Event::Cancelled,
                other => panic!("{other} is no event"),
            };
            match status.after(event) {
                Some(next) => {
                    status = next;
                    seen.push(next.as_str());
                }
                None => seen.push("(ignored)"),
            }
        }
        seen.join(" ")
    }
}
