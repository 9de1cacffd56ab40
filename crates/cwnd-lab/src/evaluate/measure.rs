//! The numbers of an evaluation.

use cwnd_run::measure::{self, Domain, Scale, mean, table};
use cwnd_run::probe::Reduction;

use super::Shown;

/// A number of one seed's runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Measure {
    /// A measure of a run.
    Kept(&'static measure::Measure),
    /// The goodput of the first flow.
    Own,
    /// The goodput of the contender's flows as a share of the total; the first flows, of this number, are its own.
    Share(usize),
    /// The smallest goodput of a flow over its max-min fair share.
    Least,
    /// Harm (Ware et al. 2019) to the goodput of the others: their loss against having only themselves there, as a share. The first run is
    /// the mixture with this number of flows of the contender, the second has only the others.
    GoodputHarm(usize),
    /// Harm to the queueing delay: the part of it in the mixture that they would not have alone.
    DelayHarm,
    /// Harm to the share of packets lost: the part of it in the mixture that they would not have alone.
    LossHarm,
    /// The goodput of the flow with the long round-trip time over that of the one with the short.
    LongOverShort,
    /// Mean time to completion of the short flows.
    Completion,
    /// Packets that a flow sends in this number of round trips, per round trip.
    SentPerRound(f64),
}

impl Measure {
    pub(super) fn of(self, runs: &[&Reduction]) -> Option<f64> {
        let first = *runs.first()?;
        let goodput = first.all("flow_goodput_bps");
        let total: f64 = goodput.iter().sum();
        let pair = |of: &measure::Measure| Some((first.one(of.key)?, runs.get(1)?.one(of.key)?));
        // Less is better: harm is the part of the value that would not exist otherwise.
        let less_is_better = |(with, without): (f64, f64)| (with > 0.0).then(|| (with - without) / with);
        let value = match self {
            Self::Kept(measure) => first.one(measure.key),
            Self::Own => goodput.first().copied(),
            Self::Share(own) => Some(goodput.get(..own)?.iter().sum::<f64>() / total),
            Self::Least => {
                let shares = first.all("flow_fair_share_bps");
                goodput.iter().zip(shares).map(|(rate, share)| rate / share).reduce(f64::min)
            }
            Self::GoodputHarm(own) => {
                let (with, without) = (mean(goodput.get(own..)?)?, mean(runs.get(1)?.all("flow_goodput_bps"))?);
                Some((without - with) / without)
            }
            Self::DelayHarm => less_is_better(pair(&table::QUEUE_DELAY_MEAN)?),
            Self::LossHarm => less_is_better(pair(&table::LOSS_RATE)?),
            Self::LongOverShort => match goodput {
                [short, long] => Some(long / short),
                _ => None,
            },
            Self::Completion => mean(first.all("flow_completed_s")),
            Self::SentPerRound(rounds) => mean(first.all("flow_sent_packets")).map(|sent| sent / rounds),
        };
        value.filter(|value| value.is_finite())
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Kept(measure) => measure.title,
            Self::Own => "goodput",
            Self::Share(_) => "share of the goodput",
            Self::Least => "smallest flow over its fair share",
            Self::GoodputHarm(_) => "harm to goodput",
            Self::DelayHarm => "harm to delay",
            Self::LossHarm => "harm to loss",
            Self::LongOverShort => "goodput of the long round-trip time over the short",
            Self::Completion => "mean completion of short flows",
            Self::SentPerRound(_) => "packets sent per round trip and flow",
        }
    }

    /// The values it can have with `flows` flows.
    pub(super) fn domain(self, flows: usize) -> Domain {
        match self {
            Self::Kept(measure) => (measure.domain)(flows),
            Self::Share(_) | Self::Least => Domain::SHARE,
            Self::GoodputHarm(_) | Self::DelayHarm | Self::LossHarm => Domain::AT_MOST_ONE,
            Self::Own | Self::LongOverShort | Self::Completion | Self::SentPerRound(_) => Domain::POSITIVE,
        }
    }

    /// The factor by which a table multiplies it, and the resulting unit: shares in per cent, times in milliseconds.
    pub(super) fn shown(self) -> Shown {
        let scale = match self {
            Self::Kept(measure) if measure.scale == Scale::Time => Scale::Delay,
            Self::Kept(measure) => measure.scale,
            Self::Own => table::GOODPUT.scale,
            Self::Share(_) | Self::GoodputHarm(_) | Self::DelayHarm | Self::LossHarm => Scale::Share,
            Self::Least | Self::LongOverShort | Self::SentPerRound(_) => Scale::Plain,
            Self::Completion => Scale::Delay,
        };
        Shown { scale: scale.factor(), unit: scale.unit() }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Kept(measure) if !measure.scale.base().is_empty() => measure.scale.base(),
            Self::Own => table::GOODPUT.scale.base(),
            Self::Completion => "s",
            _ => "1",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(flows: &[f64], delay: f64, loss: f64) -> Reduction {
        let mut kept = Reduction::default();
        kept.keep("flow_goodput_bps", flows.to_vec());
        kept.keep("flow_fair_share_bps", flows.iter().map(|_| 8.0 / flows.len() as f64));
        kept.keep("queue_delay_mean_s", [delay]);
        kept.keep("loss_rate", [loss]);
        kept
    }

    /// The contender takes 6 of 8, so the other has 2 of the 8 it would have alone: a harm of 3/4, as Ware et al. count it.
    #[test]
    fn harm_is_what_the_others_lose() {
        let (mixture, alone) = (kept(&[6.0, 2.0], 0.04, 0.02), kept(&[8.0], 0.01, 0.02));
        let of = |measure: Measure| measure.of(&[&mixture, &alone]);
        assert_eq!(of(Measure::Share(1)), Some(0.75));
        assert_eq!(of(Measure::GoodputHarm(1)), Some(0.75));
        assert_eq!(of(Measure::DelayHarm), Some(0.75));
        assert_eq!(of(Measure::LossHarm), Some(0.0));
        assert_eq!(of(Measure::Least), Some(0.5));
        assert_eq!(of(Measure::LongOverShort), Some(2.0 / 6.0));
        assert_eq!(Measure::LossHarm.of(&[&kept(&[1.0], 0.0, 0.0), &alone]), None);
        assert_eq!(Measure::Share(1).of(&[&kept(&[0.0, 0.0], 0.0, 0.0)]), None);
        assert_eq!(Measure::Share(3).of(&[&mixture]), None);
    }
}
