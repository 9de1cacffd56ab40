//! The findings of conformance checks in stacks with BoringSSL, and their limits.

#[path = "../../tests/judging/mod.rs"]
mod judging;

use judging::judge;

/// `9002-recovery-still` loses no probe of the MTU: tquic sends one in its first flight, and cuts nothing for its loss.
#[test]
fn a_check_loses_no_probe_of_the_mtu() {
    judge("tquic:cubic", "9002-recovery-still").meets(1.0..1.005);
}

/// quiche#2680: persistent congestion is not implemented.
#[test]
fn persistent_congestion_leaves_the_window_of_quiche() {
    judge("quiche:reno", "9002-persistent").deviates(100.0..150.0);
}
