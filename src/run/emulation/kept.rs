//! A run whose results, scenario and cost are kept in a folder.

use std::time::{Duration, Instant};

use super::{Emulated, EmulationError, Options, Prepared};
use crate::output::report::RunReport;
use crate::output::results::RunResults;
use crate::output::{Digest, RunFolder, write_perf};
use crate::record::{alone_table, chains_table, sizes_table};
use mumakil_base::files::{EXPECTATIONS, REPORT};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{AutoSpan, StopReason};
use mumakil_draw::page::HtmlPage;
use mumakil_results::expect::{Expectation, ExpectationVerdict, Expr, Space};
use mumakil_scenario::workload::{Submission, SubmissionWay};
use mumakil_scenario::{ClockSpec, Registry, SchedulerChoice};

/// A run whose results are in a folder.
#[derive(Debug)]
pub struct KeptRun {
    /// The results of the run, apart from its files.
    pub emulated: Emulated,
    /// The digest of the result files.
    pub digest: Digest,
    /// The reason for the end of the second run, which measures how long each job takes alone;
    /// `None` if there was no second run.
    pub alone: Option<StopReason>,
    /// The verdicts on the scenario's expectations.
    pub verdicts: Vec<ExpectationVerdict>,
    /// How long the first run took, in real time.
    pub real: Duration,
}

impl KeptRun {
    /// Returns why `alone.csv` lacks some jobs; `None` if it is complete or was not asked for.
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
        let (transport, limit) = (options.transport, options.time_limit);
        let mut options = Options { folder: Some(folder.path().to_owned()), ..options };
        if self.scenario.record.chains {
            options.watchers.push(chains_table(folder.path(), self.workload.chains())?);
        }
        if self.scenario.record.sizes {
            options.watchers.push(sizes_table(folder.path())?);
        }
        let emulated = self.emulate(registry, options)?;
        // Measure this before the second run: `perf.json` states the cost of the first run only.
        let real = began.elapsed();
        let mut alone = None;
        if self.scenario.record.alone {
            let watchers = vec![alone_table(folder.path())?];
            // Both runs share the user's time limit.
            let time_limit = limit.map(|limit| limit.saturating_sub(real));
            // No folder, progress or checker: this run only fills `alone.csv`.
            let options = Options { watchers, time_limit, transport, ..Options::default() };
            alone = Some(self.alone(registry)?.emulate(registry, options)?.stop);
        }
        folder.write_scenario(&self.scenario.to_yaml())?;
        let verdicts = self.judge(folder)?;
        // Keep this order: the digest covers the verdicts, and the report shows the digest.
        let digest = Digest::of(folder.path())?;
        if self.scenario.record.report {
            folder.write(
                REPORT,
                self.report(folder, registry, &emulated, &verdicts, digest)?.html(),
            )?;
        }
        let Emulated { summary, decision_time, external_work, .. } = &emulated;
        // Write `perf.json` last: the digest leaves it out, since wall times differ from run to
        // run.
        write_perf(folder, real, summary.messages, decision_time, *external_work)?;
        Ok(KeptRun { emulated, digest, alone, verdicts, real })
    }

    /// Judges the expectations from the files in the folder, and writes the verdicts.
    fn judge(&self, folder: &RunFolder) -> Result<Vec<ExpectationVerdict>, EmulationError> {
        let results = RunResults::new(folder.path());
        let judge = |expected: &Expectation| {
            let plan = Expr::parse(&expected.that)
                .and_then(|expr| expr.expectation(&Space::default()))
                // The scenario's check parsed each expectation before the run, so each is valid
                // here.
                .expect("the scenario was checked");
            plan.verdict(&results, expected)
        };
        let expect = &self.scenario.expect;
        let verdicts = expect.iter().map(judge).collect::<Result<Vec<_>, _>>()?;
        if !verdicts.is_empty() {
            let told = verdicts.iter().zip(expect).map(|(found, of)| found.to_json(of));
            folder.write_json(EXPECTATIONS, &told.collect::<Vec<_>>())?;
        }
        Ok(verdicts)
    }

    /// Returns the report of the run.
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

    /// Returns a run of the same jobs, one after the other, on a cluster that is otherwise idle.
    fn alone(&self, registry: &Registry) -> Result<Self, EmulationError> {
        let mut scenario = self.scenario.clone();
        scenario.workload.submission = Submission::Serial;
        scenario.workload.warm_start = None;
        // With one job at a time all policies choose the same job. But some policies hold slots
        // back, for example for locality; the default policy does not.
        scenario.scheduler = SchedulerChoice::default();
        // A scaled clock would add its lag and take hours.
        scenario.clock = ClockSpec::Virtual;
        // Slowdown is measured against an undisturbed cluster on which every job runs to its end.
        scenario.faults.clear();
        scenario.until = None;
        // `alone.csv` has all jobs, so there is no warm-up to find.
        scenario.record.warm_up = AutoSpan::Fixed(SimSpan::ZERO);
        // The jobs of `later` need a row in `alone.csv` too, but its changes of policy do not
        // apply.
        scenario.later.retain(|later| later.submit.is_some());
        let mut alone = Self::new(scenario, registry)?;
        for arrival in &mut alone.workload.arrivals {
            // Jobs with an instant of submission also wait until the job before them has ended.
            arrival.way = SubmissionWay::Paced;
        }
        Ok(alone)
    }
}

#[expect(clippy::disallowed_methods, reason = "users wait by the wall clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let registry = Registry::builtin();
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
        for section in ["Expectations", "Sojourn", "Slots", "Locality", "Latency", "Jobs"] {
            assert!(report.contains(&format!("{section}</h2>")), "{section}");
        }
    }

    #[test]
    fn a_time_limit_holds_for_the_jobs_one_after_the_other_too() {
        let registry = Registry::builtin();
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
