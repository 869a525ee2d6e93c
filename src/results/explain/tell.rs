//! The explanation of a job in words, for terminals and pages.

use super::{HolderTime, JobToExplain, PartSum, RunToExplain, WaitRule};
use mumakil_base::units::tell::{percent, span};

/// The largest number of holders of slots that one line names. Chosen: the line should stay
/// readable in a terminal.
const NAMED: usize = 3;

impl PartSum {
    /// Returns its share of `total` milliseconds, in per cent.
    pub fn share_of(&self, total: u64) -> String {
        percent(self.ms as f64 / total.max(1) as f64)
    }

    /// Returns the rule of the wait and the holders of the slots, in words; empty if neither is
    /// known.
    pub fn why(&self, told: &RunToExplain) -> String {
        let rule = self.rule.map_or("", WaitRule::word);
        match self.holders(told) {
            held if held.is_empty() => rule.to_owned(),
            held => format!("{rule}; {held}"),
        }
    }

    /// Returns a line with cause, length, share of `total` milliseconds, rule and holders.
    pub fn line(&self, told: &RunToExplain, total: u64) -> String {
        let (part, took) = (self.part.word(), span(self.ms as f64 / 1e3));
        let why = match self.why(told) {
            why if why.is_empty() => why,
            why => format!(": {why}"),
        };
        format!("{part} {took}, {}{why}", self.share_of(total))
    }

    fn holders(&self, told: &RunToExplain) -> String {
        let share = |slot_ms: u64| percent(slot_ms as f64 / self.held.max(1) as f64);
        let tell =
            |(job, slot_ms): &HolderTime| format!("{} {}", told.name_of(*job), share(*slot_ms));
        let mut named: Vec<String> = self.jobs.iter().take(NAMED).map(tell).collect();
        let rest: u64 = self.jobs.iter().take(NAMED).map(|(_, slot_ms)| slot_ms).sum();
        if !named.is_empty() && rest < self.held {
            named.push(format!("others {}", share(self.held - rest)));
        }
        named.join(", ")
    }
}

impl RunToExplain {
    /// Returns the pool of a job; without pools, the user of the job.
    pub fn group_of(&self, job: &JobToExplain) -> &str {
        self.groups.get(job.group as usize).map_or("", String::as_str)
    }

    /// Returns the name of a job.
    pub fn name_of(&self, job: u32) -> String {
        self.job(job).map_or_else(|| format!("job {job}"), |job| job.row.name.to_string())
    }
}
