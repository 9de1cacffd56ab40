//! A scenario in the fragment of an address: `#s=1.` and its TOML document, compressed by DEFLATE (RFC 1951) and written as base64url
//! (RFC 4648, section 5). The number is that of this format. `&each=alone`, `&recorded=`, `&at=` and `&digest=` may follow.
//!
//! Such an address reaches no server: a browser keeps the fragment. It is what a stranger may have written, so that its length is bounded
//! before and while it is decompressed.

use std::borrow::Cow;

mod recording;

pub use recording::{FLOWS as MOST_RECORDINGS, Recording, SIGNS, averaged_over};

use cwnd::Span;
use cwnd::quantity::{exact, span};
use data_encoding::BASE64URL_NOPAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};
use thiserror::Error;

/// A scenario as an address has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linked {
    /// The TOML document.
    pub toml: String,
    /// Each group of flows alone on the path, instead of all together.
    pub apart: bool,
    /// The time of the page's cursor.
    pub cursor: Option<Span>,
    /// The digest of the first seed, of the first group if each is alone, by the version that made the link.
    pub digest: Option<u64>,
    /// Flows that were recorded elsewhere, which the page draws next to those of the run; at most [`MOST_RECORDINGS`].
    pub recorded: Vec<Recording>,
}

/// Why an address has no scenario.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AddressError {
    /// It has no fragment with a scenario.
    #[error("the address has no scenario: expected `#s=1.` and what follows it, whole")]
    Missing,
    /// The format is one of another version.
    #[error("the address has a scenario of format {0}, this version reads format 1")]
    Version(String),
    /// The address or its scenario is too long.
    #[error("the scenario of the address is too long: accepted are at most {MOST} bytes")]
    Long,
    /// Characters of it are missing or were changed.
    #[error("the scenario of the address is damaged: was it copied whole?")]
    Damaged,
    /// The fragment has more than a scenario and the way to show it.
    #[error(
        "the address has more than one scenario, or something else than `s=…`, `each=alone`, `recorded=…`, `at=…` and `digest=…`: was it copied whole?"
    )]
    Unknown,
    /// The recorded flows are too many or too long, or something else than labels and numbers.
    #[error("the recorded flows of the address are damaged: was it copied whole?")]
    Recording,
    /// The scenario names a file: a stranger's address must not open files of this machine.
    #[error("the scenario of an address reads no files: take `trace` out of it")]
    File,
}

impl Linked {
    /// The fragment, with `#` in front.
    #[must_use]
    pub fn fragment(&self) -> String {
        let mut fragment = format!("#{KEY}{VERSION}.{}", packed(&self.toml));
        if self.apart {
            fragment.push_str(&format!("&{APART}"));
        }
        if !self.recorded.is_empty() {
            fragment.push_str(&format!("&{RECORDED}{}", packed(&recording::write(&self.recorded))));
        }
        if let Some(cursor) = self.cursor {
            fragment.push_str(&format!("&{CURSOR}{}", exact(cursor)));
        }
        if let Some(digest) = self.digest {
            fragment.push_str(&format!("&{DIGEST}{digest:016x}"));
        }
        fragment
    }

    /// The scenario of an address, of which only the fragment matters.
    ///
    /// # Errors
    /// The address has no scenario of this format, or one that is too long or damaged, or one that names a file.
    pub fn read(address: &str) -> Result<Self, AddressError> {
        let fragment = fragment(address.trim()).ok_or(AddressError::Missing)?;
        let words: Vec<&str> = fragment.splitn(MOST_WORDS + 1, '&').collect();
        let mut linked = Self::default();
        let mut scenario = None;
        for (nth, word) in words.iter().enumerate() {
            if words[..nth].iter().any(|before| key(before) == key(word)) {
                return Err(AddressError::Unknown);
            }
            if let Some(given) = word.strip_prefix(KEY) {
                scenario = Some(given);
            } else if *word == APART {
                linked.apart = true;
            } else if let Some(given) = word.strip_prefix(RECORDED) {
                let text = unpacked(given, MOST_RECORDED).map_err(|_| AddressError::Recording)?;
                linked.recorded = recording::read(&text)?;
            } else if let Some(text) = word.strip_prefix(CURSOR) {
                linked.cursor = Some(span(text).map_err(|_| AddressError::Unknown)?);
            } else if let Some(text) = word.strip_prefix(DIGEST).filter(|text| is_digest(text)) {
                linked.digest = Some(u64::from_str_radix(text, 16).map_err(|_| AddressError::Unknown)?);
            } else if scenario.is_some() || words.iter().any(|word| word.starts_with(KEY)) {
                return Err(AddressError::Unknown);
            }
        }
        let given = scenario.ok_or(AddressError::Missing)?;
        let (version, data) = given.split_once('.').ok_or(AddressError::Missing)?;
        if version != VERSION {
            return Err(AddressError::Version(version.chars().take(12).filter(char::is_ascii_alphanumeric).collect()));
        }
        let toml = unpacked(data, MOST)?;
        if names_file(&toml) {
            return Err(AddressError::File);
        }
        Ok(Self { toml, ..linked })
    }
}

/// A text as a part of an address.
fn packed(text: &str) -> String {
    BASE64URL_NOPAD.encode(&compress_to_vec(text.as_bytes(), BEST))
}

/// The text in a part of an address, which has at most `most` bytes before and after it is decompressed.
fn unpacked(data: &str, most: usize) -> Result<String, AddressError> {
    if data.len() > most {
        return Err(AddressError::Long);
    }
    let bytes = BASE64URL_NOPAD.decode(data.as_bytes()).map_err(|_| AddressError::Damaged)?;
    String::from_utf8(inflate(&bytes, most)?).map_err(|_| AddressError::Damaged)
}

/// The fragment of an address, in which a program that passed it on may have encoded `#`, `=` and `&` (RFC 3986, section 2.1).
fn fragment(address: &str) -> Option<Cow<'_, str>> {
    let (_, fragment) = address.split_once('#').or_else(|| address.rsplit_once(HASH))?;
    if !fragment.contains('%') {
        return Some(fragment.into());
    }
    let decoded = [("%3D", "="), ("%3d", "="), ("%26", "&")]
        .iter()
        .fold(fragment.to_string(), |text, (code, sign)| text.replace(code, sign));
    Some(decoded.into())
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The part of a word up to its value.
fn key(word: &str) -> &str {
    word.split('=').next().unwrap_or(word)
}

/// The document in `bytes`, which end with it.
fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, AddressError> {
    let mut document = vec![0; most];
    let flags = inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    match decompress(&mut DecompressorOxide::new(), bytes, &mut document, 0, flags) {
        (TINFLStatus::Done, taken, made) if taken == bytes.len() => {
            document.truncate(made);
            Ok(document)
        }
        (TINFLStatus::HasMoreOutput, ..) => Err(AddressError::Long),
        _ => Err(AddressError::Damaged),
    }
}

/// Whether a document names a file, which reading the scenario would open. Text that is no TOML names none.
fn names_file(toml: &str) -> bool {
    let Ok(document) = toml.parse::<toml::Table>() else { return false };
    let links = document.get("link").and_then(toml::Value::as_array).into_iter().flatten();
    links.chain(document.get("dumbbell")).any(|link| link.get("trace").is_some())
}

/// Whether `text` is meant as an address and not as a file.
#[must_use]
pub fn is_address(text: &str) -> bool {
    // The scheme has no case (RFC 3986, section 3.1).
    let has_scheme = |scheme: &&str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    text.starts_with('#') || (SCHEMES.iter().any(has_scheme) && (text.contains('#') || text.contains(HASH)))
}

const SCHEMES: [&str; 2] = ["https://", "http://"];
/// `#`, encoded.
const HASH: &str = "%23";
const KEY: &str = "s=";
const VERSION: &str = "1";
const APART: &str = "each=alone";
const RECORDED: &str = "recorded=";
const CURSOR: &str = "at=";
const DIGEST: &str = "digest=";
/// Hexadecimal, of a digest.
const DIGITS: usize = 16;
const MOST_WORDS: usize = 8;
const BEST: u8 = 10;
/// The largest accepted size of an address and of the document in it, bytes: as much as a page may send to a server.
pub const MOST: usize = 256 << 10;
/// The largest size of the recorded flows of an address, and of their text, bytes.
const MOST_RECORDED: usize = 64 << 10;
/// The most flows of a scenario that the page runs: each takes two kilobytes before its first packet, and a stranger may have written it.
pub const MOST_FLOWS: u64 = 1000;

#[cfg(test)]
mod tests {
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    fn with(data: &[u8]) -> Result<Linked, AddressError> {
        let packed = BASE64URL_NOPAD.encode(&compress_to_vec(data, 6));
        Linked::read(&format!("https://example.org/#s=1.{packed}"))
    }

    #[test]
    fn addresses_that_were_changed_are_refused() {
        let whole = Linked { toml: "duration = \"60s\"\n".to_string(), ..Linked::default() }.fragment();
        assert_eq!(Linked::read(&whole[..whole.len() - 3]), Err(AddressError::Damaged));
        assert_eq!(Linked::read(&whole.replace("#s=1.", "#s=2.")), Err(AddressError::Version("2".to_string())));
        for missing in ["", "https://example.org/", "https://example.org/#", "#t=1.AA", "#s=1"] {
            assert_eq!(Linked::read(missing), Err(AddressError::Missing), "{missing}");
        }
        assert_eq!(Linked::read("#s=1.=%<script>"), Err(AddressError::Damaged));
        for more in [
            "&s=1.AA",
            "&each=all",
            "&foo",
            "&each=alone&x=1",
            "&each=alone&each=alone",
            "&at=3",
            "&at=-1s",
            "&at=1s&at=2s",
            "&digest=1",
            "&digest=xxxxxxxxxxxxxxxx",
            "&digest=+00000000000000f",
            "&recorded",
        ] {
            assert_eq!(Linked::read(&format!("{whole}{more}")), Err(AddressError::Unknown), "{more}");
        }
        assert_eq!(Linked::read(&format!("{whole}AAAA")), Err(AddressError::Damaged));
        assert_eq!(with(&[0xff; 9]), Err(AddressError::Damaged));
    }

    #[test]
    fn an_address_that_was_encoded_is_the_same() {
        let linked = Linked { toml: "seeds = 1\n".to_string(), apart: true, digest: Some(7), ..Linked::default() };
        let fragment = linked.fragment();
        for address in [
            format!("https://example.org/cwnd/{fragment}"),
            format!("HTTPS://Example.org/cwnd/{fragment}"),
            format!("Http://example.org/a%23b/{fragment}"),
            format!("https://example.org/cwnd/{}", fragment.replace('#', "%23")),
            format!(
                "https://example.org/a%23b/{}",
                fragment.replace('#', "%23").replace('&', "%26").replace('=', "%3D")
            ),
            format!("https://example.org/cwnd/{}", fragment.replace('&', "%26").replace('=', "%3d")),
            fragment,
        ] {
            assert!(is_address(&address), "{address}");
            assert_eq!(Linked::read(&address).as_ref(), Ok(&linked), "{address}");
        }
        for file in ["https", "https://example.org/", "a#b.toml", "a%23b.toml", "é", "ftp://example.org/#s=1."] {
            assert!(!is_address(file), "{file}");
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_takes_memory() {
        assert_eq!(with(&vec![b' '; MOST]).map(|linked| linked.toml.len()), Ok(MOST));
        assert_eq!(with(&vec![b' '; MOST + 1]), Err(AddressError::Long));
        assert_eq!(with(&vec![b' '; 64 << 20]), Err(AddressError::Long));
        assert_eq!(Linked::read(&format!("#s=1.{}", "A".repeat(MOST + 1))), Err(AddressError::Long));
    }

    #[test]
    fn recorded_flows_are_bounded_before_they_take_memory() {
        let recording =
            Recording { label: "quinn:cubic".to_string(), every_ms: 200, window: vec![None], goodput: vec![Some(1)] };
        let linked = Linked { toml: "seeds = 1\n".to_string(), recorded: vec![recording], ..Linked::default() };
        let whole = linked.fragment();
        assert_eq!(Linked::read(&whole), Ok(linked));
        let (without, _) = whole.split_once('&').expect("the recording");
        let bomb = format!("{without}&recorded={}", BASE64URL_NOPAD.encode(&compress_to_vec(&vec![b'1'; 64 << 20], 6)));
        let long = format!("{without}&recorded={}", "A".repeat(MOST_RECORDED + 1));
        let script = format!("{without}&recorded={}", packed("<script>alert(1)</script> 200 1 1"));
        let twice = format!("{whole}&{}", &whole[without.len() + 1..]);
        let refused = [
            bomb,
            long,
            script,
            format!("{without}&recorded="),
            format!("{without}&recorded=%<script>"),
            whole[..whole.len() - 3].to_string(),
        ];
        for address in refused {
            assert_eq!(Linked::read(&address), Err(AddressError::Recording), "{}", &address[..200.min(address.len())]);
        }
        assert_eq!(Linked::read(&twice), Err(AddressError::Unknown));
    }

    #[test]
    fn an_address_names_no_file() {
        for toml in ["[dumbbell]\ntrace = \"/etc/passwd\"", "dumbbell.trace = 1", "[[link]]\n[[link]]\ntrace = \"a\""] {
            assert_eq!(with(toml.as_bytes()), Err(AddressError::File), "{toml}");
        }
        assert!(with(b"dumbbell = 1\nlink = 2\n[flow]\ntrace = 3").is_ok(), "what it is instead is said of its keys");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(toml in ".{0,2000}", apart: bool, cursor in option::of(0..100_000_000_u64), digest: Option<u64>) {
            let linked = Linked { toml, apart, cursor: cursor.map(Span::from_micros), digest, recorded: Vec::new() };
            let fragment = linked.fragment();
            prop_assert!(fragment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"#=.-_&".contains(&byte)));
            prop_assert_eq!(Linked::read(&format!("https://example.org/a/{fragment}")), Ok(linked));
        }

        #[test]
        fn nothing_that_is_read_makes_it_panic(text in "#s=1\\.[A-Za-z0-9_-]{0,200}") {
            let _ = Linked::read(&text);
        }
    }
}
