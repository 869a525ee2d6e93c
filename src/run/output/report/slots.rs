//! Slots over time, from `timeline.csv`: slots held and tasks waiting, by pool, user, job or class,
//! the minimum share of each pool, and what each group lacks of its share (from `shares.csv` if the
//! run has it).

use rustc_hash::FxHashMap;

use super::job_groups::{JobGroups, called};
use super::{ReportBlocks, ReportSource, RunReport, charted};
use crate::record::Summary;
use mumakil_base::theory::equal_shares;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{PerSlot, PromisedSlots, SlotKind};
use mumakil_draw::chart::{AxisUnit, Caption, ChartAxis, Drawing, Stack, StackLayer};
use mumakil_results::tables::{ReadError, Results, RunJobs, ShareRow, SlotsRow};

/// Each chart divides the run's time into this many grains; the changes within one grain are drawn
/// as one change, with the last value. Chosen: a chart is 720 units wide, so a grain is too small
/// to be seen, and memory is bounded.
pub(super) const GRAINS: f64 = 20_000.0;

/// The input of the charts, without the timeline.
struct SlotsOverTime<'a> {
    jobs: &'a RunJobs,
    parties: &'a JobGroups,
    /// The number of slots of each kind.
    capacity: PerSlot<u64>,
    /// The minimum shares of pools.
    promised: PromisedSlots,
    /// When the run ended, in seconds.
    until: f64,
}

/// A number over time; instants are in seconds.
#[derive(Clone, Default)]
pub(super) struct SlotLevel {
    pub(super) now: f64,
    pub(super) steps: Vec<(f64, f64)>,
}

/// The slots that one group of jobs held over time, and the number of its tasks that waited.
#[derive(Clone, Default)]
struct Levels {
    held: SlotLevel,
    waiting: SlotLevel,
}

/// Options of a chart of slots over time.
#[derive(Clone, Debug)]
pub struct SlotsDrawing {
    /// The kind of slots.
    pub kind: SlotKind,
    /// The id and the title.
    pub caption: Caption,
    /// The end of the time axis in seconds; `None` for the end of the run.
    pub until: Option<f64>,
}

/// The things that a reader looks for in a chart of slots over time.
pub const LOOK_FOR_SLOTS: &str =
    "a colour that fills the slots while tasks of others wait in the strip above";

/// Charts over time end where this share of the slot time is over, if that leaves out half of the run.
const MOST_OF_IT: f64 = 0.99;

/// Returns the second at which charts over time end: a job that outlives all others would leave them
/// little room.
pub(super) fn end_of_charts(run: &RunReport<'_>, jobs: &RunJobs) -> Result<f64, ReadError> {
    let end = run.summary.virtual_s;
    let late = jobs
        .all
        .iter()
        .filter(|job| job.finish_ms.is_none_or(|finish| end / 2.0 < finish as f64 / 1e3));
    // With many late jobs, much of the work is late: do not read the table for that.
    if !run.scenario.record.timeline || jobs.all.len() < 20 * late.count() {
        return Ok(end);
    }
    // The slot time up to each change.
    let mut sums = vec![(0.0, 0.0)];
    let (mut held, mut all) = (FxHashMap::default(), 0.0);
    (run.results as &dyn Results).rows(|row: SlotsRow| {
        let (at, (before, sum)) = (row.time_ms as f64 / 1e3, *sums.last().expect("it has one"));
        sums.push((at, sum + all * (at - before)));
        let slots = f64::from(row.slots);
        all += slots - held.insert((row.job, row.kind), slots).unwrap_or_default();
        Ok(())
    })?;
    let whole = sums.last().map_or(0.0, |(_, sum)| *sum);
    let place = sums.partition_point(|(_, sum)| *sum < MOST_OF_IT * whole);
    let most = sums.get(place).map_or(end, |(at, _)| *at);
    Ok(if most < end / 2.0 { most } else { end })
}

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let ReportSource { run, jobs, parties, until, .. } = source;
    if !run.scenario.record.timeline {
        return Ok(Vec::new());
    }
    let Summary { map_slots, reduce_slots, .. } = *run.summary;
    let capacity = PerSlot { map: map_slots, reduce: reduce_slots };
    // A policy's minimum shares end when another policy takes over, so the chart of a run with
    // several policies leaves them out.
    let promised = match run.summary.run.later_policies.is_empty() {
        true => run.registry.promised(&run.scenario.scheduler, capacity),
        false => PromisedSlots::new(),
    };
    let slots = SlotsOverTime { jobs, parties, capacity, promised, until: *until };
    let levels = slots.levels(run.results)?;
    let mut charts = slots.draw(&levels, run.scenario.record.sample);
    // Where memory and cores limit tasks, equal shares of slots say nothing.
    if run.summary.resource_utilisation.is_none() {
        charts.extend(slots.lacks(&levels.map, slots.due(run.results)?.as_deref()));
    }
    Ok(charted(charts))
}

/// The most groups whose shares are compared. Chosen: more have no colours of their own.
const MOST_SHARES: usize = 8;

impl SlotsOverTime<'_> {
    /// Returns a chart for each kind of slot that jobs use. `sample` is the time between two instants that the timeline has.
    fn draw(&self, levels: &PerSlot<Vec<Levels>>, sample: SimSpan) -> Vec<Drawing> {
        // A kind that no job uses has nothing to show.
        let is_used = |kind: SlotKind| {
            let mut all = levels[kind].iter().flat_map(|of| [&of.held.steps, &of.waiting.steps]);
            0 < self.capacity[kind] && all.any(|steps| steps.iter().any(|step| step.1 != 0.0))
        };
        let kinds = SlotKind::BOTH.into_iter().filter(|kind| is_used(*kind));
        let draw = |kind: SlotKind| {
            let word = kind.word();
            let caption = Caption {
                id: format!("slots-{word}"),
                title: format!("Slots that {word}s hold, by {}", self.parties.word()),
                beneath: match sample.is_zero() {
                    true => String::new(),
                    false => format!("as it was every {sample}"),
                },
                ..Caption::default()
            };
            self.stack(kind, &levels[kind], caption).draw()
        };
        kinds.map(draw).collect()
    }

    /// Returns the map slots that the policy thought each group's due over time; `None` if it
    /// computes no shares of these groups, or none were recorded.
    fn due(&self, results: &dyn Results) -> Result<Option<Vec<SlotLevel>>, ReadError> {
        // A job may have the name of a pool by chance; a user's pool has the user's name.
        if !["pool", "user"].contains(&self.parties.word()) {
            return Ok(None);
        }
        let numbers: FxHashMap<&str, usize> = self.parties.names().zip(0..).collect();
        let mut due = vec![SlotLevel::default(); numbers.len()];
        let mut any = false;
        results.rows_if_any(|row: ShareRow| {
            let group = numbers.get(&*row.pool).filter(|_| row.kind == SlotKind::Map);
            let Some(level) = group.map(|group| &mut due[*group]) else { return Ok(()) };
            any |= row.share.is_some();
            let change = row.share.unwrap_or_default() - level.now;
            level.change(row.time_ms as f64 / 1e3, change, self.until / GRAINS);
            Ok(())
        })?;
        Ok(any.then_some(due))
    }

    /// Draws how many map slots each group lacked of its share; `None` if none ever lacked any. If
    /// the slots `due` are unknown, shares are equal.
    // Reduce slots are left out: most reduces that wait do so for the maps of their own job.
    fn lacks(&self, levels: &[Levels], due: Option<&[SlotLevel]>) -> Option<Drawing> {
        let by = self.parties.word();
        // Nobody owes equal shares to classes of jobs.
        if by == "class" || !(2..=MOST_SHARES).contains(&levels.len()) {
            return None;
        }
        let (share, beneath, would) = match due {
            None => (
                "an equal share",
                format!(
                    "slots divided equally among the {by}s with maps, none getting more than it can use"
                ),
                "an equal division would have given it",
            ),
            Some(_) => (
                "its share",
                format!(
                    "the share that the policy computed for the {by}, but no more than it can use"
                ),
                "the policy thought its due",
            ),
        };
        let lacks = lacks(levels, due, self.capacity.map as f64, self.until / GRAINS);
        let all = self.parties.names().zip(lacks).map(|(name, level)| StackLayer {
            name: called(name, by).to_owned(),
            look: self.parties.look(name),
            steps: level.steps,
            ..StackLayer::default()
        });
        let layers: Vec<StackLayer> =
            all.filter(|layer| layer.steps.iter().any(|step| step.1 != 0.0)).collect();
        let chart = Stack {
            caption: Caption {
                id: "lacks".to_owned(),
                title: format!("Map slots that a {by} lacks of {share}"),
                beneath,
                description: format!(
                    "How many map slots each {by} held less than {would}, over time."
                ),
                look_for: "areas that last: for so long others had its slots",
                ..Caption::default()
            },
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            y: ChartAxis::linear("Map slots lacking", AxisUnit::Count),
            layers,
            capacity: None,
            waiting: None,
            until: self.until,
        };
        (!chart.layers.is_empty()).then(|| chart.draw())
    }

    /// Returns, for each group of jobs, the slots held and the tasks waiting over time.
    fn levels(&self, results: &dyn Results) -> Result<PerSlot<Vec<Levels>>, ReadError> {
        let of: FxHashMap<u32, usize> =
            self.jobs.all.iter().map(|job| (job.job, self.parties.number(job))).collect();
        let none = vec![Levels::default(); self.parties.names().len()];
        let mut levels = PerSlot { map: none.clone(), reduce: none };
        let mut before: PerSlot<FxHashMap<u32, (f64, f64)>> = PerSlot::default();
        let grain = self.until / GRAINS;
        results.rows(|row: SlotsRow| {
            // A job without a row in `jobs.csv` has no known group.
            let Some(party) = of.get(&row.job) else { return Ok(()) };
            let now = (f64::from(row.slots), f64::from(row.pending));
            // A row has the job's absolute numbers, but a group is a sum over jobs: add the
            // difference.
            let (held, waiting) = before[row.kind].insert(row.job, now).unwrap_or_default();
            let Levels { held: slot, waiting: line } = &mut levels[row.kind][*party];
            let at = row.time_ms as f64 / 1e3;
            slot.change(at, now.0 - held, grain);
            line.change(at, now.1 - waiting, grain);
            Ok(())
        })?;
        Ok(levels)
    }

    fn stack(&self, kind: SlotKind, levels: &[Levels], caption: Caption) -> Stack {
        let (word, by) = (kind.word(), self.parties.word());
        let used = self.parties.names().zip(levels).filter(|(_, levels)| {
            let mut steps = levels.held.steps.iter().chain(&levels.waiting.steps);
            steps.any(|step| step.1 != 0.0)
        });
        let stack = used.map(|(name, levels)| StackLayer {
            name: called(name, by).to_owned(),
            look: self.parties.look(name),
            steps: levels.held.steps.clone(),
            waiting: levels.waiting.steps.clone(),
            // Only pools have minimum shares; a user or job may have the name of a pool by chance.
            promised: self.promised.get(name).filter(|_| by == "pool").map(|of| of[kind]),
        });
        let mut layers: Vec<StackLayer> = stack.collect();
        // Groups with a minimum share go to the bottom of the stack, where the line of the share is
        // easy to compare.
        layers.sort_by_key(|layer| layer.promised.is_none_or(|slots| slots == 0.0));
        let all = self.capacity[kind] as f64;
        Stack {
            caption: Caption {
                description: format!(
                    "The {word} slots held over time, stacked by {by}; a dashed line at all {all}. \
                     Above it, how many {word}s waited for a slot."
                ),
                look_for: LOOK_FOR_SLOTS,
                ..caption
            },
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            y: ChartAxis::linear(format!("Slots held by {word}s"), AxisUnit::Count),
            layers,
            capacity: Some(StackLayer {
                name: format!("all {} slots", AxisUnit::Count.text(all)),
                steps: vec![(0.0, all)],
                ..StackLayer::default()
            }),
            waiting: Some(ChartAxis::linear(
                format!("{} that wait for a slot", if word == "map" { "Maps" } else { "Reduces" }),
                AxisUnit::Count,
            )),
            until: self.until,
        }
    }
}

/// Draws which groups of jobs held the slots of a kind over the time of a run.
pub fn slots_over_time(
    results: &dyn Results,
    parties: &JobGroups,
    promised: PromisedSlots,
    SlotsDrawing { kind, caption, until }: SlotsDrawing,
) -> Result<Drawing, ReadError> {
    let number = |name: &str| Ok(results.number(name)?.unwrap_or_default());
    let jobs = RunJobs::read(results)?;
    let capacity =
        PerSlot { map: number("map_slots")? as u64, reduce: number("reduce_slots")? as u64 };
    let until = until.unwrap_or(number("virtual_s")?);
    let slots = SlotsOverTime { jobs: &jobs, parties, capacity, promised, until };
    let levels = slots.levels(results)?;
    Ok(slots.stack(kind, &levels[kind], caption).draw())
}

impl SlotLevel {
    pub(super) fn change(&mut self, at: f64, by: f64, grain: f64) {
        self.now += by;
        match self.steps.last_mut() {
            Some(last) if at - last.0 <= grain => last.1 = self.now,
            _ => self.steps.push((at, self.now)),
        }
    }
}

/// Returns how many slots each group lacks over time: of the slots that are `due` to it, or else of
/// an equal share of `capacity`.
fn lacks(
    levels: &[Levels],
    due: Option<&[SlotLevel]>,
    capacity: f64,
    grain: f64,
) -> Vec<SlotLevel> {
    // Each change: its instant, its group, the column of `now`, and the new value.
    let mut changes: Vec<(f64, usize, usize, f64)> = Vec::new();
    for (group, Levels { held, waiting }) in levels.iter().enumerate() {
        let due = due.map_or(&[][..], |due| &due[group].steps);
        for (column, steps) in [&held.steps, &waiting.steps, due].into_iter().enumerate() {
            changes.extend(steps.iter().map(|(at, value)| (*at, group, column, *value)));
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    // The slots held, the tasks that wait, and the slots due.
    let mut now = vec![[0.0; 3]; levels.len()];
    // Begin at zero, so that the time axis does.
    let mut lacks = vec![SlotLevel { now: 0.0, steps: vec![(0.0, 0.0)] }; levels.len()];
    for instant in changes.chunk_by(|a, b| a.0 == b.0) {
        for (_, group, column, value) in instant {
            now[*group][*column] = *value;
        }
        let wanted: Vec<f64> = now.iter().map(|[held, waiting, _]| held + waiting).collect();
        let shares = match due {
            None => equal_shares(capacity, &wanted),
            Some(_) => now.iter().zip(wanted).map(|([_, _, due], wants)| due.min(wants)).collect(),
        };
        for (group, share) in shares.into_iter().enumerate() {
            let lack = (share - now[group][0]).max(0.0);
            let change = lack - lacks[group].now;
            if change != 0.0 {
                lacks[group].change(instant[0].0, change, grain);
            }
        }
    }
    lacks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_lacks_what_it_wants_of_its_share_and_does_not_have() {
        let level = |steps: &[(f64, f64)]| SlotLevel { now: 0.0, steps: steps.to_vec() };
        let first =
            Levels { held: level(&[(0.0, 10.0), (20.0, 5.0)]), waiting: level(&[(0.0, 9.0)]) };
        let second = Levels { held: level(&[(20.0, 5.0)]), waiting: level(&[(10.0, 7.0)]) };
        let levels = [first, second];
        let equal = lacks(&levels, None, 10.0, 0.0);
        assert_eq!(equal[0].steps, [(0.0, 0.0)]);
        assert_eq!(equal[1].steps, [(0.0, 0.0), (10.0, 5.0), (20.0, 0.0)]);
        // The policy owes the first six slots, and later the second eight, of which it wants seven.
        let due = [level(&[(0.0, 6.0)]), level(&[(15.0, 8.0)])];
        let due = lacks(&levels, Some(&due), 10.0, 0.0);
        assert_eq!(due[0].steps, [(0.0, 0.0), (20.0, 1.0)]);
        assert_eq!(due[1].steps, [(0.0, 0.0), (15.0, 7.0), (20.0, 3.0)]);
    }

    #[test]
    fn changes_within_a_grain_are_one() {
        let mut level = SlotLevel::default();
        for (at, by) in [(0.0, 2.0), (0.5, 1.0), (3.0, -1.0)] {
            level.change(at, by, 1.0);
        }
        assert_eq!(level.steps, [(0.0, 3.0), (3.0, 2.0)]);
    }
}
