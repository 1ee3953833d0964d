//! Where a stream is cut makes no difference, and what is held has a bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sterna_protocol::sse::{Event, EventReader, EventTooLong, Frame};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (cap, size, stream) = input;
    let cap = usize::from(cap);
    let whole = read(cap, [stream]);
    assert_eq!(whole, read(cap, stream.chunks(usize::from(size).max(1))));
    for event in whole.into_iter().flatten() {
        assert!(event.data.len() <= cap);
        let mut written = Vec::new();
        let copy = |buffer: &mut Vec<u8>| {
            buffer.extend_from_slice(&event.data);
            Ok::<(), EventTooLong>(())
        };
        Frame::new()
            .write(&mut written, copy)
            .expect("copying works");
        let again = read(usize::MAX, [&written[..]]);
        let again: Vec<_> = again.into_iter().flatten().map(|e| e.data).collect();
        assert_eq!(again, [event.data]);
    }
});

fn read<'a>(
    cap: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Event, EventTooLong>> {
    let mut reader = EventReader::new(cap);
    let mut seen = Vec::new();
    for mut chunk in chunks {
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(event)) => seen.push(Ok(event)),
                Ok(None) => break,
                Err(error) => {
                    seen.push(Err(error));
                    return seen;
                }
            }
        }
    }
    seen
}
