//! The results of a comparison, as Markdown.

use super::counters::Counted;
use super::engine::Engine;
use super::load::{Kind, Load, Loaded};

/// One engine under one load.
pub(super) struct Row {
    engine: String,
    load: Load,
    /// Tasks per second of each round.
    rates: Vec<f64>,
    /// Times of all tasks.
    millis: Vec<f64>,
    /// `None` without a database.
    counted: Option<Counted>,
}

impl Row {
    pub(super) fn new(engine: &Engine, load: Load) -> Self {
        Self {
            engine: engine.name.clone(),
            load,
            rates: Vec::new(),
            millis: Vec::new(),
            counted: None,
        }
    }

    /// Adds a round.
    pub(super) fn add(&mut self, loaded: Loaded, counted: Option<Counted>) {
        self.rates.push(count(loaded.millis.len()) / loaded.seconds);
        self.millis.extend(loaded.millis);
        self.rates.sort_by(f64::total_cmp);
        self.millis.sort_by(f64::total_cmp);
        let Some(counted) = counted else {
            return;
        };
        let none = || Counted {
            statements: counted.statements.map(|_| 0),
            transactions: 0,
        };
        let sum = self.counted.get_or_insert_with(none);
        sum.transactions += counted.transactions;
        sum.statements = sum
            .statements
            .zip(counted.statements)
            .map(|(sum, more)| sum + more);
    }

    /// The time that `share` of the tasks did not exceed.
    fn quantile(&self, share: f64) -> String {
        let index = (count(self.millis.len()) * share).ceil().max(1.0);
        let found = self
            .millis
            .iter()
            .zip(1_u32..)
            .find(|(_, number)| f64::from(*number) >= index);
        found.map_or_else(|| "–".to_owned(), |(millis, _)| format!("{millis:.1}"))
    }

    fn per_task(&self, counted: Option<i64>) -> String {
        let Some(counted) = counted else {
            return "–".to_owned();
        };
        let counted = count(usize::try_from(counted).unwrap_or_default());
        format!("{:.1}", counted / count(self.millis.len()).max(1.0))
    }
}

/// Prints one table for each kind of load.
pub(super) fn print(rows: &[Row], rounds: u32) {
    println!("\nOne-step tasks per second, median (best) of {rounds}, interleaved:\n");
    println!(
        "| engine | callers | tasks/s | p50 ms | p99 ms | statements per task | writing transactions per task |"
    );
    println!("|---|---|---|---|---|---|---|");
    for row in rows.iter().filter(|row| row.load.kind == Kind::Step) {
        let (median, best) = (row.rates.get(row.rates.len() / 2), row.rates.last());
        println!(
            "| {} | {} | {:.0} ({:.0}) | {} | {} | {} | {} |",
            row.engine,
            row.load.callers,
            median.copied().unwrap_or_default(),
            best.copied().unwrap_or_default(),
            row.quantile(0.5),
            row.quantile(0.99),
            row.per_task(row.counted.and_then(|counted| counted.statements)),
            row.per_task(row.counted.map(|counted| counted.transactions)),
        );
    }
    println!("\nFrom an answer until the handler continues:\n");
    println!("| engine | callers | p50 ms | p99 ms |");
    println!("|---|---|---|---|");
    for row in rows.iter().filter(|row| row.load.kind == Kind::Ask) {
        let (p50, p99) = (row.quantile(0.5), row.quantile(0.99));
        println!("| {} | {} | {p50} | {p99} |", row.engine, row.load.callers);
    }
}

fn count(length: usize) -> f64 {
    f64::from(u32::try_from(length).unwrap_or(u32::MAX))
}
