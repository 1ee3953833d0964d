//! The faults as they are written down in `faults/*.toml`.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// One way in which the product could be wrong.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    /// What it is switched on by.
    pub(super) name: String,
    /// The promise it breaks: an id of the ledger, or the page that makes it.
    pub(super) rule: String,
    /// What is wrong with it on, for whoever reads the list.
    pub(super) what: String,
    file: String,
    find: String,
    replace: String,
    /// Where else the source must change for it.
    #[serde(default)]
    also: Vec<Edit>,
    /// The test that must fail.
    pub(super) caught_by: TestName,
    /// Whether a test that does not end counts as one that fails.
    #[serde(default)]
    pub(super) may_hang: bool,
}

/// A piece of source and what stands there instead.
///
/// The word `FAULT` in the replacement is true while the fault is on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    pub(super) file: String,
    pub(super) find: String,
    pub(super) replace: String,
}

/// A test as nextest prints it: `sterna-seal::it rotation::keys_rotate`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
pub(super) struct TestName {
    pub(super) binary: String,
    pub(super) test: String,
}

impl TestName {
    /// The package that the test is in.
    pub(super) fn package(&self) -> &str {
        let package = self.binary.split("::").next();
        package.unwrap_or_default()
    }
}

impl FromStr for TestName {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((binary, test)) = text.split_once(' ') else {
            bail!("`{text}` is not a binary and a test of it");
        };
        Ok(Self {
            binary: binary.to_owned(),
            test: test.to_owned(),
        })
    }
}

impl TryFrom<String> for TestName {
    type Error = anyhow::Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.binary, self.test)
    }
}

impl Fault {
    pub(super) fn edits(&self) -> Vec<Edit> {
        let first = Edit {
            file: self.file.clone(),
            find: self.find.clone(),
            replace: self.replace.clone(),
        };
        std::iter::once(first).chain(self.also.clone()).collect()
    }
}

/// All faults, in the order of their files.
pub(super) fn read(root: &Path) -> Result<Vec<Fault>> {
    #[derive(Deserialize)]
    struct File {
        fault: Vec<Fault>,
    }
    let folder = root.join("faults");
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("no faults in {}", folder.display()))?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    paths.sort();
    let mut faults: Vec<Fault> = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        faults.extend(file.fault);
    }
    check(root, &faults)?;
    Ok(faults)
}

fn check(root: &Path, faults: &[Fault]) -> Result<()> {
    let ledger = std::fs::read_to_string(root.join("docs/spec.md"))?;
    for (at, fault) in faults.iter().enumerate() {
        let name = &fault.name;
        let twice = faults[..at].iter().any(|other| other.name == *name);
        ensure!(!twice, "two faults are called {name}");
        for edit in fault.edits() {
            ensure!(
                edit.replace.contains("FAULT"),
                "{name}: the replacement does not ask whether it is on"
            );
        }
        let is_row = ledger.contains(&format!("| {} |", fault.rule));
        ensure!(
            is_row || root.join(&fault.rule).is_file(),
            "{name}: {} is neither in docs/spec.md nor a page",
            fault.rule
        );
    }
    Ok(())
}
