//! `mumakil predict`: a log, replayed on the cluster that it shows, and the error of that.
//!
//! ```text
//! log ─► LogReading ─► fit ─► cluster.yaml ─► replays ─┬─► errors: each job logged and predicted
//!          first jobs                                 │
//!  + --known                    + --set ─► what-if ─────┴─► its mean, with the error as a band
//! ```
//! Each replay is made with several seeds. The first is kept as a run; of the others, the jobs count.

mod errors;
mod page;
mod sides;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::errors::{ErrorBands, ErrorSizes, PARTS, error, error_of, judged, logged_rows};
use crate::cluster::{InferredSetting, LogReading, LoggedCluster};
use crate::fit::{Fit, FitSite};
use crate::replay::{SeedRun, SeededJobs, in_parallel};
use crate::trace_cluster::write_cluster;
use mumakil_base::statistics::mean;
use mumakil_base::units::tell::{counted, span};
use mumakil_base::units::{Fraction, SimSpan};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::open::OpenOption;
use mumakil_cli::progress::{RunBar, StudyBar};
use mumakil_cli::source::{self, Overrides};
use mumakil_cli::table::lines_of;
use mumakil_cli::{Program, file, interrupt, run, terminal};
use mumakil_compare::{JobPair, JobPairs};
use mumakil_core::trace::Strictness;
use mumakil_results::tables::{JobRow, RunJobs};
use mumakil_run::emulation::{Options, Prepared};
use mumakil_run::output::results::RunResults;
use mumakil_run::output::{AsideFolder, Digest, ReplacedFiles, RunFolder, check_runs};
use mumakil_scenario::{Draft, Registry, Warning};
use mumakil_yaml::Path as Address;

/// The files and folders of a prediction.
const CLUSTER: &str = "cluster.yaml";
const TOPOLOGY: &str = "cluster-topology.json";
const REPLAY: &str = "replay";
const WHAT_IF: &str = "what-if";
const PAGE: &str = "prediction.html";

/// The mean error above which a prediction warns of itself.
// Chosen: real runs differ from their own repetitions by half of it.
const LARGE_ERROR: f64 = 0.15;

/// The most rows of a table that are printed; jobs come with the worst first.
const MOST_ROWS: usize = 10;

/// Replay a log, tell the error, and ask what would have been
///
/// The first jobs of the log show the cluster, as with `mumakil trace cluster`. All jobs are
/// replayed on it, under the policy of the time. The jobs that were held back judge the prediction:
/// each job's sojourn, and its parts, in the log and in the replay. With --set, the jobs run once
/// more, with other settings, and the error of the prediction goes with the answer. Settings of nodes,
/// racks or groups take the place of the log's hosts, which then stand for the nodes in turn.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil predict history/done
  mumakil predict jobs.json.gz --split 70%
  mumakil predict history/done --known scheduler.fair.allocations=fair-scheduler.xml
  mumakil predict history/done --set scheduler=fair
  mumakil predict history/done --set cluster.nodes=40
  mumakil predict history/done --json > errors.json

Exit codes:
  0  done, however large the error
  1  a run failed, or no job could be judged
  2  the log or the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct PredictArguments {
    /// A job history of Hadoop (a file, or a folder of them), or a job trace of Rumen
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The share of the jobs, from the first one on, that shows the cluster; the others judge. With
    /// 100%, all jobs do both
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    split: Fraction,
    /// Say what the log does not hold, such as scheduler.fair.allocations=fair-scheduler.xml: for the
    /// replay that is judged, and for the second run
    #[arg(long, value_name = "PATH=VALUE")]
    known: Vec<String>,
    /// Set a value for a second run, such as scheduler=fair
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
    /// The seed of the first replay
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many replays there are, each with the next seed: a job's prediction is the mean of them.
    /// The first one is kept as a run
    #[arg(long, value_name = "NUMBER", default_value = "20")]
    seeds: NonZero<u16>,
    /// The folder for the cluster, the runs and the page [default: out/LOG-predict]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace an earlier prediction; never anything else
    #[arg(long)]
    force: bool,
    /// Leave broken jobs out instead of stopping at the first
    #[arg(long)]
    lenient: bool,
    /// The real time that each run may take, such as 10min; a run that takes longer has no results
    #[arg(long, value_name = "TIME")]
    time_limit: Option<SimSpan>,
    /// Print the errors as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    open: OpenOption,
}

/// A log that was replayed.
struct Prediction<'a> {
    reading: LogReading,
    /// The jobs that succeeded in the log and in the replay, in the order of their submission.
    jobs: Vec<JobPair<'a>>,
    /// How many of these jobs, from the first one on, the cluster was inferred from; the others were
    /// held back.
    calibrating: usize,
    replayed: &'a SeededJobs,
    what_if: Option<OtherSettings>,
}

/// A second run with other settings.
struct OtherSettings {
    sets: Vec<String>,
    /// How many nodes it has in place of the hosts of the log; `None` if it has these hosts.
    nodes: Option<u32>,
    /// Whether its results are those of the replay, byte by byte.
    is_same: bool,
    jobs: SeededJobs,
    bands: ErrorBands,
}

/// The replays of a prediction.
struct PredictedRuns {
    /// The digest of the first one.
    digest: Digest,
    jobs: SeededJobs,
}

impl PredictArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let strictness = Strictness::of(self.lenient);
        let mut reading = LogReading::read(&self.log, self.split.get(), strictness)?;
        reading.cluster.missing.retain(|fact| !self.known.iter().any(|set| fact.is_told_by(set)));
        let file = self.log.file_name().unwrap_or_default().to_string_lossy();
        let name = file.split('.').next().unwrap_or_default();
        let out = self.out.clone().unwrap_or_else(|| format!("out/{name}-predict").into());
        let bar = RunBar::default();
        interrupt::guard_results(&bar);
        let over = match self.force {
            true => ReplacedFiles::Checked(|there| {
                check_runs(there, &[REPLAY, WHAT_IF], &[CLUSTER, TOPOLOGY, PAGE])
            }),
            false => ReplacedFiles::Nothing,
        };
        let folder = AsideFolder::create(&out, over)?;
        let file = folder.path().join(CLUSTER);
        write_cluster(&file, &self.log, &reading.cluster, self.lenient, true)?;
        // Prepare both runs before the first begins: a mistake in a setting is told at once.
        let (mut replay, mut what_if, mut warnings) =
            self.prepare_both(&reading.cluster, &folder, registry)?;
        let fitted = self.fit(&reading, &replay, &folder, registry);
        if !fitted.is_empty() {
            reading.cluster.fit(fitted);
            write_cluster(&file, &self.log, &reading.cluster, self.lenient, true)?;
            (replay, what_if, warnings) = self.prepare_both(&reading.cluster, &folder, registry)?;
        }
        terminal::warn_all(&warnings, self.json);
        replay.workload.left_out.iter().for_each(|part| terminal::warn(part));
        let replayed = self.replay(&replay, &folder.path().join(REPLAY), &bar, registry)?;
        let logged = logged_rows(&reading.times);
        let JobPairs(jobs) = judged(&logged, &replayed.jobs.means);
        let calibrating = jobs.iter().filter(|job| job.places[0] < reading.calibrating).count();
        let mut prediction =
            Prediction { reading, jobs, calibrating, replayed: &replayed.jobs, what_if: None };
        let bands = ErrorBands::of(prediction.judges()).ok_or_else(|| {
            Failure::run("no job that judges the prediction succeeded in the log and in the replay")
        })?;
        if let Some(prepared) = what_if {
            let run = self.replay(&prepared, &folder.path().join(WHAT_IF), &bar, registry)?;
            let has_hosts = prepared.scenario.workload.has_hosts();
            prediction.what_if = Some(OtherSettings {
                sets: self.sets.clone(),
                nodes: (!has_hosts).then(|| prepared.topology.len()),
                is_same: run.digest == replayed.digest,
                jobs: run.jobs,
                bands,
            });
        }
        let page = page::of(&self.log, &prediction).html();
        file::write(&folder.path().join(PAGE), false, |to| to.write_all(page.as_bytes()))?;
        let out = folder.put()?;
        self.open.show(&out.join(PAGE));
        if self.json {
            let text = serde_json::to_string_pretty(&prediction.json()).expect("text and numbers");
            return Ok(terminal::print_file(&format!("{text}\n"))?);
        }
        // The cluster and the charts are on the page.
        let gist = page::gist(&prediction).into_iter();
        let mut lines: TerminalLines =
            gist.map(|sentence| TerminalLines::of(format!("  {sentence}"))).sum();
        lines += lines_of(&page::sections(&prediction), MOST_ROWS);
        lines.line(format!("wrote {} (start with {PAGE})", out.display()));
        Ok(terminal::print(&lines)?)
    }

    /// Returns the scenarios of the replays and of the second run, if there is one, and warnings.
    fn prepare_both(
        &self,
        cluster: &LoggedCluster,
        folder: &AsideFolder,
        registry: &Registry,
    ) -> Result<(Prepared, Option<Prepared>, Vec<Warning>), Failure> {
        let (replay, mut warnings) = self.prepare(cluster, folder, &[], registry)?;
        if self.sets.is_empty() {
            return Ok((replay, None, warnings));
        }
        let (what_if, more) = self.prepare(cluster, folder, &self.sets, registry)?;
        warnings.extend(more);
        Ok((replay, Some(what_if), warnings))
    }

    /// Returns the scenario of the cluster with some settings, ready to run. It names files where
    /// they will be once the folder has its name.
    fn prepare(
        &self,
        cluster: &LoggedCluster,
        folder: &AsideFolder,
        sets: &[String],
        registry: &Registry,
    ) -> Result<(Prepared, Vec<Warning>), Failure> {
        let topology = std::path::absolute(folder.path().join(TOPOLOGY))
            .map_err(|error| file::cannot(folder.path(), error))?;
        let draft = self.draft(cluster, &topology, folder, sets)?;
        let loaded = draft.resolve_with_files(registry)?;
        let mut prepared = source::prepare(&draft, loaded.scenario, registry)?;
        for (_, file) in prepared.scenario.keyed_files_mut().filter(|(_, it)| it.path == topology) {
            file.path = folder.target().join(TOPOLOGY);
        }
        Ok((prepared, loaded.warnings))
    }

    /// Returns the text of the scenario of the cluster with some settings.
    fn draft(
        &self,
        cluster: &LoggedCluster,
        topology: &Path,
        folder: &AsideFolder,
        sets: &[String],
    ) -> Result<Draft, Failure> {
        let file = folder.target().join(CLUSTER);
        let log = std::path::absolute(&self.log).map_err(|error| file::cannot(&file, error))?;
        let text = cluster.scenario("cluster", &log, topology, self.lenient);
        let plain = Draft::of(&file.display().to_string(), &text)?;
        let mut draft = plain.clone();
        self.put_over(sets, &mut draft);
        if let Some(others) = without_hosts(&draft, cluster) {
            draft = plain;
            others.iter().for_each(|set| draft.set(&format!("the log's {set}"), set));
            self.put_over(sets, &mut draft);
        }
        Ok(draft)
    }

    /// Returns the settings that the log lacks, as they fit its first jobs best.
    fn fit(
        &self,
        reading: &LogReading,
        replay: &Prepared,
        folder: &AsideFolder,
        registry: &Registry,
    ) -> Vec<InferredSetting> {
        let bar = StudyBar::new("try", self.json);
        let told = self.known.iter().filter_map(|set| Some(set.split_once('=')?.0));
        let site = FitSite {
            prepared: replay,
            cluster: &reading.cluster,
            jobs: &reading.times[..reading.calibrating],
            registry,
            told: told.collect(),
            bar: &bar,
        };
        let found = Fit::of(site).map(|fit| {
            fit.search(&|settings| {
                let mut cluster = reading.cluster.clone();
                cluster.fit(settings.to_vec());
                let draft = self.draft(&cluster, Path::new(TOPOLOGY), folder, &[]).ok()?;
                Some(draft.resolve(registry).ok()?.scenario.scheduler)
            })
        });
        bar.clear();
        found.unwrap_or_default()
    }

    fn put_over(&self, sets: &[String], draft: &mut Draft) {
        self.known.iter().for_each(|set| draft.set(&format!("--known {set}"), set));
        Overrides { sets: sets.to_vec(), seed: self.seed, clock: None }.put_over(draft);
    }

    /// Runs a scenario with each seed; returns its jobs. The first run is kept.
    fn replay(
        &self,
        prepared: &Prepared,
        target: &Path,
        bar: &RunBar,
        registry: &Registry,
    ) -> Result<PredictedRuns, Failure> {
        let folder = RunFolder::create(target, false)?;
        let progress = Some(bar.watch(&prepared.scenario, prepared.jobs()));
        let time_limit = self.time_limit.map(run::real);
        let options = Options { progress, time_limit, ..Options::default() };
        let kept = prepared.fill(&folder, registry, options);
        bar.clear();
        let kept = kept?;
        run::verdict(prepared, &kept.emulated)?;
        let results = RunResults::new(folder.commit()?);
        let first = RunJobs::read(&results).map_err(|error| Failure::Environment(error.into()))?;
        let others = StudyBar::new("replay", self.json);
        let seed = prepared.scenario.seed;
        let runs = in_parallel(usize::from(self.seeds.get()) - 1, &others, |run| {
            let options = Options { time_limit, ..Options::default() };
            SeedRun::of(prepared, seed.wrapping_add(run as u64 + 1), registry, options)
        });
        others.clear();
        let runs: Result<Vec<_>, Failure> = runs.into_iter().map(|run| Ok(run?.jobs)).collect();
        let all = [vec![first.all], runs?].concat();
        Ok(PredictedRuns { digest: kept.digest, jobs: SeededJobs::of(&all) })
    }
}

/// Returns settings that leave the topology of a log out, if a draft of its cluster has other nodes,
/// racks or groups, which a topology would replace. Of nodes and racks, those that the draft does
/// not set stay the log's. `None` if the draft sets none of them, or a topology of its own.
fn without_hosts(draft: &Draft, cluster: &LoggedCluster) -> Option<Vec<String>> {
    let topology = Address::of("workload.rumen.topology");
    let said = |path: &str| Address::of(path).get(draft.tree());
    let is_preset =
        said("cluster").is_some_and(|it| it.is_string()) || said("cluster.preset").is_some();
    let keys = ["cluster.nodes", "cluster.racks", "cluster.groups"];
    let is_other = is_preset || keys.into_iter().any(|key| said(key).is_some());
    let has_hosts = said("workload.rumen.topology").is_some_and(|it| !it.is_null());
    if has_hosts && (draft.argued(&topology).is_some() || !is_other) {
        return None;
    }
    let of_log = |path: &str| {
        let setting = cluster.settings.iter().find(|one| one.path == path);
        setting.and_then(|one| one.value.parse::<u64>().ok()).unwrap_or(1)
    };
    // The trackers that the log lost are not there.
    let mut others = vec![format!("{topology}=null"), "faults=null".to_owned()];
    if !is_preset {
        let nodes = of_log(keys[0]);
        // Fewer nodes than the log has racks need not have them all.
        let racks = of_log(keys[1]).min(said(keys[0]).and_then(|it| it.as_u64()).unwrap_or(nodes));
        others.extend([format!("cluster.nodes={nodes}"), format!("cluster.racks={racks}")]);
    }
    Some(others)
}

impl<'a> Prediction<'a> {
    /// Returns the jobs that judge: those that were held back, or all if none was.
    fn judges(&self) -> &[JobPair<'a>] {
        if self.is_held_back() { &self.jobs[self.calibrating..] } else { &self.jobs }
    }

    fn is_held_back(&self) -> bool {
        self.reading.calibrating < self.reading.times.len()
    }

    /// Returns rows of the errors' sizes: the sojourn, then its parts.
    fn sizes(&self) -> Vec<(&'static str, ErrorSizes)> {
        let whole = ErrorSizes::of(self.judges().iter().map(error)).map(|sizes| ("sojourn", sizes));
        let parts = whole.into_iter().chain((0..PARTS.len()).filter_map(|part| {
            let errors = self.judges().iter().filter_map(|job| error_of(job, part));
            Some((PARTS[part], ErrorSizes::of(errors)?))
        }));
        parts.collect()
    }

    /// Returns the judging jobs, those with the largest errors first.
    fn worst_first(&self) -> JobPairs<'a> {
        let mut jobs = self.judges().to_vec();
        jobs.sort_by(|a, b| error(b).abs().total_cmp(&error(a).abs()));
        JobPairs(jobs)
    }

    /// Returns the judging jobs that took in the log less or more than in each replay; `None` if one
    /// replay shows no range.
    fn outside(&self) -> Option<usize> {
        let ranges = &self.replayed.ranges;
        let outside = self.judges().iter().filter(|job| {
            let range = ranges.get(job.name());
            range.is_some_and(|[least, most]| !(*least..=*most).contains(&job.took[0]))
        });
        (1 < self.replayed.runs).then(|| outside.count())
    }

    /// Returns a sentence about the jobs that no replay reaches.
    fn range_story(&self) -> Option<String> {
        let (outside, runs) = (self.outside()?, self.replayed.runs);
        let all = self.judges().len();
        // Of one more run of the same process, so many jobs are the first or the last of all.
        let by_chance = 2.0 / (runs as f64 + 1.0);
        Some(format!(
            "{outside} of {} ({:.0} %) took less or more in the log than in each of the {runs} replays; \
             were log and replays of one kind, {:.0} % would by chance",
            counted(all as u64, "job"),
            1e2 * outside as f64 / all as f64,
            1e2 * by_chance
        ))
    }

    /// Returns a sentence about what was done.
    fn story(&self) -> String {
        let (all, first) = (self.reading.times.len(), self.reading.calibrating);
        let jobs = |count: usize| counted(count as u64, "job");
        let judged = match self.is_held_back() {
            true => format!("{} show the cluster, the other {} judge", jobs(first), all - first),
            false => format!("{} show the cluster and judge; none is held back", jobs(all)),
        };
        let value = |path: &str| {
            let setting = self.reading.cluster.settings.iter().find(|one| one.path == path);
            setting.map(|one| one.value.as_str()).unwrap_or_default()
        };
        format!(
            "{judged} · {} on {} nodes, heartbeat {}",
            value("scheduler"),
            value("cluster.nodes"),
            value("hadoop.heartbeat")
        )
    }

    /// Returns a warning of a large error, which names the part that errs most.
    fn large_error(&self) -> Option<String> {
        let sizes = self.sizes();
        let ((_, whole), parts) = sizes.split_first().filter(|(of, _)| LARGE_ERROR < of.1.mean)?;
        let (part, _) = parts.iter().max_by(|(_, a), (_, b)| a.mean.total_cmp(&b.mean))?;
        Some(format!(
            "the error is large, {:.0} %, most of it in the {part}: do not trust this prediction before \
             the cluster is known better (--known)",
            1e2 * whole.mean
        ))
    }

    /// Returns what a reader must know before trusting the numbers, each a sentence.
    fn doubts(&self) -> Vec<String> {
        let missing = self.reading.cluster.missing.iter().map(|fact| fact.text.clone());
        let mut doubts: Vec<String> =
            self.range_story().into_iter().chain(self.large_error()).chain(missing).collect();
        let unjudged = self.reading.times.len() - self.jobs.len();
        if 0 < unjudged {
            let jobs = counted(unjudged as u64, "job");
            doubts.push(format!("{jobs} did not succeed in the log and in the replay: not judged"));
        }
        if let Some(nodes) = self.what_if.as_ref().and_then(|what_if| what_if.nodes) {
            let nodes = counted(nodes.into(), "node");
            doubts.push(format!(
                "the settings replace the hosts of the log by {nodes}: for its input, each host stands \
                 for a node, in turn"
            ));
        }
        doubts
    }

    fn json(&self) -> Value {
        let jobs = |jobs: &[JobPair<'_>]| -> Vec<Value> {
            jobs.iter()
                .map(|job| {
                    json!({
                        "job": job.name(),
                        "logged_ms": job.took[0],
                        "predicted_ms": job.took[1],
                        "range_ms": self.replayed.ranges.get(job.name()),
                        "error": error(job),
                        "parts": PARTS.iter().enumerate().map(|(part, name)| {
                            ((*name).replace(' ', "_"), error_of(job, part))
                        }).collect::<BTreeMap<_, _>>(),
                    })
                })
                .collect()
        };
        let sizes = |sizes: ErrorSizes| {
            json!({
                "mean": sizes.mean, "median": sizes.median, "p90": sizes.p90, "worst": sizes.worst
            })
        };
        let all: Vec<(&str, ErrorSizes)> = self.sizes();
        let parts = all.iter().skip(1).map(|(name, of)| (name.replace(' ', "_"), sizes(*of)));
        json!({
            "jobs": jobs(self.judges()),
            "error": all.first().map(|(_, of)| sizes(*of)),
            "parts": parts.collect::<serde_json::Map<_, _>>(),
            "held_back": self.is_held_back(),
            "replays": self.replayed.runs,
            "outside": self.outside(),
            "calibrating": jobs(&self.jobs[..self.calibrating]),
            "unjudged": self.reading.times.len() - self.jobs.len(),
            "cluster": self.reading.cluster.settings.iter().map(|setting| json!({
                "path": setting.path,
                "value": setting.value,
                "sure": setting.sure.word(),
                "reason": setting.reason,
            })).collect::<Vec<_>>(),
            "missing": self.reading.cluster.missing.iter().map(|fact| &fact.text).collect::<Vec<_>>(),
            "what_if": self.what_if.as_ref().map(|what_if| what_if.json()),
        })
    }
}

impl OtherSettings {
    /// Returns the mean sojourn in seconds, and the ends of its band; `None` without jobs.
    fn mean(&self) -> Option<(f64, Option<[f64; 2]>)> {
        let sojourns: Vec<f64> = self.jobs.means.iter().filter_map(JobRow::measured_s).collect();
        let mean = mean(&sojourns)?;
        Some((mean, self.bands.mean.map(|band| [mean * band.low, mean * band.high])))
    }

    /// Pairs the jobs as they were replayed with those of this run. A job that does not succeed in
    /// both has no pair.
    fn pairs<'a>(&'a self, prediction: &Prediction<'a>) -> JobPairs<'a> {
        // Its jobs are those of the replay, in the same order.
        let pairs = prediction.jobs.iter().filter_map(|job| {
            let row = self.jobs.means.get(job.places[1])?;
            let took = row.sojourn_ms.filter(|_| row.outcome.is_measured())?;
            let (rows, places) = ([job.rows[1], row], [job.places[1]; 2]);
            Some(JobPair { rows, places, took: [job.took[1], took] })
        });
        JobPairs(pairs.collect())
    }

    fn sentence(&self, prediction: &Prediction<'_>) -> String {
        let sets = self.sets.join(", ");
        if self.is_same {
            return format!("With {sets}: no effect, the run is the same as the replay");
        }
        let Some((predicted, error_band)) = self.mean() else {
            return format!("With {sets}: no job succeeds");
        };
        let band = match error_band {
            Some([low, high]) => {
                format!(" (by the error of the replay {} to {})", span(low), span(high))
            }
            None => " (one job alone gives no band)".to_owned(),
        };
        let replayed: Vec<f64> =
            prediction.jobs.iter().map(|job| job.took[1] as f64 / 1e3).collect();
        let beside = mean(&replayed)
            .map_or_else(String::new, |replayed| format!(", against {} as it was", span(replayed)));
        format!("With {sets}: mean sojourn {}{band}{beside}", span(predicted))
    }

    fn json(&self) -> Value {
        let of_job = self.bands.job;
        let job = |row: &JobRow| {
            let predicted = row.sojourn_ms.filter(|_| row.outcome.is_measured())? as f64;
            Some(json!({
                "job": row.name.as_str(),
                "predicted_ms": predicted,
                "low_ms": predicted * of_job.low,
                "high_ms": predicted * of_job.high,
            }))
        };
        let mean = self.mean();
        json!({
            "sets": self.sets,
            "no_effect": self.is_same,
            "mean_s": mean.map(|(mean, _)| mean),
            "band_s": mean.and_then(|(_, band)| band),
            "jobs": self.jobs.means.iter().filter_map(job).collect::<Vec<_>>(),
        })
    }
}
