//! The direct reader against the careful one.
//!
//! Texts that clients send are mutated at random, from a fixed seed: bytes and
//! tokens inserted, removed, doubled and swapped. What the direct reader
//! returns must be what the careful one decodes.

use super::{ClientMemory, request};
use crate::jsonrpc::Message;
use crate::methods::{ClientNotification, ClientRequest};

type FromClient<'a> = Message<'a, ClientRequest, ClientNotification, serde::de::IgnoredAny>;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}"#;
const LONG_META: &str = r#""_meta": {"progressToken": "t-1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b", "baggage": "c=d", "io.modelcontextprotocol/logLevel": "info", "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {"roots": {}, "x": [1]}}"#;

/// Texts that the direct reader accepts.
fn usual() -> Vec<String> {
    let mut texts = Vec::new();
    for meta in [META, LONG_META] {
        for (method, params) in [
            (
                "tools/call",
                r#","name":"echo","arguments":{"message":"caf\u00e9 \"x\"","n":[1,-2.5e3,true,null,{"a":{}}]}"#,
            ),
            (
                "tools/call",
                r#","arguments": {"a": 1}, "name": "ask", "inputResponses": {"name": {"action":"accept","content":{"name":"Ada"}}, "b": null}, "requestState": "AbC-_9""#,
            ),
            ("tools/call", r#","name":"é""#),
            (
                "prompts/get",
                r#","name":"p","arguments":{"a":"1","b":"é\n"},"requestState":"""#,
            ),
            (
                "resources/read",
                r#","uri":"file:///a","inputResponses":{}"#,
            ),
            ("tools/list", r#","cursor":"abc""#),
            ("resources/list", ""),
            ("resources/templates/list", ""),
            ("prompts/list", ""),
            ("server/discover", ""),
        ] {
            for id in ["1", "0", "\"seven\"", "999999999999999999"] {
                texts.push(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}{params}}}}}"#
                ));
            }
            texts.push(format!(
                r#"{{ "method" : "{method}" , "params" : {{{meta}{params}}} , "id":7,"jsonrpc":"2.0" }} "#
            ));
        }
    }
    texts
}

/// Pieces that are put in, taken from what tells readers apart.
const PIECES: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\t",
    "\u{0}",
    "\u{7f}",
    "é",
    "\u{2028}",
    "0",
    "00",
    "-1",
    "1.0",
    "1e2",
    "7.5",
    "9223372036854775808",
    "null",
    "true",
    "\\u0041",
    "\\ud800",
    "\\n",
    r#""jsonrpc":"2.0","#,
    r#""jsonrpc":"1.0","#,
    r#""id":2,"#,
    r#""id":null,"#,
    r#""method":"tools/call","#,
    r#""method":"tools/list","#,
    r#""params":{},"#,
    r#""result":{},"#,
    r#""error":null,"#,
    r#""x":1,"#,
    r#""name":"other","#,
    r#""name":null,"#,
    r#""uri":"u","#,
    r#""cursor":"c","#,
    r#""cursor":null,"#,
    r#""arguments":{},"#,
    r#""arguments":[],"#,
    r#""arguments":null,"#,
    r#""inputResponses":{},"#,
    r#""inputResponses":{"name":1},"#,
    r#""requestState":"s","#,
    r#""requestState":null,"#,
    r#""_meta":{},"#,
    r#""progressToken":1,"#,
    r#""progressToken":null,"#,
    r#""traceparent":"t","#,
    r#""task":{},"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/protocolVersion":"2025-11-25","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"#,
    r#""io.modelcontextprotocol/clientInfo":null,"#,
    r#""io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientCapabilities":[],"#,
    r#""io.modelcontextprotocol/logLevel":"loud","#,
];

/// Small generator of a fixed sequence, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn mutate(&mut self, text: &mut Vec<u8>) {
        let at = self.below(text.len() + 1);
        match self.below(6) {
            0 if at < text.len() => {
                text.remove(at);
            }
            1 if at < text.len() => text[at] = u8::try_from(self.below(256)).unwrap(),
            2 => {
                let end = (at + self.below(40)).min(text.len());
                let copy = text[at..end].to_vec();
                let to = self.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            3 => {
                let end = (at + self.below(20)).min(text.len());
                text.drain(at..end);
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                // Most members make sense only where a member begins.
                let at = if piece.ends_with(',') && self.below(4) > 0 {
                    let begins = |place: &usize| matches!(text[*place], b'{' | b',');
                    let places = (0..text.len()).filter(begins).collect::<Vec<_>>();
                    places
                        .get(self.below(places.len().max(1)))
                        .map_or(at, |place| place + 1)
                } else {
                    at
                };
                text.splice(at..at, piece.bytes());
            }
        }
    }
}

/// Compares both readers; returns true if the direct one read the text.
#[track_caller]
fn check(text: &[u8], memory: &mut ClientMemory) -> bool {
    let Some((id, params)) = request(text, memory) else {
        return false;
    };
    match FromClient::decode(text) {
        Ok(Message::Request(careful)) => {
            let shown = String::from_utf8_lossy(text);
            // By their text too: numbers of another spelling are equal as values.
            assert_eq!(
                format!("{params:?}"),
                format!("{:?}", careful.params),
                "{shown}"
            );
            assert_eq!((id, params), (careful.id, careful.params), "{shown}");
            true
        }
        other => panic!("{other:?} of {}", String::from_utf8_lossy(text)),
    }
}

#[test]
fn usual_requests_are_read_directly_and_as_the_careful_decoder_reads_them() {
    let mut memory = ClientMemory::default();
    for text in usual() {
        assert!(check(text.as_bytes(), &mut memory), "{text}");
        // And again, from memory.
        assert!(check(text.as_bytes(), &mut memory), "{text}");
    }
    assert_eq!(memory.len(), 3);
}

#[test]
fn mutated_requests_are_read_as_the_careful_decoder_reads_them_or_left_to_it() {
    let texts = usual();
    let mut random = Random(0x5eed);
    let mut memory = ClientMemory::default();
    let mut read = 0;
    for turn in 0..TEXTS {
        let mut text = texts[random.below(texts.len())].clone().into_bytes();
        for _ in 0..=random.below(3) {
            random.mutate(&mut text);
        }
        if turn % 1000 == 0 {
            memory = ClientMemory::default();
        }
        read += usize::from(check(&text, &mut memory));
    }
    // Enough of both kinds, or the mutations are too weak or too strong.
    assert!((TEXTS / 50..TEXTS / 2).contains(&read), "{read} of {TEXTS}");
}

#[test]
fn unusual_requests_are_left_to_the_careful_decoder() {
    let call = |from: &str, to: &str| {
        let text = usual().swap_remove(0);
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    for text in [
        call(r#""jsonrpc":"2.0","#, r#""jsonrpc":"2.0","jsonrpc":"2.0","#),
        call(r#""jsonrpc":"2.0","#, ""),
        call(r#""id":1"#, r#""id":1.0"#),
        call(r#""id":1"#, r#""id":01"#),
        call(r#""id":1"#, r#""id":null"#),
        call(r#""method":"#, r#""m\u0065thod":"#),
        call(r#""name":"echo""#, r#""name":"ech\u006f""#),
        call(r#""name":"echo""#, r#""name":"echo","name":"echo""#),
        call(r#""name":"echo""#, r#""name":"echo","task":{}"#),
        call(r#""name":"echo""#, r#""name":"echo","uri":"x""#),
        call("2026-07-28", "2025-11-25"),
        call(r#""elicitation""#, "\"elicitation\":{},\"elicitation\""),
        call("}}}}", "}}}} x"),
        "".to_owned(),
        "[]".to_owned(),
    ] {
        assert!(
            request(text.as_bytes(), &mut ClientMemory::default()).is_none(),
            "{text}"
        );
    }
}

#[test]
fn a_memory_is_bounded_and_follows_the_text_exactly() {
    let mut memory = ClientMemory::default();
    let with = |info: &str| {
        usual()
            .swap_remove(0)
            .replacen(r#"{"name":"bench","version":"1.0.0"}"#, info, 1)
    };
    for number in 0..100 {
        let info = format!(r#"{{"name":"client {number}","version":"1"}}"#);
        assert!(check(with(&info).as_bytes(), &mut memory));
        assert!(memory.len() <= 5);
    }
    // One byte more or less is another client.
    for info in [
        r#"{"name":"client 99","version":"1" }"#,
        r#"{"name":"client 9","version":"1"}"#,
    ] {
        assert!(check(with(info).as_bytes(), &mut memory));
    }
    let mut memory = ClientMemory::default();
    let long = format!(r#"{{"name":"{}","version":"1"}}"#, "x".repeat(600));
    let wide = r#"{"name":"a","version":"1","a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"o":0}"#;
    for info in [&long, wide] {
        assert!(check(with(info).as_bytes(), &mut memory));
        assert_eq!(memory.len(), 1, "the capabilities only");
    }
}

/// Mutated texts; a few seconds in a build without optimisation.
const TEXTS: usize = 150_000;
