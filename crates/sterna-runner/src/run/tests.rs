use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context;
use std::time::Duration;

use sterna_flow::{
    BuildMatch, Diagnostic, Engine, ExecutionMode, FlowCx, FlowId, Key, Opaque, OpenQuestion, Run,
    UnixMillis,
};

use super::*;
use crate::delivery::{Flow, HandlerErrors};

/// Delivery by the text of a question: `send`, `fall back`, `lack` or `forbid`.
#[derive(Default)]
struct Fake {
    sent: Vec<String>,
    withdrawn: Vec<String>,
    lacking: usize,
    misused: bool,
    /// Refuses to charge for more than one question.
    is_poor: bool,
    /// Answers what was sent, when it is polled.
    answers: bool,
    /// Polls for which the flow is held.
    hold: usize,
    /// Polls for which the delivery is not settled.
    unsettled: usize,
    /// Readings of the time: the flow is told it whenever it is polled.
    readings: AtomicUsize,
    /// Readings when the flow was first held, and when it was let go.
    held_at: Option<(usize, usize)>,
}

/// The same, while the flow runs.
struct Live(Fake);

impl Gate<OpenQuestion> for Fake {
    type Question = String;
    type Error = &'static str;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<String>, &'static str> {
        match &*question.request {
            b"send" => Ok(Admit::Send(question.key.as_str().to_owned())),
            b"fall back" => Ok(Admit::FallBack(Bytes::from_static(b"fallback"))),
            b"lack" => {
                self.lacking += 1;
                Ok(Admit::Lacking)
            }
            _ => Err("forbidden"),
        }
    }

    fn lacking(&mut self) -> Option<&'static str> {
        (std::mem::take(&mut self.lacking) > 0).then_some("lacking")
    }

    fn charge(&mut self, questions: usize) -> Result<(), &'static str> {
        if self.is_poor && questions > 1 {
            return Err("poor");
        }
        Ok(())
    }

    fn send(&mut self, _: &OpenQuestion, question: String) -> Result<(), &'static str> {
        self.sent.push(question);
        Ok(())
    }
}

impl Delivery for Fake {
    const SENDS_WHILE_RUNNING: bool = false;

    fn now(&self) -> UnixMillis {
        self.readings.fetch_add(1, Ordering::Relaxed);
        UnixMillis::new(1_800_000_000_000)
    }

    fn misuse(&self) -> Option<&'static str> {
        self.misused.then_some("misused")
    }

    fn report(&self, _: Diagnostic) {}

    fn withdraw(&mut self, key: &Key) {
        self.withdrawn.push(key.as_str().to_owned());
    }

    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        if self.unsettled == 0 {
            return Poll::Ready(Ok(()));
        }
        self.unsettled -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Gate<OpenQuestion> for Live {
    type Question = String;
    type Error = &'static str;

    fn admit(&mut self, question: &OpenQuestion) -> Result<Admit<String>, &'static str> {
        self.0.admit(question)
    }

    fn lacking(&mut self) -> Option<&'static str> {
        self.0.lacking()
    }

    fn charge(&mut self, questions: usize) -> Result<(), &'static str> {
        self.0.charge(questions)
    }

    fn send(&mut self, open: &OpenQuestion, question: String) -> Result<(), &'static str> {
        self.0.send(open, question)
    }
}

impl Delivery for Live {
    const SENDS_WHILE_RUNNING: bool = true;

    fn now(&self) -> UnixMillis {
        self.0.now()
    }

    fn misuse(&self) -> Option<&'static str> {
        self.0.misuse()
    }

    fn report(&self, _: Diagnostic) {}

    fn withdraw(&mut self, key: &Key) {
        self.0.withdraw(key);
    }

    fn poll(&mut self, flow: &mut dyn Flow, cx: &mut Context<'_>) -> Result<Next, &'static str> {
        let fake = &mut self.0;
        if fake.hold > 0 {
            fake.hold -= 1;
            let readings = fake.readings.load(Ordering::Relaxed);
            let (from, _) = fake.held_at.unwrap_or((readings, readings));
            fake.held_at = Some((from, readings));
            cx.waker().wake_by_ref();
            return Ok(Next::Hold);
        }
        let mut moved = false;
        if fake.answers {
            for key in std::mem::take(&mut fake.sent) {
                moved |= flow.answer(&key, Bytes::from_static(b"answer"), fake.now());
            }
        }
        Ok(if moved { Next::Poll } else { Next::Wait })
    }
}

async fn ask(cx: &FlowCx<'_>, name: &str, text: &'static str) -> String {
    let answer = cx.ask(name, Opaque::new(text)).await;
    String::from_utf8(answer.to_vec()).unwrap()
}

type Answers = Result<String, &'static str>;

fn start<F>(
    mode: ExecutionMode,
    journal: Option<Journal>,
    handler: impl FnOnce(FlowCx<'static>) -> F,
) -> Running<String, &'static str>
where
    F: Future<Output = Answers> + Send + 'static,
{
    let engine = Arc::new(Engine::new(|_: &[&[u8]]| [0; 32]));
    let mut run = Run::new(engine, FlowId::from_bytes([7; 16])).mode(mode);
    if let Some(journal) = journal {
        run = run.resume(journal, 0, BuildMatch::Same);
    }
    run.drive(|cx| Box::pin(handler(cx)) as _)
}

async fn two(cx: FlowCx<'static>, one: &'static str, other: &'static str) -> Answers {
    let (one, other) = tokio::join!(ask(&cx, "one", one), ask(&cx, "other", other));
    Ok(format!("{one} {other}"))
}

/// Runs two questions as a round trip, and says what came of it.
async fn round_trip(one: &'static str, other: &'static str, fake: &mut Fake) -> String {
    let begin = |journal| {
        start(ExecutionMode::RoundTrips, journal, move |cx| {
            two(cx, one, other)
        })
    };
    let ran = run(&mut begin(None), fake, |journal| Ok(begin(Some(journal)))).await;
    show(ran)
}

fn show(ran: Result<Outcome<String, &'static str>, &'static str>) -> String {
    match ran {
        Ok(Outcome::Finished(text)) => text,
        Ok(Outcome::Suspended(_)) => "suspended".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => format!("error: {error}"),
    }
}

#[tokio::test]
async fn a_suspended_flow_has_sent_all_of_its_questions() {
    let mut fake = Fake::default();
    assert_eq!(round_trip("send", "send", &mut fake).await, "suspended");
    assert_eq!(fake.sent, ["one", "other"]);
}

#[tokio::test]
async fn a_fallback_resumes_the_flow_and_the_other_question_is_sent_once() {
    let mut fake = Fake::default();
    assert_eq!(
        round_trip("fall back", "send", &mut fake).await,
        "suspended"
    );
    assert_eq!(fake.sent, ["other"]);
    let mut fake = Fake::default();
    let finished = round_trip("fall back", "fall back", &mut fake).await;
    assert_eq!(finished, "fallback fallback");
}

#[tokio::test]
async fn no_question_is_sent_unless_all_may_be() {
    for (other, error) in [("lack", "error: lacking"), ("forbid", "error: forbidden")] {
        let mut fake = Fake::default();
        assert_eq!(round_trip("send", other, &mut fake).await, error);
        assert_eq!(fake.sent, [""; 0], "{other}");
        let mut live = Live(Fake::default());
        let mut driver = start(ExecutionMode::Legacy, None, move |cx| {
            two(cx, "send", other)
        });
        assert_eq!(
            show(run(&mut driver, &mut live, |_| Err("resumed")).await),
            error
        );
        assert_eq!(live.0.sent, [""; 0], "{other}");
    }
}

#[tokio::test]
async fn a_batch_is_charged_before_its_first_question_is_sent() {
    let poor = || Fake {
        is_poor: true,
        ..Fake::default()
    };
    let mut fake = poor();
    assert_eq!(round_trip("send", "send", &mut fake).await, "error: poor");
    assert_eq!(fake.sent, [""; 0]);
    let mut live = Live(poor());
    let mut driver = start(ExecutionMode::Legacy, None, |cx| two(cx, "send", "send"));
    let ran = run(&mut driver, &mut live, |_| Err("resumed")).await;
    assert_eq!(show(ran), "error: poor");
    assert_eq!(live.0.sent, [""; 0]);
}

/// The same, for a handler that returns its questions.
struct Returning(Fake);

impl HandlerErrors for Returning {
    type Error = &'static str;

    fn misuse(&self) -> Option<&'static str> {
        self.0.misuse()
    }

    fn panicked(&self, message: &str) -> &'static str {
        match message {
            "in its first line" => "panicked at once",
            "later" => "panicked later",
            _ => "panicked",
        }
    }
}

impl Gate<&'static str> for Returning {
    type Question = ();
    type Error = &'static str;

    fn admit(&mut self, asked: &&'static str) -> Result<Admit<()>, &'static str> {
        if *asked == "lack" {
            self.0.lacking += 1;
            return Ok(Admit::Lacking);
        }
        Ok(Admit::Send(()))
    }

    fn lacking(&mut self) -> Option<&'static str> {
        self.0.lacking()
    }

    fn charge(&mut self, questions: usize) -> Result<(), &'static str> {
        self.0.charge(questions)
    }

    fn send(&mut self, asked: &&'static str, (): ()) -> Result<(), &'static str> {
        self.0.sent.push((*asked).to_owned());
        Ok(())
    }
}

#[tokio::test]
async fn a_low_level_handler_that_panics_or_is_misused_ends_in_an_error() {
    let mut fake = Returning(Fake::default());
    let returned = run_low_level(&fake, || Box::pin(async { Ok("done") })).await;
    assert_eq!(returned, Ok("done"));
    let ran = run_low_level(&fake, || Box::pin(async { Err::<(), _>("failed") }));
    assert_eq!(ran.await, Err("failed"));
    let ran = run_low_level::<(), _>(&fake, || panic!("in its first line"));
    assert_eq!(ran.await, Err("panicked at once"));
    let ran = run_low_level(&fake, || {
        Box::pin(async {
            tokio::task::yield_now().await;
            let message = String::from("later");
            assert!(message.is_empty(), "{message}");
            Ok(())
        })
    });
    assert_eq!(ran.await, Err("panicked later"));
    fake.0.misused = true;
    let returned = run_low_level(&fake, || Box::pin(async { Ok("done") })).await;
    assert_eq!(returned, Err("misused"));
}

#[test]
fn questions_of_a_low_level_handler_are_sent_all_or_none() {
    let mut fake = Returning(Fake::default());
    assert_eq!(ask_all(&mut fake, ["one", "lack"]), Err("lacking"));
    fake.0.is_poor = true;
    assert_eq!(ask_all(&mut fake, ["one", "two"]), Err("poor"));
    assert_eq!(fake.0.sent, [""; 0]);
    assert_eq!(ask_all(&mut fake, ["one"]), Ok(()));
    assert_eq!(fake.0.sent, ["one"]);
}

#[tokio::test]
async fn a_misused_handler_ends_in_an_error_whatever_it_returned() {
    let mut fake = Fake {
        misused: true,
        ..Fake::default()
    };
    let mut driver = start(ExecutionMode::RoundTrips, None, |_| async {
        Ok("done".to_owned())
    });
    let ran = run(&mut driver, &mut fake, |_| Err("resumed")).await;
    assert_eq!(show(ran), "error: misused");
}

#[tokio::test]
async fn an_error_waits_for_what_the_delivery_has_begun() {
    let mut fake = Fake {
        misused: true,
        unsettled: 3,
        ..Fake::default()
    };
    let mut driver = start(ExecutionMode::RoundTrips, None, |_| async {
        Ok("done".to_owned())
    });
    let ran = run(&mut driver, &mut fake, |_| Err("resumed")).await;
    assert_eq!((show(ran).as_str(), fake.unsettled), ("error: misused", 0));
}

#[tokio::test]
async fn a_flow_that_runs_is_asked_answered_and_taken_back_from() {
    let mut live = Live(Fake {
        answers: true,
        ..Fake::default()
    });
    let mut driver = start(ExecutionMode::Legacy, None, |cx| {
        two(cx, "send", "fall back")
    });
    let ran = run(&mut driver, &mut live, |_| Err("resumed")).await;
    assert_eq!(show(ran), "answer fallback");

    let mut live = Live(Fake::default());
    let mut driver = start(ExecutionMode::Legacy, None, |cx| async move {
        let asked = ask(&cx, "slow", "send");
        let late = cx.sleep("patience", Duration::from_millis(0));
        tokio::select! {
            answer = asked => Ok(answer),
            () = late => Ok("late".to_owned()),
        }
    });
    let ran = run(&mut driver, &mut live, |_| Err("resumed")).await;
    assert_eq!(show(ran), "late");
}

#[tokio::test]
async fn a_held_flow_is_not_polled() {
    let mut live = Live(Fake {
        answers: true,
        hold: 5,
        ..Fake::default()
    });
    let mut driver = start(ExecutionMode::Task, None, |cx| async move {
        Ok(ask(&cx, "one", "send").await)
    });
    let ran = run(&mut driver, &mut live, |_| Err("resumed")).await;
    assert_eq!(show(ran), "answer");
    let (from, to) = live.0.held_at.unwrap();
    assert_eq!(from, to);
}
