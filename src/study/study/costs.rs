//! What a run of each cell costs, by a few probes; and the shards that are dealt out by it.
//!
//! A study has too many cells to try each. One of them is probed, the base, and for each axis some others
//! of its values with all else as in the base: so an axis has a factor for each value, and a cell costs
//! what the base does times the factors of its values. Of an axis of numbers a few values are probed, its
//! ends among them, and those between follow a power law from one to the next. Seeds are like names: where
//! the jobs are drawn, a seed may bring twice the work of another, and does so in all cells.
//!
//! A run goes to the shard that has least to do so far, the longest runs first. That is at most a third
//! above the best that there is, were the costs exact, and mostly far less. Every process comes to the
//! same shards, for it reads the same numbers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Plan, PlannedRun, Step};
use mumakil_base::files::COSTS;
use mumakil_core::mapred::{Policy as _, Stop};
use mumakil_policies::external::External;
use mumakil_run::emulation::{EmulationError, Options, Prepared};
use mumakil_run::output::{
    AsideFolder, OutputError, Over, RunFolder, read_json_if_there, write_json,
};
use mumakil_scenario::scenario::{ClockSpec, Registry, Scenario};

/// More cells are not probed.
const MOST_PROBES: usize = 24;

/// A probe of short runs is the median of so many.
const REPEATS: usize = 3;

/// Of other seeds than the first, so many are probed.
const MOST_SEEDS: usize = 8;

/// Runs that take longer together are not short.
const SHORT: Duration = Duration::from_millis(300);

/// The usual block of a disk.
const BLOCK: u64 = 4096;

/// What a run of each cell costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// The version of Mumakil that measured it.
    pub version: String,
    /// Real seconds of a run, by the names of the cells.
    pub seconds: IndexMap<String, f64>,
    /// How many times that the runs of a seed take.
    #[serde(default)]
    pub seeds: BTreeMap<u64, f64>,
}

/// What probes have shown.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How many cells were probed.
    pub probes: usize,
    /// Real seconds of a run in each cell.
    pub seconds: Vec<f64>,
    /// How many times that the runs of each seed take.
    pub seeds: Vec<f64>,
    /// Bytes of a run in each cell, as a disk gives them out.
    pub bytes: Vec<f64>,
}

/// A run to probe: the base, or the base but for one value or for the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    cell: usize,
    other: Other,
}

/// In what a probe is not the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Other {
    Nothing,
    /// This axis has this value.
    Value {
        axis: usize,
        value: usize,
    },
    /// It has the seed of this number.
    Seed(usize),
}

impl Plan {
    /// Returns how many runs are probed at most.
    pub fn probes(&self) -> usize {
        probes(self).len()
    }

    /// Does a few runs, and returns what the runs of all cells cost by that. No probe but the first is
    /// begun after `limit`, or takes longer than what is left of it; one that would counts as it is then.
    /// Nothing of their results is kept.
    ///
    /// # Errors
    /// If the first cannot be done, or nothing can be written.
    pub fn measure(
        &self,
        registry: &Registry,
        limit: Duration,
        mut tell: impl FnMut(Step),
    ) -> Result<Measured, EmulationError> {
        // It is never put in its place, but it is removed whatever ends this process.
        let room = std::env::temp_dir().join("mumakil-plan");
        let room = AsideFolder::create(&room, Over::Anything)?;
        let began = now();
        let (mut seconds, mut bytes) = (Vec::new(), Vec::new());
        for probe in probes(self) {
            let left = limit.saturating_sub(began.elapsed());
            let is_base = probe.other == Other::Nothing;
            if !is_base && left.is_zero() {
                break;
            }
            let seed = if let Other::Seed(seed) = probe.other { seed } else { 0 };
            let run = probe.cell * self.seeds().count() + seed;
            tell(Step::Begun { run });
            let probed = self.probe(run, room.path(), registry, (!is_base).then_some(left));
            tell(Step::Done { run, warnings: Vec::new() });
            match probed {
                Ok((time, room)) => {
                    seconds.push((probe, time));
                    bytes.push((probe, room));
                }
                // A cell whose runs fail says nothing of the others. That they fail is told when they
                // are done.
                Err(error) if is_base || is_of_the_disk(&error) => return Err(error),
                Err(_) => {}
            }
        }
        let probes = seconds.len();
        let (mut times, seeds) = spread(self, &seconds);
        let of_seeds = seeds.iter().sum::<f64>() / seeds.len() as f64;
        times.iter_mut().for_each(|time| *time *= of_seeds);
        let seeds = seeds.into_iter().map(|factor| factor / of_seeds).collect();
        Ok(Measured { probes, seconds: times, seeds, bytes: spread(self, &bytes).0 })
    }

    /// Does a run, a few times if it is short, and returns its time and room.
    fn probe(
        &self,
        run: usize,
        room: &Path,
        registry: &Registry,
        limit: Option<Duration>,
    ) -> Result<(f64, f64), EmulationError> {
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..REPEATS {
            let folder = RunFolder::create(&room.join("probe"), false)?;
            let scenario = self.scenario(&self.runs[run]);
            let clock = Clock::of(&scenario);
            let prepared = Prepared::new(scenario, registry)?;
            let options = Options { time_limit: limit, ..Options::default() };
            let kept = prepared.fill(&folder, registry, options)?;
            times.push(clock.seconds());
            bytes = bytes.max(bytes_of(folder.path())?);
            let is_cut =
                kept.emulated.stop == Stop::TimeLimit || kept.alone == Some(Stop::TimeLimit);
            if is_cut || SHORT.as_secs_f64() < times.iter().sum() {
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        Ok((times[times.len() / 2], bytes as f64))
    }

    /// Lets the shards be dealt out by what runs cost; a cell that is unknown costs as much as the others
    /// on average.
    pub fn weigh(&mut self, costs: &Costs) {
        let known: Vec<f64> =
            costs.seconds.values().copied().filter(|cost| cost.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let of_cell = |cell| {
            let seconds =
                costs.seconds.get(&self.name(cell)).copied().filter(|cost| cost.is_finite());
            seconds.unwrap_or(mean)
        };
        let cells: Vec<f64> = (0..self.cells.len()).map(of_cell).collect();
        let cost = |run: &PlannedRun| {
            let factor = costs.seeds.get(&run.seed).copied().filter(|factor| factor.is_finite());
            // Whole numbers, so that the order in which they are added up changes nothing; no run is for
            // nothing, or one shard would have all of them.
            ((cells[run.cell] * factor.unwrap_or(1.0) * 1e6).ceil() as u64).max(1)
        };
        self.weights = self.runs.iter().map(cost).collect();
    }
}

impl Costs {
    /// Returns what was measured of a plan.
    pub fn of(plan: &Plan, measured: &Measured) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let seconds = (0..plan.cells.len()).map(|cell| (plan.name(cell), measured.seconds[cell]));
        let seeds = plan.seeds().zip(measured.seeds.iter().copied());
        Self { version, seconds: seconds.collect(), seeds: seeds.collect() }
    }

    /// Returns whether the costs of all cells of a plan are known.
    pub fn know(&self, plan: &Plan) -> bool {
        (0..plan.cells.len()).all(|cell| self.seconds.contains_key(&plan.name(cell)))
    }

    /// Reads what a study's folder says of the costs, if it does.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Self>, OutputError> {
        read_json_if_there(&folder.join(COSTS))
    }

    /// Writes them into a study's folder.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), OutputError> {
        write_json(folder, COSTS, self)
    }
}

/// Returns the shard of each run by what it costs: the longest first, each to the shard that has least to
/// do by then, or the first of these. Runs of equal cost go round.
pub fn deal(costs: &[u64], shards: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|run| (Reverse(costs[*run]), *run));
    let mut loads: BinaryHeap<Reverse<(u64, usize)>> =
        (0..shards).map(|shard| Reverse((0, shard))).collect();
    let mut dealt = vec![0; costs.len()];
    for run in order {
        let mut least = loads.peek_mut().expect("there is a shard");
        dealt[run] = least.0.1;
        least.0.0 += costs[run];
    }
    dealt
}

/// Returns the runs to probe, the base first, then those of each axis and of the seeds in turn.
fn probes(plan: &Plan) -> Vec<Probe> {
    let places: FxHashMap<&[usize], usize> =
        plan.cells.iter().enumerate().map(|(place, cell)| (&cell.values[..], place)).collect();
    // Numbers are seen from their middle, where they reach least far.
    let middle: Vec<usize> = plan
        .axes
        .iter()
        .map(|axis| if axis.is_numeric() { axis.told.len() / 2 } else { 0 })
        .collect();
    let agrees =
        |cell: &super::Cell| cell.values.iter().zip(&middle).filter(|(a, b)| a == b).count();
    let base =
        (0..plan.cells.len()).max_by_key(|cell| (agrees(&plan.cells[*cell]), Reverse(*cell)));
    let base = base.expect("a study has a cell");
    let values = &plan.cells[base].values;
    let mut queues: Vec<_> = plan.axes.iter().map(|axis| axis.samples().into_iter()).collect();
    let mut seeds = (1..plan.seeds().count()).take(MOST_SEEDS);
    let mut probes = vec![Probe { cell: base, other: Other::Nothing }];
    let mut is_over = false;
    while !is_over {
        is_over = true;
        for (axis, queue) in queues.iter_mut().enumerate() {
            let Some(value) = queue.next() else { continue };
            is_over = false;
            let mut other = values.clone();
            other[axis] = value;
            // A cell may be left out of the study.
            let cell = places.get(&other[..]).copied().filter(|cell| *cell != base);
            probes.extend(cell.map(|cell| Probe { cell, other: Other::Value { axis, value } }));
        }
        if let Some(seed) = seeds.next() {
            is_over = false;
            probes.push(Probe { cell: base, other: Other::Seed(seed) });
        }
    }
    probes.truncate(MOST_PROBES);
    probes
}

/// An axis, as far as costs depend on it.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// What tells its values.
    pub(super) told: Vec<String>,
    /// Its values, if they are numbers.
    pub(super) numbers: Vec<Option<f64>>,
}

impl Scale {
    fn is_numeric(&self) -> bool {
        2 < self.numbers.len() && self.numbers.iter().all(Option::is_some)
    }

    /// Returns the values to probe: of numbers the ends and quarters, of names all.
    fn samples(&self) -> Vec<usize> {
        let last = self.told.len() - 1;
        if self.is_numeric() {
            let mut samples = vec![last, 0];
            for quarter in [last / 4, last - last / 4] {
                if !samples.contains(&quarter) {
                    samples.push(quarter);
                }
            }
            return samples;
        }
        (0..self.told.len()).collect()
    }

    /// Returns the logarithm of the factor of each value, by those that are known.
    fn factors(&self, known: &[(usize, f64)]) -> Vec<f64> {
        let mean = known.iter().map(|(_, factor)| factor).sum::<f64>() / known.len() as f64;
        let exact =
            |value| known.iter().find(|(other, _)| *other == value).map(|(_, factor)| *factor);
        if !self.is_numeric() {
            return (0..self.told.len()).map(|value| exact(value).unwrap_or(mean)).collect();
        }
        let is_positive = self.numbers.iter().flatten().all(|number| 0.0 < *number);
        let at = |value: usize| {
            let number = self.numbers[value].expect("they are numbers");
            if is_positive { number.ln() } else { number }
        };
        let mut points: Vec<(f64, f64)> =
            known.iter().map(|(value, factor)| (at(*value), *factor)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let between = |x: f64| {
            let after = points.partition_point(|point| point.0 < x);
            match (after.checked_sub(1).map(|before| points[before]), points.get(after)) {
                (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
                (Some((_, y)), None) => y,
                (None, Some((_, y))) => *y,
                (None, None) => mean,
            }
        };
        (0..self.told.len())
            .map(|value| exact(value).unwrap_or_else(|| between(at(value))))
            .collect()
    }
}

/// Returns what each cell has of something with the first seed, and how many times that each seed has, by
/// what probes have of it; the first is the base.
fn spread(plan: &Plan, probed: &[(Probe, f64)]) -> (Vec<f64>, Vec<f64>) {
    let log = |number: f64| number.max(1e-9).ln();
    let (base, of_base) = (plan.cells[probed[0].0.cell].values.clone(), log(probed[0].1));
    // Returns the factors that were found of those probes for which `of` tells the value.
    let found = |first: usize, of: &dyn Fn(Other) -> Option<usize>| -> Vec<(usize, f64)> {
        let others = probed
            .iter()
            .filter_map(|(probe, found)| Some((of(probe.other)?, log(*found) - of_base)));
        [(first, 0.0)].into_iter().chain(others).collect()
    };
    let factors: Vec<Vec<f64>> = plan
        .axes
        .iter()
        .enumerate()
        .map(|(number, scale)| {
            let of = |other| match other {
                Other::Value { axis, value } if axis == number => Some(value),
                _ => None,
            };
            scale.factors(&found(base[number], &of))
        })
        .collect();
    let of = |cell: &super::Cell| {
        let factors = factors.iter().zip(&cell.values).map(|(axis, value)| axis[*value]);
        (of_base + factors.sum::<f64>()).exp()
    };
    let seeds = plan.seeds().count();
    let scale = Scale { told: vec![String::new(); seeds], numbers: vec![None; seeds] };
    let known = found(0, &|other| if let Other::Seed(seed) = other { Some(seed) } else { None });
    let of_seeds = scale.factors(&known).into_iter().map(f64::exp);
    (plan.cells.iter().map(of).collect(), of_seeds.collect())
}

fn is_of_the_disk(error: &EmulationError) -> bool {
    matches!(
        error,
        EmulationError::Output(_) | EmulationError::Record(_) | EmulationError::ReadBack(_)
    )
}

/// Returns the room of a folder on a disk, which gives out blocks.
fn bytes_of(folder: &Path) -> Result<u64, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    let mut bytes = BLOCK;
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let about = entry.metadata().map_err(error)?;
        bytes += if about.is_dir() {
            bytes_of(&entry.path())?
        } else {
            about.len().next_multiple_of(BLOCK)
        };
    }
    Ok(bytes)
}

/// What a run takes: the time of this process, in which nothing else goes on, so that what else a machine
/// does shows less. Where others have to be waited for, a program or a clock, it is real time.
struct Clock {
    began: Instant,
    /// What this process had spent by then.
    spent: Option<Duration>,
}

impl Clock {
    fn of(scenario: &Scenario) -> Self {
        let is_alone = scenario.clock == ClockSpec::Virtual
            && scenario.policies().all(|policy| policy.name != External::NAME);
        Self { began: now(), spent: spent().filter(|_| is_alone) }
    }

    fn seconds(&self) -> f64 {
        let spent = self.spent.zip(spent()).map(|(before, after)| after.saturating_sub(before));
        spent.unwrap_or_else(|| self.began.elapsed()).as_secs_f64()
    }
}

/// Returns the time of processors that this process has spent, where the system tells.
fn spent() -> Option<Duration> {
    #[cfg(unix)]
    {
        use rustix::time::{ClockId, clock_gettime};
        let spent = clock_gettime(ClockId::ProcessCPUTime);
        Some(Duration::new(spent.tv_sec.try_into().ok()?, spent.tv_nsec.try_into().ok()?))
    }
    #[cfg(not(unix))]
    None
}

#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Shard, Study};
    use mumakil_scenario::scenario::Draft;

    fn plan(sweep: &str) -> Plan {
        let yaml =
            format!("workload: {{jobs: [{{name: a, maps: 1, map_time: 1s}}]}}\nsweep: {{{sweep}}}");
        let study = Study::of(Draft::of("test.yaml", &yaml).unwrap()).unwrap();
        Plan::new(&study, &Registry::builtin()).unwrap()
    }

    #[test]
    fn of_numbers_the_ends_and_quarters_are_probed_each_once() {
        let samples = |count: usize| {
            let numbers = (0..count).map(|number| Some(number as f64)).collect();
            Scale { told: vec![String::new(); count], numbers }.samples()
        };
        assert_eq!(samples(3), [2, 0]);
        assert_eq!(samples(4), [3, 0]);
        assert_eq!(samples(9), [8, 0, 2, 6]);
    }

    #[test]
    fn the_longest_run_goes_to_the_shard_that_has_least_to_do() {
        // 7 to the first, 5 to the second, 4 to the second (5 < 7), 3 to the first (7 < 9), 1 to the second.
        assert_eq!(deal(&[3, 7, 1, 5, 4], 2), [0, 0, 1, 1, 1]);
        assert_eq!(deal(&[2, 2, 2, 2, 2], 2), [0, 1, 0, 1, 0]);
        assert_eq!(deal(&[1], 3), [0]);
        assert!(deal(&[], 3).is_empty());
    }

    #[test]
    fn runs_of_equal_cost_are_dealt_out_in_turn() {
        let mut plan = plan("cluster.nodes: [3, 4, 5], seeds: 3");
        let parts = |plan: &Plan| -> Vec<Vec<usize>> {
            let part = |index| plan.part(Shard { index, count: 2 }).collect();
            (0..2).map(part).collect()
        };
        let in_turn = parts(&plan);
        assert_eq!(in_turn, [vec![0, 2, 4, 6, 8], vec![1, 3, 5, 7]]);
        let unknown =
            || Costs { version: String::new(), seconds: IndexMap::new(), seeds: BTreeMap::new() };
        plan.weigh(&unknown());
        assert_eq!(parts(&plan), in_turn);
        // 6, 7 and 8 first, to the one, the other and the one; then 0 and 1 to the other, and so on.
        let seconds = [("nodes 3", 1.0), ("nodes 4", 1.0), ("nodes 5", 2.0)];
        let seconds = seconds.map(|(cell, cost)| (cell.to_owned(), cost)).into_iter().collect();
        plan.weigh(&Costs { seconds, ..unknown() });
        assert_eq!(parts(&plan), [vec![2, 4, 6, 8], vec![0, 1, 3, 5, 7]]);
    }

    #[test]
    fn a_hundred_thousand_runs_are_dealt_out_evenly_to_a_thousand_shards() {
        // Costs from 1 to 100 as of ten seeds in each of ten thousand cells.
        let costs: Vec<u64> =
            (0..100_000).map(|run| 1_000_000 + run / 10 % 100 * 1_000_000).collect();
        let mut loads = vec![0; 1_000];
        for (cost, shard) in costs.iter().zip(deal(&costs, 1_000)) {
            loads[shard] += cost;
        }
        let mean = costs.iter().sum::<u64>() / 1_000;
        assert!(loads.iter().all(|load| load * 1_000 <= mean * 1_005), "{:?}", loads.iter().max());
    }

    #[test]
    fn the_ends_and_quarters_of_numbers_are_probed_and_all_names() {
        let plan =
            plan("cluster.nodes: {from: 10, to: 100, step: 10}, scheduler: [fifo, fair, hfsp]");
        let told: Vec<String> = probes(&plan).iter().map(|probe| plan.name(probe.cell)).collect();
        assert_eq!(
            told,
            [
                "nodes 60, fifo",
                "nodes 100, fifo",
                "nodes 10, fifo",
                "nodes 60, fair",
                "nodes 30, fifo",
                "nodes 60, hfsp",
                "nodes 80, fifo",
            ]
        );
    }

    #[test]
    fn no_more_than_a_few_cells_are_probed_and_none_that_is_left_out() {
        let many = plan(
            "hadoop.heartbeat: {from: 1s, to: 50s, step: 1s}, scheduler: [fifo, fair, hfsp, ps], \
             hadoop.commit_pending: [quirk, slot-held], cluster.nodes: {from: 1, to: 9, step: 1}",
        );
        assert!(many.probes() <= MOST_PROBES);
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n\
                    sweep: {cluster.nodes: [3, 4], scheduler: [fifo, fair]}\n\
                    exclude: [{nodes: 3, scheduler: fifo}]";
        let study = Study::of(Draft::of("test.yaml", yaml).unwrap()).unwrap();
        let plan = Plan::new(&study, &Registry::builtin()).unwrap();
        let told: Vec<String> = probes(&plan).iter().map(|probe| plan.name(probe.cell)).collect();
        assert_eq!(told, ["nodes 3, fair", "nodes 4, fair"]);
    }

    #[test]
    fn a_cell_costs_the_base_times_the_factors_of_its_values() {
        let plan = plan("cluster.nodes: [10, 20, 40, 80, 160], scheduler: [fifo, fair]");
        // Ten times as many nodes cost a hundred times as much; fair costs thrice as much.
        let cost = |cell: usize| {
            let values = &plan.cells[cell].values;
            let nodes = [10.0_f64, 20.0, 40.0, 80.0, 160.0][values[0]];
            nodes * nodes * [1.0, 3.0][values[1]]
        };
        let probed: Vec<(Probe, f64)> = probes(&plan)
            .into_iter()
            .filter(|probe| !matches!(probe.other, Other::Value { axis: 0, value: 1 | 3 }))
            .map(|probe| (probe, cost(probe.cell)))
            .collect();
        assert_eq!(probed.len(), 4);
        for (cell, found) in spread(&plan, &probed).0.into_iter().enumerate() {
            assert!((found / cost(cell) - 1.0).abs() < 1e-9, "{}: {found}", plan.name(cell));
        }
    }

    #[test]
    fn a_seed_has_its_factor_in_all_cells() {
        let mut plan = plan("cluster.nodes: [3, 4], seeds: [7, 8, 9]");
        let probes = probes(&plan);
        assert_eq!(probes.len(), 4, "two seeds and a value beside the base: {probes:?}");
        // The second seed takes twice as long, the third four times, and 4 nodes thrice.
        let cost = |probe: &Probe| match probe.other {
            Other::Seed(seed) => [1.0, 2.0, 4.0][seed],
            Other::Value { .. } => 3.0,
            Other::Nothing => 1.0,
        };
        let probed: Vec<(Probe, f64)> = probes.iter().map(|probe| (*probe, cost(probe))).collect();
        let (cells, seeds) = spread(&plan, &probed);
        let is = |found: &[f64], wanted: &[f64]| {
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-9)
        };
        assert!(is(&cells, &[1.0, 3.0]) && is(&seeds, &[1.0, 2.0, 4.0]), "{cells:?} {seeds:?}");
        let seconds = [("nodes 3", 1.0), ("nodes 4", 3.0)];
        let seconds = seconds.map(|(cell, cost)| (cell.to_owned(), cost)).into_iter().collect();
        let seeds = [(7, 1.0), (8, 2.0), (9, 4.0)].into_iter().collect();
        plan.weigh(&Costs { version: String::new(), seconds, seeds });
        let millions = [1, 2, 4, 3, 6, 12].map(|million| million * 1_000_000);
        assert_eq!(plan.weights, millions);
    }

    #[test]
    fn costs_are_read_back_as_they_were_written() {
        let room = tempfile::TempDir::new().unwrap();
        assert_eq!(Costs::read(room.path()).unwrap(), None);
        let plan = plan("cluster.nodes: [3, 4]");
        let measured = Measured {
            probes: 2,
            seconds: vec![0.1, 0.3],
            seeds: vec![1.0],
            bytes: vec![1.0, 1.0],
        };
        let costs = Costs::of(&plan, &measured);
        costs.write(room.path()).unwrap();
        assert_eq!(Costs::read(room.path()).unwrap(), Some(costs));
        fs::write(room.path().join(COSTS), "{").unwrap();
        assert!(Costs::read(room.path()).is_err());
    }
}
