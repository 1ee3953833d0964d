//! The picture of the demo in the README: a real run, drawn as a terminal.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::shell::workspace_root;

/// File of the picture, below the root.
const PICTURE: &str = "docs/demo.svg";

/// Plays the demo and draws what it prints.
pub(crate) fn run() -> Result<()> {
    let played = Command::new("sh")
        .args(["-c", "cargo run --quiet -- demo 2>&1"])
        .current_dir(workspace_root())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .context("the demo does not start")?;
    let printed = String::from_utf8(played.stdout)?;
    ensure!(played.status.success(), "the demo failed:\n{printed}");
    std::fs::write(workspace_root().join(PICTURE), draw(&printed))?;
    println!("{PICTURE} shows {} lines", printed.lines().count());
    Ok(())
}

fn draw(printed: &str) -> String {
    let command = "$ cargo run --release -- demo";
    let lines: Vec<&str> = std::iter::once(command).chain(printed.lines()).collect();
    let longest = lines.iter().map(|line| line.chars().count()).max();
    let (width, height) = (
        longest.unwrap_or(0) * LETTER / 10 + 2 * MARGIN,
        lines.len() * LINE + 2 * MARGIN,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"13\">\n\
         <title>Output of sterna demo</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#10161d\"/>\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + LINE * (number + 1) - 5;
        let length = line.chars().count() * LETTER / 10;
        if length > 0 {
            let _ = writeln!(
                svg,
                "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"{}\" textLength=\"{length}\" xml:space=\"preserve\">{}</text>",
                colour(line),
                escape(line),
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A line of its own kind has a colour of its own.
fn colour(line: &str) -> &'static str {
    let text = line.trim_start();
    if text.starts_with("killed") || text.starts_with("kill -9") {
        "#ff7b72"
    } else if text.starts_with("yes") || text.starts_with('$') {
        "#7ee787"
    } else if line.starts_with(' ') {
        "#c9d5df"
    } else {
        "#8aa0b4"
    }
}

fn escape(line: &str) -> String {
    let line = line.replace('&', "&amp;");
    line.replace('<', "&lt;").replace('>', "&gt;")
}

/// Height of a line.
const LINE: usize = 18;
/// Width of ten letters.
const LETTER: usize = 78;
const MARGIN: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_text_and_can_hold_anything() {
        let svg = draw("  killed <B> & C\n\n  yes\n");
        assert!(svg.contains(">  killed &lt;B&gt; &amp; C</text>"), "{svg}");
        assert_eq!(svg.matches("<text").count(), 3);
    }
}
