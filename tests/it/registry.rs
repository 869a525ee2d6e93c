//! The registry of the tests of crates that know no policy and no format themselves.

use mumakil_core::mapred::PolicyEntry;
use mumakil_external::External;
use mumakil_policies::scheduler;
use mumakil_scenario::Registry;

/// Returns a registry of the policies, kinds of workload and formats that Mumakil brings.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.bring_policies(scheduler::entries().iter().cloned());
    registry.bring_policies([PolicyEntry::of::<External>()]);
    mumakil_traces::bring(&mut registry);
    registry
}
