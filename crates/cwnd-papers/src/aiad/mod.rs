//! The general comparison between AIMD and AIAD (Reddy, Sireesha and Chirangeevi Kumar), after Akella, Seshan, Shenker and Stoica,
//! "Exploring congestion control", CMU-CS-02-139 (2002).

mod appendix;
mod environment;
mod method;
mod pattern;
mod schemes;

use super::files::paper_files;
use super::reproduction::Reproduction;

pub(super) const PAPER: Reproduction = Reproduction {
    files: paper_files!("aiad": "available", "crossed", "fair", "pattern"),
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
        ("beyond-saw-tooth", pattern::saw_tooths),
        ("beyond-aild", schemes::by_loss_ratio),
    ],
};
