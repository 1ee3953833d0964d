//! Questions on a real pseudo-terminal.

use tempfile::TempDir;

use crate::server;
use crate::terminal::{CTRL_C, DOWN, ENTER, ESC, User};

fn calls(tool: &str) -> User {
    User::runs(&["call", &server::start(), tool, "-q"])
}

/// Fills the survey in up to the question whether to send it.
fn filled_in() -> User {
    calls("survey")
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
    calls("survey")
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
    calls("survey")
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
    calls("survey")
        .sees("name:")
        .types(CTRL_C)
        .sees("you stopped the call")
        .ends_with(5);
}

#[test]
fn what_was_asked_is_kept_for_a_user_who_stops_to_think() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let path = file.to_str().unwrap();
    User::runs(&["call", &server::start(), "survey", "--save", path])
        .sees("name:")
        .types(CTRL_C)
        .sees("saved to")
        .sees("you stopped the call")
        .ends_with(5);
    User::runs(&["resume", path])
        .sees("Please tell us about you.")
        .sees("name:")
        .types(CTRL_C)
        .ends_with(5);
}

#[test]
fn a_yes_is_one_key() {
    calls("confirm")
        .sees("Are you sure?")
        .sees("Do you agree?")
        .types(ENTER)
        .sees("agreed: true")
        .ends_with(0);
}

#[test]
fn a_page_is_opened_only_on_the_users_word() {
    calls("visit")
        .sees("Go to login.example?")
        .sees("https://login.example/start")
        .types(ENTER)
        .sees("visited")
        .ends_with(0);
}

#[test]
fn a_model_is_stood_in_for_by_hand() {
    calls("write")
        .sees("Write a line")
        .sees("Answer:")
        .types(ENTER)
        .sees("an empty answer is not sent")
        .types("roses")
        .types(ENTER)
        .sees("by hand: roses")
        .ends_with(0);
}
