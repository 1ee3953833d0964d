//! Fleets that are built wrong, to see whether the judge notices.

/// What is wrong with the fleet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// Requests are not bound to who sends them: everybody is anonymous.
    BindingOff,
    /// The balancer hands a response to the wrong client.
    CrossedResponses,
    /// Answers are kept in the memory of the instance that got them.
    KeptInMemory,
    /// Keys are rotated without keeping the old one.
    KeyCutShort,
    /// Nothing.
    #[default]
    None,
    /// The clock of one instance stands still while a night passes.
    StoppedClock,
    /// Every instance has a ledger of its own.
    UnsharedLedger,
    /// One instance seals with a key that no other has.
    WrongKey,
}

impl Fault {
    /// Everything that can be wrong.
    pub const ALL: [Self; 7] = [
        Self::BindingOff,
        Self::CrossedResponses,
        Self::KeptInMemory,
        Self::KeyCutShort,
        Self::StoppedClock,
        Self::UnsharedLedger,
        Self::WrongKey,
    ];
}
