//! Makes another trace from a trace: a sample, a scaled trace, or a folded one.
//!
//! The jobs of a list that are linked by `after` are a family. A sample keeps or drops a family as
//! a whole, and the delays of its jobs are not times of arrival. Every other job is drawn
//! independently, and so is each copy of a `count`.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::index;
use rustc_hash::FxHashMap;

use crate::workload::disjoint_sets::DisjointSets;
use crate::workload::format::{Trace, TraceJob};
use crate::workload::jobs::JobEntry;
use crate::workload::shared::file_clashes;
use mumakil_base::random::{Purpose, stream};
use mumakil_base::units::{Bytes, Factor, Quantity, SimSpan};

/// The reason why a trace cannot be reshaped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReshapeError {
    /// No job would be left.
    #[error("no job would be left of the trace")]
    Nothing,
    /// A span or a factor is zero.
    #[error("`{option}` is above zero")]
    Zero {
        /// The name of the option.
        option: &'static str,
    },
    /// A span is longer than the trace.
    #[error("`{option}` is {span}, but the trace spans only {length}")]
    TooLong {
        /// The name of the option.
        option: &'static str,
        /// The span that was asked for.
        span: SimSpan,
        /// The length of the trace.
        length: SimSpan,
    },
    /// Jobs would arrive too late.
    #[error("jobs would come later than after {}", SimSpan::LONGEST)]
    TooLate,
    /// A job could not be run.
    #[error("job {job:?}: {what}")]
    Unfit {
        /// The job.
        job: String,
        /// The mistake that the job would have.
        what: String,
    },
}

/// The factors for times and sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// The factor for times between the first job and each other job, between copies, and before a
    /// job that follows others.
    pub time: Factor,
    /// The factor for the bytes that jobs read, shuffle and write.
    pub size: Factor,
}

/// The spans for folding a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folding {
    /// The length of the cycles that are laid over each other; `None` is the whole trace.
    pub cycle: Option<SimSpan>,
    /// The span of the folded trace.
    pub into: SimSpan,
}

impl Trace {
    /// Keeps a random sample of `count` jobs, in their order; a family counts as one job. Returns
    /// how many are kept: all if there are fewer.
    ///
    /// # Errors
    /// If no job would be left.
    pub fn sample(&mut self, count: usize, seed: u64) -> Result<usize, ReshapeError> {
        self.expand();
        self.draw_families(count, seed)
    }

    fn draw_families(&mut self, count: usize, seed: u64) -> Result<usize, ReshapeError> {
        let families = self.families();
        let count = count.min(families.len());
        if count == 0 {
            return Err(ReshapeError::Nothing);
        }
        let mut rng = stream(seed, Purpose::Workload, 0);
        let mut keep = vec![false; self.jobs.len()];
        for family in index::sample(&mut rng, families.len(), count) {
            families[family].iter().for_each(|&job| keep[job] = true);
        }
        let mut keep = keep.into_iter();
        self.jobs.retain(|_| keep.next().unwrap_or(false));
        self.refit_gaps();
        Ok(count)
    }

    /// Multiplies times and sizes. Returns how many jobs state no bytes that could be scaled.
    /// `block` is the size of a block.
    ///
    /// # Errors
    /// If the factor for sizes is zero, or if a scaled job could not be run or would arrive too
    /// late.
    pub fn scale(&mut self, by: Scaling, block: Bytes) -> Result<u64, ReshapeError> {
        if by.size.get() == 0.0 {
            return Err(ReshapeError::Zero { option: "size" });
        }
        let (first, time) = (self.first(), by.time.get());
        let mut without_bytes = 0;
        for job in &mut self.jobs {
            // The time of a job with `after` is a delay, which counts from 0 and not from the first
            // job.
            let from = if job.follows() { SimSpan::ZERO } else { first };
            job.set_submit(times(job.submit().saturating_sub(from), time, from)?);
            if let TraceJob::Own(job) = job {
                job.every = times(job.every, time, SimSpan::ZERO)?;
            }
            if by.size != Factor::ONE && !job.scale_sizes(by.size.get()) {
                without_bytes += 1;
            }
        }
        self.refit_gaps();
        // Larger sizes may need more maps than a job may have, and smaller sizes may leave less
        // than a byte for each map.
        self.check(block)?;
        Ok(without_bytes)
    }

    /// Checks that the jobs can be run.
    fn check(&self, block: Bytes) -> Result<(), ReshapeError> {
        for (number, job) in (1..).zip(&self.jobs) {
            let unfit = |what| ReshapeError::Unfit { job: job.name(number), what };
            job.entry(number, block).map_err(unfit)?;
        }
        let own: Vec<JobEntry> = self.own().cloned().collect();
        match file_clashes(&own, block).into_iter().next() {
            Some((job, what)) => Err(ReshapeError::Unfit { job: own[job].name.clone(), what }),
            None => Ok(()),
        }
    }

    /// Folds a trace into a shorter one: cycles are laid over each other and compressed into one
    /// span, and only so many jobs are kept that the rate of arrivals stays the same. Delays of
    /// jobs after other jobs do not change.
    ///
    /// # Errors
    /// If a span is zero, or longer than the trace.
    pub fn fold(&mut self, folding: Folding, seed: u64) -> Result<(), ReshapeError> {
        let Folding { cycle, into } = folding;
        let (first, length) = (self.first(), self.length());
        for (option, span) in [("cycle", cycle), ("into", Some(into))] {
            let Some(span) = span else { continue };
            if span.is_zero() {
                return Err(ReshapeError::Zero { option });
            }
            if length < span {
                return Err(ReshapeError::TooLong { option, span, length });
            }
        }
        let cycle = cycle.unwrap_or(length);
        self.expand();
        let share = into.as_f64() / length.as_f64();
        let count = (self.families().len() as f64 * share).round().max(1.0) as usize;
        // A seed of its own, so that `sample` with the same seed keeps other jobs.
        let seed = RngExt::random::<u64>(&mut stream(seed, Purpose::Workload, 1));
        self.draw_families(count, seed)?;
        let press = into.as_f64() / cycle.as_f64();
        let pressed = |span: SimSpan| SimSpan::from_f64(span.as_f64() * press);
        let mut order = vec![SimSpan::ZERO; self.jobs.len()];
        for family in self.families() {
            let comes = family.iter().filter(|&&job| !self.jobs[job].follows());
            let begin = comes.map(|&job| self.jobs[job].submit()).min().unwrap_or_default();
            let since = begin.saturating_sub(first).as_micros();
            // Without cycles the last job is at `since == cycle`, and the remainder would move it
            // to the beginning.
            let place = if cycle == length { since } else { since % cycle.as_micros() };
            let new_begin = first + pressed(SimSpan::from_micros(place));
            for &place in &family {
                let job = &mut self.jobs[place];
                // A job that follows others has no time of its own, so it stays next to the
                // beginning of its family.
                order[place] = new_begin;
                if !job.follows() {
                    order[place] = new_begin + pressed(job.submit().saturating_sub(begin));
                    job.set_submit(order[place]);
                }
                if let TraceJob::Own(job) = job {
                    job.every = pressed(job.every);
                }
            }
        }
        let mut jobs: Vec<(SimSpan, TraceJob)> =
            order.into_iter().zip(self.jobs.drain(..)).collect();
        // A stable sort: jobs at the same instant stay in the order of the file.
        jobs.sort_by_key(|(at, _)| *at);
        self.jobs.extend(jobs.into_iter().map(|(_, job)| job));
        self.refit_gaps();
        Ok(())
    }

    /// Returns the time before the first job, if it is more than a twentieth of the whole: a run of
    /// the trace would show a long idle time first.
    ///
    /// `None` if the times are of a wall clock, since a run then counts from the first job.
    pub fn idle_start(&self) -> Option<SimSpan> {
        let (first, length) = (self.first(), self.length());
        // The limit is chosen: a twentieth of the whole, which is a nineteenth of the rest.
        let is_long = length.as_f64() < 19.0 * first.as_f64() && !self.format.is_wall_clock();
        is_long.then_some(first)
    }

    /// Returns when the first job arrives.
    fn first(&self) -> SimSpan {
        let comes = self.jobs.iter().filter(|job| !job.follows());
        comes.map(TraceJob::submit).min().unwrap_or_default()
    }

    /// Returns the time between the first and the last arrival.
    fn length(&self) -> SimSpan {
        let comes = self.jobs.iter().filter(|job| !job.follows());
        comes.map(TraceJob::last_submit).max().unwrap_or_default().saturating_sub(self.first())
    }

    /// Splits jobs without a family into one job for each copy.
    fn expand(&mut self) {
        let mut alone = vec![false; self.jobs.len()];
        for family in self.families() {
            // In a family `after` means all copies of a job, so the copies stay one entry.
            if let [job] = family[..] {
                alone[job] = true;
            }
        }
        let copies = |(job, is_alone): (TraceJob, bool)| match job {
            TraceJob::Own(job) if is_alone => {
                job.copies().map(|copy| TraceJob::Own(Box::new(copy))).collect()
            }
            job => vec![job],
        };
        self.jobs =
            std::mem::take(&mut self.jobs).into_iter().zip(alone).flat_map(copies).collect();
    }

    /// Returns the indices of the jobs of each family, families and jobs in the order of the file.
    fn families(&self) -> Vec<Vec<usize>> {
        let places: FxHashMap<&str, usize> =
            (0..).zip(self.own()).map(|(place, job)| (job.name.as_str(), place)).collect();
        let mut sets = DisjointSets::new(self.jobs.len());
        for (place, job) in self.own().enumerate() {
            for other in job.after.iter().filter_map(|name| places.get(name.as_str())) {
                sets.join(place, *other);
            }
        }
        let mut families: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in 0..self.jobs.len() {
            families.entry(sets.first(place)).or_default().push(place);
        }
        families.into_values().collect()
    }

    /// Returns the jobs of one of Mumakil's own lists; no jobs if the trace is of another tool.
    pub(super) fn own(&self) -> impl Iterator<Item = &JobEntry> {
        self.jobs.iter().filter_map(|job| match job {
            TraceJob::Own(job) => Some(&**job),
            TraceJob::Foreign(_) => None,
        })
    }
}

/// Returns `from` plus a span times a factor.
fn times(span: SimSpan, factor: f64, from: SimSpan) -> Result<SimSpan, ReshapeError> {
    let micros = span.as_f64() * factor;
    if SimSpan::LONGEST.as_f64() < from.as_f64() + micros {
        return Err(ReshapeError::TooLate);
    }
    Ok(from + SimSpan::from_f64(micros))
}

impl TraceJob {
    /// Returns whether the job follows other jobs: it then arrives some time after their ends.
    fn follows(&self) -> bool {
        matches!(self, Self::Own(job) if !job.after.is_empty())
    }

    /// Returns when the last copy of the job is submitted.
    fn last_submit(&self) -> SimSpan {
        match self {
            Self::Own(job) => job.submit + job.every * u64::from(job.count.get() - 1),
            Self::Foreign(job) => job.submit(),
        }
    }

    fn set_submit(&mut self, submit: SimSpan) {
        match self {
            Self::Foreign(job) => job.set_submit(submit),
            Self::Own(job) => job.submit = submit,
        }
    }

    /// Multiplies the bytes of the job. Returns whether it gives any bytes.
    fn scale_sizes(&mut self, factor: f64) -> bool {
        let scaled =
            |bytes: u64| (bytes as f64 * factor).round().min(Bytes::LARGEST.as_f64()) as u64;
        let mut has_bytes = false;
        // If `alike` tasks share a size without a remainder, the scaled size must stay divisible by
        // their number.
        let mut scale = |bytes: u64, alike: u64| {
            has_bytes |= 0 < bytes;
            scaled(bytes / alike).saturating_mul(alike).min(Bytes::LARGEST.get())
        };
        match self {
            Self::Foreign(job) => job.scale_sizes(&mut |size| scale(size, 1)),
            Self::Own(job) => {
                // Equal splits stay equal: jobs that share a file have to agree on the size of its
                // blocks.
                let maps = job.maps.map_or(1, |maps| u64::from(maps.get().max(1)));
                if let Some(input) = &mut job.input {
                    let alike = if input.get().is_multiple_of(maps) { maps } else { 1 };
                    // Each map with input reads at least one byte.
                    let least = if *input == Bytes::ZERO { 0 } else { maps };
                    *input = Bytes::new(scale(input.get(), alike).max(least));
                }
                for size in [&mut job.shuffle, &mut job.output] {
                    *size = Bytes::new(scale(size.get(), 1));
                }
            }
        }
        has_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{BLOCK, RUMEN, SWIM, read, said};
    use super::*;
    use mumakil_base::units::Count;

    fn hundred() -> Trace {
        let lines = (0..100).map(|n| format!("j{n}\t{}\t60\t1000\t0\t0\n", 60 * n));
        read(lines.collect::<String>().as_bytes())
    }

    fn times_s(trace: &Trace) -> Vec<u64> {
        trace.jobs.iter().map(|job| job.submit().as_micros() / 1_000_000).collect()
    }

    fn by(time: f64, size: f64) -> Scaling {
        Scaling { time: Factor::of(time), size: Factor::of(size) }
    }

    #[test]
    fn a_sample_keeps_order_times_and_gaps() {
        let mut trace = hundred();
        trace.sample(10, 7).unwrap();
        let times = times_s(&trace);
        assert_eq!(times.len(), 10);
        assert!(times.is_sorted() && times.iter().all(|time| time.is_multiple_of(60)));
        let text = said(&trace);
        let gaps =
            text.lines().map(|line| line.split('\t').nth(2).unwrap().parse::<u64>().unwrap());
        assert_eq!(gaps.sum::<u64>(), times[9]);
        let mut other = hundred();
        other.sample(10, 8).unwrap();
        assert_ne!(times_s(&other), times);
    }

    #[test]
    fn scaling_keeps_the_first_job_where_it_is() {
        let mut trace = read(SWIM);
        trace.scale(by(0.5, 2.0), BLOCK).unwrap();
        assert_eq!(times_s(&trace), [5, 7]);
        let jobs = trace.entries(BLOCK);
        assert_eq!((jobs[0].input, jobs[0].output), (Some(Bytes::new(2_000)), Bytes::new(14)));
        assert_eq!(jobs[1].maps.map(Count::get), Some(3));
    }

    #[test]
    fn a_long_time_before_the_first_job_is_noticed() {
        let idle = |text: &str| read(text.as_bytes()).idle_start();
        assert_eq!(idle("name,maps,submit\na,1,5s\nb,1,100s\n"), None);
        let late = Some(SimSpan::from_secs(6));
        assert_eq!(idle("name,maps,submit\na,1,6s\nb,1,100s\n"), late);
        assert_eq!(read(RUMEN).idle_start(), None);
    }

    #[test]
    fn a_folded_trace_is_as_dense_as_it_was() {
        let mut trace = hundred();
        trace.fold(Folding { cycle: None, into: SimSpan::from_secs(600) }, 1).unwrap();
        let times = times_s(&trace);
        assert_eq!(times.len(), 10);
        assert!(times.is_sorted() && times[9] <= 600, "{times:?}");
        let mut trace = hundred();
        let span = SimSpan::from_secs(1_200);
        trace.fold(Folding { cycle: Some(span), into: span }, 1).unwrap();
        assert_eq!(times_s(&trace).len(), 20);
        assert!(times_s(&trace)[19] < 1_200);
    }

    #[test]
    fn a_rumen_job_moves_as_a_whole() {
        let mut trace = read(RUMEN);
        let entry = trace.entries(BLOCK).remove(0);
        let before = trace.jobs[0].submit();
        trace.jobs[0].set_submit(before + SimSpan::from_secs(5));
        trace.jobs[0].scale_sizes(2.0);
        let moved = trace.entries(BLOCK).remove(0);
        assert_eq!(trace.jobs[0].submit(), before + SimSpan::from_secs(5));
        assert_eq!(moved.map_time, entry.map_time);
        assert_eq!(moved.input.map(Bytes::get), entry.input.map(|bytes| bytes.get() * 2));
    }

    #[test]
    fn a_job_is_not_sampled_without_those_that_it_follows() {
        for seed in 0..10 {
            let mut trace = read(b"name,maps,after\na,1,\nb,1,[a]\nc,1,[b]\nd,1,\n");
            trace.sample(1, seed).unwrap();
            let names: Vec<&str> = trace.own().map(|job| job.name.as_str()).collect();
            assert!(names == ["a", "b", "c"] || names == ["d"], "{names:?}");
        }
    }

    #[test]
    fn copies_are_sampled_one_by_one() {
        let mut trace = read(b"name,maps,count,every\na,1,100,60s\n");
        trace.sample(2, 7).unwrap();
        assert_eq!(trace.jobs.len(), 2);
        assert!(trace.own().all(|job| job.count.get() == 1 && job.name.starts_with("a-")));
        let mut trace = read(b"name,maps,count,every\na,1,100,60s\n");
        trace.fold(Folding { cycle: None, into: SimSpan::from_secs(594) }, 1).unwrap();
        let times = times_s(&trace);
        assert!(times.len() == 10 && times.is_sorted() && times[9] <= 594, "{times:?}");
    }

    #[test]
    fn scaling_takes_delays_for_delays_and_stretches_copies() {
        let mut trace = read(
            b"name,maps,input,submit,count,every,after\na,1,8B,100s,2,10s,\nb,1,8B,6s,,,[a]\n",
        );
        trace.scale(by(0.5, 0.5), BLOCK).unwrap();
        assert_eq!(
            said(&trace),
            "name,submit,after,count,every,maps,input\na,100s,,2,5s,1,4B\nb,3s,[a],,,1,4B\n"
        );
    }

    #[test]
    fn folding_moves_a_family_as_a_whole_and_keeps_its_delays() {
        let mut trace =
            read(b"name,maps,submit,after\na,1,0s,\nb,1,7s,[a]\nc,1,50s,\nd,1,7s,[c]\ne,1,100s,\n");
        trace
            .fold(Folding { cycle: Some(SimSpan::from_secs(50)), into: SimSpan::from_secs(100) }, 1)
            .unwrap();
        assert_eq!(
            said(&trace),
            "name,submit,after,maps\na,,,1\nb,7s,[a],1\nc,,,1\nd,7s,[c],1\ne,,,1\n"
        );
    }

    #[test]
    fn what_could_not_be_run_is_not_made() {
        let mut list = read(b"name,input\na,1TB\n");
        let error = list.scale(by(1.0, 1e6), BLOCK).unwrap_err().to_string();
        assert!(error.ends_with("blocks gives more than 10000000 maps"), "{error}");
        let zero = |option| Err::<(), _>(ReshapeError::Zero { option });
        let fold = |cycle: Option<u64>, into: u64| {
            let cycle = cycle.map(SimSpan::from_secs);
            hundred().fold(Folding { cycle, into: SimSpan::from_secs(into) }, 1)
        };
        assert_eq!(fold(None, 0), zero("into"));
        assert_eq!(fold(Some(0), 60), zero("cycle"));
        let error = fold(None, 86_400).unwrap_err().to_string();
        assert_eq!(error, "`into` is 24h, but the trace spans only 99min");
        assert_eq!(
            hundred().scale(by(1.0, 0.0), BLOCK),
            Err(ReshapeError::Zero { option: "size" })
        );
        assert_eq!(hundred().sample(1_000, 1), Ok(100));
        assert_eq!(hundred().sample(0, 1), Err(ReshapeError::Nothing));
        assert_eq!(hundred().scale(by(1e9, 1.0), BLOCK), Err(ReshapeError::TooLate));
    }

    #[test]
    fn a_map_keeps_a_byte_however_small_its_job_becomes() {
        let mut list = read(b"name,maps,input\na,30,3GB\n");
        list.scale(by(1.0, 1e-9), BLOCK).unwrap();
        assert_eq!(said(&list), "name,maps,input\na,30,30B\n");
    }

    #[test]
    fn jobs_without_bytes_are_counted() {
        let mut list = read(b"name,maps,input\na,3,\nb,3,6B\n");
        assert_eq!(list.scale(by(1.0, 2.0), BLOCK), Ok(1));
        assert_eq!(said(&list), "name,maps,input\na,3,\nb,3,12B\n");
    }
}
