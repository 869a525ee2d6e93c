//! The jobs of a pool that Hadoop asks for maps although they have no maps to launch, and the
//! offers that pass these jobs over.
//!
//! Hadoop asks every running job for maps, and counts waiting time even for a job without maps. So
//! if one of its maps fails later, the map may run anywhere. Most jobs of a pool have no maps most
//! of the time, and asking such a job has no other effect. So the policy does not ask it. Instead,
//! each pool keeps a journal of its offers. An entry says up to which position the offer passes
//! jobs over; a job reads its waiting time from the journal when it leaves its position. An offer
//! costs one entry. A job costs one comparison for each entry since it came.

use super::tree::Key;
use crate::scheduler::shared::delay::PassedOffer;
use mumakil_base::units::SimTime;

/// A journal with fewer entries than this is never shortened.
// Chosen: short enough to be read quickly, and long enough that small pools seldom shorten it.
const FEW: usize = 64;

/// The jobs of a pool that count as asked for maps although they have none to launch.
#[derive(Debug, Default)]
pub(super) struct UnservedJobs {
    jobs: u32,
    /// How many entries have been removed from the start of the journal so far.
    before: u64,
    journal: Vec<UnservedEntry>,
}

/// A position in the journal: the number of entries ever made before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnservedPage(u64);

/// An entry of the journal: an offer that passes over the jobs before `up_to`; all jobs if `None`.
#[derive(Debug)]
struct UnservedEntry {
    up_to: Option<Key>,
    pass: PassedOffer,
}

impl UnservedJobs {
    pub(super) fn are_there(&self) -> bool {
        0 < self.jobs
    }

    /// Adds a job, and returns its position in the journal: only later entries concern the job.
    pub(super) fn enter(&mut self) -> UnservedPage {
        self.jobs += 1;
        self.last_page()
    }

    pub(super) fn leave(&mut self) {
        self.jobs -= 1;
    }

    /// Notes that an offer passes over the jobs before a position, or all jobs (`None`). An offer
    /// may be noted several times, but each job then waits only once. A job that launches its last
    /// map in this offer is added after this call, so no time passes for it in this offer.
    pub(super) fn pass_over(&mut self, at: SimTime, up_to: Option<Key>, anywhere: bool) {
        match self.journal.last_mut().filter(|last| last.pass.until.is_none()) {
            // An offer passes each job over only once, so only the end moves back.
            Some(UnservedEntry { up_to: farthest, .. }) => {
                let is_farther = farthest.is_some()
                    && up_to.as_ref().is_none_or(|it| Some(it) > farthest.as_ref());
                if is_farther {
                    *farthest = up_to;
                }
            }
            None => self
                .journal
                .push(UnservedEntry { up_to, pass: PassedOffer { at, until: None, anywhere } }),
        }
    }

    /// Notes that the next offer begins: the last entry ends here.
    pub(super) fn begin(&mut self, now: SimTime) {
        if self.jobs == 0 {
            // Without jobs in the journal, these entries will never be read.
            return self.forget();
        }
        if let Some(last) = self.journal.last_mut() {
            // Only the last entry can be open, since each entry ends where the next offer begins.
            last.pass.until.get_or_insert(now);
        }
    }

    /// Returns the offers, from an entry on, that have passed over the job at a position.
    pub(super) fn since<'v>(
        &'v self,
        page: UnservedPage,
        place: &'v Key,
    ) -> impl Iterator<Item = &'v PassedOffer> {
        // Pages count from the first entry ever made; the journal may have lost its first entries.
        let known = page.0.saturating_sub(self.before) as usize;
        let news = self.journal[known..].iter();
        news.filter(move |entry: &&UnservedEntry| {
            entry.up_to.as_ref().is_none_or(|up_to| place < up_to)
        })
        .map(|entry| &entry.pass)
    }

    pub(super) fn last_page(&self) -> UnservedPage {
        UnservedPage(self.before + self.journal.len() as u64)
    }

    /// Returns whether the journal is so long that all of the `jobs` jobs should read it.
    pub(super) fn are_many(&self, jobs: usize) -> bool {
        // Large pools should seldom walk over all their jobs.
        FEW.max(jobs) <= self.journal.len()
    }

    /// Clears the journal; all jobs must have read its entries before.
    pub(super) fn forget(&mut self) {
        self.before = self.last_page().0;
        self.journal.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use mumakil_core::mapred::JobId;

    /// A model for comparison: a job that every offer really asks.
    #[derive(Clone, Debug)]
    struct UnservedAsk {
        place: Key,
        page: UnservedPage,
        /// The times of offers that have passed the job over since it was last compared with the
        /// journal.
        news: Vec<SimTime>,
        is_passed: bool,
    }

    impl UnservedAsk {
        fn listen(&mut self, vain: &UnservedJobs) {
            let told: Vec<SimTime> =
                vain.since(self.page, &self.place).map(|pass| pass.at).collect();
            assert_eq!(told, std::mem::take(&mut self.news), "{self:?} {vain:?}");
            self.page = vain.last_page();
        }
    }

    proptest! {
        #[test]
        fn the_journal_tells_what_each_would_have_been_told(
            happenings in vec((0..6_u8, 0..8_u64, 0..6_usize), 1..120),
        ) {
            let (mut vain, mut jobs) = (UnservedJobs::default(), Vec::<UnservedAsk>::new());
            let mut now = SimTime::ZERO;
            for (number, (what, ratio, which)) in (0..).zip(happenings) {
                match what {
                    0 => {
                        let page = vain.enter();
                        let place = Key::of_job(ratio, JobId(number));
                        let is_passed =
                            vain.journal.last().is_some_and(|last| last.pass.until.is_none());
                        jobs.push(UnservedAsk { place, page, news: Vec::new(), is_passed });
                    }
                    1 if which < jobs.len() => {
                        jobs.swap_remove(which).listen(&vain);
                        vain.leave();
                    }
                    2 => {
                        now = SimTime::from_micros(number.into());
                        vain.begin(now);
                        jobs.iter_mut().for_each(|job| job.is_passed = false);
                        if vain.are_many(0) || which == 0 {
                            jobs.iter_mut().for_each(|job| job.listen(&vain));
                            vain.forget();
                            jobs.iter_mut().for_each(|job| job.page = vain.last_page());
                        }
                    }
                    3.. => {
                        let up_to = (which != 1).then(|| Key::of_job(ratio, JobId(number)));
                        vain.pass_over(now, up_to.clone(), false);
                        for job in &mut jobs {
                            let is_before = up_to.as_ref().is_none_or(|up_to| job.place < *up_to);
                            if is_before && !std::mem::replace(&mut job.is_passed, true) {
                                job.news.push(now);
                            }
                        }
                    }
                    _ => {}
                }
            }
            jobs.iter_mut().for_each(|job| job.listen(&vain));
        }
    }
}
