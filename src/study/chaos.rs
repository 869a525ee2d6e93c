//! Random scenarios under the invariant checker: what no test thought of.
//!
//! A [`Hunt`] is so many *cases*. A case is a number: it decides a scenario (`draw`), which is run
//! under the checker (`trial`). What breaks is made as small as it can be while it still breaks in
//! the same way (`shrink`), and then told as a scenario that can be run.
//!
//! A policy that is a program is tried on such scenarios, too ([`rehearsal`]).
//!
//! What can be drawn is not listed here: it is read from the JSON Schema, so that an option, a policy
//! or a kind of fault that is new is drawn from its first day on.

mod draw;
pub mod rehearsal;
mod shrink;
#[cfg(test)]
mod tests;
mod trial;
mod values;

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::unbounded;
use serde::Serialize;
use serde_json::Value as Json;

use self::draw::Artist;
use self::trial::{Found, Trial};
use mumakil_core::mapred::Policy as _;
use mumakil_policies::external::External;
use mumakil_scenario::scenario::{Registry, schema};

/// How much real time is spent on making a scenario smaller.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is hunted, and how long.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The number of the first case.
    pub seed: u64,
    /// How many cases.
    pub runs: u64,
    /// The one policy that all are run under; without it, each case draws one.
    pub policy: Option<String>,
    /// When no new case is begun any more.
    pub patience: Option<Duration>,
    /// How many cases are run at a time.
    pub workers: NonZero<usize>,
}

/// What has come of a hunt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many cases were run.
    pub runs: u64,
    /// In how many of them something was broken.
    pub violations: u64,
    /// How many of them had no end, though nothing in them goes wrong for ever.
    pub endless: u64,
    /// How many of them came to a stall that was none.
    pub stalled: u64,
    /// How many stalled and could not have gone on: a result like others.
    pub deadlocks: u64,
    /// How many of them had no end, and something in them goes wrong for ever.
    pub unended: u64,
    /// How many were run a second time, without actors, for the bytes.
    pub repeated: u64,
}

impl Tally {
    /// Returns whether nothing was found.
    pub const fn is_clean(&self) -> bool {
        self.violations == 0 && self.endless == 0 && self.stalled == 0
    }
}

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// The number of the case.
    pub seed: u64,
    /// What is wrong, in a line or several.
    pub words: String,
    /// The smallest scenario that was found to show it.
    pub yaml: String,
}

/// Returns a registry without the policies that are programs: a command that is drawn could be anybody's.
pub fn without_programs(registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    registry.remove(External::NAME);
    registry
}

/// Hunts [without programs](without_programs), and tells of each case that is done: what there is so far,
/// and what was caught with it.
pub fn hunt(hunt: &Hunt, registry: &Registry, mut tell: impl FnMut(Tally, Option<Catch>)) -> Tally {
    let began = now();
    let is_over = || hunt.patience.is_some_and(|patience| patience <= began.elapsed());
    let registry = &without_programs(registry);
    let schema = schema(registry);
    let run = |seed| case(seed, hunt.policy.as_deref(), registry, &schema);
    let mut tally = Tally::default();
    each_case(hunt.seed, hunt.runs, hunt.workers, is_over, run, |_, (found, repeated, caught)| {
        tally.runs += 1;
        tally.repeated += u64::from(repeated);
        match found {
            Found::Nothing => {}
            Found::Deadlock => tally.deadlocks += 1,
            Found::Unended => tally.unended += 1,
            Found::Endless => tally.endless += 1,
            Found::FalseStall(_) => tally.stalled += 1,
            Found::Broken(_) | Found::Panic(_) | Found::Differs => tally.violations += 1,
        }
        tell(tally, caught);
    });
    tally
}

/// Runs so many cases from the first on, some at a time, until all are done or no more is to be begun; tells
/// what came of each as it ends.
fn each_case<S: Send>(
    first: u64,
    runs: u64,
    workers: NonZero<usize>,
    is_over: impl Fn() -> bool + Sync,
    run: impl Fn(u64) -> S + Sync,
    mut tell: impl FnMut(u64, S),
) {
    let (todo, next) = unbounded();
    for case in 0..runs {
        todo.send(first.wrapping_add(case)).expect("the receiver is below");
    }
    drop(todo);
    let (done, told) = unbounded();
    thread::scope(|scope| {
        for _ in 0..workers.get() {
            let (next, done, is_over, run) = (next.clone(), done.clone(), &is_over, &run);
            scope.spawn(move || {
                for seed in next.iter().take_while(|_| !is_over()) {
                    done.send((seed, run(seed))).expect("somebody listens");
                }
            });
        }
        drop(done);
        told.into_iter().for_each(|(seed, came)| tell(seed, came));
    });
}

/// Draws a case and tries it; returns also whether it was run a second time.
fn case(
    seed: u64,
    policy: Option<&str>,
    registry: &Registry,
    schema: &Json,
) -> (Found, bool, Option<Catch>) {
    let tree = Artist::new(seed, schema, policy).scenario(registry);
    // Twice takes twice as long; one in sixteen is many, of many.
    let repeats = seed.is_multiple_of(16);
    let trial = Trial { registry, repeats, recast: |cast| cast };
    let found = trial.of(&tree);
    let caught = found.is_wrong().then(|| {
        let tree = shrink::shrink(&tree, PATIENCE, |smaller| trial.of(smaller).is_like(&found));
        // The smallest one says it best.
        let words = trial.of(&tree).words();
        Catch { seed, words, yaml: draw::text(&tree) }
    });
    (found, repeats, caught)
}

#[expect(clippy::disallowed_methods, reason = "how long to hunt is about the wall")]
fn now() -> Instant {
    Instant::now()
}
