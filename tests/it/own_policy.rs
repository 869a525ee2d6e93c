//! The program from the guide's chapter `extending`, word for word, so that tests compile and run
//! it.

use std::process::ExitCode;

use mumakil::cluster::SlotKind;
use mumakil::mapred::{Job, MapReach, Offer, Policy, Reason, Scheduler};
use mumakil::scenario::Registry;

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
    let mut registry = Registry::builtin();
    registry.add::<FewestFirst>();
    mumakil::cli::run(registry)
}
