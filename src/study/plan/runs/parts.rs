//! The scenarios of a plan in parts, so that thousands of cells share what is the same.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHasher};
use serde_yaml::Mapping;

use mumakil_core::cluster::ClusterSpec;
use mumakil_scenario::workload::WorkloadSpec;
use mumakil_scenario::{Scenario, SchedulerChoice};

/// A scenario in parts, so that cells can share equal parts: a scenario may have many jobs, and a
/// hundred thousand cells may differ in few settings.
#[derive(Clone, Debug)]
pub(super) struct ScenarioParts {
    pub(super) cluster: Arc<ClusterSpec>,
    pub(super) workload: Arc<WorkloadSpec>,
    pub(super) scheduler: Arc<SchedulerChoice>,
    /// The other settings, in a scenario whose cluster, workload and policy are placeholders.
    pub(super) rest: Arc<Scenario>,
}

impl ScenarioParts {
    pub(super) fn scenario(&self) -> Scenario {
        Scenario {
            cluster: ClusterSpec::clone(&self.cluster),
            workload: WorkloadSpec::clone(&self.workload),
            scheduler: SchedulerChoice::clone(&self.scheduler),
            ..Scenario::clone(&self.rest)
        }
    }
}

/// The distinct parts of all scenarios, each kept once.
#[derive(Default)]
pub(super) struct PartShelves {
    clusters: PartShelf<ClusterSpec>,
    workloads: PartShelf<WorkloadSpec>,
    schedulers: PartShelf<SchedulerChoice>,
    rests: PartShelf<Scenario>,
    /// The cluster that is the placeholder in all `rests`; `None` before the first scenario.
    placeholder_cluster: Option<ClusterSpec>,
}

/// The parts of one kind, by a hash of their YAML.
struct PartShelf<T>(FxHashMap<u64, Vec<Arc<T>>>);

impl<T> Default for PartShelf<T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<T: PartialEq> PartShelf<T> {
    /// Returns the shared copy of a part; a part that is new becomes the shared copy.
    fn share(&mut self, part: T, hash: u64) -> Arc<T> {
        let alike = self.0.entry(hash).or_default();
        // Two parts may have the same 64-bit hash by chance, so compare the parts themselves.
        if let Some(known) = alike.iter().find(|known| ***known == part) {
            return Arc::clone(known);
        }
        alike.push(Arc::new(part));
        Arc::clone(&alike[alike.len() - 1])
    }
}

impl PartShelves {
    /// Splits a scenario into shared parts; `written` is its YAML.
    pub(super) fn share(&mut self, mut scenario: Scenario, written: &Mapping) -> ScenarioParts {
        // A workload or policy has an empty value that can be its placeholder. A cluster has no
        // empty value, so the first cluster is the placeholder in all rests.
        let placeholder_cluster =
            self.placeholder_cluster.get_or_insert_with(|| scenario.cluster.clone()).clone();
        let cluster = std::mem::replace(&mut scenario.cluster, placeholder_cluster);
        let workload = std::mem::take(&mut scenario.workload);
        let scheduler = std::mem::take(&mut scenario.scheduler);
        let of = |key: &str| FxBuildHasher.hash_one(written.get(key));
        const OWN: [&str; 3] = ["cluster", "workload", "scheduler"];
        let mut rest = FxHasher::default();
        for entry in written.iter().filter(|(key, _)| !OWN.iter().any(|own| *key == own)) {
            entry.hash(&mut rest);
        }
        ScenarioParts {
            cluster: self.clusters.share(cluster, of("cluster")),
            workload: self.workloads.share(workload, of("workload")),
            scheduler: self.schedulers.share(scheduler, of("scheduler")),
            rest: self.rests.share(scenario, rest.finish()),
        }
    }
}
