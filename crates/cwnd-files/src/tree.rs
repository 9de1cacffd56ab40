//! The hash of a file, group by group.
//!
//! BLAKE3 is a tree of hashes. A group is an aligned subtree, so that its value can be checked as soon as its bytes have arrived, and the
//! values of all groups give the hash of the file, the one `b3sum` prints, without reading the bytes again (BLAKE3 paper, section
//! 2.1).

use blake3::Hasher;
use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};

/// The BLAKE3 hash of a file.
pub type Hash = [u8; 32];

/// The contribution of a group to the hash: its chaining value, or the hash itself where it is the only one.
pub(crate) type GroupValue = [u8; 32];

/// The size of a group, bytes; the last one of a file may be shorter. A power of two of BLAKE3's chunks, as a subtree must be.
pub const GROUP: u64 = 1 << 20;

/// Groups of a file of `size` bytes.
pub(crate) fn groups(size: u64) -> u64 {
    size.div_ceil(GROUP)
}

/// Bytes of group `index` of a file of `size` bytes.
pub(crate) fn group_size(index: u64, size: u64) -> usize {
    (size - index * GROUP).min(GROUP) as usize
}

/// The value of group `index`, with these bytes, of a file of `groups` groups.
pub(crate) fn group_value(index: u64, groups: u64, bytes: &[u8]) -> GroupValue {
    if groups == 1 {
        return *blake3::hash(bytes).as_bytes();
    }
    let mut hasher = Hasher::new();
    hasher.set_input_offset(index * GROUP);
    hasher.update(bytes).finalize_non_root()
}

/// The hash of the file whose groups have these values.
pub(crate) fn root(values: &[GroupValue]) -> Hash {
    match values {
        [] => *blake3::hash(&[]).as_bytes(),
        [only] => *only,
        _ => {
            let (left, right) = values.split_at(left_groups(values.len()));
            *merge_subtrees_root(&subtree(left), &subtree(right), Mode::Hash).as_bytes()
        }
    }
}

/// The value of a subtree of at least one group.
fn subtree(values: &[GroupValue]) -> GroupValue {
    match values {
        [] => [0; 32],
        [only] => *only,
        _ => {
            let (left, right) = values.split_at(left_groups(values.len()));
            merge_subtrees_non_root(&subtree(left), &subtree(right), Mode::Hash)
        }
    }
}

/// The left subtree is complete: the largest power of two below.
fn left_groups(groups: usize) -> usize {
    groups.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_make_the_hash_of_the_file() {
        let group = GROUP as usize;
        let bytes: Vec<u8> = (0..7 * group + 5).map(|at| ((at * 7919) >> 8) as u8).collect();
        for size in [0, 1, group - 1, group, group + 1, 2 * group, 3 * group, 4 * group + 1, 5 * group, 7 * group + 5] {
            let file = &bytes[..size];
            let count = groups(size as u64);
            let values: Vec<_> = (0..count)
                .map(|index| {
                    let from = (index * GROUP) as usize;
                    group_value(index, count, &file[from..from + group_size(index, size as u64)])
                })
                .collect();
            assert_eq!(root(&values), *blake3::hash(file).as_bytes(), "{size}");
        }
    }
}
