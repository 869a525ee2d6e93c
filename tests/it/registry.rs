//! The registry of the tests of crates that know no policy and no format themselves.

use mumakil_policies::scheduler;
use mumakil_scenario::Registry;
use mumakil_traces as traces;

/// Returns a registry of the policies, kinds of workload and formats that Mumakil brings.
pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry
        .bring_policies(scheduler::entries().iter().cloned())
        .bring_sources(traces::sources())
        .bring_formats(traces::formats().iter());
    registry.option_files = Some(traces::hadoop_xml::read);
    registry
}
