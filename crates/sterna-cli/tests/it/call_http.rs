//! Requests to an HTTP API whose routes ask.

use std::io::Write as _;
use std::sync::Arc;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sterna_store::MemoryStore;
use tempfile::{NamedTempFile, TempDir};

use crate::api::Api;
use crate::command::{Ran, command, run};
use crate::running::Running;
use crate::terminal::{CTRL_C, ENTER, User};

/// Runs `sterna call-http` with words in which `URL` is the address of `api`.
#[track_caller]
fn call(api: &Api, words: &[&str]) -> Ran {
    let words = words.iter().map(|word| word.replace("URL", &api.url));
    run(command().arg("call-http").args(words), "")
}

#[track_caller]
fn check(words: &[&str], expected: Expect) {
    let api = Api::start();
    expected.assert_eq(&call(&api, words).shown().replace(&api.url, "URL"));
}

const BIG: &str = r#"{"order": "big"}"#;

#[test]
fn a_route_that_does_not_ask_is_an_ordinary_request() {
    check(
        &["POST", "URL/checkout", r#"{"order": "small"}"#],
        expect![[r#"
            {"order":"small"}
            exit 0
        "#]],
    );
    check(
        &["get", "URL/plain"],
        expect![[r#"
            plain ]0;titletext
            exit 0
        "#]],
    );
    check(
        &["GET", "URL/binary"],
        expect![[r#"
            (3 bytes of application/octet-stream)
            exit 0
        "#]],
    );
}

#[test]
fn questions_are_answered_by_flags() {
    check(
        &["POST", "URL/checkout", BIG, "--answer", "otp=246810"],
        expect![[r#"
            {"order":"big"}
            exit 0
        "#]],
    );
    check(
        &["DELETE", "URL/count", "--answer", "count:=7"],
        expect![[r#"
            7
            exit 0
        "#]],
    );
    let rows = r#"rows:=[{"line":7,"text":"terns"}]"#;
    check(
        &["POST", "URL/merge", "--answer", rows],
        expect![[r#"
            5
            exit 0
        "#]],
    );
}

#[test]
fn a_wrong_answer_is_asked_for_again_and_kept_open() {
    let api = Api::start();
    let words = ["--json", "POST", "URL/checkout", BIG, "--answer", "otp=1"];
    let ran = call(&api, &words);
    assert_eq!(ran.code, 4, "{ran:?}");
    let saved = &ran.json()["http"];
    assert_eq!(saved["rounds"], 2);
    assert!(
        saved["step"]["paused"]["questions"]["otp#2"].is_object(),
        "{saved}"
    );
}

#[test]
fn a_saved_request_goes_on_in_another_process_and_at_another_instance() {
    let store = Arc::new(MemoryStore::new());
    let (first, second) = (Api::with(store.clone()), Api::with(store));
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let path = file.to_str().unwrap();
    let ran = call(&first, &["POST", "URL/checkout?a=1", BIG, "--save", path]);
    let expected = format!(
        "input required: otp\nsaved to {path}\n\
         go on with: sterna resume {path} --answer KEY.FIELD=VALUE\nexit 4\n"
    );
    assert_eq!(ran.shown(), expected);
    let mut resume = command();
    resume.args([
        "resume",
        path,
        "--at",
        &second.url,
        "--answer",
        "otp=246810",
    ]);
    let ran = run(&mut resume, "");
    assert_eq!(ran.shown(), "{\"order\":\"big\"}\nexit 0\n");
    assert!(second.heads()[0].starts_with("POST /checkout?a=1\n"));
    // The round was answered: the state is used up.
    let ran = run(
        command().args(["resume", path, "--answer", "otp=000000"]),
        "",
    );
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("start the request over"), "{ran:?}");
}

#[test]
fn without_a_file_the_request_is_on_stdout_and_resumed_from_stdin() {
    let api = Api::start();
    let paused = call(&api, &["POST", "URL/checkout", BIG]);
    assert_eq!(paused.code, 4);
    assert!(paused.stderr.contains("sterna resume FILE"), "{paused:?}");
    let mut resume = command();
    resume.args(["--json", "resume", "-", "--answer", "otp=246810"]);
    let done = run(&mut resume, &paused.stdout);
    assert_eq!(
        done.json(),
        json!({"status": 200, "body": {"order": "big"}})
    );
}

#[test]
fn a_file_that_is_no_paused_request_says_so() {
    for text in [
        r#"{"http": {}}"#,
        r#"{"http": {"version": 1, "request": {"method": "POST", "url": "http://a"}, "rounds": 1,
            "step": {"paused": {"token": "t", "questions": {"a": 1}}}}}"#,
        r#"{"http": {"version": 9, "request": {"method": "POST", "url": "http://a"}, "rounds": 1,
            "step": {"paused": {"token": "t", "questions": {}}}}}"#,
    ] {
        let ran = run(command().args(["resume", "-"]), text);
        assert_ne!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.stdout, "", "{ran:?}");
    }
}

#[test]
fn declining_is_5_and_the_answer_of_the_server_is_shown() {
    let api = Api::start();
    let ran = call(&api, &["POST", "URL/checkout", BIG, "--decline", "otp"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stdout.contains("problems/unanswered"), "{ran:?}");
}

#[test]
fn an_error_of_the_server_is_3() {
    let ran = call(&Api::start(), &["--json", "POST", "URL/nowhere", "{}"]);
    assert_eq!((ran.code, &ran.json()["status"]), (3, &json!(404)));
}

#[test]
fn a_server_that_asks_for_ever_is_1() {
    let api = Api::start();
    let words = [
        "POST",
        "URL/endless",
        "--max-rounds",
        "1",
        "--accept",
        "again",
    ];
    let ran = call(&api, &words);
    assert_eq!(
        ran.shown(),
        "error: after 1 rounds the server still asks for more\n hint: --max-rounds lets it ask on\nexit 1\n"
    );
}

#[test]
fn a_caller_is_asked_for_and_a_token_names_one() {
    let api = Api::start();
    let words = ["DELETE", "URL/projects", "--answer", "sure=yes"];
    let ran = call(&api, &words);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.stderr.contains("--bearer-file"), "{ran:?}");
    let mut file = NamedTempFile::new().unwrap();
    writeln!(file, "ada").unwrap();
    let path = file.path().to_str().unwrap();
    let ran = call(&api, &[&words[..], &["--bearer-file", path]].concat());
    assert_eq!(ran.json(), json!({"by": "ada", "deleted": true}));
}

#[test]
fn a_token_of_the_environment_does_not_follow_a_saved_request() {
    let api = Api::start();
    let mut call = command();
    call.args(["call-http", "DELETE", &api.at("/projects")]);
    let paused = run(call.env("STERNA_BEARER", "ada"), "");
    assert_eq!(paused.code, 4, "{paused:?}");
    assert!(!paused.stdout.contains("ada"), "{paused:?}");
    let mut resume = command();
    resume.args(["resume", "-", "--answer", "sure=yes"]);
    resume.env("STERNA_BEARER", "ada");
    let ran = run(&mut resume, &paused.stdout);
    assert_eq!(ran.code, 6, "{ran:?}");
    assert!(ran.stderr.contains("MR0610"), "{ran:?}");
    let ran = run(resume.args(["--credentials-for", &api.url]), &paused.stdout);
    assert_eq!(ran.json(), json!({"by": "ada", "deleted": true}));
}

#[test]
fn a_flag_takes_no_secret() {
    let api = Api::start();
    let field = "Authorization: Bearer ada";
    let ran = call(&api, &["GET", "URL/plain", "-H", field]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(!ran.stderr.contains("ada"), "{ran:?}");
    let ran = call(&api, &["GET", &api.at("/plain").replace("//", "//ada:b@")]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(api.heads().is_empty());
}

#[test]
fn header_fields_are_sent_in_every_round() {
    let api = Api::start();
    let words = ["POST", "URL/checkout", BIG, "--answer", "otp=246810"];
    let fields = ["-H", "Accept-Language: de", "-H", "X-Trace: 1"];
    assert_eq!(call(&api, &[&words[..], &fields].concat()).code, 0);
    let heads = api.heads();
    assert_eq!(heads.len(), 2);
    for head in heads {
        assert!(head.contains("accept-language: de\nx-trace: 1\n"), "{head}");
        assert!(head.contains("content-type: application/json\n"), "{head}");
    }
}

#[test]
fn a_post_has_an_idempotency_key_of_its_own_and_others_have_none() {
    let api = Api::start();
    let small = r#"{"order": "small"}"#;
    let keys = |api: &Api| -> Vec<Option<String>> {
        let key = |head: &String| {
            let line = head
                .lines()
                .find(|line| line.starts_with("idempotency-key"));
            line.map(str::to_owned)
        };
        api.heads().iter().map(key).collect()
    };
    call(&api, &["POST", "URL/checkout", small]);
    call(&api, &["POST", "URL/checkout", small]);
    call(&api, &["GET", "URL/plain"]);
    let found = keys(&api);
    assert!(found[0].is_some() && found[0] != found[1], "{found:?}");
    assert_eq!(found[2], None);
    let words = ["POST", "URL/checkout", small, "--idempotency-key", "k1"];
    let (first, second) = (call(&api, &words), call(&api, &words));
    assert_eq!(first.shown(), second.shown());
    assert_eq!(keys(&api)[3].as_deref(), Some("idempotency-key: \"k1\""));
    // The same key for another request is refused by the server.
    let ran = call(
        &api,
        &["POST", "URL/checkout", BIG, "--idempotency-key", "k1"],
    );
    assert_eq!(ran.code, 3, "{ran:?}");
}

#[test]
fn a_request_that_is_being_served_is_waited_for() {
    let api = Api::start();
    let words = ["URL/slow", "{}", "--idempotency-key", "k1"];
    let slow: Vec<_> = words.map(|word| word.replace("URL", &api.url)).to_vec();
    let first = std::thread::spawn({
        let slow = slow.clone();
        move || run(command().args(["call-http", "POST"]).args(slow), "")
    });
    let second = run(command().args(["call-http", "POST"]).args(slow), "");
    assert_eq!(second.shown(), "done at last\nexit 0\n");
    assert_eq!(first.join().unwrap().shown(), second.shown());
}

#[test]
fn a_redirect_is_followed_to_the_same_server_only() {
    let api = Api::start();
    let mut words = vec!["POST", "URL/moved", BIG, "--answer", "otp=246810"];
    let ran = call(&api, &words);
    assert_eq!(ran.shown(), "{\"order\":\"big\"}\nexit 0\n");
    words[1] = "URL/away";
    let ran = call(&api, &words[..3]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr
            .contains("redirects to `http://localhost:1/stolen`"),
        "{ran:?}"
    );
    words[1] = "URL/seen";
    assert_eq!(call(&api, &words[..3]).code, 1);
}

#[test]
fn a_response_that_is_too_large_is_not_read() {
    let ran = call(&Api::start(), &["GET", "URL/large"]);
    assert_eq!(
        ran.shown(),
        "error: the response is larger than 16 MiB, and no more is read\nexit 1\n"
    );
}

#[test]
fn texts_of_a_server_do_not_reach_the_terminal_as_they_came() {
    let api = Api::start();
    let ran = call(&api, &["-v", "POST", "URL/hostile"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    for each in ['\u{7}', '\u{202e}'] {
        assert!(!ran.shown().contains(each), "{ran:?}");
    }
    assert!(!ran.shown().contains("\u{1b}]"), "{ran:?}");
    let shown = User::runs(&["call-http", "POST", &api.at("/hostile")]).sees_and_stops("JSON:");
    assert!(!shown.contains("\u{1b}]0;"), "{shown:?}");
    assert!(!shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn a_question_that_cannot_be_asked_ends_the_call() {
    let ran = call(&Api::start(), &["POST", "URL/broken"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("`a` has no message, or no schema"),
        "{ran:?}"
    );
}

#[test]
fn a_trace_shows_no_state_no_token_and_no_code() {
    let api = Api::start();
    let mut call = command();
    call.args([
        "-v",
        "call-http",
        "POST",
        &api.at("/checkout?key=hidden-key"),
        BIG,
    ]);
    call.args(["--answer", "otp=246810"])
        .env("STERNA_BEARER", "ada-lovelace");
    let ran = run(&mut call, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("--> POST"), "{ran:?}");
    assert!(ran.stderr.contains("<-- HTTP 428"), "{ran:?}");
    for secret in ["s1.", "ada-lovelace", "246810", "hidden-key"] {
        assert!(!ran.stderr.contains(secret), "{secret}: {}", ran.stderr);
    }
}

#[test]
fn mistakes_are_2_and_nothing_is_sent() {
    let api = Api::start();
    for words in [
        &["POST", "nowhere"][..],
        &["POST", "ftp://a/b"],
        &["P OST", "URL/plain"],
        &["POST", "URL/plain", "@/nonexistent"],
        &["POST", "URL/plain", "{}", "-H", "no colon"],
        &["POST", "URL/plain", "{}", "-H", "Host: other"],
        &["POST", "URL/plain", r#"{"resume": {}}"#],
    ] {
        let ran = call(&api, words);
        let expected = if words.contains(&"@/nonexistent") {
            1
        } else {
            2
        };
        assert_eq!(ran.code, expected, "{words:?}: {ran:?}");
    }
    assert!(api.heads().is_empty());
}

#[test]
fn no_server_is_7_and_a_silent_one_124() {
    let ran = run(
        command().args(["call-http", "POST", "http://127.0.0.1:1/a"]),
        "",
    );
    assert_eq!(ran.code, 7, "{ran:?}");
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a", silent.local_addr().unwrap());
    let mut call = command();
    call.args(["call-http", "POST", &url, "--timeout", "300ms"]);
    let ran = run(call.args(["--idempotency-key", "k1"]), "");
    assert_eq!(ran.code, 124, "{ran:?}");
    assert!(ran.stderr.contains("--idempotency-key k1"), "{ran:?}");
}

#[test]
fn an_interrupt_abandons_the_request() {
    let api = Api::start();
    let url = api.at("/slow");
    let running = Running::until(&["-v", "call-http", "POST", &url], "--> POST");
    let (code, words) = running.interrupt();
    assert_eq!(code, Some(5), "{words}");
    assert!(
        words.contains("interrupted; the request was abandoned"),
        "{words}"
    );
}

#[test]
fn a_form_is_filled_in_on_the_terminal() {
    let api = Api::start();
    User::runs(&["call-http", "POST", &api.at("/checkout"), BIG])
        .sees("asks, for POST /checkout (otp)")
        .sees("Which code did we send?")
        .sees("code:")
        .types("111111")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("(otp#2)")
        .sees("code:")
        .types("246810")
        .types(ENTER)
        .sees("Send this?")
        .types(ENTER)
        .sees("{\"order\":\"big\"}")
        .ends_with(0);
}

#[test]
fn json_is_typed_on_the_terminal_with_its_schema_and_data_in_sight() {
    let api = Api::start();
    User::runs(&["call-http", "POST", &api.at("/merge")])
        .sees("Which text is right?")
        .sees("terns?")
        .sees("The answer is JSON of this schema:")
        .sees("\"line\"")
        .sees("JSON:")
        .types("[{")
        .types(ENTER)
        .sees("it is not JSON")
        .types("\u{7f}\u{7f}[7]")
        .types(ENTER)
        .sees("The last answer was not accepted")
        .sees("JSON:")
        .types(r#"[{"line":7,"text":"terns"}]"#)
        .types(ENTER)
        .sees("5")
        .ends_with(0);
}

#[test]
fn a_user_who_stops_keeps_the_request() {
    let api = Api::start();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    let path = file.to_str().unwrap();
    User::runs(&[
        "call-http",
        "POST",
        &api.at("/checkout"),
        BIG,
        "--save",
        path,
    ])
    .sees("code:")
    .types(CTRL_C)
    .sees("you stopped the call; nothing more was sent")
    .ends_with(5);
    let saved: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(saved["http"]["rounds"], 1);
    let mut resume = command();
    let ran = run(resume.args(["resume", path, "--answer", "otp=246810"]), "");
    assert_eq!(ran.code, 0, "{ran:?}");
}
