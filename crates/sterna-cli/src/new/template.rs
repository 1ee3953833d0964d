//! The files of a project. They are kept as a project called `my-server`, and
//! get the name of the one that is made.

use std::path::Path;

use super::name::ProjectName;

/// Variant of a project.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProjectKind {
    pub(super) transport: Transport,
    pub(super) style: Style,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Http,
    Stdio,
}

/// Style of the tools.
#[derive(Clone, Copy, Debug)]
pub(super) enum Style {
    /// A tool asks the user.
    Asking,
    /// Tools take everything as arguments.
    Plain,
}

impl Style {
    /// The tool to try, with its arguments.
    pub(super) const fn call(self) -> &'static str {
        match self {
            Self::Asking => "book day=friday",
            Self::Plain => "book day=friday name=Ada guests:=4",
        }
    }
}

/// A file of a project, by its path in the folder.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: &'static str,
    pub(super) text: String,
}

/// The files of a project that depends on `checkout`, or else on what is published.
pub(super) fn files(kind: ProjectKind, name: &ProjectName, checkout: Option<&Path>) -> Vec<File> {
    let (main, dockerfile, gitignore, readme) = match kind.transport {
        Transport::Http => (
            include_str!("../../template/http/main.rs"),
            include_str!("../../template/http/Dockerfile"),
            include_str!("../../template/http/gitignore"),
            include_str!("../../template/http/README.md"),
        ),
        Transport::Stdio => (
            include_str!("../../template/stdio/main.rs"),
            include_str!("../../template/stdio/Dockerfile"),
            include_str!("../../template/stdio/gitignore"),
            include_str!("../../template/stdio/README.md"),
        ),
    };
    let (library, tests) = match kind.style {
        Style::Asking => (
            include_str!("../../template/asking/lib.rs"),
            include_str!("../../template/asking/tools.rs"),
        ),
        Style::Plain => (
            include_str!("../../template/plain/lib.rs"),
            include_str!("../../template/plain/tools.rs"),
        ),
    };
    let files = [
        ("Cargo.toml", include_str!("../../template/manifest.toml")),
        ("README.md", readme),
        ("src/lib.rs", library),
        ("src/main.rs", main),
        ("tests/tools.rs", tests),
        ("Dockerfile", dockerfile),
        (".dockerignore", include_str!("../../template/dockerignore")),
        (
            ".github/workflows/ci.yml",
            include_str!("../../template/ci.yml"),
        ),
        (".gitignore", gitignore),
    ];
    let named = |text: &str| {
        let text = text.replace("my-server", name.package());
        let text = text.replace("my_server", &name.library());
        text.replace("{{call}}", kind.style.call())
    };
    let mut files: Vec<File> = files
        .into_iter()
        .map(|(path, text)| File {
            path,
            text: named(text),
        })
        .collect();
    if let (Some(checkout), [manifest, ..]) = (checkout, &mut files[..]) {
        depend_on(checkout, &mut manifest.text);
    }
    files
}

/// Has the manifest take Sterna from a checkout.
fn depend_on(checkout: &Path, manifest: &mut String) {
    let path = checkout.join("crates/sterna");
    // A string of TOML that begins with `'` has no escapes; one with `"` has those of JSON.
    let path = match path.to_string_lossy() {
        plain if !plain.contains('\'') => format!("'{plain}'"),
        odd => serde_json::Value::from(odd).to_string(),
    };
    *manifest = manifest
        .replace("sterna = \"0.1\"", &format!("sterna = {{ path = {path} }}"))
        .replace(
            "sterna = { version = \"0.1\",",
            &format!("sterna = {{ path = {path},"),
        );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_names_the_published_crate_or_a_checkout() {
        let kind = ProjectKind {
            transport: Transport::Http,
            style: Style::Asking,
        };
        let name = ProjectName::of_folder(Path::new("deployer")).unwrap();
        let manifest = |checkout: Option<&str>| {
            let files = files(kind, &name, checkout.map(Path::new));
            toml::from_str::<toml::Table>(&files[0].text).unwrap()
        };
        let published = manifest(None);
        assert_eq!(published["package"]["name"].as_str(), Some("deployer"));
        assert_eq!(published["dependencies"]["sterna"].as_str(), Some("0.1"));
        for (checkout, path) in [
            ("/home/ada/sterna", "/home/ada/sterna/crates/sterna"),
            ("/home/o'hara/\"s\"", "/home/o'hara/\"s\"/crates/sterna"),
        ] {
            let local = manifest(Some(checkout));
            for table in ["dependencies", "dev-dependencies"] {
                let found = &local[table]["sterna"];
                assert_eq!(found["path"].as_str(), Some(path), "{table}");
                assert!(found.get("version").is_none());
            }
        }
    }

    #[test]
    fn the_version_of_the_manifest_is_the_one_of_this_crate() {
        let version = env!("CARGO_PKG_VERSION");
        let (short, _) = version.rsplit_once('.').unwrap();
        let manifest = include_str!("../../template/manifest.toml");
        assert!(manifest.contains(&format!("\nsterna = \"{short}\"\n")));
        assert!(manifest.contains(&format!("version = \"{short}\", features = [\"testkit\"]")));
    }
}
