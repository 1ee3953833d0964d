//! Padding of tokens, so that their length tells little about the payload.

/// The length that `len` bytes are padded to.
///
/// Multiples of 64 up to 1 KiB. Above, Padmé (Nikitin and others, PETS 2019):
/// of a length only as many leading bits are kept as its exponent has bits.
/// That is 16 sizes between 1 and 2 KiB, and again between 2 and 4, and costs
/// at most 6 %.
pub(crate) fn padded_len(len: usize) -> usize {
    if len <= 1024 {
        return len.next_multiple_of(64);
    }
    let exponent = len.ilog2();
    let kept_bits = exponent.ilog2() + 1;
    len.next_multiple_of(1 << (exponent - kept_bits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_fall_into_few_classes() {
        for (len, padded) in [
            (1, 64),
            (64, 64),
            (65, 128),
            (1000, 1024),
            (1025, 1088),
            (2049, 2176),
            (65_537, 67_584),
        ] {
            assert_eq!(padded_len(len), padded, "{len}");
        }
        let classes: std::collections::BTreeSet<_> = (1..=96 * 1024).map(padded_len).collect();
        assert_eq!(classes.len(), 128);
    }

    proptest! {
        #[test]
        fn padding_never_shrinks_and_seldom_wastes_much(len in 1025_usize..100_000_000) {
            let padded = padded_len(len);
            prop_assert!(padded >= len);
            prop_assert!((padded - len) * 16 <= len, "{len} -> {padded}");
            prop_assert_eq!(padded_len(padded), padded, "a class is its own length");
            prop_assert_eq!(padded % 16, 0);
        }
    }
}
