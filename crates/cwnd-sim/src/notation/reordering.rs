//! Reordering as people write it: `0.02:15ms`, `1/1000:3p`.

use cwnd::notation::{Form, Notation};
use cwnd::quantity;
use cwnd::registry::{InvalidParameter, Parameter};

use crate::net::setup::{ReorderBy, Reordering};

/// The share of the packets that others overtake, and how long they are held back.
pub static REORDERINGS: Notation<Reordering> = Notation {
    what: "a share of the packets and how long they are held back",
    forms: &[Form {
        name: "",
        aliases: &[],
        title: "this share is held back for a time (`15ms`), or until this number of others have overtaken each (`3p`)",
        source: "RFC 4737 section 4.2",
        example: "0.02:15ms",
        positional: 1,
        required: 1,
        parameters: &[Parameter::text(
            NAME,
            "",
            "a share and a time or packets, with a colon between",
            "which packets, and how long",
        )],
        build: |values| reordering(values.text(NAME)).map_err(|why| InvalidParameter::new(NAME, why)),
    }],
    elsewhere: &[],
};

const NAME: &str = "share:held_back";

fn reordering(text: &str) -> Result<Reordering, &'static str> {
    let (share, by) = text.split_once(':').ok_or("a share and a time or packets, with a colon between")?;
    let share = quantity::number(share).ok().filter(|share| (0.0..=1.0).contains(share));
    let probability = share.ok_or("a share from 0 to 1 before the colon")?;
    let by = match by.trim().strip_suffix('p') {
        Some(packets) => packets.trim_end().parse().ok().filter(|packets| *packets > 0).map(ReorderBy::Packets),
        None => quantity::span(by).ok().map(ReorderBy::Time),
    };
    Ok(Reordering { probability, by: by.ok_or("a time or at least one packet behind the colon, `15ms` or `3p`")? })
}

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;

    #[test]
    fn reordering_has_a_share_and_a_time_or_a_distance() {
        let read = |text| REORDERINGS.read(text).ok();
        let time = ReorderBy::Time(Span::from_millis(15));
        assert_eq!(read("0.02:15ms"), Some(Reordering { probability: 0.02, by: time }));
        assert_eq!(read("1/50: 3 p"), Some(Reordering { probability: 0.02, by: ReorderBy::Packets(3) }));
    }

    #[test]
    fn an_error_is_about_the_half_that_is_wrong() {
        for (text, part) in [
            ("0.02", "with a colon between, not `0.02`"),
            ("2:15ms", "a share from 0 to 1 before the colon"),
            (":1ms", "a share from 0 to 1 before the colon"),
            ("0.02:0p", "behind the colon"),
            ("0.02:15", "behind the colon"),
            ("0.02:1.5p", "behind the colon"),
            ("x:1ms", "such as `0.02:15ms`"),
        ] {
            let error = REORDERINGS.read(text).expect_err(text).to_string();
            assert!(error.contains(part) && !error.contains("names"), "{text}: {error}");
        }
    }
}
