use std::path::Path;

use crate::exit::Failure;
use crate::text::excerpt;

/// Name of a project that cargo accepts, and that builds without a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProjectName(String);

impl ProjectName {
    /// Name of the project in `folder`.
    pub(super) fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let name = folder.file_name().ok_or_else(|| {
            let shown = folder.display();
            Failure::usage(format!(
                "`{shown}` ends in no name that a project could have"
            ))
            .hint("name a folder, such as `sterna new deployer`")
        })?;
        let name = name.to_string_lossy();
        match objection(&name) {
            None => Ok(Self(name.into_owned())),
            Some(why) => {
                let wrong = format!("`{}` cannot be the name of a crate: {why}", excerpt(&name));
                let failure = Failure::usage(wrong);
                Err(match suggestion(&name) {
                    Some(better) => failure.hint(format!("try `{better}`")),
                    None => failure.hint("such as `sterna new deployer`"),
                })
            }
        }
    }

    /// Name of the package and of its program.
    pub(super) fn package(&self) -> &str {
        &self.0
    }

    /// Name of the library in Rust code.
    pub(super) fn library(&self) -> String {
        self.0.replace('-', "_")
    }
}

fn objection(name: &str) -> Option<&'static str> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if name.is_empty() || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Some("it begins with a small letter from a to z");
    }
    if !name.chars().all(is_part) {
        return Some("it has small letters from a to z, digits, `-` and `_`");
    }
    if name.len() > LONGEST {
        return Some("it has at most 64 characters");
    }
    if KEYWORDS.contains(&name) {
        return Some("it is a word of Rust");
    }
    if TAKEN.contains(&name.replace('_', "-").as_str()) {
        return Some("a crate that the project uses, or cargo itself, has this name");
    }
    None
}

/// A name close to one that cannot be taken.
fn suggestion(name: &str) -> Option<String> {
    let mut better = String::new();
    let mut last = ' ';
    for character in name.chars() {
        match character {
            'A'..='Z' if last.is_ascii_lowercase() => {
                better.push('-');
                better.push(character.to_ascii_lowercase());
            }
            'A'..='Z' => better.push(character.to_ascii_lowercase()),
            'a'..='z' | '0'..='9' | '-' | '_' => better.push(character),
            _ if !better.is_empty() && !better.ends_with('-') => better.push('-'),
            _ => {}
        }
        last = character;
    }
    let better = better.trim_matches(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
    let mut better = better.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
    if better.len() > LONGEST {
        better = better.get(..LONGEST)?.trim_end_matches('-');
    }
    if KEYWORDS.contains(&better) || TAKEN.contains(&better) {
        return Some(format!("{better}-server"));
    }
    objection(better).is_none().then(|| better.to_owned())
}

const LONGEST: usize = 64;

/// Reserved words that are made of small letters.
const KEYWORDS: [&str; 51] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates of the project, and names that cargo keeps for itself.
const TAKEN: [&str; 17] = [
    "alloc",
    "build",
    "core",
    "deps",
    "examples",
    "incremental",
    "mimalloc",
    "proc-macro",
    "schemars",
    "serde",
    "serde-json",
    "std",
    "sterna",
    "test",
    "tests",
    "tokio",
    "tools",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cargo_refuses_is_refused_with_a_better_one() {
        for (name, expected) in [
            ("deployer", None),
            ("my-server_2", None),
            ("MyServer", Some("try `my-server`")),
            ("HTTP", Some("try `http`")),
            ("1st", Some("try `st`")),
            ("my server", Some("try `my-server`")),
            ("-x", Some("try `x`")),
            ("größe", Some("try `gr-e`")),
            ("日本", Some("such as `sterna new deployer`")),
            ("async", Some("try `async-server`")),
            ("serde_json", Some("such as `sterna new deployer`")),
            ("test", Some("try `test-server`")),
        ] {
            let hint = ProjectName::of_folder(Path::new(name)).err();
            let hint = hint.and_then(|failure| failure.hint);
            assert_eq!(hint.as_deref(), expected, "{name}");
        }
        let long = "a".repeat(65);
        assert!(ProjectName::of_folder(Path::new(&long)).is_err());
        for nameless in ["..", "/", "."] {
            let failure = ProjectName::of_folder(Path::new(nameless)).unwrap_err();
            assert!(failure.error.to_string().contains("no name"), "{nameless}");
        }
    }

    #[test]
    fn the_library_has_the_name_that_rust_code_can_say() {
        let name = ProjectName::of_folder(Path::new("/somewhere/my-server")).unwrap();
        assert_eq!(name.package(), "my-server");
        assert_eq!(name.library(), "my_server");
    }
}
