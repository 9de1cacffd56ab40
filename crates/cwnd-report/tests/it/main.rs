//! Tables, pages and summaries of runs. One program: each further one is compiled and linked by itself.

mod axes;
mod lives;
mod measures;
mod model;
mod pages;
mod report;
mod sweep;
mod terminal;
