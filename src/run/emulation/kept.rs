//! A run whose results, scenario and cost are kept in a folder.

use std::path::Path;
use std::time::{Duration, Instant};

use super::{Emulated, EmulationError, Options, Prepared};
use crate::output::report::RunReport;
use crate::output::results::RunResults;
use crate::output::{Digest, RunChecksums, RunFolder, prometheus_text, write_perf};
use crate::record::{RecordError, Watcher, nodes_table, shares_table};
use mumakil_base::files::{EXPECTATIONS, METRICS, REPORT};
use mumakil_core::mapred::StopReason;
use mumakil_draw::page::HtmlPage;
use mumakil_results::expect::{ExpectationVerdict, Expr, Space};
use mumakil_scenario::{ClockSpec, Registry};

/// A run whose results are in a folder.
#[derive(Debug)]
pub struct KeptRun {
    /// The results of the run, apart from its files.
    pub emulated: Emulated,
    /// The digest of the result files.
    pub digest: Digest,
    /// The reason for the end of the second run, which measures how long each job takes alone;
    /// `None` if there was no second run, or if its times were known.
    pub alone: Option<StopReason>,
    /// The verdicts on the scenario's expectations.
    pub verdicts: Vec<ExpectationVerdict>,
    /// How long the first run took, in real time.
    pub real: Duration,
    /// The main causes, in sentences; empty without a report.
    pub gist: Vec<String>,
}

impl KeptRun {
    /// Returns why `jobs.csv` lacks the times alone of some jobs; `None` if it has all or was not
    /// asked for them.
    pub fn lacks_alone(&self) -> Option<&'static str> {
        match &self.alone {
            None | Some(StopReason::Done | StopReason::TimeUp) => None,
            Some(StopReason::Stalled(_)) => {
                Some("it stalled when its jobs ran a second time, one after the other")
            }
            Some(StopReason::TimeLimit) => Some(
                "it took as long as --time-limit allows before its jobs had run a second time, one after \
                 the other",
            ),
        }
    }
}

impl Prepared {
    /// Runs the scenario and fills a folder with its results. The caller commits the folder.
    ///
    /// # Errors
    /// As [`super::emulate`], or if the folder cannot be written.
    pub fn fill(
        &self,
        folder: &RunFolder,
        registry: &Registry,
        options: Options,
    ) -> Result<KeptRun, EmulationError> {
        let began = now();
        let name = options.name_in_study.clone();
        let (transport, limit, known) =
            (options.transport, options.time_limit, options.alone.clone());
        let mut options = Options { folder: Some(folder.path().to_owned()), ..options };
        if self.scenario.record.by_node {
            options.watchers.push(self.nodes_table(folder.path())?);
        }
        if self.scenario.record.shares {
            options.watchers.push(shares_table(folder.path())?);
        }
        let emulated = self.emulate(registry, options)?;
        // Measure this before the second run: `perf.json` states the cost of the first run only.
        let real = began.elapsed();
        let mut alone = None;
        if self.scenario.record.alone {
            // Both runs share the user's time limit.
            let time_limit = limit.map(|limit| limit.saturating_sub(real));
            // No folder, progress or checker: this run only measures times.
            let options = Options { time_limit, transport, ..Options::default() };
            alone = self.time_alone(folder, registry, options, &known)?;
        }
        folder.write_scenario(&self.scenario.to_yaml())?;
        let verdicts = self.judge(folder)?;
        if self.scenario.record.prometheus {
            let latencies = RunResults::new(folder.path()).histograms(|_| true)?;
            folder.write(METRICS, prometheus_text(&emulated.summary, &latencies))?;
        }
        // Keep this order: the digest covers the verdicts, and the report shows the digest.
        let sums = RunChecksums::of(folder.path(), name)?;
        let digest = sums.0;
        let mut gist = Vec::new();
        if self.scenario.record.report {
            let page = self.report(folder, registry, &emulated, &verdicts, digest)?;
            folder.write(REPORT, page.html())?;
            gist = page.gist;
        }
        let Emulated { summary, decision_time, external_work, .. } = &emulated;
        // The digest leaves `perf.json` out, since wall times differ from run to run.
        write_perf(folder, real, summary.messages, decision_time, *external_work, &sums)?;
        Ok(KeptRun { emulated, digest, alone, verdicts, real, gist })
    }

    /// Creates `nodes.csv` in a folder.
    pub fn nodes_table(&self, folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
        nodes_table(folder, self.labels(), self.topology.clone())
    }

    /// Judges the expectations from the files in the folder, and writes the verdicts.
    fn judge(&self, folder: &RunFolder) -> Result<Vec<ExpectationVerdict>, EmulationError> {
        let results = RunResults::new(folder.path());
        let expect = &self.scenario.expect;
        let judged = expect.iter().map(|expected| {
            let plan = Expr::parse(&expected.that)
                .and_then(|expr| expr.expectation(&Space::default()))
                // The scenario's check parsed each expectation before the run, so each is valid
                // here.
                .expect("the scenario was checked");
            plan.verdict(&results, expected)
        });
        let verdicts = judged.collect::<Result<Vec<_>, _>>()?;
        if !verdicts.is_empty() {
            let told = verdicts.iter().zip(expect).map(|(found, of)| found.to_json(of));
            folder.write_json(EXPECTATIONS, &told.collect::<Vec<_>>())?;
        }
        Ok(verdicts)
    }

    fn report(
        &self,
        folder: &RunFolder,
        registry: &Registry,
        emulated: &Emulated,
        verdicts: &[ExpectationVerdict],
        digest: Digest,
    ) -> Result<HtmlPage, EmulationError> {
        let left_out = self.workload.left_out.iter().map(ToString::to_string);
        let warnings = emulated.warnings.iter().map(ToString::to_string).chain(left_out);
        let is_virtual = self.scenario.clock == ClockSpec::Virtual;
        // On a scaled clock no other run has the same bytes, so a digest would promise too much.
        let digest = is_virtual.then(|| digest.to_string());
        let report = RunReport {
            scenario: &self.scenario,
            registry,
            topology: &self.topology,
            labels: &self.labels(),
            summary: &emulated.summary,
            results: &RunResults::new(folder.path()),
            verdicts,
            warnings: &warnings.collect::<Vec<_>>(),
            digest: digest.as_deref(),
        };
        Ok(report.page()?)
    }
}

#[expect(clippy::disallowed_methods, reason = "users wait by the wall clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mumakil_results::expect::VerdictState;

    use tempfile::TempDir;

    use super::*;
    use mumakil_scenario as scenario;

    const ONE_JOB: &str = "
cluster: {nodes: 3}
workload: {jobs: [{name: a, maps: 9, reduces: 2, map_time: 20s, reduce_time: 10s}]}
expect: [makespan > 0s]
";

    /// Keeps a run of the scenario with the override `set`; returns its report and its digest.
    fn keep(set: &str) -> (Option<String>, String) {
        let registry = crate::testing::registry();
        let sets = [set.to_owned()];
        let scenario = scenario::parse("test.yaml", ONE_JOB, &sets, &registry).unwrap().scenario;
        let room = TempDir::new().unwrap();
        let folder = RunFolder::create(&room.path().join("run"), false);
        let folder = folder.unwrap();
        let prepared = Prepared::new(scenario, &registry).unwrap();
        let kept = prepared.fill(&folder, &registry, Options::default()).unwrap();
        (fs::read_to_string(folder.path().join(REPORT)).ok(), kept.digest.to_string())
    }

    #[test]
    fn a_report_is_the_same_again_and_names_the_digest() {
        let (report, digest) = keep("record.report=true");
        assert_eq!(keep("record.report=true"), (report.clone(), digest.clone()));
        let report = report.unwrap();
        assert!(report.contains(&digest));
        for section in ["Expectations", "Slots", "Locality", "Latency", "Jobs"] {
            assert!(report.contains(&format!("{section}</h2>")), "{section}");
        }
    }

    /// Two jobs on nodes of which one goes off between them, so that its blocks are copied again.
    const UNLIKE: &str = "
cluster: {nodes: 6, racks: 2, map_slots: 1, groups: [{count: 2, racks: 1}]}
workload:
  jobs:
    - {name: a, maps: 12, input: 1536MiB, reduces: 3, shuffle: 600MB, map_time: 20s, reduce_time: 10s, user: ann}
    - {name: b, submit: 30min, maps: 12, input: 1536MiB, map_time: 20s, user: bob}
expect:
  - sum(input.node) + sum(input.rack) + sum(input.off_rack) == 3GiB
  - sum(shuffle.node) + sum(shuffle.rack) + sum(shuffle.off_rack) within 10B of 600MB
  - sum(node.attempts) == attempts
  - sum(node.busy.map) / sum(node.slot_time.map) within 0.01 points of utilisation.map
  - sum(node.attempts, group=group-1) + sum(node.attempts, rack=[rack-1, rack-2]) == attempts
  - sum(copies.rack) + sum(copies.off_rack) > 1GiB
  - max(attempt.maps_wait) > 5s
  - sum(copies.off_rack, node=node-6) == 0
faults: [{at: 2min, stop: node-6}]
";

    /// A third node that stops after a minute, and a first one that is dearer than the others.
    const PRICED: &str = "
hadoop: {setup_cleanup: false}
cluster:
  nodes: 3
  watts: {idle: 100, slot: 10}
  price: 0.5
  groups: [{count: 1, watts: {idle: 200, slot: 50}, price: 2}]
workload:
  jobs:
    - {name: a, user: ann, maps: 12, input: 0, map_time: 50s}
    - {name: b, user: bob, maps: 4, reduces: 2, input: 0, map_time: 30s, reduce_time: 20s}
record: {expenses: true, waste: true}
faults: [{at: 1min, stop: node-3}]
expect:
  - cost within 0.0001 of 2.5 * virtual / 1h + 0.5 / 60
  - energy within 0.0001 of (300 * virtual / 1h + 100 / 60
    + 50 * (sum(node.busy.map, node=node-1) + sum(node.busy.reduce, node=node-1)) / 1h
    + 10 * (sum(node.busy.map, node=[node-2, node-3]) + sum(node.busy.reduce, node=[node-2, node-3])) / 1h) / 1000
  - sum(node.energy) within 0.0001 of energy
  - sum(node.cost) within 0.0001 of cost
  - sum(node.cost, node=node-3) within 0.0001 of 0.5 / 60
  - sum(job.energy) within 0.0001 of energy
  - sum(job.cost, user=ann) within 0.0001 of cost * sum(held, user=ann) / sum(held)
";

    #[test]
    fn a_run_costs_what_its_nodes_do_and_jobs_share_it_by_their_slot_time() {
        assert_all_hold(PRICED);
    }

    #[test]
    fn bytes_and_slot_time_by_node_add_up_to_those_of_the_run() {
        let folder = assert_all_hold(UNLIKE);
        let report = fs::read_to_string(folder.path().join("run").join(REPORT)).unwrap();
        for table in ["By user", "What the nodes did, by group", "What the nodes did, by rack"] {
            assert!(report.contains(table), "{table}");
        }
    }

    /// Runs a scenario whose expectations must hold, and returns the folder around its results.
    fn assert_all_hold(scenario: &str) -> TempDir {
        let registry = crate::testing::registry();
        let scenario = scenario::parse("test.yaml", scenario, &[], &registry).unwrap().scenario;
        let room = TempDir::new().unwrap();
        let folder = RunFolder::create(&room.path().join("run"), false).unwrap();
        let prepared = Prepared::new(scenario, &registry).unwrap();
        let kept = prepared.fill(&folder, &registry, Options::default()).unwrap();
        for (verdict, of) in kept.verdicts.iter().zip(&prepared.scenario.expect) {
            assert_eq!(verdict.state, VerdictState::Holds, "{}: {verdict:?}", of.that);
        }
        folder.commit().unwrap();
        room
    }

    #[test]
    fn a_time_limit_holds_for_the_jobs_one_after_the_other_too() {
        let registry = crate::testing::registry();
        // The job has so many heartbeats that both runs check the wall clock.
        let sets = ["record.alone=true", "workload.jobs[0].map_time=10h"].map(str::to_owned);
        let scenario = scenario::parse("test.yaml", ONE_JOB, &sets, &registry).unwrap().scenario;
        let prepared = Prepared::new(scenario, &registry).unwrap();
        let room = TempDir::new().unwrap();
        let keep = |time_limit, name: &str| {
            let folder = RunFolder::create(&room.path().join(name), false).unwrap();
            let options = Options { time_limit, ..Options::default() };
            prepared.fill(&folder, &registry, options).unwrap()
        };
        assert_eq!(keep(None, "long").lacks_alone(), None);
        let kept = keep(Some(Duration::ZERO), "short");
        assert_eq!(kept.alone, Some(StopReason::TimeLimit));
        assert!(kept.lacks_alone().unwrap().contains("--time-limit"));
    }

    #[test]
    fn the_time_to_build_the_jobs_counts_for_the_time_limit() {
        let registry = crate::testing::registry();
        let sets = ["workload.jobs[0].map_time=10h".to_owned()];
        let scenario = scenario::parse("test.yaml", ONE_JOB, &sets, &registry).unwrap().scenario;
        let mut prepared = Prepared::new(scenario, &registry).unwrap();
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let stop = |prepared: &Prepared| {
            let options = Options { time_limit: Some(minutes(10)), ..Options::default() };
            prepared.emulate(&registry, options).unwrap().stop
        };
        assert_eq!(stop(&prepared), StopReason::Done);
        prepared.took = minutes(11);
        assert_eq!(stop(&prepared), StopReason::TimeLimit);
    }

    #[test]
    fn a_trace_that_cannot_be_used_is_named_by_its_key() {
        let registry = crate::testing::registry();
        let room = TempDir::new().unwrap();
        let error = |name: &str, text: &str| {
            let path = room.path().join(name);
            fs::write(&path, text).unwrap();
            let yaml = format!("workload: {{jobs: {}}}", path.display());
            let scenario = scenario::parse("test.yaml", &yaml, &[], &registry).unwrap().scenario;
            Prepared::new(scenario, &registry).map(drop).unwrap_err().to_string()
        };
        let wrong = error("wrong.csv", "name,maps,map_time\na,x,1s\n");
        assert!(wrong.ends_with("\n  in `workload.jobs` of the scenario"), "{wrong}");
        let empty = error("empty.csv", "name,maps,map_time\n");
        assert!(empty.contains("workload.jobs"), "{empty}");
    }

    #[test]
    fn a_run_can_do_without_a_report() {
        let (report, digest) = keep("record.report=false");
        assert_eq!((report, digest), (None, keep("record.report=true").1));
    }

    #[test]
    fn a_report_shows_what_was_recorded_and_no_more() {
        let record = "record={tasks: false, timeline: false, histograms: false}";
        let report = keep(record).0.unwrap();
        assert!(!report.contains("Latency</h2>") && !report.contains("Slots</h2>"));
    }
}
