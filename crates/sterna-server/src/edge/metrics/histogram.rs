//! How long things took, in a few buckets.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts durations by how long they were. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Cells>);

#[derive(Debug)]
struct Cells {
    /// One cell per bound, and one for what is longer than all of them.
    counts: [AtomicU64; BOUNDS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self(Arc::new(Cells {
            counts: [const { AtomicU64::new(0) }; BOUNDS.len() + 1],
            nanoseconds: AtomicU64::new(0),
        }))
    }

    /// Adds one.
    pub fn observe(&self, duration: Duration) {
        let longer = BOUNDS.iter().take_while(|(bound, _)| duration > *bound);
        self.0.counts[longer.count()].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.0.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn render(&self, name: &str, labels: &str, out: &mut String) {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut sum = 0;
        let bounds = BOUNDS.iter().map(|(_, text)| *text).chain(["+Inf"]);
        for (cell, bound) in self.0.counts.iter().zip(bounds) {
            sum += cell.load(Ordering::Relaxed);
            // Writing to a string does not fail, here and below.
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {sum}");
        }
        let total = Duration::from_nanos(self.0.nanoseconds.load(Ordering::Relaxed));
        let braces = |labels: &str| match labels {
            "" => String::new(),
            labels => format!("{{{labels}}}"),
        };
        let labels = braces(labels);
        let _ = writeln!(out, "{name}_sum{labels} {}", total.as_secs_f64());
        let _ = writeln!(out, "{name}_count{labels} {sum}");
    }
}

/// From what a plain call takes to what a person notices, and beyond. The first
/// of the pair is compared, the second printed.
const BOUNDS: [(Duration, &str); 13] = [
    (Duration::from_micros(100), "0.0001"),
    (Duration::from_micros(250), "0.00025"),
    (Duration::from_micros(500), "0.0005"),
    (Duration::from_millis(1), "0.001"),
    (Duration::from_millis(5), "0.005"),
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(50), "0.05"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_millis(500), "0.5"),
    (Duration::from_secs(1), "1"),
    (Duration::from_secs(5), "5"),
    (Duration::from_secs(30), "30"),
    (Duration::from_secs(300), "300"),
];
