//! A policy of your own, and a command with it and all that `mumakil` has:
//!
//! ```sh
//! mumakil show quickstart > mine.yaml
//! cargo run --example policy -- run mine.yaml --set scheduler=fewest-first
//! cargo run --example policy -- chaos --policy fewest-first --runs 20
//! cargo test --example policy
//! ```
//!
//! In a package of your own: `cargo add mumakil`, and this file is `src/main.rs`.

use std::process::ExitCode;

use mumakil::cluster::SlotKind;
use mumakil::mapred::{Job, MapReach, Offer, Policy, Reason, Scheduler};

/// The job with the fewest running tasks first, wherever its input is.
pub struct FewestFirst;

impl Scheduler for FewestFirst {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let waiting = |job: &&Job| 0 < job.pending(kind);
                let running = |job: &&Job| (job.tasks(kind).running(), job.id());
                let Some(job) = offer.running_jobs().filter(waiting).min_by_key(running) else {
                    break;
                };
                let (job, reason) = (job.id(), Reason::Other("fewest running"));
                let launched = match kind {
                    SlotKind::Map => offer.launch_map(job, MapReach::Any, reason),
                    SlotKind::Reduce => offer.launch_reduce(job, reason),
                };
                if launched.is_none() {
                    break;
                }
            }
        }
    }
}

impl Policy for FewestFirst {
    const NAME: &'static str = "fewest-first";
    const ABOUT: &'static str = "the job with the fewest running tasks first";
    type Options = ();
    fn new((): ()) -> Self {
        Self
    }
}

fn main() -> ExitCode {
    let mut registry = mumakil::registry();
    registry.add::<FewestFirst>();
    mumakil::cli::run(registry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil::mapred::{Input, Locality, PerSlot, PolicyBench};

    #[test]
    fn the_job_with_fewer_running_tasks_gets_the_slot() {
        // Two trackers of two map slots in one rack.
        let mut bench = PolicyBench::new(FewestFirst, 2, PerSlot { map: 2, reduce: 0 });
        let large = bench.submit(9, 0, |_| {});
        let launched = bench.offer(0);
        assert_eq!(launched.len(), 2, "no other job wants the slots");
        let small = bench.submit(2, 0, |job| job.input = Some(Input::on_trackers([0, 1])));
        let maps = bench.at(10.0).offer(1);
        assert_eq!(maps.iter().map(|map| map.job()).collect::<Vec<_>>(), [small; 2]);
        assert_eq!(maps[0].locality, Some(Locality::Node));
        bench.at(30.0).ends(launched[0]);
        assert_eq!(bench.offer(0)[0].job(), large, "`large` ran one map, `small` two");
        assert_eq!(bench.held(SlotKind::Map, [large, small]), [2, 2]);
    }
}
