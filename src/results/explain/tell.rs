//! The explanation of a job in words, for terminals and pages.

use super::{JobToExplain, PartSum, RunToExplain, SojournPart, WaitRule};
use mumakil_base::units::tell::{count, percent, span};

/// The largest number of holders of slots that one line names. Chosen: the line should stay
/// readable in a terminal.
const NAMED: usize = 3;

/// The smallest share that is not shown as 0.0 %.
const LEAST_SHARE: f64 = 0.000_5;

impl PartSum {
    /// Returns its share of `total` milliseconds, in per cent.
    pub fn share_of(&self, total: u64) -> String {
        percent(self.ms as f64 / total.max(1) as f64)
    }

    /// Returns the rule of the wait and the holders of the slots, in words; empty if neither is
    /// known.
    pub fn why(&self, told: &RunToExplain) -> String {
        let rule = self.rule.map_or("", |rule| told.rule_word(rule));
        match self.holders(told) {
            held if held.is_empty() => rule.to_owned(),
            held => format!("{rule}; of the {}: {held}", told.held_word()),
        }
    }

    /// Returns a line with cause, length, share of `total` milliseconds, rule and holders.
    pub fn line(&self, told: &RunToExplain, total: u64) -> String {
        let (part, took) = (told.part_word(self.part), span(self.ms as f64 / 1e3));
        let why = match self.why(told) {
            why if why.is_empty() => why,
            why => format!(": {why}"),
        };
        format!("{part} {took}, {}{why}", self.share_of(total))
    }

    fn holders(&self, told: &RunToExplain) -> String {
        let largest = self.jobs.iter().take(NAMED);
        let named: Vec<_> = largest.map(|(job, slot_ms)| (told.name_of(*job), *slot_ms)).collect();
        if named.is_empty() {
            return String::new();
        }
        let rest = self.held.saturating_sub(named.iter().map(|(_, slot_ms)| slot_ms).sum());
        let share = |slot_ms| slot_ms as f64 / self.held.max(1) as f64;
        let holders = named.into_iter().chain([("others".to_owned(), rest)]);
        let all = holders.map(|(name, slot_ms)| (name, share(slot_ms)));
        // A holder whose share is shown as 0.0 % delayed nobody.
        let all = all.filter(|(_, share)| LEAST_SHARE <= *share);
        all.map(|(name, share)| format!("{name} {}", percent(share))).collect::<Vec<_>>().join(", ")
    }
}

impl RunToExplain {
    /// Returns the word for a part as it fits the run: jobs of YARN wait for containers.
    pub fn part_word(&self, part: SojournPart) -> &'static str {
        match part {
            _ if !self.has_containers => part.word(),
            SojournPart::Initialisation => "waiting for the container of its AM",
            SojournPart::Setup => "starting its AM",
            SojournPart::FirstMapWait => "waiting for the first map's container",
            SojournPart::MapWait => "waiting for containers of maps",
            SojournPart::ReduceWait => "waiting for containers of reduces",
            SojournPart::Heartbeats => "heartbeats of nodes and of its AM",
            _ => part.word(),
        }
    }

    /// Returns the word for the rule of a wait, likewise.
    pub fn rule_word(&self, rule: WaitRule) -> &'static str {
        match rule {
            WaitRule::FreeSlot if self.has_containers => "though memory and cores were free",
            WaitRule::Reservation if self.has_containers => "nodes kept for others",
            _ => rule.word(),
        }
    }

    /// Returns the word for all that attempts held.
    pub fn held_word(&self) -> &'static str {
        if self.has_containers { "held containers" } else { "held slots" }
    }

    /// Returns the pool of a job; without pools, the user of the job.
    pub fn group_of(&self, job: &JobToExplain) -> &str {
        self.groups.get(job.group as usize).map_or("", String::as_str)
    }

    /// Returns that some suspensions are known only as sums, in words; `None` if none is.
    pub fn doubt(&self) -> Option<String> {
        (0 < self.summed_stops).then(|| {
            format!(
                "{} told only as sums, so when attempts were suspended is known roughly, and for how \
                 long exactly",
                match self.summed_stops {
                    1 => "1 suspension is".to_owned(),
                    many => format!("{} suspensions are", count(many)),
                }
            )
        })
    }

    /// Returns the name of a job.
    pub fn name_of(&self, job: u32) -> String {
        self.job(job).map_or_else(|| format!("job {job}"), |job| job.row.name.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{HolderTime, SojournPart};

    #[test]
    fn holders_have_shares_of_the_held_slots_and_none_has_zero() {
        let told = RunToExplain {
            jobs: Vec::new(),
            orders: Vec::new(),
            groups: Vec::new(),
            slots: Default::default(),
            has_containers: false,
            absences: Vec::new(),
            holds: Vec::new(),
            summed_stops: 0,
        };
        let sum = |held, jobs: &[HolderTime]| PartSum {
            part: SojournPart::MapWait,
            rule: Some(WaitRule::FreeSlot),
            ms: 10,
            held,
            own: 0,
            jobs: jobs.to_vec(),
        };
        for (held, jobs, why) in [
            (0, &[][..], "though slots were free"),
            (
                10_000,
                &[(1, 9_997), (2, 3)],
                "though slots were free; of the held slots: job 1 100.0 %",
            ),
            (
                1_000,
                &[(1, 700), (2, 200), (3, 50), (4, 50)],
                "though slots were free; of the held slots: job 1 70.0 %, job 2 20.0 %, job 3 5.0 %, others 5.0 %",
            ),
        ] {
            assert_eq!(sum(held, jobs).why(&told), why);
        }
    }
}
