use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use sterna_server::auth::Caller;

/// The behaviour of the client in one round, where it does not simply answer.
///
/// Made by [`Flow::round`](crate::Flow::round). A client that misbehaves talks
/// to a server of 2026-07-28: in the other ways, and in the automatic checks,
/// rounds are as the script has them.
///
/// # Examples
///
/// ```
/// use sterna_server::{Cx, AskError};
/// use sterna_testkit::{Flow, Round};
///
/// async fn greet(cx: Cx<'_>, (): ()) -> Result<String, AskError> {
///     let name: String = cx.ask("name", "Who are you?").await?;
///     Ok(format!("Hello, {name}!"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let flow = Flow::of(greet).answer("name", "Ada");
///
/// let run = flow.clone().round(2, Round::tampered).run().await;
/// assert_eq!(run.text(), "-32602 Invalid or expired requestState");
///
/// let run = flow.round(2, |round| round.without("name")).run().await;
/// assert_eq!((run.text().as_str(), run.rounds()), ("Hello, Ada!", 3));
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use = "a round is changed by what is returned"]
pub struct Round {
    pub(crate) wait: Duration,
    pub(crate) withheld: BTreeSet<String>,
    pub(crate) volunteered: Vec<(String, Value)>,
    pub(crate) declared: Option<Value>,
    pub(crate) caller: Option<Caller>,
    pub(crate) args: Option<Value>,
    pub(crate) replayed: Option<u32>,
    pub(crate) is_tampered: bool,
    pub(crate) is_twice: bool,
    pub(crate) is_lost: bool,
    pub(crate) is_stranger: bool,
    pub(crate) is_never: bool,
}

impl Round {
    /// Comes `time` later, on the server's clock.
    pub fn late(mut self, time: Duration) -> Self {
        self.wait = time;
        self
    }

    /// Leaves out the answer to `key`, and gives it when asked again.
    pub fn without(mut self, key: &str) -> Self {
        self.withheld.insert(key.to_owned());
        self
    }

    /// Answers `key` too, which was not asked, with `response` as it goes over the
    /// wire.
    pub fn volunteering(mut self, key: &str, response: Value) -> Self {
        self.volunteered.push((key.to_owned(), response));
        self
    }

    /// Declares other capabilities, in this round alone.
    pub fn declaring(mut self, capabilities: Value) -> Self {
        self.declared = Some(capabilities);
        self
    }

    /// Comes as another caller.
    pub fn by(mut self, caller: impl Into<Caller>) -> Self {
        self.caller = Some(caller.into());
        self
    }

    /// Comes with other arguments.
    pub fn with_args(mut self, args: Value) -> Self {
        self.args = Some(args);
        self
    }

    /// Sends the request of an earlier round once more, instead of its own.
    pub fn replaying(mut self, round: u32) -> Self {
        self.replayed = Some(round);
        self
    }

    /// Changes one character in the middle of the state.
    pub fn tampered(mut self) -> Self {
        self.is_tampered = true;
        self
    }

    /// Sends the request twice, to two replicas, and goes on with the second
    /// response.
    pub fn twice(mut self) -> Self {
        self.is_twice = true;
        self
    }

    /// Loses the response and sends the request again, to another replica.
    pub fn lost(mut self) -> Self {
        self.is_lost = true;
        self
    }

    /// Reaches a replica that has other keys than the rest.
    pub fn among_strangers(mut self) -> Self {
        self.is_stranger = true;
        self
    }

    /// Never comes: the run ends here.
    pub fn never(mut self) -> Self {
        self.is_never = true;
        self
    }
}

impl fmt::Debug for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").finish_non_exhaustive()
    }
}
