//! The facts that a log tells about its cluster as a whole: how long the JobTracker took to hear that
//! an attempt had ended, and how much longer maps took away from their input.
//!
//! The log has an attempt's end twice. The attempt's own end is when its tracker noted it, the
//! task's end is when the JobTracker heard of it with the tracker's next heartbeat. So the delays
//! between the two are spread evenly over a heartbeat interval. The log has no time for the end of
//! an attempt's work, before its wait for the permission to commit. But that permission comes with a
//! heartbeat, too, and so the usual wait follows from the interval.

use super::admitted::{RumenModel, RunnableJob, map_time};
use super::attempt::{LoggedAttempt, LoggedOutcome, LoggedTask};
use super::properties::{OUT_OF_BAND, property};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Hadoop;

/// The most delays that are kept. More of them say nothing new, and a trace has millions.
const MOST_DELAYS: usize = 100_000;

/// A log's facts about its cluster, gathered job by job.
#[derive(Debug, Default)]
pub struct LogSurvey {
    /// How long the JobTracker took to hear of the ends of attempts, in milliseconds.
    delays: Vec<u32>,
    /// The shortest time from the assignment of a setup or cleanup until the JobTracker heard of its
    /// end, in milliseconds; `None` if there was none.
    shortest_service: Option<u64>,
    /// Whether the last configuration says that trackers send no extra heartbeats.
    waits_for_beats: bool,
    /// The maps whose input was in their rack, and those whose input was in another rack.
    far: [FarMaps; 2],
}

/// When a log's JobTracker heard of the end of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogHearing {
    /// With the tracker's next heartbeat, which came within this interval.
    Within(SimSpan),
    /// With an extra (out-of-band) heartbeat, usually after this span.
    AtOnce(SimSpan),
}

/// Maps at one distance from their input, compared with the maps of their job that had it on their
/// node.
#[derive(Clone, Debug, Default)]
struct FarMaps {
    /// For each job: how many times as long its far maps took as its near maps, by the medians, and
    /// how many maps say so.
    ratios: Vec<(f64, u64)>,
    maps: u64,
    /// How many of them took longer than the median of the near maps.
    slower: u64,
}

/// The distances of [`LogSurvey::far`], in words.
const DISTANCES: [&str; 2] = ["in the rack of their input", "in another rack than their input"];

impl LogSurvey {
    /// Adds a job.
    pub fn add(&mut self, admitted: &RunnableJob<'_>) {
        let job = admitted.job;
        for task in job.map_tasks.iter().chain(&job.reduce_tasks).filter(|it| !it.is_service()) {
            let ended = success(task).and_then(|attempt| attempt.finish_time);
            if let Some((ended, heard)) = ended.zip(task.finish_time)
                && self.delays.len() < MOST_DELAYS
            {
                // A tracker's clock may be ahead of the JobTracker's.
                let delay = heard.saturating_sub(ended);
                self.delays.push(u32::try_from(delay).unwrap_or(u32::MAX));
            }
        }
        if let Some(said) = property(&job.job_properties, OUT_OF_BAND) {
            self.waits_for_beats = said == "false";
        }
        let service = job.tasks().filter(|task| task.is_service() && success(task).is_some());
        let spans = service.filter_map(|task| task.finish_time?.checked_sub(task.start_time?));
        self.shortest_service = self.shortest_service.into_iter().chain(spans).min();
        self.compare(&admitted.logged);
    }

    /// Compares the maps of a job by their distances from their input.
    fn compare(&mut self, maps: &[&LoggedTask]) {
        let mut bytes: Vec<u64> =
            maps.iter().filter_map(|map| Some(input(success(map)?))).collect();
        let Some(usual) = median(&mut bytes) else { return };
        let mut times: [Vec<u64>; 3] = Default::default();
        for map in maps {
            let Some(attempt) = success(map) else { continue };
            let Some(distance) = distance(map, attempt) else { continue };
            // A job's last split is often smaller, and maps of other sizes take other times.
            let is_alike = input(attempt).abs_diff(usual) <= usual / 10;
            if let Some(time) = map_time(attempt, RumenModel::Measured).filter(|_| is_alike) {
                times[distance].push(time.as_millis());
            }
        }
        let [near, others @ ..] = &mut times;
        let near_count = near.len() as u64;
        let Some(near) = median(near).filter(|time| 0 < *time) else { return };
        for (far, times) in self.far.iter_mut().zip(others) {
            let count = times.len() as u64;
            let Some(middle) = median(times) else { continue };
            far.maps += count;
            far.slower += times.iter().filter(|time| near < **time).count() as u64;
            far.ratios.push((middle as f64 / near as f64, count.min(near_count)));
        }
    }

    /// Returns when the JobTracker heard of ends; `None` if the log does not show it.
    pub fn hearing(&self) -> Option<LogHearing> {
        let mut delays = self.delays.clone();
        delays.sort_unstable();
        let at = |percent: usize| delays.get(delays.len() * percent / 100).copied();
        // The delays are spread evenly from nothing to an interval. The longest ones are left out:
        // they are of heartbeats that waited for a busy JobTracker.
        let (usual, interval) = (at(50)?, (f64::from(at(95)?) / 0.95) as u64);
        // A tracker's clock may be minutes behind the JobTracker's, and then so is every end on it.
        // But a setup or cleanup lasts from one heartbeat to a later one, both by the JobTracker's
        // clock. If that is about an interval, it is exactly one.
        let interval = match self.shortest_service {
            Some(span) if span <= interval + interval / 10 => span,
            _ => interval,
        };
        // Where few tasks ended, many may have done so shortly before a heartbeat.
        Some(if u64::from(usual) * 4 < interval && !self.waits_for_beats {
            LogHearing::AtOnce(SimSpan::from_millis(usual.into()))
        } else {
            LogHearing::Within(SimSpan::from_millis(interval))
        })
    }

    /// Returns how long attempts of the log usually waited, from the end of their work to the end
    /// of their commit. `hadoop` has the interval of the heartbeats if the log does not show it.
    pub(super) fn commit_wait(&self, hadoop: &Hadoop, trackers: u32) -> SimSpan {
        let within = LogHearing::Within(hadoop.heartbeat_interval(trackers));
        let wait = match self.hearing().unwrap_or(within) {
            // The child process asks at once whether it may commit, and gets its answer with the
            // answer to the heartbeat.
            LogHearing::AtOnce(delay) => delay,
            // The tracker reports the end of the work with its next heartbeat, and the answer is
            // the permission. Meanwhile the process asks its tracker after each `poll`: it hears
            // half a poll after the permission, on average, and at the earliest with its second
            // question.
            LogHearing::Within(interval) => {
                let poll = hadoop.poll;
                SimSpan::from_micros((interval.max(poll) + poll).as_micros() / 2)
            }
        };
        wait + hadoop.commit_time
    }

    /// Returns how many times as long maps took in the rack of their input and in another rack, as
    /// on the node with their input; 1 if the log does not show that they took longer.
    pub fn penalties(&self) -> [f64; 2] {
        self.far.each_ref().map(FarMaps::penalty)
    }

    /// Returns the facts that the log shows, each in a sentence.
    pub(super) fn facts(&self) -> Vec<String> {
        let hearing = self.hearing().map(|hearing| match hearing {
            LogHearing::AtOnce(_) => "trackers reported the ends of attempts at once".to_owned(),
            LogHearing::Within(interval) => {
                format!("trackers reported every {:.1} s", interval.as_secs_f64())
            }
        });
        hearing.into_iter().chain(self.told_penalties()).collect()
    }

    /// Returns a sentence for each distance at which maps took longer.
    pub(super) fn told_penalties(&self) -> Vec<String> {
        let slower = DISTANCES.iter().zip(&self.far).filter(|(_, far)| 1.0 < far.penalty());
        let notes = slower.map(|(at, far)| {
            let (penalty, maps) = (far.penalty(), far.maps);
            format!("maps {at} took {penalty} times as long ({maps} maps)")
        });
        notes.collect()
    }
}

/// The least number of far maps that show anything.
// Chosen: of ten maps, nine must be slower.
const LEAST_FAR_MAPS: u64 = 10;

impl FarMaps {
    /// Returns how many times as long these maps took; 1 if that may be by chance.
    fn penalty(&self) -> f64 {
        let maps = self.maps as f64;
        // If the distance did not matter, half of the far maps would take longer than the median
        // near map. Chance rarely makes it more than that by two standard deviations.
        let by_chance = maps / 2.0 + maps.sqrt();
        if self.maps < LEAST_FAR_MAPS || self.slower as f64 <= by_chance {
            return 1.0;
        }
        let mut ratios = self.ratios.clone();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = ratios.iter().map(|(_, maps)| maps).sum::<u64>() / 2;
        let mut passed = 0;
        let middle = ratios.iter().find(|(_, maps)| {
            passed += maps;
            half < passed
        });
        // More digits would say more than the log does.
        middle.map_or(1.0, |(ratio, _)| (ratio * 100.0).round() / 100.0).max(1.0)
    }
}

/// Returns the successful attempt of a task.
pub fn success(task: &LoggedTask) -> Option<&LoggedAttempt> {
    task.attempts.iter().find(|attempt| attempt.result == Some(LoggedOutcome::Success))
}

/// Returns the bytes that an attempt read; 0 if they are unknown.
fn input(attempt: &LoggedAttempt) -> u64 {
    attempt.hdfs_bytes_read.unwrap_or(0)
}

/// Returns the distance of an attempt from the input of its map, by the names in the log: 0 on the
/// node, 1 in the rack, 2 elsewhere. `None` if the log does not say where either was.
fn distance(map: &LoggedTask, attempt: &LoggedAttempt) -> Option<usize> {
    let (path, host) = attempt.host_name.as_deref()?.rsplit_once('/')?;
    let rack = path.rsplit('/').next().unwrap_or(path);
    let layers = || map.preferred_locations.iter().map(|location| location.layers.as_slice());
    match () {
        () if layers().all(<[String]>::is_empty) => None,
        () if layers().any(|layers| layers.last().is_some_and(|name| name == host)) => Some(0),
        () if layers()
            .any(|layers| layers.iter().rev().nth(1).is_some_and(|name| name == rack)) =>
        {
            Some(1)
        }
        () => Some(2),
    }
}

/// Returns the middle one of some numbers, which are sorted meanwhile; `None` without numbers.
pub fn median(numbers: &mut [u64]) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::HadoopLine;

    fn survey(delays: &[u32]) -> LogSurvey {
        LogSurvey { delays: delays.into(), ..LogSurvey::default() }
    }

    fn millis(span: SimSpan) -> u64 {
        span.as_millis()
    }

    #[test]
    fn the_heartbeat_of_the_log_is_the_longest_usual_delay() {
        let even: Vec<u32> = (0..1_000).map(|at| at * 3).chain([90_000; 10]).collect();
        let Some(LogHearing::Within(interval)) = survey(&even).hearing() else { panic!("it is") };
        assert!((2_900..3_100).contains(&millis(interval)), "{interval}");
        let at_once: Vec<u32> = (0..100).map(|at| if at < 90 { 10 } else { 4_000 }).collect();
        let hearing = survey(&at_once).hearing();
        assert_eq!(hearing, Some(LogHearing::AtOnce(SimSpan::from_millis(10))));
        let said = LogSurvey { waits_for_beats: true, ..survey(&at_once) };
        assert!(matches!(said.hearing(), Some(LogHearing::Within(_))), "what is said holds");
        let skewed = LogSurvey { shortest_service: Some(3_004), ..survey(&[90_000; 100]) };
        let hearing = skewed.hearing();
        assert_eq!(hearing, Some(LogHearing::Within(SimSpan::from_millis(3_004))));
        assert_eq!(survey(&[]).hearing(), None);
    }

    #[test]
    fn the_wait_for_a_commit_is_half_a_heartbeat_and_half_a_poll() {
        let hadoop = Hadoop::of(HadoopLine::V020);
        assert_eq!((millis(hadoop.poll), millis(hadoop.commit_time)), (1_000, 100));
        let wait = |delays: &[u32]| millis(survey(delays).commit_wait(&hadoop, 20));
        assert_eq!(wait(&[2_850]), 2_100);
        assert_eq!(wait(&[475]), 1_100, "the second question, though heartbeats come sooner");
        assert_eq!(wait(&[10, 10, 10, 4_000]), 110, "out-of-band heartbeats");
        assert_eq!(wait(&[]), 2_100, "20 trackers send a heartbeat every 3 s");
    }

    fn map(time: u64, host: &str) -> LoggedTask {
        let attempt = LoggedAttempt {
            result: Some(LoggedOutcome::Success),
            start_time: Some(1_000),
            finish_time: Some(1_000 + time),
            host_name: Some(host.to_owned()),
            ..LoggedAttempt::default()
        };
        let layers = vec!["10\\.0\\.0\\.0".to_owned(), "h\\.1".to_owned()];
        LoggedTask {
            attempts: vec![attempt],
            preferred_locations: vec![super::super::attempt::LoggedLocation { layers }],
            ..LoggedTask::default()
        }
    }

    fn compared(near: &[u64], in_rack: &[u64], far: &[u64]) -> [f64; 2] {
        let of = |times: &[u64], host| times.iter().map(|time| map(*time, host)).collect();
        let maps: [Vec<LoggedTask>; 3] = [
            of(near, "/10\\.0\\.0\\.0/h\\.1"),
            of(in_rack, "/10\\.0\\.0\\.0/h\\.2"),
            of(far, "/10\\.0\\.0\\.1/h\\.3"),
        ];
        let mut survey = LogSurvey::default();
        survey.compare(&maps.iter().flatten().collect::<Vec<_>>());
        survey.penalties()
    }

    #[test]
    fn a_penalty_is_what_the_maps_of_the_log_took_longer() {
        assert_eq!(compared(&[100; 5], &[130; 20], &[250; 20]), [1.3, 2.5]);
        assert_eq!(compared(&[100; 5], &[130; 9], &[90; 20]), [1.0, 1.0], "too few, and faster");
        assert_eq!(compared(&[], &[130; 20], &[250; 20]), [1.0; 2], "nothing to compare with");
    }

    #[test]
    fn longer_by_chance_is_no_penalty() {
        let mixed: Vec<u64> = (0..20).map(|at| if at < 13 { 120 } else { 80 }).collect();
        assert_eq!(compared(&[100; 5], &mixed, &mixed), [1.0; 2]);
    }
}
