//! Every round, played twice more: it asks the same and runs nothing.

use crate::end::RunResult;
use crate::failure::Failure;
use crate::flow::Flow;
use crate::play::{Plan, rounds};
use crate::run::Run;

/// Replays one round after the other. Returns how many, and the run in which
/// there was none left to replay.
pub(super) async fn check(flow: &Flow) -> Result<(u32, Run), Failure> {
    let mut replays = 0;
    loop {
        let plan = Plan {
            replay: Some(replays + 1),
            ..Plan::default()
        };
        let run = rounds::play(flow, plan).await?;
        if run.end != RunResult::Gone {
            return Ok((replays, run));
        }
        replays += 1;
    }
}
