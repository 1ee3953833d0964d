use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert_eq, proptest};
use proptest::sample::{Index, select};
use serde_json::value::RawValue;
use sterna_protocol::jsonrpc::Notification;
use sterna_protocol::lines::{LineReader, write};

const CAP: usize = 8;

/// Everything that a stream yields when it arrives in these pieces.
fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut reader = LineReader::new(CAP);
    let mut seen = Vec::new();
    for mut chunk in chunks {
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(line)) => seen.push(format!("{:?}", String::from_utf8_lossy(line))),
                Ok(None) => break,
                Err(error) => seen.push(format!("({error})")),
            }
        }
    }
    seen.push(format!("rest {:?}", String::from_utf8_lossy(reader.rest())));
    seen
}

#[track_caller]
fn check(stream: &str, expected: Expect) {
    let stream = stream.as_bytes();
    let whole = read([stream]);
    assert_eq!(whole, read(stream.chunks(1)));
    assert_eq!(whole, read(stream.chunks(3)));
    expected.assert_eq(&whole.join(" | "));
}

#[test]
fn each_line_is_a_message() {
    check("{}\n[]\n", expect![[r#""{}" | "[]" | rest """#]]);
    check("{}\r\n[]\r\n", expect![[r#""{}" | "[]" | rest """#]]);
    check("{}\r[]\n", expect![[r#""{}\r[]" | rest """#]]);
}

#[test]
fn blank_lines_are_no_messages() {
    check("\n\n  \n\t\r\n{}\n\r\n", expect![[r#""{}" | rest """#]]);
}

#[test]
fn an_unfinished_line_is_kept_apart() {
    check("{}\n[1,", expect![[r#""{}" | rest "[1,""#]]);
    check("", expect![[r#"rest """#]]);
}

#[test]
fn a_line_that_is_too_long_is_skipped_and_the_next_one_read() {
    check(
        "12345678\n123456789\nok\n",
        expect![[r#""12345678" | (a line is longer than the limit) | "ok" | rest """#]],
    );
    check(
        "1234567890123456789012345\nok\n",
        expect![[r#"(a line is longer than the limit) | "ok" | rest """#]],
    );
    check(
        "1234567890123",
        expect![[r#"(a line is longer than the limit) | rest """#]],
    );
    check(
        "         \nok\n",
        expect![[r#"(a line is longer than the limit) | "ok" | rest """#]],
    );
}

#[test]
fn a_message_is_written_as_one_line() {
    let params = RawValue::from_string("{\r\n  \"a\": \"\\n\"\n}".to_owned()).unwrap();
    let mut buffer = b"{}\n".to_vec();
    write(&mut buffer, |line| {
        Notification::new("n", &params).encode(line)
    })
    .unwrap();
    expect![[r#"
        {}
        {"jsonrpc":"2.0","method":"n","params":{    "a": "\n" }}
    "#]]
    .assert_eq(str::from_utf8(&buffer).unwrap());
}

#[test]
fn a_message_that_cannot_be_written_leaves_the_buffer_alone() {
    let mut buffer = b"{}\n".to_vec();
    let failed = write(&mut buffer, |line| {
        line.extend_from_slice(b"half");
        Err("no")
    });
    assert_eq!((failed, &buffer[..]), (Err("no"), &b"{}\n"[..]));
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_makes_no_difference(
        stream in vec(select(&b"\n\n\n\r ab{}"[..]), 0..80),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        places.extend([0, stream.len()]);
        places.sort_unstable();
        let chunks = places.windows(2).map(|ends| &stream[ends[0]..ends[1]]);
        prop_assert_eq!(read(chunks), read([&stream[..]]));
    }
}
