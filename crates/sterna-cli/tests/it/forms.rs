//! Questions on a real pseudo-terminal.

use std::process::Command;
use std::time::Duration;

use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Session};

use crate::server;

/// A user in front of a terminal.
struct User {
    terminal: OsSession,
}

const ENTER: &str = "\r";
const ESC: &str = "\u{1b}";
const DOWN: &str = "\u{1b}[B";
const CTRL_C: &str = "\u{3}";

impl User {
    fn calls(tool: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sterna"));
        command
            .env("XDG_CONFIG_HOME", "/nonexistent")
            .env("TERM", "xterm");
        command.env("NO_COLOR", "1").env("BROWSER", "true");
        command.args(["call", &server::start(), tool, "-q"]);
        let mut terminal = Session::spawn(command).unwrap();
        terminal.set_expect_timeout(Some(Duration::from_secs(30)));
        Self { terminal }
    }

    #[track_caller]
    fn sees(mut self, text: &str) -> Self {
        if let Err(error) = self.terminal.expect(text) {
            panic!("{text:?} was not shown: {error}");
        }
        self
    }

    fn types(mut self, keys: &str) -> Self {
        self.terminal.send(keys).unwrap();
        self
    }

    #[track_caller]
    fn ends_with(mut self, code: i32) {
        self.terminal.expect(Eof).unwrap();
        let status = self.terminal.get_process().wait().unwrap();
        assert_eq!(
            format!("{status:?}"),
            format!("Exited(Pid({}), {code})", self.terminal.get_process().pid())
        );
    }
}

/// Fills the survey in up to the question whether to send it.
fn filled_in() -> User {
    User::calls("survey")
        .sees("asks, for survey (survey)")
        .sees("Please tell us about you.")
        .sees("name:")
        .types("Ada")
        .types(ENTER)
        .sees("age:")
        .types("36")
        .types(ENTER)
        .sees("color:")
        .types(DOWN)
        .types(ENTER)
        .sees("newsletter")
        .types(ENTER)
        .sees("toppings:")
        .types(" ")
        .types(ENTER)
        .sees("Send this?")
}

#[test]
fn a_form_is_filled_in_and_sent() {
    filled_in()
        .types(ENTER)
        .sees(r#"{"name":"Ada","age":36,"color":"green","newsletter":false,"toppings":["ham"]}"#)
        .ends_with(0);
}

#[test]
fn input_that_does_not_fit_is_corrected() {
    User::calls("survey")
        .sees("name:")
        .types("A")
        .types(ENTER)
        .sees("it must have at least 2 characters")
        .types("da")
        .types(ENTER)
        .sees("age:")
        .types("old")
        .types(ENTER)
        .sees("it must be a whole number")
        .types("\u{7f}\u{7f}\u{7f}17")
        .types(ENTER)
        .sees("it must be at least 18")
        .types("\u{7f}\u{7f}36")
        .types(ENTER)
        .sees("color:")
        .types(ENTER)
        .sees("newsletter")
        .types(ENTER)
        .sees("toppings:")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees(r#""age":36,"color":"red""#)
        .ends_with(0);
}

#[test]
fn a_form_that_was_filled_in_can_still_be_declined() {
    filled_in()
        .types(DOWN)
        .types(DOWN)
        .types(ENTER)
        .sees("declined")
        .ends_with(5);
}

#[test]
fn escape_leads_out_of_a_form_by_cancelling_it() {
    User::calls("survey")
        .sees("name:")
        .types(ESC)
        .sees("And now?")
        .types(DOWN)
        .types(DOWN)
        .types(ENTER)
        .sees("cancelled")
        .ends_with(5);
}

#[test]
fn an_interrupt_stops_the_call_and_sends_nothing() {
    User::calls("survey")
        .sees("name:")
        .types(CTRL_C)
        .sees("you stopped the call")
        .ends_with(5);
}

#[test]
fn a_yes_is_one_key() {
    User::calls("confirm")
        .sees("Are you sure?")
        .sees("Do you agree?")
        .types(ENTER)
        .sees("agreed: true")
        .ends_with(0);
}

#[test]
fn a_page_is_opened_only_on_the_users_word() {
    User::calls("visit")
        .sees("Go to login.example?")
        .sees("https://login.example/start")
        .types(ENTER)
        .sees("visited")
        .ends_with(0);
}

#[test]
fn a_model_is_stood_in_for_by_hand() {
    User::calls("write")
        .sees("Write a line")
        .types(ENTER)
        .sees("Answer:")
        .types("roses")
        .types(ENTER)
        .sees("by hand: roses")
        .ends_with(0);
}
