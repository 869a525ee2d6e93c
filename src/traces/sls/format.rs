//! The formats of the SLS: its jobs, its nodes, and the settings of its generator.

use std::io;
use std::path::Path;

use super::jobs::{REDUCE_PRIORITY, entry, generated};
use super::record::{SlsJob, SlsRack, SlsTask};
use super::synth::Synth;
use crate::hosts::Hosts;
use mumakil_base::units::tell::counted;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::cluster::Topology;
use mumakil_core::trace::{Records, Strictness, TextPlace, TraceError, json};
use mumakil_scenario::workload::format::{
    ConversionTarget, Format, FormatContents, GeneratorSize, HostFile, Trace, TraceJob, too_late,
};
use mumakil_scenario::workload::{JobEntry, TaskCores};

/// The format of the SLS' jobs.
pub(crate) static SLS_JOBS: Format = Format {
    known_by: "the SLS' jobs (`job.tasks`), nodes (`rack`, `nodes`) and generator (`workloads`)",
    has_attribute: |name| name == "num.nodes" || name.starts_with("job."),
    lists_tasks: true,
    target: Some(ConversionTarget {
        key: "sls",
        about: "Jobs of YARN's Scheduler Load Simulator",
        make: |entry, block| Box::new(job_of(entry, block)),
    }),
    ..Format::new("the SLS' jobs", FormatContents::Jobs(Trace::of::<SlsJob>))
};

/// The format of the SLS' nodes.
pub(crate) static SLS_NODES: Format = Format {
    has_attribute: |name| name == "rack",
    ..Format::new("the SLS' nodes", FormatContents::Hosts(hosts_of))
};

/// The format of the settings of the SLS' generator.
pub(crate) static SLS_SYNTH: Format = Format {
    has_attribute: |name| name == "workloads",
    ..Format::new(
        "the SLS' generator",
        FormatContents::Generator {
            draw: |path, seed| generated(path, seed).map(|(found, _)| found.jobs),
            size,
        },
    )
};

/// Returns a note about nodes or jobs with labels, which have no effect; `None` without such.
pub(super) fn without_labels(count: u64, thing: &str) -> Option<String> {
    let things = counted(count, thing);
    (0 < count).then(|| format!("the labels of {things} have no effect: any node runs any task"))
}

fn hosts_of(path: &Path) -> Result<HostFile, TraceError> {
    let mut records = Records::<SlsRack>::open(path, Strictness::Strict)?;
    let racks: Vec<SlsRack> = records.by_ref().collect::<Result<_, _>>()?;
    let labelled = racks.iter().flat_map(|rack| &rack.nodes).filter(|node| node.labels.is_some());
    let notes = without_labels(labelled.count() as u64, "node").into_iter().collect();
    let hosts = SlsRack::hosts(racks).map_err(|what| records.unusable(None, what))?;
    let (place, sha256) = (records.place(), records.sha256().map(str::to_owned));
    Ok(HostFile { hosts, notes, is_of_mumak: false, place, sha256 })
}

fn size(path: &Path) -> Result<GeneratorSize, TraceError> {
    let synth = Records::<Synth>::open(path, Strictness::Strict)?.only()?;
    let classes: usize = synth.workloads.iter().map(|all| all.job_classes.len()).sum();
    Ok(GeneratorSize { jobs: synth.num_jobs.into(), classes: classes as u64 })
}

impl TraceJob for SlsJob {
    fn name(&self, number: u64) -> String {
        self.id.clone().unwrap_or_else(|| format!("job-{number}"))
    }

    fn entry(&self, number: u64, _block: Bytes) -> Result<Option<JobEntry>, String> {
        let mut job = self.clone();
        // A list of jobs has no cluster, and so no nodes for the hosts.
        job.tasks.iter_mut().for_each(|task| task.host = None);
        let nowhere = Topology::from_nodes(Vec::new());
        entry(&job, &TraceJob::name(self, number), TextPlace::START, &mut Hosts::new(&nowhere))
    }

    fn submit(&self) -> SimSpan {
        // As in the SLS' own converter, a job that starts before zero starts at zero.
        let millis = self.start_ms.unwrap_or(0).max(0) as u64;
        SimSpan::from_millis(millis.min(SimSpan::LONGEST.as_millis()))
    }

    fn lost_in_list(&self) -> Option<&'static str> {
        let hosts = self.tasks.iter().any(|task| task.host.is_some());
        let delays = self.tasks.iter().any(|task| task.is_delayed());
        match (hosts, delays) {
            (true, true) => Some("hosts and delays of requests"),
            (true, false) => Some("hosts"),
            (false, true) => Some("delays of requests"),
            (false, false) => None,
        }
    }

    fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        if self.impossible_time().is_some() {
            return Err(too_late(self.id.as_deref().unwrap_or_default()));
        }
        json::write(self, to)
    }
}

/// Returns a job in the form of the SLS: its reduces begin when its maps have ended.
fn job_of(entry: &JobEntry, block: Bytes) -> SlsJob {
    let millis = |span: SimSpan| span.as_millis() as i64;
    let submit = millis(entry.submit);
    let times = entry.drawn(block);
    let longest = |times: &[SimSpan]| times.iter().copied().max().unwrap_or_default();
    let maps_end = submit + millis(longest(&times.maps));
    let reduces: Vec<SimSpan> = times.reduces.iter().map(|phases| phases.sum()).collect();
    let asks = |memory: Bytes, cores: TaskCores| (memory.get() >> 20, cores.get());
    let task = |start: i64, time: &SimSpan, task_type: &str, priority, (mib, cores)| SlsTask {
        start_ms: Some(start),
        end_ms: Some(start + millis(*time)),
        priority: Some(priority),
        task_type: Some(task_type.to_owned()),
        memory_mb: Some(mib),
        // One core is what a task asks for if the file says nothing.
        vcores: Some(cores).filter(|cores| *cores != 1),
        ..SlsTask::default()
    };
    // 20 and 10 are the priorities that the SLS' own converter writes.
    let [maps_ask, reduces_ask] =
        [asks(entry.map_memory, entry.map_cores), asks(entry.reduce_memory, entry.reduce_cores)];
    let maps = times.maps.iter().map(|time| task(submit, time, "map", 20, maps_ask));
    let reduce_tasks =
        reduces.iter().map(|time| task(maps_end, time, "reduce", REDUCE_PRIORITY, reduces_ask));
    SlsJob {
        id: Some(entry.name.clone()),
        am_type: Some("mapreduce".to_owned()),
        start_ms: Some(submit),
        end_ms: Some(maps_end + millis(longest(&reduces))),
        queue: Some(entry.pool.clone().unwrap_or_else(|| entry.user.clone())),
        user: Some(entry.user.clone()),
        tasks: maps.chain(reduce_tasks).collect(),
        ..SlsJob::default()
    }
}
