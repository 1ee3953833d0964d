//! Lines of the servers: the table of `docs/guide/comparison.md`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::SDKS;
use super::cases::SERVERS;
use crate::shell::workspace_root;

const PAGE: &str = "docs/guide/comparison.md";
const BEGIN: &str = "<!-- lines: cargo xtask lines -->\n";
const END: &str = "<!-- end of lines -->\n";

/// Writes the table into the page.
pub(crate) fn update() -> Result<()> {
    let root = workspace_root();
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path)?;
    let (before, rest) = page.split_once(BEGIN).context("the page has no table")?;
    let (_, after) = rest.split_once(END).context("the table has no end")?;
    let table = table(&root)?;
    print!("{table}");
    std::fs::write(path, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?;
    Ok(())
}

fn table(root: &Path) -> Result<String> {
    let mut table = "| server |".to_owned();
    for (_, name, _) in SDKS {
        let _ = write!(table, " {name} |");
    }
    table.push_str("\n|---|");
    table.push_str(&"---|".repeat(SDKS.len()));
    for server in SERVERS {
        let _ = write!(table, "\n| {server} |");
        for (folder, _, ending) in SDKS {
            let file = format!("examples/compare/{folder}/{server}.{ending}");
            let path = root.join(&file);
            match path.exists() {
                true => {
                    let text = std::fs::read_to_string(path)?;
                    let _ = write!(table, " [{}](../../{file}) |", lines(&text));
                }
                false => table.push_str(" – |"),
            }
        }
    }
    table.push('\n');
    Ok(table)
}

/// Lines that are neither empty nor a comment.
fn lines(text: &str) -> usize {
    let lines = text.lines().map(str::trim);
    let is_code = |line: &&str| {
        // A doc comment of a tool is its description: it counts.
        let is_comment = ["// ", "//! ", "# "]
            .iter()
            .any(|mark| line.starts_with(mark));
        !line.is_empty() && !is_comment
    };
    lines.filter(is_code).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_page_has_the_lines_of_the_programs() {
        let root = workspace_root();
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
        let table = table(&root).unwrap();
        assert!(page.contains(&table), "run cargo xtask lines:\n{table}");
    }

    /// A reader who comes from there sees what is called here.
    #[test]
    fn programs_on_the_pages_are_those_that_run() {
        let root = workspace_root();
        for (page, language, folder) in [
            ("from-fastmcp", "python", "fastmcp"),
            ("from-fastmcp", "rust,no_run", "sterna"),
            ("from-typescript", "js", "typescript"),
            ("from-typescript", "rust,no_run", "sterna"),
        ] {
            let text = root.join(format!("docs/guide/{page}.md"));
            let text = std::fs::read_to_string(text).unwrap();
            let folder = root.join("examples/compare").join(folder);
            let programs = std::fs::read_dir(folder).unwrap();
            let programs: Vec<String> = programs
                .filter_map(|program| std::fs::read_to_string(program.unwrap().path()).ok())
                .collect();
            let fence = format!("```{language}\n");
            let blocks = text.split(&fence).skip(1);
            let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
            assert!(!blocks.is_empty(), "{page}");
            for block in blocks {
                let is_program = programs.iter().any(|program| program == block);
                assert!(is_program, "{page}.md: no program is\n{block}");
            }
        }
    }

    #[test]
    fn descriptions_count_and_other_comments_do_not() {
        assert_eq!(lines("//! X\n/// A\n// b\n\nfn a() {\n}\n"), 3);
    }
}
