//! Interrupting an operation that goes on at the server.

use std::fmt;

use inquire::InquireError;

use super::leave_prompt;
use super::prompt::Prompt;
use crate::exit::Failure;
use crate::interrupt;

/// Decision of a user about an operation that goes on at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationChoice {
    Cancel,
    Follow,
    Leave,
}

impl fmt::Display for OperationChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancel => "Cancel it: the server ends it as soon as it can",
            Self::Follow => "Follow it on",
            Self::Leave => "Leave it: it goes on, and can be followed again",
        })
    }
}

/// Asks what becomes of an operation. Another interrupt, or Esc, leaves it.
pub(crate) async fn offer_to_cancel() -> Result<OperationChoice, Failure> {
    tokio::select! {
        biased;
        () = interrupt::heard() => {
            leave_prompt();
            Ok(OperationChoice::Leave)
        }
        choice = tokio::task::spawn_blocking(choose) => choice?,
    }
}

fn choose() -> Result<OperationChoice, Failure> {
    let options = [
        OperationChoice::Leave,
        OperationChoice::Cancel,
        OperationChoice::Follow,
    ];
    let labels = options.map(|option| option.to_string());
    let prompt = Prompt::new("The operation goes on at the server.");
    let picked = match prompt.pick(&labels, 0) {
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => None,
        picked => picked?,
    };
    let choice = picked.and_then(|at| options.get(at).copied());
    Ok(choice.unwrap_or(OperationChoice::Leave))
}
