#![doc = include_str!("../docs/flows.md")]
