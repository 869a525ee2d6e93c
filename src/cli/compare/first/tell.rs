//! Where two runs part, for people: on a terminal and on a page.

use super::launches::{Launch, ToldJob};
use super::repeat::Contest;
use super::{First, Parted};
use crate::cli::lines::Lines;
use crate::cli::table::{Align, table};
use crate::mapred::{Contender, Measure, Priority, SlotKind, Standing, Told};
use crate::page::{Block, Column, PageCell, PageTable, Section};
use crate::units::tell::{self, Detail};

/// So many contenders are shown, and whoever got the slot in any case.
const SHOWN: usize = 10;

const OF_CONTENDERS: [&str; 5] = ["", "job", "name", "stands", "gets"];
const OF_JOBS: [&str; 8] =
    ["job", "name", "differs at", "arrival", "first launch", "maps done", "end", "sojourn"];

impl First {
    /// Returns the lines for a terminal.
    pub(in crate::cli::compare) fn tell(&self) -> Lines {
        let [one, other] = &self.names;
        let mut lines = Lines::default();
        let Some(parted) = &self.parting else {
            lines.bold(format!("{one} and {other} never part"), ": all launches are the same");
            return lines + self.tell_jobs();
        };
        lines.bold(format!("{one} and {other} part at {}", instant(parted.at)), "");
        use Align::{Left, Right};
        let launches = [0, 1].map(|run| vec![self.names[run].clone(), self.launch(parted, run)]);
        lines += table(&launches, &[Left, Left]);
        for run in [0, 1] {
            lines.end();
            lines.bold(&self.names[run], format!("   {}", self.asked(parted, run)));
            if let Some(contenders) = contenders(&parted.contests[run]) {
                let mut rows = vec![OF_CONTENDERS.map(str::to_owned).to_vec()];
                rows.extend(self.rows(contenders));
                lines += table(&rows, &[Right, Right, Left, Left, Left]);
            }
        }
        lines + self.tell_jobs()
    }

    fn tell_jobs(&self) -> Lines {
        let mut lines = Lines::default();
        if self.differences.is_empty() {
            return lines;
        }
        lines.end();
        lines.bold(self.jobs_caption(), "");
        let mut rows = vec![OF_JOBS.map(str::to_owned).to_vec()];
        rows.extend(self.jobs().map(|(jobs, began)| job_row(jobs, began)));
        use Align::{Left, Right};
        lines + table(&rows, &[Right, Left, Right, Right, Right, Right, Right, Right])
    }

    fn jobs_caption(&self) -> String {
        let [one, other] = &self.names;
        format!("the jobs that differ first, by how much later in {other} than in {one}")
    }

    /// Returns the instant at which they part, in seconds, and what it is, to be marked in timelines.
    pub(in crate::cli::compare) fn mark(&self) -> Option<(f64, String)> {
        let parted = self.parting.as_ref()?;
        Some((parted.at as f64 / 1e3, format!("they part at {}", instant(parted.at))))
    }

    /// Returns the part of a page.
    pub(in crate::cli::compare) fn section(&self) -> Section {
        let [one, other] = &self.names;
        let mut blocks = Vec::new();
        match &self.parting {
            None => {
                blocks.push(Block::Text(format!(
                    "{one} and {other} never part: all launches are the same."
                )));
            }
            Some(parted) => {
                let told =
                    [0, 1].map(|run| format!("{}: {}.", self.names[run], self.launch(parted, run)));
                let head = format!("{one} and {other} part at {}.", instant(parted.at));
                blocks.push(Block::Text(format!("{head} {}", told.join(" "))));
                for run in [0, 1] {
                    let asked = format!("{}: {}", self.names[run], self.asked(parted, run));
                    blocks.push(match contenders(&parted.contests[run]) {
                        Some(contenders) => self.contenders_table(asked, contenders),
                        None => Block::Text(asked),
                    });
                }
            }
        }
        if !self.differences.is_empty() {
            blocks.push(Block::Table(self.jobs_table()));
        }
        Section::new("Where they part", blocks)
    }

    fn contenders_table(&self, caption: String, contenders: &Contest) -> Block {
        let columns = ["Place", "Job", "Name", "Stands", "Gets"].map(Column::text);
        let cells = |row: Vec<String>| row.into_iter().map(PageCell::text).collect();
        let rows = self.rows(contenders).into_iter().map(cells).collect();
        Block::Table(PageTable { caption, columns: columns.into(), rows })
    }

    fn jobs_table(&self) -> PageTable {
        let columns = OF_JOBS.iter().enumerate().map(|(place, name)| match place {
            1 => Column::text(*name),
            _ => Column::number(*name, None),
        });
        let row = |(jobs, began): ([&ToldJob; 2], u64)| {
            let shown = job_row(jobs, began);
            let values = [Some(f64::from(jobs[0].id)), None, Some(began as f64)];
            let values =
                values.into_iter().chain(differences(jobs).map(|by| by.map(|ms| ms as f64)));
            let cell = |(shown, value): (String, Option<f64>)| match value {
                Some(value) => PageCell::number(value, shown),
                None => PageCell::text(shown),
            };
            shown.into_iter().zip(values).map(cell).collect()
        };
        let mut caption = self.jobs_caption();
        caption[..1].make_ascii_uppercase();
        PageTable { caption, columns: columns.collect(), rows: self.jobs().map(row).collect() }
    }

    // ---- words ----

    /// Tells what a run launched where they part.
    fn launch(&self, parted: &Parted, run: usize) -> String {
        let Some(launch) = &parted.launches[run] else {
            return "launches nothing any more".to_owned();
        };
        let Launch { place, .. } = launch;
        let again =
            if 0 < place.attempt { format!(", attempt {}", place.attempt) } else { String::new() };
        let (job, kind, task) = (place.job, place.kind.word(), place.task);
        let (name, node) = (self.job_name(job), self.node(launch));
        format!("job {job} ({name}), {kind} {task}{again} on {node} at {}", instant(place.at))
    }

    /// Tells who asked for what slot, and when.
    fn asked(&self, parted: &Parted, run: usize) -> String {
        let launch = parted.launches[parted.by].expect("it parts them");
        let node = self.node(&launch);
        let word = parted.kind.map_or("", SlotKind::word);
        match &parted.contests[run] {
            Ok(Contest { at, lineup: Some(_), .. }) => {
                format!("who contends for a {word} slot of {node} at {}", instant(*at))
            }
            Ok(Contest { lineup: None, .. }) => "the policy does not tell who contends".to_owned(),
            Err(why) => why.clone(),
        }
    }

    /// Returns a row for each contender that is shown.
    fn rows(&self, contest: &Contest) -> Vec<Vec<String>> {
        let Some(lineup) = &contest.lineup else { return Vec::new() };
        let all = &lineup.contenders;
        let winner = contest.winner_place();
        let row = |(place, one): (usize, &Contender)| {
            let gets = match &one.refusal {
                _ if winner == Some(place) => "the slot".to_owned(),
                Some(why) => format!("nothing: {why}"),
                None => String::new(),
            };
            let (job, name) = (one.job.0, self.job_name(one.job.0));
            vec![(place + 1).to_string(), job.to_string(), name.to_owned(), stands(one), gets]
        };
        let shown = |(place, _): &(usize, &Contender)| *place < SHOWN || winner == Some(*place);
        let mut rows: Vec<Vec<String>> = all.iter().enumerate().filter(shown).map(row).collect();
        if rows.len() < all.len() {
            let more = format!("and {} more", all.len() - rows.len());
            rows.push(vec![String::new(), String::new(), more, String::new(), String::new()]);
        }
        if all.is_empty() {
            let nobody = format!("no job has a {} to launch", lineup.kind.word());
            rows.push(vec![String::new(), String::new(), nobody, String::new(), String::new()]);
        }
        rows
    }
}

fn contenders(contest: &Result<Contest, String>) -> Option<&Contest> {
    contest.as_ref().ok().filter(|contest| contest.lineup.is_some())
}

/// Tells how a contender stands.
fn stands(one: &Contender) -> String {
    if one.standings.is_empty() {
        return "is not asked".to_owned();
    }
    let standing = |Standing { group, numbers }: &Standing| {
        let numbers: Vec<String> = numbers.iter().filter_map(|it| number(*it)).collect();
        let head = group.as_ref().map_or_else(String::new, |group| format!("{group}: "));
        head + &numbers.join(", ")
    };
    one.standings.iter().map(standing).collect::<Vec<_>>().join(" · ")
}

/// Tells a number, unless it says nothing.
fn number((measure, value): (Measure, f64)) -> Option<String> {
    let words = measure.words();
    match measure.told() {
        Told::Flag => (value != 0.0).then(|| words.to_owned()),
        Told::Priority => Some(format!("{words} {}", priority(value)?)),
        // Promised nothing, and owed nothing.
        _ if measure == Measure::MinShare && value == 0.0 => None,
        _ if measure == Measure::Due && value.is_infinite() => None,
        _ if !value.is_finite() => Some(format!("{words} unknown")),
        Told::Seconds => Some(format!("{words} {}", tell::time(value, Detail::Like(1.0)))),
        Told::Number => Some(format!("{words} {}", tell::number(value, 100.0))),
    }
}

/// Returns the word of a priority.
pub(super) fn priority(value: f64) -> Option<&'static str> {
    use Priority as P;
    let all = [P::VeryHigh, P::High, P::Normal, P::Low, P::VeryLow];
    all.get(value as usize).map(|priority| priority.word())
}

fn job_row(jobs: [&ToldJob; 2], began: u64) -> Vec<String> {
    let later = |by: Option<i64>| by.map_or_else(|| "–".to_owned(), later);
    let head = [jobs[0].id.to_string(), jobs[0].name.clone(), instant(began)];
    head.into_iter().chain(differences(jobs).map(later)).collect()
}

/// Returns by how many milliseconds a job was later in the second run: in arriving, in its first launch,
/// with its maps, in its end, and in its sojourn.
pub(super) fn differences([one, other]: [&ToldJob; 2]) -> [Option<i64>; 5] {
    let by = |of: fn(&ToldJob) -> Option<u64>| Some(of(other)? as i64 - of(one)? as i64);
    let (arrival, end) = (by(|job| job.submitted), by(|job| job.ended));
    let sojourn = end.zip(arrival).map(|(end, arrival)| end - arrival);
    [arrival, by(|job| job.launched), by(|job| job.maps_done), end, sojourn]
}

/// Tells an instant to the millisecond: `4.469 s`.
fn instant(millis: u64) -> String {
    format!("{} s", tell::grouped(millis as f64 / 1e3, 3))
}

/// Tells a difference to the millisecond with its sign: `+0.148 s`.
fn later(millis: i64) -> String {
    let sign = if 0 < millis { "+" } else { "" };
    format!("{sign}{} s", tell::grouped(millis as f64 / 1e3, 3))
}
