use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};
use proptest::sample::{Index, select};
use sterna_protocol::sse::{Event, EventReader, Frame, write_keep_alive};

const CAP: usize = 40;

/// Everything that a stream yields when it arrives in these pieces.
fn read<'a>(reader: &mut EventReader, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
    let mut seen = Vec::new();
    for mut chunk in chunks {
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(Event { event, data, .. })) => {
                    seen.push(format!("{event} {:?}", String::from_utf8_lossy(&data)));
                }
                Ok(None) => break,
                Err(error) => {
                    seen.push(error.to_string());
                    return seen;
                }
            }
        }
    }
    seen.push(format!(
        "id {:?} retry {:?}",
        reader.last_event_id(),
        reader.retry()
    ));
    seen
}

#[track_caller]
fn check(stream: impl AsRef<[u8]>, expected: Expect) {
    let stream = stream.as_ref();
    let whole = read(&mut EventReader::new(CAP), [stream]);
    let single = read(&mut EventReader::new(CAP), stream.chunks(1));
    assert_eq!(whole, single);
    expected.assert_eq(&whole.join("\n"));
}

#[test]
fn a_blank_line_ends_an_event() {
    check(
        "data: one\n\ndata: two\n\n",
        expect![[r#"
        message "one"
        message "two"
        id None retry None"#]],
    );
    check(
        "data: one\n\ndata: cut off\n",
        expect![[r#"
        message "one"
        id None retry None"#]],
    );
    check("\n\n\n", expect!["id None retry None"]);
}

#[test]
fn every_kind_of_line_end_counts_once() {
    check(
        "data: lf\n\ndata: cr\r\rdata: crlf\r\n\r\n",
        expect![[r#"
        message "lf"
        message "cr"
        message "crlf"
        id None retry None"#]],
    );
    check(
        "data: a\r\ndata: b\r\n\r\n",
        expect![[r#"
        message "a\nb"
        id None retry None"#]],
    );
    check(
        "data: a\rdata: b\n\r",
        expect![[r#"
        message "a\nb"
        id None retry None"#]],
    );
    check(
        "data: a\n\r\ndata: b\r\r\n",
        expect![[r#"
        message "a"
        message "b"
        id None retry None"#]],
    );
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    check(
        "\u{feff}data: a\n\n",
        expect![[r#"
        message "a"
        id None retry None"#]],
    );
    check(
        "data: a\n\n\u{feff}data: b\n\n",
        expect![[r#"
        message "a"
        id None retry None"#]],
    );
    check("\u{feff}\u{feff}data: a\n\n", expect!["id None retry None"]);
    check(
        "data: \u{feff}\n\n",
        expect![[r#"
        message "\u{feff}"
        id None retry None"#]],
    );
}

#[test]
fn lines_of_data_are_joined() {
    check(
        "data: a\ndata: b\n\n",
        expect![[r#"
        message "a\nb"
        id None retry None"#]],
    );
    check(
        "data\n\n",
        expect![[r#"
        message ""
        id None retry None"#]],
    );
    check(
        "data:\n\n",
        expect![[r#"
        message ""
        id None retry None"#]],
    );
    check(
        "data\ndata\n\n",
        expect![[r#"
        message "\n"
        id None retry None"#]],
    );
    check(
        "data: a\nevent: x\ndata: b\n\n",
        expect![[r#"
        x "a\nb"
        id None retry None"#]],
    );
}

#[test]
fn one_space_behind_the_colon_is_not_data() {
    check(
        "data:a\n\ndata: a\n\ndata:  a\n\ndata:\ta\n\n",
        expect![[r#"
        message "a"
        message "a"
        message " a"
        message "\ta"
        id None retry None"#]],
    );
    check(
        "data: a: b\n\n",
        expect![[r#"
        message "a: b"
        id None retry None"#]],
    );
}

#[test]
fn comments_and_unknown_fields_are_skipped() {
    check(
        ": hello\n:\ndata: a\n:data: b\ndata : c\nDATA: d\nother: e\n: x\n\n",
        expect![[r#"
            message "a"
            id None retry None"#]],
    );
}

#[test]
fn comments_keep_a_stream_alive_for_ever() {
    let mut stream = "data: a\n".to_owned();
    stream += &":\n".repeat(1000);
    stream += &": keep-alive\r\n".repeat(1000);
    stream += "\n";
    check(
        stream,
        expect![[r#"
        message "a"
        id None retry None"#]],
    );
}

#[test]
fn an_event_has_its_name_or_is_a_message() {
    check(
        "event: endpoint\ndata: /m\n\ndata: b\n\n",
        expect![[r#"
        endpoint "/m"
        message "b"
        id None retry None"#]],
    );
    check(
        "event: a\nevent: b\ndata\n\n",
        expect![[r#"
        b ""
        id None retry None"#]],
    );
    check(
        "event: a\nevent\ndata\n\n",
        expect![[r#"
        message ""
        id None retry None"#]],
    );
    check(
        "event: lost\n\ndata: b\n\n",
        expect![[r#"
        message "b"
        id None retry None"#]],
    );
    check(
        "event: message\ndata: b\n\n",
        expect![[r#"
        message "b"
        id None retry None"#]],
    );
}

#[test]
fn the_last_id_is_that_of_the_last_whole_event() {
    check(
        "id: 1\ndata: a\n\ndata: b\n\n",
        expect![[r#"
        message "a"
        message "b"
        id Some("1") retry None"#]],
    );
    check("id: 1\n\n", expect![[r#"id Some("1") retry None"#]]);
    check(
        "id: 1\n\nid: 2\ndata: cut off",
        expect![[r#"id Some("1") retry None"#]],
    );
    check("id: 1\n\nid\n\n", expect!["id None retry None"]);
    check(
        "id: 1\n\nid: 2\0\n\n",
        expect![[r#"id Some("1") retry None"#]],
    );
}

#[test]
fn only_digits_say_when_to_come_back() {
    check("retry: 1500\n", expect!["id None retry Some(1500)"]);
    check(
        "retry: 1500\nretry: soon\nretry: -1\nretry: +1\nretry:\nretry: 1.5\n",
        expect!["id None retry Some(1500)"],
    );
    check(
        "retry: 99999999999999999999\n",
        expect!["id None retry None"],
    );
}

#[test]
fn data_is_handed_on_as_it_came() {
    check(
        b"data: \xff\x00\xc3\n\n",
        expect![[r#"
        message "�\0�"
        id None retry None"#]],
    );
}

#[test]
fn an_event_is_held_up_to_the_cap() {
    let data = |len: usize| format!("data: {}\n\n", "x".repeat(len));
    check(
        data(CAP - 6),
        expect![[r#"
        message "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
        id None retry None"#]],
    );
    check(data(CAP - 5), expect!["an event is longer than the limit"]);
    check(
        format!("data: ok\n\n{}", data(CAP)),
        expect![[r#"
        message "ok"
        an event is longer than the limit"#]],
    );
    check(
        "data: 1234\n".repeat(20),
        expect!["an event is longer than the limit"],
    );
    check(
        "x".repeat(CAP + 1),
        expect!["an event is longer than the limit"],
    );
    check(
        format!("event: {}\ndata: {}\n", "x".repeat(20), "x".repeat(20)),
        expect!["an event is longer than the limit"],
    );
    check(
        format!("id: {}\ndata: {}\n", "x".repeat(20), "x".repeat(20)),
        expect!["an event is longer than the limit"],
    );
}

#[test]
fn a_stream_that_went_over_the_cap_stays_lost() {
    let mut reader = EventReader::new(4);
    assert!(reader.read(&mut &b"data: long\n\n"[..]).is_err());
    assert!(reader.read(&mut &b"\n\n"[..]).is_err());
}

#[test]
fn every_way_to_cut_a_stream_gives_the_same() {
    for stream in [
        "\u{feff}data\r\n\r\n:\r",
        "id:1\rdata\n\r\n",
        "event:e\ndata\r\r",
    ] {
        let stream = stream.as_bytes();
        let whole = read(&mut EventReader::new(CAP), [stream]);
        for cuts in 0..1_u32 << (stream.len() - 1) {
            let mut chunks = Vec::new();
            let mut start = 0;
            for end in 1..=stream.len() {
                if end == stream.len() || cuts & (1 << (end - 1)) != 0 {
                    chunks.push(&stream[start..end]);
                    start = end;
                }
            }
            assert_eq!(read(&mut EventReader::new(CAP), chunks), whole, "{cuts:b}");
        }
    }
}

fn written(frame: Frame<'_>, data: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    let write = |buffer: &mut Vec<u8>| {
        buffer.extend_from_slice(data);
        Ok::<(), ()>(())
    };
    frame.write(&mut buffer, write).unwrap();
    buffer
}

#[test]
fn an_event_is_written_in_full() {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    expect![[r#"
        data: {}

    "#]]
    .assert_eq(&text(written(Frame::new(), b"{}")));
    let frame = Frame::new().with_event("endpoint").unwrap();
    let frame = frame.with_id("7").unwrap().with_retry(1500);
    expect![[r#"
        event: endpoint
        id: 7
        retry: 1500
        data: 

    "#]]
    .assert_eq(&text(written(frame, b"")));
    expect![[r#"
        data: {
        data:  1,
        data:  2,
        data:  3
        data: }

    "#]]
    .assert_eq(&text(written(Frame::new(), b"{\n 1,\r\n 2,\r 3\n}")));
}

#[test]
fn a_field_of_one_line_takes_no_more() {
    for text in ["a\nb", "a\rb", "a\0b", "\n"] {
        assert!(Frame::new().with_event(text).is_err());
        assert!(Frame::new().with_id(text).is_err());
    }
}

#[test]
fn data_that_cannot_be_written_leaves_the_buffer_alone() {
    let mut buffer = b"before".to_vec();
    let failed = Frame::new().with_retry(1).write(&mut buffer, |data| {
        data.extend_from_slice(b"half");
        Err("no")
    });
    assert_eq!((failed, &buffer[..]), (Err("no"), &b"before"[..]));
}

#[test]
fn a_keep_alive_is_nothing_to_a_reader() {
    let mut stream = Vec::new();
    write_keep_alive(&mut stream);
    stream.extend(written(Frame::new(), b"a"));
    check(
        stream,
        expect![[r#"
        message "a"
        id None retry None"#]],
    );
}

proptest! {
    #[test]
    fn where_a_stream_is_cut_makes_no_difference(
        parts in vec(select(&["data", "id", "event", "retry", ":", " ", "\n", "\r", "7", "\u{feff}", "x\0"][..]), 0..60),
        cuts in vec(any::<Index>(), 0..20),
    ) {
        let stream = parts.concat().into_bytes();
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        places.extend([0, stream.len()]);
        places.sort_unstable();
        let chunks = places.windows(2).map(|ends| &stream[ends[0]..ends[1]]);
        let whole = read(&mut EventReader::new(CAP), [&stream[..]]);
        prop_assert_eq!(read(&mut EventReader::new(CAP), chunks), whole);
    }

    #[test]
    fn what_is_written_is_read(data in any::<String>(), id in "[^\r\n\0]*") {
        let frame = Frame::new().with_id(&id).unwrap();
        let stream = written(frame, data.as_bytes());
        let mut reader = EventReader::new(stream.len());
        let mut chunk = &stream[..];
        let event = reader.read(&mut chunk).unwrap().unwrap();
        prop_assert!(chunk.is_empty());
        let lines = data.replace("\r\n", "\n").replace('\r', "\n");
        prop_assert_eq!(String::from_utf8(event.data).unwrap(), lines);
        prop_assert_eq!(reader.last_event_id().unwrap_or_default(), id);
    }
}
