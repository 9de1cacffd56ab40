//! A document without keys that only repeat defaults.

use cwnd::{Bytes, Span};
use cwnd_sim::{Duplex, Era, Jitter, LinuxHost, Loss, Reassembly};

use super::document::{Document, FlowGroup};
use super::impairments::Impairments;
use super::quantity::{Quantity, Written};
use super::traffic::{Arrivals, Cbr};

impl Document {
    /// This scenario without the keys whose values are their defaults: those that the era has, the scenario, or nobody else.
    pub(super) fn unadorned(&self) -> Self {
        let mut plain = self.clone();
        let usual = Self::default();
        let era = *self.era.value();
        as_usual(&mut plain.packet, &usual.packet);
        as_usual(&mut plain.payload, &usual.payload);
        as_usual(&mut plain.ack, &usual.ack);
        drop_if(&mut plain.recovery, |scheme| *scheme == era.scheme);
        drop_if(&mut plain.slow_start, |growth| *growth == era.policy.slow_start);
        drop_if(&mut plain.rate_limited, |policy| *policy == era.policy.rate_limited);
        drop_if(&mut plain.host, |host| *host == LinuxHost::default());
        if let Some(dumbbell) = &mut plain.dumbbell {
            let (rate, queue) = (*dumbbell.rate.value(), *dumbbell.queue.value());
            lossless(&mut dumbbell.loss);
            drop_if(&mut dumbbell.reverse_rate, |back| *back == rate);
            drop_if(&mut dumbbell.reverse_queue, |back| *back == queue);
            drop_if(&mut dumbbell.reverse_loss, |loss| *loss == Loss::None);
            drop_if(&mut dumbbell.duplex, |duplex| *duplex == Duplex::Full);
            harmless(&mut dumbbell.impairments);
            harmless(&mut dumbbell.reverse_impairments);
        }
        plain.parking_lot.iter_mut().for_each(|row| lossless(&mut row.loss));
        for link in &mut plain.link {
            drop_if(&mut link.loss, |loss| *loss == Loss::None);
            drop_if(&mut link.duplex, |duplex| *duplex == Duplex::Full);
            harmless(&mut link.impairments);
        }
        plain.flow.iter_mut().for_each(|group| self.flow_unadorned(group));
        plain.cbr.iter_mut().for_each(|group| self.cbr_unadorned(group));
        plain.arrivals.iter_mut().for_each(|group| self.arrivals_unadorned(group));
        plain
    }

    fn flow_unadorned(&self, group: &mut FlowGroup) {
        let era = *group.era.as_ref().unwrap_or(&self.era).value();
        let common = self.host.as_ref().map_or_else(LinuxHost::default, |host| *host.value());
        self.habits(&mut group.era, &mut group.recovery, &mut group.delayed_ack);
        let growth = self.slow_start.as_ref().map_or(era.policy.slow_start, |growth| *growth.value());
        drop_if(&mut group.slow_start, |own| *own == growth);
        let unused = self.rate_limited.as_ref().map_or(era.policy.rate_limited, |policy| *policy.value());
        drop_if(&mut group.rate_limited, |own| *own == unused);
        drop_if(&mut group.host, |host| *host == common);
        drop_if(&mut group.extra_rtt, nothing);
        drop_if(&mut group.ack_aggregation, nothing);
        drop_if(&mut group.receiver, |kind| *kind == Reassembly::default());
    }

    fn cbr_unadorned(&self, group: &mut Cbr) {
        let packet: Bytes = *self.packet.value();
        drop_if(&mut group.packet, |own| *own == packet);
        drop_if(&mut group.start, nothing);
    }

    fn arrivals_unadorned(&self, group: &mut Arrivals) {
        self.habits(&mut group.era, &mut group.recovery, &mut group.delayed_ack);
        drop_if(&mut group.start, nothing);
        drop_if(&mut group.extra_rtt, nothing);
        drop_if(&mut group.rtt_spread, nothing);
        let duration = *self.duration.value();
        drop_if(&mut group.stop, |stop| *stop == duration);
    }

    /// Habits that the scenario or the era has anyway.
    fn habits(
        &self,
        era: &mut Option<Written<Era>>,
        recovery: &mut Option<Written<cwnd_sim::RecoveryScheme>>,
        delayed_ack: &mut Option<Written<Span>>,
    ) {
        let common = *self.era.value();
        let own = era.as_ref().map_or(common, |era| *era.value());
        let scheme = self.recovery.as_ref().map_or(own.scheme, |scheme| *scheme.value());
        drop_if(recovery, |recovery| *recovery == scheme);
        drop_if(delayed_ack, |delay| *delay == own.delayed_ack.unwrap_or(Span::ZERO));
        drop_if(era, |era| era.name == common.name);
    }
}

/// What a link does to no packet.
fn harmless(impairments: &mut Option<Impairments>) {
    if let Some(impairments) = impairments {
        drop_if(&mut impairments.jitter, Jitter::is_nothing);
        drop_if(&mut impairments.aggregate, nothing);
        impairments.corrupt = impairments.corrupt.filter(|share| *share > 0.0);
        impairments.duplicate = impairments.duplicate.filter(|share| *share > 0.0);
        impairments.thin_acks = impairments.thin_acks.filter(|every| *every > 1);
    }
}

fn lossless(loss: &mut Written<Loss>) {
    if *loss.value() == Loss::None {
        *loss = Written::literal("0");
    }
}

/// A value of the default gets its text.
fn as_usual<Q: Quantity + Clone + PartialEq>(own: &mut Written<Q>, usual: &Written<Q>) {
    if own.value() == usual.value() {
        *own = usual.clone();
    }
}

fn drop_if<Q: Quantity>(own: &mut Option<Written<Q>>, is_usual: impl FnOnce(&Q) -> bool) {
    if own.as_ref().is_some_and(|own| is_usual(own.value())) {
        *own = None;
    }
}

fn nothing(span: &Span) -> bool {
    *span == Span::ZERO
}
