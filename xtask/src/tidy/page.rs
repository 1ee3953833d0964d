//! A page of documentation: its prose and its blocks, by line.

use super::tree::Tree;

pub(super) struct Page<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

/// Fenced block of a page.
pub(super) struct Block<'a> {
    /// Number of the line that opens it.
    pub(super) line: usize,
    pub(super) text: &'a str,
    language: &'a str,
}

/// The README and everything in `docs`.
pub(super) fn pages(tree: &Tree) -> impl Iterator<Item = Page<'_>> {
    tree.with_extension("md").filter_map(|(path, text)| {
        let path = path.to_str()?;
        let is_page = path.starts_with("docs/") || path == "README.md";
        is_page.then_some(Page { path, text })
    })
}

impl<'a> Page<'a> {
    /// Blocks whose info string begins with `language`.
    pub(super) fn blocks(&self, language: &'static str) -> impl Iterator<Item = Block<'a>> {
        let blocks = self.all_blocks().into_iter();
        blocks.filter(move |block| block.language.split(',').next() == Some(language))
    }

    /// Lines outside of blocks, with their numbers.
    pub(super) fn prose(&self) -> Vec<(usize, &'a str)> {
        let mut is_block = false;
        let mut prose = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_block = !is_block;
            } else if !is_block {
                prose.push((number + 1, line));
            }
        }
        prose
    }

    fn all_blocks(&self) -> Vec<Block<'a>> {
        let mut blocks = Vec::new();
        let mut open: Option<(usize, &str, usize)> = None;
        let mut offset = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                match open.take() {
                    Some((line, language, begin)) => blocks.push(Block {
                        line,
                        text: &self.text[begin..offset],
                        language,
                    }),
                    None => open = Some((number + 1, language.trim(), offset + line.len())),
                }
            }
            offset += line.len();
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_prose_and_blocks() {
        let page = Page {
            path: "docs/a.md",
            text: "one\n```rust,no_run\nlet a = 1;\n```\ntwo\n```text\nx\n```\n",
        };
        let blocks: Vec<_> = page.blocks("rust").collect();
        assert_eq!(blocks.len(), 1);
        assert_eq!((blocks[0].line, blocks[0].text), (2, "let a = 1;\n"));
        assert_eq!(page.prose(), [(1, "one"), (5, "two")]);
    }
}
