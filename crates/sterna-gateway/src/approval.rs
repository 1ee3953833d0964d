//! Tools that are called only after the caller has said yes to exactly these
//! arguments.
//!
//! The question goes out with a state of its own. The server seals it and binds it
//! to the caller, the tool and the arguments, so a yes cannot serve another call.
//! What is kept here is that each yes is used once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ring::rand::{SecureRandom as _, SystemRandom};
use serde::{Deserialize, Serialize};
use sterna_client::oauth::internal::is_unprintable;
use sterna_protocol::elicitation::{
    BooleanSchema, ElicitAction, ElicitRequestFormParams, ElicitResult, ElicitValue, FormSchema,
};
use sterna_protocol::input::{InputRequest, InputRequired, RequestState};
use sterna_server::auth::Principal;
use sterna_server::http::Clock;
use sterna_server::{FlowId, UnixMillis};
use sterna_store::{Claimant, Effect, EffectClaim, Name, OnceClaim};
use tokio::time::Instant;

use crate::calls::RoutedCall;
use crate::config::{GatewayConfig, SharedStore};
use crate::failure::Reason;

/// Approvals that callers are asked for, and those that were used.
#[derive(Debug)]
pub(crate) struct Approvals {
    store: Option<SharedStore>,
    /// Without a store.
    used: Mutex<UsedApprovals>,
    lasts: Duration,
    clock: Clock,
}

/// Decision about one round of a call that may need an approval.
pub(crate) enum Passage {
    /// The caller is to be asked.
    Ask(Box<InputRequired>),
    /// The caller said no; the text is for its model.
    Declined(String),
    /// The call goes to its server.
    Go(Box<RoutedCall>),
}

impl Approvals {
    pub(crate) fn new(config: &GatewayConfig) -> Self {
        Self {
            store: config.store.clone(),
            used: Mutex::default(),
            lasts: config.approval_for,
            clock: Clock::system(),
        }
    }

    /// Decides about a round of `routed`.
    pub(crate) async fn pass(&self, mut routed: RoutedCall) -> Result<Passage, Reason> {
        if !routed.upstream.config.needs_approval(&routed.name) {
            return Ok(Passage::Go(Box::new(routed)));
        }
        let state = match routed.call.state() {
            None => return self.ask(&routed),
            Some(text) => ApprovalState::read(text, routed.upstream.name()),
        };
        let Some(state) = state else {
            // The client was sent away before its server did anything, with a state that
            // begins the call as often as it is sent: each beginning takes an approval.
            if routed.is_before_begin() {
                return self.ask(&routed);
            }
            // The state of a later round: the call was approved before it began.
            return Ok(Passage::Go(Box::new(routed)));
        };
        let age = self.now().get().saturating_sub(state.asked);
        let answer = routed.call.answers().get(KEY);
        let answer = answer.and_then(|answer| answer.decode::<ElicitResult>().ok());
        let is_recent = age <= UnixMillis::span(self.lasts);
        let Some(answer) = answer.filter(|_| is_recent) else {
            return self.ask(&routed);
        };
        if !says_yes(&answer) {
            let name = printable(&routed.name);
            let text =
                format!("The user did not approve this call of `{name}`, and it was not made.");
            return Ok(Passage::Declined(text));
        }
        self.use_up(&routed, &state).await?;
        routed.call = routed.call.anew();
        Ok(Passage::Go(Box::new(routed)))
    }

    fn ask(&self, routed: &RoutedCall) -> Result<Passage, Reason> {
        let state = ApprovalState {
            version: 1,
            server: routed.upstream.name().to_owned(),
            approval: random().ok_or(Reason::NoRandomness)?,
            asked: self.now().get(),
        };
        let state = serde_json::to_string(&state).expect("it has string keys only");
        let arguments = routed.call.arguments();
        let arguments = arguments.map_or("{}", |arguments| arguments.as_str());
        let question = question(routed.upstream.name(), &routed.name, arguments);
        let required = InputRequired::asking(KEY, InputRequest::elicit(question));
        let required = required.with_state(RequestState::new(state));
        Ok(Passage::Ask(Box::new(required)))
    }

    /// Takes an approval that no call has used.
    async fn use_up(&self, routed: &RoutedCall, state: &ApprovalState) -> Result<(), Reason> {
        let kept = self.lasts + CLOCKS;
        let Some(store) = &self.store else {
            let principal = routed.call.caller().principal();
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            return used.take(principal, state.approval, Instant::now(), kept);
        };
        let key = Name::new("approval").expect("it is short and printable");
        let effect = Effect::new(FlowId::from_bytes(state.approval), key);
        let claimant = Claimant::from_bytes(random().ok_or(Reason::NoRandomness)?);
        let claim = EffectClaim::new(claimant, kept);
        match store.as_dyn().claim_once(effect, claim).await {
            Ok(OnceClaim::Won) => Ok(()),
            Ok(_) => Err(Reason::ApprovalUsed),
            Err(error) => {
                tracing::error!(target: "sterna::gateway", %error, "an approval cannot be entered in the store");
                Err(Reason::StoreAway)
            }
        }
    }

    fn now(&self) -> UnixMillis {
        self.clock.now().into()
    }
}

/// State between the question and its answer, version 1.
#[derive(Debug, Serialize, Deserialize)]
struct ApprovalState {
    #[serde(rename = "v")]
    version: u32,
    #[serde(rename = "s")]
    server: String,
    /// Name of this approval, which no other has.
    #[serde(rename = "approval")]
    approval: [u8; 16],
    /// Time of the question, in milliseconds since 1970.
    #[serde(rename = "at")]
    asked: i64,
}

impl ApprovalState {
    /// Reads the state of an approval of a call of `server`; `None` if it is the
    /// state of something else.
    fn read(text: &str, server: &str) -> Option<Self> {
        let state: Self = serde_json::from_str(text).ok()?;
        (state.version == 1 && state.server == server).then_some(state)
    }
}

/// Approvals that were used, of each caller, with their times.
#[derive(Debug, Default)]
struct UsedApprovals {
    callers: HashMap<Principal, HashMap<[u8; 16], Instant>>,
}

impl UsedApprovals {
    /// Notes that `approval` is used at `now`, for as long as it could be shown
    /// again.
    fn take(
        &mut self,
        principal: &Principal,
        approval: [u8; 16],
        now: Instant,
        kept: Duration,
    ) -> Result<(), Reason> {
        self.callers.retain(|_, used| {
            used.retain(|_, at| now.duration_since(*at) < kept);
            !used.is_empty()
        });
        let used = self.callers.entry(principal.clone()).or_default();
        if used.contains_key(&approval) {
            return Err(Reason::ApprovalUsed);
        }
        // An old one that is forgotten early could be used again.
        if used.len() >= MOST_OF_CALLER {
            return Err(Reason::TooManyApprovals);
        }
        used.insert(approval, now);
        Ok(())
    }
}

/// The question whether `tool` of `server` may be called with `arguments`.
fn question(server: &str, tool: &str, arguments: &str) -> ElicitRequestFormParams {
    let (server, tool) = (printable(server), printable(tool));
    let shown = printable(arguments);
    let mut lines = shown.chars();
    let mut shown: String = lines.by_ref().take(MOST_SHOWN).collect();
    let left = lines.count();
    if left > 0 {
        shown += &format!("… and {left} characters that are not shown");
    }
    let message = format!(
        "The tool `{tool}` of `{server}` is to be called with these arguments:\n{shown}\n\
         Approve exactly this call, once?"
    );
    let mut approve = BooleanSchema::default();
    approve.title = Some("Make the call".to_owned());
    let form = FormSchema::new().with_required(FIELD, approve);
    ElicitRequestFormParams::new(message, form)
}

/// Characters that could make a text look like another one are written out.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for each in text.chars() {
        match is_unprintable(each) {
            true => shown.extend(each.escape_unicode()),
            false => shown.push(each),
        }
    }
    shown
}

fn says_yes(answer: &ElicitResult) -> bool {
    let content = answer.content.as_ref();
    let field = content.and_then(|content| content.get(FIELD));
    answer.action == ElicitAction::Accept && field == Some(&ElicitValue::Boolean(true))
}

fn random() -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Key of the question among those of a round.
const KEY: &str = "approval";

/// Field of the form.
const FIELD: &str = "approve";

/// Characters of arguments that a person may be expected to read.
const MOST_SHOWN: usize = 4000;

/// Approvals that one caller may use within the time for which they are kept. A
/// person reads each of them.
const MOST_OF_CALLER: usize = 1000;

/// Largest difference between the clocks of a fleet.
const CLOCKS: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_used_once_and_forgotten_when_it_is_too_old_to_count() {
        let mut used = UsedApprovals::default();
        let (ann, bob) = (Principal::named("as", "ann"), Principal::named("as", "bob"));
        let (begin, hour) = (Instant::now(), Duration::from_secs(3600));
        let one = [1; 16];
        assert_eq!(used.take(&ann, one, begin, hour), Ok(()));
        let again = begin + Duration::from_secs(3599);
        let refused = Err(Reason::ApprovalUsed);
        assert_eq!(used.take(&ann, one, again, hour), refused);
        assert_eq!(used.take(&bob, one, again, hour), Ok(()));
        assert_eq!(used.take(&bob, [2; 16], begin + hour, hour), Ok(()));
        assert_eq!(used.callers.len(), 1, "nothing of ann is left");
    }

    #[test]
    fn a_caller_with_too_many_approvals_gets_no_more_and_loses_none() {
        let mut used = UsedApprovals::default();
        let (ann, bob) = (Principal::named("as", "ann"), Principal::named("as", "bob"));
        let (now, hour) = (Instant::now(), Duration::from_secs(3600));
        for number in 0..u32::try_from(MOST_OF_CALLER).unwrap() {
            let mut approval = [0; 16];
            approval[..4].copy_from_slice(&number.to_be_bytes());
            assert_eq!(used.take(&ann, approval, now, hour), Ok(()));
        }
        let full = Err(Reason::TooManyApprovals);
        assert_eq!(used.take(&ann, [255; 16], now, hour), full);
        let refused = Err(Reason::ApprovalUsed);
        assert_eq!(used.take(&ann, [0; 16], now, hour), refused);
        assert_eq!(used.take(&bob, [255; 16], now, hour), Ok(()));
    }

    #[test]
    fn a_question_shows_all_that_is_approved_and_hides_nothing_in_it() {
        let odd = "{\"to\":\"\u{202e}nna\"}";
        let asked = question("billing", "refund", odd).message;
        assert!(asked.contains("`refund` of `billing`"), "{asked}");
        assert!(asked.contains(r"{202e}nna"), "{asked}");
        let long = "x".repeat(MOST_SHOWN + 7);
        let asked = question("billing", "refund", &long).message;
        assert!(
            asked.contains("… and 7 characters that are not shown"),
            "{asked}"
        );
    }

    #[test]
    fn only_an_accepted_form_with_a_yes_is_one() {
        let yes = |json: &str| says_yes(&serde_json::from_str(json).unwrap());
        assert!(yes(r#"{"action":"accept","content":{"approve":true}}"#));
        for no in [
            r#"{"action":"accept","content":{"approve":false}}"#,
            r#"{"action":"accept","content":{"approve":"true"}}"#,
            r#"{"action":"accept","content":{}}"#,
            r#"{"action":"accept"}"#,
            r#"{"action":"decline","content":{"approve":true}}"#,
            r#"{"action":"cancel"}"#,
        ] {
            assert!(!yes(no), "{no}");
        }
    }

    #[test]
    fn the_state_of_something_else_is_no_approval() {
        let text =
            r#"{"v":1,"s":"billing","approval":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"at":5}"#;
        let state = ApprovalState::read(text, "billing").unwrap();
        assert_eq!(serde_json::to_string(&state).unwrap(), text);
        assert!(ApprovalState::read(text, "tickets").is_none());
        assert!(ApprovalState::read(r#"{"v":1,"s":"billing","p":{"u":"x"}}"#, "billing").is_none());
    }
}
