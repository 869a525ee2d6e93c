//! The locality of fair sharing, with and without delay scheduling.
//!
//! From M. Zaharia, D. Borthakur, J. Sen Sarma, K. Elmeleegy, S. Shenker, I. Stoica: "Delay
//! Scheduling: A Simple Technique for Achieving Locality and Fairness in Cluster Scheduling",
//! EuroSys 2010; section numbers are those of the paper. In the paper all tasks take the same time,
//! a block may be on any node, and each free slot is on any node with the same probability.
//!
//! In the paper's formulas a job looks at `D` slots. Its Algorithm 2 skips a job `D` times and then
//! looks once more. After a job has waited without success, the algorithm launches the job's tasks
//! at once until one of them is local again (footnote 4). [`DelayedJob::exact_locality`] counts as
//! the algorithm does; the other functions count as the formulas do.

use super::{DomainError, MOST, check, count};

/// Jobs with equal shares that get back the slots that they release (section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StickySlots {
    /// How many jobs share the cluster: `1 / f` in the paper, so it need not be whole.
    pub jobs: f64,
    /// `R`, the copies of a block.
    pub replicas: f64,
    /// `L`, the slots of a node.
    pub slots: f64,
}

impl StickySlots {
    /// Returns the highest locality that such a job can have, `1 - (1 - f)^(R L)`: Figure 3.
    ///
    /// # Errors
    /// If a number is below one or too large, or if replicas or slots are not whole.
    pub fn locality(self) -> Result<f64, DomainError> {
        let Self { jobs, replicas, slots } = self;
        check("jobs", jobs, (1.0..=MOST).contains(&jobs), "a number from 1 to 1000000")?;
        count("replicas", replicas)?;
        count("slots", slots)?;
        Ok(some_of(1.0 / jobs, replicas * slots))
    }
}

/// A job that waits for local slots (section 3.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayedJob {
    /// `M`, the nodes of the cluster.
    pub nodes: f64,
    /// `R`, the copies of a block.
    pub replicas: f64,
    /// `N`, the job's tasks, each with a block of its own.
    pub tasks: f64,
}

impl DelayedJob {
    /// Returns the locality that a job at the head of the queue has without waiting: the share of
    /// the nodes that hold data for it (section 3.3.1), averaged over its tasks.
    ///
    /// # Errors
    /// If nodes, replicas or tasks are no whole numbers of at least one.
    pub fn head_of_line_locality(self) -> Result<f64, DomainError> {
        self.mean_locality(1.0)
    }

    /// Returns the locality without waiting if the copies of each block are on different nodes, as
    /// in HDFS: the mean of `1 - (1 - R/M)^K` over the tasks, with `K` tasks left. In the paper's
    /// formula, the copies of one block may share a node, but the first copies of all blocks are on
    /// different nodes, and so are all second copies. With more than a few blocks the paper's
    /// copies cover more nodes.
    ///
    /// # Errors
    /// If nodes, replicas or tasks are no whole numbers of at least one.
    pub fn head_of_line_locality_of_distinct(self) -> Result<f64, DomainError> {
        self.check()?;
        let near = (self.replicas / self.nodes).min(1.0);
        let far = 1.0 - near;
        // The sum of `far^K` is a geometric series.
        Ok(1.0 - far * some_of(near, self.tasks) / (self.tasks * near))
    }

    /// Returns the locality when each task looks at `skips` slots: the mean of `1 - (1 - p)^D` over
    /// the tasks, where `p` depends on the number of tasks left.
    ///
    /// # Errors
    /// If nodes, replicas or tasks are no whole numbers of at least one, or `skips` is out of its
    /// range.
    pub fn mean_locality(self, skips: f64) -> Result<f64, DomainError> {
        self.check()?;
        check_skips(skips)?;
        let near = self.preferred().map(|preferred| some_of(preferred, skips)).sum::<f64>();
        // Without a look at any slot no task is local, even with data on every node.
        let sure = if 0.0 < skips { self.sure_tasks() } else { 0.0 };
        Ok((near + sure) / self.tasks)
    }

    /// Returns the paper's lower bound of [`Self::mean_locality`], from which equation (2) follows:
    /// `1 - e^(-RD/M) / (N (1 - e^(-RD/M)))`, or zero if that is negative.
    ///
    /// # Errors
    /// The errors of [`Self::mean_locality`].
    pub fn least_locality(self, skips: f64) -> Result<f64, DomainError> {
        self.check()?;
        check_skips(skips)?;
        let exponent = self.replicas * skips / self.nodes;
        // Without a skip the quotient is infinite, and the bound is zero.
        Ok((1.0 - 1.0 / (self.tasks * exponent.exp_m1())).max(0.0))
    }

    /// Returns the expected locality under Algorithm 2 itself: a job that was skipped `skips`
    /// times does not wait again until it has launched a local task.
    ///
    /// A job is skipped a whole number of times, so `skips` is rounded up.
    ///
    /// # Errors
    /// The errors of [`Self::mean_locality`].
    pub fn exact_locality(self, skips: f64) -> Result<f64, DomainError> {
        self.check()?;
        check_skips(skips)?;
        // The probability that the next task may wait: the first task may, and so may each task
        // after a local one.
        let mut patient = 1.0;
        let mut local = self.sure_tasks();
        for preferred in self.preferred() {
            let chance =
                patient * some_of(preferred, skips.ceil() + 1.0) + (1.0 - patient) * preferred;
            local += chance;
            patient = chance;
        }
        Ok(local / self.tasks)
    }

    /// Returns the skips that are needed for a locality: equation (2), `-(M/R) ln(x / (1 + x))`
    /// with `x = (1 - locality) N`. The result is not rounded.
    ///
    /// # Errors
    /// If nodes, replicas or tasks are no whole numbers of at least one, or if the locality is 1,
    /// which no wait guarantees.
    pub fn skips_for(self, locality: f64) -> Result<f64, DomainError> {
        self.check()?;
        let allowed = "a share from 0 to less than 1";
        check("locality", locality, (0.0..1.0).contains(&locality), allowed)?;
        Ok(self.nodes / self.replicas * (1.0 / ((1.0 - locality) * self.tasks)).ln_1p())
    }

    fn check(self) -> Result<(), DomainError> {
        count("nodes", self.nodes)?;
        count("replicas", self.replicas)?;
        let allowed = "a whole number from 1 up";
        let tasks = self.tasks;
        check("tasks", tasks, tasks.is_finite() && tasks.fract() == 0.0 && 1.0 <= tasks, allowed)
    }

    /// Returns how many tasks are launched while more tasks are left than there are nodes; their
    /// `p` is 1.
    fn sure_tasks(self) -> f64 {
        (self.tasks - self.nodes).max(0.0)
    }

    /// Returns `p`, the share of the nodes that hold data for the job, at the launch of each later
    /// task: `1 - (1 - K/M)^R`, with `K` tasks left, descending.
    fn preferred(self) -> impl Iterator<Item = f64> {
        let left = self.tasks.min(self.nodes) as u32;
        (1..=left).rev().map(move |left| some_of(f64::from(left) / self.nodes, self.replicas))
    }
}

/// How long a job at the head of the queue is skipped (section 3.5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkippedTime {
    /// `D`, how often the job is skipped.
    pub skips: f64,
    /// `M`, the nodes of the cluster.
    pub nodes: f64,
    /// `L`, the slots of a node.
    pub slots: f64,
}

impl SkippedTime {
    /// Returns the longest wait for a local task, as a multiple of a task's duration: `D / (M L)`.
    ///
    /// # Errors
    /// If nodes or slots are no whole numbers of at least one, or `skips` is out of its range.
    pub fn task_lengths(self) -> Result<f64, DomainError> {
        check_skips(self.skips)?;
        count("nodes", self.nodes)?;
        count("slots", self.slots)?;
        Ok(self.skips / (self.nodes * self.slots))
    }
}

fn check_skips(skips: f64) -> Result<(), DomainError> {
    // Chosen: more skips than any job of a million nodes can use.
    check("skips", skips, (0.0..=1e9).contains(&skips), "a number from 0 to 1,000,000,000")
}

/// Returns the probability that at least one of `tries` tries succeeds: `1 - (1 - chance)^tries`.
fn some_of(chance: f64, tries: f64) -> f64 {
    // A plain power would lose a small chance to rounding.
    if tries == 0.0 { 0.0 } else { -(tries * (-chance).ln_1p()).exp_m1() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of section 3.5 on a hundred nodes.
    const EXAMPLE: DelayedJob = DelayedJob { nodes: 100.0, replicas: 3.0, tasks: 20.0 };

    fn sticky(jobs: f64, replicas: f64, slots: f64) -> f64 {
        StickySlots { jobs, replicas, slots }.locality().unwrap()
    }

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn figure_3_falls_below_80_per_cent_at_15_jobs_and_below_50_at_30() {
        assert!(sticky(15.0, 3.0, 6.0) < 0.8 && 0.7 < sticky(15.0, 3.0, 6.0));
        assert!(sticky(30.0, 3.0, 6.0) < 0.5 && 0.4 < sticky(30.0, 3.0, 6.0));
        near(sticky(10.0, 1.0, 1.0), 0.1, 1e-12);
        assert_eq!(sticky(1.0, 1.0, 1.0), 1.0);
    }

    #[test]
    fn sticky_slots_of_section_5_2_3_are_nearly_those_measured() {
        // Measured: 92 % with 5 jobs, 27 % with 50.
        near(sticky(5.0, 3.0, 4.0), 0.931, 5e-4);
        near(sticky(50.0, 3.0, 4.0), 0.215, 5e-4);
    }

    #[test]
    fn data_on_a_tenth_of_the_nodes_is_found_in_ten_looks_by_65_per_cent_and_in_forty_by_99() {
        let job = DelayedJob { nodes: 10.0, replicas: 1.0, tasks: 1.0 };
        near(job.head_of_line_locality().unwrap(), 0.1, 1e-12);
        near(job.mean_locality(10.0).unwrap(), 0.65, 5e-3);
        near(job.mean_locality(40.0).unwrap(), 0.99, 6e-3);
    }

    #[test]
    fn copies_on_different_nodes_come_to_a_little_less_at_the_head_of_the_line() {
        near(EXAMPLE.head_of_line_locality().unwrap(), 0.274, 5e-4);
        near(EXAMPLE.head_of_line_locality_of_distinct().unwrap(), 0.262, 5e-4);
        // Two copies on four nodes: half of the nodes hold a given block, and three quarters hold
        // at least one of two blocks.
        let job = DelayedJob { nodes: 4.0, replicas: 2.0, tasks: 2.0 };
        near(job.head_of_line_locality_of_distinct().unwrap(), (0.5 + 0.75) / 2.0, 1e-12);
        near(job.head_of_line_locality().unwrap(), (1.0 - 0.5625 + 1.0 - 0.25) / 2.0, 1e-12);
        let everywhere = DelayedJob { replicas: 5.0, ..job };
        assert_eq!(everywhere.head_of_line_locality_of_distinct().unwrap(), 1.0);
    }

    #[test]
    fn equation_2_asks_for_23_per_cent_of_the_nodes_and_a_35th_of_a_task() {
        let skips = EXAMPLE.skips_for(0.95).unwrap();
        near(skips / 100.0, 0.23, 2e-3);
        let waiting = SkippedTime { skips, nodes: 100.0, slots: 8.0 };
        near(waiting.task_lengths().unwrap(), 0.028, 1e-3);
    }

    #[test]
    fn a_job_that_gives_up_waiting_gets_a_little_less_than_the_paper_says() {
        let skips = EXAMPLE.skips_for(0.95).unwrap();
        near(EXAMPLE.mean_locality(skips).unwrap(), 0.951, 5e-4);
        // The paper's rule gives 24 skips here.
        near(EXAMPLE.exact_locality(skips).unwrap(), 0.936, 5e-4);
        near(EXAMPLE.exact_locality(23.0).unwrap(), 0.932, 5e-4);
    }

    /// Algorithm 2 by its states: the tasks left, and whether the job may wait.
    fn by_states(job: DelayedJob, left: f64, patient: bool, skips: i32) -> f64 {
        if left == 0.0 {
            return 0.0;
        }
        let miss = (1.0 - left / job.nodes).max(0.0).powf(job.replicas);
        let far = miss.powi(if patient { skips + 1 } else { 1 });
        let next = |patient| by_states(job, left - 1.0, patient, skips);
        (1.0 - far) * (1.0 + next(true)) + far * next(false)
    }

    #[test]
    fn the_exact_locality_is_that_of_the_algorithms_states() {
        for (nodes, tasks, skips) in [(100.0, 12.0, 24), (8.0, 14.0, 2), (5.0, 5.0, 0)] {
            let job = DelayedJob { nodes, replicas: 3.0, tasks };
            let exact = job.exact_locality(skips.into()).unwrap();
            near(exact, by_states(job, tasks, true, skips) / tasks, 1e-12);
        }
    }

    #[test]
    fn impossible_settings_are_named() {
        let error = |result: Result<f64, DomainError>| result.unwrap_err().to_string();
        let count = "it must be a whole number from 1 to 1000000";
        let nodes = DelayedJob { nodes: 0.0, ..EXAMPLE };
        assert_eq!(error(nodes.mean_locality(1.0)), format!("`nodes` is 0; {count}"));
        let replicas = DelayedJob { replicas: 1.5, ..EXAMPLE };
        assert_eq!(error(replicas.skips_for(0.5)), format!("`replicas` is 1.5; {count}"));
        assert_eq!(
            error(EXAMPLE.skips_for(1.0)),
            "`locality` is 1; it must be a share from 0 to less than 1"
        );
        for skips in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(EXAMPLE.exact_locality(skips).is_err());
        }
    }

    #[test]
    fn a_job_as_large_as_the_cluster_is_local_almost_everywhere() {
        let job = DelayedJob { tasks: 1e12, ..EXAMPLE };
        near(job.head_of_line_locality().unwrap(), 1.0, 1e-9);
        assert_eq!(job.mean_locality(0.0).unwrap(), 0.0);
    }

    /// Any job, and how often it is skipped.
    fn any() -> impl Strategy<Value = (DelayedJob, f64)> {
        (1..300_u32, 1..6_u32, 1..400_u32, 0.0..1e3).prop_map(|(nodes, replicas, tasks, skips)| {
            let [nodes, replicas, tasks] = [nodes, replicas, tasks].map(f64::from);
            (DelayedJob { nodes, replicas, tasks }, skips)
        })
    }

    proptest! {
        #[test]
        fn every_answer_is_a_share_and_the_bound_is_one((job, skips) in any()) {
            let mean = job.mean_locality(skips).unwrap();
            let least = job.least_locality(skips).unwrap();
            let exact = job.exact_locality(skips).unwrap();
            let distinct = job.head_of_line_locality_of_distinct().unwrap();
            prop_assert!((0.0..=1.0).contains(&distinct), "{distinct}");
            prop_assert!(0.0 <= least && least <= mean + 1e-12 && mean <= 1.0);
            prop_assert!((0.0..=1.0).contains(&exact));
        }

        #[test]
        fn waiting_longer_is_never_worse((job, skips) in any(), more in 0.0..100.0) {
            let climbs = |of: &dyn Fn(f64) -> f64| of(skips) <= of(skips + more) + 1e-12;
            prop_assert!(climbs(&|skips| job.mean_locality(skips).unwrap()));
            prop_assert!(climbs(&|skips| job.least_locality(skips).unwrap()));
            prop_assert!(climbs(&|skips| job.exact_locality(skips).unwrap()));
        }

        #[test]
        fn not_waiting_is_the_head_of_the_line((job, _) in any()) {
            let apart = job.exact_locality(0.0).unwrap() - job.head_of_line_locality().unwrap();
            prop_assert!(apart.abs() < 1e-12);
        }

        #[test]
        fn the_skips_for_a_locality_reach_it((job, _) in any(), locality in 0.0..0.999) {
            let least = job.least_locality(job.skips_for(locality).unwrap()).unwrap();
            prop_assert!((least - locality).abs() < 1e-9, "{least} for {locality}");
        }

        #[test]
        fn more_jobs_stick_worse_and_more_copies_better(
            jobs in 1.0..1e4, replicas in 1..10_u32, slots in 1..64_u32,
        ) {
            let (replicas, slots) = (f64::from(replicas), f64::from(slots));
            let one = sticky(jobs, replicas, slots);
            prop_assert!(sticky(jobs + 1.0, replicas, slots) <= one);
            prop_assert!(one <= sticky(jobs, replicas + 1.0, slots) && one <= 1.0);
        }
    }
}
