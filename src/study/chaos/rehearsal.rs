//! A policy that is a program, tried on random small clusters: which rule it breaks, and the smallest
//! scenario that shows so.
//!
//! Each case is run twice under the checker of invariants. What a process may not do ends a run by
//! itself; added to this are that it answers the same in both runs, and that it lets no job starve. A
//! cluster with faults may come to a stall under any policy: what starves is told only where `fifo`
//! ends the same case.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::draw::{self, Artist};
use super::shrink::shrink;
use super::trial::{has, lags_by_chance};
use super::{each_case, now};
use mumakil_base::units::tell::{count, counted, span};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    Elsewhere, JobId, Offer, PerSlot, PolicyFailed, Scheduler, SlotKind, Stop, Wrapper,
};
use mumakil_policies::external::protocol::Heard;
use mumakil_run::emulation::{Emulated, EmulationError, Options, Prepared};
use mumakil_scenario::scenario::{Registry, parse, schema};

/// How much real time a run may take.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// How long a job may be passed over by free slots. Policies hold a job back for seconds, for a slot with
/// its input; tasks that are drawn take minutes.
const STARVED: SimSpan = SimSpan::from_secs(2 * 60 * 60);
/// How much of a run there is, so that there is an end of what has none.
const UNTIL: &str = "2d";
/// So many exchanges of a run are kept, to be compared.
const KEPT: usize = 100_000;
/// So many lines of what it last said of itself are told.
const LAST_WORDS: usize = 8;
/// So much of a question or an answer is told.
const SHOWN: usize = 300;

/// A policy that is to be tried, and on what.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    /// The program and what it is given.
    pub command: Vec<String>,
    /// What it is told as its options.
    pub options: Value,
    /// How long, in real time, it may take to answer.
    pub timeout: SimSpan,
    /// How much real time is spent on making the scenario of each mistake smaller, and on further cases once
    /// something is wrong.
    pub patience: Duration,
    /// The number of the first case.
    pub seed: u64,
    /// How many cases.
    pub runs: u64,
    /// How many cases are run at a time.
    pub workers: NonZero<usize>,
}

/// What has come of it.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// How many cases were run.
    pub runs: u64,
    /// How many of them took too long, or more than two days of their clusters' time: nothing is said of
    /// their end.
    pub unended: u64,
    /// What the program answered in runs that came to an end.
    pub elsewhere: Elsewhere,
    /// How long these runs took.
    pub real: Duration,
    /// What is wrong, in the order of the first cases that show it.
    pub flaws: Vec<Flaw>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flaw {
    /// The number of the first case that shows it.
    pub seed: u64,
    /// How many cases show it.
    pub cases: u64,
    /// What is wrong, in a line or several.
    pub words: String,
    /// What the program last said of itself.
    pub said: Vec<String>,
    /// The smallest scenario that was found to show it.
    pub yaml: String,
}

/// Tries a policy; `tell` hears of each case that is done.
pub fn rehearse(rehearsal: &Rehearsal, registry: &Registry, mut tell: impl FnMut()) -> Review {
    let schema = schema(registry);
    let stage = Stage { rehearsal, registry };
    let first_wrong = OnceLock::<Instant>::new();
    let is_over = || first_wrong.get().is_some_and(|at| rehearsal.patience <= at.elapsed());
    let run = |seed| {
        let seen = stage.case(&stage.drawn(seed, &schema));
        if seen.wrong.is_some() {
            first_wrong.get_or_init(now);
        }
        seen
    };
    let mut review = Review::default();
    let mut wrong: Vec<(u64, Wrong)> = Vec::new();
    let Rehearsal { seed, runs, workers, .. } = *rehearsal;
    each_case(seed, runs, workers, is_over, run, |seed, seen| {
        review.runs += 1;
        review.unended += u64::from(!seen.has_end && seen.wrong.is_none());
        review.elsewhere += seen.elsewhere;
        review.real += seen.real;
        wrong.extend(seen.wrong.map(|wrong| (seed, wrong)));
        tell();
    });
    wrong.sort_by_key(|(seed, _)| *seed);
    let mut kinds: IndexMap<String, (u64, Wrong, u64)> = IndexMap::new();
    for (seed, wrong) in wrong {
        kinds.entry(wrong.kind()).or_insert((seed, wrong, 0)).2 += 1;
    }
    let flaw = |(seed, wrong, cases): (u64, Wrong, u64)| {
        let tree = stage.drawn(seed, &schema);
        let is_same = |other: &Wrong| other.kind() == wrong.kind();
        let shows = |tree: &Value| {
            // Without a size it would be the preset's: larger, though it says less.
            let is_sized = tree.get("cluster").and_then(|cluster| cluster.get("nodes")).is_some();
            if is_sized { stage.case(tree).wrong.filter(is_same) } else { None }
        };
        let smallest = shrink(&tree, rehearsal.patience, |smaller| shows(smaller).is_some());
        // The smallest one says it best; what comes by chance may not come again.
        let again = if smallest == tree { None } else { shows(&smallest) };
        let Wrong { words, said, .. } = again.unwrap_or_else(|| wrong.clone());
        Flaw { seed, cases, words, said, yaml: draw::text(&stage.cast(&smallest)) }
    };
    review.flaws = kinds.into_values().map(flaw).collect();
    review
}

/// Who tries whom.
struct Stage<'r> {
    rehearsal: &'r Rehearsal,
    registry: &'r Registry,
}

/// What a case has shown.
#[derive(Default)]
struct Seen {
    wrong: Option<Wrong>,
    has_end: bool,
    elsewhere: Elsewhere,
    real: Duration,
}

/// What is wrong in a case.
#[derive(Clone, Debug)]
struct Wrong {
    /// The first sentence of it.
    what: String,
    /// All of it.
    words: String,
    said: Vec<String>,
}

impl Wrong {
    fn new(what: &str, words: String) -> Self {
        Self { what: what.to_owned(), words, said: Vec::new() }
    }

    /// Returns what is the same where the same rule is broken, as far as one can tell: the first sentence,
    /// but for numbers.
    fn kind(&self) -> String {
        let line = self.what.lines().next().unwrap_or_default();
        let sentence = line.rsplit_once(" of the run: ").map_or(line, |(_, rest)| rest);
        sentence.replace(|c: char| c.is_ascii_digit(), "")
    }
}

/// How a run went.
struct Run {
    result: Result<Emulated, EmulationError>,
    /// Who starved, and for how long.
    starved: Option<String>,
    /// What was said, question by question.
    exchanges: Vec<(Vec<u8>, Vec<u8>)>,
    /// What the program said of itself.
    said: Vec<String>,
    real: Duration,
}

impl Stage<'_> {
    /// Returns a case, in which the policy is not chosen yet.
    fn drawn(&self, seed: u64, schema: &Json) -> Value {
        let mut tree = Artist::new(seed, schema, Some("fifo")).scenario(self.registry);
        tree["name"] = "try".into();
        tree["until"] = UNTIL.into();
        tree
    }

    /// Returns a case under the policy, which also takes over from itself where another would.
    fn cast(&self, tree: &Value) -> Value {
        let mut options = Mapping::new();
        options.insert("command".into(), self.rehearsal.command.clone().into());
        let timeout = serde_yaml::to_value(self.rehearsal.timeout).expect("a span is text");
        options.insert("timeout".into(), timeout);
        if !self.rehearsal.options.is_null() {
            options.insert("options".into(), self.rehearsal.options.clone());
        }
        under(tree, &Mapping::from_iter([("external".into(), Value::Mapping(options))]).into())
    }

    /// Runs a case twice, and once more under `fifo` if a job starves.
    fn case(&self, tree: &Value) -> Seen {
        let cast = self.cast(tree);
        let Some(first) = self.run(&cast) else { return Seen { has_end: true, ..Seen::default() } };
        let mut seen = Seen { real: first.real, ..Seen::default() };
        if let Some(words) = &first.starved {
            seen.wrong = self.blame(tree, words);
            return seen;
        }
        let run = match &first.result {
            Ok(run) => run,
            Err(EmulationError::PolicyFailed { words }) => {
                let said = first.said;
                seen.wrong = Some(Wrong { said, ..Wrong::new(words, words.clone()) });
                return seen;
            }
            Err(error @ (EmulationError::Policy { .. } | EmulationError::Bug { .. })) => {
                seen.wrong = Some(Wrong::new("a fault of Mumakil's own", error.to_string()));
                return seen;
            }
            // Its files or jobs do not fit.
            Err(_) => return Seen { has_end: true, ..seen },
        };
        seen.elsewhere = run.elsewhere.unwrap_or_default();
        let verifier = run.verifier.as_ref().expect("it was asked for");
        if !verifier.violations().is_empty() {
            let lines: Vec<String> =
                verifier.violations().iter().map(ToString::to_string).collect();
            let words = format!("the run broke its invariants:\n  {}", lines.join("\n  "));
            seen.wrong = Some(Wrong::new(&lines[0], words));
            return seen;
        }
        match &run.stop {
            Stop::Done => seen.has_end = true,
            Stop::Stalled(stall) => {
                let lines: String =
                    stall.to_string().lines().map(|line| format!("\n  {line}")).collect();
                seen.wrong =
                    self.blame(tree, &format!("the run stalls, and nothing can move:{lines}"));
                seen.has_end = true;
            }
            Stop::TimeUp | Stop::TimeLimit => return seen,
        }
        if seen.wrong.is_none()
            && let Some(second) = self.run(&cast)
        {
            seen.real += second.real;
            seen.elsewhere +=
                second.result.as_ref().ok().and_then(|run| run.elsewhere).unwrap_or_default();
            seen.wrong = parted(&first.exchanges, &second.exchanges);
        }
        seen
    }

    /// Returns what is wrong with a policy under which a job starves: nothing that can be said, if it is
    /// chance that things do not move, or if they do not under `fifo` either.
    fn blame(&self, tree: &Value, words: &str) -> Option<Wrong> {
        let is_chance = has(tree, &["loss", "delay", "crashes"])
            || parse("try.yaml", &draw::text(tree), &[], self.registry)
                .is_ok_and(|loaded| lags_by_chance(&loaded.scenario));
        let is_done = |run: Run| run.result.is_ok_and(|run| run.stop == Stop::Done);
        if is_chance || !self.run(&under(tree, &"fifo".into())).is_some_and(is_done) {
            return None;
        }
        let rule = "a job with something to launch gets a slot before long; under `fifo` this run comes \
                    to its end";
        Some(Wrong::new("a job starves", format!("a job starves: {words}\n  {rule}")))
    }

    /// Runs a scenario; nothing, if it cannot be read.
    fn run(&self, tree: &Value) -> Option<Run> {
        let said = Arc::new(Mutex::new(Vec::new()));
        let exchanges = Arc::new(Mutex::new(Vec::new()));
        let starved = Arc::new(Mutex::new(None));
        let mut registry = self.registry.clone();
        let (hear, keep) = (said.clone(), exchanges.clone());
        registry.set_voice(Arc::new(move |line: &str| hear.lock().push(line.to_owned())));
        registry.set_overhear(Arc::new(move |asked: &[u8], answered: &[u8]| {
            let mut kept = keep.lock();
            if kept.len() < KEPT {
                kept.push((asked.to_vec(), answered.to_vec()));
            }
        }));
        let scenario = parse("try.yaml", &draw::text(tree), &[], &registry).ok()?.scenario;
        let tell = starved.clone();
        let watched = move |policy| -> Box<dyn Scheduler> {
            Box::new(Watched { policy, passed_over: Vec::new(), starved: tell.clone() })
        };
        let options = Options {
            verify: true,
            time_limit: Some(TIME_LIMIT),
            around: Some(Box::new(watched)),
            ..Options::default()
        };
        let began = now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            Prepared::new(scenario, &registry)?.emulate(&registry, options)
        }));
        let real = began.elapsed();
        let result = result.unwrap_or_else(|_| {
            Err(EmulationError::Bug { words: "a panic before the run began".to_owned() })
        });
        let (starved, exchanges) = (starved.lock().take(), std::mem::take(&mut *exchanges.lock()));
        let mut said = std::mem::take(&mut *said.lock());
        said.drain(..said.len().saturating_sub(LAST_WORDS));
        Some(Run { result, starved, exchanges, said, real })
    }
}

/// Returns a case under a policy.
pub(super) fn under(tree: &Value, policy: &Value) -> Value {
    let mut tree = tree.clone();
    tree["scheduler"] = policy.clone();
    let later = tree.get_mut("later").and_then(Value::as_sequence_mut);
    for entry in later.into_iter().flatten() {
        if let Some(scheduler) = entry.get_mut("scheduler") {
            *scheduler = policy.clone();
        }
    }
    tree
}

/// Returns where two runs of the same case part, if they do.
fn parted(first: &[(Vec<u8>, Vec<u8>)], second: &[(Vec<u8>, Vec<u8>)]) -> Option<Wrong> {
    let differ = |(one, other): (&Vec<u8>, &Vec<u8>)| {
        // The same may be said in two ways: a mapping has no order.
        let read = |line: &[u8]| serde_json::from_slice::<Heard>(line).ok();
        one != other && (read(one).is_none() || read(one) != read(other))
    };
    let place = first.iter().zip(second).position(|(one, other)| differ((&one.1, &other.1)))?;
    let shown = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{} …", &text[..end]),
            None => text.to_owned(),
        }
    };
    let what = "the same run was answered in two ways";
    // The first exchange is `hello`.
    let number =
        if place == 0 { "`hello`".to_owned() } else { format!("question {}", count(place as u64)) };
    let words = format!(
        "{what}, which part at {number}: an answer depends on what was said in the run, and on \
         nothing else (the time of day, numbers drawn without the seed of `hello`, the order of a set)\n  \
         asked    {}\n  answered {}\n  and then {}",
        shown(&first[place].0),
        shown(&first[place].1),
        shown(&second[place].1),
    );
    Some(Wrong::new(what, words))
}

/// A policy that is watched: whom it passes over for too long has starved, and the run is over.
struct Watched {
    policy: Box<dyn Scheduler>,
    /// Since when each job is passed over, by number.
    passed_over: Vec<PerSlot<Option<PassedOver>>>,
    starved: Arc<Mutex<Option<String>>>,
}

/// A job that got nothing though a slot was free for it.
#[derive(Clone, Copy)]
struct PassedOver {
    since: SimTime,
    /// How many offers there have been.
    offers: u64,
    /// Its tasks that run and that are done: while these are the same, nothing of it moves.
    is_at: (u32, u32),
}

impl Watched {
    /// Notes who got nothing of an offer.
    fn look(&mut self, offer: &Offer<'_>) {
        let view = offer.view();
        for kind in SlotKind::BOTH {
            if offer.free(kind) == 0 {
                continue;
            }
            let waits = |id: &JobId| {
                view.job(*id).is_some_and(|job| 0 < job.pending(kind)) && offer.suits(*id, kind, 1)
            };
            let jobs: Vec<JobId> = view.running_jobs().map(|job| job.id()).filter(waits).collect();
            for id in jobs {
                let Some(job) = view.job(id) else { continue };
                let is_at = (job.tasks(kind).running(), job.tasks(kind).finished());
                if self.passed_over.len() <= id.index() {
                    self.passed_over.resize_with(id.index() + 1, PerSlot::default);
                }
                let noted = &mut self.passed_over[id.index()][kind];
                let same = noted.filter(|noted| noted.is_at == is_at);
                let fresh = PassedOver { since: view.now(), offers: 0, is_at };
                let PassedOver { since, offers, .. } = same.unwrap_or(fresh);
                *noted = Some(PassedOver { since, offers: offers + 1, is_at });
                let waited = view.now().saturating_since(since);
                if STARVED < waited {
                    let (name, word) = (&job.spec().name, kind.word());
                    let words = format!(
                        "for {} `{name}` (job {}) has {} to launch, {} had a free slot for them, and it \
                         got none",
                        span(waited.as_secs_f64()),
                        id.0,
                        counted(u64::from(job.pending(kind)), word),
                        counted(offers + 1, "offer"),
                    );
                    *self.starved.lock() = Some(words.clone());
                    resume_unwind(Box::new(PolicyFailed(words)));
                }
            }
        }
    }
}

impl Wrapper for Watched {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        ask(&mut *self.policy)
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.policy.offer(offer);
        self.look(offer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(question: &str, answer: &str) -> (Vec<u8>, Vec<u8>) {
        (question.into(), answer.into())
    }

    #[test]
    fn two_runs_part_where_an_answer_means_something_else() {
        let hello = exchange("{\"hello\":{}}", r#"{"hello":{"protocol":1}}"#);
        let first = exchange("q1", r#"{"answer":{"number":1,"do":[]}}"#);
        let same = exchange("q1", r#"{"answer":{"do":[],"number":1}}"#);
        let other = exchange("q1", r#"{"answer":{"number":1,"do":[{"map":{"job":0}}]}}"#);
        assert!(parted(&[hello.clone(), first.clone()], &[hello.clone(), same]).is_none());
        let wrong = parted(&[hello.clone(), first], &[hello, other]).unwrap();
        assert!(wrong.words.contains("part at question 1:"), "{}", wrong.words);
        assert!(wrong.words.contains("and then {\"answer\":{\"number\":1,\"do\":[{\"map\""));
    }

    #[test]
    fn what_is_wrong_is_the_same_at_another_instant_with_another_number() {
        let kind = |words: &str| Wrong::new(words, String::new()).kind();
        let one =
            kind("`a.py` at 3 s of the run: it names job 7, which has not arrived\n  asked 1");
        assert_eq!(
            one,
            kind("`a.py` at 2 min 01 s of the run: it names job 12, which has not arrived")
        );
        assert_ne!(one, kind("`a.py` at 3 s of the run: it ended with exit code 1"));
    }

    #[test]
    fn a_case_is_cast_wherever_a_policy_stands() {
        let tree =
            "{scheduler: {fifo: {}}, later: [{at: 1s, scheduler: fifo}, {at: 2s, submit: {}}]}";
        let tree = under(&serde_yaml::from_str(tree).unwrap(), &"mine".into());
        assert_eq!(
            serde_json::to_string(&tree).unwrap(),
            r#"{"scheduler":"mine","later":[{"at":"1s","scheduler":"mine"},{"at":"2s","submit":{}}]}"#
        );
    }
}
