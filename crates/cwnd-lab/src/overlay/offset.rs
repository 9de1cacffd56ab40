//! Where inputs begin on the common time.

use super::Input;

/// Where an input begins on the common time, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// If it is a run.
    pub of_run: u64,
    /// The first sample, if it is a recording.
    pub of_recording: u64,
}

impl Offset {
    /// The offsets of `inputs` inputs from those `given`, nanoseconds. One offset for several inputs applies to recordings, and runs begin
    /// at 0; with one for each input, runs have theirs too. None for any other number of offsets.
    #[must_use]
    pub fn each(given: &[u64], inputs: usize) -> Option<Vec<Self>> {
        match given {
            [] => Some(vec![Self::default(); inputs]),
            [one] if inputs != 1 => Some(vec![Self { of_run: 0, of_recording: *one }; inputs]),
            each if each.len() == inputs => {
                Some(each.iter().map(|at| Self { of_run: *at, of_recording: *at }).collect())
            }
            _ => None,
        }
    }

    /// Why the offsets `given` change nothing of these inputs; none where they do.
    #[must_use]
    pub fn idle(given: &[u64], inputs: &[Input]) -> Option<&'static str> {
        let recorded = inputs.iter().any(|input| matches!(input, Input::Recorded(..)));
        (given.len() == 1 && inputs.len() > 1 && !recorded).then_some(IDLE)
    }
}

const IDLE: &str = "has no effect: one is for recordings, and there is none; give one for each input";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_for_recordings_and_one_for_each_is_for_runs_too() {
        let of = |of_run, of_recording| Offset { of_run, of_recording };
        assert_eq!(Offset::each(&[], 2), Some(vec![of(0, 0); 2]));
        assert_eq!(Offset::each(&[5], 2), Some(vec![of(0, 5); 2]));
        assert_eq!(Offset::each(&[5, 7], 2), Some(vec![of(5, 5), of(7, 7)]));
        assert_eq!(Offset::each(&[5], 1), Some(vec![of(5, 5)]));
        assert_eq!(Offset::each(&[5, 7], 3), None);
        let run = Input::Stored { traces: Vec::new(), path: None };
        assert_eq!(Offset::idle(&[5], &[run.clone(), run.clone()]), Some(IDLE));
        assert_eq!(Offset::idle(&[5], std::slice::from_ref(&run)), None, "it is one for each");
        assert_eq!(Offset::idle(&[5, 7], &[run.clone(), run]), None);
    }
}
