//! The import, in processes of its own that are killed.

use serde_json::Value;

use crate::http::{bash, folder_with_keys, with_free_ports};

#[test]
fn an_import_is_reviewed_and_goes_on_elsewhere_after_kill_9_with_each_row_loaded_once() {
    let (_folder, path) = folder_with_keys();
    let script = r#"
serve() { exec import --listen "127.0.0.1:$1" --key-file keys.toml --store crm.db > /dev/null; }
ask() { curl -s -H 'Authorization: Bearer ada' -H 'Content-Type: application/json' "$@"; }
until_shows() { for _ in $(seq 600); do ask "$1" > shown; grep -q "$2" shown && return; sleep 0.1; done; cat shown; exit 1; }

serve 8090 & asking=$!
ask -d '{"list": "customers"}' http://127.0.0.1:8090/imports > paused
echo "status $(sed -n 's/.*"status":\([0-9]*\).*/\1/p' paused)"
echo "questions $(grep -o '"message":' paused | wc -l)"
echo "doubtful $(grep -o '"line":' paused | wc -l)"
kill -9 $asking

serve 8091 & resuming=$!
token=$(sed -n 's/.*"resume":"\([^"]*\)".*/\1/p' paused)
answers='{"review": {"mails": {"332": "customer332@example.org"}}}'
ask -D head -d '{"list": "customers", "resume": {"token": "'$token'", "answers": '"$answers"'}}' http://127.0.0.1:8091/imports > accepted
echo "accepted $(sed -n 's/^HTTP[^ ]* \([0-9]*\).*/\1/p' head)"
operation=$(sed -n 's/^[Ll]ocation: \(.*\)\r$/\1/p' head)
until_shows "http://127.0.0.1:8091$operation" '"done":[1-9][0-9][0-9][0-9]'
echo "progress $(sed -n 's/.*"done":\([0-9]*\).*/\1/p' shown)"
kill -9 $resuming

serve 8090 & finishing=$!
until_shows "http://127.0.0.1:8090$operation" '"status":"completed"'
echo "result $(sed -n 's/.*"body":\({[^}]*}\).*/\1/p' shown)"
echo "report $(ask http://127.0.0.1:8090/report)"
echo "peak $(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$finishing/status)"
kill -TERM $finishing
wait $finishing
echo "stopped $?"
echo "seconds $SECONDS"
"#;
    let printed = bash(&path, &with_free_ports(script));
    let value = |name: &str| {
        let mut lines = printed.lines();
        let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {printed}"))
    };
    assert_eq!(value("status"), "428");
    assert_eq!(value("questions"), "1");
    assert_eq!(value("doubtful"), "30");
    assert_eq!(value("accepted"), "202");
    let progress: u32 = value("progress").parse().unwrap();
    assert!((1000..10_000).contains(&progress), "{progress}");
    let result: Value = serde_json::from_str(value("result")).unwrap();
    assert_eq!(result["loaded"], 10_000);
    assert_eq!(result["corrected"], 1);
    let report: Value = serde_json::from_str(value("report")).unwrap();
    assert_eq!(report["never"], 0);
    assert_eq!(report["once"], 10_000);
    assert_eq!(report["more"], 0);
    let peak: u32 = value("peak").parse().unwrap();
    assert!(peak < 200 * 1024, "{peak} KiB");
    assert_eq!(value("stopped"), "0");
    let seconds: u32 = value("seconds").parse().unwrap();
    assert!(seconds < 120, "{seconds}");
}
