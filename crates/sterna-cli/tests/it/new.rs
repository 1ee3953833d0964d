//! `sterna new`, and the newcomer who follows what it says.

use expect_test::expect;
use tempfile::TempDir;

use crate::command::{command, run};
use crate::project::{Project, workspace};

#[test]
fn the_project_of_a_newcomer_builds_passes_its_tests_and_asks() {
    let project = Project::new("table-http", "");
    project.cargo(&["fmt", "--check"]);
    let tested = project.cargo(&["test"]);
    assert!(tested.stdout.contains("3 passed"), "{tested:?}");
    let server = project.serve();
    let call = ["call", &server.url, "book", "day=friday", "--no-input"];
    let answers = ["--answer", "party.name=Ada", "--answer", "party.guests:=4"];
    let ran = run(command().args(call).args(answers), "");
    assert_eq!(ran.stdout, "A table for 4 on Friday, Ada.\n", "{ran:?}");
    let free = ["call", &server.url, "free_tables", "day=friday"];
    let ran = run(command().args(free), "");
    assert_eq!(ran.stdout, "7 of 8 tables are free on Friday.\n", "{ran:?}");
    project.done();
}

#[test]
fn the_stdio_project_of_a_newcomer_is_called_as_a_command() {
    let project = Project::new("table-stdio", "--stdio");
    project.cargo(&["fmt", "--check"]);
    let tested = project.cargo(&["test"]);
    assert!(tested.stdout.contains("3 passed"), "{tested:?}");
    let call = ["call", "book", "day=sunday", "--no-input"];
    let answers = ["--answer", "party.name=Ada", "--answer", "party.guests:=2"];
    let ran = run(
        command()
            .args(call)
            .args(answers)
            .arg("--")
            .arg(project.program()),
        "",
    );
    assert_eq!(ran.stdout, "A table for 2 on Sunday, Ada.\n", "{ran:?}");
    project.done();
}

#[test]
fn a_plain_project_of_a_newcomer_asks_nothing() {
    let project = Project::new("table-plain", "--plain --http");
    project.cargo(&["fmt", "--check"]);
    let tested = project.cargo(&["test"]);
    assert!(tested.stdout.contains("3 passed"), "{tested:?}");
    let server = project.serve();
    let call = [
        "call",
        &server.url,
        "book",
        "day=friday",
        "name=Ada",
        "guests:=4",
    ];
    let ran = run(command().args(call), "");
    assert_eq!(ran.stdout, "A table for 4 on Friday, Ada.\n", "{ran:?}");
    project.done();
}

#[test]
fn it_says_what_it_wrote_and_what_comes_next() {
    let folder = TempDir::new().unwrap();
    let new = |args: &str| {
        let mut new = command();
        run(
            new.current_dir(folder.path())
                .arg("new")
                .args(args.split(' ')),
            "",
        )
    };
    expect![[r"
        deployer has
          Cargo.toml
          README.md
          src/lib.rs
          src/main.rs
          tests/tools.rs
          Dockerfile
          .dockerignore
          .github/workflows/ci.yml
          .gitignore
          keys.toml

        Next:
          cd deployer
          cargo test
          sterna dev
          sterna call http://127.0.0.1:8080/mcp book day=friday
        exit 0
    "]]
    .assert_eq(&new("deployer").shown());
    let ignored = std::fs::read_to_string(folder.path().join("deployer/.gitignore")).unwrap();
    assert!(ignored.contains("/keys.toml\n"));
    let checked = run(
        command()
            .args(["keys", "check"])
            .arg(folder.path().join("deployer/keys.toml")),
        "",
    );
    assert_eq!(checked.code, 0, "{checked:?}");

    let said = new("greeter --stdio --plain --json").json();
    assert_eq!(said["name"], "greeter");
    let call = "sterna call book day=friday name=Ada guests:=4 -- cargo run --quiet";
    assert_eq!(said["next"][3], call);
    assert!(!folder.path().join("greeter/keys.toml").exists());
    for path in said["files"].as_array().unwrap() {
        let file = folder.path().join("greeter").join(path.as_str().unwrap());
        let text = std::fs::read_to_string(file).unwrap();
        for left in ["my-server", "my_server", "{{"] {
            assert!(!text.contains(left), "{left} in {path}");
        }
    }
}

#[test]
fn what_is_there_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let new = |name: &str, more: &[&str]| run(command().arg("new").arg(at(name)).args(more), "");
    std::fs::create_dir(at("full")).unwrap();
    std::fs::write(at("full/notes"), "mine").unwrap();
    let ran = new("full", &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("is not empty (it has notes)"),
        "{ran:?}"
    );
    assert_eq!(std::fs::read_dir(at("full")).unwrap().count(), 1);
    let ran = new("full/notes", &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("is not a folder"), "{ran:?}");
    // A repository that has been made already is as good as an empty folder.
    std::fs::create_dir_all(at("cloned/.git")).unwrap();
    assert_eq!(new("cloned", &[]).code, 0);

    let ran = new("Deployer", &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("try `deployer`"), "{ran:?}");
    let ran = new("other", &["--path", "/nonexistent"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("not a checkout"), "{ran:?}");
    assert!(!at("other").exists());
    assert_eq!(new("other", &["--http", "--stdio"]).code, 2);
}

#[test]
fn a_workspace_around_the_project_is_told() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("Cargo.toml"), "[workspace]\n").unwrap();
    let mut new = command();
    new.current_dir(folder.path())
        .args(["new", "inner", "--path", workspace()]);
    let ran = run(&mut new, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("`workspace.members`"), "{ran:?}");
}
