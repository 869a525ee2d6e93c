//! `mumakil compare A B --first`: the first slot that goes to different jobs in two runs of the
//! same jobs.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::runs::{ComparedRun, longer};
use super::{expect_tasks, unreadable};
use crate::cli::failure::Failure;
use crate::cli::lines::TerminalLines;
use crate::cli::table::{Align, table};
use crate::expect::Unit;
use crate::first_difference::{
    ChangedJob, FirstDifference, GivenSlot, NamedRun, PartingWords, TwoStories, changed_jobs,
    other_jobs,
};
use crate::output::results::RunResults;
use crate::page::{PageBlock, PageCell, PageColumn, PageTable, Section};
use crate::shell::quoted_path;
use crate::tables::JobRow;
use crate::units::SimSpan;
use crate::units::tell::{counted, largest, span};

/// The most jobs shown on a terminal.
const SHOWN: usize = 10;

/// Two runs of the same jobs, and their first difference.
pub(super) struct FirstDifferenceReport<'a> {
    runs: [&'a ComparedRun; 2],
    by: SimSpan,
    parting: Option<FirstDifference>,
    changed: Vec<ChangedJob<'a>>,
    /// The point at which the first of these jobs parts.
    story: Option<PartingWords>,
}

impl<'a> FirstDifferenceReport<'a> {
    /// Finds the first difference of two runs, and the jobs that take longer or shorter by more
    /// than `by`.
    pub(super) fn find(runs: &'a [ComparedRun], by: SimSpan) -> Result<Self, Failure> {
        let [one, other] = runs else {
            let count = runs.len();
            let words = format!("--first compares two runs, but {count} are named");
            return Err(Failure::input(words));
        };
        for run in runs {
            expect_tasks(&run.folder, "--first reads there which job got which slot")?;
        }
        let jobs = [one.jobs.all.as_slice(), other.jobs.all.as_slice()];
        // Refuse runs of different jobs: there a slot for another job says nothing about the
        // policies.
        if let Some(how) = other_jobs([&one.name, &other.name], jobs) {
            return Err(Failure::input(format!(
                "the runs have different jobs: {how}\n   = --first compares runs of the same jobs"
            )));
        }
        let results = [one, other].map(|run| RunResults::new(&run.folder));
        let parting = FirstDifference::find([&results[0], &results[1]]).map_err(unreadable)?;
        let changed = changed_jobs(jobs, by);
        let story = changed.first().map(|first| story([one, other], &results, first.job.job));
        let story = story.transpose()?;
        Ok(Self { runs: [one, other], by, parting, changed, story })
    }

    /// Returns the lines for a terminal; `folders` are the paths that the user typed.
    pub(super) fn tell(&self, folders: &[PathBuf]) -> TerminalLines {
        let mut lines = TerminalLines::default();
        lines.bold(self.headline(), "");
        use Align::{Left, Right};
        lines += table(&self.slots(), &[Left, Right, Left, Left, Left, Left]);
        lines.end();
        lines.bold(self.caption(), "");
        if self.changed.is_empty() {
            return lines;
        }
        let [one, other] = self.runs.map(|run| run.name.as_str());
        let mut rows =
            vec![["job", "name", "ends at", one, other, "difference"].map(str::to_owned)];
        rows.extend(self.rows().into_iter().map(|(_, texts)| texts));
        let rows: Vec<_> = rows.into_iter().map(Vec::from).collect();
        lines += table(&rows, &[Right, Left, Right, Right, Right, Right]);
        if SHOWN < self.changed.len() {
            lines.line(format!("  and {} that differ less", self.changed.len() - SHOWN));
        }
        if let Some(story) = &self.story {
            lines.end();
            let JobRow { job, name, .. } = self.changed[0].job;
            lines += parting(&format!("job {job} ({name}), the first of these: "), story);
        }
        lines.end();
        lines.line(self.how_to_go_on(folders));
        lines
    }

    /// Returns the section for a page.
    pub(super) fn section(&self) -> Section {
        const SLOT: [&str; 6] = ["Run", "At", "Job", "Task", "Node", "Why"];
        const TASK: [&str; 4] = ["Run", "At", "Attempt", "Why"];
        let [one, other] = self.runs.map(|run| run.name.as_str());
        let number = |name: &str| PageColumn::number(name, None);
        let cells = |(changed, texts): (&ChangedJob<'_>, [String; 6])| {
            let [one, other] = changed.sojourns.map(seconds);
            let (id, ended) = (f64::from(changed.job.job), seconds(Some(changed.ended)));
            let values = [Some(id), None, ended, one, other, difference(changed)];
            let cell = |(shown, value): (String, Option<f64>)| match value {
                Some(value) => PageCell::number(value, shown),
                None => PageCell::text(shown),
            };
            texts.into_iter().zip(values).map(cell).collect()
        };
        let jobs = PageTable {
            caption: self.caption(),
            columns: vec![
                number("Job"),
                PageColumn::text("Name"),
                number("Ends at"),
                number(one),
                number(other),
                number("Difference"),
            ],
            rows: self.rows().into_iter().map(cells).collect(),
        };
        let mut blocks =
            vec![slots_table(self.headline(), &SLOT, self.slots()), PageBlock::Table(jobs)];
        if let Some(story) = &self.story {
            let JobRow { job, name, .. } = self.changed[0].job;
            let headline = format!("Job {job} ({name}), the first of these: {}", story.headline);
            blocks.push(slots_table(headline, &TASK, story.slots.clone()));
            if !story.meanwhile.is_empty() {
                blocks.push(PageBlock::Sentences(story.meanwhile.clone()));
            }
        }
        Section::new("Where they part", blocks)
    }

    /// Returns the instant of the first difference, in seconds, with its label in timelines; `None`
    /// if the runs do not differ.
    pub(super) fn mark(&self) -> Option<(f64, String)> {
        let at = self.parting.as_ref()?.at();
        Some((at as f64 / 1e3, format!("they part at {}", instant(at))))
    }

    /// Returns the difference and the changed jobs as JSON.
    pub(super) fn json(&self) -> String {
        let names = self.runs.map(|run| &run.name);
        let given = |slot: &GivenSlot| given_slot(slot, self.job_name(slot.job));
        let slot = |FirstDifference { kind, number, given: of_runs }: &FirstDifference| {
            let given = of_runs.each_ref().map(|slot| slot.as_ref().map(given));
            json!({"kind": kind.word(), "number": number, "given": given})
        };
        let job = |changed: &ChangedJob<'_>| -> Value {
            json!({
                "job": changed.job.job,
                "name": changed.job.name.as_str(),
                "ended_ms": changed.ended,
                "sojourn_ms": changed.sojourns,
                "difference_ms": changed.difference(),
            })
        };
        let told = json!({
            "runs": names,
            "slot": self.parting.as_ref().map(slot),
            "jobs": self.changed.iter().map(job).collect::<Vec<_>>(),
        });
        format!("{told:#}\n")
    }

    // ---- text for readers ----

    fn headline(&self) -> String {
        match &self.parting {
            None => "every slot goes to the same job in both runs".to_owned(),
            Some(FirstDifference { kind, number, .. }) => {
                let before = match number - 1 {
                    0 => "none went before".to_owned(),
                    alike => format!("{} went alike", counted(alike as u64, kind.word())),
                };
                format!("the first {} slot that goes to another job ({before})", kind.word())
            }
        }
    }

    /// Returns a row for each run, with the job that gets the slot.
    fn slots(&self) -> Vec<Vec<String>> {
        let Some(parting) = &self.parting else { return Vec::new() };
        let row = |(run, slot): (&ComparedRun, &Option<GivenSlot>)| match slot {
            None => vec![run.name.clone(), "no slot any more".to_owned()],
            Some(GivenSlot { at, job, task, node, reason, .. }) => vec![
                run.name.clone(),
                instant(*at),
                format!("job {job} ({})", self.job_name(*job)),
                format!("{} {task}", parting.kind.word()),
                format!("on {node}"),
                reason.to_string(),
            ],
        };
        self.runs.into_iter().zip(&parting.given).map(row).collect()
    }

    fn caption(&self) -> String {
        let by = self.by;
        match self.changed.is_empty() {
            true => format!("no job takes longer or shorter by more than {by}"),
            false => format!(
                "jobs that take longer or shorter by more than {by}, in the order of their ends"
            ),
        }
    }

    /// Returns the jobs to show: the first that ends, and those that differ most.
    fn shown(&self) -> Vec<&ChangedJob<'a>> {
        let mut shown: Vec<&ChangedJob<'_>> = self.changed.iter().collect();
        // The first to end is nearest to the cause, so it stays. A job that ends in one run only
        // differs most.
        let by = |changed: &&ChangedJob<'_>| {
            changed.difference().map_or(u64::MAX, |millis| millis.unsigned_abs())
        };
        if let Some((_, others)) = shown.split_first_mut() {
            others.sort_by_key(|changed| Reverse(by(changed)));
        }
        shown.truncate(SHOWN);
        shown.sort_by_key(|changed| (changed.ended, changed.job.job));
        shown
    }

    /// Returns the jobs to show, with their texts.
    fn rows(&self) -> Vec<(&ChangedJob<'a>, [String; 6])> {
        let shown = self.shown();
        let by = largest(shown.iter().filter_map(|changed| difference(changed)));
        let took = largest(shown.iter().flat_map(|changed| changed.sojourns).filter_map(seconds));
        shown.into_iter().map(|changed| (changed, row(changed, took, by))).collect()
    }

    /// Returns the command that explains the difference.
    fn how_to_go_on(&self, folders: &[PathBuf]) -> String {
        // This is called only if a job has changed. The first of `changed` ended first, so it is
        // nearest to the cause.
        let job = self.changed[0].job.job;
        let [one, other] = [0, 1].map(|run| quoted_path(&folders[run]));
        format!("why: `mumakil explain {one} {other} {job}`")
    }

    fn job_name(&self, job: u32) -> &str {
        let jobs = &self.runs[0].jobs.all;
        jobs.iter().find(|one| one.job == job).map_or("", |job| job.name.as_str())
    }
}

/// Reads where the stories of a job part.
fn story(
    runs: [&ComparedRun; 2],
    [one, other]: &[RunResults; 2],
    job: u32,
) -> Result<PartingWords, Failure> {
    let told = [one.told().map_err(unreadable)?, other.told().map_err(unreadable)?];
    let place = told[0].jobs.iter().position(|one| one.row.job == job).unwrap_or(0);
    let [a, b] = told;
    let named = [NamedRun::new(&*runs[0].name, a), NamedRun::new(&*runs[1].name, b)];
    // Both runs have the same jobs, so the job has the same place in both.
    let stories = TwoStories::read(&named, [one, other], [place, place]);
    Ok(stories.map_err(unreadable)?.parting_words())
}

/// Returns a table of the slots of each run, with a headline; only the headline if there are none.
fn slots_table(headline: String, titles: &[&str], slots: Vec<Vec<String>>) -> PageBlock {
    if slots.is_empty() {
        return PageBlock::Text(format!("{headline}."));
    }
    let row = |slot: Vec<String>| {
        let mut cells: Vec<PageCell> = slot.into_iter().map(PageCell::text).collect();
        // A run without a slot has fewer texts.
        cells.resize(titles.len(), PageCell::default());
        cells
    };
    PageBlock::Table(PageTable {
        caption: headline,
        columns: titles.iter().copied().map(PageColumn::text).collect(),
        rows: slots.into_iter().map(row).collect(),
    })
}

/// Returns the point at which a job's stories part; `whose` begins the headline.
pub(in crate::cli) fn parting(whose: &str, words: &PartingWords) -> TerminalLines {
    let mut lines = TerminalLines::default();
    lines.bold(format!("{whose}{}", words.headline), "");
    use Align::{Left, Right};
    lines += table(&words.slots, &[Left, Right, Left, Left]);
    words.meanwhile.iter().for_each(|line| lines.line(format!("  {line}")));
    lines
}

/// Returns the texts of a job, in columns with these largest sojourns and differences.
fn row(changed: &ChangedJob<'_>, most: f64, largest: f64) -> [String; 6] {
    let took = |millis: Option<u64>| match seconds(millis) {
        Some(took) => Unit::TIME.show_in_column(took, most),
        None => "no end".to_owned(),
    };
    let [one, other] = changed.sojourns.map(took);
    let by = difference(changed).map_or_else(|| "–".to_owned(), |by| longer(by, largest));
    let name = changed.job.name.to_string();
    [changed.job.job.to_string(), name, instant(changed.ended), one, other, by]
}

fn difference(changed: &ChangedJob<'_>) -> Option<f64> {
    changed.difference().map(|millis| millis as f64 / 1e3)
}

fn seconds(millis: Option<u64>) -> Option<f64> {
    millis.map(|millis| millis as f64 / 1e3)
}

/// Prints an instant: `1 min 35 s`.
fn instant(millis: u64) -> String {
    span(millis as f64 / 1e3)
}

/// Returns a slot as JSON; `name` is the name of the job.
pub(in crate::cli) fn given_slot(slot: &GivenSlot, name: &str) -> Value {
    let GivenSlot { at, job, task, attempt, node, reason, .. } = slot;
    json!({
        "at_ms": at,
        "job": job,
        "name": name,
        "task": task,
        "attempt": attempt,
        "node": node.as_str(),
        "reason": reason.as_str(),
    })
}
