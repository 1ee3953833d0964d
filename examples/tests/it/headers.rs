use std::process::Command;

/// Runs a program and compares what it prints with what its header says.
#[track_caller]
fn check(name: &str, program: &str, source: &str) {
    let printed = Command::new(program).output().unwrap();
    assert!(printed.status.success(), "{printed:?}");
    let printed = String::from_utf8(printed.stdout).unwrap();
    let run = format!("//! $ cargo run --bin {name}\n");
    let (_, header) = source.split_once(&run).expect("how to run it");
    let (promised, _) = header.split_once("//! ```").expect("an end");
    let promised: String = promised
        .lines()
        .map(|line| format!("{}\n", line.trim_start_matches("//! ")))
        .collect();
    assert_eq!(printed, promised, "{name}");
}

macro_rules! examples {
    ($($test:ident: $name:literal),+ $(,)?) => {$(
        #[test]
        fn $test() {
            let source = include_str!(concat!("../../", $name, ".rs"));
            check($name, env!(concat!("CARGO_BIN_EXE_", $name)), source);
        }
    )+};
}

examples! {
    a_user_of_axum_cannot_resume_the_call_of_another: "axum_login",
    a_list_changes_while_the_server_runs: "changing",
    a_busy_instance_sends_its_flow_to_another: "load_shedding",
    a_low_level_handler_keeps_its_own_state: "low_level",
    progress_and_logs_arrive_before_the_result: "progress",
    a_flow_survives_the_deployment_of_another_build: "rolling_upgrade",
    a_client_starts_a_server_and_answers_it_on_its_standard_streams: "stdio",
    a_reader_hears_of_a_change_and_of_the_end: "subscriptions",
    opentelemetry_sees_the_rounds_of_a_flow_as_one_trace: "telemetry",
    a_tool_is_tested_by_a_client_that_crashes_it: "tested",
    a_question_depends_on_the_answer_to_another: "update_work_item",
}
