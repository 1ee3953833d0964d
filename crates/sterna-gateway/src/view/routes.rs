use std::collections::HashMap;

/// Servers by the names and URIs that they offer. A server is its index.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(super) tools: HashMap<String, Route>,
    pub(super) prompts: HashMap<String, Route>,
    pub(super) resources: HashMap<String, usize>,
    /// Patterns, each with the text before its first variable.
    pub(super) templates: Vec<(String, String, usize)>,
    /// Servers that have resources.
    pub(super) with_resources: Vec<usize>,
}

/// A server, and its own name for what is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) server: usize,
    pub(crate) name: String,
    /// A call that is lost may be sent anew.
    pub(crate) may_reissue: bool,
}

impl Routes {
    pub(crate) fn tool(&self, name: &str) -> Option<Route> {
        self.tools.get(name).cloned()
    }

    pub(crate) fn prompt(&self, name: &str) -> Option<Route> {
        self.prompts.get(name).cloned()
    }

    /// Server of the template `pattern`.
    pub(crate) fn template(&self, pattern: &str) -> Option<Route> {
        let mut templates = self.templates.iter();
        let (_, _, server) = templates.find(|(known, _, _)| known == pattern)?;
        Some(Route {
            server: *server,
            name: pattern.to_owned(),
            may_reissue: false,
        })
    }

    /// Server of the resource at `uri`: the one that lists it; else the one whose
    /// template begins like it, the longest beginning first; else the only one
    /// that has resources.
    pub(crate) fn resource(&self, uri: &str) -> Option<Route> {
        let listed = self.resources.get(uri).copied();
        let by_template = || {
            let fitting = self.templates.iter();
            let fitting = fitting.filter(|(_, start, _)| uri.starts_with(start.as_str()));
            let longest = fitting.max_by_key(|(_, start, _)| start.len())?;
            Some(longest.2)
        };
        let only = || match self.with_resources[..] {
            [only] => Some(only),
            _ => None,
        };
        let server = listed.or_else(by_template).or_else(only)?;
        Some(Route {
            server,
            name: uri.to_owned(),
            may_reissue: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_no_list_names_is_found_by_the_longest_beginning() {
        let template =
            |pattern: &str, start: &str, server| (pattern.to_owned(), start.to_owned(), server);
        let routes = Routes {
            resources: HashMap::from([("file:///a/b".to_owned(), 0)]),
            templates: vec![
                template("file:///{+path}", "file:///", 1),
                template("file:///a/{name}", "file:///a/", 2),
            ],
            with_resources: vec![0, 1, 2],
            ..Routes::default()
        };
        let server = |uri| routes.resource(uri).map(|route| route.server);
        assert_eq!(server("file:///a/b"), Some(0));
        assert_eq!(server("file:///a/c"), Some(2));
        assert_eq!(server("file:///c"), Some(1));
        assert_eq!(server("note://c"), None);
        let alone = Routes {
            with_resources: vec![3],
            ..Routes::default()
        };
        assert_eq!(
            alone.resource("note://c").map(|route| route.server),
            Some(3)
        );
    }
}
