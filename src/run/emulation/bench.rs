//! A bench for tests of policies, described as a scenario is.

use std::sync::Arc;

use super::prepared::topology;
use super::{EmulationError, setting};
use mumakil_core::mapred::{Policy, PolicyBench};
use mumakil_scenario::{Draft, LoadedScenario, Registry, Warning};

/// Returns a [`PolicyBench`] for the policy, the cluster and the Hadoop of a scenario, and the
/// scenario's warnings. The scenario is checked and completed as for a run, but needs no `workload`:
/// the bench submits no job of it, and only the policy's own checks look at its jobs. Setups and
/// cleanups are left out, whatever `hadoop` says.
///
/// `name` stands for the scenario's file in messages; relative paths start in its folder.
///
/// # Errors
/// If the text has mistakes, if a file cannot be read, or if the policy is another one than `P` or
/// cannot begin.
pub fn bench<P: Policy>(
    name: &str,
    text: &str,
    registry: &Registry,
) -> Result<(PolicyBench<P>, Vec<Warning>), EmulationError> {
    let loaded = Draft::of(name, text)?.or_no_jobs().resolve(registry)?;
    let LoadedScenario { mut scenario, mut warnings, .. } = loaded;
    let (topology, notes) = topology(&mut scenario, registry.formats())?;
    warnings.extend(notes.into_iter().map(Warning::Doubt));
    let topology = Arc::new(topology);
    let policy: P = registry.build_as(&scenario.scheduler)?;
    let setting = setting(&scenario, &topology, registry);
    PolicyBench::begun(policy, topology.clone(), scenario.hadoop.clone(), &setting)
        .map(|bench| (bench, warnings))
        .map_err(|words| EmulationError::PolicyFailed { words })
}
