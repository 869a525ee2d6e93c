//! `mumakil compare A B --first`: where two runs of the same jobs part, and what came of it.
//!
//! What was launched is read from the tables. Both runs are then repeated up to the instant at which they
//! part, to hear how their policies ranked the jobs there.

mod json;
mod launches;
mod repeat;
mod tell;

use std::collections::BTreeSet;
use std::path::PathBuf;

use self::launches::{Launch, Nodes, Parting, Told};
use self::repeat::{Contest, Repeated, repeat};
use super::expect_tasks;
use super::runs::Run;
use crate::cli::failure::Failure;
use crate::mapred::{SlotKind, TaskKind};
use crate::output::results::RunResults;
use crate::scenario::Registry;

/// So many jobs are told whose difference began first.
const JOBS: usize = 10;

/// Two runs of the same jobs, and where they part.
pub(super) struct First {
    names: [String; 2],
    told: [Told; 2],
    nodes: Nodes,
    parting: Option<Parted>,
    /// The jobs that differ, with the millisecond from which on, those first that differ first.
    differences: Vec<(usize, u64)>,
}

/// Where two runs part.
struct Parted {
    /// The millisecond.
    at: u64,
    /// What each launched there, or next.
    launches: Parting,
    /// Whose launch parts them.
    by: usize,
    /// The slot that it took; `None` if no policy was asked.
    kind: Option<SlotKind>,
    /// Who contended for that slot in each, or why nobody knows.
    contests: [Result<Contest, String>; 2],
}

impl First {
    /// Finds where two runs part.
    pub(super) fn find(
        folders: &[PathBuf],
        runs: &[Run],
        registry: &Registry,
    ) -> Result<Self, Failure> {
        let ([one, other], [a, b]) = (folders, runs) else {
            return Err(Failure::input(format!(
                "--first says where two runs part, and here are {}",
                folders.len()
            )));
        };
        let names = [a.name.clone(), b.name.clone()];
        let results = [one, other].map(RunResults::new);
        for folder in [one, other] {
            expect_tasks(folder, "--first reads there what was launched")?;
        }
        let mut nodes = Nodes::new();
        let [first, second] = &results;
        let mut told = [Told::read(first, &mut nodes)?, Told::read(second, &mut nodes)?];
        launches::expect_same_jobs([&names[0], &names[1]], [&told[0], &told[1]])?;
        let parting = match launches::part([&told[0].launches, &told[1].launches]) {
            None => None,
            Some(parting) => {
                let at = launches::instant(&parting);
                Some(Parted::hear(at, [one, other], &mut told, &nodes, registry, [a, b])?)
            }
        };
        let differences = launches::differences([&told[0], &told[1]]);
        Ok(Self { names, told, nodes, parting, differences })
    }

    /// Returns the jobs whose difference began first, in both runs.
    fn jobs(&self) -> impl Iterator<Item = ([&launches::ToldJob; 2], u64)> {
        let jobs = |place: usize| [&self.told[0].jobs[place], &self.told[1].jobs[place]];
        self.differences.iter().take(JOBS).map(move |(place, began)| (jobs(*place), *began))
    }

    fn node(&self, launch: &Launch) -> &str {
        &self.nodes[launch.place.node as usize]
    }

    fn job_name(&self, job: u32) -> &str {
        let jobs = &self.told[0].jobs;
        jobs.iter().find(|one| one.id == job).map_or("", |job| job.name.as_str())
    }
}

impl Parted {
    /// Repeats both runs to hear who contended there; puts in order what was launched in the millisecond
    /// at which they part.
    fn hear(
        at: u64,
        folders: [&PathBuf; 2],
        told: &mut [Told; 2],
        nodes: &Nodes,
        registry: &Registry,
        runs: [&Run; 2],
    ) -> Result<Self, Failure> {
        let there = |told: &Told| {
            let launches = told.launches.iter().map(|launch| launch.place);
            launches.filter(|place| place.at == at).map(|place| place.node).collect::<BTreeSet<_>>()
        };
        let wanted = &there(&told[0]) | &there(&told[1]);
        let repeated = folders.map(|folder| repeat(folder, registry, at, (nodes, &wanted)));
        let [one, other] = repeated;
        let mut heard: [Result<Repeated, String>; 2] =
            [one?.map_err(str::to_owned), other?.map_err(str::to_owned)];
        for (run, heard) in heard.iter_mut().enumerate() {
            let Ok(again) = heard else { continue };
            if again.agrees(at, &told[run].launches) {
                told[run].order_by(&again.launches());
            } else {
                *heard = Err(format!(
                    "Mumakil {} does not repeat what {} made",
                    env!("CARGO_PKG_VERSION"),
                    runs[run].about.version
                ));
            }
        }
        let launches = launches::part_after(at, [&told[0].launches, &told[1].launches]);
        Ok(Self::of(at, launches, &heard))
    }

    fn of(at: u64, launches: Parting, heard: &[Result<Repeated, String>; 2]) -> Self {
        let is_first = |run: usize| launches[run].is_some_and(|launch| launch.place.at == at);
        let order = |run: usize| launches[run].map(|launch| (launch.place.at, launch.turn));
        // Of two at the same instant, that of the first run.
        let by = usize::from(!is_first(0) || is_first(1) && order(1) < order(0));
        let launch = launches[by].expect("it is the first");
        let kind = match launch.place.kind {
            TaskKind::Map => Some(SlotKind::Map),
            TaskKind::Reduce => Some(SlotKind::Reduce),
            TaskKind::Setup | TaskKind::Cleanup => None,
        };
        let contest = |run: usize| -> Result<Contest, String> {
            let kind = kind.ok_or("no policy is asked for setups and cleanups of jobs")?;
            let [own, here] = [by, run].map(|run| heard[run].as_ref().map_err(String::clone));
            let here = here?;
            let (offer, before) =
                own?.offer_of(&launch).ok_or("the offer of this slot was not heard")?;
            if run == by {
                return Contest::of(offer, kind, before);
            }
            let asked = here.contest(launch.place.node, kind, (offer, before));
            asked.unwrap_or_else(|| Err("the node asked for nothing then".to_owned()))
        };
        Self { at, launches, by, kind, contests: [contest(0), contest(1)] }
    }
}
