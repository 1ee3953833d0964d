//! A cluster whose primary is taken away, again and again.

use std::fmt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use postgres_here::Cluster;

use crate::effects::{Effect, now};
use crate::monkey::Fault;

/// One time that the primary was taken away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failover {
    how: Loss,
    from: u64,
    /// When Patroni had another primary.
    promoted: u64,
    /// When a new standby stood in for the old primary.
    whole: u64,
}

/// How a primary is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// Its processes are killed; the Patroni beside it sees that at once.
    ServerKilled,
    /// Its processes and its Patroni are killed, as when the machine loses power.
    NodeKilled,
    /// Its processes and its Patroni are stopped and go on when another has taken
    /// their place, as when a virtual machine is frozen.
    NodeStopped,
}

impl Failover {
    /// The database was broken for all processes until another primary was there.
    pub(crate) fn fault(&self) -> Fault {
        Fault {
            process: None,
            from: self.from,
            to: self.promoted,
        }
    }
}

/// Takes the primary away every thirty seconds, or as soon as the cluster has two
/// standbys again, until `end`, then leaves the cluster whole.
pub(crate) fn take_away(cluster: &Cluster, end: Instant) -> Result<Vec<Failover>> {
    let mut failovers = Vec::new();
    let losses = [Loss::NodeKilled, Loss::NodeStopped, Loss::ServerKilled];
    for how in losses.into_iter().cycle() {
        // Work is to be under way when it breaks.
        sleep(WORK);
        if Instant::now() + WORK > end {
            break;
        }
        let begun = Instant::now();
        failovers.push(lose(cluster, how)?);
        sleep(INTERVAL.saturating_sub(begun.elapsed() + WORK));
    }
    Ok(failovers)
}

fn lose(cluster: &Cluster, how: Loss) -> Result<Failover> {
    let primary = cluster.primary();
    ensure!(primary.is_some(), "the cluster has no primary");
    let primary = primary.unwrap_or_default();
    // What it acknowledges from here on reaches no standby.
    cluster.cut_off(primary)?;
    sleep(CUT_OFF);
    let from = now();
    match how {
        Loss::ServerKilled => cluster.kill_server(primary)?,
        Loss::NodeKilled => cluster.signal_node(primary, "KILL")?,
        Loss::NodeStopped => cluster.signal_node(primary, "STOP")?,
    }
    cluster.wait_for_another(primary)?;
    let promoted = now();
    if how == Loss::NodeStopped {
        // It takes itself for the primary until its Patroni looks.
        cluster.signal_node(primary, "CONT")?;
        sleep(AWAKE);
    }
    cluster.replace_node(primary)?;
    cluster.wait_until_whole()?;
    Ok(Failover {
        how,
        from,
        promoted,
        whole: now(),
    })
}

/// Says for each way to lose a primary how often it was, and how long it took
/// until there was another, and until work went on.
pub(crate) struct Report<'a> {
    pub(crate) failovers: &'a [Failover],
    pub(crate) effects: &'a [Effect],
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (how, name) in [
            (Loss::ServerKilled, "server killed"),
            (Loss::NodeKilled, "node killed"),
            (Loss::NodeStopped, "node stopped"),
        ] {
            let these: Vec<_> = self.failovers.iter().filter(|it| it.how == how).collect();
            let promoted = these.iter().map(|it| it.promoted - it.from).collect();
            let paused = these.iter().map(|it| self.pause(it)).collect();
            let whole = these.iter().map(|it| it.whole - it.from).collect();
            writeln!(
                f,
                "{name}: {} times; another primary after {}, work stood still for {}, \
                 a new standby was there after {}",
                these.len(),
                Spread(promoted),
                Spread(paused),
                Spread(whole),
            )?;
        }
        Ok(())
    }
}

impl Report<'_> {
    /// The longest time around a failover in which no instance got on.
    fn pause(&self, failover: &Failover) -> u64 {
        let mut times: Vec<_> = self.effects.iter().map(|effect| effect.at).collect();
        times.sort_unstable();
        let pairs = times.iter().zip(times.iter().skip(1));
        let around = pairs.filter(|(before, after)| {
            **after >= failover.from && **before <= failover.promoted + AFTERMATH
        });
        let pauses = around.map(|(before, after)| after - before);
        pauses.max().unwrap_or_default()
    }
}

/// Least, median and largest of some durations in milliseconds.
struct Spread(Vec<u64>);

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
            return f.write_str("-");
        };
        let [least, median, most] =
            [*least, sorted[sorted.len() / 2], *most].map(Duration::from_millis);
        let [least, median, most] = [least, median, most].map(|it| it.as_secs_f64());
        write!(f, "{least:.1} to {most:.1} s, median {median:.1} s")
    }
}

/// From one loss to the next.
const INTERVAL: Duration = Duration::from_secs(30);

/// Time in which all is well, before each loss.
const WORK: Duration = Duration::from_secs(2);

/// For how long a primary acknowledges what no standby gets.
const CUT_OFF: Duration = Duration::from_millis(500);

/// For how long a primary that was stopped is left to find out that it is none.
const AWAKE: Duration = Duration::from_secs(3);

/// How long after a promotion, in milliseconds, a pause still belongs to it.
const AFTERMATH: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::What;

    #[test]
    fn the_longest_pause_around_a_failover_is_found() {
        let effects = [100, 900, 1_000, 4_500, 4_600, 60_000, 90_000].map(|at| Effect {
            id: String::new(),
            what: What::Step,
            order: 1,
            value: "0".to_owned(),
            process: 7,
            at,
        });
        let failovers = [Failover {
            how: Loss::NodeKilled,
            from: 1_200,
            promoted: 4_000,
            whole: 8_000,
        }];
        let report = Report {
            failovers: &failovers,
            effects: &effects[..5],
        };
        assert_eq!(report.pause(&failovers[0]), 3_500);
        // Work that never goes on is a pause until the next thing that happens.
        let report = Report {
            failovers: &failovers,
            effects: &effects[2..],
        };
        assert_eq!(report.pause(&failovers[0]), 55_400);
    }

    #[test]
    fn durations_are_told_by_their_spread() {
        let spread = Spread(vec![3_000, 1_000, 2_040]);
        assert_eq!(spread.to_string(), "1.0 to 3.0 s, median 2.0 s");
        assert_eq!(Spread(Vec::new()).to_string(), "-");
    }
}
