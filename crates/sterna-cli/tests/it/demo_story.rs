//! The story of the demo, clicked through in a real browser.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::chromium::Chromium;
use crate::command::command;

/// A demo that is left running, and ended with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.0.wait();
    }
}

impl Serving {
    /// Kills the replica of that name, as `kill -9` does.
    #[track_caller]
    fn kills(&self, name: &str) {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap();
        let children = tasks.flat_map(|task| {
            let children = std::fs::read_to_string(task.unwrap().path().join("children"));
            let children = children.unwrap_or_default();
            let ids: Vec<String> = children.split_whitespace().map(str::to_owned).collect();
            ids
        });
        let is_named = |id: &String| {
            let words = std::fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            words.contains(&format!("--name\0{name}\0"))
        };
        let found = children.into_iter().find(is_named);
        let id = found.unwrap_or_else(|| panic!("there is no replica {name}"));
        let killed = Command::new("kill").args(["-9", &id]).status().unwrap();
        assert!(killed.success());
    }
}

#[test]
fn the_story_of_the_demo_is_clicked_through() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let mut serving = Serving(
        command()
            .args(["demo", "--serve"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let stdout = BufReader::new(serving.0.stdout.take().unwrap());
    let mut lines = stdout.lines().map(Result::unwrap);
    let url = lines.find_map(|line| {
        let url = line.trim().strip_prefix("inspector")?;
        Some(url.trim().to_owned())
    });
    let url = url.unwrap();
    let address = url
        .strip_prefix("http://")
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let page = |path: &str| format!("http://{address}{path}");
    browser.look(1280, 860, "light");
    browser.open(&url);
    browser.until("location.pathname === '/' && !location.search");

    // A call goes on when the replica that asked is dead.
    browser.click("a[href='/request?kind=tool&name=update_work_item']");
    browser.fill("arg/id", "4522");
    browser.press("Enter");
    browser.sees("How was work item 4522 resolved?");
    let instance = "[...document.querySelectorAll('.tree a .tag')].at(-1).textContent";
    let first = browser.eval(instance).as_str().unwrap().to_owned();
    serving.kills(&first);
    browser.eval("document.querySelector('[name=\"q0/resolution\"]').value = 'Duplicate'");
    browser.click("button[value=accept]");
    browser.sees("Which work item is the original?");
    let second = browser.eval(instance).as_str().unwrap().to_owned();
    assert_ne!(first, second);
    browser.fill("q0/details", "4301");
    browser.press("Enter");
    browser.sees(&format!("looked up once, by replica {first}"));

    // A state that was altered is refused, and its check is named.
    browser.open(&page("/calls/1/rounds/1/token"));
    browser.click("form:has([value=flip]) button");
    browser.sees("The check that catches it: unauthentic");

    // The same round with other answers is refused, because the replicas have a store.
    browser.open(&page("/calls/1?round=0"));
    browser.eval("document.querySelector('[name=\"q0/resolution\"]').value = 'Fixed'");
    browser.click("button[value=accept]");
    browser.sees("this one was answered otherwise");

    // A token that was used is refused, and the page says why.
    browser.open(&page("/request?kind=tool&name=vote"));
    browser.click("main form button");
    browser.sees("Your vote, please.");
    browser.fill("q0/name", "Ada");
    browser.press("Enter");
    browser.sees("one vote for Ada");
    browser.open(&page("/calls/2?round=0"));
    browser.fill("q0/name", "Bob");
    browser.press("Enter");
    browser.sees("allows each state only once");

    // A task, and what the store knows of it.
    browser.open(&page("/request?kind=tool&name=publish"));
    browser.fill("arg/title", "Terns");
    browser.press("Enter");
    browser.sees("Publish Terns?");
    browser.fill("q0/name", "Ada");
    browser.press("Enter");
    browser.sees("Terns is out, approved by Ada");
    browser.open(&page("/store"));
    browser.sees("completed");
    browser.sees("settled");
    browser.click("a[href^='/store/tasks/']");
    browser.sees("render");
    assert_eq!(browser.complaints(address), Vec::<String>::new());
}
