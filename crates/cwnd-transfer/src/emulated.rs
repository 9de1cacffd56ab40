//! An emulated link, as options of commands.

use std::path::Path;

use clap::Args;
use cwnd::{BitRate, Bytes, Span};
use cwnd_run::scenario::{self, Followed, Queue, Stage, Written, with_outages};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::notation::{LOSSES, QUEUES};
use cwnd_sim::{Duplex, LinkSetup, Loss, NodeId, QueueLimit, Schedule, SetupError};

use crate::arguments::whole;
use crate::failure::Failure;
use crate::impairments::Impairments;

/// A link in user space.
#[derive(Args, Debug)]
pub(crate) struct EmulatedLink {
    /// Rate of each direction, IP headers included [default: no limit, and no queue]
    #[arg(long, conflicts_with = "trace")]
    rate: Option<BitRate>,
    /// Delay of each direction
    #[arg(long, default_value = "0ms")]
    delay: Span,
    #[arg(long, help = format!(
        "Queue: {} and a size in bdp (bandwidth-delay products), ms, p (packets) or kB [default: droptail:1bdp]",
        QUEUES.prefixes()
    ))]
    queue: Option<Written<Queue>>,
    #[arg(long, default_value = "0", help = format!("Random loss: {}", LOSSES.synopsis()))]
    loss: Written<Loss>,
    /// Random loss on the reverse path, where it differs
    #[arg(long, value_name = "LOSS", help_heading = "Impairments")]
    loss_back: Option<Written<Loss>>,
    #[command(flatten)]
    impairments: Impairments,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole::<u64>(0..=u64::MAX))]
    pub(crate) seed: u64,
    /// Poll the clock instead of sleeping for less than this: more precise, but uses up to one core
    #[arg(long, value_name = "TIME", default_value = "20us")]
    spin: Span,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl EmulatedLink {
    /// The links of the two directions, forward first.
    pub(crate) fn emulations(&self) -> Result<[Emulation; 2], Failure> {
        let keys = self.impairments.keys();
        if let Some(policer) = keys.as_ref().and_then(|keys| keys.policer.as_ref())
            && policer.value().burst < PACKET
        {
            let least = PACKET.0;
            let accepted = format!("a burst of at least {least}B, since a packet that is larger never passes");
            return Err(Failure::Input(format!("--policer: cannot be {policer}: accepted is {accepted}")));
        }
        let impairments = keys.map(|keys| keys.setup()).unwrap_or_default();
        let loss = *self.loss.value();
        let duplex = self.impairments.duplex.as_ref().map_or(Duplex::Full, |duplex| *duplex.value());
        let forth = Emulation { loss, impairments, duplex, ..self.line()? };
        let forth = self.changing(forth)?;
        let loss = *self.loss_back.as_ref().unwrap_or(&self.loss).value();
        Ok([forth.clone(), Emulation { loss, ..forth }])
    }

    /// The busy-waiting of each direction.
    pub(crate) fn spin(&self) -> Span {
        self.spin
    }

    /// The link as it changes with `--step`, in both directions alike.
    fn changing(&self, link: Emulation) -> Result<Emulation, Failure> {
        if self.impairments.step.is_empty() {
            return Ok(link);
        }
        let fault = |error: String| Failure::Input(format!("--step: {error}"));
        let varies = !link.rate_steps.steps.is_empty() || link.deliveries.is_some();
        if varies && self.impairments.step.iter().any(|typed| typed.step.rate.is_some()) {
            return Err(fault("`rate` cannot change next to --outage or --trace".to_owned()));
        }
        let follows = !link.delay_steps.steps.is_empty();
        if follows && self.impairments.step.iter().any(|typed| typed.step.extra_delay.is_some()) {
            return Err(fault(
                "`extra_delay` cannot be next to a --trace with a light one, which has the delays".to_owned(),
            ));
        }
        let Emulation { rate, delay, queue, discipline, loss, ref impairments, .. } = link;
        let ends = (NodeId(0), NodeId(1));
        let plain = LinkSetup::new(String::new(), ends, rate, delay, queue);
        let mut setup = LinkSetup { discipline, loss, impairments: impairments.clone(), ..plain };
        let steps = self.impairments.step.iter().map(|typed| typed.step.clone()).collect();
        let line = BitRate(rate.unwrap_or(1) as f64);
        let sized = |queue: &Queue| queue.checked_setup(line, delay.mul_f64(2.0), PACKET);
        scenario::Schedule { repeat: None, steps }.follow(&mut setup, sized).map_err(fault)?;
        let LinkSetup { rate_steps, delay_steps, phases, .. } = setup;
        let rate_steps = if varies { link.rate_steps.clone() } else { rate_steps };
        let delay_steps = if follows { link.delay_steps.clone() } else { delay_steps };
        Ok(Emulation { rate_steps, delay_steps, phases, ..link })
    }

    /// The queue and the line behind it.
    fn line(&self) -> Result<Emulation, Failure> {
        let delay = self.delay;
        let trace = self.impairments.trace.as_ref().map(|trace| trace.value().read_in(Path::new("")));
        let deliveries = match trace.transpose().map_err(|fault| Failure::Input(format!("--trace: {fault}")))? {
            Some(Followed::Table(_)) => {
                let accepted = "accepted is a packet-delivery trace of Mahimahi; a scenario takes tables";
                return Err(Failure::Input(format!("--trace: {accepted}")));
            }
            Some(Followed::Deliveries(deliveries)) => Some(deliveries),
            None => None,
        };
        let mean = deliveries.as_ref().map(|trace| BitRate(trace.mean_rate() as f64));
        let outages: Vec<Stage> = self.impairments.outage.iter().map(|outage| *outage.value()).collect();
        let Some(rate) = mean.or(self.rate) else {
            let pure = Emulation::new(None, delay, QueueLimit::Unlimited);
            let waiting = [("--outage", !outages.is_empty()), ("--queue", self.queue.is_some())];
            return match waiting.into_iter().find(|(_, given)| *given) {
                Some((option, _)) => Err(Failure::Input(format!("{option}: without --rate nothing waits there"))),
                None => Ok(pure),
            };
        };
        let usual = Written::literal("droptail:1bdp");
        let given = self.queue.as_ref().unwrap_or(&usual);
        let queue = given.value();
        if delay == Span::ZERO && queue.needs_path() {
            let reason = if self.queue.is_some() {
                "--queue: without --delay its size must be in p, kB or unlimited"
            } else {
                "--delay: 1bdp, the size of the queue without --queue, is nothing without a delay: give one of the two"
            };
            return Err(Failure::Input(reason.to_owned()));
        }
        let (limit, discipline) = queue
            .checked_setup(rate, delay.mul_f64(2.0), PACKET)
            .map_err(|error| Failure::Input(format!("--queue: cannot be `{given}`: accepted is {error}")))?;
        let bits = rate.0.round() as u64;
        let rate_steps = Schedule { steps: with_outages(bits, &[], &outages), repeat: None };
        let light = deliveries.as_ref().and_then(|trace| trace.light());
        let (delay, delay_steps) = light.map_or((delay, Schedule::default()), |light| light.delays(delay));
        Ok(Emulation { rate_steps, deliveries, discipline, delay_steps, ..Emulation::new(Some(bits), delay, limit) })
    }
}

/// A fault in the links of these options.
pub(crate) fn refusal(error: &SetupError) -> Failure {
    Failure::Input(match error {
        SetupError::Range { field: "duplex", accepted, .. } => format!("--duplex: accepted is {accepted}"),
        error => error.to_string(),
    })
}

/// The packet size in which bandwidth-delay products and RED's averages are counted: UDT's default, headers included.
const PACKET: Bytes = Bytes(1500);
