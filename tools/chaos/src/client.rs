//! A client that resends, asks elsewhere and notes what it was promised.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::effects::now;
use crate::http::send;
use crate::instance::Instances;

/// What became of one order whose task was acknowledged.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) number: u64,
    pub(crate) end: End,
    /// When its task was acknowledged, in milliseconds.
    pub(crate) from: u64,
    /// When its end was seen.
    pub(crate) to: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ambiguous,
    Cancelled,
    Paid,
}

/// Orders until `end`, follows every order until it is over, and sees at last
/// that each still is.
pub(crate) fn order(
    instances: &Instances,
    numbers: &AtomicU64,
    end: Instant,
    mut dice: Dice,
) -> Result<Vec<Kept>> {
    let (mut kept, mut seen) = (Vec::new(), Vec::new());
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
        let from = now();
        let (end, shown) = follow(instances, task, number, &mut dice)?;
        let to = now();
        kept.push(Kept {
            number,
            end,
            from,
            to,
        });
        seen.push((task.to_owned(), number, shown));
    }
    for (task, number, shown) in seen {
        stays(instances, &task, number, &shown, &mut dice)?;
    }
    Ok(kept)
}

/// Whether a task that was seen to have ended is as it was seen.
fn stays(
    instances: &Instances,
    task: &str,
    number: u64,
    seen: &Value,
    dice: &mut Dice,
) -> Result<()> {
    let since = Instant::now();
    while since.elapsed() < LONGEST {
        let Some(shown) = look(instances, task, number, dice)? else {
            sleep(PAUSE);
            continue;
        };
        for member in ["status", "result"] {
            if shown[member] != seen[member] {
                bail!("order {number} had ended with {seen}, and became {shown}");
            }
        }
        return Ok(());
    }
    bail!("order {number} cannot be seen any more");
}

/// Follows a task that was promised, wherever there is somebody to ask.
fn follow(instances: &Instances, task: &str, number: u64, dice: &mut Dice) -> Result<(End, Value)> {
    let size = format!("size-{:x}", dice.roll());
    let gives_up = dice.once_in(8);
    let (mut answered, mut cancelled) = (false, false);
    let since = Instant::now();
    loop {
        if since.elapsed() > LONGEST {
            bail!("order {number} is not over after {LONGEST:?}");
        }
        let Some(shown) = look(instances, task, number, dice)? else {
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
            Some("completed") => return Ok((judge(&shown, number, &size)?, shown)),
            Some("cancelled") if gives_up => return Ok((End::Cancelled, shown)),
            Some("working") => {}
            _ => bail!("order {number}: {shown}"),
        }
        sleep(PAUSE);
    }
}

/// A task as an instance shows it; `None` if the instance shows nothing.
///
/// # Errors
///
/// The instance says that there is no such task, which was acknowledged.
fn look(instances: &Instances, task: &str, number: u64, dice: &mut Dice) -> Result<Option<Value>> {
    match send(instances.any(dice), "tasks/get", json!({"taskId": task})) {
        Ok(shown) => Ok(Some(shown)),
        Err(error) if error.is_unknown_task() => {
            bail!("the task of order {number} was acknowledged and is gone")
        }
        Err(_) => Ok(None),
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
