//! The gist of a run: some sentences with what mattered, for the page and the console.

use indexmap::IndexMap;

use super::ReportSource;
use mumakil_base::units::tell::{percent, span};
use mumakil_core::cluster::SlotKind;
use mumakil_results::expect::capital;
use mumakil_results::explain::{ExplainedJob, PartSum, RunToExplain, SojournPart, WaitRule};
use mumakil_results::tables::{FaultRow, ReadError, Results};

/// The most sentences.
const MOST: usize = 3;

/// The share of the jobs' time from which on a delay is worth a sentence, and how many times as long as
/// undelayed a job takes that is worth one.
// Chosen: shorter delays come from heartbeats alone.
const NOTABLE: (f64, f64) = (0.05, 1.5);

/// Returns the sentences, the weightiest first.
pub(super) fn sentences(source: &ReportSource<'_>) -> Vec<String> {
    let overload = source.run.summary.load.overloaded.then(|| {
        "The cluster does not keep up with the jobs: they wait longer and longer, so sojourns \
         measure how many jobs there are."
            .to_owned()
    });
    let causes = source.causes.get().into_iter().flatten().cloned();
    let all = overload.into_iter().chain(full(source)).chain(causes).chain(outliving(source));
    all.take(MOST).collect()
}

/// Says that memory or cores are fuller than the slots.
fn full(ReportSource { run, .. }: &ReportSource<'_>) -> Option<String> {
    let shares = run.summary.resource_utilisation?;
    let slots = run.summary.slot_utilisation.map.unwrap_or_default();
    let held = [("memory", shares.memory), ("cores", shares.cores)].into_iter();
    let fullest = held.max_by(|a, b| a.1.unwrap_or(0.0).total_cmp(&b.1.unwrap_or(0.0)));
    let (word, share) = fullest.filter(|(_, share)| Some(slots) < *share)?;
    let (share, slots) = (percent(share?), percent(slots));
    Some(format!("Attempts held {share} of the {word} in the mean, but {slots} of the map slots."))
}

/// Names the job that runs on after nearly all the work is done, if charts leave that time out.
fn outliving(ReportSource { run, jobs, until, .. }: &ReportSource<'_>) -> Option<String> {
    let last = jobs.all.iter().max_by_key(|job| job.finish_ms.unwrap_or(u64::MAX))?;
    let [until, end] = [*until, run.summary.virtual_s];
    (until < end).then(|| {
        format!(
            "`{}` outlives the others: 99 % of the slot time is over after {}, where charts over \
             time end, and the run after {}.",
            last.name,
            span(until),
            span(end)
        )
    })
}

/// Returns sentences about the explained jobs, which are in the order of their delays: what delayed
/// them most together, and the most delayed one. `whole` has the parts of all jobs together.
pub(super) fn causes(
    source: &ReportSource<'_>,
    told: &RunToExplain,
    whole: &[PartSum],
    all: &[ExplainedJob],
) -> Result<Vec<String>, ReadError> {
    let total: u64 = whole.iter().map(|sum| sum.ms).sum();
    let jobs = if all.len() == 1 { "the job's time" } else { "the jobs' time" };
    // The time of each cause, and the largest part of it, which comes first.
    let mut causes: IndexMap<&str, (u64, &PartSum)> = IndexMap::new();
    for sum in whole.iter().filter(|sum| sum.is_delay()) {
        causes.entry(cause(told, sum)).or_insert((0, sum)).0 += sum.ms;
    }
    let all_delays: u64 = causes.values().map(|(ms, _)| ms).sum();
    let most = causes.into_values().max_by_key(|(ms, _)| *ms);
    let first = match most.filter(|(ms, _)| NOTABLE.0 * total as f64 <= *ms as f64) {
        Some((ms, sum)) => format!(
            "{} took {} of {jobs} ({}){}.",
            capital(cause(told, sum)),
            percent(ms as f64 / total as f64),
            span(ms as f64 / 1e3),
            match sum.part {
                SojournPart::Unnoticed | SojournPart::Redone => trouble(source)?,
                _ => mostly(told, sum),
            }
        ),
        None => {
            let share = percent(all_delays as f64 / total.max(1) as f64);
            format!("Waits for others and faults took only {share} of {jobs}.")
        }
    };
    let slowest = all.first().filter(|job| 1 < all.len() && NOTABLE.1 <= job.times_undelayed());
    let delayed = slowest.and_then(|job| {
        let sum = job.sums.iter().filter(|sum| sum.is_delay()).max_by_key(|sum| sum.ms)?;
        let [took, undelayed] = [job.sojourn_ms, job.undelayed_ms].map(|ms| span(ms as f64 / 1e3));
        Some(format!(
            "`{}` was delayed most: it took {took} instead of {undelayed}; {} of that went into {}{}.",
            told.jobs[job.place].row.name,
            sum.share_of(job.sojourn_ms),
            told.part_word(sum.part),
            mostly(told, sum)
        ))
    });
    Ok([first].into_iter().chain(delayed).collect())
}

/// Returns the cause of a delay in words. Waits for slots of a kind are one cause, whatever their rules.
fn cause(told: &RunToExplain, sum: &PartSum) -> &'static str {
    told.part_word(match sum.part.slot() {
        Some(SlotKind::Map) => SojournPart::MapWait,
        Some(SlotKind::Reduce) => SojournPart::ReduceWait,
        None => sum.part,
    })
}

/// Returns the rule of a wait and the job that held most of the slots, to end a sentence.
fn mostly(told: &RunToExplain, sum: &PartSum) -> String {
    let rule =
        sum.rule.map(|rule| format!(": mostly {}", told.rule_word(rule))).unwrap_or_default();
    // Where memory or cores are lacking, slots are not what was waited for; and no job with few of them
    // is to blame.
    let named = sum.jobs.first().filter(|_| sum.rule != Some(WaitRule::NoRoom));
    match named.filter(|(_, held)| sum.held <= 4 * held) {
        Some((job, held)) => {
            let share = percent(*held as f64 / sum.held.max(1) as f64);
            let (name, held) = (told.name_of(*job), told.held_word());
            format!("{rule}, and `{name}` had {share} of the {held}")
        }
        None => rule,
    }
}

/// Names the first fault, to end a sentence; empty without any.
fn trouble(source: &ReportSource<'_>) -> Result<String, ReadError> {
    let mut first = String::new();
    (source.run.results as &dyn Results).rows_if_any(
        |FaultRow { node, what, at_ms, .. }| {
            if first.is_empty() {
                first = format!(", after \"{what}\" on {node} at {}", span(at_ms as f64 / 1e3));
            }
            Ok(())
        },
    )?;
    Ok(first)
}
