//! Requests of sessions, the way of the older revisions: the client stays
//! connected and is asked while it waits. The handler is the same, and it runs
//! once.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use sterna_flow::{Diagnostic, Key, OpenQuestion, Outcome as Ending, UnixMillis};
use sterna_protocol::input::InputRequest;
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::result::Outcome;
use sterna_runner::{Admit, Delivery, Flow, Gate, Next, ask_all, run, run_low_level};

use super::flow::stopped;
use super::gate::Lacking;
use super::low_level::Returned;
use super::returning::{Retry, ReturnsQuestions};
use super::state::take_up;
use super::{Round, charge};
use crate::call::QuestionContent;
use crate::failure::Failure;
use crate::handler::FlowHandler;
use crate::middleware;

/// Sends questions to the client of a session.
///
/// The answer may arrive on another request, or at another instance.
pub(crate) trait ClientPrompter: Send + Sync {
    /// Question that was sent. Dropping it takes the question back.
    type Asking: Future<Output = Result<RawJson, Failure>> + Send + Unpin;

    /// Sends a question to the client.
    fn ask(&self, request: InputRequest) -> Result<Self::Asking, Failure>;
}

pub(super) async fn flow<T: Send + 'static, P: ClientPrompter>(
    mut round: Box<Round>,
    handler: &FlowHandler<T>,
    prompter: &P,
) -> Result<T, Failure> {
    let flow_round = take_up(&mut round).await?;
    let mut driver = super::flow::start_live(&round, &flow_round, handler)?;
    let mut delivery = SessionDelivery::new(&round, prompter);
    // A flow that asks while it runs is not suspended.
    let ending = run(&mut driver, &mut delivery, |_| Err(Failure::Internal)).await?;
    match ending {
        Ending::Finished(result) => Ok(result),
        Ending::Failed(failure) => Err(failure),
        Ending::Stopped(error) => Err(stopped(&round, &error)),
        _ => Err(Failure::Internal),
    }
}

/// Asks the client of an open request, which answers while it waits.
struct SessionDelivery<'a, P: ClientPrompter> {
    round: &'a Round,
    prompter: &'a P,
    open: BTreeMap<String, P::Asking>,
    lacking: Lacking,
}

impl<'a, P: ClientPrompter> SessionDelivery<'a, P> {
    fn new(round: &'a Round, prompter: &'a P) -> Self {
        Self {
            round,
            prompter,
            open: BTreeMap::new(),
            lacking: Lacking::default(),
        }
    }

    fn ask(&mut self, key: &str, question: InputRequest) -> Result<(), Failure> {
        let asking = self.prompter.ask(question)?;
        self.open.insert(key.to_owned(), asking);
        Ok(())
    }

    /// Waits for the answers to all questions.
    async fn answers(&mut self) -> Result<JsonObject, Failure> {
        let mut answers = JsonObject::new();
        for (key, asking) in std::mem::take(&mut self.open) {
            answers.insert(key, asking.await?);
        }
        Ok(answers)
    }
}

impl<P: ClientPrompter> Gate<OpenQuestion> for SessionDelivery<'_, P> {
    type Question = QuestionContent;
    type Error = Failure;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<QuestionContent>, Failure> {
        let round = self.round;
        let target = round.target.parts();
        self.lacking
            .admit(&round.core, &round.request, target, question)
    }

    fn lacking(&mut self) -> Option<Failure> {
        self.lacking.failure()
    }

    fn charge(&mut self, questions: usize) -> Result<(), Failure> {
        charge(self.round, questions)
    }

    fn send(&mut self, open: &OpenQuestion, question: QuestionContent) -> Result<(), Failure> {
        self.ask(open.key.as_str(), question.into_request())
    }
}

impl<'q, P: ClientPrompter> Gate<Returned<'q>> for SessionDelivery<'_, P> {
    type Question = &'q InputRequest;
    type Error = Failure;

    fn admit(&mut self, asked: &Returned<'q>) -> Result<Admit<&'q InputRequest>, Failure> {
        let Round { core, request, .. } = self.round;
        self.lacking.admit_returned(core, request, asked.1)
    }

    fn lacking(&mut self) -> Option<Failure> {
        self.lacking.failure()
    }

    fn charge(&mut self, questions: usize) -> Result<(), Failure> {
        charge(self.round, questions)
    }

    fn send(&mut self, asked: &Returned<'q>, question: &'q InputRequest) -> Result<(), Failure> {
        self.ask(asked.0, question.clone())
    }
}

impl<P: ClientPrompter> Delivery for SessionDelivery<'_, P> {
    const SENDS_WHILE_RUNNING: bool = true;

    fn now(&self) -> UnixMillis {
        self.round.core.now()
    }

    fn misuse(&self) -> Option<Failure> {
        self.round.misuse()
    }

    fn report(&self, diagnostic: Diagnostic) {
        self.round.report(&diagnostic);
    }

    fn withdraw(&mut self, key: &Key) {
        self.open.remove(key.as_str());
    }

    fn poll(&mut self, flow: &mut dyn Flow, cx: &mut Context<'_>) -> Result<Next, Failure> {
        let mut answers = Vec::new();
        for (key, asking) in &mut self.open {
            if let Poll::Ready(answer) = Pin::new(asking).poll(cx) {
                answers.push((key.clone(), answer?));
            }
        }
        if answers.is_empty() {
            return Ok(Next::Wait);
        }
        for (key, answer) in answers {
            self.open.remove(&key);
            let answer = Bytes::copy_from_slice(answer.as_str().as_bytes());
            flow.answer(&key, answer, self.round.core.now());
        }
        Ok(Next::Poll)
    }
}

pub(super) async fn low_level<T: Send + 'static, P: ClientPrompter>(
    mut round: Box<Round>,
    handler: &(impl ReturnsQuestions<T> + ?Sized),
    prompter: &P,
) -> Result<T, Failure> {
    // Middleware sees the round like any other.
    take_up(&mut round).await?;
    let mut answers = JsonObject::new();
    let mut state: Option<Arc<str>> = None;
    let mut delivery = SessionDelivery::new(&round, prompter);
    for turn in 0..MOST_TURNS {
        let retry = Retry {
            answers,
            state,
            turn,
        };
        let start = || handler.start(&round, retry);
        let required = match run_low_level(&*round, start).await? {
            Outcome::Complete(result) => return Ok(result),
            Outcome::InputRequired(required) => required,
            Outcome::Extension(none) => match none {},
        };
        let (all, target) = (&round.core.middleware, round.target.parts());
        let required = middleware::questions(all, &round.request, target, required)?;
        ask_all(&mut delivery, required.requests().iter())?;
        answers = delivery.answers().await?;
        state = required.state().map(|state| Arc::from(state.as_str()));
    }
    Err(Failure::Rounds)
}

/// Number of turns that a low-level handler may take within one request: far more
/// than any dialogue with a person.
const MOST_TURNS: u32 = 100;
