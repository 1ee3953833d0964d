//! The order in which owners get workers.

use std::collections::BTreeMap;

use crate::Owner;

/// Chooses up to `limit` of `due`, owner by owner in turn, beginning with the
/// owner that follows `last`.
///
/// `due` holds tasks that want a worker, longest waiting first. One owner with
/// any number of tasks delays the task of another by one turn. Owners are in
/// the order of their digests, which no owner can choose.
///
/// ```
/// use sterna_store::Owner;
/// use sterna_store::machine::turns;
///
/// let (ada, bob) = (Owner::from_digest([1; 32]), Owner::from_digest([2; 32]));
/// let due = [(ada, "a1"), (ada, "a2"), (ada, "a3"), (bob, "b1")];
/// assert_eq!(turns(due, None, 3), [(ada, "a1"), (bob, "b1"), (ada, "a2")]);
/// assert_eq!(turns(due, Some(ada), 1), [(bob, "b1")]);
/// ```
pub fn turns<T>(
    due: impl IntoIterator<Item = (Owner, T)>,
    last: Option<Owner>,
    limit: u32,
) -> Vec<(Owner, T)> {
    let mut owners: BTreeMap<_, Vec<T>> = BTreeMap::new();
    for (owner, task) in due {
        let follows = last.is_none_or(|last| owner > last);
        owners.entry((!follows, owner)).or_default().push(task);
    }
    let mut owners: Vec<_> = owners
        .into_iter()
        .map(|((_, owner), tasks)| (owner, tasks.into_iter()))
        .collect();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut chosen = Vec::new();
    while chosen.len() < limit && !owners.is_empty() {
        owners.retain_mut(|(owner, tasks)| match tasks.next() {
            Some(_) if chosen.len() >= limit => true,
            Some(task) => {
                chosen.push((*owner, task));
                true
            }
            None => false,
        });
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes every task as its owner and its number among the owner's.
    fn order(owners: &[u8], last: Option<u8>, limit: u32) -> String {
        let owner = |number: u8| Owner::from_digest([number; 32]);
        let mut counts = BTreeMap::new();
        let due = owners.iter().map(|&number| {
            let count = counts.entry(number).or_insert(0);
            *count += 1;
            (owner(number), format!("{number}.{count}"))
        });
        let chosen = turns(due, last.map(owner), limit);
        let chosen: Vec<_> = chosen.into_iter().map(|(_, task)| task).collect();
        chosen.join(" ")
    }

    #[test]
    fn every_owner_has_one_task_before_any_has_two() {
        let owners = [1, 1, 1, 1, 3, 2, 3];
        assert_eq!(order(&owners, None, 9), "1.1 2.1 3.1 1.2 3.2 1.3 1.4");
        assert_eq!(order(&owners, None, 4), "1.1 2.1 3.1 1.2");
        assert_eq!(order(&owners, None, 0), "");
    }

    #[test]
    fn turns_go_on_after_the_owner_that_had_the_last_one() {
        let owners = [1, 1, 2, 3];
        assert_eq!(order(&owners, Some(1), 2), "2.1 3.1");
        assert_eq!(order(&owners, Some(3), 2), "1.1 2.1");
        // Also when that owner has nothing left.
        assert_eq!(order(&[1, 3], Some(2), 2), "3.1 1.1");
        assert_eq!(order(&[1, 1], Some(1), 2), "1.1 1.2");
    }
}
