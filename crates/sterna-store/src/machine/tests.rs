//! The rules as stories: what happens, and what the task is then.

use std::time::Duration;

use bytes::Bytes;
use expect_test::{Expect, expect};

use super::{Control, Known};
use crate::{
    Answer, Asked, Commit, Entry, Error, Event, Fence, Name, Outcome, Passivation, Phase, Question,
    Status, UnixMillis,
};

#[test]
fn a_task_asks_rests_and_ends() {
    check(
        "claim; ask a; rest; answer a; claim; take a; finish",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            ask a: InputRequired, held until 30, open 1
            rest: InputRequired, asleep, open 1
            answer a: Working, due at 0, unread 1
            claim: Working, held until 30, unread 1
            take a: Working, held until 30
            finish: Completed, done
        "#]],
    );
}

#[test]
fn a_takeover_shuts_the_first_worker_out() {
    check(
        "claim; wait 31; claim; old append x; old rest; old finish; old renew; append x",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            wait 31: Working, held until 30
            claim: Working, held until 61, attempt 2
            old append x: refused, Fenced
            old rest: refused, Fenced
            old finish: refused, Fenced
            old renew: refused, Fenced
            append x: Working, held until 61
        "#]],
    );
}

#[test]
fn an_answer_in_the_inbox_keeps_a_task_awake() {
    check(
        "claim; ask a b; answer a; rest; sleep 9; take a; rest",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            ask a b: InputRequired, held until 30, open 2
            answer a: InputRequired, held until 30, open 1, unread 1
            rest: awake, InputRequired, held until 30, open 1, unread 1
            sleep 9: awake, InputRequired, held until 30, open 1, unread 1
            take a: InputRequired, held until 30, open 1
            rest: InputRequired, asleep, open 1
        "#]],
    );
}

#[test]
fn a_retry_counts_and_a_handover_does_not() {
    check(
        "claim; retry 5; wait 5; claim; retry 5; wait 5; claim; handover; claim",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            retry 5: Working, due at 5
            wait 5: Working, due at 5
            claim: Working, held until 35, attempt 2
            retry 5: Working, due at 10, attempt 2
            wait 5: Working, due at 10, attempt 2
            claim: Working, held until 40, attempt 3
            handover: Working, due at 10
            claim: Working, held until 40
        "#]],
    );
}

#[test]
fn a_cancel_sends_a_task_to_a_worker_once_more() {
    check(
        "claim; ask a; rest; cancel; claim; ask b; answer a; rest; finish; finish",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            ask a: InputRequired, held until 30, open 1
            rest: InputRequired, asleep, open 1
            cancel: Cancelled, due at 0, open 1
            claim: Cancelled, held until 30, open 1
            ask b: Cancelled, held until 30, open 1
            answer a: Cancelled, held until 30, open 1
            rest: awake, Cancelled, held until 30, open 1
            finish: Cancelled, done
            finish: Cancelled, done
        "#]],
    );
}

#[test]
fn a_task_that_has_not_begun_is_simply_over() {
    check(
        "cancel; cancel; finish",
        expect![[r#"
            created: Working, due at 0
            cancel: Cancelled, done
            cancel: Cancelled, done
            finish: refused, Fenced
        "#]],
    );
}

#[test]
fn a_key_is_used_for_one_thing_only() {
    check(
        "claim; append x; append x; append x=other; ask a; ask a=other; ask b; ask a b; \
         answer a; ask a b; take a; ask a b",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            append x: Working, held until 30
            append x: Working, held until 30
            append x=other: refused, Conflict
            ask a: InputRequired, held until 30, open 1
            ask a=other: refused, Conflict
            ask b: InputRequired, held until 30, open 1
            ask a b: InputRequired, held until 30, open 2
            answer a: InputRequired, held until 30, open 1, unread 1
            ask a b: InputRequired, held until 30, open 1, unread 1
            take a: InputRequired, held until 30, open 1
            ask a b: refused, Conflict
        "#]],
    );
}

#[test]
fn nothing_rests_forever_by_mistake() {
    check(
        "claim; rest; ask a; ask; rest; sleep 7",
        expect![[r#"
            created: Working, due at 0
            claim: Working, held until 30
            rest: refused, Misuse
            ask a: InputRequired, held until 30, open 1
            ask: Working, held until 30
            rest: refused, Misuse
            sleep 7: Working, due at 7
        "#]],
    );
}

#[track_caller]
fn check(story: &str, expected: Expect) {
    let mut teller = Teller::new();
    let mut told = format!("created: {}\n", teller.describe());
    for event in story.split(';').map(str::trim) {
        let outcome = match teller.tell(event) {
            Ok(true) => teller.describe(),
            Ok(false) => format!("awake, {}", teller.describe()),
            Err(error) => format!("refused, {:?}", error.kind()),
        };
        told.push_str(&format!("{event}: {outcome}\n"));
    }
    expected.assert_eq(&told);
}

/// A store of one task, as small as can be.
struct Teller {
    control: Control,
    known: Known,
    now: UnixMillis,
}

impl Teller {
    fn new() -> Self {
        let now = UnixMillis::new(0);
        Self {
            control: Control::created(0, now),
            known: Known::default(),
            now,
        }
    }

    /// Does what `event` says. `false`: the task did not go to rest.
    fn tell(&mut self, event: &str) -> Result<bool, Error> {
        let mut fence = self.control.fence;
        let event = match event.strip_prefix("old ") {
            Some(event) => {
                fence = Fence::new(fence.get() - 1);
                event
            }
            None => event,
        };
        let mut words = event.split(' ');
        let verb = words.next().unwrap();
        let objects: Vec<_> = words.collect();
        let millis = || Duration::from_millis(objects[0].parse().unwrap());
        let length = Duration::from_millis(30);
        match verb {
            "wait" => self.now = self.now + millis(),
            "claim" => {
                assert!(self.control.is_due(self.now));
                self.control.claim(self.now, length);
            }
            "renew" => self.control.renew(fence, self.now, length)?,
            "append" => {
                let entries = objects.iter().map(|object| {
                    let (key, value) = object.split_once('=').unwrap_or((object, ""));
                    Entry::new(name(key), Bytes::from(value.to_owned()))
                });
                self.commit(fence, &Commit::of(entries))?;
            }
            "take" => {
                let commit = objects
                    .into_iter()
                    .fold(Commit::default(), |commit, key| commit.taking(name(key)));
                self.commit(fence, &commit)?;
            }
            "ask" => {
                let questions = objects.iter().map(|object| {
                    let (key, other) = object.split_once('=').unwrap_or((object, ""));
                    let fingerprint = [u8::from(!other.is_empty()); 16];
                    Question::new(name(key), fingerprint, Bytes::new())
                });
                self.commit(fence, &Commit::default().asking(questions))?;
            }
            "answer" => {
                let answers: Vec<_> = objects
                    .iter()
                    .map(|key| Answer::new(name(key), Bytes::new()))
                    .collect();
                let accepted = self.control.answer(&self.known.asked, &answers, self.now);
                let keys = accepted.into_iter().map(|answer| answer.key.clone());
                self.set_phase(keys, Phase::Answered);
            }
            "cancel" => {
                self.control.end(Event::Cancelled, self.now);
            }
            "finish" => {
                let done = Outcome::Completed(Bytes::new());
                self.control.finish(fence, done.event())?;
            }
            "rest" => return self.control.rest(fence, self.now, Passivation::ForAnswers),
            "sleep" => {
                return self
                    .control
                    .rest(fence, self.now, Passivation::For(millis()));
            }
            "retry" => {
                return self
                    .control
                    .rest(fence, self.now, Passivation::Retry(millis()));
            }
            "handover" => return self.control.rest(fence, self.now, Passivation::HandOver),
            other => panic!("{other} is no event"),
        }
        Ok(true)
    }

    fn commit(&mut self, fence: Fence, commit: &Commit) -> Result<(), Error> {
        let changes = self.control.commit(fence, &self.known, commit)?;
        let Known { values, asked } = &mut self.known;
        for entry in changes.append {
            values.insert(entry.key.clone(), entry.value.clone());
        }
        for question in changes.ask {
            let fresh = Asked::new(question.key.clone(), question.fingerprint, Phase::Open);
            asked.push(fresh);
        }
        self.set_phase(changes.take.into_iter().cloned(), Phase::Taken);
        self.set_phase(changes.reopen.into_iter().cloned(), Phase::Open);
        self.set_phase(changes.withdraw, Phase::Withdrawn);
        Ok(())
    }

    fn set_phase(&mut self, keys: impl IntoIterator<Item = Name>, phase: Phase) {
        for key in keys {
            let asked = self.known.asked.iter_mut().find(|asked| asked.key == key);
            asked.unwrap().phase = phase;
        }
    }

    fn describe(&self) -> String {
        let Control {
            status,
            held,
            due_at,
            attempts,
            open,
            unread,
            ..
        } = &self.control;
        let place = match due_at.map(UnixMillis::get) {
            Some(due) if *held => format!("held until {due}"),
            Some(due) => format!("due at {due}"),
            None if status.is_final() => "done".to_owned(),
            None => "asleep".to_owned(),
        };
        let mut text = format!("{status:?}, {place}");
        for (count, shown, label) in [
            (attempts, *attempts > 1, "attempt"),
            (open, *open > 0 && *status != Status::Completed, "open"),
            (unread, *unread > 0, "unread"),
        ] {
            if shown && !self.control.is_done() {
                text.push_str(&format!(", {label} {count}"));
            }
        }
        text
    }
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}
