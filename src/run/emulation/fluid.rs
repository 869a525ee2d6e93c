//! The jobs of a scenario as fluid jobs: on an ideal cluster that can be divided into any fractions.

use super::Prepared;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::theory::fluid::FluidJob;
use mumakil_core::mapred::SlotKind;
use mumakil_policies::scheduler::SizeError;

impl Prepared {
    /// Returns the jobs with tasks of a kind that arrive at a known time, and how many jobs are left
    /// out. The whole system is all slots of the kind; a job of few tasks can use a part of it. The
    /// sizes are those that oracles know, and `error` makes them wrong as it does for a policy.
    pub fn fluid_jobs(
        &self,
        kind: SlotKind,
        error: Option<&SizeError>,
    ) -> (Vec<FluidJob<f64>>, usize) {
        let slots = f64::from(self.topology.slots()[kind]);
        let demands = self.demands();
        let (mut jobs, mut left_out) = (Vec::new(), 0);
        for spec in self.workload.arrivals.iter().map(|arrival| &arrival.spec) {
            let tasks = f64::from(if kind == SlotKind::Map { spec.maps } else { spec.reduces });
            let demand = demands.get(spec.id.index());
            let arrives = demand.and_then(|demand| Some((demand.arrives?, demand.task[kind])));
            let Some((arrival, task)) = arrives.filter(|(_, task)| 0.0 < tasks && !task.is_zero())
            else {
                left_out += 1;
                continue;
            };
            let work = task.as_secs_f64() * tasks;
            let subject = 2 * u64::from(spec.id.0) + kind as u64;
            let mut rng = stream(self.scenario.seed, Purpose::SizeError, subject);
            let wrong = error.map_or(1.0, |error| error.factor(&mut rng, work, &spec.class));
            jobs.push(FluidJob {
                estimate: work * wrong / slots,
                most: (tasks / slots).min(1.0),
                ..FluidJob::of(arrival.as_secs_f64(), work / slots)
            });
        }
        (jobs, left_out)
    }
}
