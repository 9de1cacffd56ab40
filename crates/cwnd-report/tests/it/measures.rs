//! Every measure of the table reaches every place that is derived from it.

use cwnd_lab::sweep::By;
use cwnd_report::plot::Axis;
use cwnd_report::reference;
use cwnd_run::measure::{Estimates, MEASURES, Reach, Subject, summarise};
use cwnd_trace::Trace;

#[test]
fn every_measure_is_everywhere() {
    let page = reference::json();
    let json = serde_json::to_value(Estimates::over(&[summarise(&Trace::default(), 0)])).expect("a document");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, MEASURES.iter().map(|measure| measure.key).collect::<Vec<_>>());
    for measure in MEASURES {
        let key = measure.key;
        let list = if measure.subject == Subject::EachFlow { "[]" } else { "" };
        assert!(page.contains(&format!("| `{key}{list}` |")) && page.contains(&measure.described()), "{key}");
        let axis = Axis::of_column(key);
        assert_eq!((axis.title, axis.scale), (measure.label(), measure.scale.factor()), "{key}");
        let links = page.contains(&format!("| `links[].{key}` |"));
        assert_eq!(links, measure.subject == Subject::Link, "{key}");
        assert_eq!(key.parse::<By>().is_ok(), measure.reach >= Reach::Compared, "{key}");
        let ending = match measure.scale.base() {
            "bit/s" => "_bps",
            "s" => "_s",
            _ => "",
        };
        assert!(key.ends_with(ending) && measure.meaning.ends_with('.') && !measure.heading().is_empty(), "{key}");
        assert!(measure.better.is_some() || measure.reach < Reach::Compared, "{key} has no better way");
    }
}
