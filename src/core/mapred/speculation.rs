//! Which tasks are slow, and which nodes may run second attempts, by three rules: two of Hadoop,
//! and LATE.
//!
//! The functions are pure. The JobTracker's ledger gives them the progress of tasks, by the last
//! heartbeats, and the instants at which attempts were launched. As in Hadoop, this progress may be
//! old: by a heartbeat interval, plus the 3 s between a process's progress reports.
//!
//! All three rules look only at tasks with a single attempt that does not wait for its commit. The
//! attempt was launched at least a minute ago; in 0.20, the job was initialised at least a minute
//! ago. Of the slow tasks, a node gets a map with its input near
//! (`hadoop-0.20`), or the task with the longest time left (the other rules).
//!
//! ```text
//! hadoop-0.20   the task's progress is 0.2 or more below the average
//! hadoop-0.21   its progress rate is more than a standard deviation below the mean
//! late          its progress rate is among the lowest quarter
//! ```

mod options;

pub use self::options::{Hadoop020Options, Hadoop021Options, LateOptions, Rule, Speculation};
use mumakil_base::statistics;
use mumakil_base::units::{Fraction, SimTime};

/// A job's tasks of a kind, as heartbeats have reported them.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportedTasks<'a> {
    pub(super) now: SimTime,
    /// The mean progress of all tasks, including those that have not begun.
    pub(super) average: f64,
    /// The tasks that have begun, in the order of their numbers.
    pub(super) begun: &'a [BegunTask],
}

/// A task that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct BegunTask {
    pub(super) index: u32,
    /// The progress per second of its fastest attempt, by that attempt's last report.
    pub(super) rate: f64,
    /// Its only attempt, if the task may get a second one; otherwise `None`.
    pub(super) alone: Option<LoneAttempt>,
}

/// The only attempt of a task that may get a second one.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoneAttempt {
    /// Its progress, from 0 to 1.
    pub(super) progress: f64,
    /// The instant from which the rule's `after` counts.
    pub(super) since: SimTime,
}

/// The numbers of running second attempts of a kind, and the numbers to which a cap compares them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecondAttempts {
    /// The job's second attempts.
    pub(super) of_job: u32,
    /// The running tasks of the job.
    pub(super) running: u32,
    /// The second attempts of all jobs.
    pub(super) of_all: u32,
    /// The slots of the cluster.
    pub(super) slots: u32,
}

impl Rule {
    /// Returns the numbers of the slow tasks, the most urgent first.
    pub(super) fn slow(self, field: ReportedTasks<'_>) -> Vec<u32> {
        let old = || {
            let alone = field.begun.iter().filter_map(|task| Some((task, task.alone?)));
            alone.filter(|(_, alone)| self.after() <= field.now.saturating_since(alone.since))
        };
        let by_rate = |is_slow: &dyn Fn(f64) -> bool| {
            let slow = old().filter(|(task, _)| is_slow(task.rate));
            longest_first(slow.map(|(task, alone)| (task.index, task.rate, alone.progress)))
        };
        let rates = || field.begun.iter().map(|task| task.rate).collect::<Vec<f64>>();
        match self {
            // TaskInProgress.hasSpeculativeTask compares progress with the average. Hadoop then
            // takes the first such task that it finds.
            Self::Hadoop020(Hadoop020Options { gap, .. }) => {
                let slow = old().filter(|(_, alone)| gap.get() <= field.average - alone.progress);
                slow.map(|(task, _)| task.index).collect()
            }
            // Hadoop compares a task's rate with the mean and deviation of all tasks that were ever
            // launched; finished tasks keep their last rate.
            Self::Hadoop021(Hadoop021Options { slow_task, .. }) => {
                let Some((mean, deviation)) = spread(&rates()) else { return Vec::new() };
                by_rate(&|rate| deviation * slow_task.get() < mean - rate)
            }
            // The paper's SlowTaskThreshold is a percentile of the rates, not a deviation from
            // their mean.
            Self::Late(LateOptions { slow_task, .. }) => {
                let limit = statistics::quantile(&rates(), slow_task.get());
                by_rate(&|rate| limit.is_some_and(|limit| rate < limit))
            }
        }
    }

    /// Returns the instant from which the time counts that must pass before a task can be slow.
    pub(super) fn counts_from(self, initialised: SimTime, launched: SimTime) -> SimTime {
        match self {
            // TaskInProgress.init sets the task's start as its job is initialised, and no launch
            // sets it again.
            Self::Hadoop020(_) => initialised,
            Self::Hadoop021(_) | Self::Late(_) => launched,
        }
    }

    /// Returns whether one more second attempt may be launched.
    pub(super) fn has_room(self, seconds: SecondAttempts) -> bool {
        let SecondAttempts { of_job, running, of_all, slots } = seconds;
        let part = |share: Fraction, of: u32| share.get() * f64::from(of);
        match self {
            Self::Hadoop020(_) => true,
            // As in JobInProgress.atSpeculativeCap, one more attempt is allowed as long as one of
            // the three bounds is not reached.
            Self::Hadoop021(Hadoop021Options { cap, always, always_of_slots, .. }) => {
                of_job < always.get()
                    || f64::from(of_job) < part(always_of_slots, slots)
                    || f64::from(of_job) < part(cap, running)
            }
            // The paper's cap counts the attempts of all jobs; Hadoop's cap counts those of one
            // job.
            Self::Late(LateOptions { cap, .. }) => f64::from(of_all) < part(cap, slots),
        }
    }
}

impl Hadoop021Options {
    /// Returns whether a node is slow. Tasks took `own` seconds on average on this node; `all` are
    /// the averages of all nodes.
    pub(super) fn is_slow_node(self, own: f64, all: &[f64]) -> bool {
        // Without a finished task there is no mean, and no node is slow.
        spread(all).is_some_and(|(mean, deviation)| deviation * self.slow_node.get() < own - mean)
    }
}

impl LateOptions {
    /// Returns the least work that a node must have done to count as not slow; `all` is the work of
    /// each node.
    pub(super) fn least_work(self, all: &[f64]) -> f64 {
        statistics::quantile(all, self.slow_node.get()).unwrap_or(0.0)
    }
}

/// Sorts tasks by the time left at their rates, the longest first.
fn longest_first(tasks: impl Iterator<Item = (u32, f64, f64)>) -> Vec<u32> {
    // As in Hadoop: a task without a rate comes first, as it would never end. The bound prevents a
    // division by zero for a task that is almost done.
    let speed = |(_, rate, progress): &(u32, f64, f64)| rate / (1.0 - progress).max(0.0001);
    let mut tasks: Vec<_> = tasks.collect();
    // Tasks with the same time left are in the order of their numbers, so that every run is the
    // same.
    tasks.sort_by(|one, other| speed(one).total_cmp(&speed(other)).then(one.0.cmp(&other.0)));
    tasks.into_iter().map(|(index, ..)| index).collect()
}

/// Returns the mean and the standard deviation (with the divisor n, as in Hadoop); `None` without
/// values.
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let mean = statistics::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((mean, (squares / values.len() as f64).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::{Count, SimSpan};

    /// A task with one attempt, launched this many seconds ago, with this progress in a fresh
    /// report.
    fn runs(index: u32, secs: u64, progress: f64) -> BegunTask {
        let since = SimTime::from_micros(NOW.as_micros() - secs * 1_000_000);
        let alone = LoneAttempt { progress, since };
        BegunTask { index, rate: progress / secs as f64, alone: Some(alone) }
    }

    /// A task that took this many seconds.
    fn took(index: u32, secs: f64) -> BegunTask {
        BegunTask { index, rate: 1.0 / secs, alone: None }
    }

    const NOW: SimTime = SimTime::from_micros(1_000_000_000);

    fn slow(rule: Rule, average: f64, begun: &[BegunTask]) -> Vec<u32> {
        rule.slow(ReportedTasks { now: NOW, average, begun })
    }

    #[test]
    fn by_0_20_what_is_a_fifth_behind_the_average_is_slow() {
        let rule = Rule::Hadoop020(Hadoop020Options::default());
        // Of five tasks two are done; the others are at 75 %, 50 % and 25 %: the mean is 70 %.
        let begun =
            [took(0, 80.0), took(1, 80.0), runs(2, 90, 0.75), runs(3, 90, 0.5), runs(4, 90, 0.25)];
        assert_eq!(slow(rule, 0.7, &begun), [4], "half is 19.99… % behind, as floats have it");
        assert_eq!(slow(rule, 0.75, &begun), [3, 4], "in the order of their numbers");
        let young = [runs(2, 59, 0.0), runs(3, 60, 0.0)];
        assert_eq!(slow(rule, 0.7, &young), [3], "a minute must have passed");
        let rule = Rule::Hadoop020(Hadoop020Options {
            gap: Fraction::of(0.5),
            ..Hadoop020Options::default()
        });
        assert_eq!(slow(rule, 0.75, &begun), [4]);
    }

    #[test]
    fn by_0_21_what_is_a_deviation_below_the_mean_rate_is_slow() {
        let rule = |slow_task| {
            let slow_task = mumakil_base::units::Factor::of(slow_task);
            Rule::Hadoop021(Hadoop021Options { slow_task, ..Hadoop021Options::default() })
        };
        // Rates of 10, 10, 4 and 2 in a thousand: the mean is 6.5, the deviation 3.57. So 4 is 0.7
        // deviations below the mean, and 2 is 1.26.
        let begun = [took(0, 100.0), took(1, 100.0), runs(2, 100, 0.4), runs(3, 100, 0.2)];
        assert_eq!(slow(rule(1.0), 0.0, &begun), [3]);
        assert_eq!(slow(rule(0.5), 0.0, &begun), [3, 2], "150 s are left of 2, 400 s of 3");
        assert!(slow(rule(1.3), 0.0, &begun).is_empty());
        // A task that has just begun lowers the mean, and has no rate yet.
        let all = [begun[0], begun[1], begun[2], begun[3], runs(4, 10, 0.0)];
        assert!(slow(rule(1.0), 0.0, &all).iter().all(|index| *index != 4), "it is too young");
    }

    #[test]
    fn equal_rates_are_not_slow() {
        let begun: Vec<BegunTask> = (0..7).map(|index| runs(index, 90, 0.3)).collect();
        for rule in
            [Rule::Hadoop021(Hadoop021Options::default()), Rule::Late(LateOptions::default())]
        {
            assert!(slow(rule, 0.3, &begun).is_empty(), "{rule:?}");
        }
    }

    #[test]
    fn by_late_what_is_in_the_lowest_quarter_is_slow_and_the_longest_left_is_first() {
        let rule = Rule::Late(LateOptions::default());
        // The rates, in thousandths a second, are four times 10, then 5, 4 and 3. The quarter lies
        // at position 1.5 of the seven, between 4 and 5: 4.5. At the rate 4 the task at 80 % has 50
        // s left; at the rate 3 the task at 90 % has 33 s left.
        let mut begun: Vec<BegunTask> = (0..4).map(|index| took(index, 100.0)).collect();
        begun.extend([runs(4, 100, 0.5), runs(5, 200, 0.8), runs(6, 300, 0.9)]);
        assert_eq!(slow(rule, 0.0, &begun), [5, 6]);
        let half =
            Rule::Late(LateOptions { slow_task: Fraction::of(0.5), ..LateOptions::default() });
        assert_eq!(slow(half, 0.0, &begun), [4, 5, 6], "100 s are left of 4");
    }

    #[test]
    fn a_task_with_a_rival_or_waiting_for_its_commit_is_not_tried_again() {
        let with_rival = BegunTask { alone: None, ..runs(1, 500, 0.1) };
        let begun = [took(0, 100.0), took(2, 100.0), took(3, 100.0), with_rival];
        for rule in [
            Rule::Hadoop020(Hadoop020Options::default()),
            Rule::Hadoop021(Hadoop021Options::default()),
            Rule::Late(LateOptions::default()),
        ] {
            assert!(slow(rule, 0.9, &begun).is_empty(), "{rule:?}");
        }
    }

    #[test]
    fn no_more_than_a_part_is_tried_again() {
        let seconds = SecondAttempts { of_job: 10, running: 100, of_all: 10, slots: 90 };
        assert!(Rule::Hadoop020(Hadoop020Options::default()).has_room(seconds));
        let late = Rule::Late(LateOptions::default());
        assert!(!late.has_room(seconds), "ten are more than a tenth of 90 slots");
        assert!(late.has_room(SecondAttempts { of_all: 8, ..seconds }));
        assert!(
            late.has_room(SecondAttempts { of_all: 0, slots: 2, ..seconds }),
            "the first always may"
        );
        let rates = Rule::Hadoop021(Hadoop021Options::default());
        assert!(!rates.has_room(seconds), "ten are a tenth of the hundred that run");
        assert!(
            rates.has_room(SecondAttempts { of_job: 9, running: 10, ..seconds }),
            "nine always may"
        );
        assert!(rates.has_room(SecondAttempts { running: 101, ..seconds }));
        assert!(
            rates.has_room(SecondAttempts { slots: 1_001, ..seconds }),
            "a hundredth of the slots"
        );
        let none = Hadoop021Options { always: Count::of(0), ..Hadoop021Options::default() };
        assert!(!Rule::Hadoop021(none).has_room(SecondAttempts {
            of_job: 1,
            running: 5,
            ..seconds
        }));
    }

    #[test]
    fn a_node_is_slow_by_what_tasks_take_there_or_by_what_it_has_done() {
        // The mean of the means is 130 s, their deviation 42.4 s.
        let means = [100.0, 100.0, 190.0];
        assert!(Hadoop021Options::default().is_slow_node(190.0, &means));
        assert!(!Hadoop021Options::default().is_slow_node(100.0, &means));
        assert!(!Hadoop021Options::default().is_slow_node(100.0, &[100.0]), "alone it is like all");
        // The lowest quarter of four values ends three quarters of the way from the first to the
        // second.
        assert_eq!(LateOptions::default().least_work(&[8.0, 2.0, 6.0, 7.0]), 5.0);
        assert_eq!(LateOptions::default().least_work(&[]), 0.0);
    }

    #[test]
    fn the_lag_is_an_option() {
        let rule =
            Rule::Late(LateOptions { after: SimSpan::from_secs(5), ..LateOptions::default() });
        let begun = [took(0, 10.0), took(1, 10.0), took(2, 10.0), runs(3, 6, 0.1)];
        assert_eq!(slow(rule, 0.0, &begun), [3]);
        assert!(slow(Rule::Late(LateOptions::default()), 0.0, &begun).is_empty());
    }
}
