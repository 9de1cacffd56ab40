//! What an agent's receiver reports.

/// What an agent's receiver sends that the protocol of the wire has no message for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Packets are missing: those of a list, among others that do not arrive whole.
    Nak {
        /// Its list.
        list: u32,
        /// The first packet it names.
        first: u64,
        /// How many it names.
        count: u32,
        /// They were named before.
        repeated: bool,
    },
    /// The delay rises.
    DelayWarning,
}
