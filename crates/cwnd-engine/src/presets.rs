//! Scenarios that teach: all files of `scenarios/live` and some others, each with its claim and what to look for.

/// A scenario to start from.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name of its file without the extension.
    pub id: &'static str,
    /// The file.
    pub text: &'static str,
}

impl Preset {
    /// The paragraph of its comments that begins with `word` and a colon, in one line.
    #[must_use]
    pub fn paragraph(&self, word: &str) -> String {
        let comments = self.text.lines().map_while(|line| line.strip_prefix('#').map(str::trim));
        let mut lines = comments.skip_while(|line| !is_head(line, word));
        let head = lines.next().and_then(|line| line.split_once(':')).map_or("", |(_, rest)| rest);
        let rest = lines.take_while(|line| !line.is_empty() && !WORDS.iter().any(|word| is_head(line, word)));
        std::iter::once(head.trim()).chain(rest).collect::<Vec<_>>().join(" ")
    }

    /// Whether each group of flows is to be alone on the path.
    #[must_use]
    pub fn apart(&self) -> bool {
        self.paragraph("Show") == "each alone"
    }
}

fn is_head(line: &str, word: &str) -> bool {
    line.strip_prefix(word).is_some_and(|rest| rest.starts_with(':'))
}

/// The first words of paragraphs: the claim and its author, the effect to look for, and the way to show it.
const WORDS: [&str; 3] = ["Claim", "Look for", "Show"];

macro_rules! presets {
    ($($directory:literal: $($id:literal),*;)*) => {
        /// All of them, in the order in which they are offered.
        pub const PRESETS: &[Preset] = &[
            $($(Preset { id: $id, text: include_str!(concat!("../../../scenarios/", $directory, $id, ".toml")) },)*)*
        ];
    };
}

presets![
    "live/": "two-flows", "slow-start", "bufferbloat", "rtt-unfairness", "cubic-bbr3", "dctcp", "daimd-converges", "aiad", "simd",
    "exp-tcp", "new-aimd", "udt";
    "": "l4s";
    "access/": "wifi", "wifi-channel", "wifi-microwave", "lte", "leo", "satellite", "dsl", "docsis", "modem-behind-router", "operator-policer", "video";
];
