//! Columns for people.

use std::fmt::Write as _;

use crate::text::{Text, one_line};

/// Rows under a heading, each column as wide as it needs.
#[derive(Debug)]
pub(crate) struct Table {
    indent: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|&name| name.to_owned()).collect();
        Self {
            indent: 0,
            rows: vec![heading],
        }
    }

    /// Moves every line `columns` to the right.
    pub(crate) fn indented(mut self, columns: usize) -> Self {
        self.indent = columns;
        self
    }

    /// Adds a row. What a server says may hold line ends and control
    /// characters; in a cell they would break the table or the terminal.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell.into()));
        self.rows.push(cells.collect());
    }
}

impl Table {
    /// The rows as lines.
    pub(crate) fn to_text(&self) -> Text {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = Text::default();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = " ".repeat(self.indent);
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "{cell:<width$}  ").expect("a string takes what is written");
            }
            let line = line.trim_end();
            text += match at {
                0 => Text::bold(line),
                _ => Text::from(line),
            };
            text += "\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_cell_can_break_them() {
        let mut table = Table::new(&["name", "about"]);
        table.row(["a", "first\nsecond"]);
        table.row(["longer", "\u{1b}[31m\u{202e}red"]);
        let shown = table
            .to_text()
            .as_str()
            .replace("\u{1b}[1m", "")
            .replace("\u{1b}[0m", "");
        assert_eq!(
            shown,
            "name    about\na       first second\nlonger  [31mred\n"
        );
    }
}
