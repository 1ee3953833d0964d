//! What a server writes to the terminal of the person who starts it.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Command, Stdio};

use sterna_seal::{Keyring, ThreadEntropy};

fn first_line(stream: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    line
}

#[test]
fn a_server_says_on_standard_error_where_it_listens() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    let keys = Keyring::generate(&mut ThreadEntropy).unwrap();
    std::fs::write(&file, keys.to_toml().as_str()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fleet"))
        .arg("--key-file")
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program writes the first itself, the server the second.
    let printed = first_line(child.stdout.take().unwrap());
    let told = first_line(child.stderr.take().unwrap());
    child.kill().unwrap();
    child.wait().unwrap();
    let url = printed.trim().strip_prefix("listening on ").unwrap();
    assert_eq!(told, format!("fleet listens on {url}\n"));
}
