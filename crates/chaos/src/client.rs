//! A client that resends, asks elsewhere and notes what it was promised.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::http::send;
use crate::instance::Instances;

/// What became of one order whose task was acknowledged.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ambiguous,
    Cancelled,
    Paid,
}

/// Orders until `end`, and follows every order until it is over.
pub(crate) fn order(
    instances: &Instances,
    numbers: &AtomicU64,
    end: Instant,
    mut dice: Dice,
) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    while Instant::now() < end {
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let params = json!({"name": "order", "arguments": {"number": number}});
        // What is not acknowledged is not owed, and its number is not used again.
        let Ok(created) = send(instances.any(&mut dice), "tools/call", params) else {
            sleep(PAUSE);
            continue;
        };
        let Some(task) = created["taskId"].as_str() else {
            bail!("order {number} became no task: {created}");
        };
        let end = follow(instances, task, number, &mut dice)?;
        kept.push(Kept { number, end });
    }
    Ok(kept)
}

/// Follows a task that was promised, wherever there is somebody to ask.
fn follow(instances: &Instances, task: &str, number: u64, dice: &mut Dice) -> Result<End> {
    let size = format!("size-{:x}", dice.roll());
    let gives_up = dice.once_in(8);
    let (mut answered, mut cancelled) = (false, false);
    let since = Instant::now();
    loop {
        if since.elapsed() > LONGEST {
            bail!("order {number} is not over after {LONGEST:?}");
        }
        let to = instances.any(dice);
        let Ok(shown) = send(to, "tasks/get", json!({"taskId": task})) else {
            sleep(PAUSE);
            continue;
        };
        match shown["status"].as_str() {
            Some("input_required") if gives_up && !cancelled => {
                let params = json!({"taskId": task});
                cancelled = send(instances.any(dice), "tasks/cancel", params).is_ok();
            }
            Some("input_required") if answered => bail!(
                "order {number} was answered, and asks again: {}",
                shown["inputRequests"]
            ),
            Some("input_required") => {
                let answer = |size: &str| {
                    let accepted = json!({"action": "accept", "content": {"size": size}});
                    json!({"taskId": task, "inputResponses": {"size": accepted}})
                };
                // A lost acknowledgement is repeated; one that arrived settles the answer.
                answered = send(instances.any(dice), "tasks/update", answer(&size)).is_ok();
                if answered && dice.once_in(3) {
                    let _ = send(instances.any(dice), "tasks/update", answer("too late"));
                }
            }
            Some("completed") => return judge(&shown, number, &size),
            Some("cancelled") if gives_up => return Ok(End::Cancelled),
            Some("working") => {}
            _ => bail!("order {number}: {shown}"),
        }
        sleep(PAUSE);
    }
}

/// Whether the result is made of what the client said.
fn judge(task: &Value, number: u64, size: &str) -> Result<End> {
    let text = task["result"]["content"][0]["text"].as_str();
    let text = text.unwrap_or_default();
    for (paid, end) in [("paid", End::Paid), ("ambiguous", End::Ambiguous)] {
        if text == format!("{number} {size} {paid}") {
            return Ok(end);
        }
    }
    bail!("order {number} of {size} became `{task}`")
}

const PAUSE: Duration = Duration::from_millis(50);

/// Far more than all leases and retries that can follow each other.
const LONGEST: Duration = Duration::from_secs(120);
