//! The ids of new flows.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use sterna_seal::{
    Entropy, EntropyError, FlowId, OsEntropy, ThreadEntropy, UnixMillis, mint_flow_id_for,
};

/// Source of the ids of new flows.
#[derive(Clone, Default)]
pub(crate) enum FlowIds {
    /// Random ids, which no client can guess.
    #[default]
    Random,
    /// Ids of a test, which repeat from one run to the next.
    Repeatable(Arc<dyn Fn() -> FlowId + Send + Sync>),
}

impl FlowIds {
    /// The id of a flow that begins with `request`, which tells it from those of
    /// other callers.
    pub(crate) fn mint(
        &self,
        request: &impl Hash,
        now: UnixMillis,
    ) -> Result<FlowId, EntropyError> {
        match self {
            Self::Random => mint_flow_id_for(request, now, &mut ThreadEntropy),
            Self::Repeatable(mint) => Ok(mint()),
        }
    }

    /// The id of a flow that begins as a task.
    pub(crate) fn mint_for_task(&self) -> Result<FlowId, EntropyError> {
        match self {
            Self::Random => {
                let mut id = [0; 16];
                OsEntropy.fill(&mut id)?;
                Ok(FlowId::from_bytes(id))
            }
            Self::Repeatable(mint) => Ok(mint()),
        }
    }
}

impl fmt::Debug for FlowIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "Random",
            Self::Repeatable(_) => "Repeatable",
        })
    }
}
