//! The settings of pools and queues that a log does not hold, found by trying.
//!
//! ```text
//! FitKnobs   the settings with the values that are tried, from one end to the other
//! Fit        the runs of each try; how far the launches of tasks are off
//! ```
//! Each try replays the jobs that show the cluster, with a few seeds. A try is judged by when tasks
//! were assigned: the first task of a job with the first one, the second with the second one. A knob is
//! turned while that helps more than chance would, and turned back where nothing is lost by it.

use crate::cluster::{InferredSetting, LoggedCluster, LoggedTimes};
use crate::knobs::FitKnobs;
use crate::replay::{SeedRun, in_parallel};
use mumakil_base::statistics::mean;
use mumakil_base::units::tell::{counted, percent};
use mumakil_cli::progress::StudyBar;
use mumakil_core::cluster::SlotKind;
use mumakil_run::emulation::{Options, Prepared};
use mumakil_scenario::{Registry, SchedulerChoice};

/// How many seeds each try is run with.
// Chosen: their mean forgets most of the phases of heartbeats, and a try takes a fraction of a second.
const SEEDS: usize = 5;

/// The most tries.
// Chosen: of a log of twenty jobs, they take some seconds together.
const MOST_TRIES: usize = 1_000;

/// The most tasks that a try replays: of a longer log, its first jobs.
// Chosen: a try takes less than a second.
const MOST_TASKS: usize = 10_000;

/// The most tasks of all tries together.
// Chosen: a processor emulates them in two minutes.
const MOST_TASKS_OF_ALL: usize = 3_000_000;

/// How much of the error a turn has to take away, at least.
// Chosen: what takes away less changes no prediction.
const LEAST_GAIN: f64 = 0.01;

/// The share of an error that matters: less may be lost again for fewer settings, and settings that gain
/// less are left alone.
// Chosen: settings that gain less fit chance.
const SMALL_SHARE: f64 = 0.1;

/// The error of a run that does not end: jobs are off by more than they took.
const ENDLESS: f64 = 10.0;

/// The cluster and its log, as far as they are known.
pub(super) struct FitSite<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) cluster: &'a LoggedCluster,
    /// The jobs that show the cluster.
    pub(super) jobs: &'a [LoggedTimes],
    pub(super) registry: &'a Registry,
    /// The paths of the settings that somebody told.
    pub(super) told: Vec<&'a str>,
    pub(super) bar: &'a StudyBar,
}

/// Returns the policy with some settings; `None` if they cannot be.
pub(super) type Choose<'c> = dyn Fn(&[InferredSetting]) -> Option<SchedulerChoice> + Sync + 'c;

/// A search for settings.
pub(super) struct Fit<'a> {
    site: FitSite<'a>,
    knobs: FitKnobs,
    /// The runs of tries: their jobs are those that show the cluster.
    base: Prepared,
    jobs: usize,
    /// How many more tries there may be.
    left: usize,
}

/// How far the launches of each job are off in a try, as a share of its time.
type JobErrors = Vec<f64>;

impl<'a> Fit<'a> {
    /// Returns the search for what a log lacks; `None` if it lacks nothing that can be searched.
    pub(super) fn of(site: FitSite<'a>) -> Option<Self> {
        let (mut tasks, mut jobs) = (0, 0);
        for job in site.jobs {
            tasks += SlotKind::BOTH.into_iter().map(|kind| job.assigned[kind].len()).sum::<usize>();
            if 0 < jobs && MOST_TASKS < tasks {
                break;
            }
            jobs += 1;
        }
        let ends = site.jobs[..jobs].iter().filter_map(|job| job.finish);
        let last = ends.max()?.saturating_sub(site.jobs[0].submit);
        let mut base = site.prepared.clone();
        // Jobs that came while these ran took slots, too.
        base.workload.arrivals.retain(|arrival| arrival.delay.as_millis() <= last);
        let knobs = FitKnobs::of(site.cluster, site.prepared.topology.slots(), &site.told);
        let left = (MOST_TASKS_OF_ALL / (tasks * SEEDS).max(1)).min(MOST_TRIES);
        (0 < knobs.count()).then_some(Self { site, knobs, base, jobs, left })
    }

    /// Searches; returns the settings that were found, none if they explain no more than chance.
    ///
    /// `choice` returns the policy with some settings, or `None` if they cannot be.
    pub(super) fn search(mut self, choice: &Choose<'_>) -> Vec<InferredSetting> {
        let Some(first) = self.error_of(&[self.settings()], choice).pop().flatten() else {
            return Vec::new();
        };
        let mut best = first.clone();
        let all = 0..self.knobs.count();
        // One knob is turned at a time, from one end to the other, and where that does not help two, beside
        // what holds: a queue with half the share and users with twice the limit may run the same jobs.
        while 0 < self.left {
            let ones = all.clone().flat_map(|knob| self.knobs.turned(knob, usize::MAX)).collect();
            if self.turn(ones, &mut best, choice) {
                continue;
            }
            let pairs = all.clone().flat_map(|knob| (0..knob).map(move |other| (other, knob)));
            let twos = pairs.flat_map(|(one, other)| {
                let turned = self.knobs.turned(one, 1).into_iter();
                turned.flat_map(move |knobs| knobs.turned(other, 1))
            });
            let twos = twos.collect();
            if !self.turn(twos, &mut best, choice) {
                break;
            }
        }
        let kept = self.turn_back(&first, best, choice);
        let [before, after] = [&first, &kept].map(mean_of);
        if before - after < SMALL_SHARE * before {
            return Vec::new();
        }
        let reason = format!(
            "fits the first {}: their tasks are launched {} of the jobs' times off, not {}",
            counted(self.jobs as u64, "job"),
            percent(after),
            percent(before),
        );
        let usual = self.knobs.usual().settings(self.site.cluster);
        let found = self.settings().into_iter().filter(|one| !usual.contains(one));
        found.map(|one| InferredSetting { reason: reason.clone(), ..one }).collect()
    }

    /// Turns the knobs as the best of some tries has them; returns whether that is better.
    fn turn(
        &mut self,
        mut places: Vec<FitKnobs>,
        best: &mut JobErrors,
        choice: &Choose<'_>,
    ) -> bool {
        places.truncate(self.left);
        let tries: Vec<_> = places.iter().map(|knobs| knobs.settings(self.site.cluster)).collect();
        let errors = self.error_of(&tries, choice);
        let found = places.into_iter().zip(errors).filter_map(|(at, errors)| Some((at, errors?)));
        match found.min_by(|(_, a), (_, b)| mean_of(a).total_cmp(&mean_of(b))) {
            Some((knobs, errors)) if is_better(&errors, best) => {
                (self.knobs, *best) = (knobs, errors);
                true
            }
            _ => false,
        }
    }

    /// Turns knobs back to their usual values where little is lost by that; returns the errors then.
    fn turn_back(&mut self, first: &JobErrors, best: JobErrors, choice: &Choose<'_>) -> JobErrors {
        let (before, least) = (mean_of(first), mean_of(&best));
        // All turns back together may lose as much, so that small losses do not add up.
        let most = least + SMALL_SHARE * (before - least);
        let mut kept = best;
        for knob in 0..self.knobs.count() {
            let Some(turned) = self.knobs.turned_back(knob) else { continue };
            let settings = turned.settings(self.site.cluster);
            if let Some(errors) = self.error_of(&[settings], choice).pop().flatten()
                && mean_of(&errors) <= most
            {
                (self.knobs, kept) = (turned, errors);
            }
        }
        kept
    }

    /// Returns the settings as all knobs stand.
    fn settings(&self) -> Vec<InferredSetting> {
        self.knobs.settings(self.site.cluster)
    }

    /// Returns the errors of some tries; `None` for settings that cannot be.
    fn error_of(
        &mut self,
        tries: &[Vec<InferredSetting>],
        choice: &Choose<'_>,
    ) -> Vec<Option<JobErrors>> {
        self.left = self.left.saturating_sub(tries.len());
        in_parallel(tries.len(), self.site.bar, |piece| {
            let mut run = self.base.clone();
            run.scenario.scheduler = choice(&tries[piece])?;
            let seeds = (0..SEEDS as u64).map(|more| self.base.scenario.seed.wrapping_add(more));
            let ended: Result<Vec<SeedRun>, _> = seeds
                .map(|seed| SeedRun::of(&run, seed, self.site.registry, Options::default()))
                .collect();
            Some(ended.map_or_else(|_| vec![ENDLESS; self.jobs], |ran| self.misfits(&ran)))
        })
    }

    /// Returns how far the launches of each job are from those of the log, as a share of its time
    /// there: by the means of some runs.
    fn misfits(&self, runs: &[SeedRun]) -> JobErrors {
        let first = self.site.jobs[0].submit;
        let of_job = self.site.jobs[..self.jobs].iter().zip(0..).map(|(job, number)| {
            let took = job.finish.map_or(0, |finish| finish.saturating_sub(job.submit)).max(1);
            let off = SlotKind::BOTH.into_iter().flat_map(|kind| {
                job.assigned[kind].iter().enumerate().filter_map(move |(task, log)| {
                    let launched = runs
                        .iter()
                        .map(|run| Some(*run.assigned.get(number)?[kind].get(task)? as f64));
                    let all: Option<Vec<f64>> = launched.collect();
                    Some((mean(&all?)? - log.saturating_sub(first) as f64).abs())
                })
            });
            mean(&off.collect::<Vec<_>>()).map_or(0.0, |off| off / took as f64)
        });
        of_job.collect()
    }
}

fn mean_of(errors: &JobErrors) -> f64 {
    mean(errors).unwrap_or(ENDLESS)
}

/// Returns whether some errors are less than others, for more than a few jobs.
fn is_better(errors: &JobErrors, than: &JobErrors) -> bool {
    let gains: Vec<f64> = than.iter().zip(errors).map(|(than, error)| than - error).collect();
    let (Some(gain), Some(before)) = (mean(&gains), mean(than)) else { return false };
    let variance = gains.iter().map(|one| (one - gain).powi(2)).sum::<f64>()
        / (gains.len() as f64 - 1.0).max(1.0);
    let by_chance = (variance / gains.len() as f64).sqrt();
    (LEAST_GAIN * before).max(by_chance) < gain
}
