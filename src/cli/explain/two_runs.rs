//! `mumakil explain A B JOB`: a job's stories in two runs beside each other, and the point at which
//! they part. Without a job: the first slot that goes to another job, and the jobs whose times differ
//! most.

use std::path::PathBuf;

use serde_json::json;

use super::{OneJob, end, find, read};
use crate::failure::Failure;
use crate::form::print_json;
use crate::lines::TerminalLines;
use crate::table::lines_of_table;
use crate::{compare, terminal};
use mumakil_base::shell::quoted_path;
use mumakil_base::units::tell::counted;
use mumakil_compare::{
    ChangeColumn, ExplainedRun, JobPair, PartedSlots, RunPair, is_same_job, longer,
};
use mumakil_draw::page::{PageCell, PageColumn};
use mumakil_results::tables::JobRow;
use mumakil_run::output::results::RunResults;

/// The number of jobs shown that differ most; the help says "the ten".
const MOST: usize = 10;

/// Prints what differs in two runs: a job, if one is named, or all. `typed` has the paths that the
/// user typed; a packed run lies elsewhere.
pub(super) fn print(
    folders: &[PathBuf],
    typed: &[PathBuf],
    job: Option<&str>,
    is_json: bool,
) -> Result<(), Failure> {
    let results = [0, 1].map(|run: usize| RunResults::new(&folders[run]));
    let names = compare::names(typed);
    let run = |place: usize| -> Result<_, Failure> {
        Ok(ExplainedRun::new(&*names[place], &results[place], read(&folders[place])?))
    };
    let runs = RunPair([run(0)?, run(1)?]);
    let commands = [0, 1].map(|run| quoted_path(&typed[run]));
    let more = match results.iter().all(RunResults::has_decisions) {
        true => "",
        false => "; runs with `--set record.decisions=true` also know what jobs were refused",
    };
    match job {
        Some(job) => print_job(&runs, job, &commands, more, is_json),
        None => print_most(&runs, &commands, is_json),
    }
}

/// Prints a job's stories in both runs.
fn print_job(
    runs: &RunPair<'_>,
    name: &str,
    folders: &[String; 2],
    more: &str,
    is_json: bool,
) -> Result<(), Failure> {
    let stories = runs.stories(places(runs, name)?).map_err(compare::unreadable)?;
    if is_json {
        let [one, two] = [0, 1]
            .map(|run| OneJob::of(&runs.0[run].tables, &stories.both[run], &runs.0[run].holders));
        return print_json(&json!({
            "runs": runs.names(),
            "stories": [one, two],
            "parting": stories.parting_json(),
        }));
    }
    let jobs = stories.jobs();
    let ends = [0, 1].map(|run| {
        format!("{} in {}", end(jobs[run], stories.both[run].sojourn_ms), runs.names()[run])
    });
    let JobRow { job, name, .. } = &jobs[0].row;
    let mut lines = TerminalLines::default();
    lines.bold(format!("job {job} · {name}"), format!("   {}", ends.join(", ")));
    lines += lines_of_table(&stories.table(String::new()).page_table(), usize::MAX);
    lines.end();
    lines += parted(&stories.parted());
    lines.end();
    let [one, two] =
        [0, 1].map(|run| format!("`mumakil explain {} {}`", folders[run], jobs[run].row.job));
    lines.line(format!("each story: {one} and {two}{more}"));
    Ok(terminal::print(&lines)?)
}

/// Prints the first slot that goes to another job, and the jobs whose times differ most.
fn print_most(runs: &RunPair<'_>, folders: &[String; 2], is_json: bool) -> Result<(), Failure> {
    let [one, two] = runs.names();
    let mut all = runs.jobs();
    let Some(JobPair { rows: [first, _], .. }) = all.0.first() else {
        return Err(Failure::input(format!(
            "`{one}` and `{two}` have no job in common\n   = name runs of the same jobs"
        )));
    };
    let why = format!("why: `mumakil explain {} {} {}`", folders[0], folders[1], first.job);
    let slot = runs.first_slot().map_err(compare::unreadable)?;
    let name_of = |job| runs.0[0].tables.name_of(job);
    if is_json {
        let jobs = all.0.iter().map(|pair| {
            json!({
                "job": pair.rows[0].job,
                "name": pair.name(),
                "sojourn_ms": pair.took,
                "difference_ms": pair.by(),
            })
        });
        return print_json(&json!({
            "runs": [one, two],
            "slot": slot.map(|slot| slot.to_json(name_of)),
            "jobs": jobs.collect::<Vec<_>>(),
        }));
    }
    let mut lines = TerminalLines::default();
    if let Some(slot) = slot {
        lines += parted(&slot.parted([one, two], name_of));
        lines.end();
    }
    let of = counted(all.0.len() as u64, "job");
    lines.bold("the jobs whose times differ most", format!("   of {of} that both runs have"));
    all.0.truncate(MOST);
    let mut table = all.table("", [one, two], &[ChangeColumn::Difference]);
    table.notes = vec![PageColumn::text("above all")];
    for (row, pair) in table.rows.iter_mut().zip(&all.0) {
        let most = runs.above_all(pair).map(|(part, by)| {
            let by = by as f64 / 1e3;
            format!("{} {}", longer(by, 1.0), part.word())
        });
        row.notes = vec![PageCell::text(most.unwrap_or_default())];
    }
    lines += lines_of_table(&table.page_table(), MOST);
    lines.end();
    lines.line(why);
    Ok(terminal::print(&lines)?)
}

/// Returns the indices of the job with this number or name in both runs.
fn places(runs: &RunPair<'_>, name: &str) -> Result<[usize; 2], Failure> {
    let place = |run: &ExplainedRun<'_>| find(&run.tables, name, &format!("`{}`", run.name));
    let places = [place(&runs.0[0])?, place(&runs.0[1])?];
    let rows = [0, 1].map(|run| &runs.0[run].tables.jobs[places[run]].row);
    if is_same_job(rows) {
        return Ok(places);
    }
    let [one, two] = [0, 1].map(|run| {
        let JobRow { job, name, maps, reduces, .. } = rows[run];
        let of = runs.names()[run];
        format!("in `{of}` job {job} is `{name}` with {maps} maps and {reduces} reduces")
    });
    let hint = match rows[0].name == rows[1].name {
        true => "explain compares one job in two runs",
        false => "name the job instead of its number",
    };
    Err(Failure::input(format!("the jobs differ: {one}, {two}\n   = {hint}")))
}

fn parted(PartedSlots { slots, meanwhile }: &PartedSlots) -> TerminalLines {
    let mut lines = lines_of_table(slots, usize::MAX);
    meanwhile.iter().for_each(|line| lines.line(format!("  {line}")));
    lines
}
