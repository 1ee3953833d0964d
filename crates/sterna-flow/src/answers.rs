//! Answers that a handler had been given when it began an effect.
//!
//! An effect that happens at most once is claimed in a ledger, and another run
//! of the flow may find the claim. The claim says under which answers the
//! effect was begun, so that its result never reaches a run that was given
//! other ones. `docs/design/0008-answers-of-an-effect.md` argues the rules.

use std::collections::BTreeMap;

use bytes::{BufMut, Bytes, BytesMut};

use crate::fingerprint::{Digest, Fingerprint, digest_list};
use crate::journal::{Entry, Kind};
use crate::key::Key;

/// The answers that one run of a handler has been given so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct GivenAnswers {
    given: Vec<(Key, Given)>,
}

#[derive(Clone, Debug)]
enum Given {
    /// An answer that fitted its question.
    Answer(Bytes),
    /// A finished memo: the answers inside it.
    Memo(Fingerprint),
}

impl GivenAnswers {
    /// Notes that the handler has taken `entry`.
    ///
    /// A deadline that passed is not noted: a run that is repeated may be
    /// faster than the deadline, and no answer differs.
    pub(crate) fn note(&mut self, entry: &Entry) {
        let given = match (entry.kind, entry.fingerprint) {
            (Kind::Answer, _) => Given::Answer(entry.value.clone()),
            (Kind::Memo, Some(inside)) => Given::Memo(inside),
            _ => return,
        };
        self.given.push((entry.key.clone(), given));
    }

    /// The answers inside the memo `memo`, in one fingerprint that its entry keeps
    /// when their own entries are gone. [`UNASKED`] if the memo asked nothing.
    pub(crate) fn inside(&self, memo: &Key, digest: &dyn Digest) -> Fingerprint {
        let inside: BTreeMap<&str, [u8; 32]> = self
            .given
            .iter()
            .filter(|(key, given)| key.is_inside_memo(memo) && !given.is_unasked())
            .map(|(key, given)| (key.as_str(), given.digest(digest)))
            .collect();
        if inside.is_empty() {
            return UNASKED;
        }
        let parts: Vec<&[u8]> = inside
            .iter()
            .flat_map(|(key, digest)| [key.as_bytes(), digest])
            .collect();
        Fingerprint::of(digest, &parts)
    }

    /// The answers as the claim of `effect` says them, with the `build` that
    /// makes it.
    pub(crate) fn write(&self, effect: &Key, build: [u8; 8], digest: &dyn Digest) -> Bytes {
        let mut out = BytesMut::with_capacity(9 + self.given.len() * 64);
        out.put_u8(VERSION);
        out.put_slice(&build);
        for (key, given) in &self.given {
            let text = key.as_str().as_bytes();
            let Ok(length) = u16::try_from(text.len()) else {
                continue;
            };
            // When a memo finishes depends on its steps too. A replay does not enter a
            // finished memo, unless the effect is inside.
            let returns = matches!(given, Given::Answer(_))
                && key.memos().all(|memo| effect.is_inside_memo(&memo));
            out.put_u8(u8::from(returns));
            out.put_u16(length);
            out.put_slice(text);
            out.put_slice(&given.digest(digest));
        }
        out.freeze()
    }
}

impl Given {
    fn is_unasked(&self) -> bool {
        matches!(self, Self::Memo(inside) if *inside == UNASKED)
    }

    fn digest(&self, digest: &dyn Digest) -> [u8; 32] {
        match self {
            Self::Answer(value) => digest_list(digest, &[b"answer", value]),
            Self::Memo(_) if self.is_unasked() => NO_ANSWERS,
            Self::Memo(inside) => digest_list(digest, &[b"memo", inside.as_bytes()]),
        }
    }
}

/// Returns whether a run that was given `now` may use an effect claimed under
/// `then`.
///
/// It may if it was given every answer that the effect was begun under, and
/// none of them differs. More answers are no contradiction: they may have
/// arrived after the effect was begun, in a branch beside it.
///
/// A memo that was finished under one answer more is no contradiction either.
/// That is seen as long as both runs were given the answers inside it, or the
/// first was given none.
///
/// If another build began the effect, an answer may be missing: this build may
/// no longer ask that question. None may differ.
///
/// A claim of a release that wrote no answers holds none, and fits.
pub(crate) fn is_same_path(then: &[u8], now: &[u8]) -> bool {
    if then.is_empty() {
        return true;
    }
    let (Some(then), Some(now)) = (Claimed::read(then), Claimed::read(now)) else {
        return false;
    };
    let is_upgraded = then.build != now.build;
    let mut answers = then.answers.iter();
    answers.all(|(key, (returns, digest))| match now.answers.get(key) {
        Some((_, same)) if same == digest => true,
        Some(_) if *digest == NO_ANSWERS => true,
        Some(_) => then.inside(key).next().is_some() && now.has_all_inside(key, &then),
        None => is_upgraded || !returns,
    })
}

/// The bytes of a claim, read.
struct Claimed<'a> {
    build: &'a [u8],
    /// By question: whether every replay gives it again, and a digest of the
    /// answer.
    answers: BTreeMap<&'a [u8], (bool, &'a [u8])>,
}

impl<'a> Claimed<'a> {
    fn read(mut bytes: &'a [u8]) -> Option<Self> {
        let version = bytes.split_off_first()?;
        if *version != VERSION {
            return None;
        }
        let build = bytes.split_off(..8)?;
        let mut answers = BTreeMap::new();
        while let Some(returns) = bytes.split_off_first() {
            let length = bytes.split_off(..2)?.try_into().ok()?;
            let key = bytes.split_off(..usize::from(u16::from_be_bytes(length)))?;
            let digest = bytes.split_off(..32)?;
            answers.insert(key, (*returns != 0, digest));
        }
        Some(Self { build, answers })
    }

    /// Returns whether every answer that `then` had inside the memo `memo` is here
    /// too. Their values are compared elsewhere.
    fn has_all_inside(&self, memo: &[u8], then: &Claimed<'_>) -> bool {
        let mut inside = then.inside(memo);
        inside.all(|key| self.answers.contains_key(key))
    }

    /// The keys inside the memo `memo`. None if a replay did not enter it.
    fn inside(&self, memo: &[u8]) -> impl Iterator<Item = &'a [u8]> {
        let prefix = [memo, b"*/"].concat();
        let keys = self.answers.keys().copied();
        keys.filter(move |key| key.starts_with(&prefix))
    }
}

const VERSION: u8 = 1;

/// Stands for a memo that was finished without an answer.
const UNASKED: Fingerprint = Fingerprint::new([0; 16]);

/// The digest of [`UNASKED`] in a claim.
const NO_ANSWERS: [u8; 32] = [0; 32];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sha256;

    const BUILD: [u8; 8] = [1; 8];

    fn given(answers: &[(&str, &str)]) -> GivenAnswers {
        let mut given = GivenAnswers::default();
        for (key, value) in answers {
            let value = Bytes::copy_from_slice(value.as_bytes());
            given.note(&Entry::new(Key::new(key), Kind::Answer, value));
        }
        given
    }

    #[track_caller]
    fn check(then: &[(&str, &str)], now: &[(&str, &str)], expected: bool) {
        let effect = Key::new("charge");
        let write = |answers| given(answers).write(&effect, BUILD, &sha256);
        assert_eq!(is_same_path(&write(then), &write(now)), expected);
    }

    #[test]
    fn every_answer_that_an_effect_was_begun_under_must_be_given_again() {
        check(&[], &[], true);
        check(&[("a", "1")], &[("a", "1")], true);
        check(&[("a", "1")], &[("a", "2")], false);
        check(&[("a", "1")], &[("b", "1")], false);
        check(&[("a", "1")], &[], false);
        check(&[("a", "1")], &[("a~2", "1")], false);
    }

    #[test]
    fn an_answer_beside_the_effect_may_arrive_later() {
        check(&[("a", "1")], &[("a", "1"), ("b", "2")], true);
        check(&[("a", "1")], &[("b", "2"), ("a", "1")], true);
        check(&[("a", "1"), ("b", "2")], &[("b", "3"), ("a", "1")], false);
    }

    #[test]
    fn another_build_may_ask_no_more_but_takes_no_other_answer() {
        let effect = Key::new("charge");
        let then = given(&[("a", "1"), ("google_login", "g")]).write(&effect, BUILD, &sha256);
        let now = |answers| given(answers).write(&effect, [2; 8], &sha256);
        assert!(is_same_path(
            &then,
            &now(&[("a", "1"), ("microsoft_login", "m")])
        ));
        assert!(!is_same_path(
            &then,
            &now(&[("a", "2"), ("microsoft_login", "m")])
        ));
        assert!(!is_same_path(
            &then,
            &now(&[("a", "1"), ("google_login", "h")])
        ));
    }

    #[test]
    fn an_answer_inside_a_memo_may_be_gone_but_not_another() {
        check(&[("m*/a", "1")], &[], true);
        check(&[("m*/a", "1")], &[("m*/a", "2")], false);
    }

    #[test]
    fn an_effect_inside_a_memo_meets_its_answers_again() {
        let effect = Key::new("m*/charge");
        let then = given(&[("m*/a", "1"), ("m*/n*/b", "1")]).write(&effect, BUILD, &sha256);
        let both = |a, b| given(&[("m*/a", a), ("m*/n*/b", b)]).write(&effect, BUILD, &sha256);
        assert!(is_same_path(&then, &both("1", "1")));
        assert!(!is_same_path(&then, &both("1", "2")));
        let inner_gone = given(&[("m*/a", "1")]).write(&effect, BUILD, &sha256);
        assert!(is_same_path(&then, &inner_gone));
        assert!(!is_same_path(
            &then,
            &given(&[]).write(&effect, BUILD, &sha256)
        ));
    }

    #[test]
    fn a_finished_memo_stands_for_the_answers_inside_it() {
        let memo = |answers| after_memo(answers, false);
        let then = memo(&[("m*/a", "1"), ("outside", "1")]);
        assert!(is_same_path(
            &then,
            &memo(&[("m*/a", "1"), ("outside", "2")])
        ));
        assert!(!is_same_path(&then, &memo(&[("m*/a", "2")])));
    }

    /// The claim of an effect after a memo; with `entered` the run that makes it
    /// was given the answers inside, otherwise the memo was finished before.
    fn after_memo(answers: &[(&str, &str)], entered: bool) -> Bytes {
        let inside = given(answers);
        let mut entry = Entry::new(Key::new("m"), Kind::Memo, Bytes::new());
        entry.fingerprint = Some(inside.inside(&entry.key, &sha256));
        let mut after = if entered { inside } else { given(&[]) };
        after.note(&entry);
        after.write(&Key::new("charge"), BUILD, &sha256)
    }

    #[test]
    fn a_memo_that_is_finished_again_may_have_asked_more() {
        let check = |then: Bytes, now: Bytes, expected: bool| {
            assert_eq!(is_same_path(&then, &now), expected);
        };
        let (one, two) = ([("m*/a", "1")], [("m*/a", "1"), ("m*/b", "2")]);
        let other = [("m*/a", "2"), ("m*/b", "2")];
        check(after_memo(&one, true), after_memo(&two, true), true);
        check(after_memo(&two, true), after_memo(&one, true), false);
        check(after_memo(&one, true), after_memo(&other, true), false);
        for entered in [true, false] {
            check(after_memo(&[], entered), after_memo(&two, entered), true);
            check(after_memo(&two, entered), after_memo(&[], entered), false);
            check(after_memo(&one, entered), after_memo(&one, !entered), true);
            check(
                after_memo(&one, entered),
                after_memo(&other, !entered),
                false,
            );
        }
        // Which of the two it is cannot be told any more.
        check(after_memo(&one, true), after_memo(&two, false), false);
        check(after_memo(&one, false), after_memo(&two, false), false);
    }

    #[test]
    fn a_deadline_that_passed_is_no_answer() {
        let mut late = GivenAnswers::default();
        late.note(&Entry::new(Key::new("a"), Kind::Elapsed, Bytes::new()));
        let late = late.write(&Key::new("charge"), BUILD, &sha256);
        let answered = given(&[("a", "")]).write(&Key::new("charge"), BUILD, &sha256);
        assert!(!is_same_path(&answered, &late));
        assert!(is_same_path(&late, &answered));
    }

    #[test]
    fn claims_of_older_releases_fit_and_those_of_later_ones_do_not() {
        let now = given(&[("a", "1")]).write(&Key::new("charge"), BUILD, &sha256);
        assert!(is_same_path(b"", &now));
        assert!(!is_same_path(&[VERSION + 1], &now));
        for cut in 1..now.len() {
            assert!(cut == 9 || !is_same_path(&now[..cut], &now), "{cut}");
        }
    }
}
