//! The parts of each job's sojourn: a bar for each job, which opens to the text of `mumakil
//! explain`.

use std::cmp::Reverse;

use super::{ReportBlocks, ReportSource, count, gist};
use mumakil_base::units::tell;
use mumakil_draw::chart::SeriesLook;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable, Slice};
use mumakil_results::explain::{ExplainedJob, PartSum, RunToExplain, SojournPart};

/// The most rows of the table. Chosen: browsers are slow with the thousands of jobs of a large
/// trace.
const MOST: usize = 1_000;
/// The number of most delayed jobs whose explanations name the holders of the slots.
const STORIES: usize = 100;

/// The most attempts of a run that the report explains. Chosen: explaining keeps all of them in
/// memory.
const MOST_ATTEMPTS: u64 = 100_000;

/// The looks of the parts of a job's sojourn, in the order of the key.
// Fixed looks, so that a part has the same colour on every page; similar parts share a look.
const KINDS: [(&str, SeriesLook, &[SojournPart]); 7] = [
    ("maps", SeriesLook(0), &[SojournPart::Mapping]),
    (
        "waiting for slots",
        SeriesLook(1),
        &[SojournPart::FirstMapWait, SojournPart::MapWait, SojournPart::ReduceWait],
    ),
    ("fetching", SeriesLook(5), &[SojournPart::FetchingBehindMaps, SojournPart::Fetching]),
    ("sorting and reducing", SeriesLook(2), &[SojournPart::Sorting, SojournPart::Reducing]),
    ("heartbeats and commits", SeriesLook(4), &[SojournPart::Heartbeats]),
    (
        "lost: done again, suspended, without the JobTracker",
        SeriesLook(3),
        &[
            SojournPart::Redone,
            SojournPart::Unnoticed,
            SojournPart::Suspended,
            SojournPart::JobTrackerAway,
        ],
    ),
    (
        "initialisation, setup and cleanup",
        SeriesLook(6),
        &[SojournPart::Initialisation, SojournPart::Setup, SojournPart::Cleanup],
    ),
];

/// Returns whether the report explains the run.
pub(super) fn is_explained(source: &ReportSource<'_>) -> bool {
    !source.jobs.all.is_empty() && source.run.summary.attempts <= MOST_ATTEMPTS
}

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let ReportSource { run, jobs, explained, .. } = source;
    if !run.scenario.record.tasks || jobs.all.is_empty() {
        return Ok(Vec::new());
    }
    if !is_explained(source) {
        let text = format!(
            "With {} attempts this run is not explained here; `mumakil explain` on its folder does it.",
            count(run.summary.attempts as f64)
        );
        return Ok(vec![PageBlock::Text(text)]);
    }
    let told = explained.get().expect("the chart of attempts comes first, and has read them");
    let holders = told.holders();
    let ran = (0..told.jobs.len()).filter(|place| !told.jobs[*place].is_refused());
    let mut all: Vec<ExplainedJob> =
        ran.map(|place| ExplainedJob::of(told, place, &holders)).collect();
    let mut whole = ExplainedJob::whole(&all, &holders);
    // A stable sort: parts of equal length stay in the order of a job's life.
    whole.sort_by_key(|sum| Reverse(sum.ms));
    let total: u64 = all.iter().map(|one| one.sojourn_ms).sum();
    // A stable sort: equally delayed jobs stay in the order of their numbers.
    all.sort_by(|a, b| b.times_undelayed().total_cmp(&a.times_undelayed()));
    // Naming the holders is slow for thousands of jobs, and no reader opens so many explanations.
    all.iter_mut().take(STORIES).for_each(|one| one.name_holders(&holders));
    _ = source.causes.set(gist::causes(source, told, &whole, &all)?);
    let doubt = told.doubt().map(|words| PageBlock::Warnings(vec![words]));
    let blocks = [
        PageBlock::Table(together(told, &whole, total)),
        PageBlock::Key(KINDS.iter().map(|(name, look, _)| (*look, (*name).to_owned())).collect()),
        PageBlock::Table(table(told, &all)),
    ];
    Ok(doubt.into_iter().chain(blocks).collect())
}

/// Returns the table of the parts of all jobs' time, which is `total` milliseconds.
fn together(told: &RunToExplain, whole: &[PartSum], total: u64) -> PageTable {
    let rows = whole.iter().map(|sum| {
        vec![
            PageCell::text(told.part_word(sum.part)),
            PageCell::number(sum.ms as f64, tell::span(sum.ms as f64 / 1e3)),
            PageCell::number(sum.ms as f64, sum.share_of(total)),
            PageCell::text(sum.why(told)),
        ]
    });
    PageTable::new(
        "The time of all jobs together",
        [
            PageColumn::text("Spent on"),
            PageColumn::number("Time"),
            PageColumn::number("Share"),
            PageColumn::text("Why, and who had the slots"),
        ],
        rows,
    )
}

/// Returns the table of jobs; the job that was delayed most comes first.
fn table(told: &RunToExplain, all: &[ExplainedJob]) -> PageTable {
    let jobs = match all.len() {
        ..=MOST => "All jobs".to_owned(),
        _ => format!("The {} most delayed jobs", count(MOST as f64)),
    };
    let columns = vec![
        PageColumn::text("Name"),
        PageColumn::text("Pool or user"),
        PageColumn::number("Took"),
        PageColumn::number("Times undelayed"),
        PageColumn::text("Its time was spent on"),
    ];
    let rows = all.iter().take(MOST).map(|one| {
        let job = &told.jobs[one.place];
        vec![
            PageCell::text(&*job.row.name),
            PageCell::text(told.group_of(job)),
            PageCell::number(one.sojourn_ms as f64, tell::span(one.sojourn_ms as f64 / 1e3)),
            PageCell::number(one.times_undelayed(), tell::times(one.times_undelayed())),
            PageCell::split(slices(&one.sums), story(told, one)),
        ]
    });
    PageTable::new(
        format!(
            "{jobs}, and how many times as long they took as without other jobs and faults; a bar \
             opens to its story{}",
            match all.len() {
                ..=STORIES => String::new(),
                _ => format!(", which says of the first {STORIES} who held the slots"),
            }
        ),
        columns,
        rows,
    )
}

/// Returns the slices of a job's bar: the share of each kind of part in the job's sojourn.
fn slices(sums: &[PartSum]) -> Vec<Slice> {
    let total: u64 = sums.iter().map(|sum| sum.ms).sum();
    let slices = KINDS.iter().filter_map(|(name, look, parts)| {
        let ms: u64 = sums.iter().filter(|sum| parts.contains(&sum.part)).map(|sum| sum.ms).sum();
        // A job that was killed at once may take no time at all.
        let share = ms as f64 / total.max(1) as f64;
        let name = format!("{name}: {}", tell::percent(share));
        (0 < ms).then_some(Slice { look: *look, share, name })
    });
    slices.collect()
}

fn story(told: &RunToExplain, one: &ExplainedJob) -> Vec<String> {
    one.sums.iter().map(|sum| sum.line(told, one.sojourn_ms)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_drawn_as_one_kind() {
        for part in SojournPart::ALL {
            let kinds = KINDS.iter().filter(|(.., parts)| parts.contains(&part)).count();
            assert_eq!(kinds, 1, "{part:?}");
        }
    }

    #[test]
    fn the_slices_of_a_job_are_all_of_it() {
        let sum = |part, ms| PartSum { part, rule: None, ms, held: 0, own: 0, jobs: Vec::new() };
        let sums = [
            sum(SojournPart::Setup, 10),
            sum(SojournPart::Mapping, 60),
            sum(SojournPart::Cleanup, 30),
        ];
        let slices = slices(&sums);
        let told: Vec<(&str, f64)> =
            slices.iter().map(|slice| (slice.name.as_str(), slice.share)).collect();
        assert_eq!(
            told,
            [("maps: 60.0 %", 0.6), ("initialisation, setup and cleanup: 40.0 %", 0.4)]
        );
    }
}
