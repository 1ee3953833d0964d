//! The pages by keyboard alone, and without jumps.

use crate::chromium::Chromium;
use crate::inspected;
use crate::stores::{filled, task};
use crate::visitor::{inspector, inspector_with};

impl Chromium {
    /// Presses Tab until `selector` has the focus. Everything on the way has a name
    /// and shows that it has the focus.
    #[track_caller]
    fn tab_to(&mut self, selector: &str) {
        self.until("document.readyState === 'complete'");
        for _ in 0..MOST_TABS {
            self.press("Tab");
            let seen = self.eval(&format!(
                "((it) => ({{ name: ({NAME})(it), outline: getComputedStyle(it).outlineStyle, \
                  is: it.matches({}), html: it.outerHTML.slice(0, 200) }}))(document.activeElement)",
                serde_json::json!(selector)
            ));
            assert_ne!(seen["name"], "", "no name: {seen}");
            assert_ne!(seen["outline"], "none", "no outline: {seen}");
            if seen["is"] == true {
                return;
            }
        }
        panic!("{selector} is not reached in {MOST_TABS} steps");
    }

    /// Types into the field that has the focus.
    fn types(&mut self, text: &str) {
        self.call("Input.insertText", serde_json::json!({ "text": text }));
    }

    /// Checks that nothing on the page has jumped.
    #[track_caller]
    fn is_steady(&mut self, page: &str) {
        let shifts = self.eval(SHIFTS).as_f64().unwrap();
        assert!(shifts < MOST_SHIFTS, "{page}: {shifts}");
    }
}

#[test]
fn a_call_is_made_answered_and_forked_by_keyboard_alone() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket) = inspector(&inspected::start(), Some(inspected::keys()));
    browser.look(1280, 860, "light");
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    browser.sees("Deploys after asking");
    // The first stop leads past the navigation.
    browser.tab_to(".skip");
    browser.tab_to("a[href='/request?kind=tool&name=deploy']");
    browser.press("Enter");
    browser.until("location.pathname === '/request'");
    browser.tab_to("[name='arg/service']");
    browser.types("web");
    browser.press("Enter");
    for (question, field, answer) in [
        ("Why deploy web?", "q0/reason", "tested"),
        ("Who owns it?", "q0/owner", "ada"),
    ] {
        browser.sees(question);
        browser.tab_to(&format!("[name='{field}']"));
        browser.types(answer);
        browser.press("Enter");
    }
    browser.sees("plan for web: tested, ada");
    browser.tab_to("a[href='/calls/1?round=0']");
    browser.press("Enter");
    browser.sees("This round was answered 1 time.");
    browser.tab_to("button[value=decline]");
    browser.press("Enter");
    browser.sees("The user declined.");
    browser.tab_to("a[href='/calls/1?round=1']");
    browser.press("Enter");
    browser.sees("Open it on the workbench");
    browser.tab_to("a[href='/calls/1/rounds/1/token']");
    browser.press("Enter");
    browser.sees("Would it be accepted?");
    browser.tab_to("form:has([value=flip]) button");
    browser.press("Enter");
    browser.sees("The check that catches it: unauthentic");
}

#[test]
fn every_page_has_names_for_its_controls_and_nothing_jumps() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket, _) = inspector_with(&inspected::start(), |config| {
        config.keys = Some(inspected::keys());
        config.store = Some(filled("publish"));
    });
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    browser.open(&format!("http://{address}/request?kind=tool&name=deploy"));
    browser.fill("arg/service", "web");
    browser.press("Enter");
    browser.sees("Why deploy web?");
    // One that runs: the script puts other content into the page as it comes.
    browser.open(&format!("http://{address}/request?kind=tool&name=render"));
    browser.click("main form button");
    browser.sees("drawing the sky");
    browser.until("document.querySelector('[data-since-ms]').textContent === '2 s'");
    browser.is_steady("a call that runs");
    for width in [1280, 400] {
        browser.look(width, 860, "light");
        for path in [
            "/",
            "/request?kind=tool&name=order",
            "/request?kind=prompt&name=brief",
            "/calls",
            "/calls/1",
            "/calls/1/rounds/0/token",
            "/calls/2",
            "/store",
            &task(1),
            "/doctor",
            "/connection",
        ] {
            browser.open(&format!("http://{address}{path}"));
            let nameless = browser.eval(&format!(
                "[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea, summary')]\
                 .filter(it => !({NAME})(it) || it.tabIndex > 0).map(it => it.outerHTML)"
            ));
            assert_eq!(nameless, serde_json::json!([]), "{path}");
            let headings = browser.eval("document.querySelectorAll('h1').length");
            assert_eq!(headings, 1, "{path}");
            browser.is_steady(path);
        }
    }
    // A jump would have been seen.
    browser.eval(
        "const it = document.createElement('div'); it.style.height = '400px'; \
         document.querySelector('main').prepend(it)",
    );
    browser.until(&format!("{SHIFTS} > {MOST_SHIFTS}"));
}

/// Name of a control, as a screen reader says it.
const NAME: &str = "it => (it.labels?.length ? [...it.labels].map(one => one.textContent).join(' ') \
                    : it.getAttribute('aria-label') || it.textContent || '').trim()";
/// Sum of all layout shifts of the page.
const SHIFTS: &str = "(() => { const seen = new PerformanceObserver(() => {}); \
                      seen.observe({ type: 'layout-shift', buffered: true }); \
                      return seen.takeRecords().reduce((sum, one) => sum + one.value, 0); })()";
const MOST_TABS: usize = 60;
/// Sum of shifts from which on a page is said to jump.
const MOST_SHIFTS: f64 = 0.1;
