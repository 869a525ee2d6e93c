//! How fast jobs arrive: as their source says, or with other gaps between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arrivals::Workload;
use super::demand::OfferedWork;
use super::jobs::JobEntry;
use super::site::WorkloadSite;
use mumakil_base::units::{Factor, Quantity as _, SimSpan};
use mumakil_core::cluster::SlotKind;
use mumakil_core::mapred::TrueDurations;

/// How fast jobs arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArrivalPace {
    /// At their own times.
    #[default]
    AsGiven,
    /// At their own times, as a batch: the cluster need not keep up with them, and no warning tells
    /// that it does not.
    Batch,
    /// The time between two jobs is multiplied by this.
    GapScale(Factor),
    /// The time between two jobs is multiplied by a number, the same for all, so that the offered
    /// load is this: `0.7` asks for 70 % of the slots, of the kind that is asked for most. A
    /// cluster of another size then gets jobs at another rate.
    Load(Factor),
}

impl ArrivalPace {
    /// Returns whether jobs arrive at their own times.
    pub(super) fn is_as_given(&self) -> bool {
        *self == Self::AsGiven
    }

    /// Returns whether the jobs are meant to come faster than the cluster can serve them.
    pub fn is_overload(&self) -> bool {
        *self == Self::Batch || matches!(self, Self::Load(load) if 1.0 <= load.get())
    }

    /// Multiplies the gaps between arrivals. The first job keeps its time, and so do jobs that
    /// follow others.
    pub(super) fn apply(self, entries: &mut [JobEntry], site: &WorkloadSite<'_>) {
        let factor = match self {
            Self::AsGiven | Self::Batch => return,
            Self::GapScale(factor) => Some(factor.get()),
            Self::Load(load) => given_load(entries, site).map(|given| given / load.get()),
        };
        // Jobs at one instant have no gaps to change, and jobs without work offer no load.
        let Some(factor) = factor else { return };
        let scaled = |span: SimSpan| SimSpan::from_f64(span.as_f64() * factor);
        let free = entries.iter().filter(|entry| entry.after.is_empty());
        let first = free.map(|entry| entry.submit).min().unwrap_or_default();
        for entry in entries.iter_mut().filter(|entry| entry.after.is_empty()) {
            entry.submit = first + scaled(entry.submit.saturating_sub(first));
            // All copies must come before the end of time.
            let most = SimSpan::LONGEST.as_f64() / f64::from(entry.count.get());
            entry.every = scaled(entry.every).min(SimSpan::from_f64(most));
        }
    }
}

/// Returns the offered load of jobs at their own times, of the kind of slots for which it is
/// highest; `None` if they offer none.
fn given_load(entries: &[JobEntry], site: &WorkloadSite<'_>) -> Option<f64> {
    let truth = TrueDurations::usual(site.seed, site.hadoop, site.cluster, site.topology)?;
    let workload = Workload::from_jobs(entries, site.seed, site.cluster.hdfs.block, site.class_of);
    let arrivals = OfferedWork::by_instant(workload.demands(&truth).into_iter());
    let loads = OfferedWork::loads(&arrivals, site.topology.slots());
    let highest = SlotKind::BOTH.iter().filter_map(|kind| loads[*kind]).fold(0.0, f64::max);
    (0.0 < highest).then_some(highest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::format::Formats;
    use crate::workload::submission::Submission;
    use mumakil_base::units::Count;
    use mumakil_core::cluster::{ClusterSpec, Topology};
    use mumakil_core::mapred::{Hadoop, HadoopLine};
    use std::sync::Arc;

    const JOBS: &str =
        "[{name: a, submit: 10s, maps: 4, input: 0, map_time: 58s, count: 3, every: 10s},
        {name: b, submit: 50s, maps: 4, input: 0, map_time: 58s},
        {name: c, after: [b], submit: 1s, maps: 8, input: 0, map_time: 58s}]";

    fn paced(jobs: &str, pace: ArrivalPace, nodes: u32) -> (Vec<JobEntry>, Option<f64>) {
        let mut entries: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
        let cluster = include_str!("../../../scenarios/clusters/default.yaml");
        let mut cluster: ClusterSpec = serde_yaml::from_str(cluster).unwrap();
        cluster.nodes = Count::of(nodes);
        let site = WorkloadSite {
            seed: 42,
            folder: "".as_ref(),
            hadoop: &Hadoop::of(HadoopLine::V020),
            submission: Submission::Replay,
            topology: &Arc::new(Topology::new(&cluster)),
            cluster: &cluster,
            formats: &Formats::default(),
            class_of: &|_, _| "all".into(),
        };
        pace.apply(&mut entries, &site);
        let load = given_load(&entries, &site);
        (entries, load)
    }

    fn times_s(entries: &[JobEntry]) -> Vec<(f64, f64)> {
        let times = |entry: &JobEntry| (entry.submit.as_secs_f64(), entry.every.as_secs_f64());
        entries.iter().map(times).collect()
    }

    #[test]
    fn gaps_are_scaled_and_the_first_job_and_followers_keep_their_times() {
        let (entries, _) = paced(JOBS, ArrivalPace::GapScale(Factor::of(2.0)), 10);
        assert_eq!(times_s(&entries), [(10.0, 20.0), (90.0, 0.0), (1.0, 0.0)]);
    }

    #[test]
    fn the_load_is_the_mean_work_of_an_arrival_over_the_mean_gap() {
        // 24 maps of 60.15 s each (with their start-up) in four arrivals; 40 s have three gaps, and
        // there are 20 slots. The job that follows another counts, too.
        let (_, load) = paced(JOBS, ArrivalPace::AsGiven, 10);
        assert!((load.unwrap() - 24.0 * 60.15 * 0.75 / (40.0 * 20.0)).abs() < 0.01, "{load:?}");
    }

    #[test]
    fn a_load_is_the_same_on_any_number_of_nodes() {
        for nodes in [1, 10, 300] {
            let (_, load) = paced(JOBS, ArrivalPace::Load(Factor::of(0.7)), nodes);
            assert!((load.unwrap() - 0.7).abs() < 1e-6, "{load:?} with {nodes} nodes");
        }
        let at_once = "[{name: a, maps: 4, count: 5}]";
        assert_eq!(times_s(&paced(at_once, ArrivalPace::Load(Factor::of(0.7)), 1).0), [(0.0, 0.0)]);
    }
}
