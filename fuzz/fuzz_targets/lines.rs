//! Where a stream is cut makes no difference, and what is held has a bound.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sterna_protocol::lines::{LineReader, LineTooLong};

fuzz_target!(|input: (u8, u8, &[u8])| {
    let (cap, size, stream) = input;
    let cap = usize::from(cap);
    let whole = read(cap, [stream]);
    assert_eq!(whole, read(cap, stream.chunks(usize::from(size).max(1))));
    for line in whole.into_iter().flatten() {
        assert!(line.len() <= cap && !line.contains(&b'\n'));
    }
});

fn read<'a>(
    cap: usize,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Vec<u8>, LineTooLong>> {
    let mut reader = LineReader::new(cap);
    let mut seen = Vec::new();
    for mut chunk in chunks {
        loop {
            match reader.read(&mut chunk) {
                Ok(Some(line)) => seen.push(Ok(line.to_vec())),
                Ok(None) => break,
                Err(error) => seen.push(Err(error)),
            }
        }
    }
    seen.push(Ok(reader.rest().to_vec()));
    seen
}
