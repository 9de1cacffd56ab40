//! The general comparison between AIMD and AIAD (Reddy, Sireesha and Chirangeevi Kumar), after Akella, Seshan, Shenker and Stoica,
//! "Exploring congestion control", CMU-CS-02-139 (2002).

mod appendix;
mod environment;
mod method;
mod pattern;
mod schemes;

use super::files::{Files, paper_file};

pub(super) const FILES: Files = Files {
    id: "aiad",
    published: paper_file!("aiad/published.toml"),
    scenarios: &[
        ("available", paper_file!("aiad/available.toml")),
        ("crossed", paper_file!("aiad/crossed.toml")),
        ("fair", paper_file!("aiad/fair.toml")),
        ("pattern", paper_file!("aiad/pattern.toml")),
    ],
    runners: &[
        ("fig-1", pattern::first),
        ("fig-2", pattern::second),
        ("table-2", method::environments),
        ("metrics", method::metrics),
        ("parameter-selection", method::parameters),
        ("fig-4", schemes::reno),
        ("fig-5", appendix::sack),
        ("text-summary", schemes::summary),
        ("appendix", appendix::tables),
        ("appendix-claims", appendix::claims),
        ("beyond", schemes::beyond),
    ],
};
