//! Whether a policy is sound: the job that starves under it, the invariants that its run breaks, and
//! two answers to one question.

use std::panic::resume_unwind;
use std::sync::Arc;

use parking_lot::Mutex;

use mumakil_base::units::tell::{count, counted, span};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    Job, JobId, Offer, PerSlot, PolicyFailed, Scheduler, SlotKind, Wrapper,
};
use mumakil_run::emulation::Options;
use mumakil_run::verify::Verifier;
use mumakil_scenario::Registry;

/// A job starves if it gets no slot for this time, although slots are free. Two hours are enough:
/// policies let a job wait for a local slot only for seconds, and drawn tasks take minutes.
const STARVED: SimSpan = SimSpan::from_secs(2 * 60 * 60);

/// A job starves only if so many offers have passed it over: under a high load a slot is free for a
/// moment now and then, and a policy may keep it for another job.
// Chosen: one offer in a minute or so; a slot that stays free is offered with every heartbeat.
const LEAST_OFFERS: u64 = 100;

/// The largest number of exchanges with a program that are kept, to compare two runs.
// Chosen to bound the memory: differences mostly come early.
const KEPT: usize = 100_000;
/// The number of lines kept from the end of a program's stderr, such as the end of a Python
/// traceback.
const LAST_WORDS: usize = 8;

/// The largest number of violations that are listed; later violations mostly follow from the first.
const TOLD: usize = 5;
/// The largest number of characters that are shown of a question or an answer.
const SHOWN: usize = 300;
/// The observations of a policy during a run.
#[derive(Default)]
pub struct PolicyObservations {
    /// The job that starved, and for how long, in words.
    pub starved: Option<String>,
    /// A program's questions and answers.
    pub exchanges: Vec<(Vec<u8>, Vec<u8>)>,
    /// A program's last lines on stderr.
    pub said: Vec<String>,
}

impl PolicyObservations {
    /// Makes a run note what its policy says and answers, and ends the run if the policy lets a job
    /// starve.
    pub fn watch(seen: &Arc<Mutex<Self>>, registry: &mut Registry, options: &mut Options) {
        let [voice, exchanges, starved] = [(); 3].map(|()| seen.clone());
        registry.voice = Arc::new(move |line: &str| voice.lock().hear(line));
        registry.overhear = Some(Arc::new(move |asked: &[u8], answered: &[u8]| {
            exchanges.lock().overhear(asked, answered);
        }));
        options.around =
            Some(Box::new(move |policy| Box::new(WatchedPolicy::new(policy, starved.clone()))));
    }

    fn hear(&mut self, line: &str) {
        self.said.push(line.to_owned());
        // Keep the last lines: a traceback ends with its cause.
        self.said.drain(..self.said.len().saturating_sub(LAST_WORDS));
    }

    fn overhear(&mut self, asked: &[u8], answered: &[u8]) {
        if self.exchanges.len() < KEPT {
            self.exchanges.push((asked.to_vec(), answered.to_vec()));
        }
    }
}

/// Returns the text that identifies a mistake: its first line without the instant and the digits.
pub fn sign(what: &str) -> String {
    let line = what.lines().next().unwrap_or_default();
    let sentence = line.rsplit_once(" of the run: ").map_or(line, |(_, rest)| rest);
    // Remove the digits: the numbers of jobs and nodes change as the case is made smaller.
    sentence.replace(|c: char| c.is_ascii_digit(), "")
}

/// Returns the invariants that a run has broken, in words; `None` if it has broken none.
pub fn broken_invariants(verifier: &Verifier) -> Option<String> {
    let all = verifier.violations();
    let mut words = "the run broke its invariants:".to_owned();
    all.iter().take(TOLD).for_each(|one| words += &format!("\n  {one}"));
    let more = all.len().saturating_sub(TOLD) as u64 + verifier.more();
    if 0 < more {
        words += &format!("\n  and {} more", count(more));
    }
    (!all.is_empty()).then_some(words)
}

/// Returns the first difference in the answers of two runs in words; `None` if all are equal.
pub fn parted(first: &[(Vec<u8>, Vec<u8>)], second: &[(Vec<u8>, Vec<u8>)]) -> Option<String> {
    let place = first.iter().zip(second).position(|(one, other)| {
        // Compare contents: the order of keys may differ.
        let read = |line: &[u8]| serde_json::from_slice::<serde_json::Value>(line).ok();
        one.1 != other.1 && (read(&one.1).is_none() || read(&one.1) != read(&other.1))
    })?;
    // The first exchange is `hello`, so the questions count from 1.
    let number =
        if place == 0 { "`hello`".to_owned() } else { format!("question {}", count(place as u64)) };
    Some(format!(
        "the same run was answered in two ways, which part at {number}: an answer depends on what was said in the run, and on \
         nothing else (the time of day, numbers drawn without the seed of `hello`, the order of a set)\n  \
         asked    {}\n  answered {}\n  and then {}",
        shown(&first[place].0),
        shown(&first[place].1),
        shown(&second[place].1),
    ))
}

/// Returns the beginning of a line.
fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let text = line.trim_end();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// Watches a policy, and ends the run if the policy passes a job over for too long.
struct WatchedPolicy {
    policy: Box<dyn Scheduler>,
    /// For each job number and kind of slot, the time since which the policy has passed the job
    /// over.
    passed_over: Vec<PerSlot<Option<PassedOver>>>,
    seen: Arc<Mutex<PolicyObservations>>,
}

/// A job for which the policy launched no task, although a slot was free for it.
#[derive(Clone, Copy)]
struct PassedOver {
    since: SimTime,
    /// The number of offers since then.
    offers: u64,
    /// The numbers of its running and finished tasks: the job starves only if neither number
    /// changes.
    is_at: (u32, u32),
}

impl WatchedPolicy {
    const fn new(policy: Box<dyn Scheduler>, seen: Arc<Mutex<PolicyObservations>>) -> Self {
        Self { policy, passed_over: Vec::new(), seen }
    }

    /// Notes the jobs that got no slot from an offer; ends the run if one of them starves.
    fn look(&mut self, offer: &mut Offer<'_>, kind: SlotKind) {
        let now = offer.view().now();
        let running: Vec<JobId> = offer.running_jobs().map(Job::id).collect();
        for id in running {
            // Skip a job that avoids the tracker or does not fit there.
            if !offer.suits(id, kind, 1) || !offer.fits(id, kind) {
                continue;
            }
            let view = offer.view();
            let Some(job) = view.job(id).filter(|job| 0 < job.pending(kind)) else { continue };
            let is_at = (job.tasks(kind).running(), job.tasks(kind).finished());
            if self.passed_over.len() <= id.index() {
                self.passed_over.resize_with(id.index() + 1, PerSlot::default);
            }
            let noted = &mut self.passed_over[id.index()][kind];
            // If a task has begun or ended since, count from now.
            let same = noted.filter(|noted| noted.is_at == is_at);
            let mut passed_over = same.unwrap_or(PassedOver { since: now, offers: 0, is_at });
            passed_over.offers += 1;
            *noted = Some(passed_over);
            let waited = now.saturating_since(passed_over.since);
            if STARVED < waited && LEAST_OFFERS <= passed_over.offers {
                let words = format!(
                    "for {} `{}` (job {}) has {} to launch, {} had a free slot for them, and it got none",
                    span(waited.as_secs_f64()),
                    job.spec().name,
                    id.0,
                    counted(u64::from(job.pending(kind)), kind.word()),
                    counted(passed_over.offers, "offer"),
                );
                self.seen.lock().starved = Some(words.clone());
                // `resume_unwind` calls no panic hook, so nothing is printed.
                resume_unwind(Box::new(PolicyFailed(words)));
            }
        }
    }
}

impl Wrapper for WatchedPolicy {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.policy)
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.policy.offer(offer);
        // Call `look` after the policy's turn: a job was passed over only if the policy left a slot
        // free.
        for kind in SlotKind::BOTH {
            if 0 < offer.free(kind) {
                self.look(offer, kind);
            }
        }
    }
}
