//! Attempts over time, from `tasks.csv`: a bar for each attempt, in a slot of its node, in the
//! colour of its pool, user, job or class. With too many attempts, the chart shows instead how busy
//! each node was.
//!
//! The slots of a node are alike, so the table does not say which slot an attempt had. The chart
//! puts each attempt on the lowest free lane of its node. A suspended attempt keeps its lane, so a
//! node can have more lanes than slots.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::job_groups::{JobGroups, called};
use super::{ReportBlocks, ReportSource, charted, count, why};
use crate::record::{NodeLabel, Summary};
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{PerSlot, SlotKind, TaskKind};
use mumakil_draw::chart::{
    AxisUnit, BarFate, BarOwner, Caption, ChartAxis, Density, Drawing, Gantt, GanttBar, GanttRow,
};
use mumakil_results::tables::{AttemptEnd, AttemptKind, AttemptRow, JobRow, ReadError, Results};

/// The most attempts and slots that are drawn one by one. Chosen: more bars make the page large,
/// and more lanes make each lane too thin to point at.
const MOST_ATTEMPTS: u64 = 5_000;
const MOST_SLOTS: u64 = 300;

/// The input of the chart, without the table.
struct Attempts<'a> {
    jobs: FxHashMap<u32, &'a JobRow>,
    parties: &'a JobGroups,
    topology: &'a Topology,
    /// The names of the nodes in outputs.
    labels: &'a [NodeLabel],
    /// When the chart ends, in milliseconds.
    until: f64,
}

/// An attempt; times are in milliseconds.
struct DrawnAttempt {
    node: usize,
    slot: SlotKind,
    start: f64,
    end: f64,
    fate: BarFate,
    suspended: f64,
    /// Whether it is a setup, a cleanup, or the removal of an attempt's output.
    is_around: bool,
    /// The index of its pool, user, job or class in [`JobGroups::names`].
    owner: usize,
    job: u32,
    kind: AttemptKind,
    task: u32,
    attempt: u32,
}

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let ReportSource { run, jobs, parties, .. } = source;
    if !run.scenario.record.tasks {
        return Ok(Vec::new());
    }
    let Summary { map_slots, reduce_slots, .. } = *run.summary;
    // Get the number of attempts, retries included, from `jobs.csv`: this avoids reading the large
    // table.
    let all: u64 = (jobs.all.iter())
        .flat_map(|job| [job.maps, job.reduces, job.failed, job.killed].map(u64::from))
        .sum();
    let attempts = Attempts {
        jobs: jobs.all.iter().map(|job| (job.job, job)).collect(),
        parties,
        topology: run.topology,
        labels: run.labels,
        until: source.until * 1e3,
    };
    // Choose the chart before reading the table, so that only one of the two needs memory.
    let is_small = all <= MOST_ATTEMPTS && map_slots + reduce_slots <= MOST_SLOTS;
    let drawing = if is_small { attempts.bars(source) } else { attempts.density(source) }?;
    Ok(charted([drawing]))
}

impl Attempts<'_> {
    fn bars(&self, source: &ReportSource<'_>) -> Result<Drawing, ReadError> {
        let mut attempts = Vec::new();
        self.read(source, |attempt| attempts.push(attempt))?;
        // A stable sort: attempts that start at the same instant keep the table's order.
        attempts.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut ends: Vec<PerSlot<Vec<f64>>> = self.idle();
        let lanes: Vec<usize> = attempts
            .iter()
            .map(|attempt| take_lane(&mut ends[attempt.node][attempt.slot], attempt))
            .collect();
        let (rows, first) = self.rows(&ends);
        let mut notes = AttemptNotes::default();
        attempts.iter().for_each(|attempt| notes.count(attempt));
        let bars = attempts.into_iter().zip(lanes).map(|(attempt, lane)| GanttBar {
            row: first[attempt.node][attempt.slot] + lane,
            owner: attempt.owner,
            fate: attempt.fate,
            start: attempt.start / 1e3,
            end: attempt.end / 1e3,
            name: format!("{} {}", self.jobs[&attempt.job].name, attempt.kind.word()),
            number: attempt.number(),
        });
        let chart = Gantt {
            caption: self.caption("The attempts of each slot over time"),
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            rows,
            shaded: "slots of reduces".to_owned(),
            owners: self.owners(),
            bars: bars.collect(),
            notes: notes.told(),
        };
        Ok(chart.draw())
    }

    /// Draws the share of each node's slots that was held, over time.
    fn density(&self, source: &ReportSource<'_>) -> Result<Drawing, ReadError> {
        let mut rows = Vec::new();
        let mut capacity = Vec::new();
        let mut place = vec![0; self.labels.len()];
        let most = self.topology.nodes().map(|(id, _)| self.topology.most_slots_of(id));
        let nodes: Vec<u32> = most.map(|slots| slots.map + slots.reduce).collect();
        for (rack, of_rack) in self.racks() {
            for node in of_rack {
                place[node] = rows.len();
                let (group, owner) = (rack.to_owned(), self.labels[node].node.clone());
                rows.push(GanttRow { group, owner, ..GanttRow::default() });
                capacity.push(nodes.get(node).copied().unwrap_or_default().into());
            }
        }
        let mut notes = AttemptNotes::default();
        let mut chart = Density::new(rows, capacity, self.until / 1e3);
        chart.caption =
            self.caption("How many slots of each node were held over time, and by whom");
        (chart.held, chart.bars_are) = ("slots".to_owned(), "attempts".to_owned());
        chart.owners = self.owners();
        self.read(source, |attempt| {
            notes.count(&attempt);
            chart.add(place[attempt.node], attempt.owner, attempt.start / 1e3, attempt.end / 1e3);
        })?;
        chart.notes.extend(notes.told());
        Ok(chart.draw())
    }

    fn caption(&self, description: &str) -> Caption {
        Caption {
            id: "attempts".to_owned(),
            title: format!("Attempts over time, by {}", self.parties.word()),
            description: format!("{description}, rack by rack and node by node."),
            look_for: "gaps while jobs wait, and bars far longer than their neighbours",
            ..Caption::default()
        }
    }

    fn owners(&self) -> Vec<BarOwner> {
        let owners = self.parties.names().map(|name| BarOwner {
            name: called(name, self.parties.word()).to_owned(),
            look: self.parties.look(name),
        });
        owners.collect()
    }

    /// Calls `give` for every attempt that started, in the table's order. Explanations need the same
    /// table, so it is read for both.
    fn read(
        &self,
        source: &ReportSource<'_>,
        mut give: impl FnMut(DrawnAttempt),
    ) -> Result<(), ReadError> {
        let nodes: FxHashMap<&str, usize> = self
            .labels
            .iter()
            .enumerate()
            .map(|(node, place)| (place.node.as_str(), node))
            .collect();
        let mut see = |row: &AttemptRow| {
            // An attempt that never started held no slot.
            if let (Some(node), Some(start)) = (nodes.get(&*row.node), row.start_ms)
                && let Some(job) = self.jobs.get(&row.job)
                && start as f64 <= self.until
            {
                give(self.attempt(row, *node, start as f64, job));
            }
        };
        if why::is_explained(source) {
            let explained = source.run.results.told_with(see)?;
            _ = source.explained.set(explained);
            return Ok(());
        }
        (source.run.results as &dyn Results).rows(|row| {
            see(&row);
            Ok(())
        })
    }

    fn attempt(&self, row: &AttemptRow, node: usize, start: f64, job: &JobRow) -> DrawnAttempt {
        DrawnAttempt {
            node,
            slot: row.slot(),
            start,
            // The end is never before the start, whatever the file says: a bar cannot have a
            // negative length.
            end: row
                .finish_ms
                .map_or(self.until, |finish| finish as f64)
                .min(self.until)
                .max(start),
            fate: match row.outcome {
                AttemptEnd::Succeeded => BarFate::Succeeded,
                AttemptEnd::Failed => BarFate::Failed,
                AttemptEnd::Killed => BarFate::Killed,
                // A `lost` row has no start, so it never gets here; an unfinished attempt ran to
                // the end of the run.
                AttemptEnd::Lost | AttemptEnd::Unfinished => BarFate::Running,
            },
            suspended: row.suspended_ms.unwrap_or_default() as f64,
            is_around: !matches!(row.kind.task(), Some(TaskKind::Map | TaskKind::Reduce)),
            owner: self.parties.number(job),
            job: row.job,
            kind: row.kind,
            task: row.task,
            attempt: row.attempt,
        }
    }

    /// Returns the lanes of each node, one for each of its slots, all free from 0 on.
    fn idle(&self) -> Vec<PerSlot<Vec<f64>>> {
        let lanes = |slots: u32| vec![0.0; slots as usize];
        let nodes = self.topology.nodes();
        nodes
            .map(|(id, _)| {
                let most = self.topology.most_slots_of(id);
                PerSlot { map: lanes(most.map), reduce: lanes(most.reduce) }
            })
            .collect()
    }

    /// Returns the nodes of each rack.
    fn racks(&self) -> IndexMap<&str, Vec<usize>> {
        let mut racks: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (node, place) in self.labels.iter().enumerate() {
            racks.entry(&place.rack).or_default().push(node);
        }
        racks
    }

    /// Returns the rows of the chart, rack by rack, and the index of each node's first row.
    fn rows(&self, lanes: &[PerSlot<Vec<f64>>]) -> (Vec<GanttRow>, Vec<PerSlot<usize>>) {
        let mut rows = Vec::new();
        let mut first = vec![PerSlot::default(); lanes.len()];
        for (rack, nodes) in self.racks() {
            for node in nodes {
                for kind in SlotKind::BOTH {
                    first[node][kind] = rows.len();
                    let row = GanttRow {
                        group: rack.to_owned(),
                        owner: self.labels[node].node.clone(),
                        name: kind.word().to_owned(),
                        is_shaded: kind == SlotKind::Reduce,
                    };
                    rows.extend(vec![row; lanes[node][kind].len()]);
                }
            }
        }
        (rows, first)
    }
}

impl DrawnAttempt {
    /// Returns the number of its task, and what was unusual about it.
    fn number(&self) -> String {
        let mut words = self.task.to_string();
        if self.attempt != 0 {
            words += &format!(", attempt {}", self.attempt);
        }
        if 0.0 < self.suspended {
            let span = AxisUnit::Seconds.text(self.suspended / 1e3);
            words += &format!(", suspended for {span} of it");
        }
        words
    }
}

/// The numbers of attempts of which a note tells.
#[derive(Default)]
struct AttemptNotes {
    suspended: usize,
    around: usize,
}

impl AttemptNotes {
    fn count(&mut self, attempt: &DrawnAttempt) {
        self.suspended += usize::from(0.0 < attempt.suspended);
        self.around += usize::from(attempt.is_around);
    }

    /// Returns the notes: a bar is drawn through its suspensions, and bars are more than the attempts
    /// that the page counts.
    fn told(&self) -> Vec<String> {
        let note = |attempts: usize, one: &str, many: &str| match attempts {
            0 => None,
            1 => Some(format!("1 of the attempts {one}.")),
            _ => Some(format!("{} of the attempts {many}.", count(attempts as f64))),
        };
        let notes = [
            note(
                self.suspended,
                "was suspended in between; it is drawn on over that time",
                "were suspended in between; they are drawn on over that time",
            ),
            note(
                self.around,
                "is a setup or a cleanup; the page counts attempts of maps and reduces",
                "are setups and cleanups; the page counts attempts of maps and reduces",
            ),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// Takes the lowest lane that is free for an attempt, or a new lane. Returns its index.
fn take_lane(ends: &mut Vec<f64>, attempt: &DrawnAttempt) -> usize {
    let lane = ends.iter().position(|end| *end <= attempt.start).unwrap_or(ends.len());
    if lane == ends.len() {
        // A suspended attempt keeps its lane, so a node may need more lanes than it has slots.
        ends.push(0.0);
    }
    ends[lane] = attempt.end;
    lane
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map that was not suspended.
    fn drawn(start: f64, end: f64) -> DrawnAttempt {
        DrawnAttempt {
            node: 0,
            slot: SlotKind::Map,
            start,
            end,
            fate: BarFate::Running,
            suspended: 0.0,
            is_around: false,
            owner: 0,
            job: 0,
            kind: AttemptKind::Map,
            task: 3,
            attempt: 0,
        }
    }

    #[test]
    fn suspended_attempts_are_told() {
        let stopped = DrawnAttempt { suspended: 20e3, attempt: 1, ..drawn(0.0, 40e3) };
        assert_eq!(stopped.number(), "3, attempt 1, suspended for 20 s of it");
        assert_eq!(drawn(0.0, 40e3).number(), "3");
        let told = |suspended, around| AttemptNotes { suspended, around }.told();
        assert_eq!(told(0, 0), [""; 0]);
        for (attempts, note) in [
            (1, "1 of the attempts was suspended in between; it is drawn on over that time."),
            (2, "2 of the attempts were suspended in between; they are drawn on over that time."),
        ] {
            assert_eq!(told(attempts, 0), [note]);
        }
    }

    #[test]
    fn a_chart_of_more_attempts_than_the_page_counts_says_which() {
        let told = |suspended, around| AttemptNotes { suspended, around }.told();
        let one = "1 of the attempts is a setup or a cleanup; the page counts attempts of maps and reduces.";
        assert_eq!(told(0, 1), [one]);
        let many = "400 of the attempts are setups and cleanups; the page counts attempts of maps and reduces.";
        assert_eq!(told(0, 400), [many]);
    }

    #[test]
    fn attempts_that_overlap_have_lanes_of_their_own() {
        let mut ends = vec![0.0];
        let attempts = [drawn(0.0, 5.0), drawn(2.0, 3.0), drawn(3.0, 9.0), drawn(5.0, 6.0)];
        let lanes = attempts.iter().map(|attempt| take_lane(&mut ends, attempt));
        assert_eq!(lanes.collect::<Vec<_>>(), [0, 1, 1, 0]);
    }
}
