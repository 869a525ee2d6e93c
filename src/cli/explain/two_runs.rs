//! `mumakil explain A B JOB`: a job's stories in two runs beside each other, and the point at which
//! they part. Without a job: the jobs whose times differ most.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{OneJob, end, find, read, texts};
use crate::cli::compare::{self, given_slot};
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::table::{Align, table};
use crate::cli::terminal;
use crate::explain::{ExplainedJob, JobToExplain};
use crate::first_difference::{
    DifferenceForm, GivenSlot, JobDifference, NamedRun, PlacePair, TwoStories, above_all,
    both_parts, differing_jobs, is_same_job, unlike,
};
use crate::output::results::RunResults;
use crate::shell::quoted_path;
use crate::tables::JobRow;
use crate::units::tell::{counted, span};

/// The number of jobs shown that differ most; the help says "the ten".
const MOST: usize = 10;

/// Two runs to explain.
pub(super) struct TwoRuns<'a> {
    /// The paths that the user typed.
    typed: &'a [PathBuf],
    results: [RunResults; 2],
    runs: [NamedRun; 2],
}

impl<'a> TwoRuns<'a> {
    /// Reads two runs. `typed` has the paths that the user typed; a packed run lies elsewhere.
    pub(super) fn read(folders: &[PathBuf], typed: &'a [PathBuf]) -> Result<Self, Failure> {
        let told = [read(&folders[0])?, read(&folders[1])?];
        let mut names = compare::names(typed).into_iter();
        let runs = told.map(|told| NamedRun::new(names.next().unwrap_or_default(), told));
        Ok(Self { typed, results: [0, 1].map(|run| RunResults::new(&folders[run])), runs })
    }

    /// Prints a job's stories in both runs.
    pub(super) fn print_job(&self, name: &str, is_json: bool) -> Result<(), Failure> {
        let places = self.find(name)?;
        let [one, other] = &self.results;
        let stories = TwoStories::read(&self.runs, [one, other], places);
        let stories = stories.map_err(compare::unreadable)?;
        if is_json {
            let story = |run: usize| {
                let NamedRun { told, holders, .. } = &self.runs[run];
                OneJob::of(told, &stories.both[run], holders)
            };
            let told = json!({
                "runs": self.names(),
                "stories": [story(0), story(1)],
                "parting": stories.parting.as_ref().map(|parting| self.json(parting)),
            });
            return Ok(terminal::print_file(&format!("{told:#}\n"))?);
        }
        let mut lines = self.side_by_side(&stories);
        lines.end();
        lines += compare::parting("", &stories.parting_words());
        lines.end();
        lines.line(self.how_to_go_on(places));
        Ok(terminal::print(&lines)?)
    }

    /// Prints the jobs whose times differ most.
    pub(super) fn print_most(&self, is_json: bool) -> Result<(), Failure> {
        let all = differing_jobs(&self.runs);
        if all.is_empty() {
            let [one, other] = self.names();
            return Err(Failure::input(format!(
                "`{one}` and `{other}` have no job in common\n   = name runs of the same jobs"
            )));
        }
        if is_json {
            let job = |(places, by): &(PlacePair, i64)| -> Value {
                let row = &self.jobs(*places)[0].row;
                json!({
                    "job": row.job,
                    "name": row.name.as_str(),
                    "sojourn_ms": self.sojourns(*places),
                    "difference_ms": by,
                })
            };
            let jobs: Vec<Value> = all.iter().map(job).collect();
            let told = json!({"runs": self.names(), "jobs": jobs});
            return Ok(terminal::print_file(&format!("{told:#}\n"))?);
        }
        let mut lines = TerminalLines::default();
        let of = counted(all.len() as u64, "job");
        lines.bold("the jobs whose times differ most", format!("   of {of} that both runs have"));
        let [one, other] = self.names();
        let mut rows = vec![texts(["job", "name", one, other, "difference", "above all"])];
        for (places, by) in all.iter().take(MOST) {
            let row = &self.jobs(*places)[0].row;
            let [one, other] = self.sojourns(*places).map(seconds);
            let by = change(*by);
            let above_all = self.above_all(*places);
            rows.push(vec![row.job.to_string(), row.name.to_string(), one, other, by, above_all]);
        }
        use Align::{Left, Right};
        lines += table(&rows, &[Right, Left, Right, Right, Right, Left]);
        lines.end();
        let job = self.jobs(all[0].0)[0].row.job;
        lines.line(format!("why: `{} {job}`", self.command()));
        Ok(terminal::print(&lines)?)
    }

    // ---- jobs ----

    fn names(&self) -> [&str; 2] {
        self.runs.each_ref().map(|run| run.name.as_str())
    }

    /// Returns the job with this number or name in both runs.
    fn find(&self, name: &str) -> Result<PlacePair, Failure> {
        let find = |run: usize| {
            let NamedRun { name: label, told, .. } = &self.runs[run];
            find(told, name, &format!("`{label}`"))
        };
        let places = [find(0)?, find(1)?];
        let rows = self.jobs(places).map(|job| &job.row);
        if !is_same_job(rows) {
            let hint = match rows[0].name == rows[1].name {
                true => "explain compares one job in two runs",
                false => "name the job instead of its number",
            };
            let unlike = unlike(self.names(), rows);
            return Err(Failure::input(format!("the jobs differ: {unlike}\n   = {hint}")));
        }
        Ok(places)
    }

    fn jobs(&self, places: PlacePair) -> [&JobToExplain; 2] {
        [0, 1].map(|run| &self.runs[run].told.jobs[places[run]])
    }

    fn sojourns(&self, places: PlacePair) -> [u64; 2] {
        self.jobs(places).map(|job| job.ended.saturating_sub(job.row.submit_ms))
    }

    // ---- text for readers ----

    /// Returns the parts of a job's time in both runs, in the order of its story.
    fn side_by_side(&self, stories: &TwoStories<'_>) -> TerminalLines {
        let mut lines = TerminalLines::default();
        let (jobs, names) = (stories.jobs(), self.names());
        let sojourns = stories.both.each_ref().map(|one| one.sojourn_ms);
        let ends = [0, 1].map(|run| format!("{} in {}", end(jobs[run], sojourns[run]), names[run]));
        let JobRow { job, name, .. } = &jobs[0].row;
        lines.bold(format!("job {job} · {name}"), format!("   {}", ends.join(", ")));
        let mut rows = vec![texts(["", names[0], names[1], "difference", ""])];
        let row = |name: &str, [one, other]: [u64; 2], why| {
            let by = change(other as i64 - one as i64);
            vec![name.to_owned(), seconds(one), seconds(other), by, why]
        };
        let parts = both_parts(&stories.both).into_iter();
        rows.extend(parts.map(|(part, ms)| row(part.word(), ms, stories.rules(part))));
        rows.push(row("sojourn", sojourns, String::new()));
        use Align::{Left, Right};
        lines += table(&rows, &[Left, Right, Right, Right, Left]);
        lines
    }

    /// Returns the cause that makes most of a job's difference.
    fn above_all(&self, places: PlacePair) -> String {
        let both = [0, 1].map(|run| {
            let NamedRun { told, holders, .. } = &self.runs[run];
            ExplainedJob::of(told, places[run], holders)
        });
        let most = above_all(&both);
        most.map_or_else(String::new, |(part, by)| format!("{} {}", change(by), part.word()))
    }

    fn command(&self) -> String {
        let [one, other] = [0, 1].map(|run| quoted_path(&self.typed[run]));
        format!("mumakil explain {one} {other}")
    }

    /// Returns the commands that tell each story in full.
    fn how_to_go_on(&self, places: PlacePair) -> String {
        let commands = [0, 1].map(|run| {
            let job = self.jobs(places)[run].row.job;
            format!("`mumakil explain {} {job}`", quoted_path(&self.typed[run]))
        });
        let more = match self.results.iter().all(RunResults::has_decisions) {
            true => "",
            false => "; runs with `--set record.decisions=true` also know what jobs were refused",
        };
        format!("each story: {}{more}", commands.join(" and "))
    }

    // ---- for programs ----

    fn json(&self, parting: &JobDifference) -> Value {
        let JobDifference { kind, later, form, given } = parting;
        let slot =
            |run: usize, slot: &GivenSlot| given_slot(slot, &self.runs[run].told.name_of(slot.job));
        let given = [0, 1].map(|run| given[run].as_ref().map(|given| slot(run, given)));
        let (number, instead) = match form {
            DifferenceForm::LaterSlot { number, instead } => (Some(number), instead.as_ref()),
            DifferenceForm::LongerTask => (None, None),
        };
        json!({
            "kind": kind.word(),
            "later_in": self.runs[*later].name,
            "number": number,
            "given": given,
            "instead": instead.map(|instead| slot(*later, instead)),
        })
    }
}

fn seconds(ms: u64) -> String {
    span(ms as f64 / 1e3)
}

/// Prints a difference with its sign; empty if it would be shown as zero.
fn change(ms: i64) -> String {
    let sign = if 0 < ms { "+" } else { "-" };
    match ms.unsigned_abs() {
        ..50 => String::new(),
        by => format!("{sign}{}", seconds(by)),
    }
}
