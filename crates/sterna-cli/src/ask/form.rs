//! A form on the terminal: its fields, a look at the whole, and a way out.

use std::collections::BTreeMap;
use std::fmt;

use inquire::InquireError;
use sterna_protocol::elicitation::{
    ElicitAction, ElicitContent, ElicitResult, ElicitValue, FormSchema,
};

use super::field::{self, Filled};
use super::prompt::Prompt;

/// Has the user fill in a form, look it over, and send, decline or cancel it.
pub(super) fn fill_in(form: &FormSchema) -> Result<ElicitResult, InquireError> {
    let mut filled = BTreeMap::new();
    if form.properties.iter().len() == 0 {
        return Ok(
            match choose("Do you agree?", &[Next::Agree, Next::Decline, Next::Cancel])? {
                Next::Agree => ElicitResult::accept(ElicitContent::default()),
                next => next.refusal(),
            },
        );
    }
    loop {
        let next = match go_through(form, &mut filled)? {
            Went::Through => choose(
                "Send this?",
                &[Next::Send, Next::Change, Next::Decline, Next::Cancel],
            )?,
            Went::Out => choose("And now?", &[Next::Change, Next::Decline, Next::Cancel])?,
        };
        match next {
            Next::Send => return Ok(ElicitResult::accept(ElicitContent::from_iter(filled))),
            Next::Change | Next::Agree => {}
            Next::Cancel | Next::Decline => return Ok(next.refusal()),
        }
    }
}

enum Went {
    Through,
    Out,
}

fn go_through(
    form: &FormSchema,
    filled: &mut BTreeMap<String, ElicitValue>,
) -> Result<Went, InquireError> {
    for (name, schema) in form.properties.iter() {
        match field::ask(name, schema, form.requires(name), filled.get(name))? {
            Filled::Value(value) => {
                filled.insert(name.to_owned(), value);
            }
            Filled::LeftOut => {
                filled.remove(name);
            }
            Filled::Escaped => return Ok(Went::Out),
        }
    }
    Ok(Went::Through)
}

/// Action of the user on a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Agree,
    Cancel,
    Change,
    Decline,
    Send,
}

impl Next {
    /// The answer of a user who says no.
    fn refusal(self) -> ElicitResult {
        ElicitResult::new(match self {
            Self::Decline => ElicitAction::Decline,
            _ => ElicitAction::Cancel,
        })
    }
}

impl fmt::Display for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agree => "Yes",
            Self::Cancel => "Cancel: answer neither yes nor no",
            Self::Change => "Change something",
            Self::Decline => "Decline: say no",
            Self::Send => "Send",
        })
    }
}

/// Has the user choose; Esc stops the call.
fn choose(title: &str, options: &[Next]) -> Result<Next, InquireError> {
    let labels: Vec<String> = options.iter().map(ToString::to_string).collect();
    let picked = Prompt::new(title).pick(&labels, 0)?;
    let picked = picked.and_then(|at| options.get(at).copied());
    picked.ok_or(InquireError::OperationCanceled)
}
