//! What two runs of the same jobs launched, and where that begins to differ.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use crate::cli::compare::unreadable;
use crate::cli::failure::Failure;
use crate::mapred::TaskKind;
use crate::output::results::RunResults;
use crate::results::{AttemptRow, JobRow};

/// A run: its jobs, and what it launched, in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) jobs: Vec<ToldJob>,
    pub(super) launches: Vec<Launch>,
}

/// A job, with its instants in milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ToldJob {
    pub(super) id: u32,
    pub(super) name: String,
    /// Its maps and reduces.
    tasks: [u32; 2],
    pub(super) submitted: Option<u64>,
    pub(super) launched: Option<u64>,
    pub(super) maps_done: Option<u64>,
    pub(super) ended: Option<u64>,
}

/// A launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) place: Place,
    /// When in its millisecond this was decided, if that is known.
    pub(super) turn: Turn,
    /// When the attempt ended.
    ended: Option<u64>,
}

/// The microsecond, and which decision it was.
pub(super) type Turn = (u64, usize);

/// What is not known comes last.
const UNKNOWN: Turn = (u64::MAX, usize::MAX);

/// What was launched, when and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// The millisecond of the decision.
    pub(super) at: u64,
    pub(super) job: u32,
    pub(super) kind: TaskKind,
    pub(super) task: u32,
    pub(super) attempt: u32,
    /// The node, by its number among those of [`Nodes`].
    pub(super) node: u32,
}

/// The names of nodes.
pub(super) type Nodes = IndexSet<String>;

/// Where two runs part: what each launched there, if it launched anything any more.
pub(super) type Parting = [Option<Launch>; 2];

impl Told {
    /// Reads a run.
    pub(super) fn read(results: &RunResults, nodes: &mut Nodes) -> Result<Self, Failure> {
        let mut told = Self::default();
        let jobs = results.rows(|row: JobRow| {
            told.jobs.push(ToldJob::of(&row));
            Ok(())
        });
        let tasks = results.rows(|row: AttemptRow| {
            told.launches.extend(launch(&row, nodes));
            Ok(())
        });
        jobs.and(tasks).map_err(unreadable)?;
        told.sort();
        Ok(told)
    }

    /// Puts what was launched in the order of time, and within a millisecond in that of the decisions as
    /// far as it is known.
    fn sort(&mut self) {
        self.launches.sort_unstable_by_key(|launch| (launch.place.at, launch.turn, launch.place));
    }

    /// Notes when all this was decided, to the microsecond.
    pub(super) fn order_by(&mut self, decided: &[(Place, u64)]) {
        let turn = |(turn, (place, micros)): (usize, &(Place, u64))| (*place, (*micros, turn));
        let turns: BTreeMap<Place, Turn> = decided.iter().enumerate().map(turn).collect();
        for launch in &mut self.launches {
            launch.turn = turns.get(&launch.place).copied().unwrap_or(UNKNOWN);
        }
        self.sort();
    }

    fn by_job(&self) -> BTreeMap<u32, Vec<Launch>> {
        let mut jobs: BTreeMap<u32, Vec<Launch>> = BTreeMap::new();
        for launch in &self.launches {
            jobs.entry(launch.place.job).or_default().push(*launch);
        }
        jobs
    }
}

/// Returns where two runs part, if they do.
pub(super) fn part([one, other]: [&[Launch]; 2]) -> Option<Parting> {
    let same = one.iter().zip(other).take_while(|(one, other)| one.place == other.place).count();
    let parting = [one, other].map(|launches| launches.get(same).copied());
    parting.iter().any(Option::is_some).then_some(parting)
}

/// Returns where two runs part in a millisecond up to which they are the same, and in which they may
/// launch the same in another order: the first launch of each that the other does not have there.
pub(super) fn part_after(at: u64, runs: [&[Launch]; 2]) -> Parting {
    let there = |launches: &[Launch]| {
        let places = launches.iter().map(|launch| launch.place);
        places.filter(|place| place.at == at).collect::<BTreeSet<_>>()
    };
    let both = &there(runs[0]) & &there(runs[1]);
    runs.map(|launches| {
        let is_own = |launch: &&Launch| at <= launch.place.at && !both.contains(&launch.place);
        launches.iter().find(is_own).copied()
    })
}

/// Returns when the two part, in milliseconds.
pub(super) fn instant(parting: &Parting) -> u64 {
    let at = parting.iter().flatten().map(|launch| launch.place.at);
    at.min().expect("one of them has launched something")
}

/// Returns the jobs in which two runs differ, each with the millisecond from which on, those first that
/// differ first.
pub(super) fn differences(runs: [&Told; 2]) -> Vec<(usize, u64)> {
    let launches = runs.map(Told::by_job);
    let none: &[Launch] = &[];
    let began = |place: usize| {
        let jobs = runs.map(|run| &run.jobs[place]);
        let own = [0, 1].map(|run| launches[run].get(&jobs[run].id).map_or(none, Vec::as_slice));
        // What ends otherwise, though it was launched at the same place.
        let end = |(one, other): (&Launch, &Launch)| {
            let is_other = one.place == other.place && one.ended != other.ended;
            is_other.then(|| earlier([one.ended, other.ended])).flatten()
        };
        let ends = own[0].iter().zip(own[1]).filter_map(end);
        let own_instants = |job: &ToldJob| [job.submitted, job.ended];
        let [one, other] = jobs.map(own_instants);
        let instants = one.into_iter().zip(other).filter(|(one, other)| one != other);
        let instants = instants.filter_map(|(one, other)| earlier([one, other]));
        part(own).as_ref().map(instant).into_iter().chain(ends).chain(instants).min()
    };
    let all = (0..runs[0].jobs.len()).filter_map(|place| Some((place, began(place)?)));
    let mut all: Vec<(usize, u64)> = all.collect();
    all.sort_by_key(|(place, began)| (*began, *place));
    all
}

fn earlier(instants: [Option<u64>; 2]) -> Option<u64> {
    instants.into_iter().flatten().min()
}

/// Checks that two runs have the same jobs.
pub(super) fn expect_same_jobs(names: [&str; 2], runs: [&Told; 2]) -> Result<(), Failure> {
    let [one, other] = runs.map(|run| &run.jobs);
    let describe = |job: &ToldJob| {
        let [maps, reduces] = job.tasks;
        format!("job {} is `{}` with {maps} maps and {reduces} reduces", job.id, job.name)
    };
    let what = |job: &ToldJob| (job.id, job.name.clone(), job.tasks);
    let differs = one.iter().zip(other).find(|(one, other)| what(one) != what(other));
    let more = |count: usize, run: usize| {
        let job = &runs[run].jobs[count];
        format!(
            "`{}` has no job {}, `{}`, which `{}` has",
            names[1 - run],
            job.id,
            job.name,
            names[run]
        )
    };
    let how = match differs {
        Some((a, b)) => {
            format!("in `{}` {}, in `{}` {}", names[0], describe(a), names[1], describe(b))
        }
        None if one.len() < other.len() => more(one.len(), 1),
        None if other.len() < one.len() => more(other.len(), 0),
        None => return Ok(()),
    };
    Err(Failure::input(format!(
        "the runs have other jobs: {how}\n   = --first compares runs of the same jobs"
    )))
}

impl ToldJob {
    fn of(row: &JobRow) -> Self {
        Self {
            id: row.job,
            name: row.name.to_string(),
            tasks: [row.maps, row.reduces],
            submitted: Some(row.submit_ms),
            launched: row.first_launch_ms,
            maps_done: row.maps_done_ms,
            ended: row.finish_ms,
        }
    }
}

fn launch(row: &AttemptRow, nodes: &mut Nodes) -> Option<Launch> {
    let (at, kind) = (row.launch_ms?, row.kind.task()?);
    let name = &*row.node;
    let node = nodes.get_index_of(name).unwrap_or_else(|| nodes.insert_full(name.to_owned()).0);
    let AttemptRow { job, task, attempt, finish_ms: ended, .. } = *row;
    let place = Place { at, job, kind, task, attempt, node: node as u32 };
    Some(Launch { place, turn: UNKNOWN, ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of a job on a node at a millisecond, which ends 10 s later.
    fn map(at: u64, job: u32, task: u32, node: u32) -> Launch {
        let place = Place { at, job, kind: TaskKind::Map, task, attempt: 0, node };
        Launch { place, turn: UNKNOWN, ended: Some(at + 10_000) }
    }

    fn told(launches: &[Launch]) -> Told {
        let job = |id| ToldJob { id, name: format!("j{id}"), ..ToldJob::default() };
        let mut told = Told { jobs: (0..3).map(job).collect(), launches: launches.to_vec() };
        told.sort();
        told
    }

    fn parting(one: &Told, other: &Told) -> Option<[Option<(u64, u32)>; 2]> {
        let parting = part([&one.launches, &other.launches])?;
        Some(parting.map(|launch| launch.map(|launch| (launch.place.at, launch.place.task))))
    }

    #[test]
    fn two_runs_part_at_the_first_launch_that_has_another_place() {
        let one = told(&[map(5, 0, 0, 1), map(7, 0, 1, 2), map(9, 0, 2, 3)]);
        assert_eq!(parting(&one, &one), None);
        // On another node, later, of another task, or not at all.
        for (other, found) in [
            (told(&[map(5, 0, 0, 1), map(7, 0, 1, 4)]), [Some((7, 1)), Some((7, 1))]),
            (told(&[map(5, 0, 0, 1), map(8, 0, 1, 2)]), [Some((7, 1)), Some((8, 1))]),
            (told(&[map(5, 0, 0, 1), map(7, 0, 3, 2)]), [Some((7, 1)), Some((7, 3))]),
            (told(&[map(5, 0, 0, 1)]), [Some((7, 1)), None]),
        ] {
            assert_eq!(parting(&one, &other), Some(found));
            assert_eq!(instant(&part([&one.launches, &other.launches]).unwrap()), 7);
        }
    }

    #[test]
    fn within_a_millisecond_the_order_of_the_decisions_counts() {
        let mut one = told(&[map(5, 0, 8, 1), map(5, 0, 9, 2)]);
        let mut other = told(&[map(5, 0, 8, 2), map(5, 0, 9, 1)]);
        // In both node 2 asks before node 1.
        for told in [&mut one, &mut other] {
            let mut decided: Vec<(Place, u64)> =
                told.launches.iter().map(|launch| (launch.place, 5_000)).collect();
            decided.sort_by_key(|(place, _)| std::cmp::Reverse(place.node));
            told.order_by(&decided);
        }
        assert_eq!(parting(&one, &other), Some([Some((5, 9)), Some((5, 8))]));
    }

    /// The same tasks in another order within the millisecond are no difference.
    #[test]
    fn what_both_launch_in_the_millisecond_is_not_where_they_part() {
        let one = told(&[map(5, 0, 8, 1), map(5, 0, 9, 1)]);
        let other = told(&[map(5, 0, 9, 1), map(5, 0, 8, 1), map(5, 0, 7, 1)]);
        let found = part_after(5, [&one.launches, &other.launches]);
        assert_eq!(found.map(|it| it.map(|it| it.place.task)), [None, Some(7)]);
    }

    #[test]
    fn jobs_differ_from_their_first_other_launch_or_end_on() {
        let one = told(&[map(5, 0, 0, 1), map(6, 1, 0, 2), map(7, 2, 0, 3)]);
        let mut late = map(6, 1, 0, 2);
        late.ended = Some(12_000);
        // Job 0 is the same, job 1 ends at 10.006 s in one run, job 2 is launched elsewhere at 7 ms.
        let other = told(&[map(5, 0, 0, 1), late, map(9, 2, 0, 4)]);
        assert_eq!(differences([&one, &other]), [(2, 7), (1, 10_006)]);
        assert_eq!(differences([&one, &one]), []);
    }

    #[test]
    fn runs_of_other_jobs_say_what_differs() {
        let one = told(&[]);
        let mut fewer = told(&[]);
        fewer.jobs.pop();
        let told = |runs: [&Told; 2]| {
            let Err(Failure::Input(error)) = expect_same_jobs(["a", "b"], runs) else { panic!() };
            error.to_string()
        };
        assert!(told([&one, &fewer]).contains("`b` has no job 2, `j2`, which `a` has"));
        assert!(told([&fewer, &one]).contains("`a` has no job 2, `j2`, which `b` has"));
        assert!(expect_same_jobs(["a", "b"], [&one, &one]).is_ok());
    }
}
