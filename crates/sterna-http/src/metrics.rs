//! Every number of a server by its name.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// All numbers of a server. Cheap to clone; clones share everything.
///
/// # Examples
///
/// ```
/// use sterna_http::Registry;
///
/// let registry = Registry::new();
/// let started = registry.counter("flows_started_total", "Flows begun.", &[("tool", "deploy")]);
/// started.add(1);
/// assert!(registry.render().contains("flows_started_total{tool=\"deploy\"} 1\n"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry(Arc<Mutex<BTreeMap<&'static str, Family>>>);

#[derive(Debug)]
struct Family {
    help: &'static str,
    kind: &'static str,
    series: BTreeMap<String, Series>,
}

#[derive(Clone, Debug)]
enum Series {
    Counter(Counter),
    Gauge(Gauge),
    Histogram(Histogram),
}

impl Registry {
    /// No numbers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The counter of this name and these labels, made when it is not there.
    ///
    /// Labels must come from a fixed list: each set of them is kept for ever.
    /// A name that is already another kind of number gets a counter that is
    /// never shown.
    #[must_use]
    pub fn counter(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
    ) -> Counter {
        let made = || Series::Counter(Counter::default());
        match self.series(name, help, "counter", labels, made) {
            Some(Series::Counter(counter)) => counter,
            _ => Counter::default(),
        }
    }

    /// The gauge of this name and these labels; see [`counter`](Self::counter).
    #[must_use]
    pub fn gauge(&self, name: &'static str, help: &'static str, labels: &[(&str, &str)]) -> Gauge {
        let made = || Series::Gauge(Gauge::default());
        match self.series(name, help, "gauge", labels, made) {
            Some(Series::Gauge(gauge)) => gauge,
            _ => Gauge::default(),
        }
    }

    /// The histogram of this name and these labels; see
    /// [`counter`](Self::counter).
    #[must_use]
    pub fn histogram(
        &self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
    ) -> Histogram {
        let made = || Series::Histogram(Histogram::new());
        match self.series(name, help, "histogram", labels, made) {
            Some(Series::Histogram(histogram)) => histogram,
            _ => Histogram::new(),
        }
    }

    /// Every number in the text format of Prometheus, in alphabetical order.
    #[must_use]
    pub fn render(&self) -> String {
        let mut out = String::new();
        let families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, family) in &*families {
            // Writing to a string does not fail, here and below.
            let _ = writeln!(out, "# HELP {name} {}", family.help);
            let _ = writeln!(out, "# TYPE {name} {}", family.kind);
            for (labels, series) in &family.series {
                let number = match series {
                    Series::Counter(counter) => counter.value(),
                    Series::Gauge(gauge) => gauge.value(),
                    Series::Histogram(histogram) => {
                        histogram.render(name, labels, &mut out);
                        continue;
                    }
                };
                let _ = match labels.as_str() {
                    "" => writeln!(out, "{name} {number}"),
                    labels => writeln!(out, "{name}{{{labels}}} {number}"),
                };
            }
        }
        out
    }

    fn series(
        &self,
        name: &'static str,
        help: &'static str,
        kind: &'static str,
        labels: &[(&str, &str)],
        made: impl FnOnce() -> Series,
    ) -> Option<Series> {
        let mut families = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let family = families.entry(name).or_insert_with(|| Family {
            help,
            kind,
            series: BTreeMap::new(),
        });
        let series = family.series.entry(spell(labels));
        (family.kind == kind).then(|| series.or_insert_with(made).clone())
    }
}

/// A number that only grows. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds `more`.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// The current count.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A gauge: a number that goes up and down. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// The last value set.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn spell(labels: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in labels {
        let comma = if text.is_empty() { "" } else { "," };
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        let _ = write!(text, "{comma}{name}=\"{value}\"");
    }
    text
}

/// Counts durations by how long they were. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Cells>);

#[derive(Debug)]
struct Cells {
    /// One cell per bound, and one for durations above all of them.
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

/// From the duration of a plain call to one that a person notices, and beyond.
/// The first of the pair is compared, the second printed.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::*;

    #[test]
    fn numbers_are_printed_by_name_with_their_labels() {
        let registry = Registry::new();
        registry.gauge("calls", "Calls running.", &[]).set(3);
        let refused = |why| registry.counter("refused_total", "Refusals.", &[("reason", why)]);
        refused("busy").add(2);
        refused("a\"b\\c\n").add(1);
        refused("busy").add(1);
        let took = registry.histogram("took_seconds", "Time.", &[("era", "modern")]);
        took.observe(Duration::from_micros(100));
        took.observe(Duration::from_millis(3));
        took.observe(Duration::from_secs(1000));
        expect![[r#"
            # HELP calls Calls running.
            # TYPE calls gauge
            calls 3
            # HELP refused_total Refusals.
            # TYPE refused_total counter
            refused_total{reason="a\"b\\c\n"} 1
            refused_total{reason="busy"} 3
            # HELP took_seconds Time.
            # TYPE took_seconds histogram
            took_seconds_bucket{era="modern",le="0.0001"} 1
            took_seconds_bucket{era="modern",le="0.00025"} 1
            took_seconds_bucket{era="modern",le="0.0005"} 1
            took_seconds_bucket{era="modern",le="0.001"} 1
            took_seconds_bucket{era="modern",le="0.005"} 2
            took_seconds_bucket{era="modern",le="0.01"} 2
            took_seconds_bucket{era="modern",le="0.05"} 2
            took_seconds_bucket{era="modern",le="0.1"} 2
            took_seconds_bucket{era="modern",le="0.5"} 2
            took_seconds_bucket{era="modern",le="1"} 2
            took_seconds_bucket{era="modern",le="5"} 2
            took_seconds_bucket{era="modern",le="30"} 2
            took_seconds_bucket{era="modern",le="300"} 2
            took_seconds_bucket{era="modern",le="+Inf"} 3
            took_seconds_sum{era="modern"} 1000.0031
            took_seconds_count{era="modern"} 3
        "#]]
        .assert_eq(&registry.render());
    }

    #[test]
    fn a_name_of_another_kind_is_never_shown() {
        let registry = Registry::new();
        registry.counter("x", "A counter.", &[]).add(1);
        registry.gauge("x", "A gauge.", &[("a", "b")]).set(9);
        assert!(!registry.render().contains('9'));
    }
}
