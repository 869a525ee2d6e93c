//! Where two runs part, for programs.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::launches::Launch;
use super::repeat::Contest;
use super::tell::{differences, priority};
use super::{First, Parted};
use crate::mapred::{Contender, Measure, SlotKind, Standing, Told};

#[derive(Serialize)]
struct Whole<'a> {
    parts_at_ms: Option<u64>,
    /// The slot for which jobs contend; none if no policy was asked.
    slot: Option<Slot<'a>>,
    runs: Vec<OneRun<'a>>,
    jobs: Vec<OneJob<'a>>,
}

#[derive(Serialize)]
struct Slot<'a> {
    node: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
struct OneRun<'a> {
    run: &'a str,
    /// What it launched where they part, or next.
    launch: Option<OneLaunch<'a>>,
    /// When the node was offered to the policy.
    offer_at_ms: Option<u64>,
    /// The jobs in the policy's order; none if it is not known.
    candidates: Option<Vec<Value>>,
    /// Why it is not known.
    untold: Option<&'a str>,
}

#[derive(Serialize)]
struct OneLaunch<'a> {
    at_ms: u64,
    job: u32,
    name: &'a str,
    kind: &'static str,
    task: u32,
    attempt: u32,
    node: &'a str,
}

#[derive(Serialize)]
struct OneJob<'a> {
    job: u32,
    name: &'a str,
    began_ms: u64,
    /// By how much it is later in the second run.
    later_ms: Later,
}

#[derive(Serialize)]
struct Later {
    arrival: Option<i64>,
    first_launch: Option<i64>,
    maps_done: Option<i64>,
    end: Option<i64>,
    sojourn: Option<i64>,
}

impl First {
    /// Returns it as JSON.
    pub(in crate::cli::compare) fn json(&self) -> String {
        let parted = self.parting.as_ref();
        let whole = Whole {
            parts_at_ms: parted.map(|parted| parted.at),
            slot: parted.and_then(|parted| self.slot(parted)),
            runs: [0, 1].map(|run| self.one_run(run)).into(),
            jobs: self.jobs_json(),
        };
        let text = serde_json::to_string_pretty(&whole).expect("names and numbers are JSON");
        format!("{text}\n")
    }

    fn slot(&self, parted: &Parted) -> Option<Slot<'_>> {
        let launch = parted.launches[parted.by].as_ref()?;
        Some(Slot { node: self.node(launch), kind: parted.kind.map(SlotKind::word)? })
    }

    fn one_run(&self, run: usize) -> OneRun<'_> {
        let parted = self.parting.as_ref();
        let contest = parted.map(|parted| &parted.contests[run]);
        let known = contest.and_then(|contest| contest.as_ref().ok());
        let silent = known.is_some_and(|known| known.lineup.is_none());
        let silence = silent.then_some("the policy does not tell who contends");
        OneRun {
            run: &self.names[run],
            launch: parted.and_then(|parted| parted.launches[run].map(|it| self.one_launch(&it))),
            offer_at_ms: known.map(|known| known.at),
            candidates: known.and_then(|known| self.candidates(known)),
            untold: contest
                .and_then(|contest| contest.as_ref().err())
                .map(String::as_str)
                .or(silence),
        }
    }

    fn one_launch(&self, launch: &Launch) -> OneLaunch<'_> {
        let place = launch.place;
        OneLaunch {
            at_ms: place.at,
            job: place.job,
            name: self.job_name(place.job),
            kind: place.kind.word(),
            task: place.task,
            attempt: place.attempt,
            node: self.node(launch),
        }
    }

    fn candidates(&self, contest: &Contest) -> Option<Vec<Value>> {
        let contenders = &contest.lineup.as_ref()?.contenders;
        let winner = contest.winner_place();
        let one = |(place, one): (usize, &Contender)| {
            let refusal = one.refusal.as_ref();
            json!({
                "job": one.job.0,
                "name": self.job_name(one.job.0),
                "gets_it": winner == Some(place),
                "refusal": refusal.map(|why| json!({"code": why.code(), "words": why.to_string()})),
                "standings": one.standings.iter().map(standing).collect::<Vec<_>>(),
            })
        };
        Some(contenders.iter().enumerate().map(one).collect())
    }

    fn jobs_json(&self) -> Vec<OneJob<'_>> {
        let one = |(jobs, began_ms): ([&super::launches::ToldJob; 2], u64)| {
            let name = self.job_name(jobs[0].id);
            let [arrival, first_launch, maps_done, end, sojourn] = differences(jobs);
            let later_ms = Later { arrival, first_launch, maps_done, end, sojourn };
            OneJob { job: jobs[0].id, name, began_ms, later_ms }
        };
        self.jobs().map(one).collect()
    }
}

fn standing(Standing { group, numbers }: &Standing) -> Value {
    let numbers: Map<String, Value> = numbers
        .iter()
        .map(|(measure, value)| (measure.name().to_owned(), number(*measure, *value)))
        .collect();
    json!({"group": group.as_deref(), "numbers": numbers})
}

/// Returns a number; what is not finite is not known.
fn number(measure: Measure, value: f64) -> Value {
    match measure.told() {
        Told::Flag => json!(value != 0.0),
        Told::Priority => json!(priority(value)),
        Told::Number | Told::Seconds => json!(value),
    }
}
