//! Checks the memory and cores that tasks ask for against those of the nodes.

use super::Checked;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::tell::counted;
use mumakil_base::units::{Bytes, Fraction};
use mumakil_core::cluster::{ClusterSpec, CountedResources};
use mumakil_core::mapred::SlotKind;

/// The amounts that each task of a kind asks for.
struct AskedAmounts<'j> {
    /// The number of the job in the list of jobs, and its name.
    number: usize,
    job: &'j str,
    kind: SlotKind,
    memory: Bytes,
    cores: u32,
}

/// Complains about tasks that fit on no node, and warns of reduces that may leave no memory to maps.
/// If memory is not counted, warns of tasks with more memory than the smallest node has.
pub(super) fn check_room(
    cluster: &ClusterSpec,
    jobs: &[JobEntry],
    slow_start: Fraction,
    found: &mut Checked,
) {
    let asked = jobs.iter().enumerate().flat_map(asked);
    // If the groups have all nodes, the others do not exist; they then allow too much at most.
    let groups = cluster.groups.iter();
    let own =
        groups.map(|it| (it.memory.unwrap_or(cluster.memory), it.cores.unwrap_or(cluster.cores)));
    let nodes: Vec<(Bytes, u32)> = own
        .chain([(cluster.memory, cluster.cores)])
        .map(|(memory, cores)| (memory.saturating_sub(cluster.system_memory), cores.get()))
        .collect();
    match cluster.resources {
        CountedResources::Slots => warn_of_memory(asked, &nodes, found),
        counted => {
            complain_of_giants(asked, counted, &nodes, found);
            warn_of_reduces(cluster, jobs, slow_start, found);
        }
    }
}

/// Warns if reduces may hold so much memory on each node that no map fits beside them. Launched
/// reduces wait for maps of their jobs, so then nothing may move any more.
fn warn_of_reduces(
    cluster: &ClusterSpec,
    jobs: &[JobEntry],
    slow_start: Fraction,
    found: &mut Checked,
) {
    let starved = jobs.iter().filter(|job| {
        let [maps, reduces] = [job.maps.map(|maps| maps.get()), Some(job.reduces.get())];
        let waits = job.slow_start.unwrap_or(slow_start).get() < 1.0;
        waits && ![maps, reduces].contains(&Some(0))
    });
    let early: Vec<&JobEntry> = starved.collect();
    let largest = |memory: fn(&JobEntry) -> Bytes| early.iter().map(|job| memory(job)).max();
    let (Some(map), Some(reduce)) = (largest(|it| it.map_memory), largest(|it| it.reduce_memory))
    else {
        return;
    };
    let grouped = cluster.groups.iter().map(|group| {
        let memory = group.memory.unwrap_or(cluster.memory);
        (group.count.get(), memory, group.reduce_slots.unwrap_or(cluster.reduce_slots))
    });
    let in_groups: u32 = cluster.groups.iter().map(|group| group.count.get()).sum();
    let others = cluster.nodes.get().saturating_sub(in_groups);
    let nodes = grouped.chain([(others, cluster.memory, cluster.reduce_slots)]);
    // How many reduces it takes to keep maps from all nodes; `None` if some node has room for both.
    let enough =
        nodes.filter(|(nodes, ..)| 0 < *nodes).try_fold(0, |enough, (nodes, all, slots)| {
            let all = all.saturating_sub(cluster.system_memory);
            let needed = (0..=u64::from(slots.get())).find(|reduces| {
                all.get() < map.get().saturating_add(reduce.get().saturating_mul(*reduces))
            })?;
            Some(enough + needed * u64::from(nodes))
        });
    let reduces = early.iter().map(|job| u64::from(job.reduces.get()) * u64::from(job.count.get()));
    if let Some(enough) = enough.filter(|enough| 0 < *enough && *enough <= reduces.sum()) {
        found.doubt(format!(
            "{enough} launched reduces may hold the memory of all nodes and wait for maps that find \
             none, and then the run stalls; set `hadoop.slow_start` to 1, or give nodes fewer reduce \
             slots or more memory"
        ));
    }
}

/// Returns the kinds of tasks that a job has.
fn asked((number, job): (usize, &JobEntry)) -> impl Iterator<Item = AskedAmounts<'_>> {
    let has_maps = job.maps.is_some_and(|maps| 0 < maps.get()) || job.input.is_some();
    let (maps, reduces) = (job.map_cores.get(), job.reduce_cores.get());
    let of = |kind, memory, cores| AskedAmounts { number, job: &job.name, kind, memory, cores };
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
    let misfit = asked.find(|AskedAmounts { memory, cores, .. }| {
        let asks = resources.of(*memory, *cores);
        !nodes.iter().any(|(memory, cores)| asks.fit_in(resources.of(*memory, *cores)))
    });
    if let Some(AskedAmounts { number, job, kind, memory, cores }) = misfit {
        let largest = nodes.iter().map(|(memory, _)| *memory).max().unwrap_or_default();
        let what = if largest < memory { "memory" } else { "cores" };
        let and_cores = match resources {
            CountedResources::MemoryAndCores => format!(" and {}", counted(cores.into(), "core")),
            CountedResources::Memory | CountedResources::Slots => String::new(),
        };
        let kind = kind.word();
        let message =
            format!("a {kind} of `{job}` asks for {memory}{and_cores}, more than any node has");
        found.value(&format!("workload.jobs[{number}].{kind}_{what}"), message);
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
