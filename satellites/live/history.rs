//! The slots and the queue over the time so far, for the strips of the page.
//!
//! Memory is fixed, however long the run is: time is cut into equal spans, and when there are too
//! many, each two become one. A span keeps the area under each count, so that joining two loses no
//! slot:
//! ```text
//! held   3 3 3 1 | 1 0 0 0      two spans of 4 ms: areas 10 and 1
//!        3 3 3 1   1 0 0 0      joined, 8 ms:      area  11, on average 1.375
//! ```

use std::array;

use serde::Serialize;

use super::picture::PageGrouping;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::{PerSlot, SlotKind};

/// The number of colours of jobs, pools and users on the page.
pub(super) const COLOURS: usize = 8;

/// The most spans of time.
// Chosen: at least half of these are in use, which is one for every second pixel of a strip.
const SPANS: usize = 512;
/// The length of a span at first, in microseconds.
const FIRST_SPAN: u64 = 1_000;

/// The slots held by each colour, for one grouping.
type HeldByColour = PerSlot<[u64; COLOURS]>;

/// The counts at an instant, or their areas over a span, in microseconds.
#[derive(Clone, Copy, Default)]
struct SlotCurve {
    held: [HeldByColour; PageGrouping::ALL.len()],
    waiting: PerSlot<u64>,
}

/// The slots held, by colour, and the waiting tasks over the time so far.
pub(super) struct SlotHistory {
    now: SimTime,
    counts: SlotCurve,
    /// The length of a span, in microseconds.
    span: u64,
    /// The areas of the spans from the beginning; the last may have only begun.
    spans: Vec<SlotCurve>,
}

/// The history for the page: a point for each span, with averages over the span.
#[derive(Debug, Serialize)]
pub(super) struct HistoryPoints {
    /// The length of a span, in microseconds; the last is cut at `until_us`.
    pub(super) span_us: u64,
    /// The instant up to which the history goes.
    pub(super) until_us: u64,
    /// For each point, the map slots held by each colour.
    pub(super) maps: Vec<[f32; COLOURS]>,
    /// For each point, the reduce slots held by each colour.
    pub(super) reduces: Vec<[f32; COLOURS]>,
    /// For each point, the waiting maps and the waiting reduces.
    pub(super) waiting: Vec<[f32; 2]>,
}

impl SlotCurve {
    /// Adds the counts times a factor.
    fn add(&mut self, other: &Self, factor: u64) {
        let add = |sum: &mut u64, count: u64| *sum += count * factor;
        for (own, others) in self.held.iter_mut().zip(&other.held) {
            for kind in SlotKind::BOTH {
                own[kind].iter_mut().zip(others[kind]).for_each(|(sum, count)| add(sum, count));
            }
        }
        SlotKind::BOTH.into_iter().for_each(|kind| {
            add(&mut self.waiting[kind], other.waiting[kind]);
        });
    }
}

impl SlotHistory {
    pub(super) fn new() -> Self {
        let (now, counts) = (SimTime::ZERO, SlotCurve::default());
        Self { now, counts, span: FIRST_SPAN, spans: Vec::with_capacity(SPANS) }
    }

    /// Lets time pass up to an instant, with the counts as they are.
    pub(super) fn pass(&mut self, to: SimTime) {
        let (mut from, to) = (self.now.as_micros(), to.as_micros());
        while (SPANS as u64) * self.span < to {
            self.join_spans();
        }
        while from < to {
            let index = from / self.span;
            let end = to.min((index + 1) * self.span);
            // `to` is within the last span, so the index is below `SPANS`.
            let index = index as usize;
            if self.spans.len() <= index {
                self.spans.resize(index + 1, SlotCurve::default());
            }
            self.spans[index].add(&self.counts, end - from);
            from = end;
        }
        self.now = self.now.max(SimTime::from_micros(to));
    }

    /// Makes one span of each two.
    fn join_spans(&mut self) {
        self.span *= 2;
        let joined = self.spans.chunks(2).map(|pair| {
            let mut sum = SlotCurve::default();
            pair.iter().for_each(|one| sum.add(one, 1));
            sum
        });
        self.spans = joined.collect();
    }

    /// Counts more or fewer slots of a kind as held; `colours` has the holder's colour in each
    /// grouping.
    pub(super) fn hold(
        &mut self,
        colours: [u8; PageGrouping::ALL.len()],
        kind: SlotKind,
        slots: i32,
    ) {
        for (held, colour) in self.counts.held.iter_mut().zip(colours) {
            let count = &mut held[kind][usize::from(colour) % COLOURS];
            *count = count.saturating_add_signed(slots.into());
        }
    }

    /// Counts more or fewer tasks of a kind as waiting.
    pub(super) fn wait(&mut self, kind: SlotKind, tasks: i64) {
        self.counts.waiting[kind] = self.counts.waiting[kind].saturating_add_signed(tasks);
    }

    /// Returns the points up to the last instant that has passed.
    pub(super) fn points(&self, by: PageGrouping) -> HistoryPoints {
        let until_us = self.now.as_micros();
        let mut points = HistoryPoints {
            span_us: self.span,
            until_us,
            maps: Vec::with_capacity(self.spans.len()),
            reduces: Vec::with_capacity(self.spans.len()),
            waiting: Vec::with_capacity(self.spans.len()),
        };
        for (from, curve) in (0..).step_by(self.span as usize).zip(&self.spans) {
            let covered = self.span.min(until_us - from) as f64;
            // A hundredth of a slot is finer than a pixel, and makes short numbers.
            let average = |area: u64| (area as f64 / covered * 1e2).round() as f32 / 1e2;
            let held = &curve.held[by as usize];
            points.maps.push(array::from_fn(|colour| average(held.map[colour])));
            points.reduces.push(array::from_fn(|colour| average(held.reduce[colour])));
            points.waiting.push([average(curve.waiting.map), average(curve.waiting.reduce)]);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> SimTime {
        SimTime::from_micros(micros)
    }

    fn maps(history: &SlotHistory, by: PageGrouping) -> Vec<[f32; 2]> {
        history.points(by).maps.iter().map(|colours| [colours[0], colours[1]]).collect()
    }

    #[test]
    fn a_point_is_the_average_of_its_span_by_the_colour_of_its_grouping() {
        let mut history = SlotHistory::new();
        history.hold([0, 1, 1], SlotKind::Map, 4);
        history.wait(SlotKind::Reduce, 3);
        history.pass(at(1_500));
        history.hold([0, 1, 1], SlotKind::Map, -4);
        history.pass(at(2_250));
        assert_eq!(maps(&history, PageGrouping::Job), [[4.0, 0.0], [2.0, 0.0], [0.0, 0.0]]);
        assert_eq!(maps(&history, PageGrouping::Pool), [[0.0, 4.0], [0.0, 2.0], [0.0, 0.0]]);
        let points = history.points(PageGrouping::User);
        assert_eq!(points.waiting, [[0.0, 3.0]; 3]);
        assert_eq!((points.span_us, points.until_us), (1_000, 2_250));
    }

    #[test]
    fn a_long_run_has_few_points_and_loses_no_slot() {
        let mut history = SlotHistory::new();
        let mut area = 0.0;
        for round in 0..5_000_u64 {
            let slots = (round % 7) as i32;
            history.hold([0; 3], SlotKind::Map, slots);
            history.pass(at((round + 1) * 1_000_000));
            history.hold([0; 3], SlotKind::Map, -slots);
            area += f64::from(slots);
        }
        let points = history.points(PageGrouping::Job);
        assert!((SPANS / 2..=SPANS).contains(&points.maps.len()), "{}", points.maps.len());
        let span_s = points.span_us as f64 / 1e6;
        let shown: f64 = points.maps.iter().map(|held| f64::from(held[0]) * span_s).sum();
        assert!((shown - area).abs() < area / 100.0, "{shown} of {area}");
        // One look far ahead is as good as many.
        history.pass(at(1 << 45));
        assert!(history.points(PageGrouping::Job).maps.len() <= SPANS);
    }
}
