//! Lists of missing packets.

use crate::number::Seq;

/// Missing packets that follow each other: `first` to `last`, both included, less than 2^30 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRange {
    first: Seq,
    last: Seq,
}

/// Ranges of missing packets that one packet of ours names: up to `N` of them, at most 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedRanges<const N: usize> {
    ranges: [LossRange; N],
    len: u8,
}

/// The losses that one NAK of ours reports.
pub type Losses = NamedRanges<4>;

/// The ranges of a NAK, at least one: as they are on the wire, or as they will be.
#[derive(Clone, Copy, Debug)]
pub struct LossList<'a>(Source<'a>);

#[derive(Clone, Copy, Debug)]
enum Source<'a> {
    /// Whole words; every marked one is followed by one that is not, and not behind it.
    Words(&'a [u8]),
    Ranges(&'a [LossRange]),
}

impl LossRange {
    /// The packets `first` to `last`; none if `last` lies before `first`.
    #[must_use]
    pub const fn new(first: Seq, last: Seq) -> Option<Self> {
        if first.offset(last) >= 0 { Some(Self { first, last }) } else { None }
    }

    /// The first packet missing.
    #[must_use]
    pub const fn first(self) -> Seq {
        self.first
    }

    /// The last packet missing.
    #[must_use]
    pub const fn last(self) -> Seq {
        self.last
    }
}

impl<const N: usize> NamedRanges<N> {
    /// Ranges that fit into one.
    pub const CAPACITY: usize = N;

    /// A single range.
    #[must_use]
    pub const fn new(range: LossRange) -> Self {
        Self { ranges: [range; N], len: 1 }
    }

    /// No range at all.
    #[must_use]
    pub const fn empty() -> Self {
        let unused = LossRange { first: Seq::MAX, last: Seq::MAX };
        Self { ranges: [unused; N], len: 0 }
    }

    /// Adds a range; false if there is no room.
    #[must_use]
    pub fn push(&mut self, range: LossRange) -> bool {
        let Some(free) = self.ranges.get_mut(usize::from(self.len)) else { return false };
        *free = range;
        self.len += 1;
        true
    }

    /// The ranges, in the order in which they were added.
    #[must_use]
    pub fn ranges(&self) -> &[LossRange] {
        &self.ranges[..usize::from(self.len)]
    }

    /// The ranges as the list of a received NAK.
    #[must_use]
    pub fn list(&self) -> LossList<'_> {
        LossList(Source::Ranges(self.ranges()))
    }
}

impl<'a> LossList<'a> {
    /// A list without a range.
    pub(super) const fn empty() -> Self {
        Self(Source::Ranges(&[]))
    }

    /// Reads the body of a NAK: none if it is empty, not of whole words, ends within a range, or has a range that runs backwards.
    pub(super) fn parse(body: &'a [u8]) -> Option<Self> {
        let words = Words(body);
        let whole = !body.is_empty() && body.len().is_multiple_of(4);
        (whole && words.into_iter().all(|range| range.is_some())).then_some(Self(Source::Words(body)))
    }

    /// The ranges, in the order of the NAK.
    pub fn ranges(self) -> impl Iterator<Item = LossRange> + 'a {
        let (words, ranges) = match self.0 {
            Source::Words(body) => (body, &[][..]),
            Source::Ranges(ranges) => (&[][..], ranges),
        };
        Words(words).map_while(|range| range).chain(ranges.iter().copied())
    }

    /// Appends the words of the list.
    pub(super) fn encode(self, out: &mut Vec<u8>) {
        for LossRange { first, last } in self.ranges() {
            if first == last {
                out.extend(first.get().to_be_bytes());
            } else {
                out.extend((first.get() | RANGE).to_be_bytes());
                out.extend(last.get().to_be_bytes());
            }
        }
    }
}

/// Two lists are equal if they have the same ranges.
impl PartialEq for LossList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.ranges().eq(other.ranges())
    }
}

impl Eq for LossList<'_> {}

/// The ranges in a body of whole words, with none where there is something wrong.
#[derive(Clone, Copy)]
struct Words<'a>(&'a [u8]);

impl Iterator for Words<'_> {
    type Item = Option<LossRange>;

    fn next(&mut self) -> Option<Self::Item> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        let word = u32::from_be_bytes(*word);
        if let Some(single) = Seq::new(word) {
            return Some(LossRange::new(single, single));
        }
        let Some((last, rest)) = self.0.split_first_chunk() else { return Some(None) };
        self.0 = rest;
        let range = Seq::new(word & !RANGE).zip(Seq::new(u32::from_be_bytes(*last)));
        Some(range.and_then(|(first, last)| LossRange::new(first, last)))
    }
}

/// Marks the first word of a range; the next word is its last packet.
const RANGE: u32 = 1 << 31;
