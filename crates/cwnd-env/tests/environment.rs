//! Environments on paths where a calculation by hand gives the result of an action.

use std::sync::Arc;

use cwnd::{Span, Spec, Time};
use cwnd_env::{
    Course, CourseError, Environment, Environments, FEATURES, Lever, MAX_PACKETS, Options, Outcome, Range, Reward,
    Totals,
};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Setup, Source, Variation};

/// 12 Mbit/s and 100 ms: 1000 packets of 1500 bytes a second, 100 of them in a round trip, and as many in the queue.
fn path(flows: usize) -> Setup {
    let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Packets(100));
    let specs = vec![Spec::parse("reno").expect("registered"); flows];
    let mut setup = bell.setup(&specs, Era::MODERN, Span::from_secs(20), Span::ZERO, 1);
    // Each packet is acknowledged, so that counts of packets are exact.
    setup.flows.iter_mut().for_each(|flow| flow.delayed_ack = None);
    Setup { variation: Variation { start: Some(Span::ZERO), rtt: 0.0, jitter: 0.0 }, ..setup }
}

fn course(options: Options) -> Arc<Course> {
    Arc::new(Course::new(path(1), vec![0], options).expect("a course"))
}

/// The last observation and reward of an episode in which the window is taken from 10 packets to `window` at once.
fn settle(window: f64, options: Options) -> (Vec<f32>, f32) {
    let gain = window / 10.0 - 1.0;
    let mut environment = Environment::new(course(Options { gain, ..options }), 1);
    let mut observation = vec![0.0; FEATURES.len()];
    let mut reward = [0.0];
    environment.observe(&mut observation);
    environment.step(&[1.0], &mut observation, &mut reward);
    for _ in 0..30 {
        environment.step(&[0.0], &mut observation, &mut reward);
    }
    (observation, reward[0])
}

#[track_caller]
fn near(found: f32, expected: f32, within: f32) {
    assert!((found - expected).abs() <= within, "{found}, not {expected}");
}

#[test]
fn a_window_of_one_product_fills_the_path() {
    let (seen, reward) = settle(100.0, Options::default());
    near(reward, 1.0, 0.02);
    let expected = [("goodput", 1.0), ("delay", 0.0), ("loss", 0.0), ("window", 0.0), ("sent", 1.0), ("duration", 1.0)];
    for (name, expected) in expected {
        let at = FEATURES.iter().position(|feature| feature.name == name).expect("a feature");
        near(seen[at], expected, 0.05);
    }
}

#[test]
fn half_a_product_uses_half_the_path() {
    near(settle(50.0, Options::default()).1, 0.5, 0.02);
    near(settle(50.0, Options { reward: Reward::POWER, ..Options::default() }).1, 0.5, 0.02);
}

#[test]
fn a_queue_costs_what_the_reward_says() {
    // 160 packets: 60 wait, 60 ms of delay over 100.
    near(settle(160.0, Options::default()).1, 1.0 - 0.5 * 0.6, 0.03);
    near(settle(160.0, Options { reward: Reward::POWER, ..Options::default() }).1, 1.0 / 1.6, 0.03);
}

#[test]
fn a_window_beyond_the_queue_loses() {
    // More than 200 packets do not fit; the delay stays at a full queue's.
    let mut environment = Environment::new(course(Options::default()), 1);
    let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
    environment.observe(&mut seen);
    let mut worst = 0.0_f32;
    while !environment.step(&[1.0], &mut seen, &mut reward) {
        worst = worst.max(seen[3]);
    }
    assert!(worst > 0.2, "at most {worst} of the packets were lost");
    let totals: Vec<_> = environment.totals().collect();
    assert!(totals[0].loss > 0.05 && totals[0].delay > 1.5 && totals[0].goodput < 1.01, "{totals:?}");
}

#[test]
fn a_step_lasts_a_round_trip_and_ten_packets() {
    let mut environment = Environment::new(course(Options::default()), 1);
    let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
    environment.observe(&mut seen);
    // Three halvings: at some 1.25 packets a round trip ten of them take eight.
    let mut lengths = Vec::new();
    for _ in 0..8 {
        let before = environment.time();
        environment.step(&[-1.0], &mut seen, &mut reward);
        lengths.push(environment.time() - before);
    }
    assert!(lengths.iter().all(|length| *length >= 0.1), "{lengths:?}");
    // One packet a round trip: ten round trips.
    assert!((lengths[7] - 1.0).abs() < 0.03, "{lengths:?}");
}

fn drawn() -> Options {
    Options {
        rate: Some(Range { low: 1e6, high: 1e8 }),
        rtt: Some(Range { low: 0.005, high: 0.2 }),
        queue: Some(Range { low: 0.2, high: 4.0 }),
        loss: Some(Range { low: 0.0, high: 0.02 }),
        steps: 20,
        ..Options::default()
    }
}

/// Everything seen in 90 steps of four environments of two agents each, with actions that depend on observations.
fn walk(seed: u64) -> Vec<f32> {
    let course = Arc::new(Course::new(path(3), vec![2, 0], drawn()).expect("a course"));
    let mut environments = Environments::new(&course, 4, 0);
    let width = 2 * FEATURES.len();
    let (mut seen, mut rewards, mut ended) = (vec![0.0; 4 * width], vec![0.0; 8], [false; 4]);
    environments.reset(|nth| Some(seed + nth as u64), &mut seen);
    let mut all = seen.clone();
    for _ in 0..90 {
        let actions: Vec<f32> = seen.chunks(FEATURES.len()).map(|seen| 0.3 - seen[1] - seen[3]).collect();
        environments.step(&actions, &mut seen, &mut rewards, &mut ended);
        all.extend_from_slice(&seen);
        all.extend_from_slice(&rewards);
    }
    all
}

#[test]
fn equal_seeds_are_equal_episodes() {
    let first = walk(7);
    assert_eq!(first, walk(7));
    assert_ne!(first, walk(8));
    for (at, value) in first.iter().enumerate() {
        assert!(value.is_finite(), "number {at} is {value}");
    }
}

#[test]
fn an_environment_in_an_array_is_an_environment() {
    let course = Arc::new(Course::new(path(1), vec![0], drawn()).expect("a course"));
    let mut many = Environments::new(&course, 3, 0);
    let mut seen = vec![0.0; 3 * FEATURES.len()];
    many.reset(|nth| Some(40 + nth as u64), &mut seen);
    let mut single = Environment::new(Arc::clone(&course), 42);
    let mut alone = vec![0.0; FEATURES.len()];
    single.observe(&mut alone);
    assert_eq!(alone, seen[2 * FEATURES.len()..]);
    let (mut rewards, mut ended, mut reward) = ([0.0; 3], [false; 3], [0.0]);
    for step in 1..=45 {
        many.step(&[0.1; 3], &mut seen, &mut rewards, &mut ended);
        // Every 21st step begins the next episode.
        if step % 21 == 0 {
            single.reset(None);
            single.observe(&mut alone);
            reward = [0.0];
        } else {
            assert_eq!(single.step(&[0.1], &mut alone, &mut reward), ended[2], "step {step}");
        }
        assert_eq!((&alone[..], reward[0]), (&seen[2 * FEATURES.len()..], rewards[2]), "step {step}");
    }
}

#[test]
fn an_algorithm_takes_the_learners_place() {
    let reno =
        || Options { algorithm: Some(Spec::parse("reno").expect("registered")), steps: 100, ..Options::default() };
    let run = |action: f32| {
        let mut environment = Environment::new(course(reno()), 1);
        let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
        environment.observe(&mut seen);
        while !environment.step(&[action], &mut seen, &mut reward) {}
        environment.totals().next().expect("one flow")
    };
    let totals = run(1.0);
    assert_eq!(totals, run(-1.0), "actions change nothing");
    // A queue of one product keeps Reno's link busy.
    assert!(totals.goodput > 0.9 && totals.delay > 1.2 && totals.loss < 0.05, "{totals:?}");
}

#[test]
fn what_cannot_be_steered_is_refused() {
    let refused = |setup, steered: &[usize], options| {
        Course::new(setup, steered.to_vec(), options).expect_err("must be refused").to_string()
    };
    assert_eq!(refused(path(2), &[2], Options::default()), "there is no flow 2 to steer: there are 2");
    assert!(refused(path(2), &[], Options::default()).contains("at least one"));
    assert!(refused(path(2), &[1, 1], Options::default()).contains("different"));
    let mut finite = path(1);
    finite.flows[0].source = Source::Packets(10);
    assert!(refused(finite, &[0], Options::default()).contains("something to send"));
    assert_eq!(
        refused(path(1), &[0], Options { gain: 0.0, ..Options::default() }),
        "gain must be above 0 and at most 15"
    );
    let most = refused(path(1), &[0], Options { packets: MAX_PACKETS + 1, ..Options::default() });
    assert_eq!(most, "packets must be from 1 to 1048576");
    let largest = |rate: f64| Options { rate: Some(Range { low: 1e6, high: rate }), ..Options::default() };
    // 100 packets in flight and as many waiting at 12 Mbit/s.
    let error = refused(path(1), &[0], largest(1e12));
    assert!(error.ends_with("holds at most 1048576 packets: the largest holds 16666667"), "{error}");
    let endless = || {
        let mut setup = path(1);
        setup.links.iter_mut().for_each(|link| link.queue = QueueLimit::Unlimited);
        setup
    };
    let error = refused(endless(), &[0], Options::default());
    assert!(error.starts_with("queue must have a limit"), "{error}");
    let queue = Some(Range { low: 1.0, high: 2.0 });
    let course = Course::new(endless(), vec![0], Options { queue, ..largest(12e6) }).expect("a course");
    assert!((course.packets() - 300.0).abs() < 1.0, "{}", course.packets());
    let backwards = Some(Range { low: 2.0, high: 1.0 });
    let error = refused(path(1), &[0], Options { rtt: backwards, ..Options::default() });
    assert!(error.starts_with("rtt must be") && error.contains("2 is above its last, 1"), "{error}");
    let udt = Some(Spec::parse("udt").expect("registered"));
    assert!(refused(path(1), &[0], Options { algorithm: udt, ..Options::default() }).contains("`udt`"));
    let never = Setup { duration: Span::ZERO, ..path(1) };
    let error = Course::new(never, vec![0], Options::default()).err();
    assert!(matches!(error, Some(CourseError::Setup(_))), "{error:?}");
}

#[test]
fn one_of_several_networks_is_drawn_for_each_episode() {
    let slow =
        Course::new(path(1), vec![0], Options { rtt: Some(Range { low: 0.4, high: 0.4 }), ..Options::default() });
    let course = Course::new(path(1), vec![0], Options::default()).expect("a course");
    let course = course.or(slow.expect("a course")).expect("both steer one flow");
    let mut environment = Environment::new(Arc::new(course), 1);
    let mut drawn = [0, 0];
    for _ in 0..40 {
        environment.observe(&mut vec![0.0; FEATURES.len()]);
        let empty = environment.outcomes().next().expect("one flow").empty_rtt;
        let nth = environment.episode().course;
        assert!((empty - [0.101, 0.401][nth]).abs() < 1e-9, "{empty} on {nth}");
        drawn[nth] += 1;
        environment.reset(None);
    }
    assert!(drawn.iter().all(|times| *times > 8), "{drawn:?}");
    let two = Course::new(path(2), vec![0, 1], Options::default()).expect("a course");
    let one = Course::new(path(1), vec![0], Options::default()).expect("a course");
    assert!(matches!(one.or(two), Err(CourseError::Steered)));
}

#[test]
fn a_rate_of_one_capacity_fills_the_path() {
    // 1000 packets a second; the initial window of ten makes 100.
    let options = Options { lever: Lever::Rate, gain: 9.0, ..Options::default() };
    let mut environment = Environment::new(course(options), 1);
    let (mut seen, mut reward) = (vec![0.0; FEATURES.len()], [0.0]);
    environment.observe(&mut seen);
    environment.step(&[1.0], &mut seen, &mut reward);
    for _ in 0..30 {
        environment.step(&[0.0], &mut seen, &mut reward);
    }
    let outcome = environment.outcomes().next().expect("one flow");
    // The first ten packets wait for each other: their round trips are some 4 % longer, and the rate is as much lower.
    near((outcome.report.delivered / outcome.report.duration) as f32, 1000.0, 60.0);
    near(outcome.capacity as f32, 1000.0, 0.1);
    assert_eq!(outcome.report.lost, 0.0);
}

/// Goes through an episode: its totals, and the same of the outcomes of its steps after the first observation.
fn totals_of(setup: Setup, steered: Vec<usize>, options: Options) -> Vec<[Totals; 2]> {
    let count = steered.len();
    let mut environment = Environment::new(Arc::new(Course::new(setup, steered, options).expect("a course")), 1);
    let (mut seen, mut reward) = (vec![0.0; count * FEATURES.len()], vec![0.0; count]);
    environment.observe(&mut seen);
    let mut steps = Vec::new();
    loop {
        let over = environment.step(&vec![0.0; count], &mut seen, &mut reward);
        steps.push((environment.outcomes().collect::<Vec<_>>(), reward.clone()));
        if over {
            break;
        }
    }
    let by_hand = |nth: usize| {
        let sum = |of: &dyn Fn(&Outcome) -> f64| steps.iter().map(|(outcomes, _)| of(&outcomes[nth])).sum::<f64>();
        let (delivered, lost) = (sum(&|one| one.report.delivered), sum(&|one| one.report.lost));
        Totals {
            goodput: delivered / sum(&|one| one.capacity * one.report.duration),
            delay: sum(&|one| one.report.rtt * one.report.delivered / one.empty_rtt) / delivered,
            loss: lost / (delivered + lost),
            reward: steps.iter().map(|(_, rewards)| f64::from(rewards[nth])).sum(),
        }
    };
    environment.totals().enumerate().map(|(nth, totals)| [totals, by_hand(nth)]).collect()
}

#[test]
fn totals_are_over_the_steps_of_the_learner() {
    let reno = || Options { algorithm: Some(Spec::parse("reno").expect("registered")), ..Options::default() };
    let late = |setup: Setup, flow: usize| {
        let mut setup = setup;
        setup.flows[flow].start = Time::ZERO + Span::from_secs(10);
        setup
    };
    let alone = totals_of(late(path(1), 0), vec![0], reno());
    assert!(alone[0][0].goodput > 0.9, "the ten seconds before its start count: {alone:?}");
    let steady = totals_of(path(1), vec![0], reno());
    let both = totals_of(late(path(2), 1), vec![0, 1], reno());
    for [totals, by_hand] in [alone, steady, both].iter().flatten() {
        let pairs = [
            (totals.goodput, by_hand.goodput),
            (totals.delay, by_hand.delay),
            (totals.loss, by_hand.loss),
            (totals.reward, by_hand.reward),
        ];
        assert!(pairs.iter().all(|(found, expected)| (found - expected).abs() < 1e-4), "{totals:?}, {by_hand:?}");
    }
}
