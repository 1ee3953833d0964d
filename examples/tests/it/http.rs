//! The HTTP examples, with curl and in processes of their own.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sterna_seal::{Keyring, ThreadEntropy};

const GUIDE: &str = include_str!("../../../docs/http.md");

/// Runs `script` with bash where the examples are commands, and returns what it
/// prints. Its servers end with it.
#[track_caller]
pub(crate) fn bash(folder: &Path, script: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_checkout")).parent().unwrap();
    let mut child = Command::new("bash")
        .arg("-s")
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let programs = programs.display();
    write!(stdin, "PATH={programs}:$PATH\n{PREAMBLE}\n{script}\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    printed
}

/// Jobs have numbers, as in a terminal, and curl waits for a server that starts.
const PREAMBLE: &str = r#"
set -eum
trap 'kill -9 $(jobs -p) 2>/dev/null || true' EXIT
curl() { command curl --retry 300 --retry-connrefused --retry-delay 1 --max-time 60 "$@"; }
"#;

/// Ports that are free, in place of those of the guide.
pub(crate) fn with_free_ports(text: &str) -> String {
    let written = ["8090", "8091", "8092"];
    let listeners = written.map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = listeners.map(|listener| listener.local_addr().unwrap().port().to_string());
    // In two steps: one port may have the digits of another in it.
    let marks = ["<first>", "<second>", "<third>"];
    let marked = written.iter().zip(marks);
    let marked = marked.fold(text.to_owned(), |text, (port, mark)| {
        text.replace(port, mark)
    });
    let replaced = marks.iter().zip(&ports);
    replaced.fold(marked, |text, (mark, port)| text.replace(mark, port))
}

/// A folder with the keys that instances share.
pub(crate) fn folder_with_keys() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let keys = Keyring::generate(&mut ThreadEntropy).unwrap();
    std::fs::write(path.join("keys.toml"), keys.to_toml().as_str()).unwrap();
    (folder, path)
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let (_folder, path) = folder_with_keys();
    let blocks = GUIDE.split("```").skip(1).step_by(2);
    let commands: Vec<&str> = blocks
        .filter_map(|block| block.strip_prefix("sh\n"))
        .collect();
    assert_eq!(commands.len(), 11);
    // `docs/getting-started.md` and its test make keys; here they are made already.
    let script = commands
        .concat()
        .replacen("sterna keys new keys.toml\n", "", 1);
    let printed = bash(&path, &with_free_ports(&script));
    let mut lines = printed
        .lines()
        .filter(|line| !line.starts_with("listening on"));
    let text: String = lines.by_ref().collect::<Vec<_>>().join("\n");
    assert!(text.contains("428"), "{text}");
    for promised in [
        "{\"order\":\"big\",\"paid\":900,\"by\":\"ada\"}",
        "{\"big\":{\"codes_sent\":1,\"codes_checked\":1,\"charges\":1}",
    ] {
        assert!(GUIDE.contains(promised), "{promised}");
        assert!(text.contains(promised), "{text}");
    }
    for promised in [
        "\"loaded\":10000",
        "HTTP/1.1 202 Accepted",
        "HTTP/1.1 304 Not Modified",
    ] {
        assert!(GUIDE.contains(promised), "{promised}");
        assert!(text.contains(promised), "{text}");
    }
    let small = "{\"order\":\"small\",\"paid\":20,\"by\":\"ada\"}";
    assert_eq!(text.matches(small).count(), 2, "{text}");
}

#[test]
fn two_equal_first_requests_on_two_instances_send_one_code_and_charge_once() {
    let (_folder, path) = folder_with_keys();
    let script = r#"
checkout --listen 127.0.0.1:8090 --key-file keys.toml --store shop.db > /dev/null &
checkout --listen 127.0.0.1:8091 --key-file keys.toml --store shop.db > /dev/null &
curl -s http://127.0.0.1:8090/report http://127.0.0.1:8091/report > /dev/null
# While the first of two equal requests is served, the other may be told to come again.
post() {
    local status=409
    while [ $status = 409 ]; do
        status=$(curl -s -o "$3" -w '%{http_code}' -H 'Authorization: Bearer ada' -H 'Content-Type: application/json' -H 'Idempotency-Key: "one"' -d "$2" "http://127.0.0.1:$1/checkout")
    done
    echo $status >> "$3.status"
}
both() {
    post 8090 "$1" "$2.first" & first=$!
    post 8091 "$1" "$2.second" & second=$!
    wait $first $second
    cmp "$2.first" "$2.second"
    cat "$2.first.status" "$2.second.status"
}
both '{"order": "big"}' paused
token=$(sed -n 's/.*"resume":"\([^"]*\)".*/\1/p' paused.first)
both '{"order": "big", "resume": {"token": "'$token'", "answers": {"otp": {"code": "246810"}}}}' paid
cat paid.first
echo
curl -s http://127.0.0.1:8091/report
"#;
    let printed = bash(&path, &with_free_ports(script));
    let (before, report) = printed.rsplit_once('\n').unwrap();
    assert_eq!(
        before,
        "428\n428\n200\n200\n{\"order\":\"big\",\"paid\":900,\"by\":\"ada\"}"
    );
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["big"]["codes_sent"], 1);
    assert_eq!(report["big"]["codes_checked"], 1);
    assert_eq!(report["big"]["charges"], 1);
}

#[test]
fn of_fifty_guesses_on_two_instances_at_most_five_are_looked_at() {
    let (_folder, path) = folder_with_keys();
    let script = r#"
checkout --listen 127.0.0.1:8090 --key-file keys.toml --store shop.db > /dev/null &
checkout --listen 127.0.0.1:8091 --key-file keys.toml --store shop.db > /dev/null &
post() { curl -s -H 'Authorization: Bearer ada' -H 'Content-Type: application/json' -H "Idempotency-Key: $3" -d "$2" "http://127.0.0.1:$1/checkout"; }
first=$(post 8090 '{"order": "big"}' one)
again=$(post 8091 '{"order": "big"}' one)
[ "$first" = "$again" ] && echo equal
token=$(sed -n 's/.*"resume":"\([^"]*\)".*/\1/p' <<< "$first")
guesses=()
for guess in $(seq 100001 100050); do
    port=$((guess % 2 == 0 ? 8090 : 8091))
    post $port '{"order": "big", "resume": {"token": "'$token'", "answers": {"otp": {"code": "'$guess'"}}}}' "" > /dev/null &
    guesses+=($!)
done
wait "${guesses[@]}"
curl -s http://127.0.0.1:8090/report
"#;
    let printed = bash(&path, &with_free_ports(script));
    let (equal, report) = printed.split_once('\n').unwrap();
    assert_eq!(equal, "equal");
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    assert_eq!(report["big"]["codes_sent"], 1);
    assert_eq!(report["big"]["codes_checked"], 1);
    assert_eq!(report["big"]["charges"], 0);
}

#[test]
fn a_deletion_is_confirmed_for_what_it_is_about() {
    let (_folder, path) = folder_with_keys();
    let script = r#"
deletion --listen 127.0.0.1:8090 --key-file keys.toml --store memory > /dev/null &
project() { curl -s -H 'Authorization: Bearer ada' "$@"; }
remove() { project -X DELETE "$@" http://127.0.0.1:8090/projects/apollo; }
token() { sed -n 's/.*"resume":"\([^"]*\)".*/\1/p'; }
yes() { remove -H 'Content-Type: application/json' -d '{"resume": {"token": "'$1'", "answers": {"'$2'": true}}}'; }
project -X PUT http://127.0.0.1:8090/projects/apollo/a
first=$(remove | token)
project -X PUT http://127.0.0.1:8090/projects/apollo/b
second=$(yes $first sure)
key=$(sed -n 's/.*"questions":{"\([^"]*\)".*/\1/p' <<< "$second")
sed -n 's/.*"detail":"\([^"]*\)".*/\1/p' <<< "$second"
yes $(token <<< "$second") "$key"
"#;
    let printed = bash(&path, &with_free_ports(script));
    // The yes was to one file, and there were two.
    assert_eq!(
        printed,
        "Delete apollo with 2 files?\n{\"deleted\":\"apollo\",\"files\":2}"
    );
}

#[test]
fn a_person_resolves_the_lines_in_conflict() {
    let (_folder, path) = folder_with_keys();
    let script = r#"
documents --listen 127.0.0.1:8090 --key-file keys.toml --store memory > /dev/null &
merge() { curl -s -H 'Authorization: Bearer ada' -H 'Content-Type: application/json' -d "$1" http://127.0.0.1:8090/merge; }
paused=$(merge '{"ours": "a\nb\nc", "theirs": "a\nB\nc"}')
sed -n 's/.*"data":\(\[[^]]*\]\).*/\1/p' <<< "$paused"
token=$(sed -n 's/.*"resume":"\([^"]*\)".*/\1/p' <<< "$paused")
merge '{"ours": "a\nb\nc", "theirs": "a\nB\nc", "resume": {"token": "'$token'", "answers": {"resolve": {"lines": {"1": "both"}}}}}'
"#;
    let printed = bash(&path, &with_free_ports(script));
    let asked = "[{\"line\":1,\"ours\":\"b\",\"theirs\":\"B\"}]\n";
    let merged = "{\"text\":\"a\\nboth\\nc\",\"conflicts\":1}";
    assert_eq!(printed, format!("{asked}{merged}"));
}
