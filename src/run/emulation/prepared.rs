//! A scenario with the nodes of its cluster and the jobs of its workload.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{EmulationError, NamedTraceError, kept};
use crate::record::NodeLabel;
use mumakil_base::nearest::nearest;
use mumakil_base::units::tell::counted as counted_of;
use mumakil_core::cluster::{
    Amounts, NodeCount, PerSlot, Placement, SlotKind, Topology, TrackerId, without_escapes,
};
use mumakil_core::mapred::{DelayedNames, ExpectedJob, PolicySite};
use mumakil_core::trace::{TraceError, TraceFile};
use mumakil_results::expect::KnownWords;
use mumakil_scenario::fault::{Effects, FaultContext, FaultSite};
use mumakil_scenario::workload::format::{FormatContents, HostFile, ListedHost, other};
use mumakil_scenario::workload::{Formats, Workload, WorkloadSite, WorkloadSpec};
use mumakil_scenario::{AlteredJob, LaterChange, Registry, Scenario, SchedulerChoice};

/// A scenario that is ready to run: every file that it names has been read.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The scenario.
    pub scenario: Scenario,
    /// The nodes of its cluster.
    pub topology: Arc<Topology>,
    /// The jobs of its workload.
    pub workload: Workload,
    /// Warnings of the policy about jobs and nodes that come from files, and a warning about names
    /// that a spreadsheet would read as formulas.
    pub doubts: Vec<String>,
    /// How long it took to read and build all this, in real time.
    pub(super) took: Duration,
}

/// Returns the nodes of a scenario's cluster, which the scenario describes by numbers or in a file,
/// and notes about that file.
pub(super) fn topology(
    scenario: &mut Scenario,
    formats: &Formats,
) -> Result<(Topology, Vec<String>), NamedTraceError> {
    let Scenario { cluster, hadoop, workload, folder, .. } = scenario;
    // The file is a field of the cluster. Take it out, since the calls below borrow both.
    let mut own = cluster.topology.take();
    let key = match workload.sources.iter().find_map(|of| Some((of.key(), of.hosts_key()?))) {
        Some((source, hosts)) => format!("workload.{source}.{hosts}"),
        None => "cluster.topology".to_owned(),
    };
    let found = match workload.hosts_mut().or(own.as_mut()) {
        Some(file) => {
            let NodeFile { hosts, absent, notes } =
                hosts_of(file, folder, formats, hadoop.behaviour().reads_like_mumak)
                    .map_err(|error| NamedTraceError::new(key, error))?;
            let named = named(&hosts);
            let mut topology = Topology::of_hosts(cluster, &named);
            if let Some(absent) = absent {
                topology = topology.with_absent(&named, &self::named(&absent));
            }
            for ListedHost { name, memory, cores, .. } in &hosts {
                let node = topology.find(name).expect("each host is a node");
                topology.equip(node, *memory, *cores);
            }
            (topology, notes)
        }
        None => (Topology::new(cluster), Vec::new()),
    };
    // Put the field `topology` back: the scenario is written into the run's folder, and must be whole.
    cluster.topology = own;
    Ok(found)
}

fn named(hosts: &[ListedHost]) -> Vec<(String, &str)> {
    hosts.iter().map(|host| (host.rack.clone(), host.name.as_str())).collect()
}

/// The content of a file with the nodes of a cluster.
struct NodeFile {
    hosts: Vec<ListedHost>,
    /// The hosts that Mumak leaves out; `None` unless both the file and the model are Mumak's.
    absent: Option<Vec<ListedHost>>,
    notes: Vec<String>,
}

fn hosts_of(
    file: &mut TraceFile,
    folder: &Path,
    formats: &Formats,
    is_mumak: bool,
) -> Result<NodeFile, TraceError> {
    let path = file.find(folder);
    let format = formats.recognise(&path)?;
    let FormatContents::Hosts(read) = format.contents else {
        return Err(other(&path, format, "a topology of Rumen or nodes of the SLS"));
    };
    let HostFile { mut hosts, notes, is_of_mumak, place, sha256 } = read(&path)?;
    if !is_mumak {
        // Mumak keeps the escapes of the history, and they decide the order of its nodes.
        for name in hosts.iter_mut().flat_map(|host| [&mut host.rack, &mut host.name]) {
            if let Cow::Owned(plain) = without_escapes(name) {
                *name = plain;
            }
        }
    }
    let (absent, hosts): (Vec<ListedHost>, Vec<ListedHost>) =
        hosts.into_iter().partition(|host| is_mumak && is_of_mumak && is_address(&host.name));
    if hosts.is_empty() {
        let what = "all machines are called by addresses, and Mumak leaves such out";
        // An empty cluster would let every job wait for ever.
        return Err(TraceError::malformed(&path, place, None, what, None));
    }
    // Record the checksum, so that a repetition of the run notices a changed file.
    file.pin(folder, sha256.as_deref())?;
    // Input may lie on hosts that Mumak leaves out, so the racks of these hosts are needed as well.
    Ok(NodeFile { hosts, absent: (is_mumak && is_of_mumak).then_some(absent), notes })
}

/// Returns whether a host is given by its IPv4 address instead of a name; dots may be escaped.
fn is_address(host: &str) -> bool {
    host.replace('\\', "").parse::<Ipv4Addr>().is_ok()
}

impl Prepared {
    /// Reads the files that a scenario names. The registry must know its policy.
    ///
    /// # Errors
    /// If a file cannot be read, or if its content is wrong.
    pub fn new(mut scenario: Scenario, registry: &Registry) -> Result<Self, EmulationError> {
        let begun = kept::now();
        let (mut topology, doubts) = topology(&mut scenario, registry.formats())?;
        let line = registry.line_of(&scenario.hadoop);
        line.inspect(|line| line.equip(&scenario, &mut topology));
        let topology = Arc::new(topology);
        // Take the workload out: `site` borrows the scenario while checksums of files are written
        // into the workload.
        let mut spec = std::mem::take(&mut scenario.workload);
        let submission = spec.submission;
        let class_of = |maps, reduces| scenario.class_of(maps, reduces).unwrap_or_default().into();
        let site = WorkloadSite {
            seed: scenario.seed,
            folder: &scenario.folder,
            hadoop: &scenario.hadoop,
            submission,
            cluster: &scenario.cluster,
            topology: &topology,
            formats: registry.formats(),
            class_of: &class_of,
        };
        let key = key_of(&mut spec);
        let mut workload =
            Workload::new(&mut spec, &site).map_err(|error| NamedTraceError::new(key, error))?;
        // Later jobs are added last, so that the other jobs keep their numbers and thus their
        // random draws.
        workload.add_later(LaterChange::jobs(&scenario.later), &site);
        // Put the workload back, now with the paths and checksums of its files.
        scenario.workload = spec;
        let mut prepared = Self { scenario, topology, workload, doubts, took: Duration::ZERO };
        if let Some(line) = line {
            let Self { scenario, topology, workload, doubts, .. } = &mut prepared;
            let fits = line.check(scenario, topology, workload);
            doubts.extend(fits.map_err(|what| EmulationError::Unfit { what })?);
        }
        prepared.note_slots();
        // Check this before asking the policy: the policy may rely on slots and jobs.
        prepared.check()?;
        prepared.doubts.extend(prepared.ask_policy(registry)?);
        prepared.doubts.extend(prepared.formulas());
        prepared.note_hosts();
        prepared.took = begun.elapsed();
        Ok(prepared)
    }

    /// Notes how many nodes and racks a file with hosts gives: the resolved scenario tells the
    /// cluster that runs. Policies are asked before, as they compare these nodes with the written
    /// ones.
    fn note_hosts(&mut self) {
        let Scenario { cluster, workload, .. } = &mut self.scenario;
        if workload.has_hosts() || cluster.topology.is_some() {
            cluster.nodes = NodeCount::new(self.topology.len()).unwrap_or(cluster.nodes);
            cluster.racks = NodeCount::new(self.topology.racks()).unwrap_or(cluster.racks);
            cluster.groups.clear();
        }
    }

    /// Notes the slots that nodes get in the course of the run.
    fn note_slots(&mut self) {
        let Self { scenario, topology, workload, .. } = self;
        let site = FaultSite { seed: scenario.seed, topology, workload };
        let new: Vec<_> = Effects::of(&scenario.faults, site).new_slots().collect();
        if !new.is_empty() {
            let topology = Arc::make_mut(topology);
            new.into_iter().for_each(|(node, slots)| topology.note_slots(node, slots));
        }
    }

    /// Checks the properties that depend on the content of files. The scenario's own check has
    /// already reported mistakes in the text, with their line numbers.
    fn check(&self) -> Result<(), EmulationError> {
        let unfit = |what: String| Err(EmulationError::Unfit { what });
        if self.workload.arrivals.is_empty() {
            let key = key_of(&mut self.scenario.workload.clone());
            return unfit(format!("{key}: the workload has no job to run; name another file"));
        }
        let (slots, counted) = (self.topology.slots(), self.topology.counted());
        // Most clusters have a few kinds of nodes, and all of their nodes would take long.
        let mut rooms: Vec<Amounts> = Vec::new();
        for (node, _) in self.topology.nodes() {
            let room = self.topology.amounts(node);
            if !rooms.contains(&room) {
                rooms.push(room);
            }
        }
        for job in self.workload.arrivals.iter().map(|arrival| &arrival.spec) {
            for (kind, tasks) in [(SlotKind::Map, job.maps), (SlotKind::Reduce, job.reduces)] {
                // Such a job would never end, and the run would stop only as stalled, hours later.
                let (word, name) = (kind.word(), &job.name);
                if 0 < tasks && slots[kind] == 0 {
                    return unfit(format!("no node has a {word} slot, but `{name}` has {word}s"));
                }
                let asks = job.demand(kind, counted);
                let fits = counted.are_only_slots() || rooms.iter().any(|room| asks.fit_in(*room));
                if 0 < tasks && !fits {
                    let (memory, cores) =
                        (job.memory[kind], counted_of(job.cores[kind].into(), "core"));
                    return unfit(format!(
                        "a {word} of `{name}` asks for {memory} and {cores}, more than any node has"
                    ));
                }
            }
        }
        // Faults may name a job of a batch by its number, so the check needs each batch's size.
        let mut counts = vec![0; self.workload.names.len()];
        for arrival in &self.workload.arrivals {
            counts[arrival.batch.index()] += 1;
        }
        let jobs = self.workload.names.iter().map(String::as_str).zip(counts);
        let known = FaultContext {
            nodes: Some(self.topology.len()),
            racks: Some(self.topology.rack_sizes()),
            topology: Some(&self.topology),
            jobs: Some(jobs.collect()),
            hadoop: Some(&self.scenario.hadoop),
        };
        // The writer node can be checked only after the file of nodes was read.
        if let Placement::Writer(writer) = &self.scenario.cluster.hdfs.placement
            && let Err(message) = writer.find(&self.topology)
        {
            return unfit(format!("cluster.hdfs.placement: {message}"));
        }
        for fault in &self.scenario.faults {
            fault.check(&known).or_else(|problem| unfit(format!("faults: {}", problem.message)))?;
        }
        for later in &self.scenario.later {
            later.check(&known).or_else(|problem| unfit(format!("later: {}", problem.message)))?;
        }
        Ok(())
    }

    /// Returns the facts that a policy may know when its options are checked, those from files
    /// included.
    fn site(&self) -> PolicySite<'_> {
        let jobs = self.workload.arrivals.iter().map(|job| job.spec.expected());
        // A job that changes its pool is expected in both pools.
        let changes = self.scenario.later.iter().filter_map(|later| later.change.as_ref());
        let moved = changes.flat_map(|AlteredJob { job, pool, .. }| {
            let jobs = self.workload.named(job).filter_map(|id| {
                let expected = self.workload.arrivals[id.index()].spec.expected();
                Some(ExpectedJob { pool: Some(pool.as_deref()?), ..expected })
            });
            jobs.collect::<Vec<_>>()
        });
        let slots = self.topology.slots();
        PolicySite {
            nodes: self.topology.len(),
            slots: PerSlot { map: slots.map.into(), reduce: slots.reduce.into() },
            most_slots: self.topology.most_slots(),
            // Use a set, so that a warning about a size of job appears once, not for each of
            // thousands of jobs.
            jobs: jobs.chain(moved).collect::<BTreeSet<_>>().into_iter().collect(),
            ..self.scenario.site()
        }
    }

    /// Returns the policies of the run, in the order in which they take over or read their pools or
    /// queues again.
    fn policies(&self) -> impl Iterator<Item = SchedulerChoice> {
        let first = self.scenario.scheduler.clone();
        let course = LaterChange::course(&self.scenario.later, &first).into_iter();
        std::iter::once(first).chain(course.map(|step| step.choice))
    }

    /// Returns whether the last policy of the run warns that jobs never run or lack slots for ever.
    pub fn foretells_stall(&self, registry: &Registry) -> bool {
        let Some(last) = self.policies().last() else { return false };
        registry.complete(&last, &self.site()).is_ok_and(|completed| completed.foretells_stall)
    }

    /// Asks the policy about the jobs and nodes that come from files. Returns the policy's
    /// warnings, without the warnings that it already gave for the scenario alone.
    fn ask_policy(&self, registry: &Registry) -> Result<Vec<String>, EmulationError> {
        let site = self.site();
        let mut new: Vec<String> = Vec::new();
        for policy in self.policies() {
            let doubts =
                registry.check(&policy, &site)?.into_iter().chain(self.nobody_delayed(&policy));
            // The scenario's own check has already reported the warnings that the choice has.
            let doubts =
                doubts.filter(|doubt| !policy.doubts().contains(doubt) && !new.contains(doubt));
            let doubts: Vec<String> = doubts.collect();
            new.extend(doubts);
        }
        Ok(new)
    }

    /// Returns warnings about names that have a delay of their own, but that no job and no pool has.
    fn nobody_delayed(&self, policy: &SchedulerChoice) -> Vec<String> {
        let Some(options) = policy.options() else { return Vec::new() };
        let DelayedNames { jobs, pools } = options.facts().delayed;
        let specs = || self.workload.arrivals.iter().map(|arrival| &arrival.spec);
        let mut found = strange("jobs", jobs, specs().map(|job| &*job.name));
        let later =
            self.scenario.later.iter().filter_map(|later| later.change.as_ref()?.pool.as_deref());
        found.extend(strange("pools", pools, specs().map(|job| &*job.pool).chain(later)));
        found
    }

    /// Returns a warning about names that a spreadsheet would read as formulas; `None` if there are
    /// no such names.
    fn formulas(&self) -> Option<String> {
        let specs = self.workload.arrivals.iter().map(|arrival| &arrival.spec);
        let names = specs.flat_map(|job| [&job.name, &job.user, &job.pool, &job.class]);
        // Tables keep such names unchanged, since other programs read them, so the user is warned.
        let mut formulas = names.filter(|name| is_formula(name));
        let first = formulas.next()?;
        Some(format!(
            "the name `{first}` is a formula to a spreadsheet; if others wrote it, let the spreadsheet \
             read the tables' columns as text (`mumakil help results`)"
        ))
    }

    /// Adds the words by which expressions can select rows of this run.
    pub fn add_words(&self, known: &mut KnownWords) {
        let specs = || self.workload.arrivals.iter().map(|arrival| &arrival.spec);
        known.extend("name", specs().map(|job| job.name.clone()));
        known.extend("user", specs().map(|job| job.user.clone()));
        known.extend("pool", specs().map(|job| job.pool.clone()));
        let moved = self.scenario.later.iter().filter_map(|later| later.change.as_ref());
        known.extend("pool", moved.filter_map(|change| Some(change.pool.as_deref()?.into())));
        // A class into which no job comes is a class all the same: the scenario names it.
        known.extend("class", self.scenario.classes.keys().map(|class| class.as_str().into()));
        known.extend("class", specs().map(|job| job.class.clone()));
        let labels = self.labels();
        known.extend("node", labels.iter().map(|label| label.node.as_str().into()));
        known.extend("rack", labels.iter().map(|label| label.rack.as_str().into()));
    }

    /// Returns the number of jobs of the workload.
    pub fn jobs(&self) -> u64 {
        self.workload.arrivals.len() as u64
    }

    /// Returns the name of each node and its rack in output files.
    pub fn labels(&self) -> Arc<[NodeLabel]> {
        let mut groups =
            self.scenario.cluster.groups.iter().zip(1..).flat_map(|(group, number)| {
                let name = group.name.clone().unwrap_or_else(|| format!("group-{number}"));
                std::iter::repeat_n(name, group.count.get() as usize)
            });
        // The nodes of groups come first. A topology file has no groups.
        let labels = self.topology.nodes().map(|(id, _)| NodeLabel {
            group: groups.next().unwrap_or_default(),
            ..place(&self.topology, id)
        });
        labels.collect()
    }
}

/// Returns warnings about names in `delay` that no job and no pool has.
fn strange<'n>(group: &str, names: Vec<&str>, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let known: BTreeSet<&str> = known.collect();
    let strange = names.into_iter().filter(|name| !known.contains(name));
    let doubts = strange.map(|name| {
        let hint = nearest(name, known.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("`delay.{group}` names `{name}`, of which there is no job{hint}")
    });
    doubts.collect()
}

/// Returns the key that names the jobs: that of their file, or that of their source.
fn key_of(spec: &mut WorkloadSpec) -> String {
    let source = spec.sources.first().map(|source| format!("workload.{}", source.key()));
    // The first file of a source has the jobs; another one has hosts.
    let file = spec.files_mut().next().map(|(key, _)| key);
    file.or(source).unwrap_or_else(|| "workload".to_owned())
}

/// Returns whether a spreadsheet reads a cell as a formula; a number such as `-1` is no formula.
fn is_formula(cell: &str) -> bool {
    // In Excel and LibreOffice a formula begins with one of these characters (OWASP's list on CSV
    // injection).
    cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err()
}

/// Returns the name of a node and its rack in tables.
fn place(topology: &Topology, id: TrackerId) -> NodeLabel {
    let rack = topology.rack(id);
    match topology.names(id) {
        Some((rack, host)) => {
            NodeLabel { node: host.to_owned(), rack: rack.to_owned(), group: String::new() }
        }
        None => NodeLabel { node: id.to_string(), rack: rack.to_string(), group: String::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario as scenario;

    fn doubts_of(yaml: &str) -> Vec<String> {
        let registry = crate::testing::registry();
        let loaded = scenario::parse("test.yaml", yaml, &[], &registry).unwrap();
        Prepared::new(loaded.scenario, &registry).unwrap().doubts
    }

    fn doubts(name: &str) -> Vec<String> {
        doubts_of(&format!(
            "workload: {{jobs: [{{name: a, user: {name:?}, maps: 1, map_time: 1s}}]}}"
        ))
    }

    #[test]
    fn a_delay_that_concerns_nobody_is_doubted() {
        let doubts = |delay: &str| {
            doubts_of(&format!(
                "scheduler: {{fair: {{delay: {delay}}}}}\nlater: [{{at: 1s, change: {{job: probe, pool: lab}}}}]\n\
                 workload: {{jobs: [{{name: probe, count: 2, user: ann, maps: 1, map_time: 9s}}]}}"
            ))
        };
        let own = |name: &str| format!("{{{name}: {{w1: 1s, w2: 1s}}}}");
        for (group, name) in [("jobs", "probe-2"), ("pools", "ann"), ("pools", "lab")] {
            let found = doubts(&format!("{{{group}: {}}}", own(name)));
            assert_eq!(found, [""; 0], "{group}: {name}");
        }
        assert_eq!(
            doubts(&format!("{{jobs: {}, pools: {}}}", own("probe"), own("bob"))),
            [
                "`delay.jobs` names `probe`, of which there is no job; did you mean `probe-1`?",
                "`delay.pools` names `bob`, of which there is no job",
            ]
        );
    }

    #[test]
    fn names_that_a_spreadsheet_computes_are_doubted_and_numbers_are_not() {
        for name in ["=1+1", "+A1", "-A1", "@sum(A1)", "\tb", "=HYPERLINK(\"x\")"] {
            let found = doubts(name);
            assert!(found[0].starts_with(&format!("the name `{name}` is a formula")), "{found:?}");
        }
        for name in ["ann", "-1.5", "+3e4", "a=b", "x-1"] {
            assert_eq!(doubts(name), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn jobs_of_a_mix_are_classed_by_the_scenario_before_their_types() {
        let classes = |more: &str| {
            let registry = crate::testing::registry();
            let types = "{a: {count: 1, maps: 1}, b: {count: 1, maps: 9}, c: {count: 1, maps: 1, class: own}}";
            let yaml = format!("workload: {{mix: {{types: {types}}}}}\n{more}");
            let loaded = scenario::parse("test.yaml", &yaml, &[], &registry).unwrap();
            let jobs = Prepared::new(loaded.scenario, &registry).unwrap().workload.arrivals;
            let class = |job: &mumakil_scenario::workload::Arrival| job.spec.class.to_string();
            jobs.iter().map(class).collect::<BTreeSet<_>>()
        };
        let set = |classes: [&str; 3]| classes.map(str::to_owned).into();
        assert_eq!(classes(""), set(["a", "b", "own"]));
        assert_eq!(
            classes("classes: {small: maps <= 2, large: true}"),
            set(["small", "large", "own"])
        );
    }
}
