//! `cwnd model convergence`

use clap::Args;
use cwnd::Spec;
use cwnd_lab::model::{self, Convergences, Origin, Pair};
use cwnd_report::page::model::{self as report, Printed};
use cwnd_report::page::names;
use cwnd_run::scenario::Written;

use super::{Output, check_sum, started, synchronous, warn, window};
use crate::arguments::checked;
use crate::failure::Failure;
use cwnd_report::table::Table;
use cwnd_run::measure::digits::number;

/// Convergence times.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd model convergence reno aimd:b=1/16 iiad simd:beta=1/16
  cwnd model convergence --capacity 100 --start 10,80 --epsilon 1 reno simd exp-tcp
T1: round trips until the windows add up to the capacity; Delta: their gap there; T2: round trips until it is below epsilon.
Algorithms without a closed form are run in the model, which their rows state.")]
pub(crate) struct Convergence {
    /// Algorithms, such as `simd` or `aimd:b=1/8`
    #[arg(value_name = "ALGORITHM", required = true)]
    algorithms: Vec<Written<Spec>>,
    /// The sum of windows at which both flows are congested, packets
    #[arg(long, value_name = "PACKETS", default_value = "100", value_parser = window)]
    capacity: f64,
    /// The two windows at the start, packets
    #[arg(long, value_name = "PACKETS,PACKETS", default_value = "10,40", value_delimiter = ',', value_parser = window)]
    start: Vec<f64>,
    /// Windows closer than this count as equal, packets
    #[arg(long, value_name = "PACKETS", default_value = "1", value_parser = positive)]
    epsilon: f64,
    #[command(flatten)]
    output: Output,
}

impl Convergence {
    pub(super) fn run(&self) -> Result<String, Failure> {
        let pair = self.pair()?;
        let directory = self.output.directory(names::OF_WALKS)?;
        let algorithms = synchronous(&self.algorithms)?;
        let run: Vec<&Spec> = algorithms.iter().copied().filter(|spec| !model::has_closed_form(spec)).collect();
        started(&run, &model::convergence_setup(pair))?;
        warn(&algorithms, Origin::Convergence);
        let (document, text) = self.computed(&algorithms, pair);
        let page = |printed: Printed<'_>| {
            report::convergence(&document, &model::convergence_walks(&algorithms, pair), printed)
        };
        self.output.finish(directory, &document, text, &algorithms, page)
    }

    /// The page, which names `command` as its own, and links to `pages`.
    pub(super) fn page(&self, command: &str, pages: &[(&str, &str)]) -> Result<String, Failure> {
        let (pair, algorithms) = (self.pair()?, synchronous(&self.algorithms)?);
        let (document, text) = self.computed(&algorithms, pair);
        let walks = model::convergence_walks(&algorithms, pair);
        Ok(report::convergence(&document, &walks, Printed { command, text: &text, algorithms: &algorithms, pages }))
    }

    fn pair(&self) -> Result<Pair, Failure> {
        let &[one, other] = self.start.as_slice() else {
            return Err(Failure::input("--start: expected two windows, such as `10,40`".to_string()));
        };
        check_sum(&self.start, self.capacity)?;
        Ok(Pair { capacity: self.capacity, windows: [one, other], epsilon: self.epsilon })
    }

    /// The document, and the text of a terminal.
    fn computed(&self, algorithms: &[&Spec], pair: Pair) -> (Convergences, String) {
        let [one, other] = pair.windows;
        let document = model::convergences(algorithms, pair, &|| true);
        let mut text = format!(
            "Two flows from {one} and {other} packets, capacity {} packets, equal within {} packets\n\n",
            self.capacity, self.epsilon
        );
        let mut table = Table::default();
        table.row(["algorithm", "T1", "Delta", "T2", "T2 by epochs", "kind"]);
        table.row(["", "round trips", "packets", "round trips", "round trips", ""]);
        for row in &document.rows {
            let cells = [row.t1_rtt, row.delta_packets, row.t2_rtt, row.t2_iterated_rtt].map(number);
            let kind = row.kind.to_string();
            table.row(std::iter::once(row.algorithm.clone()).chain(cells).chain([kind]));
        }
        text.push_str(&table.print());
        (document, text)
    }
}

fn positive(text: &str) -> Result<f64, String> {
    checked(text, "a number of packets above 0, at most 1e9", |w| w > 0.0 && w <= 1e9)
}
