//! The page as a whole: what it holds, what it never holds, and how large it gets.
//!
//! The first test leaves its page at `report.html` in cargo's directory for test files, to be looked at.

use crate::axes::outside;
use cwnd::Spec;
use cwnd_report::page::Report;
use cwnd_report::plot::Shown;
use cwnd_run::measure::{Estimates, summarise};
use cwnd_trace::{CbrTrace, FlowArrivalsTrace, FlowTrace, LinkTrace, SizeClass, Trace};

/// A rule that adds `add` packets per round trip and removes the share `cut` when the queue overflows.
struct Rule {
    name: &'static str,
    add: f64,
    cut: f64,
}

const RULES: [Rule; 4] = [
    Rule { name: "reno", add: 1.0, cut: 0.5 },
    Rule { name: "cubic", add: 2.2, cut: 0.3 },
    Rule { name: "simd:beta=1/16", add: 0.6, cut: 1.0 / 16.0 },
    Rule { name: "exp-tcp", add: 1.6, cut: 0.25 },
];

const STEP: u64 = 10_000_000;
const BASE_RTT: f64 = 0.05;
/// 100 Mbit/s in packets of 1500 bytes.
const RATE: f64 = 8333.0;
const BUFFER: f64 = 400.0;

/// Flows of the rules in `of` on one bottleneck for `seconds`, the flows starting a second apart in twelve seconds: sawtooths of a fluid.
fn sawtooth(of: &[&Rule], seconds: u64, seed: u64) -> Trace {
    let steps = (seconds * 1_000_000_000 / STEP) as usize;
    let mut trace = Trace {
        warmup: 10_000_000_000,
        end: seconds * 1_000_000_000,
        links: vec![LinkTrace::default()],
        ..Trace::default()
    };
    trace.flows = (0..).zip(of).map(|(index, rule)| flow(index, rule)).collect();
    trace.links[0].rate = Some(100_000_000);
    let mut windows = vec![10.0; of.len()];
    let (mut sent, mut delivered) = (vec![0.0; of.len()], vec![0.0; of.len()]);
    let (mut carried, mut dropped, mut random) = (0.0, 0, seed);
    for step in 0..=steps {
        let now = step as u64 * STEP;
        let active: Vec<bool> = trace.flows.iter().map(|flow| flow.start <= now).collect();
        let total: f64 = (0..of.len()).filter(|index| active[*index]).map(|index| windows[index]).sum();
        let queue = (total - RATE * BASE_RTT).max(0.0);
        let rtt = BASE_RTT + queue / RATE;
        let overflow = queue > BUFFER;
        for (index, rule) in of.iter().enumerate() {
            let on = f64::from(u8::from(active[index]));
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (rounds, moved) = (STEP as f64 * 1e-9 / rtt, on * windows[index] * STEP as f64 * 1e-9 / rtt);
            delivered[index] += moved;
            sent[index] += moved;
            carried += moved;
            if overflow && random >> 62 != 0 {
                windows[index] *= 1.0 - rule.cut;
                dropped += 3;
            }
            windows[index] += on * rounds * if now < 1_500_000_000 { windows[index] * 0.8 } else { rule.add };
            let flow = &mut trace.flows[index];
            flow.sent.push(sent[index] as u64);
            flow.delivered.push(delivered[index] as u64);
            flow.window.push(windows[index]);
            flow.srtt.push(if on > 0.0 { rtt } else { f64::NAN });
            flow.timeouts.push(u64::from(step > 2000) + u64::from(step > 2600));
            flow.retransmitted.push(dropped / 2);
            flow.source_limited.push(0);
            flow.peer_limited.push(0);
        }
        trace.at.push(now);
        let link = &mut trace.links[0];
        link.offered.push(carried as u64 + dropped);
        link.dropped.push(dropped);
        link.lost.push(0);
        link.marked.push(step as u64 / 700);
        link.carried_bytes.push(carried as u64 * 1500);
        link.queue_packets.push(queue as u64);
        if now > trace.warmup {
            link.wait.record((queue / RATE * 1e9) as u64);
        }
    }
    trace
}

fn flow(index: u64, rule: &Rule) -> FlowTrace {
    FlowTrace {
        name: format!("{} {}", rule.name, index + 1),
        algorithm: rule.name.to_string(),
        packet: 1500,
        payload: 1460,
        start: index % 12 * 1_000_000_000,
        base_rtt: 50_000_000,
        ..FlowTrace::default()
    }
}

/// A section of the page: a label, the runs, and their measures.
struct Section {
    label: String,
    runs: Vec<Trace>,
    measures: Estimates,
}

impl Section {
    fn of(label: impl Into<String>, runs: Vec<Trace>) -> Self {
        let summaries: Vec<_> = runs.iter().map(|run| summarise(run, 0)).collect();
        Self { label: label.into(), runs, measures: Estimates::over(&summaries) }
    }
}

fn report(sections: &[Section]) -> Report<'_> {
    Report {
        title: "Four algorithms on one bottleneck".to_string(),
        command: "cwnd compare reno cubic simd:beta=1/16 exp-tcp --rate 100mbit --rtt 50ms".to_string(),
        revision: "0.1.0 (test)".to_string(),
        seeds: (1..=sections.first().map_or(0, |section| section.runs.len() as u64)).collect(),
        warmup_s: 10.0,
        scenario_toml: "duration = \"60s\"\nwarmup = \"10s\"\n\n[[link]]\nname = \"bottleneck\"\nrate = \"100mbit\"\n"
            .to_string(),
        warnings: vec!["flow 1 of cubic was receiver-limited 41 % of the time".to_string()],
        algorithms: vec![Spec::parse("aimd:a=1,b=1/8").expect("valid"), Spec::parse("reno").expect("valid")],
        shown: sections.iter().map(shown).collect(),
        ..Report::default()
    }
}

fn shown(section: &Section) -> Shown<'_> {
    Shown { label: section.label.clone(), measures: &section.measures, trace: &section.runs[0] }
}

/// The page up to the libraries and their licences.
fn own_part(page: &str) -> &str {
    page.split("<script type=\"text/plain\">").next().expect("there is always a first part")
}

#[test]
fn a_page_has_every_plot_and_its_data() {
    let mut sections: Vec<Section> = RULES
        .iter()
        .map(|rule| Section::of(rule.name, (1..=5).map(|seed| sawtooth(&[rule, rule], 60, seed)).collect()))
        .collect();
    let versus = |seed| sawtooth(&[&RULES[0], &RULES[2]], 60, seed);
    sections.push(Section::of("reno against simd:beta=1/16", (1..=5).map(versus).collect()));
    let page = report(&sections).html();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    std::fs::write(&path, &page).expect("the directory for test files is writable");

    for id in ["trade-off", "shares", "delays", "window-1", "rate-3", "queue-5", "rtt-2", "phase-4"] {
        assert!(page.contains(&format!("<figure id=\"{id}\">")), "{id} in {}", path.display());
        assert!(page.contains(&format!("data-csv=\"{id}/table\"")), "{id}");
    }
    assert!(page.contains("data-csv=\"queue-1/drops\"") && page.contains("data-csv=\"window-1/timeouts\""));
    assert!(page.contains("flow 1 of cubic was receiver-limited 41 % of the time"));
    assert!(page.contains("<th scope=\"row\"><code>b</code></th><td>0.125</td>"), "parameters in force");
    assert_eq!(outside(&page), [""; 0]);
}

#[test]
fn cross_traffic_has_plots_of_its_own() {
    let mut trace = sawtooth(&[&RULES[0]], 20, 1);
    let steps = trace.at.len() as u64;
    let curve = |each: u64| (0..steps).map(|step| step * each).collect::<Vec<u64>>();
    trace.cbr = vec![CbrTrace {
        name: "video".into(),
        packet: 1500,
        sent: curve(5).into(),
        delivered: curve(4).into(),
        ..CbrTrace::default()
    }];
    let mut class = SizeClass { up_to: 10, ..SizeClass::default() };
    class.arrived.record(120_000_000);
    trace.flow_arrivals = vec![FlowArrivalsTrace {
        name: "web".into(),
        algorithm: "cubic".into(),
        payload: 1460,
        requested: curve(3).into(),
        delivered: curve(2).into(),
        classes: vec![class],
        ..FlowArrivalsTrace::default()
    }];
    let sections = [Section::of("reno", vec![trace])];
    let page = report(&sections).html();
    for id in ["cbr-1", "arrivals-1", "completion-1"] {
        assert!(page.contains(&format!("<figure id=\"{id}\">")), "{id}");
    }
    // 5 packets of 1500 bytes in 10 ms sent, 4 delivered.
    assert!(page.contains("\"columns\":[\"flow\",\"time_s\",\"sent_bps\",\"delivered_bps\"]"));
    assert!(page.contains("6000000,6000000"), "the rate that was sent");
    assert!(page.contains("4800000,4800000"), "the rate that arrived");
    assert!(page.contains("web, 1 to 10 packets"));
    assert_eq!(outside(&page), [""; 0]);
    let plain = [Section::of("reno", vec![sawtooth(&[&RULES[0]], 20, 1)])];
    assert!(!report(&plain).html().contains("<figure id=\"cbr-1\">"));
}

/// The plot `id` of a page as JSON.
fn plot_of(page: &str, id: &str) -> serde_json::Value {
    let data = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    data["plots"].as_array().and_then(|all| all.iter().find(|plot| plot["id"] == id)).expect(id).clone()
}

/// The texts of a column of a plot's table, each once.
fn texts(plot: &serde_json::Value, column: &str) -> Vec<String> {
    let table = &plot["tables"][0];
    let at = table["columns"].as_array().and_then(|all| all.iter().position(|known| known == column)).expect(column);
    let mut texts: Vec<String> = Vec::new();
    for group in table["groups"].as_array().expect("groups") {
        let text = group["texts"][at].as_str().expect("a text").to_string();
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

#[test]
fn rows_of_one_mixed_run_are_its_flows() {
    let rules = [&RULES[0], &RULES[1], &RULES[0]];
    let sections = [Section::of("reno and cubic", (1..=5).map(|seed| sawtooth(&rules, 20, seed)).collect())];
    let shares = plot_of(&report(&sections).html(), "shares");
    assert_eq!(texts(&shares, "row"), ["reno 1", "cubic 2", "reno 3"]);
    let legend = &shares["spec"]["layer"][0]["encoding"]["color"];
    assert_eq!(legend["scale"]["domain"], serde_json::json!(["reno", "cubic"]));
    assert!(legend["legend"].is_object(), "colours are explained");
}

#[test]
fn hundreds_of_flows_are_bands_with_every_flow_in_the_table() {
    for flows in [65, 300] {
        let rules: Vec<&Rule> = (0..flows).map(|nth| &RULES[usize::from(nth % 5 == 0)]).collect();
        let sections = [Section::of("reno and cubic", vec![sawtooth(&rules, 12, 1)])];
        let page = report(&sections).html();
        let (shares, window) = (plot_of(&page, "shares"), plot_of(&page, "window-1"));
        assert_eq!(texts(&shares, "row"), ["cubic", "reno"]);
        assert_eq!(shares["tables"][0]["groups"].as_array().map(Vec::len), Some(flows));
        let expected = [format!("cubic, {} flows", flows / 5), format!("reno, {} flows", flows - flows / 5)];
        assert_eq!(texts(&window, "flow"), expected);
        assert!(page.len() < 3_000_000, "{} bytes", page.len());
        assert!(!page.contains("flows are drawn"), "no flow is left out");
        assert_eq!(outside(&page), [""; 0]);
    }
}

#[test]
fn a_page_refers_to_nothing_outside_itself() {
    let sections = [Section::of("reno", vec![sawtooth(&[&RULES[0]], 20, 1)])];
    let page = report(&sections).html();
    // The name of the schema is an address, which nothing fetches.
    let own = own_part(&page).replace("https://vega.github.io/schema/", "");
    for reference in ["src=", "@import", "url(", "<link rel=\"stylesheet", "http://", "https://"] {
        assert!(!own.contains(reference), "{reference}");
    }
    assert!(!page.contains("sourceMappingURL"));
    assert!(page.contains("default-src 'none'"));
    // Each library is whole: nothing in it ends the element it stands in.
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
}

#[test]
fn names_cannot_leave_their_place() {
    let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
    let mut trace = sawtooth(&[&RULES[0], &RULES[1]], 20, 1);
    trace.flows[0].name = hostile.to_string();
    trace.flows[1].algorithm = format!("{hostile};}}body{{display:none");
    let sections = [Section::of(hostile, vec![trace])];
    let report = Report {
        title: hostile.to_string(),
        command: hostile.to_string(),
        revision: hostile.to_string(),
        scenario_toml: hostile.to_string(),
        warnings: vec![hostile.to_string()],
        ..report(&sections)
    };
    let page = report.html();
    let own = own_part(&page);
    assert!(!own.contains("<script>") && !own.contains("<img"), "a name became a tag");
    assert!(!own.contains("alert(2)>\""), "a name left its attribute");
    assert_eq!(page.matches("</script>").count(), 7, "a name ended a script");
    let style = page
        .split("<style id=\"style\">")
        .nth(1)
        .and_then(|rest| rest.split("</style>").next())
        .expect("a style sheet");
    assert!(!style.contains("alert") && !style.contains("display:none"), "a name reached the style sheet");
}

#[test]
fn rows_of_one_algorithm_have_the_colours_of_their_labels() {
    let udt = Rule { name: "udt", ..RULES[0] };
    let sections = ["simulator", "wire"].map(|label| Section::of(label, vec![sawtooth(&[&udt], 20, 1)]));
    let warnings = vec!["the run called `wire` is one of sockets".to_string()];
    let page = Report { warnings, ..report(&sections) }.html();
    assert!(page.contains("<li>the run called <code>wire</code> is one of sockets</li>"));
    let colours: Vec<&str> =
        page.split("class=\"swatch\" style=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(colours.len() >= 2 && colours[0] != colours[1], "{colours:?}");
}

#[test]
fn a_page_stays_small_however_much_ran() {
    let rule = &RULES[0];
    let sections: Vec<Section> =
        (0..20).map(|k| Section::of(format!("reno number {k}"), vec![sawtooth(&[rule; 12], 300, k)])).collect();
    let page = report(&sections).html();
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(page.contains("reno, 12 flows") && page.contains("Bands: smallest to largest"));
    assert_eq!(outside(&page), [""; 0]);
}

#[test]
fn empty_runs_make_a_page_too() {
    let nothing = Report::default().html();
    assert!(nothing.contains("<h2 id=\"results\">"));
    let sections = [Section::of("reno", vec![Trace::default()])];
    assert!(report(&sections).html().contains("id=\"row-1\""));
}
