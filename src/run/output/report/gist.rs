//! The gist of a run: some sentences with what mattered, on top of the page and on the console.

use super::ReportSource;
use mumakil_base::units::tell::{percent, span};
use mumakil_core::cluster::SlotKind;
use mumakil_core::mapred::Incident;
use mumakil_results::expect::capital;
use mumakil_results::explain::{ExplainedJob, PartSum, RunToExplain, SojournPart};
use mumakil_results::tables::{FaultRow, JobRow, ReadError, Results};

/// The most sentences.
const MOST: usize = 3;

/// The share of the jobs' time from which on a delay is worth a sentence.
// Chosen: shorter delays come from heartbeats alone.
const NOTABLE: f64 = 0.05;

/// A job is worth a sentence if it took this many times as long as without others and faults.
const DELAYED: f64 = 1.5;

/// Returns the sentences, the weightiest first.
pub(super) fn sentences(source: &ReportSource<'_>) -> Result<Vec<String>, ReadError> {
    let summary = source.run.summary;
    let overload = summary.load.overloaded.then(|| {
        "The cluster does not keep up with the jobs: they wait longer and longer, so sojourns \
         measure how many jobs there are."
            .to_owned()
    });
    let causes = match source.causes.get() {
        Some(causes) => causes.clone(),
        None => mean_wait(source).into_iter().collect(),
    };
    let all = overload.into_iter().chain(full(source)).chain(causes).chain(outliving(source));
    Ok(all.take(MOST).collect())
}

/// Says that memory or cores are what tasks wait for, if they are fuller than the slots.
fn full(ReportSource { run, .. }: &ReportSource<'_>) -> Option<String> {
    let shares = run.summary.resource_utilisation?;
    let slots = run.summary.slot_utilisation.map.unwrap_or_default();
    let held = [("Memory", shares.memory), ("Cores", shares.cores)].into_iter();
    let known = held.filter_map(|(word, share)| Some((word, share?)));
    let (word, share) = known.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|it| slots < it.1)?;
    Some(format!(
        "{word} limited tasks more than slots did: attempts held {} of it in the mean, and {} of the \
         map slots.",
        percent(share),
        percent(slots)
    ))
}

/// Says which part of a sojourn is a wait, for runs that are not explained.
fn mean_wait(ReportSource { run, .. }: &ReportSource<'_>) -> Option<String> {
    let (sojourn, wait) = (run.summary.mean_sojourn_s?, run.summary.mean_wait_s?);
    let p95 = span(run.summary.p95_sojourn_s?);
    Some(format!(
        "Jobs took {} in the mean, one in twenty more than {p95}; {} of that ({}) they waited for \
         their first slot.",
        span(sojourn),
        span(wait),
        percent(wait / sojourn)
    ))
}

/// Names the job that runs on after nearly all the work is done, if charts leave that time out.
fn outliving(source: &ReportSource<'_>) -> Option<String> {
    let ReportSource { run, jobs, until, .. } = source;
    let end = |job: &JobRow| job.finish_ms.unwrap_or(u64::MAX);
    let last = jobs.all.iter().max_by_key(|job| end(job))?;
    (*until < run.summary.virtual_s).then(|| {
        format!(
            "`{}` outlives the others: 99 % of the slot time is over after {}, where charts over \
             time end, and the run goes on until {}.",
            last.name,
            span(*until),
            span(run.summary.virtual_s)
        )
    })
}

/// Returns the sentences about the explained jobs, which are in the order of their delays: what cost
/// them most together, and the most delayed one. `whole` has the parts of all jobs together.
pub(super) fn causes(
    source: &ReportSource<'_>,
    told: &RunToExplain,
    whole: &[PartSum],
    all: &[ExplainedJob],
) -> Result<Vec<String>, ReadError> {
    let total: u64 = whole.iter().map(|sum| sum.ms).sum();
    let share = |ms: u64| ms as f64 / total.max(1) as f64;
    let jobs = if all.len() == 1 { "the job's time" } else { "the jobs' time" };
    // Waits for slots of a kind are one cause, whatever their rules and whether they are the first.
    let cause = |sum: &PartSum| match sum.part.slot() {
        Some(SlotKind::Map) => "waiting for map slots",
        Some(SlotKind::Reduce) => "waiting for reduce slots",
        None => sum.part.word(),
    };
    let delays: Vec<&PartSum> = whole.iter().filter(|sum| sum.is_delay()).collect();
    let of = |word: &str| delays.iter().filter(|sum| cause(sum) == word).map(|sum| sum.ms).sum();
    let most =
        delays.iter().map(|sum| (of(cause(sum)), *sum)).max_by_key(|(ms, sum)| (*ms, sum.ms));
    let first = match most.filter(|(ms, _)| NOTABLE <= share(*ms)) {
        Some((ms, sum)) => {
            let why = match sum.part {
                SojournPart::Unnoticed | SojournPart::Redone => trouble(source)?,
                _ => mostly(told, sum),
            };
            let (cause, took) = (capital(cause(sum)), span(ms as f64 / 1e3));
            format!("{cause} took {} of {jobs} ({took}){why}.", percent(share(ms)))
        }
        None => {
            let delayed = percent(share(delays.iter().map(|sum| sum.ms).sum()));
            let Some(largest) = whole.first() else { return Ok(Vec::new()) };
            format!(
                "Others and faults took only {delayed} of {jobs}; the largest part is {}, {}.",
                largest.part.word(),
                percent(share(largest.ms))
            )
        }
    };
    let delayed = all.first().filter(|job| 1 < all.len() && DELAYED <= job.times_undelayed());
    let delayed = delayed.and_then(|job| {
        let sum = job.sums.iter().filter(|sum| sum.is_delay()).max_by_key(|sum| sum.ms)?;
        Some(format!(
            "`{}` was delayed most: it took {} instead of {}, and {} of that went into {}{}.",
            told.jobs[job.place].row.name,
            span(job.sojourn_ms as f64 / 1e3),
            span(job.undelayed_ms as f64 / 1e3),
            sum.share_of(job.sojourn_ms),
            sum.part.word(),
            mostly(told, sum)
        ))
    });
    Ok([first].into_iter().chain(delayed).collect())
}

/// Returns the rule of a wait and the job that held most of the slots, to end a sentence.
fn mostly(told: &RunToExplain, sum: &PartSum) -> String {
    let rule = sum.rule.map(|rule| format!("mostly {}", rule.word()));
    let holder = sum.jobs.first().filter(|_| 0 < sum.held).map(|(job, held)| {
        let share = percent(*held as f64 / sum.held as f64);
        format!("`{}` had {share} of the held slots", told.name_of(*job))
    });
    let parts: Vec<String> = rule.into_iter().chain(holder).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) }
}

/// Names the first fault of a machine, to end a sentence; empty without any.
fn trouble(source: &ReportSource<'_>) -> Result<String, ReadError> {
    let mut first = None;
    (source.run.results as &dyn Results).rows_if_any(|row: FaultRow| {
        if first.is_none() && row.node != Incident::OF_JOBTRACKER {
            first = Some(format!(
                ": {} had \"{}\" at {}",
                row.node,
                row.what,
                span(row.at_ms as f64 / 1e3)
            ));
        }
        Ok(())
    })?;
    Ok(first.unwrap_or_default())
}
