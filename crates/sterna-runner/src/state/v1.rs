//! The bytes of a state's payload. Frozen: other builds read them.

use super::{HandlerState, StatePayload};

/// Writes a payload.
pub(super) fn write(payload: &StatePayload<'_>) -> Vec<u8> {
    let handler = match &payload.handler {
        HandlerState::Journal(journal) => journal.len(),
        HandlerState::LowLevel { asked, state } => {
            let asked = asked.iter().map(|key| 4 + key.len());
            4 + asked.sum::<usize>() + state.len()
        }
    };
    let mut bytes = Vec::with_capacity(HEAD + payload.trace.len() + handler);
    bytes.push(VERSION);
    bytes.push(match payload.handler {
        HandlerState::Journal(_) => JOURNAL,
        HandlerState::LowLevel { .. } => AUTHOR,
    });
    bytes.extend_from_slice(&payload.build);
    bytes.push(payload.sheds);
    bytes.extend_from_slice(&payload.trace);
    match &payload.handler {
        HandlerState::Journal(journal) => bytes.extend_from_slice(journal),
        HandlerState::LowLevel { asked, state } => {
            write_list(asked, &mut bytes);
            bytes.extend_from_slice(state.as_bytes());
        }
    }
    bytes
}

/// Reads a payload; `None` if no build of this version wrote it.
pub(super) fn read(bytes: &[u8]) -> Option<StatePayload<'_>> {
    let mut rest = bytes;
    if take::<1>(&mut rest)? != [VERSION] {
        return None;
    }
    let [kind] = take(&mut rest)?;
    let build = take(&mut rest)?;
    let [sheds] = take(&mut rest)?;
    let trace = take(&mut rest)?;
    let handler = match kind {
        JOURNAL => HandlerState::Journal(rest.to_vec().into()),
        AUTHOR => HandlerState::LowLevel {
            asked: read_list(&mut rest)?,
            state: std::str::from_utf8(rest).ok()?.into(),
        },
        _ => return None,
    };
    Some(StatePayload {
        build,
        sheds,
        trace,
        handler,
    })
}

/// Returns the trace of a payload, without reading the rest of it.
pub(super) fn trace(bytes: &[u8]) -> Option<[u8; 16]> {
    let (_, rest) = bytes.split_at_checked(HEAD)?;
    rest.first_chunk().copied()
}

fn write_list(list: &[std::borrow::Cow<'_, str>], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&length(list.len()));
    for text in list {
        bytes.extend_from_slice(&length(text.len()));
        bytes.extend_from_slice(text.as_bytes());
    }
}

fn read_list<'a>(rest: &mut &'a [u8]) -> Option<Vec<std::borrow::Cow<'a, str>>> {
    let count = u32::from_be_bytes(take(rest)?);
    let mut list = Vec::new();
    for _ in 0..count {
        let len = usize::try_from(u32::from_be_bytes(take(rest)?)).ok()?;
        let (text, after) = rest.split_at_checked(len)?;
        *rest = after;
        list.push(std::str::from_utf8(text).ok()?.into());
    }
    Some(list)
}

fn length(len: usize) -> [u8; 4] {
    u32::try_from(len)
        .expect("a state is far smaller than 4 GiB")
        .to_be_bytes()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

/// Length of the bytes before the trace: version, kind, build and sheds.
const HEAD: usize = 1 + 1 + 8 + 1;
const VERSION: u8 = 1;
const JOURNAL: u8 = 0;
const AUTHOR: u8 = 1;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_format_is_frozen() {
        let journal = StatePayload {
            build: *b"build-id",
            sheds: 1,
            trace: [0xab; 16],
            handler: HandlerState::Journal(b"journal".to_vec().into()),
        };
        let frozen = "01006275696c642d696401abababababababababababababababab6a6f75726e616c";
        assert_eq!(hex(&write(&journal)), frozen);
        let author = StatePayload {
            handler: HandlerState::LowLevel {
                asked: vec!["a".into(), "bc".into()],
                state: "state".into(),
            },
            ..journal
        };
        let frozen = "01016275696c642d696401abababababababababababababababab0000000200000001610000000262637374617465";
        assert_eq!(hex(&write(&author)), frozen);
        assert_eq!(trace(&write(&author)), Some([0xab; 16]));
        assert_eq!(read(&write(&author)), Some(author));
    }

    proptest! {
        #[test]
        fn no_bytes_are_read_that_would_be_written_otherwise(bytes: Vec<u8>) {
            if let Some(payload) = read(&bytes) {
                prop_assert_eq!(write(&payload), bytes);
            }
        }

        #[test]
        fn a_state_cut_short_is_no_other_state(asked: Vec<String>, cut in 1_usize..20) {
            let payload = StatePayload {
                build: [1; 8],
                sheds: 0,
                trace: [0; 16],
                handler: HandlerState::LowLevel {
                    asked: asked.iter().map(|key| key.as_str().into()).collect(),
                    state: "".into(),
                },
            };
            let bytes = write(&payload);
            let short = &bytes[..bytes.len().saturating_sub(cut)];
            prop_assert_eq!(read(short), None);
        }
    }
}
