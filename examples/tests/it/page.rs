//! The page of the checkout, in a real browser.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::chromium::Chromium;
use crate::http::folder_with_keys;

/// An instance of the checkout, killed when it is dropped.
struct Instance {
    child: Child,
    address: String,
}

impl Instance {
    fn start(folder: &Path, listen: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_checkout"))
            .args([
                "--listen",
                listen,
                "--key-file",
                "keys.toml",
                "--store",
                "shop.db",
            ])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap();
        Self {
            address: address.to_owned(),
            child,
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The system sends SIGKILL.
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_browser_finishes_a_checkout_whose_first_instance_was_killed() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (_folder, path) = folder_with_keys();
    let first = Instance::start(&path, "127.0.0.1:0");
    let address = first.address.clone();
    browser.open(&format!("http://{address}/"));
    browser.click("#order button");
    browser.sees("Enter the code that we sent you to pay 900 for big");
    drop(first);
    let _second = Instance::start(&path, &address);
    browser.fill("code", "111111");
    browser.press("Enter");
    // A wrong code: the field is shown again, for another round.
    browser.until("performance.getEntriesByName(location.origin + '/checkout').length === 2");
    browser.until("!document.getElementById('question').hidden");
    browser.fill("code", "246810");
    browser.press("Enter");
    browser.sees("Paid 900");
    assert_eq!(browser.complaints(&address), Vec::<String>::new());
    let report = browser.eval("fetch('/report').then((report) => report.json())");
    assert_eq!(report["big"]["codes_sent"], 1);
    assert_eq!(report["big"]["codes_checked"], 2);
    assert_eq!(report["big"]["charges"], 1);
}
