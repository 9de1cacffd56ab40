//! Wrong limits of windows that are not used.

use super::{Fault, fault};
use crate::rules::{
    Base::{Limited, LimitedCubic},
    Flights, Rules,
};

fn flights(rules: &mut Rules) -> &mut Flights {
    rules.flights.as_mut().expect("a sender that claims the draft")
}

pub(super) const UNUSED: &[Fault] = &[
    fault("slow start has no limit", &[(Limited, "limited-start-twice"), (LimitedCubic, "limited-start-twice")], |r| {
        flights(r).ramp = f64::INFINITY;
    }),
    fault("the limit of slow start is three flights", &[(Limited, "limited-start-twice")], |r| flights(r).ramp = 3.0),
    fault("the limit of slow start is one and a half flights", &[(Limited, "limited-start-reaches")], |r| {
        flights(r).ramp = 1.5;
    }),
    fault("the limit of slow start is six flights", &[(Limited, "limited-rate")], |r| flights(r).ramp = 6.0),
    fault("maxFS begins at zero", &[(Limited, "limited-start-grows")], |r| flights(r).initial = false),
    fault("maxFS is taken after the acknowledgement", &[(Limited, "limited-departures")], |r| flights(r).late = true),
    fault("maxFS does not follow the flights", &[(Limited, "limited-then-full")], |r| flights(r).follows = false),
    fault("the receiver's window is no limit", &[(Limited, "limited-receiver")], |r| flights(r).peer = false),
    fault("twenty packets above the flight", &[(Limited, "limited-avoidance")], |r| flights(r).step = 20.0),
    fault("fifty packets above the flight", &[(Limited, "limited-curve")], |r| flights(r).step = 50.0),
    fault("avoidance has no limit", &[(Limited, "limited-still")], |r| flights(r).step = f64::INFINITY),
    fault("the curve runs behind its limit", &[(LimitedCubic, "limited-epoch")], |r| flights(r).epoch_runs = true),
    fault("maxFS outlives a loss", &[(Limited, "limited-after-loss"), (LimitedCubic, "limited-after-loss")], |r| {
        flights(r).resets_on_loss = false;
    }),
    fault("maxFS outlives a mark", &[(Limited, "limited-after-mark")], |r| flights(r).resets_on_mark = false),
    fault("maxFS outlives a restart", &[(Limited, "limited-after-restart")], |r| flights(r).resets_on_restart = false),
    fault(
        "a maxFS of zero limits the window",
        &[(Limited, "limited-no-collapse"), (LimitedCubic, "limited-no-collapse")],
        |r| flights(r).collapses = true,
    ),
];
