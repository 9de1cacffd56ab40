//! Words of queues that change nothing.

use cwnd::registry::Transport;
use cwnd_sim::{Class, Discipline, FlowSetup, HostPair, Isolation, LinkId, QueueLimit, RedSetup};

use super::Found;
use super::marks::{is_scalable, is_step, unanswered};
use super::paths::{Party, Paths};
use super::words::{name, says_something, typed, words};
use crate::scenario::quantity::Written;
use crate::scenario::queue::Queue;

impl Found {
    /// A queue before `links`.
    pub(super) fn queue(&mut self, key: &str, queue: &Written<Queue>, links: &[usize], paths: &Paths<'_>) {
        let crossed = || links.iter().flat_map(|link| paths.crossing(*link));
        if crossed().next().is_none() {
            return;
        }
        let mut forward = links.iter().flat_map(|link| paths.forward(*link)).filter_map(|party| party.flow);
        let discipline = &queue.value().discipline;
        if let Some(name) = queue.value().router()
            && !forward.any(|flow| flow.algorithm.entry().name == name)
        {
            let why = format!("no flow of `{name}` crosses it, and for all others it is `droptail`");
            self.add_part(key, queue, name, why);
        }
        for (class, prefix) in CLASSES {
            let own = words(queue.text()).filter(|word| word.starts_with(prefix));
            let own: Vec<&str> = own.filter(|word| says_something::<Queue>(queue.text(), word)).collect();
            if !own.is_empty() && !crossed().any(|party| party.class == class) {
                let why = format!("no packet of the class `{}` crosses it", prefix.trim_end_matches('_'));
                self.add_part(key, queue, own.join(","), why);
            }
        }
        let crossing = |class| crossed().any(|party| party.class == class);
        let early = |class: Option<Class>| -> Vec<(RedSetup, QueueLimit)> {
            let setups = links.iter().map(|link| &paths.setup.links[*link]);
            let early = setups.flat_map(|link| early(&link.discipline).map(|(of, red)| (of, red, link.queue)));
            let concerned =
                early.filter(|(of, ..)| of.is_none_or(|of| crossing(of) && class.is_none_or(|own| own == of)));
            concerned.map(|(_, red, limit)| (red, limit)).collect()
        };
        for word in words(queue.text()).filter(|word| says_something::<Queue>(queue.text(), word)) {
            let (class, bare) = class_of(word);
            self.early(key, queue, (word, bare), &early(class));
        }
        self.marks(key, queue, links, paths);
        let is_acked =
            |party: &&Party<'_>| party.flow.is_some_and(|flow| flow.algorithm.entry().transport == Transport::Acked);
        if let Discipline::Cake(cake) = discipline
            && cake.ack_filter
            && !links.iter().flat_map(|link| paths.backward(*link)).any(|party| is_acked(&party))
        {
            self.add_word(key, queue, "ack_filter", "no acknowledgement of a TCP-like flow crosses it");
        }
        if let Discipline::Cake(cake) = discipline
            && cake.isolation != Isolation::default()
            && !crossed().any(|party| party.hosts != HostPair::default())
        {
            let why = "no flow that crosses it names a host (`src_host` or `dst_host` of a scenario)";
            self.add_word(key, queue, "isolation", why);
        }
        let alone = |link: &usize| {
            let id = LinkId(*link as u32);
            let flows = |party: &Party<'_>| {
                u64::from(party.count) * party.ways.iter().filter(|way| way.contains(&id)).count() as u64
            };
            paths.crossing(*link).map(flows).sum::<u64>() <= 1
        };
        let shares = matches!(discipline, Discipline::Drr(_) | Discipline::FqCoDel(_));
        if shares && links.iter().all(alone) {
            for word in ["quantum", "queues"] {
                self.add_word(key, queue, word, "one flow alone crosses it");
            }
        } else if let Discipline::FqCoDel(setup) = discipline
            && setup.queues == 1
        {
            self.add_word(key, queue, "quantum", "there is one queue alone");
        }
    }

    /// A word about early drops in a queue of these setups, and the same without its class.
    fn early(
        &mut self,
        key: &str,
        queue: &Written<Queue>,
        (word, bare): (&str, &str),
        setups: &[(RedSetup, QueueLimit)],
    ) {
        let all = |holds: &dyn Fn(&RedSetup, QueueLimit) -> bool| {
            !setups.is_empty() && setups.iter().all(|(red, limit)| holds(red, *limit))
        };
        let why = match name(bare) {
            "mark_limit" if all(&|red, _| !red.mark) => "it is about marks, of which there are none without `ecn=yes`",
            "ecn" if all(&|red, _| red.mark && is_step(red) && red.mark_limit < 1.0) => {
                "where `min` is `max`, the probability above them is 1, which `mark_limit` allows no marks for"
            }
            "gentle" | "max_p" | "wait" if all(&|red, _| is_step(red)) => {
                "where `min` is `max`, every packet above them is dropped or marked"
            }
            "gentle" if all(&is_beyond) => "`max` is more than the queue holds, so that its average never comes there",
            _ => return,
        };
        self.add_part(key, queue, word, why);
    }

    /// Words about marks.
    fn marks(&mut self, key: &str, queue: &Written<Queue>, links: &[usize], paths: &Paths<'_>) {
        if let Discipline::Pie(pie) = &queue.value().discipline
            && let Some(word) =
                typed(queue.text(), "mark_limit").filter(|word| says_something::<Queue>(queue.text(), word))
            && !pie.mark
        {
            self.add_part(key, queue, word, "it is about marks, of which there are none without `ecn=yes`");
        }
        let scalable = |party: &Party<'_>| party.flow.is_some_and(|flow| is_scalable(party, flow, paths));
        if let Some(word) = typed(queue.text(), "l4s_threshold")
            && links.iter().flat_map(|link| paths.crossing(*link)).next().is_some()
            && !links.iter().flat_map(|link| paths.forward(*link)).any(scalable)
        {
            self.add_part(key, queue, word, "no flow that crosses it sends ECT(1): set `ecn` to `l4s`");
        }
        for word in words(queue.text()) {
            let (class, bare) = class_of(word);
            // FQ-CoDel marks without being told to, so that its `no` says something.
            let no = bare.ends_with("no") && !says_something::<Queue>(queue.text(), word);
            if !["ecn", "ce_threshold"].contains(&name(bare)) || no {
                continue;
            }
            let of_class = |party: &&Party<'_>| class.is_none_or(|class| party.class == class);
            let crossing = || links.iter().flat_map(|link| paths.crossing(*link)).filter(of_class);
            let forward = || links.iter().flat_map(|link| paths.forward(*link)).filter(of_class);
            // A flow that asks for marks in vain is named itself.
            if crossing().next().is_none() || forward().any(|party| party.own.contains_key("ecn")) {
                continue;
            }
            let answering = |flow: &FlowSetup| flow.algorithm.entry().answers_marks();
            let flows = || forward().filter_map(|party| party.flow);
            let why = match flows().next() {
                Some(flow) if !flows().any(answering) => unanswered(&flow.algorithm),
                _ => "no flow that crosses it is ECN-capable: set `ecn` to `latch`, `per-packet`, `accecn` or `counts`"
                    .to_string(),
            };
            self.add_part(key, queue, word, why);
        }
    }
}

/// The class that a word of `rio` is about, and the word without it.
fn class_of(word: &str) -> (Option<Class>, &str) {
    let of = |(class, prefix): (Class, &str)| Some((Some(class), word.strip_prefix(prefix)?));
    CLASSES.into_iter().find_map(of).unwrap_or((None, word))
}

/// Early detection, with its class in a queue that has two.
fn early(discipline: &Discipline) -> impl Iterator<Item = (Option<Class>, RedSetup)> + use<> {
    let found = match discipline {
        Discipline::Red(red) => [Some((None, *red)), None],
        Discipline::Rio(rio) => {
            [(Class::In, rio.inside), (Class::Out, rio.outside)].map(|(class, red)| Some((Some(class), red)))
        }
        _ => [None, None],
    };
    found.into_iter().flatten()
}

/// Whether the average never reaches the upper threshold.
fn is_beyond(red: &RedSetup, limit: QueueLimit) -> bool {
    let most = match limit {
        QueueLimit::Packets(packets) if !red.byte_mode => f64::from(packets),
        QueueLimit::Bytes(bytes) if red.byte_mode => bytes as f64 / f64::from(red.mean_packet.0),
        _ => return false,
    };
    red.max > most
}

/// The classes of `rio`, and how their words begin.
const CLASSES: [(Class, &str); 2] = [(Class::In, "in_"), (Class::Out, "out_")];
