//! `mumakil explain`: why a job of a run took as long as it did, or which jobs waited most; and why
//! a job took longer in one of two runs.

mod two_runs;

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::failure::Failure;
use super::form::{as_text, print_json};
use super::lines::TerminalLines;
use super::packed::Folders;
use super::table::{Align, table};
use super::{Program, compare, terminal};
use mumakil_base::nearest::nearest;
use mumakil_base::units::tell::{self, counted, span};
use mumakil_results::explain::{
    self, ExplainedJob, JobToExplain, PartSum, RunToExplain, SlotHolders,
};
use mumakil_results::tables::JobEnd;
use mumakil_run::output::results::RunResults;

/// The number of most delayed jobs shown; the help says "the ten".
const WORST: usize = 10;

/// Tell why a job took as long as it did
///
/// A job's time, from its arrival to its end, is split into work and waits that add up to the
/// millisecond. Each wait has the rule behind it, and the jobs that held the slots meanwhile.
/// Without a job, the ten most slowed-down jobs get a line each, and the waits of all jobs are
/// added up.
///
/// With two runs, the job's times in both stand beside each other, with the slot or task at which
/// they part. Without a job, it is the first slot that goes to another job, and the ten jobs whose
/// times differ most get a line each.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil explain out/quickstart-42
  mumakil explain out/quickstart-42 index
  mumakil explain out/quickstart-42 3 --json
  mumakil explain out/fifo out/fair
  mumakil explain out/fifo out/fair index

Exit codes:
  0  done
  2  the folder holds no run that can be explained, or a run has no such job")]
pub(super) struct ExplainArguments {
    /// The folder of a run; a packed run of a study is named in the same way: out/study/runs/ID
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The folder of a second run, or a job; a job comes before a folder of the same name
    #[arg(value_name = "DIR|JOB")]
    other: Option<PathBuf>,
    /// The number or the name of a job, after two folders
    #[arg(value_name = "JOB")]
    job: Option<String>,
    /// Print JSON: an object for the job or for two runs, or an array of all jobs
    #[arg(long)]
    json: bool,
}

impl ExplainArguments {
    pub(super) fn run(self, _: &Program) -> Result<(), Failure> {
        let typed: Vec<PathBuf> = std::iter::once(self.folder).chain(self.other).collect();
        let folders = Folders::of(&typed)?;
        if let Some(job) = &self.job {
            let (run, first) = (typed[0].display(), typed[1].display());
            if !folders.paths[1].is_dir() && 1 == typed[1].components().count() {
                return Err(Failure::input(format!(
                    "there is no folder {first}\n   = two jobs of one run are asked for one by one: \
                     `mumakil explain {run} {first}`"
                )));
            }
            return two_runs::print(&folders.paths, &typed, Some(job), self.json);
        }
        let folder = &folders.paths[0];
        let told = read(folder)?;
        let job =
            match typed.get(1).map(|job| (job, find(&told, &job.to_string_lossy(), "the run"))) {
                // A path is meant as a folder, even if there is none.
                Some((other, Err(_)))
                    if folders.paths[1].is_dir() || 1 < other.components().count() =>
                {
                    return two_runs::print(&folders.paths, &typed, None, self.json);
                }
                other => other.map(|(_, job)| job).transpose()?,
            };
        let holders = told.holders();
        // Finding the jobs that held slots meanwhile takes a pass over all slots, so do it only for
        // the jobs shown.
        let in_short = |place| ExplainedJob::of(&told, place, &holders);
        let explain = |place| {
            let mut one = in_short(place);
            one.name_holders(&holders);
            one
        };
        if let Some(place) = job {
            let one = explain(place);
            return match self.json {
                true => print_json(&OneJob::of(&told, &one, &holders)),
                false => Ok(terminal::print(&story_of(&told, &one))?),
            };
        }
        if self.json {
            let all =
                (0..told.jobs.len()).map(|place| OneJob::of(&told, &explain(place), &holders));
            return print_list(all);
        }
        let ran = (0..told.jobs.len()).filter(|place| !told.jobs[*place].is_refused());
        let all: Vec<ExplainedJob> = ran.map(in_short).collect();
        Ok(terminal::print(&worst_of(&told, &all, &holders))?)
    }
}

/// Reads the run in a folder, with its explanations.
fn read(folder: &Path) -> Result<RunToExplain, Failure> {
    compare::expect_run(folder)?;
    compare::check(folder)?;
    compare::expect_tasks(folder, "explain reads there what jobs waited for")?;
    let told = RunResults::new(folder).told().map_err(compare::unreadable)?;
    told.doubt().iter().for_each(|words| terminal::warn(words));
    Ok(told)
}

/// Returns the index of the job with this number or name; `run` names the run in messages.
fn find(told: &RunToExplain, name: &str, run: &str) -> Result<usize, Failure> {
    let number: Option<u32> = name.parse().ok();
    let jobs = &told.jobs;
    // Try the number first: it is unique, and a job may be called `3`.
    let found = (jobs.iter().position(|job| Some(job.row.job) == number))
        .or_else(|| jobs.iter().position(|job| job.row.name == name));
    if let Some(place) = found {
        return Ok(place);
    }
    let hint = match nearest(name, jobs.iter().map(|job| job.row.name.as_str())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`mumakil explain` without a job lists those that waited most".to_owned(),
    };
    Err(Failure::input(format!("{run} has no job `{name}`\n   = {hint}")))
}

// ---- for readers ----

fn story_of(told: &RunToExplain, one: &ExplainedJob) -> TerminalLines {
    let job = &told.jobs[one.place];
    let mut lines = TerminalLines::default();
    let end = end(job, one.sojourn_ms);
    lines.bold(
        format!("job {} · {}", job.row.job, job.row.name),
        format!("{}   {end}", group(told, job)),
    );
    lines += parts(told, &one.sums, one.sojourn_ms);
    lines
}

/// Tells how a job ended.
fn end(job: &JobToExplain, sojourn_ms: u64) -> String {
    let took = span(sojourn_ms as f64 / 1e3);
    match job.row.outcome {
        JobEnd::Unfinished => format!("not done after {took}"),
        JobEnd::Refused => match &job.refused_for {
            Some(why) => format!("refused at its submission: {why}"),
            None => "refused at its submission".to_owned(),
        },
        outcome => format!("{} after {took}", outcome.word()),
    }
}

/// Returns the most delayed jobs. The delay is the job's sojourn divided by its isolated time. If
/// the run has no isolated times, it is divided by the estimated time without other jobs and
/// mishaps.
fn worst_of(told: &RunToExplain, all: &[ExplainedJob], holders: &SlotHolders) -> TerminalLines {
    let has_isolated_times = told.jobs.iter().any(|job| job.row.alone_ms.is_some());
    let times = |one: &ExplainedJob| match has_isolated_times {
        false => Some(one.times_undelayed()),
        true => {
            // A job without an isolated time cannot be ranked beside jobs that have one.
            let alone = told.jobs[one.place].row.alone_ms?;
            // A job without tasks has an isolated time of zero: count it as one millisecond.
            Some(one.sojourn_ms as f64 / alone.max(1) as f64)
        }
    };
    let mut worst: Vec<(f64, &ExplainedJob)> =
        all.iter().filter_map(|one| Some((times(one)?, one))).collect();
    // The sort is stable: equally delayed jobs stay in the order of their numbers.
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut lines = TerminalLines::default();
    let by = if has_isolated_times { "alone" } else { "undelayed" };
    let about = format!(
        "   of {}, by how many times as long they took as {by}",
        counted(all.len() as u64, "job")
    );
    lines.bold("the most delayed jobs", about);
    let mut rows = vec![texts(["job", "name", "group", "took", "times", "above all"])];
    for (times, one) in worst.into_iter().take(WORST) {
        let job = &told.jobs[one.place];
        let mut one = one.clone();
        one.name_holders(holders);
        let most = one.sums.iter().filter(|sum| sum.is_delay()).max_by_key(|sum| sum.ms);
        let longest = most.map(|sum| described(told, sum, one.sojourn_ms)).unwrap_or_default();
        rows.push(vec![
            job.row.job.to_string(),
            job.row.name.to_string(),
            told.group_of(job).to_owned(),
            span(one.sojourn_ms as f64 / 1e3),
            tell::times(times),
            longest,
        ]);
    }
    use Align::{Left, Right};
    lines += table(&rows, &[Right, Left, Left, Right, Right, Left]);
    let total: u64 = all.iter().map(|one| one.sojourn_ms).sum();
    lines.bold("all jobs together", "");
    lines + parts(told, &ExplainedJob::whole(all, holders), total)
}

/// Returns a line for each part of a job's time.
fn parts(told: &RunToExplain, sums: &[PartSum], total: u64) -> TerminalLines {
    let mut rows = Vec::new();
    for sum in sums {
        rows.push(vec![
            told.part_word(sum.part).to_owned(),
            span(sum.ms as f64 / 1e3),
            sum.share_of(total),
            sum.why(told),
        ]);
    }
    use Align::{Left, Right};
    table(&rows, &[Left, Right, Right, Left])
}

/// Returns a part of the time in a few words.
fn described(told: &RunToExplain, sum: &PartSum, total: u64) -> String {
    let mut text = format!("{} {}", sum.share_of(total), told.part_word(sum.part));
    if let Some(rule) = sum.rule {
        text += &format!(", {}", told.rule_word(rule));
    }
    if let Some((first, _)) = sum.jobs.first() {
        text += &format!(" ({})", told.name_of(*first));
    }
    text
}

fn group(told: &RunToExplain, job: &JobToExplain) -> String {
    let group = told.group_of(job);
    if group.is_empty() { String::new() } else { format!(" · {group}") }
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

// ---- for programs ----

/// A job in the JSON output.
#[derive(Serialize)]
struct OneJob<'a> {
    job: u32,
    name: &'a str,
    user: &'a str,
    pool: &'a str,
    outcome: &'a str,
    /// Why the job was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused_for: Option<&'a str>,
    sojourn_ms: u64,
    undelayed_ms: u64,
    times_undelayed: f64,
    parts: Vec<OnePart<'a>>,
}

#[derive(Serialize)]
struct OnePart<'a> {
    part: explain::SojournPart,
    ms: u64,
    rule: Option<explain::WaitRule>,
    /// The ten jobs that held most slots, largest first, and then the ten pools that did.
    held_by: Vec<OneHolder<'a>>,
    /// The slot time of all other jobs, in milliseconds.
    #[serde(skip_serializing_if = "is_nothing")]
    others_slot_ms: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", untagged)]
enum OneHolder<'a> {
    Job { job: u32, slot_ms: u64 },
    Pool { pool: &'a str, slot_ms: u64 },
}

impl<'a> OneJob<'a> {
    fn of(told: &'a RunToExplain, one: &ExplainedJob, holders: &SlotHolders) -> Self {
        let job = &told.jobs[one.place];
        Self {
            job: job.row.job,
            name: &job.row.name,
            user: &job.row.user,
            pool: &job.row.pool,
            outcome: job.row.outcome.word(),
            refused_for: job.refused_for.as_deref(),
            sojourn_ms: one.sojourn_ms,
            undelayed_ms: one.undelayed_ms,
            times_undelayed: one.times_undelayed(),
            parts: one.sums.iter().map(|sum| OnePart::of(told, one, sum, holders)).collect(),
        }
    }
}

impl<'a> OnePart<'a> {
    fn of(
        told: &'a RunToExplain,
        one: &ExplainedJob,
        sum: &PartSum,
        holders: &SlotHolders,
    ) -> Self {
        let jobs =
            sum.jobs.iter().map(|(job, slot_ms)| OneHolder::Job { job: *job, slot_ms: *slot_ms });
        let pools = one.groups(sum, holders).into_iter().filter_map(|(group, slot_ms)| {
            Some(OneHolder::Pool { pool: told.groups.get(group as usize)?, slot_ms })
        });
        Self {
            part: sum.part,
            ms: sum.ms,
            rule: sum.rule,
            held_by: jobs.chain(pools).collect(),
            others_slot_ms: sum.held_by_others(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_nothing(slot_ms: &u64) -> bool {
    *slot_ms == 0
}

/// Prints a JSON array value by value: all values at once may not fit into memory.
fn print_list<T: Serialize>(values: impl Iterator<Item = T>) -> Result<(), Failure> {
    let mut is_empty = true;
    for value in values {
        let before = if is_empty { "[\n  " } else { ",\n  " };
        let text = as_text(&value).replace('\n', "\n  ");
        terminal::print_file(&format!("{before}{text}"))?;
        is_empty = false;
    }
    Ok(terminal::print_file(if is_empty { "[]\n" } else { "\n]\n" })?)
}
