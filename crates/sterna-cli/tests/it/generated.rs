use crate::command::sterna;

#[test]
fn every_shell_gets_completions() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = sterna(&format!("completions {shell}"));
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.contains("keys"), "{shell}: {ran:?}");
        let json = sterna(&format!("--json completions {shell}")).json();
        assert_eq!(json["script"].as_str(), Some(ran.stdout.as_str()));
    }
}

#[test]
fn the_manual_page_names_every_subcommand() {
    let page = sterna("man").stdout;
    for name in [
        "sterna-keys",
        "sterna-token",
        "Exit codes: 0 done, 1 failed",
    ] {
        let name = name.replace('-', "\\-");
        assert!(page.contains(&name), "{name} is not in the page");
    }
    sterna("--json man").json();
}

#[test]
fn misuse_ends_with_2_and_a_way_out() {
    let ran = sterna("keys");
    assert_eq!(ran.code, 2);
    let ran = sterna("kyes new x");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("similar subcommand exists: 'keys'"),
        "{ran:?}"
    );
}
