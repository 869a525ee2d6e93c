//! Tiny runs: nodes of 10 GB with one heartbeat a second, and jobs of some maps and reduces.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use crate::event::{ApplicationFact, ContainerFact, NodeFact, YarnEvent, YarnFact};
use crate::message::{ToMaster, ToNodeManager, YarnMail};
use crate::tables::RunTables;
use crate::tests::{
    ContainerEnd, ContainerId, LivenessLimits, MapReduceTimes, MasterId, MasterMode, NodeId,
    PlaceId, SlotKind, Yarn, YarnChecker, YarnFaults, YarnJob, YarnNode, YarnRunSpec, YarnSettings,
    YarnSize, YarnTask, YarnWait,
};
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_runtime::{Ending, EventSink, RunPlan, Transport, run_scaled, run_virtual};
use parking_lot::Mutex;

/// A run that is being described.
#[derive(Clone, Debug)]
pub(super) struct Bench {
    scheduler: &'static str,
    site: String,
    queues: String,
    nodes: Vec<YarnNode>,
    jobs: Vec<YarnJob>,
    faults: YarnFaults,
    until: SimSpan,
}

/// A run that is over.
#[derive(Debug)]
pub(super) struct BenchRun {
    pub(super) events: Vec<YarnEvent>,
    pub(super) containers: Vec<Vec<String>>,
    pub(super) jobs: Vec<Vec<String>>,
    pub(super) fault: Option<String>,
    pub(super) rejections: Vec<(usize, String)>,
    pub(super) ending: Ending,
}

/// A mishap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum YarnMishap {
    NodeStops(NodeId),
    NodeReturns(NodeId),
    NodeSlows(NodeId, Factor),
    MasterDies(MasterId),
    MasterHangs(MasterId),
}

impl YarnMishap {
    fn mail(self) -> YarnMail {
        match self {
            Self::NodeStops(id) => YarnMail::NodeManager(id, ToNodeManager::Stop),
            Self::NodeReturns(id) => YarnMail::NodeManager(id, ToNodeManager::Return),
            Self::NodeSlows(id, factor) => YarnMail::NodeManager(id, ToNodeManager::Slow(factor)),
            Self::MasterDies(id) => YarnMail::Master(id, ToMaster::Die),
            Self::MasterHangs(id) => YarnMail::Master(id, ToMaster::Hang),
        }
    }
}

struct Relay(Arc<Mutex<Vec<YarnEvent>>>);

impl EventSink<YarnEvent> for Relay {
    fn take(&mut self, events: &mut Vec<YarnEvent>) {
        self.0.lock().append(events);
    }
    fn flush(&mut self) {}
    fn is_broken(&self) -> bool {
        false
    }
}

const ANYWHERE: [PlaceId; 2] = [PlaceId(900), PlaceId(901)];

/// Returns the host and the rack of a node: even numbers are in one rack, odd ones in another.
pub(super) fn on(node: u32) -> [PlaceId; 2] {
    [PlaceId(node + 1), PlaceId(100 + node % 2)]
}

pub(super) fn fifo() -> Bench {
    bench("fifo.FifoScheduler", "")
}

/// The fair scheduler, with the inner part of its file.
pub(super) fn fair(queues: &str) -> Bench {
    bench("fair.FairScheduler", &format!("<allocations>{queues}</allocations>"))
}

/// The capacity scheduler, with properties such as `root.queues=a,b`.
pub(super) fn capacity(properties: &[(&str, &str)]) -> Bench {
    let mut inner = String::new();
    for (name, value) in properties {
        let name = format!("yarn.scheduler.capacity.{name}");
        inner += &format!("<property><name>{name}</name><value>{value}</value></property>");
    }
    bench("capacity.CapacityScheduler", &format!("<configuration>{inner}</configuration>"))
}

fn bench(scheduler: &'static str, queues: &str) -> Bench {
    Bench {
        scheduler,
        site: String::new(),
        queues: queues.to_owned(),
        nodes: Vec::new(),
        jobs: Vec::new(),
        faults: YarnFaults::default(),
        until: SimSpan::from_secs(4_000),
    }
}

/// A job of the queue and the user `default` that starts at 0.
pub(super) fn job(_name: &str) -> YarnJob {
    YarnJob {
        user: "u".to_owned(),
        queue: "default".to_owned(),
        start: SimSpan::ZERO,
        mode: MasterMode::Sls,
        master_size: YarnSize::new(1_024, 1),
        tasks: Vec::new(),
        mapreduce: MapReduceTimes::default(),
    }
}

impl YarnJob {
    pub(super) fn maps(self, count: u32, secs: u64) -> Self {
        self.tasks(SlotKind::Map, count, secs, 1_024, ANYWHERE)
    }

    pub(super) fn reduces(self, count: u32, secs: u64) -> Self {
        self.tasks(SlotKind::Reduce, count, secs, 1_024, ANYWHERE)
    }

    pub(super) fn tasks(
        mut self,
        kind: SlotKind,
        count: u32,
        secs: u64,
        memory: i32,
        host_and_rack: [PlaceId; 2],
    ) -> Self {
        let task = YarnTask {
            kind,
            host_and_rack,
            size: YarnSize::new(memory, 1),
            life: SimSpan::from_secs(secs),
        };
        self.tasks.extend((0..count).map(|_| task.clone()));
        self
    }

    pub(super) fn at(self, ms: u64) -> Self {
        Self { start: SimSpan::from_millis(ms), ..self }
    }

    pub(super) fn in_queue(self, queue: &str) -> Self {
        Self { queue: queue.to_owned(), ..self }
    }

    pub(super) fn of_user(self, user: &str) -> Self {
        Self { user: user.to_owned(), ..self }
    }

    /// Lets MapReduce's master do the job.
    pub(super) fn mapreduce(self, mapreduce: MapReduceTimes) -> Self {
        Self { mode: MasterMode::MapReduce, mapreduce, ..self }
    }

    pub(super) fn managed(self) -> Self {
        Self { mode: MasterMode::Managed, ..self }
    }
}

impl Bench {
    /// Sets a property of `yarn-site.xml`.
    pub(super) fn set(mut self, name: &str, value: &str) -> Self {
        write!(self.site, "<property><name>{name}</name><value>{value}</value></property>")
            .unwrap();
        self
    }

    /// Adds nodes of a size, with offsets of 100 ms, 200 ms and so on.
    pub(super) fn nodes(mut self, count: u32, memory: i32, cores: i32) -> Self {
        for _ in 0..count {
            let number = self.nodes.len() as u32;
            let [host, rack] = on(number);
            self.nodes.push(YarnNode {
                name: format!("n{number:03}"),
                size: YarnSize::new(memory, cores),
                offset: SimSpan::from_millis(u64::from(100 * (number + 1) % 1_000)),
                host,
                rack,
            });
        }
        self
    }

    pub(super) fn job(mut self, job: YarnJob) -> Self {
        self.jobs.push(job);
        self
    }

    pub(super) fn fault(mut self, ms: u64, what: YarnMishap) -> Self {
        self.faults.mishaps.push((SimTime::from_micros(ms * 1_000), what.mail()));
        self
    }

    /// Gives nodes, masters and containers up after these seconds.
    pub(super) fn expiry(mut self, node: u64, master: u64, container: u64) -> Self {
        let [node, master, container] = [node, master, container].map(SimSpan::from_secs);
        self.faults.liveness = LivenessLimits { node, master, container, max_attempts: 2 };
        self
    }

    /// Returns a checker for this run, before it begins.
    pub(super) fn checker(&self) -> YarnChecker {
        YarnChecker::new(&self.clone().spec())
    }

    pub(super) fn until(self, secs: u64) -> Self {
        Self { until: SimSpan::from_secs(secs), ..self }
    }

    pub(super) fn run(self) -> BenchRun {
        self.run_over(Transport::Bare)
    }

    pub(super) fn run_over(self, transport: Transport) -> BenchRun {
        self.run_by(true, |plan| run_virtual(plan, transport).1)
    }

    /// Runs on the wall clock, so many times as fast.
    pub(super) fn run_scaled(self, factor: f64) -> BenchRun {
        self.run_by(false, |plan| run_scaled(plan, factor).1)
    }

    fn spec(self) -> YarnRunSpec {
        let folder = tempfile::tempdir().unwrap();
        let class =
            format!("org.apache.hadoop.yarn.server.resourcemanager.scheduler.{}", self.scheduler);
        let site = self.site
            + "<property><name>yarn.resourcemanager.scheduler.class</name><value>"
            + &class
            + "</value></property>";
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("yarn-site.xml", &format!("<configuration>{site}</configuration>"));
        write("fair-scheduler.xml", &self.queues);
        write("capacity-scheduler.xml", &self.queues);
        YarnRunSpec {
            nodes: self.nodes,
            jobs: self.jobs,
            node_interval: SimSpan::from_secs(1),
            master_interval: SimSpan::from_secs(1),
            settings: YarnSettings::read(folder.path()).unwrap_or_else(|error| panic!("{error}")),
        }
    }

    fn run_by(self, is_checked: bool, drive: impl FnOnce(RunPlan<Yarn>) -> Ending) -> BenchRun {
        let (faults, until) = (self.faults.clone(), SimTime::ZERO + self.until);
        let spec = self.spec();
        let mut tables = RunTables::new(&spec);
        let mut checker = YarnChecker::new(&spec);
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = Box::new(Relay(events.clone()));
        let plan = spec.plan(&faults, until, sink);
        let ending = drive(plan);
        let events = std::mem::take(&mut *events.lock());
        tables.take(&events);
        checker.take(&events);
        // On the wall clock cores tell of the same instant at different ones.
        assert!(!is_checked || checker.breaches().is_empty(), "{:#?}", checker.breaches());
        let rows = |text: String| -> Vec<Vec<String>> {
            text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
        };
        BenchRun {
            containers: rows(tables.containers()),
            jobs: rows(tables.jobs()),
            fault: tables.fault().map(str::to_owned),
            rejections: tables.rejections().to_vec(),
            events,
            ending,
        }
    }
}

/// The columns of `containers.csv` that tests look at.
pub(super) const ALLOCATED: usize = 10;
pub(super) const ENDED: usize = 14;

impl BenchRun {
    /// Returns a column of the containers of an application, in the order of their numbers.
    pub(super) fn column(&self, application: u32, column: usize) -> Vec<String> {
        let own = self.containers.iter().filter(|row| row[0] == application.to_string());
        own.map(|row| row[column].clone()).collect()
    }

    /// Returns when the containers of an application were allocated, in milliseconds.
    pub(super) fn allocated(&self, application: u32) -> Vec<u64> {
        self.column(application, ALLOCATED).iter().map(|ms| ms.parse().unwrap()).collect()
    }

    /// Returns how many reservations were made.
    pub(super) fn reservations(&self) -> usize {
        let is_reservation = |event: &&YarnEvent| {
            matches!(event.fact, YarnFact::Container(_, ContainerFact::Reserved(..)))
        };
        self.events.iter().filter(is_reservation).count()
    }

    /// Returns when each container was killed, in milliseconds.
    pub(super) fn killed(&self) -> Vec<(ContainerId, u64)> {
        self.ended(ContainerEnd::Killed)
    }

    /// Returns when each container that came to such an end did, in milliseconds.
    pub(super) fn ended(&self, end: ContainerEnd) -> Vec<(ContainerId, u64)> {
        let ends = self.events.iter().filter_map(|event| match event.fact {
            YarnFact::Container(id, ContainerFact::Ended(its)) if its == end => {
                Some((id, event.at.as_millis()))
            }
            _ => None,
        });
        ends.collect()
    }

    /// Returns when a node changed, in milliseconds.
    pub(super) fn node_facts(&self, node: u32) -> Vec<(NodeFact, u64)> {
        let facts = self.events.iter().filter_map(|event| match event.fact {
            YarnFact::Node(NodeId(of), fact) if of == node => Some((fact, event.at.as_millis())),
            _ => None,
        });
        facts.collect()
    }

    /// Returns when an application failed, an attempt at a time or as a whole, and when it was
    /// forgotten, in milliseconds.
    pub(super) fn failures(&self) -> Vec<(MasterId, &'static str, u64)> {
        let facts = self.events.iter().filter_map(|event| {
            let YarnFact::Application(id, fact) = &event.fact else { return None };
            let word = match fact {
                ApplicationFact::AttemptFailed => "attempt",
                ApplicationFact::Failed => "failed",
                ApplicationFact::Removed => "removed",
                _ => return None,
            };
            Some((*id, word, event.at.as_millis()))
        });
        facts.collect()
    }

    /// Returns the reasons for which a job waited, each with its beginning and its end in
    /// milliseconds and the offers in it. A wait that goes on at the end of the run has no end.
    pub(super) fn waits(&self, job: u32) -> Vec<(YarnWait, u64, u64, u32)> {
        let mut spans = Vec::new();
        let mut open = None;
        for event in &self.events {
            if let YarnFact::Waits(MasterId(of), ended, next) = event.fact
                && of == job
            {
                let at = event.at.as_millis();
                spans.extend(ended.map(|it| (it.reason, it.from.as_millis(), at, it.times)));
                open = next.map(|reason| (reason, at, u64::MAX, 0));
            }
        }
        spans.extend(open);
        spans
    }

    /// Returns when a job was over, in milliseconds; `None` if it was not.
    pub(super) fn over(&self, job: usize) -> Option<u64> {
        self.jobs[job].last()?.parse().ok()
    }
}
