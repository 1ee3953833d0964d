//! The result, for a person: one row per case, one column per SDK and era.

use super::Role;
use super::cases::Case;
use super::pair::{Cell, Pair};

pub(super) struct Table {
    rows: Vec<String>,
    columns: Vec<Column>,
}

struct Column {
    head: String,
    cells: Vec<&'static str>,
    /// Explanations of what is not simply right, to be printed below.
    notes: Vec<String>,
    failures: usize,
}

impl Table {
    pub(super) fn new(cases: &[Case]) -> Self {
        Self {
            rows: cases.iter().map(|case| case.id.clone()).collect(),
            columns: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, pair: &Pair<'_>, cells: &[Cell]) {
        let head = format!("{} {}", pair.peer.name, pair.era.word());
        let mut column = Column {
            cells: Vec::new(),
            notes: Vec::new(),
            failures: 0,
            head,
        };
        for (row, cell) in self.rows.iter().zip(cells) {
            let place = format!("{}, {row}", column.head);
            column.cells.push(match cell {
                Cell::Right => "ok",
                Cell::Differs(why) => {
                    column
                        .notes
                        .push(format!("{place}: {why} (docs/interop.md)"));
                    "differs"
                }
                Cell::Wrong(complaint) => {
                    column.notes.push(format!("{place}: {complaint}"));
                    column.failures += 1;
                    "FAILED"
                }
            });
        }
        self.columns.push(column);
    }

    pub(super) fn failures(&self) -> usize {
        self.columns.iter().map(|column| column.failures).sum()
    }

    pub(super) fn print(&self, role: Role) {
        println!("\n{}", role.title());
        let width = self.rows.iter().map(String::len).max().unwrap_or(0);
        print!("{:width$}", "");
        for column in &self.columns {
            print!("  {}", column.head);
        }
        println!();
        for (number, row) in self.rows.iter().enumerate() {
            print!("{row:width$}");
            for column in &self.columns {
                print!("  {:head$}", column.cells[number], head = column.head.len());
            }
            println!();
        }
        for note in self.columns.iter().flat_map(|column| &column.notes) {
            println!("\n{note}");
        }
    }
}
