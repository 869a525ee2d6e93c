//! Checks the memory and cores that tasks ask for against those of the nodes.

use super::Checked;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::Bytes;
use mumakil_base::units::tell::counted;
use mumakil_core::cluster::{ClusterSpec, CountedResources};
use mumakil_core::mapred::SlotKind;

/// The amounts that each task of a kind asks for.
struct AskedAmounts<'j> {
    job: &'j str,
    kind: SlotKind,
    memory: Bytes,
    cores: u32,
}

/// Complains about tasks that fit on no node. If memory is not counted, warns of tasks with more
/// memory than the smallest node has.
pub(super) fn check_room(cluster: &ClusterSpec, jobs: &[JobEntry], found: &mut Checked) {
    let asked = jobs.iter().flat_map(asked);
    // If the groups have all nodes, the others do not exist; they then allow too much at most.
    let own = cluster.groups.iter();
    let own =
        own.map(|it| (it.memory.unwrap_or(cluster.memory), it.cores.unwrap_or(cluster.cores)));
    let nodes = own.chain([(cluster.memory, cluster.cores)]);
    let nodes: Vec<(Bytes, u32)> = nodes
        .map(|(memory, cores)| (memory.saturating_sub(cluster.system_memory), cores.get()))
        .collect();
    match cluster.resources {
        CountedResources::Slots => warn_of_memory(asked, &nodes, found),
        counted => complain_of_giants(asked, counted, &nodes, found),
    }
}

/// Returns the kinds of tasks that a job has.
fn asked(job: &JobEntry) -> impl Iterator<Item = AskedAmounts<'_>> {
    let has_maps = job.maps.is_some_and(|maps| 0 < maps.get()) || job.input.is_some();
    let (maps, reduces) = (job.map_cores.get(), job.reduce_cores.get());
    let of = |kind, memory, cores| AskedAmounts { job: &job.name, kind, memory, cores };
    let maps = has_maps.then(|| of(SlotKind::Map, job.map_memory, maps));
    let reduces = (0 < job.reduces.get()).then(|| of(SlotKind::Reduce, job.reduce_memory, reduces));
    maps.into_iter().chain(reduces)
}

fn complain_of_giants<'j>(
    mut asked: impl Iterator<Item = AskedAmounts<'j>>,
    resources: CountedResources,
    nodes: &[(Bytes, u32)],
    found: &mut Checked,
) {
    let fits = |AskedAmounts { memory, cores, .. }: &AskedAmounts<'_>| {
        let asks = resources.of(*memory, *cores);
        nodes.iter().any(|(memory, cores)| asks.fit_in(resources.of(*memory, *cores)))
    };
    if let Some(AskedAmounts { job, kind, memory, cores }) = asked.find(|asked| !fits(asked)) {
        let and_cores = match resources {
            CountedResources::MemoryAndCores => format!(" and {}", counted(cores.into(), "core")),
            CountedResources::Memory | CountedResources::Slots => String::new(),
        };
        let kind = kind.word();
        let message =
            format!("a {kind} of `{job}` asks for {memory}{and_cores}, more than any node has");
        found.value("cluster.resources", message);
    }
}

fn warn_of_memory<'j>(
    mut asked: impl Iterator<Item = AskedAmounts<'j>>,
    nodes: &[(Bytes, u32)],
    found: &mut Checked,
) {
    // Any tracker may get an attempt of any job, so the node with the least memory counts.
    let room = nodes.iter().map(|(memory, _)| *memory).min().unwrap_or_default();
    if let Some(AskedAmounts { job, memory, .. }) = asked.find(|asked| room < asked.memory) {
        found.doubt(format!(
            "an attempt of the job `{job}` needs {memory} of memory, and a node has {room} for all \
             attempts: it runs there all the same, since only suspended attempts are swapped; raise \
             cluster.memory or lower the memory of the job's tasks"
        ));
    }
}
