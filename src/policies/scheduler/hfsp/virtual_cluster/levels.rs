//! Whole slots among jobs of one weight, and whom it concerns when one of them ends.
//!
//! Whoever can use less than its part is *fed*: it has as many slots as it has tasks. All others have the
//! same number of slots, the *level*, and of what is over the first in turn have one more each. Nobody
//! comes, so nobody's slots ever become fewer. As long as the level stays, a job that ends gives its slots
//! to the next in turn, one each; where it rises, those that are not fed are walked. The fewer they
//! are the faster it rises: the walks take O(m log m) in all, for m slots.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::dealing::Dealt;
use mumakil_core::mapred::step;

/// Jobs of one weight that have whole slots.
#[derive(Debug)]
pub(super) struct Levels<'d> {
    jobs: &'d mut [Dealt],
    now: f64,
    /// From when on each job has its slots: what is left of it is what was left then.
    since: Vec<f64>,
    /// When each job ends, by its slots.
    end: Vec<f64>,
    /// The instants at which jobs end, the first in turn of equal ones first; those that are not their
    /// job's any more are of no effect.
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    /// Those that are not fed, by what they can use; and in turn, with some that have ended or are fed
    /// since the level rose.
    by_need: std::iter::Peekable<std::vec::IntoIter<usize>>,
    line: Vec<usize>,
    is_fed: Vec<bool>,
    /// How many are not fed, and the slots that they have.
    hungry: u64,
    spare: u64,
    level: u64,
    /// How many of them have one slot more, and up to where in the line.
    more: u64,
    mark: usize,
}

impl<'d> Levels<'d> {
    /// Deals slots to these jobs, in this order.
    pub(super) fn new(jobs: &'d mut [Dealt], open: &[usize], slots: u64, now: f64) -> Self {
        let mut by_need = open.to_vec();
        by_need.sort_by_key(|place| jobs[*place].size.tasks);
        open.iter().for_each(|place| jobs[*place].slots = 0.0);
        let number = jobs.len();
        let mut levels = Self {
            jobs,
            now,
            since: vec![now; number],
            end: vec![f64::INFINITY; number],
            ends: BinaryHeap::new(),
            by_need: by_need.into_iter().peekable(),
            line: open.to_vec(),
            is_fed: vec![false; number],
            hungry: open.len() as u64,
            spare: slots,
            level: 0,
            more: 0,
            mark: 0,
        };
        levels.deal();
        levels
    }

    /// Lets the next job end, unless that is later; returns when.
    pub(super) fn end_next(&mut self, until: f64) -> Option<f64> {
        let (at, place) = loop {
            step();
            let Reverse((bits, place)) = *self.ends.peek()?;
            let at = f64::from_bits(bits);
            if self.is_open(place) && self.end[place] == at {
                break (at, place);
            }
            self.ends.pop();
        };
        if until < at {
            return None;
        }
        self.ends.pop();
        self.now = at;
        let slots = self.jobs[place].slots as u64;
        if self.is_fed[place] {
            self.spare += slots;
        } else {
            self.hungry -= 1;
            self.more -= slots - self.level;
        }
        self.jobs[place].end(at);
        self.deal();
        Some(at)
    }

    /// Leaves the jobs as they are at an instant.
    pub(super) fn stop(mut self, now: f64) {
        self.now = now;
        for place in 0..self.jobs.len() {
            if self.is_open(place) {
                self.work(place);
            }
        }
    }

    fn is_open(&self, place: usize) -> bool {
        self.jobs[place].ended.is_none()
    }

    fn is_hungry(&self, place: usize) -> bool {
        step();
        self.is_open(place) && !self.is_fed[place]
    }

    /// Takes off what a job has done since it has its slots.
    fn work(&mut self, place: usize) {
        step();
        let job = &mut self.jobs[place];
        let since = std::mem::replace(&mut self.since[place], self.now);
        if 0.0 < job.slots {
            job.left = (job.left - job.slots * (self.now - since)).max(0.0);
        }
    }

    fn give(&mut self, place: usize, slots: u64) {
        step();
        if self.jobs[place].slots == slots as f64 {
            return;
        }
        self.work(place);
        let job = &mut self.jobs[place];
        job.slots = slots as f64;
        let end = self.now + job.left / job.slots;
        self.end[place] = end;
        if end.is_finite() {
            // Ends are not negative, and so their bits have their order.
            self.ends.push(Reverse((end.to_bits(), place)));
        }
    }

    /// Deals out what nobody has.
    fn deal(&mut self) {
        while let Some(place) = self.by_need.peek().copied() {
            step();
            let tasks = u64::from(self.jobs[place].size.tasks);
            if self.is_open(place) {
                if self.spare < tasks * self.hungry {
                    break;
                }
                self.is_fed[place] = true;
                self.spare -= tasks;
                self.hungry -= 1;
                self.give(place, tasks);
            }
            self.by_need.next();
        }
        if self.hungry == 0 {
            return;
        }
        let (level, over) = (self.spare / self.hungry, self.spare % self.hungry);
        if self.level < level {
            (self.level, self.more, self.mark) = (level, 0, 0);
            let mut line = std::mem::take(&mut self.line);
            line.retain(|place| self.is_hungry(*place));
            for place in line.iter().skip(over as usize) {
                self.give(*place, level);
            }
            self.line = line;
        }
        while self.more < over {
            let place = self.line[self.mark];
            self.mark += 1;
            if self.is_hungry(place) {
                self.give(place, level + 1);
                self.more += 1;
            }
        }
    }
}
