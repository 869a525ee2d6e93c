//! Small cases by hand, then random ones: the rates must equal a simple solver's.

use proptest::prelude::*;

use super::*;

fn uses(of: &[(u32, f64)]) -> Arc<[ResourceUse]> {
    of.iter()
        .map(|(id, weight)| ResourceUse { resource: ResourceId(*id), weight: *weight })
        .collect()
}

fn sharing(totals: &[f64]) -> SharedResources {
    SharedResources::new(totals.iter().copied().map(ResourceCapacity::of))
}

/// Settles, and returns the flows whose rates changed, with their rates.
fn told(sharing: &mut SharedResources) -> Vec<(FlowIndex, f64)> {
    let mut told = Vec::new();
    sharing.settle(|flow, rate| told.push((flow, rate)));
    told
}

#[test]
fn two_flows_share_a_disk_and_the_one_that_stays_gets_it_back() {
    let mut sharing = sharing(&[80.0]);
    let one = sharing.begin(uses(&[(0, 1.0)]));
    assert_eq!(told(&mut sharing), [(one, 80.0)]);
    let two = sharing.begin(uses(&[(0, 1.0)]));
    assert_eq!(told(&mut sharing), [(two, 40.0), (one, 40.0)]);
    sharing.end(one);
    assert_eq!(told(&mut sharing), [(two, 80.0)]);
}

#[test]
fn rate_a_slow_flow_leaves_goes_to_the_fast_one() {
    // Both use the wire of 100; one reads from a disk of 20.
    let mut sharing = sharing(&[100.0, 20.0]);
    let slow = sharing.begin(uses(&[(0, 1.0), (1, 1.0)]));
    let fast = sharing.begin(uses(&[(0, 1.0)]));
    told(&mut sharing);
    assert_eq!((sharing.rate(slow), sharing.rate(fast)), (20.0, 80.0));
}

#[test]
fn a_weight_says_how_much_of_the_rate_burdens_a_resource() {
    let mut sharing = sharing(&[30.0]);
    let half = sharing.begin(uses(&[(0, 0.5)]));
    let whole = sharing.begin(uses(&[(0, 1.0)]));
    told(&mut sharing);
    assert_eq!((sharing.rate(half), sharing.rate(whole)), (20.0, 20.0));
}

#[test]
fn one_computation_uses_one_core_and_five_share_four() {
    let mut sharing = SharedResources::new([ResourceCapacity { total: 4.0, each: 1.0 }]);
    for _ in 0..4 {
        sharing.begin(uses(&[(0, 1.0)]));
    }
    assert!(told(&mut sharing).iter().all(|(_, rate)| *rate == 1.0));
    sharing.begin(uses(&[(0, 1.0)]));
    let told = told(&mut sharing);
    assert!(told.len() == 5 && told.iter().all(|(_, rate)| *rate == 0.8), "{told:?}");
}

#[test]
fn a_change_travels_as_far_as_it_must_and_no_farther() {
    // A chain: each flow uses two wires, each wire but the outer ones carries two flows.
    let mut sharing = sharing(&[10.0, 10.0, 30.0, 40.0]);
    let [a, b, c] = [0, 1, 2].map(|wire| sharing.begin(uses(&[(wire, 1.0), (wire + 1, 1.0)])));
    told(&mut sharing);
    assert_eq!([a, b, c].map(|flow| sharing.rate(flow)), [5.0, 5.0, 25.0]);
    sharing.end(a);
    assert_eq!(told(&mut sharing), [(b, 10.0), (c, 20.0)]);
    // The last wire has room for one more flow, so no other rate changes.
    let d = sharing.begin(uses(&[(3, 1.0)]));
    assert_eq!(told(&mut sharing), [(d, 20.0)]);
}

#[test]
fn users_of_a_resource_hear_of_another_capacity_and_others_take_the_rest() {
    let mut sharing = sharing(&[100.0, 60.0]);
    let slow = sharing.begin(uses(&[(0, 1.0), (1, 1.0)]));
    let fast = sharing.begin(uses(&[(0, 1.0)]));
    told(&mut sharing);
    assert_eq!((sharing.rate(slow), sharing.rate(fast)), (50.0, 50.0));
    sharing.set_capacity(ResourceId(1), ResourceCapacity::of(30.0));
    told(&mut sharing);
    assert_eq!((sharing.rate(slow), sharing.rate(fast)), (30.0, 70.0));
    sharing.set_capacity(ResourceId(1), ResourceCapacity::of(60.0));
    told(&mut sharing);
    assert_eq!((sharing.rate(slow), sharing.rate(fast)), (50.0, 50.0));
}

#[test]
fn spells_that_end_before_all_is_settled_change_nothing() {
    let mut sharing = sharing(&[80.0]);
    let one = sharing.begin(uses(&[(0, 1.0)]));
    told(&mut sharing);
    let other = sharing.begin(uses(&[(0, 1.0)]));
    sharing.end(other);
    assert_eq!(told(&mut sharing), []);
    assert_eq!(sharing.rate(one), 80.0);
}

/// Returns the rates by progressive filling of all flows, without shortcuts.
fn naive(capacities: &[ResourceCapacity], flows: &[Arc<[ResourceUse]>]) -> Vec<f64> {
    let mut rates = vec![None; flows.len()];
    while rates.contains(&None) {
        let level = |id: usize| {
            let weight = |flow: &Arc<[ResourceUse]>| {
                let used = flow.iter().find(|used| used.resource.index() == id);
                used.map_or(0.0, |used| used.weight)
            };
            let (mut spare, mut rising_weight) = (capacities[id].total, 0.0);
            for (flow, rate) in flows.iter().zip(&rates) {
                match rate {
                    Some(rate) => spare -= weight(flow) * rate,
                    None => rising_weight += weight(flow),
                }
            }
            (0.0 < rising_weight)
                .then(|| ((spare.max(0.0) / rising_weight).min(capacities[id].each), id))
        };
        let (rate, id) = (0..capacities.len())
            .filter_map(level)
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .expect("a flow that still rises uses something");
        for (flow, known) in flows.iter().zip(&mut rates) {
            if known.is_none() && flow.iter().any(|used| used.resource.index() == id) {
                *known = Some(rate);
            }
        }
    }
    rates.into_iter().flatten().collect()
}

/// A step of a test: a flow begins, a present flow ends, a resource gets another capacity, or all
/// rates are settled.
#[derive(Clone, Debug)]
enum Step {
    Begin(Arc<[ResourceUse]>),
    End(usize),
    Change(usize, f64),
    Settle,
}

fn steps() -> impl Strategy<Value = (Vec<ResourceCapacity>, Vec<Step>)> {
    let capacity = (1u32..20, prop::option::weighted(0.2, 1u32..5)).prop_map(|(total, each)| {
        ResourceCapacity { total: f64::from(total), each: each.map_or(f64::INFINITY, f64::from) }
    });
    prop::collection::vec(capacity, 1..12).prop_flat_map(|capacities| {
        let ids: Vec<u32> = (0..capacities.len() as u32).collect();
        let most = ids.len().min(5);
        let begin =
            (prop::sample::subsequence(ids, 1..=most), 1u32..5).prop_map(|(ids, quarters)| {
                let weight = |id| if id == 0 { f64::from(quarters) / 4.0 } else { 1.0 };
                let uses: Vec<(u32, f64)> = ids.iter().map(|id| (*id, weight(*id))).collect();
                Step::Begin(self::uses(&uses))
            });
        let step = prop_oneof![
            4 => begin,
            3 => (0usize..40).prop_map(Step::End),
            1 => (0usize..12, 1u32..30).prop_map(|(id, total)| Step::Change(id, total.into())),
            3 => Just(Step::Settle),
        ];
        (Just(capacities), prop::collection::vec(step, 1..60))
    })
}

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-6 * one.max(other)
}

proptest! {
    #[test]
    fn rates_are_those_of_the_naive_solver_whatever_happened_before((mut capacities, steps) in steps()) {
        let mut sharing = SharedResources::new(capacities.iter().copied());
        let mut present: Vec<(FlowIndex, Arc<[ResourceUse]>)> = Vec::new();
        let mut known: Vec<f64> = Vec::new();
        for step in steps.into_iter().chain([Step::Settle]) {
            match step {
                Step::Begin(uses) => present.push((sharing.begin(uses.clone()), uses)),
                Step::End(place) if place < present.len() => {
                    sharing.end(present.remove(place).0);
                }
                Step::End(_) => {}
                Step::Change(id, total) => {
                    let id = id % capacities.len();
                    capacities[id].total = total;
                    sharing.set_capacity(ResourceId(id as u32), capacities[id]);
                }
                Step::Settle => {
                    sharing.settle(|flow, rate| {
                        known.resize(known.len().max(flow.index() + 1), 0.0);
                        known[flow.index()] = rate;
                    });
                    let flows: Vec<_> = present.iter().map(|(_, uses)| uses.clone()).collect();
                    for ((flow, _), rate) in present.iter().zip(naive(&capacities, &flows)) {
                        prop_assert!(near(sharing.rate(*flow), rate));
                        prop_assert!(near(known[flow.index()], rate), "a change is not reported");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_over_its_capacity_and_every_flow_has_a_bottleneck((capacities, steps) in steps()) {
        let mut sharing = SharedResources::new(capacities.iter().copied());
        let mut present: Vec<(FlowIndex, Arc<[ResourceUse]>)> = Vec::new();
        for step in steps {
            match step {
                Step::Begin(uses) => present.push((sharing.begin(uses.clone()), uses)),
                Step::End(place) if place < present.len() => {
                    sharing.end(present.remove(place).0);
                }
                _ => sharing.settle(|_, _| {}),
            }
        }
        sharing.settle(|_, _| {});
        let on = |id: usize| {
            let rates = present.iter().filter_map(|(flow, uses)| {
                let used = uses.iter().find(|used| used.resource.index() == id)?;
                Some((sharing.rate(*flow), used.weight))
            });
            let load: f64 = rates.clone().map(|(rate, weight)| rate * weight).sum();
            (load, rates.map(|(rate, _)| rate).fold(0.0, f64::max))
        };
        for (id, capacity) in capacities.iter().enumerate() {
            let (load, fastest) = on(id);
            prop_assert!(load <= capacity.total * (1.0 + 1e-6), "{load} of {capacity:?}");
            prop_assert!(fastest <= capacity.each);
        }
        for (flow, uses) in &present {
            let rate = sharing.rate(*flow);
            let holds = |used: &ResourceUse| {
                let id = used.resource.index();
                let (load, fastest) = on(id);
                let is_full = near(load, capacities[id].total) && near(rate, fastest);
                is_full || near(rate, capacities[id].each)
            };
            prop_assert!(uses.iter().any(holds), "{rate} could be more");
        }
    }

    #[test]
    fn the_order_in_which_flows_came_does_not_matter((capacities, steps) in steps()) {
        let flows: Vec<Arc<[ResourceUse]>> = steps
            .into_iter()
            .filter_map(|step| if let Step::Begin(uses) = step { Some(uses) } else { None })
            .collect();
        let mut forwards = SharedResources::new(capacities.iter().copied());
        let mut backwards = SharedResources::new(capacities.iter().copied());
        let one: Vec<FlowIndex> = flows.iter().map(|uses| forwards.begin(uses.clone())).collect();
        forwards.settle(|_, _| {});
        let mut other: Vec<FlowIndex> = Vec::new();
        for uses in flows.iter().rev() {
            other.push(backwards.begin(uses.clone()));
            backwards.settle(|_, _| {});
        }
        for (one, other) in one.iter().zip(other.iter().rev()) {
            prop_assert!(near(forwards.rate(*one), backwards.rate(*other)));
        }
    }
}
