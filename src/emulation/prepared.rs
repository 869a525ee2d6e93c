//! A scenario with what it stands for: the nodes of its cluster and the jobs of its workload.

use std::sync::Arc;

use super::EmulationError;
use crate::cluster::Topology;
use crate::mapred::JobId;
use crate::scenario::Scenario;
use crate::workload::{Site, Workload};

/// A scenario that is ready to run: every file that it names has been read.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The scenario.
    pub scenario: Scenario,
    /// The nodes of its cluster.
    pub topology: Arc<Topology>,
    /// The jobs of its workload.
    pub workload: Workload,
}

impl Prepared {
    /// Reads what a scenario names.
    ///
    /// # Errors
    /// If a file cannot be read, or with what is wrong in it.
    pub fn new(scenario: Scenario) -> Result<Self, EmulationError> {
        let topology = Arc::new(Topology::new(&scenario.cluster));
        let class_of = |maps, reduces| scenario.class_of(maps, reduces).unwrap_or_default().into();
        let workload = Workload::new(
            &scenario.workload,
            &Site {
                hadoop: &scenario.hadoop,
                cluster: &scenario.cluster,
                topology: &topology,
                class_of: &class_of,
            },
        );
        Ok(Self { scenario, topology, workload })
    }

    /// Returns how many jobs there are.
    pub fn jobs(&self) -> u64 {
        self.workload.arrivals.len() as u64
    }

    /// Returns the jobs of a name: one, or all of an entry with a count.
    pub(super) fn jobs_of(&self, name: &str) -> impl Iterator<Item = JobId> {
        let place = self.workload.names.iter().position(|other| other == name);
        let arrivals = self.workload.arrivals.iter();
        arrivals.filter(move |job| Some(job.batch.index()) == place).map(|job| job.spec.id)
    }
}
