//! The sources that decide outcomes, as a hash.

/// The hash of some texts (FNV-1a).
const fn hash(texts: &[&str]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < texts.len() {
        let bytes = texts[at].as_bytes();
        let mut byte = 0;
        while byte < bytes.len() {
            hash = (hash ^ bytes[byte] as u64).wrapping_mul(0x0100_0000_01b3);
            byte += 1;
        }
        at += 1;
    }
    hash
}

macro_rules! sources {
    ($($name:literal)*) => {
        /// The hash of the code that proposes paths and judges runs.
        pub(crate) const OWN: u64 = hash(&[$(include_str!($name)),*]);
        #[cfg(test)]
        const NAMES: &[&str] = &[$($name),*];
    };
}

sources! { "bound.rs" "evaluate.rs" "evaluated.rs" "formula.rs" "measured.rs" "observed.rs" "parts.rs" "profile.rs" "property.rs" "search.rs" "space.rs" "worker.rs" "workers.rs" }

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_sources_are_those_that_decide_outcomes() {
        /// What reads, shows and shrinks outcomes.
        const OTHERS: [&str; 8] = [
            "answer.rs",
            "corpus.rs",
            "findings.rs",
            "lib.rs",
            "reference.rs",
            "refused.rs",
            "shrink.rs",
            "sources.rs",
        ];
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = std::fs::read_dir(directory).expect("the sources are there");
        let names = files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8"));
        let mut decisive: Vec<String> = names.filter(|name| !OTHERS.contains(&name.as_str())).collect();
        decisive.sort();
        assert_eq!(decisive, NAMES);
        assert!(hash(&["ab"]) != hash(&["ac"]) && hash(&["ac"]) != hash(&["ca"]));
    }
}
