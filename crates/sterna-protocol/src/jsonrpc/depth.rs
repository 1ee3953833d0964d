/// Largest depth of nested objects and arrays in a message.
///
/// `serde_json` limits the depth of what it decodes, but not of skipped or raw
/// text. A forwarded payload would pass its depth on to the next reader.
pub const MAX_DEPTH: usize = 127;

/// Returns true if `json` is nested more deeply than [`MAX_DEPTH`].
pub(super) fn too_deep(json: &[u8]) -> bool {
    // Text with at most MAX_DEPTH openers cannot be deeper, and counting them is
    // far cheaper than finding out which of them are in strings.
    openers(json) > MAX_DEPTH && deepest(json) > MAX_DEPTH
}

/// The number of brackets and braces that open, those in strings too.
pub(crate) fn openers(json: &[u8]) -> usize {
    // A chunk's count fits a byte, which lets the compiler count 16 at once.
    json.chunks(255)
        .map(|chunk| usize::from(chunk.iter().map(|&byte| u8::from(opens(byte))).sum::<u8>()))
        .sum()
}

/// Matches `[` and `{`, which differ in one bit; so do `]` and `}`.
fn opens(byte: u8) -> bool {
    byte | 0x20 == b'{'
}

fn closes(byte: u8) -> bool {
    byte | 0x20 == b'}'
}

fn deepest(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'"' {
            skip_string(&mut bytes);
        } else if opens(byte) {
            depth += 1;
            deepest = deepest.max(depth);
        } else if closes(byte) {
            depth = depth.saturating_sub(1);
        }
    }
    deepest
}

fn skip_string(bytes: &mut impl Iterator<Item = u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_where_serde_json_has_it() {
        for depth in [1, MAX_DEPTH, MAX_DEPTH + 1, 100_000] {
            let json = "[".repeat(depth) + &"]".repeat(depth);
            let refused = serde_json::from_str::<serde_json::Value>(&json).is_err();
            assert_eq!(too_deep(json.as_bytes()), refused, "{depth}");
        }
    }

    #[test]
    fn width_and_text_are_not_depth() {
        let wide = format!("[{}0]", "[{}],".repeat(1000));
        assert!(!too_deep(wide.as_bytes()));
        let text = format!(r#"["\"{}\\"]"#, "[{".repeat(1000));
        assert!(!too_deep(text.as_bytes()));
    }

    #[test]
    fn openers_are_counted_across_chunks() {
        assert_eq!(openers(&b"[{x".repeat(1000)), 2000);
    }
}
