//! Columns for people.

use std::fmt::Write as _;

use crate::screen::BOLD;

/// Rows under a heading, each column as wide as it needs.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(heading: &[&str]) -> Self {
        let heading = heading.iter().map(|&name| name.to_owned()).collect();
        Self {
            rows: vec![heading],
        }
    }

    /// Adds a row. What a server says may hold line ends and control
    /// characters; in a cell they would break the table or the terminal.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let cells = cells.into_iter().map(|cell| one_line(&cell.into()));
        self.rows.push(cells.collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                write!(line, "{cell:<width$}  ")?;
            }
            let line = line.trim_end();
            if at == 0 {
                writeln!(f, "{BOLD}{line}{BOLD:#}")?;
            } else {
                writeln!(f, "{line}")?;
            }
        }
        Ok(())
    }
}

/// `text` on one line, without what a terminal would obey.
pub(crate) fn one_line(text: &str) -> String {
    text.split(|character: char| character.is_control() || character.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// `text` without what a terminal would obey, line ends and tabs kept.
pub(crate) fn plain(text: &str) -> String {
    let keep = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    text.chars().filter(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_no_cell_can_break_them() {
        let mut table = Table::new(&["name", "about"]);
        table.row(["a", "first\nsecond"]);
        table.row(["longer", "\u{1b}[31mred"]);
        let shown = table
            .to_string()
            .replace("\u{1b}[1m", "")
            .replace("\u{1b}[0m", "");
        assert_eq!(
            shown,
            "name    about\na       first second\nlonger  [31mred\n"
        );
    }
}
