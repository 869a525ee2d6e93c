//! A job's time in words, for terminals and pages.

use super::{Held, Rule, Sum, Told, ToldJob};
use crate::units::tell::{percent, span};

/// So many of those who held slots are named in a line.
const NAMED: usize = 3;

impl ToldJob {
    /// Returns the pool of the job, or its user.
    pub fn group(&self) -> &str {
        if self.pool.is_empty() { &self.user } else { &self.pool }
    }
}

impl Sum {
    /// Returns its share of so many milliseconds, in words.
    pub fn share_of(&self, total: u64) -> String {
        percent(self.ms as f64 / total.max(1) as f64)
    }

    /// Returns by which rule it was waited, and who held the slots meanwhile; nothing if neither is known.
    pub fn why(&self, told: &Told) -> String {
        let rule = self.rule.map_or("", Rule::words);
        match self.holders(told) {
            held if held.is_empty() => rule.to_owned(),
            held => format!("{rule}; {held}"),
        }
    }

    /// Returns all of it in a line, as a part of so many milliseconds.
    pub fn line(&self, told: &Told, total: u64) -> String {
        let (part, took) = (self.part.words(), span(self.ms as f64 / 1e3));
        let why = match self.why(told) {
            why if why.is_empty() => why,
            why => format!(": {why}"),
        };
        format!("{part} {took}, {}{why}", self.share_of(total))
    }

    fn holders(&self, told: &Told) -> String {
        let all: f64 = self.held.iter().map(|held| held.slot_ms).sum();
        let tell =
            |held: &Held| format!("{} {}", told.name_of(held.job), percent(held.slot_ms / all));
        let mut named: Vec<String> = self.held.iter().take(NAMED).map(tell).collect();
        if NAMED < self.held.len() {
            named.push(format!("{} more", self.held.len() - NAMED));
        }
        named.join(", ")
    }
}

impl Told {
    /// Returns the name of a job.
    pub fn name_of(&self, job: u32) -> String {
        self.job(job).map_or_else(|| format!("job {job}"), |job| job.name.clone())
    }
}
