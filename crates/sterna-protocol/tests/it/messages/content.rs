//! Constructors of content: authors pass bytes and types, the wire gets base64
//! and MIME types.

use expect_test::{Expect, expect};
use serde::Serialize;
use sterna_protocol::content::{AudioContent, ContentBlock, EmbeddedResource, ImageContent};
use sterna_protocol::resource::{BlobResourceContents, ResourceContents};

/// Bytes whose base64 needs padding and both letters beyond the alphanumeric.
const BYTES: &[u8] = &[0xfb, 0xff, 0xfe, 0x00];

#[track_caller]
fn check(value: &impl Serialize, expected: Expect) {
    expected.assert_eq(&serde_json::to_string(value).unwrap());
}

#[test]
fn pictures_and_sounds_are_bytes_in_base64_with_their_type() {
    check(
        &ContentBlock::Image(ImageContent::new(BYTES, "image/png")),
        expect![[r#"{"type":"image","data":"+//+AA==","mimeType":"image/png"}"#]],
    );
    check(
        &ContentBlock::Audio(AudioContent::new(BYTES, "audio/wav")),
        expect![[r#"{"type":"audio","data":"+//+AA==","mimeType":"audio/wav"}"#]],
    );
}

#[test]
fn an_embedded_resource_has_address_type_and_contents() {
    check(
        &ContentBlock::Resource(EmbeddedResource::text("note://1", "text/plain", "Milk")),
        expect![[
            r#"{"type":"resource","resource":{"uri":"note://1","text":"Milk","mimeType":"text/plain"}}"#
        ]],
    );
    check(
        &ContentBlock::Resource(EmbeddedResource::blob("note://2", "image/png", BYTES)),
        expect![[
            r#"{"type":"resource","resource":{"uri":"note://2","blob":"+//+AA==","mimeType":"image/png"}}"#
        ]],
    );
}

#[test]
fn a_binary_resource_is_bytes_in_base64() {
    check(
        &ResourceContents::from(BlobResourceContents::new("note://3", BYTES)),
        expect![[r#"{"uri":"note://3","blob":"+//+AA=="}"#]],
    );
}
