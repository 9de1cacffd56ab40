//! `cwnd udt link`

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use cwnd::{BitRate, Bytes, Span};
use cwnd_link::{Plan, Relay, RelayError};
use cwnd_run::files::to_json;
use cwnd_run::scenario::{Queue, Written};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{HoldBack, Impairments, Loss, Reordering};

use crate::failure::Failure;

/// A link in user space.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 100mbit --delay 25ms
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 1gbit --delay 50ms --queue red:1bdp --loss 1e-3
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --rate 20mbit --delay 20ms --queue fq_codel:1000p,target=5ms
  cwnd udt link 127.0.0.1:9001 127.0.0.1:9000 --delay 10ms --reorder 0.01 --reorder-by 2ms --duplicate 0.001
Clients send to LISTEN instead of TARGET. The link ends with Ctrl-C or after --duration; then it tells what it has carried
and how late it was. What an option says holds for both directions, each drawing for itself.")]
pub(crate) struct Arguments {
    /// Where clients send to; port 0 for any that is free
    listen: SocketAddr,
    /// Where their datagrams go
    target: SocketAddr,
    /// Rate of each direction, IP headers included [default: no limit, and no queue]
    #[arg(long)]
    rate: Option<Written<BitRate>>,
    /// Delay of each direction
    #[arg(long, default_value = "0ms")]
    delay: Written<Span>,
    /// Hold each datagram back by up to this much, in order
    #[arg(long, default_value = "0ms")]
    jitter: Written<Span>,
    /// Queue: droptail:, red:, rio:, drr:, codel:, fq_codel: or pie: and a size in bdp (bandwidth-delay products), p (packets)
    /// or kB
    #[arg(long, default_value = "droptail:1bdp")]
    queue: Written<Queue>,
    /// Random loss: a probability, periodic:N for every Nth datagram, or gilbert:to_bad=P,to_good=P for bursts
    #[arg(long, default_value = "0")]
    loss: Written<Loss>,
    /// Random loss on the way from the target to the clients, where it differs
    #[arg(long, value_name = "LOSS")]
    loss_back: Option<Written<Loss>>,
    /// Hold back this share of the datagrams, so that others overtake them
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    reorder: f64,
    /// For how long they are held back
    #[arg(long, value_name = "TIME", default_value = "1ms")]
    reorder_by: Written<Span>,
    /// Deliver this share of the datagrams twice
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    duplicate: f64,
    /// Equal seeds give equal draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// End after this time
    #[arg(long, value_name = "TIME")]
    duration: Option<Written<Span>>,
    /// Watch the clock instead of sleeping for less than this: exacter, and up to a whole core
    #[arg(long, value_name = "TIME", default_value = "20us")]
    spin: Written<Span>,
    /// Clients at a time
    #[arg(long, value_name = "N", default_value_t = 64)]
    clients: usize,
    /// Forget a client after this much silence
    #[arg(long, value_name = "TIME", default_value = "60s")]
    idle: Written<Span>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let relay = Relay::bind(arguments.plan()?).map_err(|error| match error {
        RelayError::Emulation(error) => Failure::Input(error.to_string()),
        error => Failure::Run(error.to_string()),
    })?;
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    ctrlc::set_handler(move || interrupted.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Run(format!("cannot listen to Ctrl-C: {error}")))?;
    let local = relay.local().map_err(|error| Failure::Run(error.to_string()))?;
    eprintln!("link from {local} to {}", arguments.target);
    let duration = arguments.duration.as_ref().map(|duration| *duration.value());
    let report = relay.run(&stop, duration).map_err(|error| Failure::Run(error.to_string()))?;
    Ok(if arguments.json { to_json(&report) } else { report.to_string() })
}

impl Arguments {
    fn plan(&self) -> Result<Plan, Failure> {
        let forth = self.emulation(*self.loss.value())?;
        let loss_back = self.loss_back.as_ref().map_or(*self.loss.value(), |loss| *loss.value());
        let mut plan = Plan::new(self.listen, self.target, forth);
        plan.back.loss = loss_back;
        plan.seed = self.seed;
        plan.clients = self.clients;
        plan.idle = *self.idle.value();
        plan.spin = *self.spin.value();
        Ok(plan)
    }

    fn emulation(&self, loss: Loss) -> Result<Emulation, Failure> {
        let delay = *self.delay.value();
        let queue = self.queue.value();
        if self.rate.is_some() && delay == Span::ZERO && queue.needs_path() {
            return Err(Failure::Input("--queue: without --delay its size must be in p, kB or unlimited".to_owned()));
        }
        let rate = self.rate.as_ref().map(|rate| *rate.value());
        let (limit, discipline) = queue.setup(rate.unwrap_or(BitRate(0.0)), delay.mul_f64(2.0), PACKET);
        let reordering = Reordering { probability: self.reorder, by: HoldBack::Time(*self.reorder_by.value()) };
        let plain = Emulation::new(rate.map(|rate| rate.0.round() as u64), delay, limit);
        Ok(Emulation {
            discipline,
            loss,
            impairments: Impairments {
                jitter: *self.jitter.value(),
                reordering: (self.reorder != 0.0).then_some(reordering),
                ..Impairments::default()
            },
            duplication: self.duplicate,
            ..plain
        })
    }
}

/// What bandwidth-delay products and RED's averages are counted in: UDT's default, headers included.
const PACKET: Bytes = Bytes(1500);
