//! `cwnd site`

use std::path::PathBuf;

use clap::Args;
use cwnd_live::{EXERCISES, FIGURES, PRESETS};
use cwnd_papers::{Recorded, Scale};
use cwnd_report::page::{LICENCES, exercises_html, figures_html, scripts, scripts_apart};
use cwnd_run::files::{Directory, read_limited, write_whole};
use cwnd_run::scenario::{Document, Scenario, ScenarioError};
use cwnd_text::counted;

use crate::failure::Failure;
use crate::model;

/// Arguments of `cwnd site`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cargo xtask engine                              makes the engine: target/engine/cwnd.wasm, and its licences
  cwnd site laboratory --engine target/engine/cwnd.wasm
  python3 -m http.server --directory laboratory   serves the page at http://127.0.0.1:8000/
The directory works on any host of static files, below any path, and without a network after the first visit. It has to be
served: browsers run no worker for a page that is opened as a file.")]
pub(crate) struct Arguments {
    /// A new directory for the files
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The simulator as WebAssembly, built by `cargo xtask engine`; licences.txt lies in the same directory
    #[arg(long, value_name = "FILE")]
    engine: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let failed = |why: &str| Failure::input(format!("--engine: {}: {why}", arguments.engine.display()));
    let engine = read_limited(&arguments.engine, MOST).map_err(|error| failed(&error.to_string()))?;
    if !(engine.starts_with(MAGIC) && exports(&engine)) {
        return Err(failed("expected a WebAssembly module, as `cargo xtask engine` makes it"));
    }
    let licences = arguments.engine.with_file_name("licences.txt");
    let licences = read_limited(&licences, MOST).map_err(|error| {
        failed(&format!("its licences, which `cargo xtask engine` writes: {}: {error}", licences.display()))
    })?;
    let directory = Directory::start(&arguments.directory).map_err(|error| Failure::input(format!("DIR: {error}")))?;
    let models = model::pages()?;
    let with = |other| [other].into_iter().chain(models.iter().map(|page| (page.file, page.title))).collect::<Vec<_>>();
    let papers = cwnd_papers::cells().map_err(|error| Failure::run(error.to_string()))?;
    let record = Recorded::at(Scale::Full)?;
    let mut pages = figures_html(&papers, &record, FIGURES, &with((EXERCISES, "Exercises")));
    let presets = PRESETS.iter().map(|preset| Ok(Scenario::read(preset.id, preset.text, &[])?.document().clone()));
    let presets =
        presets.collect::<Result<Vec<Document>, ScenarioError>>().map_err(|error| Failure::run(error.to_string()))?;
    let others = with((FIGURES, "Papers and models"));
    pages.push((EXERCISES.to_string(), exercises_html(exercises(), &presets, &others)));
    pages.extend(models.into_iter().map(|page| (page.file.to_string(), scripts_apart(&page.html, SCRIPT))));
    pages.push((SCRIPT.to_string(), scripts()));
    let pages = pages.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
    let licences = format!("{}{SCRIPT_BELOW}{LICENCES}", String::from_utf8_lossy(&licences));
    let files = cwnd_live::site(&engine, &licences, pages);
    for (name, bytes) in &files {
        let path = directory.path().join(name);
        write_whole(&path, bytes).map_err(|error| Failure::run(format!("{}: {error}", path.display())))?;
    }
    let path = directory.publish()?;
    Ok(format!("{} in {}\n", counted(files.len(), "file"), path.display()))
}

/// The exercises of the documentation: the items of their section.
fn exercises() -> &'static str {
    let from = LIVE.split_once("\n## Five exercises\n").map_or("", |(_, from)| from);
    from.split_once("\n## ").map_or(from, |(section, _)| section)
}

/// The script of the pages that have plots.
const SCRIPT: &str = "plots.js";
const SCRIPT_BELOW: &str = "\n\nThe script of the pages about models, plots.js:\n\n";
const LIVE: &str = include_str!("../../../docs/live.md");

/// Whether a module has the exports of the simulator: their names stand in it as they are.
fn exports(module: &[u8]) -> bool {
    EXPORTS.iter().all(|name| module.windows(name.len()).any(|part| part == name.as_bytes()))
}

/// Functions that the page's worker calls (`crates/cwnd-wasm/src/worker.rs`).
const EXPORTS: [&str; 4] = ["hello", "allocate", "handle", "step"];
/// The first bytes of a WebAssembly module of version 1 (WebAssembly Core Specification, section 5.5.16).
const MAGIC: &[u8] = b"\0asm\x01\0\0\0";
/// The maximum size of an engine; real ones have about 4 MB.
const MOST: u64 = 64 << 20;
