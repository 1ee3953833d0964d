//! The modules of a crate: no cycles between them, and no type name twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::Complaint;
use super::tree::Tree;

/// Modules for one revision of the protocol each. The specification gives its
/// types the same names in every revision, so a name counts as repeated only
/// within one of these modules, or outside of all of them.
const REVISIONS: [(&str, &str); 2] = [
    ("sterna-protocol", "legacy"),
    ("sterna-protocol", "sep2322"),
];

/// Top-level modules of a crate, each with those it uses.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut crates: BTreeMap<&str, Vec<(&Path, &str)>> = BTreeMap::new();
    for (path, text) in tree.with_extension("rs") {
        let parts: Vec<_> = path.iter().filter_map(|part| part.to_str()).collect();
        if let ["crates", krate, "src", ..] = *parts.as_slice()
            && !parts.iter().any(|part| is_of_tests(part))
        {
            crates.entry(krate).or_default().push((path, text));
        }
    }
    let mut complaints = Vec::new();
    for (krate, mut files) in crates {
        let tests = test_modules(&files);
        files.retain(|(path, _)| place(path).is_none_or(|(module, _)| !tests.contains(module)));
        if let Some(cycle) = cycle(&graph(&files)) {
            complaints.push(format!(
                "{krate}: modules use each other in a cycle: {}; move what they share below both",
                cycle.join(" -> ")
            ));
        }
        complaints.extend(twice(krate, &files));
    }
    complaints
}

fn is_of_tests(part: &str) -> bool {
    // The contract of the stores is a suite of tests that is shipped.
    matches!(part, "tests" | "tests.rs" | "contract")
}

/// Modules that the root of a crate declares for its unit tests only.
fn test_modules(files: &[(&Path, &str)]) -> BTreeSet<String> {
    let declared = Regex::new(r"(?m)^#\[cfg\(test\)\]\nmod (\w+);").expect("the pattern is valid");
    let roots = files.iter().filter(|(path, _)| place(path).is_none());
    roots
        .flat_map(|(_, text)| declared.captures_iter(text))
        .map(|found| found[1].to_owned())
        .collect()
}

/// The source without its comments and its unit tests.
fn code(text: &str) -> String {
    let lines = text.lines();
    let lines = lines.take_while(|line| !line.starts_with("#[cfg(test)]"));
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn graph<'a>(files: &[(&'a Path, &str)]) -> Graph<'a> {
    let used = Regex::new(r"crate::\{?\s*([a-z_0-9]+)").expect("the pattern is valid");
    let mut graph = Graph::new();
    for (path, _) in files {
        if let Some((module, _)) = place(path) {
            graph.entry(module).or_default();
        }
    }
    for (path, text) in files {
        let Some((module, depth)) = place(path) else {
            continue;
        };
        let code = code(text);
        let upwards = format!(
            r"(?:^|[^:\w]){}\{{?\s*([a-z_0-9]+)",
            "super::".repeat(depth)
        );
        let upwards = Regex::new(&upwards).expect("the pattern is valid");
        for found in used
            .captures_iter(&code)
            .chain(upwards.captures_iter(&code))
        {
            let name = found.get(1).map_or("", |name| name.as_str());
            let known = graph.keys().copied().find(|known| *known == name);
            if let Some(known) = known.filter(|known| *known != module) {
                graph.entry(module).or_default().insert(known);
            }
        }
    }
    graph
}

/// The top-level module that a file belongs to, and how many `super::` lead
/// from it to the root; `None` for the root itself.
fn place(path: &Path) -> Option<(&str, usize)> {
    let below = path.iter().skip(3).filter_map(|part| part.to_str());
    let below: Vec<_> = below.collect();
    let (file, folders) = below.split_last()?;
    let stem = file.strip_suffix(".rs")?;
    match folders.first() {
        None if matches!(stem, "lib" | "main") => None,
        None => Some((stem, 1)),
        Some(module) if stem == "mod" => Some((*module, folders.len())),
        Some(module) => Some((*module, folders.len() + 1)),
    }
}

/// Modules that use each other in a circle, the first one again at the end.
fn cycle<'a>(graph: &Graph<'a>) -> Option<Vec<&'a str>> {
    let mut done = BTreeSet::new();
    for module in graph.keys() {
        let mut way = vec![];
        if let Some(cycle) = follow(graph, module, &mut way, &mut done) {
            return Some(cycle);
        }
    }
    None
}

fn follow<'a>(
    graph: &Graph<'a>,
    module: &'a str,
    way: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
) -> Option<Vec<&'a str>> {
    if let Some(at) = way.iter().position(|before| *before == module) {
        let mut cycle = way[at..].to_vec();
        cycle.push(module);
        return Some(cycle);
    }
    if !done.insert(module) {
        return None;
    }
    way.push(module);
    for used in &graph[module] {
        // One that is on the way is done too, and closes a cycle.
        if way.contains(used) || !done.contains(used) {
            let found = follow(graph, used, way, done);
            if found.is_some() {
                return found;
            }
        }
    }
    way.pop();
    None
}

/// Type names that stand for two things in one crate.
fn twice(krate: &str, files: &[(&Path, &str)]) -> Vec<Complaint> {
    let declared = r"(?m)^\s*(?:pub(?:\([a-z ]+\))? )?(?:struct|enum|trait) ([A-Z]\w*)";
    let declared = Regex::new(declared).expect("the pattern is valid");
    let mut names: BTreeMap<(&str, String), Vec<&Path>> = BTreeMap::new();
    for (path, text) in files {
        let module = place(path).map_or("", |(module, _)| module);
        let revision = match REVISIONS.contains(&(krate, module)) {
            true => module,
            false => "",
        };
        for found in declared.captures_iter(&code(text)) {
            let name = (revision, found[1].to_owned());
            names.entry(name).or_default().push(path);
        }
    }
    let complain = |((_, name), places): ((&str, String), Vec<&Path>)| {
        (places.len() > 1).then(|| {
            let places: Vec<_> = places
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            format!(
                "{krate}: `{name}` is two types, in {}",
                places.join(" and ")
            )
        })
    };
    names.into_iter().filter_map(complain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<Complaint> {
        check(&Tree::of(files))
    }

    #[test]
    fn modules_that_use_each_other_are_named() {
        let found = complaints(&[
            ("crates/a/src/lib.rs", "mod one;\nmod two;\nmod three;"),
            ("crates/a/src/one.rs", "use crate::two::Two;"),
            ("crates/a/src/two/mod.rs", "use super::three;"),
            ("crates/a/src/two/deep.rs", "// crate::nothing"),
            ("crates/a/src/three.rs", "use crate::{one::One, two};"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("one -> two -> three -> one"), "{found:?}");
    }

    #[test]
    fn tests_and_modules_of_one_folder_make_no_cycle() {
        let found = complaints(&[
            (
                "crates/a/src/one.rs",
                "#[cfg(test)]\nmod tests { use crate::two; }",
            ),
            ("crates/a/src/two/mod.rs", "use crate::one;"),
            ("crates/a/src/two/deep.rs", "use super::shallow;"),
            ("crates/a/src/two/shallow.rs", "use super::deep;"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn a_name_of_two_types_is_refused() {
        let found = complaints(&[
            ("crates/a/src/one.rs", "pub(crate) struct Verdict;"),
            ("crates/a/src/two.rs", "enum Verdict {}"),
            ("crates/b/src/one.rs", "struct Verdict;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("a: `Verdict`"), "{found:?}");
    }

    #[test]
    fn a_revision_of_the_protocol_has_names_of_its_own() {
        let found = complaints(&[
            ("crates/sterna-protocol/src/tool.rs", "pub struct Tool;"),
            (
                "crates/sterna-protocol/src/legacy/tool.rs",
                "pub struct Tool;",
            ),
            (
                "crates/sterna-protocol/src/legacy/task.rs",
                "pub struct Task;",
            ),
            (
                "crates/sterna-protocol/src/legacy/list.rs",
                "pub struct Task;",
            ),
            ("crates/a/src/legacy/tool.rs", "pub struct Tool;"),
            ("crates/a/src/tool.rs", "pub struct Tool;"),
        ]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a: `Tool`"), "{found:?}");
        assert!(found[1].starts_with("sterna-protocol: `Task`"), "{found:?}");
    }

    #[test]
    fn a_module_of_unit_tests_may_use_all_others() {
        let found = complaints(&[
            ("crates/a/src/lib.rs", "mod one;\n\n#[cfg(test)]\nmod laws;"),
            ("crates/a/src/one.rs", "impl crate::laws::Sample for One {}"),
            ("crates/a/src/laws/mod.rs", "use crate::one::One;"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
