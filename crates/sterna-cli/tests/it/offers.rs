use expect_test::expect;
use serde_json::json;
use tempfile::TempDir;

use crate::calls::at;
use crate::command::{command, run};
use crate::server;

#[test]
fn a_list_shows_what_a_server_offers() {
    let ran = at(&server::start(), &["list", "URL"]);
    expect![[r#"
        tool     arguments     about
        echo     text [times]  Says it again
        fail                   Returns an error
        deploy   service       Deploys after asking
        survey                 Asks for everything a form can hold
        confirm                Asks for a yes
        visit                  Sends the user to a page
        write                  Has a model write
        folders                Asks for folders
        sleep                  Never ends

        prompt  arguments  about
        brief   topic      Writes a brief

        resource  name  about

        template     name  about
        note://{id}  note
        exit 0
    "#]]
    .assert_eq(&ran.shown());
}

#[test]
fn prompts_and_resources_ask_too() {
    let url = server::start();
    let ran = at(
        &url,
        &[
            "prompt",
            "URL",
            "brief",
            "topic=terns",
            "--answer",
            "audience=all",
        ],
    );
    assert_eq!(ran.shown(), "user\nBrief about terns for all\nexit 0\n");
    let ran = at(&url, &["read", "URL", "note://7", "--answer", "pin=1234"]);
    assert_eq!(ran.shown(), "note 7 unlocked with 1234\nexit 0\n");
}

#[test]
fn servers_have_names_in_an_mcp_json() {
    let folder = TempDir::new().unwrap();
    let servers = json!({"mcpServers": {"desk": {"type": "http", "url": server::start()}}});
    std::fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let mut call = command();
    call.current_dir(folder.path());
    let ran = run(call.args(["call", "desk", "echo", "text=a"]), "");
    assert_eq!(ran.shown(), "a\nexit 0\n");
    let mut call = command();
    call.current_dir(folder.path());
    let ran = run(call.args(["call", "dask", "echo"]), "");
    expect![[r#"
        error: mcp.json has no server `dask`
         hint: did you mean `desk`? it has desk
        exit 2
    "#]]
    .assert_eq(&ran.shown());
}

#[test]
fn the_doctor_sees_what_clients_of_both_eras_get() {
    let ran = at(&server::start(), &["doctor", "URL"]);
    expect![[r#"
        a modern client
          yes  connects      speaks 2026-07-28
          yes  capabilities  tools, prompts, resources, logging
          yes  caching       server/discover: 60000 ms, private
          yes  caching       tools/list: 60000 ms, private
          yes  caching       prompts/list: 60000 ms, private
          yes  caching       resources/list: 60000 ms, private
          yes  tools         echo, fail, deploy, survey, confirm, visit, write, folders, sleep
          yes  not tried     echo, fail, deploy, survey, confirm, visit, write, folders, sleep (--try calls them)
          yes  strict        mcp-method: refused if it differs
          yes  strict        mcp-name: refused if it differs
          yes  strict        mcp-protocol-version: refused if it differs
        a legacy client
          yes  connects      speaks 2025-11-25
          yes  capabilities  tools, prompts, resources, logging
          yes  tools         echo, fail, deploy, survey, confirm, visit, write, folders, sleep
          yes  not tried     echo, fail, deploy, survey, confirm, visit, write, folders, sleep (--try calls them)
        healthy
        exit 0
    "#]]
    .assert_eq(&ran.shown());
}

#[test]
fn the_doctor_sees_which_tools_ask() {
    let url = server::start();
    let tries = [
        "--try",
        "deploy service=billing",
        "--try",
        "visit",
        "--try",
        "echo text=a",
    ];
    let ran = at(&url, &[&["doctor", "URL"][..], &tries].concat());
    let asks = ran.stdout.lines().filter(|line| line.contains("  asks  "));
    let asks: String = asks.map(|line| format!("{}\n", line.trim())).collect();
    expect![[r#"
        yes  asks          echo: does not ask
        yes  asks          deploy: asks reason (form)
        yes  asks          visit: asks signin (page)
        yes  asks          echo: does not ask
        yes  asks          deploy: asks in the middle: form
        yes  asks          visit: asks in the middle: page
    "#]]
    .assert_eq(&asks);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = at(&url, &["--json", "doctor", "URL", "--try", "nothing"]);
    assert_eq!((ran.code, &ran.json()["ok"]), (1, &json!(false)));
}

#[test]
fn the_doctor_looks_at_stores_without_a_server() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("tasks.db").display().to_string();
    let config = sterna_store_sqlite::Config::default();
    sterna_store_sqlite::SqliteStore::open(&path, config).unwrap();
    let ran = run(command().args(["doctor", "--store", &path]), "");
    expect![[r#"
          yes  store 1       a SQLite file
        healthy
        exit 0
    "#]]
    .assert_eq(&ran.shown());
    // No server listens there, and a password is not shown.
    let gone = "postgres://sterna:hunter2@127.0.0.1:1/tasks";
    let args = ["--json", "doctor", "--store", &path, "--store", gone];
    let ran = run(command().args(args), "");
    let findings = &ran.json()["findings"];
    assert_eq!((ran.code, &findings[1]["ok"]), (1, &json!(false)));
    let seen = findings[1]["seen"].to_string();
    assert!(
        seen.contains("MR0707") && !seen.contains("hunter2"),
        "{seen}"
    );
}
