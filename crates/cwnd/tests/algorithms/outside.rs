//! Algorithms that are not in the registry.

use std::sync::Arc;

use cwnd::testing::{Case, check, in_shell};
use cwnd::window::{Window, WindowRule};
use cwnd::{CongestionControl, Maker, Spec, Start, View};
use proptest::collection::vec;
use proptest::prelude::*;

/// AIMD(1, 1/2) as someone else would write it.
#[derive(Clone, Debug)]
struct Halving;

impl WindowRule for Halving {
    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, _view: &View) -> f64 {
        w / 2.0
    }

    fn cuts_flight(&self) -> bool {
        true
    }
}

impl Maker for Halving {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Window::new(self.clone(), start))
    }
}

fn halving() -> Spec {
    Spec::outside("halving", Arc::new(Halving))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn keep_the_contract_and_what_the_shell_gives(bytes in vec(any::<u8>(), 0..1500)) {
        let case = Case::decode(&bytes);
        check(&halving(), &case);
        let mut ours = halving().start(&case.start);
        let mut reno = Spec::parse("reno").expect("registered").start(&case.start);
        for signal in &case.signals {
            signal.deliver(&mut ours);
            signal.deliver(&mut reno);
            prop_assert_eq!(ours.control(), reno.control());
        }
    }
}

#[test]
fn have_a_name_and_no_entry_in_the_registry() {
    let spec = halving();
    assert_eq!((spec.label(), spec.parameters().count()), ("halving", 0));
    assert!(Spec::parse(spec.entry().name).is_err(), "`{}` cannot be asked for by name", spec.entry().name);
    assert!(in_shell(&spec.start(&Start::default())));
    assert!(spec.receiver(&Start::default()).is_none());
}
