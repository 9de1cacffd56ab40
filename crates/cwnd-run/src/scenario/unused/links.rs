//! Settings of links that change nothing.

use cwnd::Span;
use cwnd::registry::Transport;
use cwnd_sim::{
    Duplex, FlowSetup, GilbertElliott, Jitter, LinkId, Loss, Noise, ReorderBy, Reordering, Sharing, TokenBucket,
};

use super::marks::without_marks;
use super::paths::{Party, Paths};
use super::words::typed;
use super::{Found, Unused};
use crate::scenario::document::{Document, Dumbbell, Link};
use crate::scenario::impairments::Impairments;
use crate::scenario::quantity::Written;

impl Found {
    pub(super) fn dumbbell(&mut self, document: &Document, dumbbell: &Dumbbell, paths: &Paths<'_>) {
        let back = if dumbbell.reverse_queue.is_some() { &[0][..] } else { &[0, 1] };
        self.queue("dumbbell.queue", &dumbbell.queue, back, paths);
        if let Some(queue) = &dumbbell.reverse_queue {
            self.queue("dumbbell.reverse_queue", queue, &[1], paths);
        }
        let loads = document.arrivals.iter().any(|group| group.load.is_some());
        if dumbbell.trace.is_some() && dumbbell.reverse_rate.is_some() && !loads {
            let why = "the bottleneck follows its `trace`, and the reverse path has a `reverse_rate`";
            let usual = dumbbell.rate.text() == Dumbbell::default().rate.text();
            self.0.push(Unused { usual, ..Unused::new("dumbbell.rate", &dumbbell.rate, why) });
        }
        let rate = dumbbell.rate.value().0.round() as u64;
        self.changes("dumbbell", rate, document, (&dumbbell.schedule, &dumbbell.outage));
        if let Some(schedule) = &dumbbell.schedule {
            self.phases("dumbbell", (schedule, dumbbell.queue.text()), 0, paths);
        }
        self.loss("dumbbell.loss", &dumbbell.loss);
        if let Some(loss) = &dumbbell.reverse_loss {
            self.loss("dumbbell.reverse_loss", loss);
        }
        for (key, impairments, link) in
            [("impairments", &dumbbell.impairments, 0), ("reverse_impairments", &dumbbell.reverse_impairments, 1)]
        {
            self.impairments(&format!("dumbbell.{key}"), impairments.as_ref(), link, paths);
        }
    }

    pub(super) fn graph(&mut self, document: &Document, paths: &Paths<'_>) {
        let mut at = 0;
        for (index, link) in document.link.iter().enumerate() {
            let (key, own) = (format!("link.{index}"), at);
            at += 1 + usize::from(link.both_ways);
            if (own..at).all(|link| paths.crossing(link).next().is_none()) {
                self.add(key, &name(link), "no packet crosses this link");
                continue;
            }
            let one_way = (own..at).any(|link| paths.crossing(link).next().is_none());
            if let (true, Some(duplex)) = (one_way, &link.duplex)
                && matches!(duplex.value(), Duplex::Half(Sharing { access: Span::ZERO, .. }))
            {
                let why = "packets cross the link in one direction only, and a turn costs nothing without `access`";
                self.add(format!("{key}.duplex"), duplex, why);
            }
            if paths.crossing(own).next().is_none() {
                self.one_way(&key, link);
                continue;
            }
            if let Some(queue) = &link.queue {
                self.queue(&format!("{key}.queue"), queue, &(own..at).collect::<Vec<_>>(), paths);
            }
            if let (Some(rate), true, false) = (&link.rate, link.trace.is_some(), link.both_ways) {
                self.add(format!("{key}.rate"), rate, "the link follows its `trace`, and none leads back");
            }
            let rate = link.rate.as_ref().map_or(0, |rate| rate.value().0.round() as u64);
            self.changes(&key, rate, document, (&link.schedule, &link.outage));
            if let Some(schedule) = &link.schedule {
                self.phases(&key, (schedule, link.queue.as_ref().map_or("", Written::text)), own, paths);
            }
            if let Some(loss) = &link.loss {
                self.loss(&format!("{key}.loss"), loss);
            }
            self.impairments(&format!("{key}.impairments"), link.impairments.as_ref(), own, paths);
        }
    }

    /// What a link has in its own direction alone, where nothing crosses it.
    fn one_way(&mut self, key: &str, link: &Link) {
        let given = [
            ("loss", link.loss.as_ref().map(Written::text)),
            ("schedule", link.schedule.as_ref().map(|_| "steps")),
            ("trace", link.trace.as_ref().map(Written::text)),
            ("outage", link.outage.first().map(Written::text)),
            ("impairments", link.impairments.as_ref().map(|_| "impairments")),
        ];
        for (own, text) in given {
            let Some(text) = text else { continue };
            let why = format!("no packet crosses the link from `{}` to `{}`", link.from, link.to);
            self.add(format!("{key}.{own}"), &text, why);
        }
    }

    /// Bursts that lose nothing, or that lose as much outside as inside. Plain losses of zero are what a link has without any.
    pub(super) fn loss(&mut self, key: &str, loss: &Written<Loss>) {
        let Loss::GilbertElliott(GilbertElliott { to_bad, loss_good, loss_bad, .. }) = *loss.value() else { return };
        if loss_good == 0.0 && (to_bad == 0.0 || loss_bad == 0.0) {
            let why = if to_bad == 0.0 {
                "no bad time begins, and nothing is lost in a good one"
            } else {
                "nothing is lost, in bad times or in good ones"
            };
            self.add(key, loss, why);
        } else if to_bad == 0.0 {
            for word in ["to_good", "loss_bad"] {
                self.add_word(key, loss, word, "no bad time begins with `to_bad=0`");
            }
        } else if loss_good == loss_bad {
            for word in ["to_bad", "to_good"] {
                self.add_word(key, loss, word, "bad times lose as much as good ones");
            }
        }
    }

    fn impairments(&mut self, key: &str, impairments: Option<&Impairments>, link: usize, paths: &Paths<'_>) {
        let Some(impairments) = impairments else { return };
        let Impairments { jitter, reorder, shaper, aggregate, thin_acks, .. } = impairments;
        self.ecn_field(key, impairments, link, paths);
        // As with losses, a plain zero is what a link has without any; it may replace another value.
        let short = |jitter: &&Written<Jitter>| {
            jitter.value().is_nothing() && jitter.value().noise != Noise::Uniform(Span::ZERO)
        };
        if let Some(jitter) = jitter.as_ref().filter(short) {
            self.add(format!("{key}.jitter"), jitter, "packets wait for whole nanoseconds, and less than this");
        }
        // Those held back do not hold others back that jitter has delayed less.
        let still = jitter.as_ref().is_none_or(|jitter| jitter.value().is_nothing());
        let nothing = |by: &Reordering| by.probability == 0.0 || still && by.by == ReorderBy::Time(Span::ZERO);
        if let Some(reorder) = reorder.as_ref().filter(|reorder| nothing(reorder.value())) {
            self.add(format!("{key}.reorder"), reorder, "no packet is held back");
        }
        if let Some(shaper) = shaper
            && let Some(why) = never_waits(shaper.value(), paths.setup.links[link].rate, paths.setup.duration)
        {
            self.add(format!("{key}.shaper"), shaper, why);
        }
        let at_once = aggregate.as_ref().filter(|time| *time.value() == Span::ZERO);
        if let Some(aggregate) = at_once.filter(|_| thin_acks.is_none()) {
            self.add(format!("{key}.aggregate"), aggregate, "packets do not wait for one another");
        }
        self.thinning(format!("{key}.thin_acks"), *thin_acks, link, paths);
    }

    /// What becomes of the ECN field.
    fn ecn_field(&mut self, key: &str, impairments: &Impairments, link: usize, paths: &Paths<'_>) {
        let idle = without_ecn(link, paths);
        if impairments.bleach_ecn
            && let Some(why) = idle
        {
            self.add(format!("{key}.bleach_ecn"), &true, why);
        }
        if let Some(mangle) = &impairments.mangle_ecn
            && let Some(why) = idle.or(impairments.bleach_ecn.then_some(CLEARED))
        {
            self.add(format!("{key}.mangle_ecn"), mangle, why);
        }
    }

    fn thinning(&mut self, key: String, thinned: Option<u32>, link: usize, paths: &Paths<'_>) {
        let Some(every) = thinned else { return };
        let setup = &paths.setup.links[link];
        if every == 1 {
            self.add(key, &every, "every acknowledgement goes on");
        } else if !carries_acks(link, paths) {
            self.add(key, &every, NO_ACKS);
        } else if setup.impairments.aggregation == Some(Span::ZERO) && setup.rate.is_some() {
            self.add(key, &every, "no two acknowledgements leave together without a time to wait in `aggregate`");
        }
    }

    /// A word of a quantity that changes nothing, where it was written; `word` is its key.
    pub(super) fn add_word<Q>(&mut self, key: &str, written: &Written<Q>, word: &str, why: &str)
    where
        Q: crate::scenario::Quantity,
    {
        if let Some(part) = typed(written.text(), word) {
            self.add_part(key, written, part, why);
        }
    }
}

/// Whether an acknowledgement of TCP crosses the link at this index.
pub(super) fn carries_acks(link: usize, paths: &Paths<'_>) -> bool {
    let acknowledges = |flow: &FlowSetup| flow.algorithm.entry().transport == Transport::Acked;
    let crossing = |party: &Party<'_>| party.ways[1].contains(&LinkId(link as u32));
    paths.flows().any(|(party, flow)| acknowledges(flow) && crossing(party))
}

const CLEARED: &str = "`bleach_ecn` clears the field";
pub(super) const NO_ACKS: &str = "no acknowledgement of TCP crosses this link";

/// Why it changes nothing what the link at this index does to the ECN field; none if it may.
pub(super) fn without_ecn(link: usize, paths: &Paths<'_>) -> Option<&'static str> {
    let crosses = |party: &Party<'_>| party.ways[0].contains(&LinkId(link as u32));
    let capable = |(party, flow): (&Party<'_>, &FlowSetup)| {
        flow.ecn.is_some() && crosses(party) && without_marks(party, flow, paths).is_none()
    };
    let answering = |(party, flow): (&Party<'_>, &FlowSetup)| {
        flow.ecn.is_some() && crosses(party) && flow.algorithm.entry().answers_marks()
    };
    if paths.flows().any(capable) {
        return None;
    }
    Some(if paths.flows().any(answering) {
        "no queue marks the packets that cross this link"
    } else {
        "no packet that can carry a mark crosses this link"
    })
}

/// Why no packet waits for tokens of a shaper before a line of `rate`. It begins full.
fn never_waits(bucket: &TokenBucket, rate: Option<u64>, duration: Span) -> Option<&'static str> {
    let taken = u128::from(rate?.saturating_sub(bucket.rate)) * u128::from(duration.as_nanos());
    if taken == 0 {
        return Some("it fills at least as fast as the line of the link takes tokens");
    }
    (taken <= u128::from(bucket.burst.0) * 8 * 1_000_000_000).then_some("the run ends before it is empty")
}

fn name(link: &Link) -> String {
    link.name.clone().unwrap_or_else(|| format!("{}-{}", link.from, link.to))
}
