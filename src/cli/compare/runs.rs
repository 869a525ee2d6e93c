//! Runs side by side: their headline numbers, their locality, and their jobs one by one.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::pairs::{Pairs, Spread};
use super::side::{SideBySideTable, SideRow, ratio};
use super::{check, unreadable};
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::table::{Align, table};
use crate::expect::Unit;
use crate::files::{self, RESOLVED, SUMMARY};
use crate::mapred::{PerSlot, PromisedSlots};
use crate::output::RunPlace;
use crate::output::report::{SIZES, locality_by_size};
use crate::output::results::RunResults;
use crate::scenario::Registry;
use crate::tables::{ReadError, RunJobs};
use crate::units::tell::{counted, largest};

/// The most changes printed, the largest first; the page of `--out` has more.
const SHOWN: usize = 10;

/// The numbers of a summary that are compared: their names, paths and units.
const METRICS: [(&str, &str, Unit); 16] = [
    ("jobs", "jobs", Unit::PLAIN),
    ("jobs succeeded", "jobs_succeeded", Unit::PLAIN),
    ("mean sojourn", "mean_sojourn_s", Unit::TIME),
    ("median sojourn", "median_sojourn_s", Unit::TIME),
    ("p95 sojourn", "p95_sojourn_s", Unit::TIME),
    ("mean wait", "mean_wait_s", Unit::TIME),
    ("makespan", "makespan_s", Unit::TIME),
    ("maps node-local", "locality.node", Unit::SHARE),
    ("maps rack-local", "locality.rack", Unit::SHARE),
    ("maps off-rack", "locality.off_rack", Unit::SHARE),
    ("map slots held", "slot_utilisation.map", Unit::SHARE),
    ("reduce slots held", "slot_utilisation.reduce", Unit::SHARE),
    ("attempts", "attempts", Unit::PLAIN),
    ("attempts failed", "attempts_failed", Unit::PLAIN),
    ("attempts killed", "attempts_killed", Unit::PLAIN),
    ("suspensions", "suspensions", Unit::PLAIN),
];

/// A run to compare.
#[derive(Debug)]
pub(super) struct ComparedRun {
    /// Its name in the comparison.
    pub(super) name: String,
    /// Its scenario, policy and seed.
    pub(super) about: RunDescription,
    /// Its jobs.
    pub(super) jobs: RunJobs,
    /// Whether it had the same policy from beginning to end.
    pub(super) keeps_policy: bool,
    /// Its folder.
    pub(super) folder: PathBuf,
    /// The content of its `summary.json`.
    summary: Value,
}

/// The description of a run in its summary.
#[derive(Debug, Deserialize)]
pub(super) struct RunDescription {
    /// The scenario.
    pub(super) scenario: String,
    /// The policies, in the order in which they took over.
    pub(super) policy: String,
    /// The seed.
    pub(super) seed: u64,
    /// The version of Mumakil.
    pub(super) version: String,
    /// The number of its model; zero in runs that do not tell it.
    #[serde(default)]
    pub(super) model: u32,
    /// The number of nodes.
    pub(super) nodes: u32,
}

impl ComparedRun {
    /// Reads the folder of a run.
    pub(super) fn read(folder: &Path, name: String) -> Result<Self, Failure> {
        check(folder)?;
        let path = folder.join(SUMMARY);
        let text = RunPlace::Folder(folder.to_owned())
            .text(SUMMARY)
            .map_err(|source| unreadable(ReadError::Read { path: path.clone(), source }))?;
        let broken = |error: serde_json::Error| {
            unreadable(ReadError::row(&path, error.line() as u64, error.to_string()))
        };
        let about: RunDescription = serde_json::from_str(&text).map_err(broken)?;
        // Parse the text twice: the description must be complete, but a summary that an older
        // version wrote may lack some numbers.
        let summary = serde_json::from_str(&text).map_err(broken)?;
        let results = RunResults::new(folder);
        let jobs = RunJobs::read(&results).map_err(unreadable)?;
        let facts = results.facts().map_err(unreadable)?;
        let policies: Vec<&str> = facts.deciders().map(|(_, policy, _)| policy).collect();
        let about = RunDescription { policy: policies.join(", then "), ..about };
        let keeps_policy = policies.len() == 1;
        Ok(Self { name, about, keeps_policy, jobs, folder: folder.to_owned(), summary })
    }

    /// Returns the slots that the run's policy promised to pools; empty if the run's scenario
    /// cannot be read, for example because an older version wrote it.
    pub(super) fn promised(&self, registry: &Registry) -> PromisedSlots {
        let read = || {
            let text = files::own_text(&self.folder.join(RESOLVED)).ok()?;
            let scenario: serde_yaml::Value = serde_yaml::from_str(&text).ok()?;
            let choice = serde_yaml::from_value(scenario.get("scheduler")?.clone()).ok()?;
            let slots = |name| self.number(name).map(|slots| slots as u64);
            let slots = PerSlot { map: slots("map_slots")?, reduce: slots("reduce_slots")? };
            Some(registry.promised(&choice, slots))
        };
        // After a change of policy, the first policy's promises hold only for a part of the run.
        if self.keeps_policy { read().unwrap_or_default() } else { PromisedSlots::new() }
    }

    /// Returns a number of the summary; `None` if the summary lacks it, for example because an
    /// older version wrote it.
    pub(super) fn number(&self, path: &str) -> Option<f64> {
        path.split('.').try_fold(&self.summary, |value, key| value.get(key))?.as_f64()
    }
}

/// Returns the table of headline numbers.
pub(super) fn headline(runs: &[ComparedRun]) -> SideBySideTable {
    let row = |(name, path, unit): (&str, &str, Unit)| SideRow {
        keys: vec![name.to_owned()],
        unit,
        values: runs.iter().map(|run| run.number(path)).collect(),
    };
    let mut rows: Vec<SideRow> = METRICS.map(row).into();
    // Sojourns are of the jobs that succeeded: say beside them how many are not in them.
    let left_out = |run: &ComparedRun| Some(run.number("jobs")? - run.number("jobs_succeeded")?);
    let values: Vec<Option<f64>> = runs.iter().map(left_out).collect();
    let after = METRICS.iter().position(|(_, path, _)| *path == "p95_sojourn_s");
    if values.iter().any(|left_out| left_out.is_some_and(|jobs| 0.0 < jobs)) {
        let keys = vec!["jobs left out of these".to_owned()];
        let row = SideRow { keys, unit: Unit::PLAIN, values };
        rows.insert(after.map_or(0, |place| place + 1), row);
    }
    side(runs, "The runs in numbers", "metric", rows)
}

/// Returns the table of node-local maps, by the size of their jobs.
pub(super) fn locality(runs: &[ComparedRun]) -> SideBySideTable {
    let shares: Vec<_> = runs.iter().map(|run| locality_by_size(&run.jobs)).collect();
    let row = |(size, (_, name)): (usize, &(u32, &str))| SideRow {
        keys: vec![(*name).to_owned()],
        unit: Unit::SHARE,
        values: shares.iter().map(|of_run| of_run[size].map(|[node, ..]| node)).collect(),
    };
    let rows = SIZES.iter().enumerate().map(row);
    // Leave out a size if no run has jobs of it.
    let rows = rows.filter(|row| row.values.iter().any(Option::is_some)).collect();
    side(runs, "Node-local maps by size of job", "maps of the job", rows)
}

fn side(runs: &[ComparedRun], caption: &str, key: &str, rows: Vec<SideRow>) -> SideBySideTable {
    SideBySideTable {
        caption: caption.to_owned(),
        keys: vec![key.to_owned()],
        names: runs.iter().map(|run| run.name.clone()).collect(),
        rows,
    }
}

/// Returns the lines that compare runs.
pub(super) fn tell(runs: &[ComparedRun]) -> TerminalLines {
    let mut lines = TerminalLines::default();
    for ComparedRun { name, about, .. } in runs {
        let nodes = counted(about.nodes.into(), "tracker");
        let RunDescription { scenario, policy, seed, .. } = about;
        lines.bold(name, format!("   {scenario} · {nodes} · {policy} · seed {seed}"));
    }
    for table in [headline(runs), locality(runs)] {
        lines.end();
        lines += table.lines();
    }
    for other in &runs[1..] {
        lines.end();
        lines += tell_pairs(&runs[0], other);
    }
    lines
}

/// Returns the lines that compare a run's jobs with those of the first run.
fn tell_pairs(first: &ComparedRun, other: &ComparedRun) -> TerminalLines {
    let pairs = Pairs::new(&first.jobs, &other.jobs);
    let mut lines = TerminalLines::default();
    lines.bold(&other.name, format!(" beside {}, job by job", first.name));
    let mut line = |word: &str, what: &str| lines.line(format!("  {word:<12}{what}"));
    line("jobs", &outcome(first, other, &pairs));
    let (Some(ratios), Some(differences)) = (pairs.ratios(), pairs.differences()) else {
        return lines;
    };
    line("ratio", &tell_spread(ratios, ratio).join("   "));
    let most = largest(differences);
    line("difference", &tell_spread(differences, |by| longer(by, most)).join("   "));
    let changes = pairs.changes();
    if changes.is_empty() {
        return lines;
    }
    let mut rows = vec![
        ["largest changes", &first.name, &other.name, "difference", "ratio"]
            .map(str::to_owned)
            .to_vec(),
    ];
    let by = largest(changes.iter().map(|pair| pair.difference()));
    let most = largest(changes.iter().flat_map(|pair| [pair.first, pair.other]));
    rows.extend(changes.iter().take(SHOWN).map(|pair| {
        vec![
            pair.name.to_owned(),
            Unit::TIME.show_in_column(pair.first, most),
            Unit::TIME.show_in_column(pair.other, most),
            longer(pair.difference(), by),
            pair.ratio().map_or_else(|| "–".to_owned(), ratio),
        ]
    }));
    const RIGHT: Align = Align::Right;
    lines + table(&rows, &[Align::Left, RIGHT, RIGHT, RIGHT, RIGHT])
}

/// Returns the numbers of faster and slower jobs, and of the jobs that did not succeed, in words.
pub(super) fn outcome(first: &ComparedRun, other: &ComparedRun, pairs: &Pairs<'_>) -> String {
    let (all, faster, slower) = (pairs.0.len(), pairs.faster(), pairs.slower());
    let same = all - faster - slower;
    let told = match all {
        0 => "none that succeeded in both".to_owned(),
        _ => format!(
            "{} succeeded in both: {faster} faster, {slower} slower, {same} the same",
            counted(all as u64, "job")
        ),
    };
    let [of_first, of_other] =
        [first, other].map(|run| (Pairs::unsuccessful(&run.jobs), run.jobs.counted().count()));
    match [of_first.0, of_other.0] {
        [0, 0] => told,
        _ => format!(
            "{told}; {} of {} did not succeed in {}, {} of {} in {}: the means above leave them out",
            of_other.0, of_other.1, other.name, of_first.0, of_first.1, first.name
        ),
    }
}

/// Returns the three numbers of a spread in words.
pub(super) fn tell_spread(
    [low, median, high]: Spread,
    show: impl Fn(f64) -> String,
) -> [String; 3] {
    [format!("p5 {}", show(low)), format!("median {}", show(median)), format!("p95 {}", show(high))]
}

/// Prints a difference of times with its sign, `+12.0 s`, for a column with this largest
/// difference. A difference that rounds to zero has no sign.
pub(super) fn longer(seconds: f64, largest: f64) -> String {
    let told = Unit::TIME.show_in_column(seconds, largest);
    let is_above = 0.0 < seconds && told.contains(|c: char| ('1'..='9').contains(&c));
    if is_above { format!("+{told}") } else { told }
}

#[cfg(test)]
pub(super) mod fixture {
    use std::fs;

    use super::*;
    use crate::tables::testing::complete;
    use crate::tables::{JobRow, TableRow};

    const SUMMARY: &str = r#"{"scenario": "demo", "policy": "fifo", "seed": 1, "version": "0.0.0",
        "nodes": 2, "warm_up_s": 0, "jobs": 2, "jobs_succeeded": 2, "mean_sojourn_s": 40,
        "median_sojourn_s": 40, "p95_sojourn_s": 60, "mean_wait_s": 3, "makespan_s": null,
        "locality": {"node": 0.5, "rack": 0.5, "off_rack": 0},
        "slot_utilisation": {"map": 0.5, "reduce": null}, "attempts": 9,
        "attempts_failed": 2, "attempts_killed": 1, "suspensions": 0}"#;

    const HEADING: &str = "job,name,user,pool,class,maps,reduces,submit_ms,wait_ms,sojourn_ms,\
                           node_local,rack_local,off_rack,failed,killed,outcome\n";

    /// Returns a run with two jobs, given their sojourns in seconds.
    pub(in crate::cli::compare) fn run(name: &str, sojourns: [u32; 2]) -> ComparedRun {
        let room = tempfile::TempDir::new().unwrap();
        let [a, b] = sojourns.map(|seconds| seconds * 1_000);
        let jobs = format!(
            "{HEADING}0,a,,,,1,0,0,0,{a},1,0,0,0,0,succeeded\n1,b,,,,9,0,0,0,{b},3,1,0,0,0,succeeded\n"
        );
        fs::write(room.path().join("summary.json"), SUMMARY).unwrap();
        fs::write(room.path().join(JobRow::FILE), complete::<JobRow>(&jobs)).unwrap();
        ComparedRun::read(room.path(), name.to_owned()).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::fixture::run;
    use super::*;

    #[test]
    fn runs_are_told_by_their_numbers_and_job_by_job() {
        let text = tell(&[run("fifo", [20, 60]), run("fair", [10, 90])]);
        insta::assert_snapshot!(text.bare(), @"
        fifo   demo · 2 trackers · fifo · seed 1
        fair   demo · 2 trackers · fifo · seed 1

          metric                    fifo         fair       change
          jobs                         2            2        1.00×
          jobs succeeded               2            2        1.00×
          mean sojourn            40.0 s       40.0 s        1.00×
          median sojourn          40.0 s       40.0 s        1.00×
          p95 sojourn         1 min 00 s   1 min 00 s        1.00×
          mean wait                3.0 s        3.0 s        1.00×
          makespan                     –            –            –
          maps node-local         50.0 %       50.0 %   0.0 points
          maps rack-local         50.0 %       50.0 %   0.0 points
          maps off-rack            0.0 %        0.0 %   0.0 points
          map slots held          50.0 %       50.0 %   0.0 points
          reduce slots held            –            –            –
          attempts                     9            9        1.00×
          attempts failed              2            2        1.00×
          attempts killed              1            1        1.00×
          suspensions                  0            0            –

          maps of the job      fifo      fair       change
          1 map             100.0 %   100.0 %   0.0 points
          2–10               75.0 %    75.0 %   0.0 points

        fair beside fifo, job by job
          jobs        2 jobs succeeded in both: 1 faster, 1 slower, 0 the same
          ratio       p5 0.55×   median 1.00×   p95 1.45×
          difference  p5 -8.0 s   median +10.0 s   p95 +28.0 s
          largest changes         fifo         fair   difference   ratio
          b                 1 min 00 s   1 min 30 s      +30.0 s   1.50×
          a                     20.0 s       10.0 s      -10.0 s   0.50×
        ");
    }

    #[test]
    fn jobs_that_did_not_succeed_are_told_with_the_outcome() {
        let (first, mut other) = (run("fifo", [20, 60]), run("refuse", [10, 90]));
        other.jobs.all[1].outcome = crate::tables::JobEnd::Refused;
        let told = outcome(&first, &other, &Pairs::new(&first.jobs, &other.jobs));
        assert_eq!(
            told,
            "1 job succeeded in both: 1 faster, 0 slower, 0 the same; 1 of 2 did not succeed in \
             refuse, 0 of 2 in fifo: the means above leave them out"
        );
    }

    #[test]
    fn a_number_that_an_older_version_did_not_write_is_unknown() {
        let mut older = run("older", [20, 60]);
        older.summary.as_object_mut().unwrap().remove("suspensions");
        let lines = headline(&[older, run("newer", [20, 60])]).lines().bare();
        let last = lines.lines().last().unwrap();
        assert_eq!(last.split_whitespace().collect::<Vec<_>>(), ["suspensions", "–", "0", "–"]);
    }

    #[test]
    fn a_broken_summary_names_its_line() {
        let room = tempfile::TempDir::new().unwrap();
        fs::write(room.path().join("summary.json"), "{\n\"seed\": x}").unwrap();
        let Failure::Input(error) = ComparedRun::read(room.path(), "r".to_owned()).unwrap_err()
        else {
            panic!()
        };
        assert!(error.to_string().contains("summary.json:2: "), "{error}");
    }
}
