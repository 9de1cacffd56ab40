//! The path to another host, and which congestion control suits a path.

use std::net::IpAddr;
use std::process::Command;

use super::diagnosis::Finding;
use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, QueueLimit, Simulation};

use super::{PACKET, PathTarget, fix, rate, verdict};

/// The measurements of `ping` on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Echoes {
    /// The shortest round-trip time, seconds.
    pub(super) rtt: f64,
    /// The share of the requests and replies that were lost.
    pub(super) lost: f64,
}

/// Sends echo requests to `peer` by `ping`, for four seconds.
///
/// # Errors
/// `ping` is not installed, or nothing is answered; the text says which.
pub(super) fn measure(peer: IpAddr) -> Result<Echoes, String> {
    let asked =
        Command::new("ping").args(["-n", "-q", "-c", REQUESTS, "-i", "0.2", "-w", "8"]).arg(peer.to_string()).output();
    let output = asked.map_err(|_| "`ping` is not installed, which measures the round-trip time".to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout);
    summary(&text).ok_or_else(|| "no echo request was answered: many hosts and firewalls drop them".to_owned())
}

/// The summary at the end of what `ping` prints.
fn summary(text: &str) -> Option<Echoes> {
    let lost = text.lines().find(|line| line.contains("packet loss"))?;
    let percent = lost.split(", ").find_map(|part| part.strip_suffix(" packet loss")?.strip_suffix('%'))?;
    let times = text.lines().find(|line| line.starts_with("rtt ") || line.starts_with("round-trip "))?;
    let shortest = times.split_once(" = ")?.1.split('/').next()?;
    let (percent, millis): (f64, f64) = (percent.parse().ok()?, shortest.parse().ok()?);
    Some(Echoes { rtt: millis / 1e3, lost: percent / 100.0 }).filter(|echoes| echoes.rtt > 0.0)
}

/// The path to another host, as far as echoes tell.
pub(super) fn finding(echoes: &Result<Echoes, String>) -> Finding {
    match echoes {
        Err(why) => Finding::unknown("echo", why.clone()),
        Ok(echoes) => Finding {
            measured: format!("{:.3} ms at best, {:.0} % of {REQUESTS} lost", echoes.rtt * 1e3, echoes.lost * 100.0),
            value: Some(echoes.rtt),
            unit: "s",
            verdict: verdict(echoes.lost > 0.0),
            means: "so few do not show that fewer than some in a hundred are lost: `udt perf` moves enough to tell"
                .to_owned(),
            ..Finding::unknown("echo", "")
        },
    }
}

/// Runs the choices of `--path` on the path in the simulator, alone, and says which of them suits it.
pub(super) fn advise(target: &PathTarget) -> Finding {
    if target.rate > FASTEST {
        let why = format!("--rate: simulated are paths of up to {}", rate(FASTEST));
        return Finding::unknown("congestion_control", why);
    }
    let reached = CHOICES.map(|(algorithm, _)| goodput(algorithm, target));
    if let Some(why) = reached.iter().find_map(|rate| rate.as_ref().err()) {
        return Finding::unknown("congestion_control", why.clone());
    }
    let reached = reached.map(Result::unwrap_or_default);
    let [own, shared, lossy] = reached;
    let slow = own < ENOUGH * lossy;
    let each: Vec<String> =
        CHOICES.iter().zip(reached).map(|((_, choice), reached)| format!("{choice} {}", rate(reached))).collect();
    let choice = if slow {
        "losses hold the default back: `--path lossy` at both ends".to_owned()
    } else if shared >= ENOUGH * own {
        "the default will do, and so will `--path shared`, which leaves more to others on the path".to_owned()
    } else {
        "the default will do; `--path shared` leaves more to others on the path, and is slower".to_owned()
    };
    Finding {
        measured: format!(
            "simulated, alone on {} and {}, {} lost: {}",
            rate(target.rate),
            target.rtt_text,
            target.loss_text,
            each.join(", ")
        ),
        value: Some(own),
        unit: "bit/s",
        verdict: verdict(slow),
        means: choice,
        fix: fix(slow, "udt send PATH --path lossy".to_owned()),
        ..Finding::unknown("congestion_control", "")
    }
}

/// The payload per second that a flow of `algorithm` moves over the path, bit/s: from a quarter of the run on.
fn goodput(algorithm: &str, target: &PathTarget) -> Result<f64, String> {
    let seconds = (ROUND_TRIPS * target.rtt).max(SHORTEST);
    let spec = Spec::parse(algorithm).map_err(|error| error.to_string())?;
    // A queue of one bandwidth-delay product, and of some packets.
    let window = (target.rate * target.rtt / 8.0) as u64 + 10 * u64::from(PACKET);
    let path = Dumbbell::new(target.rate as u64, Span::from_secs_f64(target.rtt), QueueLimit::Bytes(window));
    let mut setup = path.setup(&[spec], Era::MODERN, Span::from_secs_f64(seconds), Span::ZERO, 1);
    setup.links[0].loss = target.loss;
    let payload = f64::from(setup.flows[0].payload.0) * 8.0;
    let mut simulation = Simulation::new(&setup).map_err(|error| error.to_string())?;
    let begin = setup.duration.mul_f64(0.25);
    let delivered = |simulation: &Simulation| simulation.state().flow(0).delivered();
    simulation.advance(cwnd::Time::ZERO + begin, |_| true);
    let before = delivered(&simulation);
    simulation.advance(simulation.end(), |_| true);
    Ok((delivered(&simulation) - before) as f64 * payload / (seconds * 0.75))
}

/// The congestion control behind each `--path`.
const CHOICES: [(&str, &str); 3] = [("udt", "udt (the default)"), ("cubic", "shared"), ("bbr", "lossy")];
/// A rate of at least this share of another counts as equally fast.
const ENOUGH: f64 = 0.8;
const REQUESTS: &str = "20";
/// How long a simulated flow runs: in round trips, and seconds at least.
const ROUND_TRIPS: f64 = 100.0;
const SHORTEST: f64 = 10.0;
/// The fastest path that is simulated in a moment, bit/s.
const FASTEST: f64 = 10e9;

#[cfg(test)]
mod tests {
    use cwnd_sim::Loss;

    use super::*;

    #[test]
    fn summaries_of_two_programs_are_read() {
        let iputils = "--- 192.0.2.1 ping statistics ---\n\
            20 packets transmitted, 19 received, 5% packet loss, time 3805ms\n\
            rtt min/avg/max/mdev = 30.034/30.046/31.082/0.017 ms\n";
        let echoes = summary(iputils).expect("it is one");
        assert!((echoes.rtt - 0.030_034).abs() < 1e-9 && (echoes.lost - 0.05).abs() < 1e-9, "{echoes:?}");
        let busybox = "5 packets transmitted, 5 packets received, 0% packet loss\n\
            round-trip min/avg/max = 0.050/0.081/0.112 ms\n";
        assert!(summary(busybox).is_some_and(|echoes| echoes.lost == 0.0), "{busybox}");
        assert_eq!(summary("5 packets transmitted, 0 received, 100% packet loss, time 4100ms\n"), None);
    }

    #[test]
    fn a_path_with_random_losses_wants_another_algorithm() {
        let target = |loss: Loss, loss_text: &str| PathTarget {
            rate: 100e6,
            rtt: 0.1,
            rtt_text: "100ms".to_owned(),
            loss,
            loss_text: loss_text.to_owned(),
        };
        let lossy = advise(&target(Loss::Bernoulli(0.005), "0.005"));
        assert!(lossy.means.contains("`--path lossy`"), "{lossy:?}");
        assert!(!lossy.fix.is_empty());
        let clean = advise(&target(Loss::None, "0"));
        assert!(clean.means.contains("the default will do") && clean.fix.is_empty(), "{clean:?}");
    }
}
