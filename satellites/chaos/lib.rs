//! Runs random scenarios under the invariant checker, to find mistakes in cases that no test
//! covers.
//!
//! ```text
//! case 4711 -> draw: a random scenario -> trial: run it under the checker
//!                                         judge: did it panic, break an invariant, never end?
//!   a mistake -> shrink: try smaller scenarios while the same mistake shows -> a catch, as YAML
//! ```
//! Each [`Subject`] of a [`Hunt`] has its own list of judges.
//!
//! The settings to draw come from the JSON Schema, so a new option, policy or kind of fault is
//! drawn as soon as it exists.

mod command;
mod draw;
mod hunt;
mod judge;
mod recount;
mod rehearse;
mod shrink;
mod starvation;
mod subject;
#[cfg(test)]
#[path = "../../tests/it/registry.rs"]
mod testing;
#[cfg(test)]
#[path = "tests/judges.rs"]
mod tests;
mod trial;
mod values;

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use parking_lot::Mutex;
use serde::Serialize;

use self::judge::CaseFlaw;
pub use self::subject::Subject;
use self::trial::Trial;
use mumakil_cli::{Command, CommandGroup, Satellite};
use mumakil_core::mapred::{ExternalWork, ProgramPermit};
use mumakil_scenario::{Registry, schema};

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    let chaos = Command::of("chaos", CommandGroup::BringYourOwn, command::ChaosArguments::run)
        .starts_runs();
    let handler = rehearse::PolicyRehearseArguments::run;
    let rehearse = Command::of("policy try", CommandGroup::BringYourOwn, handler).starts_runs();
    Satellite { commands: vec![chaos, rehearse], ..Satellite::default() }
}

/// A hunt for mistakes: the program, the cases and the time.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The program whose mistakes are hunted.
    pub subject: Subject,
    /// The seed of the first case.
    pub seed: u64,
    /// The number of cases.
    pub runs: u64,
    /// The number of cases that run at the same time.
    pub workers: NonZero<usize>,
    /// The real time after which no new case begins; `None` if there is no limit.
    pub time: Option<Duration>,
    /// The real time to make a scenario smaller. In a hunt for the mistakes of an external program,
    /// also the time to try further cases after the first mistake.
    pub patience: Duration,
}

/// The counts of a hunt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HuntTally {
    /// Cases that were run.
    pub runs: u64,
    /// Cases with a broken invariant or another mistake.
    pub violations: u64,
    /// Cases that did not end, although they have no recurring fault.
    pub endless: u64,
    /// Cases that were ended as stalled, but could have gone on.
    pub stalled: u64,
    /// Cases that really stalled: this is a result, not a mistake.
    pub deadlocks: u64,
    /// Cases that did not end, without a mistake: a recurring fault or slow nodes may be the cause.
    pub unended: u64,
    /// Of these, under an external program, those that do end under `fifo`.
    #[serde(skip)]
    pub unended_own: u64,
    /// The seed of the first such case.
    #[serde(skip)]
    pub first_unended_own: Option<u64>,
    /// Cases that were chosen to run twice.
    pub repeated: u64,
    /// The questions that external programs answered in runs that ended, and the time of the
    /// answers.
    #[serde(skip)]
    pub external_work: ExternalWork,
    /// The real time of all runs.
    #[serde(skip)]
    pub real: Duration,
}

impl HuntTally {
    /// Returns whether no mistake was found.
    pub const fn is_clean(&self) -> bool {
        self.violations == 0 && self.endless == 0 && self.stalled == 0
    }

    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.violations += other.violations;
        self.endless += other.endless;
        self.stalled += other.stalled;
        self.deadlocks += other.deadlocks;
        self.unended += other.unended;
        self.unended_own += other.unended_own;
        let firsts = [self.first_unended_own, other.first_unended_own];
        self.first_unended_own = firsts.into_iter().flatten().min();
        self.repeated += other.repeated;
        self.external_work += other.external_work;
        self.real += other.real;
    }
}

/// A mistake found by a hunt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HuntCatch {
    /// The seed of the first case that shows it.
    pub seed: u64,
    /// The number of cases that show it; always 1 if Mumakil is the subject, since each case is
    /// then reported by itself.
    pub cases: u64,
    /// The mistake in words; may have several lines.
    pub words: String,
    /// The last lines that an external program wrote to stderr.
    pub said: Vec<String>,
    /// The smallest scenario found that shows the mistake.
    pub yaml: String,
}

/// Returns a registry without external policies: a drawn command could start any program.
pub fn without_programs(registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    registry.remove("external").forget_lines().permit_programs(ProgramPermit::default());
    registry
}

/// Hunts for mistakes. Calls `tell` with `None` after each case, and with `Some` for each mistake.
/// If Mumakil is the subject, no case has an [external policy](without_programs), and the mistake
/// in each case is reported at once. An external program mostly shows a few mistakes in many cases,
/// so each different mistake is reported once. These reports come at the end, in the order of the
/// mistakes' first cases.
pub fn hunt(
    hunt: &Hunt,
    registry: &Registry,
    tell: impl FnMut(Option<HuntCatch>) + Send,
) -> HuntTally {
    let tells_each = matches!(hunt.subject, Subject::Mumakil { .. });
    let tame = without_programs(registry);
    let registry = if tells_each { &tame } else { registry };
    let schema = schema(registry);
    let draw = |seed| hunt.subject.draw(seed, &schema, registry);
    let trial = |seed| Trial::new(&hunt.subject, registry, seed);
    // Makes the scenario of a mistake as small as possible while the mistake still shows.
    let catch = |seed, cases, wrong: CaseFlaw| {
        let (smallest, shown) = shrink::shrink(draw(seed), hunt.patience, |tree| {
            // Refuse a scenario without `nodes`: it is shorter, but uses the preset's larger
            // cluster.
            let is_sized = tree.get("cluster").and_then(|cluster| cluster.get("nodes")).is_some();
            let shown = is_sized.then(|| trial(seed).of(tree).1).flatten();
            shown.filter(|other| wrong.is_in(other))
        });
        // Take the words from the smallest scenario, which shows the mistake best.
        let CaseFlaw { words, said, .. } = shown.unwrap_or(wrong);
        // Write the scenario with the program as its policy, so that `mumakil run` shows the
        // mistake.
        HuntCatch {
            seed,
            cases,
            words,
            said,
            yaml: draw::text(&hunt.subject.with_program(&smallest)),
        }
    };
    let (began, first_wrong) = (now(), OnceLock::<Instant>::new());
    let so_far = Mutex::new((HuntTally::default(), Vec::new(), tell));
    let is_over = || {
        hunt.time.is_some_and(|time| time <= began.elapsed())
            || first_wrong.get().is_some_and(|at| hunt.patience <= at.elapsed())
    };
    each_case(hunt, is_over, |seed| {
        let (mut one, wrong) = trial(seed).of(&draw(seed));
        one.first_unended_own = (0 < one.unended_own).then_some(seed);
        let (mut caught, mut left) = (None, None);
        match wrong {
            Some(wrong) if tells_each => caught = Some(catch(seed, 1, wrong)),
            Some(wrong) => {
                first_wrong.get_or_init(now);
                left = Some((seed, wrong));
            }
            None => {}
        }
        let (tally, wrong, tell) = &mut *so_far.lock();
        tally.add(&one);
        wrong.extend(left);
        tell(None);
        // `tell(None)` counts the case first; `tell(caught)` then reports the mistake.
        if caught.is_some() {
            tell(caught);
        }
    });
    let (tally, mut wrong, mut tell) = so_far.into_inner();
    // Threads finish in any order, but the report must be the same each time.
    wrong.sort_by_key(|(seed, _)| *seed);
    let mut kinds = IndexMap::<String, (u64, u64, CaseFlaw)>::new();
    for (seed, wrong) in wrong {
        // Cases are in order here, so each mistake keeps its first case.
        kinds.entry(wrong.sign().to_owned()).or_insert((seed, 0, wrong)).1 += 1;
    }
    kinds.into_values().for_each(|(seed, cases, wrong)| tell(Some(catch(seed, cases, wrong))));
    tally
}

/// Runs the cases of a hunt on several threads, until no further case should begin.
fn each_case(hunt: &Hunt, is_over: impl Fn() -> bool + Sync, run: impl Fn(u64) + Sync) {
    let begun = AtomicU64::new(0);
    thread::scope(|scope| {
        // A worker takes the next case when it is free: cases take from milliseconds to 20 s.
        for _ in 0..hunt.workers.get() {
            scope.spawn(|| {
                std::iter::from_fn(|| {
                    let case = begun.fetch_add(1, Ordering::Relaxed);
                    // Seeds wrap round, so that a hunt may begin near the largest seed.
                    (case < hunt.runs && !is_over()).then(|| hunt.seed.wrapping_add(case))
                })
                .for_each(&run)
            });
        }
    });
}

#[expect(clippy::disallowed_methods, reason = "how long to hunt is about the wall")]
fn now() -> Instant {
    Instant::now()
}
