//! The pages a newcomer reads.

mod page;

use page::{Task, tasks};

use crate::command::sterna;

const README: &str = include_str!("../../../../../README.md");

#[test]
fn the_first_command_of_the_readme_is_the_demo() {
    let page = tasks(README, Some("See it"));
    let [Task::Command(line)] = &page[..] else {
        panic!("{page:?}");
    };
    let shown = line.strip_prefix("cargo run --release -- ").unwrap();
    // The workspace has one binary to run, and it is this one.
    let workspace = include_str!("../../../../../Cargo.toml");
    assert!(workspace.contains("default-members = [\"crates/sterna-cli\"]"));
    assert_eq!(sterna(&format!("-q {shown}")).code, 0);
}
