//! The checks of each suite, for `conform!`. Generated: `CWND_BLESS=1 cargo test -p cwnd-conform --test each` writes it.

#[doc(hidden)]
#[macro_export]
macro_rules! conform_suite {
    ("rfc5681", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc5681_applies() {
            $crate::testing::assert_applies(&$subject, "rfc5681");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc5681_initial "5681-initial"
            rfc5681_slow_start "5681-slow-start"
            rfc5681_slow_start_wire "5681-slow-start-wire"
            rfc5681_avoidance "5681-avoidance"
            rfc5681_halve "5681-halve"
            rfc5681_small_window "5681-small-window"
            rfc5681_flight_size "5681-flight-size"
            rfc5681_timeout_window "5681-timeout-window"
            rfc5681_timeout_threshold "5681-timeout-threshold"
            rfc5681_slow_start_after_timeout "5681-slow-start-after-timeout"
            rfc5681_rate_after_timeout "5681-rate-after-timeout"
            rfc5681_loss_after_timeout "5681-loss-after-timeout"
            rfc5681_threshold_floor "5681-threshold-floor"
            rfc5681_duplicates "5681-duplicates"
            rfc5681_fast_retransmit "5681-fast-retransmit"
            rfc5681_restart "5681-restart"
            rfc5681_restart_threshold "5681-restart-threshold"
            rfc5681_restart_window "5681-restart-window"
            rfc5681_restart_late "5681-restart-late"
            rfc6298_backoff "6298-backoff"
            rfc6298_first "6298-first"
            rfc6298_reset "6298-reset"
            rfc6582_one_cut "6582-one-cut"
            rfc6675_repair "6675-repair"
            rfc6675_recovery_rate "6675-recovery-rate"
        }
    };
    ("rfc9438", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc9438_applies() {
            $crate::testing::assert_applies(&$subject, "rfc9438");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc9438_beta "9438-beta"
            rfc9438_beta_wire "9438-beta-wire"
            rfc9438_beta_second "9438-beta-second"
            rfc9438_once "9438-once"
            rfc9438_concave "9438-concave"
            rfc9438_plateau "9438-plateau"
            rfc9438_convex "9438-convex"
            rfc9438_c "9438-c"
            rfc9438_increment "9438-increment"
            rfc9438_target "9438-target"
            rfc9438_cap "9438-cap"
            rfc9438_monotone "9438-monotone"
            rfc9438_limited_clock "9438-limited-clock"
            rfc9438_friendly "9438-friendly"
            rfc9438_friendly_above "9438-friendly-above"
            rfc9438_friendly_reset "9438-friendly-reset"
            rfc9438_no_slower "9438-no-slower"
            rfc9438_convergence "9438-convergence"
            rfc9438_convergence_k "9438-convergence-k"
            rfc9438_no_convergence_above "9438-no-convergence-above"
            rfc9438_timeout_window "9438-timeout-window"
            rfc9438_timeout_threshold "9438-timeout-threshold"
            rfc9438_timeout_epoch "9438-timeout-epoch"
            rfc9438_slow_start "9438-slow-start"
            rfc9438_mark "9438-mark"
            rfc9438_mark_floor "9438-mark-floor"
            rfc9438_loss_floor "9438-loss-floor"
            rfc9438_small_window "9438-small-window"
            rfc9438_undo "9438-undo"
            rfc9438_undo_curve "9438-undo-curve"
        }
    };
    ("rfc9002", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc9002_applies() {
            $crate::testing::assert_applies(&$subject, "rfc9002");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc9002_initial "9002-initial"
            rfc9002_in_flight "9002-in-flight"
            rfc9002_paced_start "9002-paced-start"
            rfc9002_slow_start "9002-slow-start"
            rfc9002_slow_start_acks "9002-slow-start-acks"
            rfc9002_exit_on_loss "9002-exit-on-loss"
            rfc9002_exit_on_mark "9002-exit-on-mark"
            rfc9002_halve "9002-halve"
            rfc9002_recovery_once "9002-recovery-once"
            rfc9002_recovery_still "9002-recovery-still"
            rfc9002_recovery_ends "9002-recovery-ends"
            rfc9002_recovery_last "9002-recovery-last"
            rfc9002_recovery_first "9002-recovery-first"
            rfc9002_avoidance "9002-avoidance"
            rfc9002_acks "9002-acks"
            rfc9002_persistent "9002-persistent"
            rfc9002_persistent_resumes "9002-persistent-resumes"
            rfc9002_tail_loss "9002-tail-loss"
            rfc9002_burst "9002-burst"
            rfc9002_pace_limited "9002-pace-limited"
            rfc9002_underused "9002-underused"
            rfc9002_underused_avoidance "9002-underused-avoidance"
            rfc9002_paced_is_used "9002-paced-is-used"
        }
    };
    ("rfc9406", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc9406_applies() {
            $crate::testing::assert_applies(&$subject, "rfc9406");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc9406_exit "9406-exit"
            rfc9406_no_exit "9406-no-exit"
            rfc9406_rise "9406-rise"
            rfc9406_small_rise "9406-small-rise"
            rfc9406_largest_threshold "9406-largest-threshold"
            rfc9406_least_threshold "9406-least-threshold"
            rfc9406_rounds "9406-rounds"
            rfc9406_resume "9406-resume"
            rfc9406_burst "9406-burst"
        }
    };
    ("rfc3168", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc3168_applies() {
            $crate::testing::assert_applies(&$subject, "rfc3168");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc3168_reacts "3168-reacts"
            rfc3168_reacts_wire "3168-reacts-wire"
            rfc3168_once "3168-once"
            rfc3168_mark_and_loss "3168-mark-and-loss"
            rfc3168_again "3168-again"
            rfc8511_no_deeper "8511-no-deeper"
            rfc8511_reno "8511-reno"
        }
    };
    ("rfc9331", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc9331_applies() {
            $crate::testing::assert_applies(&$subject, "rfc9331");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc9331_small_cuts "9331-small-cuts"
            rfc9331_proportion "9331-proportion"
            rfc9331_signals "9331-signals"
            rfc9331_loss "9331-loss"
            rfc9331_loss_rate "9331-loss-rate"
            rfc9331_rtt_bias "9331-rtt-bias"
            rfc9331_below_two "9331-below-two"
            rfc9331_time "9331-time"
            rfc9331_classic_queue "9331-classic-queue"
        }
    };
    ("rfc7661", $subject:expr, $baseline:expr) => {
        #[test]
        fn rfc7661_applies() {
            $crate::testing::assert_applies(&$subject, "rfc7661");
        }
        $crate::conform_checks! { $subject, $baseline,
            rfc7661_not_validated "7661-not-validated"
            rfc7661_after_pause "7661-after-pause"
            rfc7661_five_minutes "7661-five-minutes"
            rfc7661_five_minutes_threshold "7661-five-minutes-threshold"
        }
    };
    ("ratelimited", $subject:expr, $baseline:expr) => {
        #[test]
        fn ratelimited_applies() {
            $crate::testing::assert_applies(&$subject, "ratelimited");
        }
        $crate::conform_checks! { $subject, $baseline,
            limited_start_grows "limited-start-grows"
            limited_start_twice "limited-start-twice"
            limited_start_reaches "limited-start-reaches"
            limited_departures "limited-departures"
            limited_then_full "limited-then-full"
            limited_receiver "limited-receiver"
            limited_avoidance "limited-avoidance"
            limited_still "limited-still"
            limited_epoch "limited-epoch"
            limited_after_loss "limited-after-loss"
            limited_after_mark "limited-after-mark"
            limited_after_timeout "limited-after-timeout"
            limited_after_restart "limited-after-restart"
            limited_no_collapse "limited-no-collapse"
            limited_rate "limited-rate"
            limited_curve "limited-curve"
        }
    };
    ("bbr", $subject:expr, $baseline:expr) => {
        #[test]
        fn bbr_applies() {
            $crate::testing::assert_applies(&$subject, "bbr");
        }
        $crate::conform_checks! { $subject, $baseline,
            bbr_startup_plateau "bbr-startup-plateau"
            bbr_startup_loss "bbr-startup-loss"
            bbr_drain_inflight "bbr-drain-inflight"
            bbr_drain_time "bbr-drain-time"
            bbr_up_plateau "bbr-up-plateau"
            bbr_up_loss "bbr-up-loss"
            bbr_never_when_limited "bbr-never-when-limited"
            bbr_down_inflight "bbr-down-inflight"
            bbr_down_time "bbr-down-time"
            bbr_probe_rtt "bbr-probe-rtt"
            bbr_probe_rtt_skipped "bbr-probe-rtt-skipped"
            bbr_startup_aggregation "bbr-startup-aggregation"
            bbr_cruise_aggregation "bbr-cruise-aggregation"
            bbr_sub_packet "bbr-sub-packet"
            bbr_ten_times "bbr-ten-times"
            bbr_a_tenth "bbr-a-tenth"
            bbr_policer "bbr-policer"
            bbr_spurious_recovery "bbr-spurious-recovery"
            bbr_spurious_timeout "bbr-spurious-timeout"
            bbr_probe_rtt_in_startup "bbr-probe-rtt-in-startup"
            bbr_up_loss_with_longterm "bbr-up-loss-with-longterm"
            bbr_limited_refill "bbr-limited-refill"
        }
    };
    ("situations", $subject:expr, $baseline:expr) => {
        #[test]
        fn situations_applies() {
            $crate::testing::assert_applies(&$subject, "situations");
        }
        $crate::conform_checks! { $subject, $baseline,
            loss_spiral "loss-spiral"
            loss_spiral_woken "loss-spiral-woken"
            one_loss "one-loss"
            unused_window "unused-window"
            survives "survives"
            pause "pause"
            policer "policer"
            reordering "reordering"
            bleached "bleached"
            spurious "spurious"
            spurious_threshold "spurious-threshold"
            lossy "lossy"
            held_acks "held-acks"
            thin_flow "thin-flow"
        }
    };
    ($suite:tt, $subject:expr, $baseline:expr) => {
        compile_error!(concat!("no suite is called ", stringify!($suite)));
    };
}
