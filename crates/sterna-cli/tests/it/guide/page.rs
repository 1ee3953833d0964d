//! Instructions on a page.

/// One thing to do, in the order of the page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A line to type.
    Command(String),
    /// A file to write: a block under a line that names it.
    File { name: String, text: String },
}

/// The tasks of a page, or of the part of it under `heading`.
pub(super) fn tasks(page: &str, heading: Option<&str>) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut is_here = heading.is_none();
    let mut named = None;
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let (Some(title), Some(heading)) = (line.strip_prefix("## "), heading) {
            is_here = title == heading;
        } else if let Some(language) = line.strip_prefix("```") {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match (named.take(), language) {
                _ if !is_here => {}
                (Some(name), _) => tasks.push(Task::File {
                    name,
                    text: block.join("\n") + "\n",
                }),
                (None, "console") => {
                    tasks.extend(block.iter().map(|line| Task::Command((*line).to_owned())));
                }
                // The program of another SDK, beside ours.
                (None, "python") => {}
                (None, _) => panic!("a block of {language:?} that the test cannot run"),
            }
        } else if !line.is_empty() {
            named = file_name(line);
        }
    }
    tasks
}

/// The file that a line such as "`src/main.rs`:" names.
fn file_name(line: &str) -> Option<String> {
    let name = line.strip_prefix('`')?.strip_suffix("`:")?;
    (!name.contains('`')).then(|| name.to_owned())
}

#[test]
fn a_page_is_a_list_of_things_to_do() {
    let page = "# A\n\n## One\n\n```console\na\nb\n```\n\n## Two\n\n`x.rs`:\n\n```rust\nx\n```\n";
    let command = |line: &str| Task::Command(line.to_owned());
    let file = Task::File {
        name: "x.rs".to_owned(),
        text: "x\n".to_owned(),
    };
    assert_eq!(tasks(page, Some("One")), [command("a"), command("b")]);
    assert_eq!(tasks(page, None), [command("a"), command("b"), file]);
}
