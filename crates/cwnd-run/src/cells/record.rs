//! A cell as a line of text.
//!
//! The seed, a checksum of all else, and the numbers under their names, in their shortest digits that read back as the same number. A line
//! that was written in part, or over by another, does not have its checksum.

use std::fmt::Write;

use crate::probe::Reduction;

/// The line of a cell, with the newline at its end.
pub(super) fn write(seed: u64, kept: &Reduction) -> String {
    let mut line = String::with_capacity(USUAL);
    let _ = write!(line, "{:0CHECKED$}\t{seed}", 0);
    // Half of what it takes to store a cell are its numbers: the standard library needs three times as long for them.
    let mut digits = zmij::Buffer::new();
    for (name, values) in kept.iter() {
        line.push('\t');
        line.push_str(name);
        line.push('=');
        for (nth, value) in values.iter().enumerate() {
            if nth > 0 {
                line.push(' ');
            }
            line.push_str(digits.format(*value));
        }
    }
    let checksum = format!("{:0CHECKED$x}", checksum(&line[CHECKED + 1..]));
    line.replace_range(..CHECKED, &checksum);
    line.push('\n');
    line
}

/// The seed of a line without its newline; none if it is not whole.
pub(super) fn seed(line: &[u8]) -> Option<u64> {
    body(line)?.split('\t').next()?.parse().ok()
}

/// The seed and the kept numbers of a line without its newline; none if it is incomplete.
pub(super) fn read(line: &[u8]) -> Option<(u64, Reduction)> {
    let mut parts = body(line)?.split('\t');
    let seed = parts.next()?.parse().ok()?;
    let mut kept = Reduction::default();
    for part in parts {
        let (name, values) = part.rsplit_once('=')?;
        let values: Vec<f64> = values.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        kept.keep(name.to_string(), values);
    }
    Some((seed, kept))
}

fn body(line: &[u8]) -> Option<&str> {
    let (written, body) = str::from_utf8(line).ok()?.split_once('\t')?;
    (u64::from_str_radix(written, 16) == Ok(checksum(body))).then_some(body)
}

fn checksum(body: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(body.as_bytes()).as_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The digits of a checksum.
const CHECKED: usize = 16;
/// Bytes: more than most lines have.
const USUAL: usize = 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kept(values: Vec<f64>) -> Reduction {
        let mut kept = Reduction::default();
        kept.keep("series", values);
        kept.keep("a=b", [0.1 + 0.2]);
        kept.keep("nothing", []);
        kept
    }

    #[test]
    fn a_line_is_what_a_person_can_read() {
        let line = write(7, &kept(vec![0.5, -0.0, f64::INFINITY]));
        assert_eq!(line.split_once('\t').unwrap().1, "7\ta=b=0.30000000000000004\tnothing=\tseries=0.5 -0.0 inf\n");
    }

    proptest! {
        #[test]
        fn a_line_is_read_back_exactly(seed: u64, values in prop::collection::vec(prop::num::f64::ANY.prop_filter("a number", |x| !x.is_nan()), 0..5)) {
            let (kept, line) = (kept(values.clone()), write(seed, &kept(values)));
            let line = line.strip_suffix('\n').unwrap().as_bytes();
            prop_assert_eq!(super::seed(line), Some(seed));
            prop_assert_eq!(read(line), Some((seed, kept)));
        }

        #[test]
        fn a_line_that_is_not_whole_is_none(cut in 0..70_usize, at in 0..70_usize, byte: u8) {
            let line = write(7, &kept(vec![0.5]));
            let line = line.strip_suffix('\n').unwrap().as_bytes();
            prop_assume!(cut < line.len() && at < line.len() && line[at] != byte);
            prop_assert_eq!(read(&line[..cut]), None);
            prop_assert_eq!(super::seed(&line[..cut]), None);
            let mut other = line.to_vec();
            other[at] = byte;
            // The checksum may be written in capitals.
            prop_assume!(!other.eq_ignore_ascii_case(line));
            prop_assert_eq!(read(&other), None);
        }
    }
}
