//! The reports of an agent's receiver.

/// Messages of an agent's receiver that the wire protocol does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// Packets are missing: those of a list, among others that do not arrive whole.
    Nak {
        /// Its list.
        list: u32,
        /// The first packet it names.
        first: u64,
        /// The number of packets that it names.
        count: u32,
        /// They were named before.
        repeated: bool,
    },
    /// The delay rises.
    DelayWarning,
}
