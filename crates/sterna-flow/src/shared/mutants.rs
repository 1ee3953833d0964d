//! Rules broken on purpose. Tests only: each must be caught.

use std::cmp::Reverse;

use super::leaf::{LeafId, Stage};
use super::schedule::Turn;
use super::state::State;
use crate::journal::{Entry, Kind};
use crate::tests::Mutant;

impl State<'_> {
    /// A future is polled: does it get more than it should?
    pub(super) fn misbehave(&mut self, id: LeafId) -> Option<Turn> {
        let mutant = self.mutant?;
        let leaf = self.leaves.get_mut(id)?;
        if let (Stage::Missed(at), Mutant::TakeMissed) = (leaf.stage, mutant) {
            leaf.stage = Stage::Told(at);
        }
        let is_step = matches!(leaf.wants, Kind::Step | Kind::Once);
        let unasked = match leaf.stage {
            Stage::Parked => true,
            Stage::New => is_step && matches!(self.seek(id), Ok(None)),
            _ => false,
        };
        let live = match mutant {
            Mutant::StartEarly => true,
            Mutant::StartWithLastTell => self.queue.is_empty(),
            _ => false,
        };
        (is_step && unasked && live).then(|| self.start_unasked(id))
    }

    fn start_unasked(&mut self, id: LeafId) -> Turn {
        if let Some(leaf) = self.leaves.get_mut(id) {
            leaf.stage = Stage::Running;
            self.running += 1;
            self.fresh = true;
        }
        Turn::Start
    }

    /// Whether a step was told of its own end before its turn.
    pub(super) fn tells_too_early(&mut self, id: LeafId, entry: &Entry) -> bool {
        let at_once = self.mutant == Some(Mutant::TellAtOnce);
        let unwritten = self.mutant == Some(Mutant::TellUnwritten);
        if !matches!(entry.kind, Kind::Step | Kind::Once) || !(at_once || unwritten) {
            return false;
        }
        if self.write_ahead {
            self.unwritten.push_back((entry.clone(), None));
        }
        let at = self.tape.push(entry.clone());
        match at_once && !entry.by_ref {
            true => {
                if let Some(leaf) = self.leaves.get_mut(id) {
                    leaf.stage = Stage::Told(at);
                }
            }
            false => self.enqueue(id, at),
        }
        true
    }

    /// Puts the youngest entry where the oldest should be.
    pub(super) fn turn_queue_over(&mut self) {
        if self.mutant != Some(Mutant::TellNewestFirst) {
            return;
        }
        let mut waiting: Vec<_> = self.queue.drain().map(|Reverse(item)| item).collect();
        waiting.retain(|(at, id)| {
            self.leaves
                .get(*id)
                .is_some_and(|leaf| leaf.stage == Stage::Queued(*at))
        });
        waiting.sort_unstable();
        // The heap gives the smallest first, so all but the youngest stay out.
        let youngest = waiting.pop();
        for (at, id) in waiting {
            if let Some(leaf) = self.leaves.get_mut(id) {
                leaf.stage = Stage::Missed(at);
                self.wakes.extend(leaf.waker.take());
            }
        }
        self.queue.extend(youngest.map(Reverse));
    }
}
