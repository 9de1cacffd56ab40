//! The findings of conformance checks in the releases under test, and their limits.

mod judging;

use judging::judge;

/// The releases that fixed what `known-bad/` has meet the checks that find it there.
#[test]
fn the_fixed_releases_meet_the_checks_that_find_their_old_faults() {
    judge("quinn:cubic", "9438-beta-second").meets(0.69..0.71);
    judge("noq:bbr3", "survives").meets(0.0..0.001);
    judge("smoltcp:reno", "5681-initial").meets(1.0..11.0);
    judge("smoltcp:reno", "one-loss").meets(0.99..1.1);
}

/// RFC 8312, which both implement, has the estimate of Reno go on with 0.53 packets per round trip above the last maximum. RFC 9438 has 1.
#[test]
fn the_estimate_of_reno_is_that_of_rfc_8312() {
    for stack in ["quinn:cubic", "noq:cubic"] {
        judge(stack, "9438-friendly-above").deviates(0.47..0.59);
        // It begins at seven tenths of a maximum that fast convergence has lowered.
        judge(stack, "9438-friendly-reset").deviates(0.32..0.37);
    }
}

/// noq#800: BBRv3's first pacing rate, the initial window per millisecond, stays while the application limits the sender.
#[test]
fn a_limited_bbr3_is_not_paced() {
    judge("noq:bbr3", "9002-pace-limited").deviates(0.9..1.001);
    judge("quinn:cubic", "9002-pace-limited").meets(0.2..0.6);
}

/// quinn#2798: the window of BBR grows by all acknowledged bytes while an application limits the sender.
#[test]
fn an_unused_window_of_bbr_runs_away() {
    judge("quinn:bbr", "unused-window").deviates(30.0..100.0);
    judge("noq:bbr3", "unused-window").meets(-1.0..10.0);
}

/// The faults reported in docs/upstream to the four projects: the drafts have the causes.
#[test]
fn the_drafts_of_reports_hold() {
    judge("noq:cubic", "pause").deviates(20.0..40.0);
    judge("quinn:cubic", "pause").deviates(20.0..40.0);
    judge("s2n:cubic", "pause").deviates(7.0..8.0);
    judge("noq:cubic", "6298-backoff").deviates(1.2..1.3);
    judge("smoltcp:cubic", "9438-no-slower").deviates(0.65..0.72);
}
