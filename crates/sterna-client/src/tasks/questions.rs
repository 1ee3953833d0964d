//! Questions of a task, each answered once.

use std::collections::BTreeMap;

use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::input::{InputRequests, InputResponses};

use crate::answers;
use crate::core::Core;
use crate::error::Error;

/// The questions that were answered and are still shown, with how often they
/// have been since.
#[derive(Debug, Default)]
pub(super) struct Questions {
    answered: BTreeMap<String, u32>,
    /// After how often a question counts as asked again.
    repeats: Option<u32>,
}

impl Questions {
    /// For dialects in which a server asks again under the same key.
    pub(super) fn repeatable() -> Self {
        Self {
            answered: BTreeMap::new(),
            repeats: Some(REPEATS),
        }
    }

    /// Has answered what is new in `open`; `None` if nothing is.
    ///
    /// TASK-C8: a question that is still shown is not a new one; one that was
    /// gone and is back is.
    pub(super) async fn answer(
        &mut self,
        core: &Core,
        task_id: &str,
        open: InputRequests,
        declared: &ClientCapabilities,
    ) -> Result<Option<InputResponses>, Error> {
        self.answered.retain(|key, _| open.get(key).is_some());
        let fresh: InputRequests = open
            .into_iter()
            .filter(|(key, _)| !self.is_settled(key))
            .collect();
        if fresh.is_empty() {
            return Ok(None);
        }
        // TASK-C7: a task may ask no more than a round may.
        answers::admit(&fresh, declared)?;
        let found = core.answer(task_id, fresh).await?;
        let keys = found.iter().map(|(key, _)| (key.clone(), 0));
        self.answered.extend(keys);
        // TASK-C9: nothing but what was open.
        Ok(Some(found.into_iter().collect()))
    }

    /// The task asks nothing any more.
    pub(super) fn forget(&mut self) {
        self.answered.clear();
    }

    fn is_settled(&mut self, key: &str) -> bool {
        let Some(shown) = self.answered.get_mut(key) else {
            return false;
        };
        *shown = shown.saturating_add(1);
        self.repeats.is_none_or(|limit| *shown <= limit)
    }
}

/// A server may take a moment to make use of an answer.
const REPEATS: u32 = 3;
