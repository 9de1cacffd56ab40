//! `cwnd algorithms`

use clap::Args;
use cwnd::registry::{ALGORITHMS, Spec};
use cwnd::window::rule::{BOUNDS, EXAMPLES, FUNCTIONS, RULE, VARIABLES};
use cwnd_lab::model;
use cwnd_report::json::Known;
use cwnd_run::files::to_json;
use cwnd_run::scenario::Written;

use crate::failure::Failure;
use cwnd_report::table::Table;
use cwnd_run::measure::digits::number;

/// Arguments of `cwnd algorithms`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd algorithms
  cwnd algorithms simd
  cwnd algorithms simd:beta=1/8 --card
  cwnd algorithms 'rule:grow=2/w,cut=w*3/4' --card
An algorithm with parameters is written name:key=value,key=value, such as aimd:a=1,b=1/8")]
pub(crate) struct Arguments {
    /// Describe this algorithm, such as `simd` or `aimd:b=1/8` [default: list all]
    #[arg(value_name = "ALGORITHM")]
    algorithm: Option<Written<Spec>>,
    /// Print its scores too: efficiency, fairness, smoothness and others, from runs under synchronous feedback
    #[arg(long, requires = "algorithm")]
    card: bool,
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Some(spec) = arguments.algorithm.as_ref().map(Written::value) else { return Ok(list(arguments.json)) };
    if arguments.card {
        for warning in model::unread(&[spec], model::Origin::Rounds) {
            say!("warning: {warning}");
        }
        let card = model::card(spec, &|| true).map_err(|error| Failure::input(error.to_string()))?;
        return Ok(if arguments.json { to_json(&card) } else { print_card(&card) });
    }
    spec.idle_parameters().iter().for_each(|warning| say!("warning: {warning}"));
    let known = Known::of(spec.entry());
    Ok(if arguments.json { to_json(&known) } else { describe(&known, spec) })
}

fn print_card(card: &model::Card) -> String {
    let mut table = Table::default();
    table.row(["axiom", "value", "unit"]);
    for axiom in &card.axioms {
        table.row([axiom.name.to_string(), number(axiom.value), axiom.unit.to_string()]);
    }
    let mut text = format!("{} under synchronous feedback (model)\n\n{}\n", card.algorithm, table.print());
    for axiom in &card.axioms {
        text.push_str(&format!("{}: {} ({})\n", axiom.name, axiom.definition, axiom.source));
    }
    for warning in &card.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

fn list(json: bool) -> String {
    let all: Vec<Known> = ALGORITHMS.iter().map(|entry| Known::of(entry)).collect();
    if json {
        return to_json(&all);
    }
    let width = all.iter().map(|known| known.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let families = [
        ("core", "Subjects of the five papers"),
        ("baseline", "Baselines of the papers' comparisons"),
        ("named", "Only named by the papers"),
        ("own", "Yours"),
    ];
    for (family, heading) in families {
        let members: Vec<&Known> = all.iter().filter(|known| known.family == family).collect();
        if members.is_empty() {
            continue;
        }
        text.push_str(&format!("{heading}\n"));
        for known in members {
            let keys: Vec<&str> = known.parameters.iter().map(|parameter| parameter.name).collect();
            let keys = if keys.is_empty() { String::new() } else { format!(" ({})", keys.join(", ")) };
            let aliases: String = known.aliases.iter().map(|alias| format!("; also `{alias}`")).collect();
            text.push_str(&format!("  {:width$}  {}{keys}{aliases}\n", known.name, known.title));
        }
        text.push('\n');
    }
    text.push_str("`cwnd algorithms NAME` describes one with its parameters (in brackets) and its source.\n");
    text
}

/// The description of an algorithm. Values that `spec` sets are shown next to the defaults.
fn describe(known: &Known, spec: &Spec) -> String {
    let transport = match known.transport {
        "reported" => "a transport with reports on a clock and negative acknowledgements, as UDT",
        "datagram" => {
            "a transport that sends nothing twice, with reports when the receiver's half asks for them, as DCCP"
        }
        "routed" => "a transport that acknowledges packets as they arrive and brings back what routers wrote on them",
        _ => "a transport that acknowledges packets as they arrive, as TCP",
    };
    let mut text = format!("{}: {}\n\nsource     {}\ntransport  {transport}\n", known.name, known.title, known.source);
    if !known.aliases.is_empty() {
        text.push_str(&format!("also       {}\n", known.aliases.join(", ")));
    }
    for deviation in known.deviations {
        text.push_str(&format!("departs    {deviation}\n"));
    }
    if known.parameters.is_empty() {
        text.push_str("\nNo parameters.\n");
        return text;
    }
    for (parameter, (_, value)) in known.parameters.iter().zip(spec.parameters()) {
        let given = if value == parameter.default { String::new() } else { format!("      given: {value}\n") };
        let unit = if parameter.unit.is_empty() { String::new() } else { format!(", in {}", parameter.unit) };
        text.push_str(&format!(
            "\n  {}  {}{unit}\n{given}      default: {}\n      accepted: {}\n",
            parameter.name, parameter.help, parameter.default, parameter.accepted
        ));
    }
    if known.name == RULE.name {
        let mut table = Table::left();
        for (name, meaning) in VARIABLES.iter().chain(&FUNCTIONS) {
            table.row([*name, *meaning]);
        }
        let bounds = cwnd_report::text::wrapped(BOUNDS);
        text.push_str(&format!("\nVariables and functions\n\n{}\n{bounds}\nExamples\n", table.print()));
        for (name, rule) in EXAMPLES {
            text.push_str(&format!("\n  {name}\n      '{rule}'\n"));
        }
    }
    text
}
