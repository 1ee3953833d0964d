//! A real browser, driven over its own protocol on a pair of pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A browser with one tab. It has a profile of its own, which is empty.
pub(crate) struct Chromium {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
    session: Option<String>,
    /// Messages of the page that were not asked for.
    pub(crate) events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Chromium {
    /// Starts the browser; `None` without one. Under `CI` there has to be one.
    pub(crate) fn start() -> Option<Self> {
        if Command::new("chromium").arg("--version").output().is_err() {
            assert!(
                std::env::var_os("CI").is_none(),
                "chromium is not installed"
            );
            eprintln!("skipped: chromium is not installed");
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from 3 and writes to 4; the shell puts our pipes there.
        let mut child = Command::new("sh")
            .arg("-c")
            .arg("exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1")
            .arg("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--host-resolver-rules=MAP evil.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while output.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
                bytes.pop();
                let message = serde_json::from_slice(&bytes).unwrap();
                bytes.clear();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            messages,
            next: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, &params);
        let answer = self.answer_to(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let command = format!("{command}\0");
        self.commands.write_all(command.as_bytes()).unwrap();
        self.next
    }

    fn answer_to(&mut self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if message["id"] == id {
                return message;
            }
            self.events.push(message);
        }
    }

    /// Evaluates an expression on the page; a promise is awaited.
    #[track_caller]
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", params);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true. Between two looks it waits for the
    /// browser to tell something. No promise is used: a page without scripts has
    /// no timers.
    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        let begun = sterna_http::clock::now();
        let look = format!(
            "(() => {{ try {{ return Boolean({expression}) }} catch {{ return false }} }})()"
        );
        while !self.is_true(&look) {
            if begun.elapsed() > PATIENCE {
                let seen = self.eval("location.href + ' ' + document.body.innerText");
                panic!("never true: {expression}\n{seen}");
            }
            if let Ok(message) = self.messages.recv_timeout(Duration::from_millis(20)) {
                self.events.push(message);
            }
        }
    }

    /// Evaluates a condition; on a page that is being left, it is false.
    fn is_true(&mut self, expression: &str) -> bool {
        let params = json!({"expression": expression, "returnByValue": true});
        let id = self.send("Runtime.evaluate", &params);
        self.answer_to(id)["result"]["result"]["value"] == true
    }

    /// Loads an address and waits for the page.
    #[track_caller]
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'");
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        self.until(&format!(
            "document.body.innerText.includes({})",
            json!(text)
        ));
    }

    /// Clicks what a selector finds.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let selector = json!(selector);
        self.until(&format!(
            "document.readyState === 'complete' && document.querySelector({selector})"
        ));
        self.eval(&format!("document.querySelector({selector}).click()"));
    }

    /// Types into the field of that name.
    #[track_caller]
    pub(crate) fn fill(&mut self, name: &str, text: &str) {
        let selector = json!(format!("[name={}]", json!(name)));
        self.until(&format!(
            "document.readyState === 'complete' && document.querySelector({selector})"
        ));
        self.eval(&format!("document.querySelector({selector}).focus(); document.querySelector({selector}).select?.()"));
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            _ => 32,
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Sets the size of the page and its colours.
    pub(crate) fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", media);
    }

    /// Takes a picture. With `UPDATE_EXPECT` it goes into the guide.
    pub(crate) fn picture(&mut self, name: &str) {
        let picture = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let bytes = base64_simd::STANDARD
            .decode_to_vec(picture["data"].as_str().unwrap().as_bytes())
            .unwrap();
        assert!(bytes.starts_with(b"\x89PNG"));
        let folder = match std::env::var_os("UPDATE_EXPECT") {
            Some(_) => concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/inspector"),
            None => env!("CARGO_TARGET_TMPDIR"),
        };
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(format!("{folder}/{name}.png"), bytes).unwrap();
    }

    /// Everything that the browser complained of, and requests to other hosts.
    pub(crate) fn complaints(&mut self, address: &str) -> Vec<String> {
        // A round trip, so that all that was told before it is here.
        self.eval("1");
        let own = format!("http://{address}/");
        let complaints = self.events.iter().filter_map(|event| {
            let params = &event["params"];
            match event["method"].as_str()? {
                "Log.entryAdded" => {
                    let text = params["entry"]["text"].as_str()?;
                    // Statuses that a test caused on purpose are told here, too.
                    (!text.starts_with("Failed to load resource")).then(|| text.to_owned())
                }
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => {
                    Some(params.to_string())
                }
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str()?;
                    // The icon of a date is the browser's own; data of a page would break its policy.
                    let is_ours = url.starts_with(&own)
                        || url == "about:blank"
                        || url.starts_with("data:image/svg+xml;base64,");
                    (!is_ours).then(|| format!("request to {url}"))
                }
                _ => None,
            }
        });
        complaints.collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Far more than any page takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
