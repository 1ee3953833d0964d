//! The pages in a real browser.

use std::net::{Ipv4Addr, SocketAddr};

use sterna_inspect::{InspectorConfig, RecordConfig};

use crate::chromium::Chromium;
use crate::stores::{filled, task};
use crate::visitor::{MOST_BYTES, inspector, inspector_with};
use crate::{hostile, inspected, records};

#[test]
fn the_whole_story_is_clicked_through() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket) = inspector(&inspected::start(), Some(inspected::keys()));
    browser.look(1280, 860, "light");
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname + location.search === '/'");
    browser.sees("Deploys after asking");
    browser.picture("explore");
    let measured = browser.eval(
        "[performance.getEntriesByName('first-contentful-paint')[0].startTime, \
          performance.getEntriesByType('navigation')[0].decodedBodySize, \
          performance.getEntriesByType('resource').map(one => one.decodedBodySize).join(' + ')].join(', ')",
    );
    eprintln!("first paint in ms, bytes of the page, of style and script: {measured}");
    let measured: Vec<f64> = (measured.as_str().unwrap().split([',', '+']))
        .map(|figure| figure.trim().parse().unwrap())
        .collect();
    let guide = include_str!("../../../../docs/inspector.md");
    let sizes = [("first page", 1), ("style sheet", 2), ("script", 3)];
    for (what, at) in sizes {
        let kilobytes = format!("{:.1} kB", measured[at] / 1e3);
        assert!(guide.contains(&kilobytes), "{what}: {kilobytes}");
    }

    // Arguments, filled in and sent by keyboard alone.
    browser.click("a[href='/request?kind=tool&name=deploy']");
    browser.fill("arg/service", "web");
    browser.press("Enter");
    browser.sees("Why deploy web?");
    browser.fill("q0/reason", "tested on staging");
    browser.click("button[value=accept]");
    browser.sees("Who owns it?");
    browser.fill("q0/owner", "ada");
    browser.press("Enter");
    browser.sees("plan for web: tested on staging, ada");

    // A fork at round 1 that ends differently.
    browser.click("a[href='/calls/1?round=0']");
    browser.sees("This round was answered 1 time.");
    browser.fill("q0/reason", "urgent fix");
    browser.press("Enter");
    browser.sees("Who owns it?");
    browser.fill("q0/owner", "bob");
    browser.press("Enter");
    browser.sees("plan for web: urgent fix, bob");
    browser.until("document.querySelectorAll('.tree.fork > li').length === 2");
    browser.picture("fork");
    browser.look(400, 860, "dark");
    assert_eq!(browser.eval("document.documentElement.scrollWidth"), 400);
    browser.picture("narrow");
    browser.look(1280, 860, "light");

    // A flipped character, named by its check.
    browser.open(&format!("http://{address}/calls/1/rounds/0/token"));
    browser.sees("Would it be accepted?");
    browser.until("document.querySelector('[data-left-ms]').textContent.startsWith('in 59 min ')");
    browser.look(1280, 1100, "dark");
    browser.picture("workbench");
    browser.click("form:has([value=flip]) button");
    browser.sees("The check that catches it: unauthentic");
    browser.sees("Invalid or expired requestState");
    browser.picture("refused");
    browser.look(1280, 1100, "light");

    // Both eras beside each other; the page follows the session by itself.
    browser.open(&format!("http://{address}/request?kind=tool&name=deploy"));
    browser.fill("arg/service", "web");
    browser.click("button[name=eras]");
    browser.sees("The request stays open");
    browser.sees("Client of 2026-07-28");
    browser.picture("eras");
    browser.fill("q0/reason", "both");
    browser.press("Enter");
    browser.sees("Who owns it?");

    // A call that runs is followed by the script: no page is loaded again.
    browser.open(&format!("http://{address}/request?kind=tool&name=render"));
    browser.click("main form button");
    browser.sees("drawing the sky");
    browser.eval("window.same = true");
    browser.click("form[action$='/cancel'] button");
    browser.sees("The call was cancelled.");

    assert_eq!(
        browser.complaints(&address.to_string()),
        Vec::<String>::new()
    );
}

#[test]
fn a_form_is_filled_in_by_keyboard_and_every_field_has_a_label() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket) = inspector(&inspected::start(), None);
    browser.look(1280, 900, "light");
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    browser.open(&format!("http://{address}/request?kind=tool&name=survey"));
    browser.click("main form button");
    browser.sees("Please tell us about you.");
    let unlabelled = "[...document.querySelectorAll('input:not([type=hidden]), select, textarea')]\
                      .filter(field => field.labels.length === 0).length";
    assert_eq!(browser.eval(unlabelled), 0);
    // From the first field on, Tab goes through all of them to the buttons.
    browser.fill("q0/name", "A");
    let here = "((it) => it.name + (it.matches('button, [type=checkbox]') ? '=' + it.value : ''))(document.activeElement)";
    let mut visited: Vec<String> = Vec::new();
    while visited.last().is_none_or(|last| last != "q0?action=cancel") {
        let at = browser.eval(here).as_str().unwrap().to_owned();
        // A date has several parts.
        if visited.last() != Some(&at) {
            assert!(visited.len() < 16, "{visited:?}");
            visited.push(at);
        }
        browser.press("Tab");
    }
    assert_eq!(
        visited.join(" "),
        "q0/name q0/age q0/size q0/newsletter q0/extras=small q0/extras=large q0/height q0/mail \
         q0/born q0/page q0/colour q0?action=accept q0?action=decline q0?action=cancel"
    );
    // A short name and then an address without its host are corrected: the field says why, and
    // all keep what was typed.
    for (name, text) in [("age", "36"), ("height", "1.7"), ("mail", "ada")] {
        browser.fill(&format!("q0/{name}"), text);
    }
    browser.fill("q0/page", "https://ada.example/");
    for (name, value) in [
        ("size", "small"),
        ("newsletter", "true"),
        ("born", "1815-12-10"),
        ("colour", "red"),
    ] {
        browser.eval(&format!(
            "document.querySelector('[name=\"q0/{name}\"]').value = '{value}'"
        ));
    }
    browser.click("[name=\"q0/extras\"][value=large]");
    browser.sees("As the bill of a tern");
    browser.click("button[value=accept]");
    browser.sees("must have at least 2 characters");
    browser.picture("form");
    assert_eq!(
        browser.eval("document.querySelector('[name=\"q0/name\"]').getAttribute('aria-invalid')"),
        "true"
    );
    browser.fill("q0/name", "Ada");
    browser.click("button[value=accept]");
    browser.sees("must be of the format email");
    browser.fill("q0/mail", "ada@example.org");
    browser.click("button[value=accept]");
    browser.sees(
        "{\"name\":\"Ada\",\"age\":36,\"size\":\"small\",\"newsletter\":true,\"extras\":[\"large\"],\
         \"height\":1.7,\"mail\":\"ada@example.org\",\"born\":\"1815-12-10\",\
         \"page\":\"https://ada.example/\",\"colour\":\"red\"}",
    );
    browser.open(&format!("http://{address}/calls/1?round=0"));
    browser.click("button[value=decline]");
    browser.sees("was declined");
    assert_eq!(
        browser.complaints(&address.to_string()),
        Vec::<String>::new()
    );
}

#[test]
fn without_a_script_the_same_forms_work() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket) = inspector(&inspected::start(), None);
    let off = serde_json::json!({"value": true});
    browser.call("Emulation.setScriptExecutionDisabled", off);
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    browser.open(&format!("http://{address}/request?kind=tool&name=deploy"));
    browser.fill("arg/service", "web");
    browser.press("Enter");
    browser.sees("Why deploy web?");
    browser.fill("q0/reason", "no script");
    browser.press("Enter");
    browser.sees("Who owns it?");
    // A call that runs loads its page again by itself.
    browser.open(&format!("http://{address}/request?kind=tool&name=render"));
    browser.click("main form button");
    browser.sees("drawing the sky");
}

#[test]
fn another_name_learns_nothing_and_hostile_markup_runs_nothing() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let target = hostile::start();
    let (address, ticket, record) =
        inspector_with(&target, everything(&target, "<script>alert(1)</script>"));
    let port = address.port();
    browser.open(&format!("http://evil.test:{port}/?ticket={ticket}"));
    browser.until("document.body.innerText.length > 0");
    let seen = browser.eval("document.body.innerText");
    assert!(!seen.as_str().unwrap().contains("mcp"), "{seen}");
    browser.until("performance.getEntriesByType('navigation')[0].responseStatus === 403");
    browser.events.clear();

    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    for path in ["/", "/request?kind=tool&name=t", "/connection"] {
        browser.open(&format!("http://{address}{path}"));
        browser.eval("document.querySelectorAll('details').forEach(part => part.open = true)");
        browser.sees("<script>fetch");
    }
    browser.open(&format!("http://{address}/request?kind=tool&name=t"));
    browser.click("main form button:not([name])");
    browser.sees("onerror=alert(1)");
    browser.fill("q1/text", hostile::MARKUP);
    browser.click(".actions button");
    browser.sees("Structured content");
    let elements = "document.querySelectorAll('main script, main img, iframe').length";
    assert_eq!(browser.eval(elements), 0);
    // The store, the findings of the doctor, and the calls of another client.
    records::calls_a_tool(record.as_deref().unwrap());
    browser.open(&format!("http://{address}/doctor"));
    browser.click("main form button");
    browser.sees("Examine it again");
    for path in [
        "/doctor",
        "/recorded",
        "/recorded/1",
        "/store",
        &task(1),
        &task(2),
    ] {
        browser.open(&format!("http://{address}{path}"));
        browser.eval("document.querySelectorAll('details').forEach(part => part.open = true)");
        browser.until("document.querySelector('main').innerText.length > 40");
        assert_eq!(browser.eval(elements), 0, "{path}");
    }
    let value = format!("http://{address}{}?value=question&key=reason", task(1));
    browser.open(&value);
    browser.sees("<script>alert(1)</script>");
    assert_eq!(
        browser.complaints(&address.to_string()),
        Vec::<String>::new()
    );
    let bytes = browser.eval("performance.getEntriesByType('resource').reduce((sum, one) => sum + one.decodedBodySize, 0)");
    assert!(bytes.as_u64().unwrap() < MOST_BYTES, "{bytes}");
}

/// Settings with a store and a recorder.
fn everything(target: &str, text: &str) -> impl FnOnce(&mut InspectorConfig) {
    let (url, store) = (target.to_owned(), filled(text));
    move |config| {
        config.keys = Some(inspected::keys());
        config.store = Some(store);
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        config.record = Some(RecordConfig::http(listen, url));
    }
}

#[test]
fn stores_findings_recordings_and_kept_calls_are_shown_at_every_width() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let target = inspected::start();
    let (address, ticket, record) = inspector_with(&target, everything(&target, "publish"));
    browser.look(1280, 860, "light");
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");

    browser.open(&format!("http://{address}/store"));
    browser.sees("rests until an answer comes");
    browser.picture("store");
    browser.click("a[href='/store?status=completed']");
    browser.until("document.querySelectorAll('tbody')[0].rows.length === 1");
    browser.open(&format!("http://{address}{}", task(1)));
    browser.sees("Effects of its flow");
    browser.click("a[href*='value=request']");
    browser.sees("Value of the request");
    browser.sees("Hide it");

    browser.open(&format!("http://{address}/doctor"));
    browser.click("main form button");
    browser.sees("Examine it again");
    browser.sees("refused if it differs");
    browser.picture("doctor");

    // The page is told of requests as they come.
    browser.open(&format!("http://{address}/recorded"));
    browser.sees("Waiting for the first request");
    browser.eval("window.same = true");
    records::deploys(record.as_deref().unwrap());
    browser.sees("goes on from #");
    assert_eq!(browser.eval("window.same"), true);
    browser.picture("recorded");
    browser.click("a.name[href^='/recorded/']");
    browser.sees("Round 2");

    let (call, paths) = (
        "/calls/1",
        ["/store", "/doctor", "/recorded", "/recorded/1"],
    );
    browser.open(&format!("http://{address}/request?kind=tool&name=deploy"));
    browser.fill("arg/service", "web");
    browser.press("Enter");
    browser.sees("Why deploy web?");
    for scheme in ["light", "dark"] {
        browser.look(400, 860, scheme);
        for path in paths.iter().chain(&[call, &task(1)]) {
            browser.open(&format!("http://{address}{path}"));
            let width = browser.eval("document.documentElement.scrollWidth");
            assert_eq!(width, 400, "{path}");
        }
    }
    assert_eq!(
        browser.complaints(&address.to_string()),
        Vec::<String>::new()
    );
}

#[test]
fn an_argument_is_completed_while_it_is_typed() {
    let Some(mut browser) = Chromium::start() else {
        return;
    };
    let (address, ticket) = inspector(&inspected::start(), None);
    browser.open(&format!("http://{address}/?ticket={ticket}"));
    browser.until("location.pathname === '/' && !location.search");
    browser.open(&format!("http://{address}/request?kind=prompt&name=brief"));
    let suggested = "[...document.querySelector('[name=\"arg/topic\"]').list.options].map(one => one.value).join(' ')";
    for (typed, expected) in [("t", "terns terraces tides"), ("ter", "terns terraces")] {
        browser.fill("arg/topic", typed);
        browser.until(&format!("{suggested} === '{expected}'"));
    }
    browser.press("Enter");
    browser.sees("For whom?");
    assert_eq!(
        browser.complaints(&address.to_string()),
        Vec::<String>::new()
    );
}
