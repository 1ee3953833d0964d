//! The tables of `docs/hardening.md` are true.

use std::path::PathBuf;

use expect_test::expect_file;
use hardening::{Example, Subject, Tally, connections, examples, lines, memory, requests, schemas};

use crate::program;

/// The official examples, if this machine has them; a run that guards a merge
/// must have them.
fn corpus() -> Option<Vec<Example>> {
    let Some(folder) = std::env::var_os("STERNA_SPEC_DIR") else {
        let what = "set STERNA_SPEC_DIR to the folder with the official schema/ and examples/";
        assert!(std::env::var_os("CI").is_none(), "missing: {what}");
        eprintln!("skipped: {what}");
        return None;
    };
    Some(examples(&PathBuf::from(folder)).unwrap())
}

/// Compares a table with the section of the page that has its name.
#[track_caller]
fn check(section: &str, tally: &Tally) {
    // Read now: the test before may have rewritten its own section.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hardening.md");
    let page = std::fs::read_to_string(path).unwrap();
    let begin = format!("<!-- {section} -->\n");
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let page = format!("{before}{begin}{tally}<!-- end -->{after}");
    expect_file!["../../../../docs/hardening.md"].assert_eq(&page);
}

#[test]
fn whatever_is_posted_gets_a_clean_answer_and_leaves_nothing_behind() {
    let Some(examples) = corpus() else { return };
    let subject = Subject::start(program(), &[]).unwrap();
    let tally = requests::try_all(&subject, &examples).unwrap();
    assert!(tally.tries() > 5000, "{}", tally.tries());
    let before = subject.resident().unwrap();
    requests::try_wrong_types(&subject, &examples).unwrap();
    let after = subject.resident().unwrap();
    assert!(after < before + 4096, "{before} KiB, then {after} KiB");
    check("requests", &tally);
}

#[test]
fn whatever_is_written_to_standard_input_the_next_line_is_answered() {
    let Some(examples) = corpus() else { return };
    let tally = lines::try_all(program(), &examples).unwrap();
    assert!(tally.tries() > 2000, "{}", tally.tries());
    check("lines", &tally);
}

#[test]
fn whoever_holds_us_up_is_cut_off() {
    let subject = Subject::start(program(), &connections::IMPATIENT).unwrap();
    let tally = connections::try_all(&subject).unwrap();
    check("connections", &tally);
    let after = subject.resident().unwrap();
    assert!(after < 128 << 10, "{after} KiB");
}

#[test]
fn memory_is_bounded_whatever_peers_leave_with_us() {
    let subject = Subject::start(program(), &memory::OPTIONS).unwrap();
    let tally = memory::try_all(&subject).unwrap();
    check("memory", &tally);
}

#[test]
fn a_client_spends_a_bounded_time_on_the_schemas_of_a_server() {
    schemas::try_all().unwrap();
}
