//! Max–min fair shares: what an ideal network would give each flow.

/// A flow as the network sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutedFlow {
    /// The links it crosses, as indices; one that is crossed twice is loaded twice.
    pub links: Vec<usize>,
    /// The most it can use, in the unit of the capacities; none for no bound.
    pub demand: Option<f64>,
}

/// The max–min fair rate of each flow, by progressive filling (Bertsekas & Gallager, Data Networks, §6.5.2).
///
/// All rates rise together; a flow stops at its demand or when a link on its path is full. No rate can then be raised without
/// lowering one that is no larger. Links without an entry in `capacity` have no limit, and a flow that nothing bounds gets an
/// infinite rate. Negative capacities and demands count as zero.
#[must_use]
pub fn max_min(capacity: &[f64], flows: &[RoutedFlow]) -> Vec<f64> {
    fill(capacity, &flows.iter().map(|flow| (flow.clone(), 1)).collect::<Vec<_>>())
}

/// Max-min rates of flows in classes, each a route and a demand with the number of its flows: the rate of one flow of each class. A class
/// without flows uses nothing.
///
/// The work is proportional to the lengths of the paths, and to the links for each class that stops by itself or with others.
pub(super) fn fill(capacity: &[f64], classes: &[(RoutedFlow, u64)]) -> Vec<f64> {
    let path = |class: usize| classes[class].0.links.iter().copied().filter(|link| *link < capacity.len());
    let demand = |class: usize| classes[class].0.demand.map_or(f64::INFINITY, |demand| demand.max(0.0));
    let mut links: Vec<Filling> = capacity.iter().map(|capacity| Filling::new(*capacity)).collect();
    for (class, (_, count)) in classes.iter().enumerate() {
        path(class).for_each(|link| links[link].join(class, *count));
    }
    let mut by_demand: Vec<usize> = (0..classes.len()).collect();
    by_demand.sort_by(|one, other| demand(*one).total_cmp(&demand(*other)));

    let mut rates: Vec<Option<f64>> = vec![None; classes.len()];
    for class in by_demand {
        // Until it has what it wants, links that are full before stop it or others.
        while rates[class].is_none() {
            let levels = links.iter().map(Filling::level).enumerate();
            let first_full = levels.min_by(|(_, one), (_, other)| one.total_cmp(other));
            let full = first_full.filter(|(_, level)| *level < demand(class));
            let level = full.map_or(demand(class), |(_, level)| level);
            let stopping = full.map_or(vec![class], |(link, _)| std::mem::take(&mut links[link].classes));
            for stopped in stopping {
                if rates[stopped].is_none() {
                    rates[stopped] = Some(level);
                    path(stopped).for_each(|link| links[link].stop(classes[stopped].1, level));
                }
            }
        }
    }
    rates.into_iter().flatten().collect()
}

/// A link while the rates of flows rise.
struct Filling {
    /// What the flows that have stopped leave of it.
    left: f64,
    /// How many flows on it are rising; one that crosses it twice counts twice.
    rising: u64,
    /// The classes that cross it.
    classes: Vec<usize>,
}

impl Filling {
    fn new(capacity: f64) -> Self {
        Self { left: capacity.max(0.0), rising: 0, classes: Vec::new() }
    }

    fn join(&mut self, class: usize, count: u64) {
        self.rising += count;
        self.classes.push(class);
    }

    fn stop(&mut self, count: u64, rate: f64) {
        self.rising -= count;
        if count > 0 {
            self.left -= rate * count as f64;
        }
    }

    /// The common rate at which the flows that are still rising fill it.
    fn level(&self) -> f64 {
        if self.rising > 0 { self.left.max(0.0) / self.rising as f64 } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(links: &[usize]) -> RoutedFlow {
        RoutedFlow { links: links.to_vec(), demand: None }
    }

    fn limited(links: &[usize], demand: f64) -> RoutedFlow {
        RoutedFlow { links: links.to_vec(), demand: Some(demand) }
    }

    #[test]
    fn a_dumbbell_is_shared_equally() {
        assert_eq!(max_min(&[100.0], &[path(&[0]), path(&[0]), path(&[0]), path(&[0])]), [25.0; 4]);
    }

    #[test]
    fn a_parking_lot() {
        // The long flow shares the narrow second link; the first cross flow takes what that leaves of the first.
        let flows = [path(&[0, 1]), path(&[0]), path(&[1])];
        assert_eq!(max_min(&[10.0, 4.0], &flows), [2.0, 8.0, 2.0]);
    }

    #[test]
    fn several_bottlenecks() {
        // Unit links. The three flows of link 1 get a third each; the other flows of links 0 and 3 take what that leaves.
        let flows = [path(&[0]), path(&[0, 1]), path(&[1, 2, 3]), path(&[1]), path(&[3])];
        let rates = max_min(&[1.0; 4], &flows);
        let expected = [2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0];
        assert!(rates.iter().zip(expected).all(|(rate, expected)| (rate - expected).abs() < 1e-12), "{rates:?}");
    }

    #[test]
    fn what_one_flow_does_not_want_goes_to_the_others() {
        assert_eq!(max_min(&[90.0], &[limited(&[0], 10.0), path(&[0]), limited(&[0], 100.0)]), [10.0, 40.0, 40.0]);
    }

    #[test]
    fn flows_without_bounds_and_links_crossed_twice() {
        assert_eq!(max_min(&[10.0], &[path(&[]), path(&[7]), path(&[0, 0])]), [f64::INFINITY, f64::INFINITY, 5.0]);
        assert!(max_min(&[10.0], &[]).is_empty());
    }

    prop_compose! {
        fn network()(links in 1..5_usize)(
            capacity in proptest::collection::vec(1.0..100.0_f64, links),
            flows in proptest::collection::vec(
                (proptest::sample::subsequence((0..links).collect::<Vec<_>>(), 1..=links), proptest::option::of(1.0..60.0_f64)),
                1..8,
            ),
        ) -> (Vec<f64>, Vec<RoutedFlow>) {
            (capacity, flows.into_iter().map(|(links, demand)| RoutedFlow { links, demand }).collect())
        }
    }

    proptest! {
        #[test]
        fn every_flow_has_a_bottleneck_and_no_link_is_overloaded((capacity, flows) in network()) {
            let rates = max_min(&capacity, &flows);
            let load = |link: usize| -> f64 {
                flows.iter().zip(&rates).filter(|(flow, _)| flow.links.contains(&link)).map(|(_, rate)| rate).sum()
            };
            for (link, capacity) in capacity.iter().enumerate() {
                prop_assert!(load(link) <= capacity * (1.0 + 1e-9));
            }
            for (flow, rate) in flows.iter().zip(&rates) {
                let satisfied = flow.demand.is_some_and(|demand| *rate >= demand * (1.0 - 1e-9));
                // A bottleneck is full, and nobody on it has more than this flow.
                let bottleneck = flow.links.iter().any(|link| {
                    let neighbours = flows.iter().zip(&rates).filter(|(other, _)| other.links.contains(link));
                    load(*link) >= capacity[*link] * (1.0 - 1e-9)
                        && neighbours.into_iter().all(|(_, other)| *other <= rate * (1.0 + 1e-9))
                });
                prop_assert!(satisfied || bottleneck);
            }
        }

        #[test]
        fn no_grid_allocation_is_fairer(capacity in proptest::collection::vec(1_u32..7, 2), long in any::<bool>(), demand in proptest::option::of(1_u32..5)) {
            let capacity: Vec<f64> = capacity.into_iter().map(f64::from).collect();
            let first = if long { vec![0, 1] } else { vec![0] };
            let flows = [RoutedFlow { links: first, demand: demand.map(f64::from) }, path(&[0]), path(&[1])];
            let mut ours = max_min(&capacity, &flows);
            ours.sort_by(f64::total_cmp);
            // Every feasible allocation in steps of 1/4: sorted, none comes lexicographically after the max–min one.
            let steps = || (0..=24).map(|step| f64::from(step) / 4.0);
            for a in steps() {
                for b in steps() {
                    for c in steps() {
                        let rates = [a, b, c];
                        let fits = |link: usize| {
                            flows.iter().zip(rates).filter(|(flow, _)| flow.links.contains(&link)).map(|(_, rate)| rate).sum::<f64>() <= capacity[link]
                        };
                        if !(fits(0) && fits(1)) || flows[0].demand.is_some_and(|demand| a > demand) {
                            continue;
                        }
                        let mut sorted = rates;
                        sorted.sort_by(f64::total_cmp);
                        let better = sorted.iter().zip(&ours).find(|(grid, ours)| (*grid - *ours).abs() > 1e-9);
                        prop_assert!(better.is_none_or(|(grid, ours)| grid < ours), "{sorted:?} after {ours:?}");
                    }
                }
            }
        }
    }
}
