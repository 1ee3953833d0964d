use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Asked, DecodeError, Entry, Journal, Kind, Limits};
use crate::fingerprint::Fingerprint;
use crate::key::Key;

/// One entry of every kind, with every flag.
fn everything() -> Journal {
    let kinds = [
        (Kind::Answer, "approval", &b"{\"action\":\"accept\"}"[..]),
        (Kind::Step, "plan", b"\"A\""),
        (Kind::Once, "charge", b"1"),
        (Kind::Now, "start", &[0x80, 0x01]),
        (Kind::Timer, "wait@", &[b's', 0x80, 0x01]),
        (Kind::Elapsed, "wait", b""),
        (Kind::Memo, "m", b"null"),
        (Kind::Race, "r", b"2"),
        (Kind::Checkpoint, "c", b""),
        (Kind::Undo, "vm!", b""),
        (Kind::Rejected, "age", b"no number"),
    ];
    let mut entries: Vec<Entry> = kinds
        .into_iter()
        .map(|(kind, key, value)| Entry::new(Key::new(key), kind, value.into()))
        .collect();
    entries[0].fingerprint = Some(Fingerprint::new([0xaa; 16]));
    entries[1].failed = true;
    entries[1].secret = true;
    entries[2].by_ref = true;
    let asked = vec![Asked::new("größe~2", Fingerprint::new([0xbb; 16]))];
    Journal::from_parts(300, entries, asked).unwrap()
}

/// The first format, as it is in tokens and tables. It must never change: a
/// failure here means that flows in progress would be lost.
#[test]
fn the_first_format_is_frozen() {
    let digits: Vec<u32> = FIRST_FORMAT
        .chars()
        .filter_map(|c| c.to_digit(16))
        .collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect();
    assert_eq!(everything().encode(), bytes);
    let back = Journal::decode(bytes, &Limits::default());
    assert_eq!(back, Ok(everything()));
}

const FIRST_FORMAT: &str = "
    01ac020b010108617070726f76616caaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa13
    7b22616374696f6e223a22616363657074227d020a04706c616e032241220304
    0663686172676501310400057374617274028001050005776169744003738001
    06000477616974000700016d046e756c6c08000172013209000163000a000376
    6d21000b0003616765096e6f206e756d62657201096772c3b6c39f657e32bbbb
    bbbbbbbbbbbbbbbbbbbbbbbbbbbb
";

#[test]
fn a_log_shows_names_and_sizes() {
    let journal = everything();
    let shown = |at: usize| format!("{:?}", journal.entries()[at]);
    assert_eq!(shown(1), "Step plan failed (3 bytes)");
    assert_eq!(shown(2), "Once charge (1 bytes)");
    assert_eq!(journal.asked()[0].key.as_str(), "größe~2");
}

#[test]
fn one_entry_can_be_stored_alone() {
    for entry in everything().entries() {
        let bytes = entry.to_bytes();
        let back = Entry::from_bytes(bytes.clone(), &Limits::default());
        assert_eq!(back.as_ref(), Ok(entry));
        let longer = [&bytes[..], b"x"].concat();
        assert_eq!(
            Entry::from_bytes(longer.into(), &Limits::default()),
            Err(DecodeError::TrailingBytes)
        );
    }
}

#[track_caller]
fn refused(bytes: &[u8], expected: DecodeError) {
    let limits = Limits {
        entries: 2,
        key_bytes: 4,
        ..Limits::default()
    };
    assert_eq!(Journal::decode(bytes.to_vec(), &limits), Err(expected));
}

#[test]
fn what_is_no_journal_is_refused_for_a_reason() {
    refused(b"", DecodeError::Truncated);
    refused(&[2], DecodeError::Version(2));
    refused(&[1, 0], DecodeError::Truncated);
    refused(&[1, 0x80, 0, 0, 0], DecodeError::Number);
    refused(&[1, 0, 3], DecodeError::TooManyEntries { limit: 2 });
    refused(&[1, 0, 2, 0, 0], DecodeError::Truncated);
    refused(&[1, 0, 1, 99, 0, 1, b'a', 0, 0], DecodeError::Kind(99));
    refused(&[1, 0, 1, 2, 16, 1, b'a', 0, 0], DecodeError::Flags(16));
    refused(&[1, 0, 1, 2, 0, 0, 0, 0], DecodeError::Key);
    refused(
        &[1, 0, 1, 2, 0, 5, b'a', b'a', b'a', b'a', b'a', 0, 0],
        DecodeError::Key,
    );
    refused(&[1, 0, 1, 2, 0, 1, 0xff, 0, 0], DecodeError::Key);
    refused(&[1, 0, 1, 2, 0, 1, b'a', 9, 0], DecodeError::Truncated);
    refused(
        &[1, 0, 1, 2, 0, 4, b'a', b'a', b'a', b'a', 0, 0, 0],
        DecodeError::TrailingBytes,
    );
    refused(&[1, 0, 0, 0, 0], DecodeError::TrailingBytes);
    let twice = [1, 0, 2, 2, 0, 1, b'a', 0, 2, 0, 1, b'a', 0, 0];
    refused(&twice, DecodeError::DuplicateKey(Key::new("a")));
}

#[test]
fn numbers_end_at_the_largest() {
    use super::v1::{put_number, read_number};
    for number in [0, 1, 127, 128, 300, u64::MAX - 1, u64::MAX] {
        let mut bytes = Vec::new();
        put_number(&mut bytes, number);
        assert_eq!(read_number(&bytes), Ok((number, bytes.len())));
    }
    let one_too_large = [&[0xff; 9][..], &[2]].concat();
    assert_eq!(read_number(&one_too_large), Err(DecodeError::Number));
    assert_eq!(read_number(&[0xff; 11]), Err(DecodeError::Number));
}

#[test]
fn entries_that_a_memo_replaced_are_left_out() {
    let entry = |key, kind| Entry::new(Key::new(key), kind, Bytes::new());
    let entries = [
        entry("m*/a", Kind::Step),
        entry("b", Kind::Step),
        entry("m", Kind::Memo),
    ];
    let journal = Journal::from_entries(entries, []).unwrap();
    let keys: Vec<_> = journal.entries().iter().map(|e| e.key().as_str()).collect();
    assert_eq!(keys, ["b", "m"]);
}

#[test]
fn a_journal_can_be_rewritten_by_name() {
    let mut journal = everything();
    assert!(journal.rename("plan", "blueprint"));
    assert!(!journal.rename("plan", "again"));
    assert!(!journal.rename("blueprint", "charge"), "the name is taken");
    assert!(journal.set_value("blueprint", "\"B\""));
    assert!(!journal.set_value("plan", "\"B\""));
    assert_eq!(
        journal.remove("approval").map(|e| e.kind()),
        Some(Kind::Answer)
    );
    assert!(journal.remove("approval").is_none());
    assert_eq!(journal.entry("blueprint").unwrap().value(), "\"B\"");
    for entry in journal.entries() {
        let found = journal.entry(entry.key().as_str());
        assert_eq!(found, Some(entry), "the index follows");
    }
}

fn journals() -> impl Strategy<Value = Journal> {
    let kinds: Vec<Kind> = everything().entries().iter().map(Entry::kind).collect();
    let fingerprint = any::<[u8; 16]>().prop_map(Fingerprint::new);
    let entry = (
        "[a-zä/#~@!*%]{1,12}",
        proptest::sample::select(kinds),
        proptest::option::of(fingerprint.clone()),
        vec(any::<u8>(), 0..200),
        any::<[bool; 3]>(),
    );
    let asked = ("[a-z]{1,8}", fingerprint);
    (any::<u32>(), vec(entry, 0..12), vec(asked, 0..4)).prop_map(|(version, entries, asked)| {
        let mut journal = Journal::new();
        for (key, kind, fingerprint, value, [failed, by_ref, secret]) in entries {
            let mut entry = Entry::new(Key::new(&key), kind, value.into());
            (entry.failed, entry.by_ref, entry.secret) = (failed, by_ref, secret);
            entry.fingerprint = fingerprint;
            if journal.entry(&key).is_none() {
                journal
                    .index
                    .insert(entry.key.clone(), journal.entries.len());
                journal.entries.push(entry);
            }
        }
        journal.version = version;
        journal.asked = asked
            .into_iter()
            .map(|(key, fingerprint)| Asked::new(&key, fingerprint))
            .collect();
        journal
    })
}

proptest! {
    #[test]
    fn a_journal_comes_back_as_it_was(journal in journals()) {
        let back = Journal::decode(journal.encode(), &Limits::default());
        prop_assert_eq!(back, Ok(journal));
    }

    /// Without a true journal to start from, most bytes are refused; none of
    /// them does more than that.
    #[test]
    fn no_bytes_stop_the_decoder(bytes in vec(any::<u8>(), 0..300)) {
        let limits = Limits::default();
        for version in [&[][..], &[1], &[1, 0], &[1, 0, 1, 2, 0, 1, b'a']] {
            let bytes = Bytes::from([version, &bytes[..]].concat());
            if let Ok(journal) = Journal::decode(bytes.clone(), &limits) {
                prop_assert_eq!(journal.encode(), &bytes);
            }
            if let Ok(entry) = Entry::from_bytes(bytes.clone(), &limits) {
                prop_assert_eq!(entry.to_bytes(), &bytes);
            }
        }
    }

    /// One journal has one encoding, so all bytes that can be read are the bytes that
    /// would be written.
    #[test]
    fn bytes_are_a_journal_in_one_way_or_not_at_all(
        journal in journals(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = journal.encode().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(1 + cut.index(bytes.len()));
        if let Ok(journal) = Journal::decode(bytes.clone(), &Limits::default()) {
            prop_assert_eq!(&journal.encode()[..], &bytes[..]);
        }
    }
}
