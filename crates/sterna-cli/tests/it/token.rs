use std::path::Path;

use expect_test::{Expect, expect};
use sterna_seal::{
    Binding, Entropy, EntropyError, Flow, FlowId, Key, Keyring, Principal, Realm, SealRequest,
    SecretKey, Target, UnixMillis,
};
use tempfile::TempDir;

use crate::command::{Ran, command, run};
use crate::escapes::{evil, is_harmless};

const NOW: &str = "2026-07-28T00:00:00Z";

/// A token of Alice's for the tool `deploy`, and the keys it was sealed with.
struct Case {
    folder: TempDir,
    token: String,
}

impl Case {
    fn new() -> Self {
        Self::sealing(&author_state("approval", "what the author keeps"))
    }

    /// The same, with another state inside.
    fn sealing(state: &[u8]) -> Self {
        let folder = TempDir::new().unwrap();
        let secret = SecretKey::from_bytes(b"the secret of this test has 32 bytes").unwrap();
        let ring = Keyring::new([Key::new(secret)]).unwrap();
        std::fs::write(folder.path().join("keys.toml"), ring.to_toml().as_str()).unwrap();
        let alice = Principal::named("https://login.example", "alice");
        let target = Target::new("tools/call", "deploy");
        let realm = Realm::new("deployer", None);
        let binding = Binding::new(&realm, &alice, &target, Some(r#"{"n":1}"#)).unwrap();
        let now: UnixMillis = NOW.parse().unwrap();
        let flow = Flow::begin(FlowId::from_bytes([7; 16]), now);
        let draft = SealRequest::new(flow, state);
        let token = ring.seal(&draft, &binding, now, &mut Stuck).unwrap().token;
        Self { folder, token }
    }

    #[track_caller]
    fn inspect(&self, args: &[&str]) -> Ran {
        let keys = self.folder.path().join("keys.toml");
        self.inspect_with(&keys, args)
    }

    fn inspect_with(&self, keys: &Path, args: &[&str]) -> Ran {
        let mut command = command();
        command
            .args(["token", "inspect", "-", "--keys"])
            .arg(keys)
            .args(args);
        run(&mut command, &format!("{}\n", self.token))
    }

    #[track_caller]
    fn check(&self, args: &[&str], expected: Expect) {
        expected.assert_eq(&self.inspect(args).shown());
    }
}

/// The frozen bytes of a low-level handler's state.
fn author_state(asked: &str, state: &str) -> Vec<u8> {
    let mut bytes = vec![1, 1];
    bytes.extend_from_slice(b"build-id");
    bytes.push(0);
    bytes.extend_from_slice(&[0; 16]);
    bytes.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0]);
    bytes.push(u8::try_from(asked.len()).unwrap());
    bytes.extend_from_slice(asked.as_bytes());
    bytes.extend_from_slice(state.as_bytes());
    bytes
}

/// A generator that always says the same, for a token that is always the same.
struct Stuck;

impl Entropy for Stuck {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), EntropyError> {
        bytes.fill(7);
        Ok(())
    }
}

#[test]
fn a_token_shows_no_escape_of_what_was_sealed() {
    let case = Case::sealing(&author_state(&evil("key"), &evil("state")));
    for mode in [
        &[][..],
        &["--json"],
        &["--show-values"],
        &["--json", "--show-values"],
    ] {
        let named = [evil("deployer"), evil("tool")];
        for audience in ["deployer", &named[0]] {
            let about = [
                "--audience",
                audience,
                "--at",
                NOW,
                "--anonymous",
                "--tool",
                &named[1],
            ];
            let ran = case.inspect(&[mode, &about[..]].concat());
            is_harmless(&format!("{mode:?}"), &ran.stdout);
            is_harmless(&format!("{mode:?}"), &ran.stderr);
        }
    }
}

#[test]
fn a_good_token_shows_its_claims_and_keeps_its_values() {
    let case = Case::new();
    case.check(
        &["--audience", "deployer", "--at", NOW],
        expect![[r#"
        claims
          flow         07070707070707070707070707070707
          round        1
          started      2026-07-28T00:00:00Z
          issued       2026-07-28T00:00:00Z
          round ends   2026-07-28T01:00:00Z
          flow ends    2026-07-29T00:00:00Z
          key          27fb5df9
          caller       known
          size         299 characters

        state
          build        6275696c642d6964
          waits for    approval
          own state    21 bytes

        would it be taken?
          ok       at 2026-07-28T00:00:00Z
        yes, as far as it was asked
        exit 0
    "#]],
    );
    let shown = case.inspect(&["--audience", "deployer", "--at", NOW, "--show-values"]);
    assert!(shown.stdout.contains("what the author keeps"));
}

#[test]
fn every_reason_for_a_refusal_is_told_apart() {
    let case = Case::new();
    let alice = ["--issuer", "https://login.example", "--subject", "alice"];
    let deploy = ["--tool", "deploy"];
    for (args, reason) in [
        (vec!["--anonymous"], "other_principal"),
        (
            vec!["--issuer", "https://login.example", "--subject", "bob"],
            "other_principal",
        ),
        (vec!["--tool", "destroy"], "other_target"),
        (vec!["--prompt", "deploy"], "other_target"),
        (
            [&alice[..], &deploy, &["--arguments", r#"{"n":2}"#]].concat(),
            "other_arguments",
        ),
        (vec!["--at", "2026-07-27T23:00:00Z"], "not_yet_issued"),
        (vec!["--at", "2026-07-28T01:00:00Z"], "expired"),
        (vec!["--at", "2026-07-29T00:00:00Z"], "flow_expired"),
    ] {
        let mut all = vec!["--json", "--audience", "deployer"];
        if !args.contains(&"--at") {
            all.extend(["--at", NOW]);
        }
        all.extend(args);
        let ran = case.inspect(&all);
        assert_eq!(ran.code, 1, "{ran:?}");
        let checks = ran.json()["checks"].clone();
        let reasons: Vec<_> = checks
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|check| check["reason"].as_str())
            .collect();
        assert_eq!(reasons, [reason], "{all:?}");
    }
    let right = [
        &["--json", "--audience", "deployer", "--at", NOW],
        &alice[..],
        &deploy,
        &["--arguments", r#"{"n":1.0}"#],
    ]
    .concat();
    let ran = case.inspect(&right);
    assert_eq!((ran.code, &ran.json()["taken"]), (0, &true.into()));
}

#[test]
fn a_token_that_cannot_be_opened_says_what_to_look_at() {
    let case = Case::new();
    case.check(&["--audience", "elsewhere"], expect![[r#"
        error: the token cannot be opened: unauthentic (altered, or sealed for another audience or tenant)
         hint: --audience must be the server's `audience`, which is its name if none is configured, and --tenant its `tenant`
        exit 1
    "#]]);
    let other = case.folder.path().join("other.toml");
    let made = run(command().args(["keys", "new"]).arg(&other), "");
    assert_eq!(made.code, 0);
    let ran = case.inspect_with(&other, &["--audience", "deployer"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("unknown_key"), "{ran:?}");
}

#[test]
fn arguments_alone_cannot_be_checked() {
    let ran = Case::new().inspect(&["--audience", "deployer", "--arguments", "{}"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--anonymous"), "{ran:?}");
}
