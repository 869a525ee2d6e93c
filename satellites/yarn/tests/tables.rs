//! The tables of a run, made from its events: `containers.csv` and `jobs.csv`.
//!
//! Times are whole milliseconds of virtual time, and stay empty if something has not happened.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::event::{ApplicationFact, ContainerFact, YarnEvent, YarnFact};
use crate::message::{ContainerEnd, ContainerId};
use crate::run::YarnRunSpec;
use crate::size::YarnSize;
use mumakil_base::units::SimTime;

/// A container.
#[derive(Clone, Debug, Default, Serialize)]
struct ContainerRow {
    application: u32,
    container: u32,
    /// `am`, `map` or `reduce`; empty if its master never used it.
    #[serde(rename = "type")]
    sort: &'static str,
    /// The place of its task in the job's list.
    task: Option<u32>,
    priority: i32,
    /// The host that its task asked for, wherever the container is.
    requested_host: String,
    node: String,
    memory: i32,
    vcores: i32,
    reserved_ms: Option<u64>,
    allocated_ms: Option<u64>,
    acquired_ms: Option<u64>,
    launched_ms: Option<u64>,
    running_ms: Option<u64>,
    /// When its work was done, on the node.
    ended_ms: Option<u64>,
    /// When its node said so.
    finished_ms: Option<u64>,
    /// When the ResourceManager counted it as ended.
    heard_ms: Option<u64>,
    /// When its master looked at its end.
    am_heard_ms: Option<u64>,
    exit: &'static str,
}

/// A job.
#[derive(Clone, Debug, Default, Serialize)]
struct JobTimesRow {
    application: Option<u32>,
    job: String,
    user: String,
    queue: String,
    submitted_ms: Option<u64>,
    registered_ms: Option<u64>,
    am_started_ms: Option<u64>,
    maps_asked_ms: Option<u64>,
    reduces_asked_ms: Option<u64>,
    am_released_ms: Option<u64>,
    finished_ms: Option<u64>,
}

/// The name of a job, and those of the hosts that its tasks ask for.
pub(crate) type JobNames = (String, Vec<String>);

/// The tables of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunTables {
    containers: BTreeMap<ContainerId, ContainerRow>,
    jobs: Vec<JobTimesRow>,
    rejections: Vec<(usize, String)>,
    fault: Option<String>,
    nodes: Vec<String>,
    /// The sort and the host of each task of each job.
    tasks: Vec<Vec<(&'static str, String)>>,
    /// The job of each application, from application 1.
    job_of: Vec<usize>,
    reserved_at: BTreeMap<ContainerId, u64>,
}

impl RunTables {
    /// Returns the tables of a run that has not begun.
    pub(crate) fn new(spec: &YarnRunSpec) -> Self {
        let jobs = spec.jobs.iter().map(|job| JobTimesRow {
            user: job.user.clone(),
            queue: job.queue.clone(),
            ..JobTimesRow::default()
        });
        let tasks = spec.jobs.iter().map(|job| {
            let of = job.tasks.iter().map(|task| (task.kind.word(), String::new()));
            of.collect()
        });
        Self {
            jobs: jobs.collect(),
            tasks: tasks.collect(),
            nodes: spec.nodes.iter().map(|node| node.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// Gives jobs and hosts the names of their files.
    pub(crate) fn with_names(mut self, names: Vec<JobNames>) -> Self {
        for (place, (job, hosts)) in names.into_iter().enumerate() {
            self.jobs[place].job = job;
            self.tasks[place].iter_mut().zip(hosts).for_each(|(task, host)| task.1 = host);
        }
        self
    }

    /// Adds events.
    pub(crate) fn take(&mut self, events: &[YarnEvent]) {
        for YarnEvent { at, fact } in events {
            match fact {
                YarnFact::Container(id, fact) => self.container(at.as_millis(), *id, fact),
                YarnFact::Application(master, fact) => {
                    self.application(at.as_millis(), master.index(), fact);
                }
                YarnFact::Fault(fault) => self.fault = Some(fault.clone()),
                YarnFact::Beat(_)
                | YarnFact::Node(..)
                | YarnFact::Share(_)
                | YarnFact::Waits(..) => {}
            }
        }
    }

    /// Returns the jobs that were refused, and why.
    pub(crate) fn rejections(&self) -> &[(usize, String)] {
        &self.rejections
    }

    /// Returns the fault that has ended the ResourceManager.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Returns `containers.csv`.
    pub(crate) fn containers(&self) -> String {
        to_csv(self.containers.values())
    }

    /// Returns `jobs.csv`.
    pub(crate) fn jobs(&self) -> String {
        to_csv(&self.jobs)
    }

    fn container(&mut self, ms: u64, id: ContainerId, fact: &ContainerFact) {
        match *fact {
            ContainerFact::Reserved(..) => _ = self.reserved_at.entry(id).or_insert(ms),
            ContainerFact::Unreserved(..) => {}
            ContainerFact::Allocated(node, YarnSize { memory, cores }, priority) => {
                let row = ContainerRow {
                    application: id.app.0,
                    container: id.number,
                    priority,
                    node: self.nodes[node.index()].clone(),
                    memory,
                    vcores: cores,
                    reserved_ms: self.reserved_at.get(&id).copied(),
                    allocated_ms: Some(ms),
                    ..ContainerRow::default()
                };
                self.containers.insert(id, row);
            }
            _ => self.change(ms, id, fact),
        }
    }

    fn change(&mut self, ms: u64, id: ContainerId, fact: &ContainerFact) {
        let row = self.containers.get_mut(&id).expect("a container is allocated before all else");
        match *fact {
            ContainerFact::Assigned(place) => {
                let job = self.job_of[id.app.index() - 1];
                let (sort, host) = &self.tasks[job][place as usize];
                row.task = Some(place);
                row.sort = sort;
                row.requested_host.clone_from(host);
            }
            ContainerFact::IsMaster => row.sort = "am",
            ContainerFact::Acquired => row.acquired_ms = Some(ms),
            ContainerFact::Launched => row.launched_ms = Some(ms),
            ContainerFact::Running => row.running_ms = Some(ms),
            ContainerFact::Finished(end) => {
                row.ended_ms = end.map(SimTime::as_millis);
                row.finished_ms = Some(ms);
            }
            ContainerFact::Ended(end) => {
                row.heard_ms = Some(ms);
                row.exit = match end {
                    ContainerEnd::Completed => "completed",
                    ContainerEnd::Killed => "killed",
                    ContainerEnd::Expired => "expired",
                    ContainerEnd::Failed => "failed",
                    ContainerEnd::Lost => "lost",
                    ContainerEnd::Released => "released",
                };
            }
            ContainerFact::Heard => row.am_heard_ms = Some(ms),
            ContainerFact::Done
            | ContainerFact::Reserved(..)
            | ContainerFact::Unreserved(..)
            | ContainerFact::Allocated(..) => {}
        }
    }

    fn application(&mut self, ms: u64, job: usize, fact: &ApplicationFact) {
        let row = &mut self.jobs[job];
        let time = match fact {
            ApplicationFact::Submitted(id) => {
                row.application = Some(id.0);
                self.job_of.push(job);
                &mut row.submitted_ms
            }
            ApplicationFact::Rejected(reason) => {
                self.rejections.push((job, reason.clone()));
                return;
            }
            ApplicationFact::Registered => &mut row.registered_ms,
            ApplicationFact::MasterStarted => &mut row.am_started_ms,
            ApplicationFact::MapsAsked => &mut row.maps_asked_ms,
            ApplicationFact::ReducesAsked => &mut row.reduces_asked_ms,
            ApplicationFact::MasterReleased => &mut row.am_released_ms,
            ApplicationFact::Finished => &mut row.finished_ms,
            ApplicationFact::Placed(_)
            | ApplicationFact::Asked(..)
            | ApplicationFact::AttemptFailed
            | ApplicationFact::Failed
            | ApplicationFact::Removed => return,
        };
        *time = Some(ms);
    }
}

/// Returns rows as CSV, with a heading.
pub(crate) fn to_csv<R: Serialize>(rows: impl IntoIterator<Item = R>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of numbers and words is CSV");
    }
    let bytes = writer.into_inner().expect("a list takes all bytes");
    String::from_utf8(bytes).expect("rows are text")
}
