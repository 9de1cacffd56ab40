//! Numbers in place of the system's, from a seed.

/// The next numbers of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) fn fill(state: &mut u64, buffer: &mut [u8]) {
    for bytes in buffer.chunks_mut(8) {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.copy_from_slice(&(mixed ^ mixed >> 31).to_be_bytes()[..bytes.len()]);
    }
}
