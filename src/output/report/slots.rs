//! Who held how many slots over time, from `timeline.csv`.

use indexmap::IndexSet;
use rustc_hash::FxHashMap;

use super::jobs::{JobRow, read_jobs};
use super::{RunReport, charted};
use crate::chart::{Axis, Caption, Drawing, Layer, Stack, Unit};
use crate::expect::{ReadError, Results, Table};
use crate::mapred::{PerSlot, SlotKind};
use crate::page::Block;
use crate::record::Summary;

const COLUMNS: [&str; 4] = ["time_ms", "kind", "job", "slots"];

/// So many jobs are layers of their own; more could not be told apart.
const FEW: usize = 8;

/// Of changes that come closer than this part of the run the last one stands for all: far less than
/// can be seen, and what bounds the memory.
pub(super) const GRAINS: f64 = 20_000.0;

/// What the charts are made of, beside the timeline.
struct SlotsOverTime<'a> {
    jobs: &'a [JobRow],
    /// How many slots there are.
    capacity: PerSlot<u64>,
    /// When the run ended, in seconds.
    until: f64,
}

/// What makes the layers: a word for it, the names, and which of them each job is in.
struct Groups<'a> {
    word: &'static str,
    names: IndexSet<&'a str>,
    of: FxHashMap<u32, usize>,
}

/// A number over time, in seconds.
#[derive(Clone, Default)]
pub(super) struct Level {
    now: f64,
    pub(super) steps: Vec<(f64, f64)>,
}

pub(super) fn blocks(run: &RunReport<'_>, jobs: &[JobRow]) -> Result<Vec<Block>, ReadError> {
    if !run.scenario.record.timeline {
        return Ok(Vec::new());
    }
    let Summary { map_slots, reduce_slots, virtual_s, .. } = *run.summary;
    let capacity = PerSlot { map: map_slots, reduce: reduce_slots };
    Ok(charted(SlotsOverTime { jobs, capacity, until: virtual_s }.draw(run.results)?))
}

impl SlotsOverTime<'_> {
    /// Returns a chart for each kind of slot that there is.
    fn draw(&self, results: &dyn Results) -> Result<Vec<Drawing>, ReadError> {
        let groups = self.groups();
        let levels = self.levels(&groups, results)?;
        let kinds = SlotKind::BOTH.into_iter().filter(|kind| 0 < self.capacity[*kind]);
        let draw = |kind: SlotKind| {
            let (id, word) = (format!("slots-{}", kind.word()), kind.word());
            let title = format!("Slots that {word}s hold, by {}", groups.word);
            self.stack(kind, &groups, &levels[kind], (id, title)).draw()
        };
        Ok(kinds.map(draw).collect())
    }

    /// By pool; where all jobs are in one, by job or class.
    fn groups(&self) -> Groups<'_> {
        let by_pool = Groups::by("pool", self.jobs, |job| &job.pool);
        if 1 < by_pool.names.len() {
            by_pool
        } else if self.jobs.len() <= FEW {
            Groups::by("job", self.jobs, |job| &job.name)
        } else {
            Groups::by("class", self.jobs, |job| &job.class)
        }
    }

    fn levels(
        &self,
        groups: &Groups<'_>,
        results: &dyn Results,
    ) -> Result<PerSlot<Vec<Level>>, ReadError> {
        let none = vec![Level::default(); groups.names.len()];
        let mut levels = PerSlot { map: none.clone(), reduce: none };
        let mut held: PerSlot<FxHashMap<u32, f64>> = PerSlot::default();
        results.rows(Table::Timeline, &COLUMNS, &mut |row| {
            let (Some(millis), Some(slots)) = (row.number(0)?, row.number(3)?) else {
                return Ok(());
            };
            let kind = if row.text(1) == "map" { SlotKind::Map } else { SlotKind::Reduce };
            let job = row.id(2)?;
            let Some(group) = groups.of.get(&job) else { return Ok(()) };
            let before = held[kind].insert(job, slots).unwrap_or_default();
            levels[kind][*group].change(millis / 1e3, slots - before, self.until / GRAINS);
            Ok(())
        })?;
        Ok(levels)
    }

    fn stack(
        &self,
        kind: SlotKind,
        groups: &Groups<'_>,
        levels: &[Level],
        (id, title): (String, String),
    ) -> Stack {
        let word = kind.word();
        let layer = |(name, level): (&&str, &Level)| {
            let name = if name.is_empty() { "all jobs" } else { name };
            Layer { name: name.to_owned(), steps: level.steps.clone() }
        };
        let used = |(_, level): &(&&str, &Level)| !level.steps.is_empty();
        let all = self.capacity[kind] as f64;
        Stack {
            caption: Caption {
                id,
                title,
                description: format!(
                    "The {word} slots held over time, stacked by {}; a dashed line at all {all}.",
                    groups.word
                ),
            },
            x: Axis::linear("Time", Unit::Seconds),
            y: Axis::linear(format!("Slots held by {word}s"), Unit::Count),
            layers: groups.names.iter().zip(levels).filter(used).map(layer).collect(),
            capacity: Some(Layer {
                name: format!("all {} slots", Unit::Count.text(all)),
                steps: vec![(0.0, all)],
            }),
            until: self.until,
        }
    }
}

/// Returns who held the slots of a kind over the time of a run, to be drawn under an id and a title.
///
/// # Errors
/// If what the run left cannot be read.
pub fn slots_over_time(
    results: &dyn Results,
    kind: SlotKind,
    id: String,
    title: String,
) -> Result<Stack, ReadError> {
    let number = |name: &str| Ok(results.number(name)?.unwrap_or_default());
    let jobs = read_jobs(results)?;
    let capacity =
        PerSlot { map: number("map_slots")? as u64, reduce: number("reduce_slots")? as u64 };
    let slots = SlotsOverTime { jobs: &jobs, capacity, until: number("virtual_s")? };
    let groups = slots.groups();
    let levels = slots.levels(&groups, results)?;
    Ok(slots.stack(kind, &groups, &levels[kind], (id, title)))
}

impl<'a> Groups<'a> {
    fn by(word: &'static str, jobs: &'a [JobRow], name: fn(&JobRow) -> &String) -> Self {
        let mut names = IndexSet::new();
        let of = jobs.iter().map(|job| (job.id, names.insert_full(name(job).as_str()).0)).collect();
        Self { word, names, of }
    }
}

impl Level {
    pub(super) fn change(&mut self, at: f64, by: f64, grain: f64) {
        self.now += by;
        match self.steps.last_mut() {
            Some(last) if at - last.0 <= grain => last.1 = self.now,
            _ => self.steps.push((at, self.now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(pools: &[&str]) -> Vec<JobRow> {
        let job = |(id, pool): (u32, &&str)| JobRow {
            id,
            name: format!("j{id}"),
            pool: (*pool).to_owned(),
            class: "small".to_owned(),
            ..JobRow::default()
        };
        (0..).zip(pools).map(job).collect()
    }

    fn word(pools: &[&str]) -> &'static str {
        let jobs = jobs(pools);
        SlotsOverTime { jobs: &jobs, capacity: PerSlot::default(), until: 1.0 }.groups().word
    }

    #[test]
    fn layers_are_pools_or_few_jobs_or_classes() {
        assert_eq!(word(&["a", "b"]), "pool");
        assert_eq!(word(&["a", "a"]), "job");
        assert_eq!(word(&["a"; FEW + 1]), "class");
    }

    #[test]
    fn changes_within_a_grain_are_one() {
        let mut level = Level::default();
        for (at, by) in [(0.0, 2.0), (0.5, 1.0), (3.0, -1.0)] {
            level.change(at, by, 1.0);
        }
        assert_eq!(level.steps, [(0.0, 3.0), (3.0, 2.0)]);
    }
}
