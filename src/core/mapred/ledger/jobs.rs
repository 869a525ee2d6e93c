//! The life of a job: submitted, initialised, running, cleaned up, ended.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{FileDemand, Ledger, entry};
use crate::cluster::{FileId, PerSlot, SlotKind, TrackerId};
use crate::mapred::event::{Fact, JobFact, Outcome};
use crate::mapred::ids::{JobId, TaskKind};
use crate::mapred::job::{Job, JobChange, JobState, Task};
use crate::mapred::map_cache::MapCache;
use crate::mapred::message::ToInjector;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;
use crate::mapred::spec::{Input, JobSpec, Split};
use crate::mapred::traced::TracedInit;
use mumakil_base::random::mumak::MumakJobs;
use mumakil_base::units::SimSpan;

impl Ledger {
    pub(crate) fn submit(&mut self, spec: Arc<JobSpec>, out: &mut Outbox) {
        let spec = self.heat(spec);
        let id = spec.id;
        if self.jobs.len() <= id.index() {
            // The workload numbers the jobs, which may arrive in another order.
            self.jobs.resize_with(id.index() + 1, || None);
        }
        out.emit(Fact::Job(spec.id, JobFact::Submitted(spec.clone())));
        let settings = spec.settings.on(&self.hadoop);
        let job = Job::new(spec, settings, out.now, self.files.clone());
        self.jobs[id.index()] = Some(Box::new(job));
        self.arrived += 1;
        self.open.insert(id);
        self.change(out.now, id, JobChange::Submitted);
    }

    /// Refuses a job that is being submitted. The ledger keeps nothing of it.
    pub(crate) fn refuse(&mut self, spec: &Arc<JobSpec>, reason: Reason, out: &mut Outbox) {
        out.emit(Fact::Job(spec.id, JobFact::Submitted(spec.clone())));
        out.emit(Fact::Job(spec.id, JobFact::SubmissionRefused(reason)));
        // The submission throws an exception in Hadoop, so for the client the job has failed.
        out.send(ToInjector::JobEnded(spec.id, Outcome::Failed));
        self.moved_at = out.now;
    }

    /// Adds a job to the readers of its file, and gives it the extra copies if the file is hot.
    fn heat(&mut self, mut spec: Arc<JobSpec>) -> Arc<JobSpec> {
        let Some(file) = self.file_of(&spec) else { return spec };
        let heat = self.heat.entry(file).or_default();
        heat.readers += 1;
        let more = self.hdfs.more_copies(heat.readers);
        if more == 0 {
            return spec;
        }
        // The extra copies of a block are made as soon as a job reads the block while the file is
        // hot, if a node with a copy can be read.
        if heat.blocks < spec.maps
            && !self.files.is_untouched()
            && let Some(input) = &spec.input
        {
            let mut first = Vec::new();
            let without_extra_copies = (heat.blocks..spec.maps).filter(|map| {
                input.locate(*map, &self.hdfs, &mut first);
                !self.files.can_read(input.block(spec.id, *map), &first)
            });
            heat.without_extra_copies =
                heat.without_extra_copies.iter().copied().chain(without_extra_copies).collect();
        }
        heat.blocks = heat.blocks.max(spec.maps);
        let found = heat.without_extra_copies.clone();
        if let Some(Input::File { more_copies, without_extra_copies, .. }) =
            &mut Arc::make_mut(&mut spec).input
        {
            (*more_copies, *without_extra_copies) = (more, found);
        }
        spec
    }

    /// Returns the file that a job reads; `None` if its number of readers does not matter.
    fn file_of(&self, spec: &JobSpec) -> Option<FileId> {
        match spec.input {
            // Readers matter only where hot files get more copies.
            Some(Input::File { file, .. }) => self.hdfs.has_hot_files().then_some(file),
            Some(Input::Splits(_)) | None => None,
        }
    }

    /// Returns how long reading a job's splits takes according to its trace; `None` if no trace
    /// says so.
    pub(crate) fn logged_reading(&self, id: JobId) -> Option<SimSpan> {
        match self.job(id)?.spec.traced.as_ref()?.service.init? {
            TracedInit::Reading(takes) => Some(takes),
            TracedInit::SinceSubmission(_) => None,
        }
    }

    /// Reads a job's splits; then its setup task may be launched or, without a setup, its maps and
    /// reduces.
    pub(crate) fn initialise(&mut self, id: JobId, out: &mut Outbox) {
        let job = entry(&mut self.jobs, id);
        // The job may have been killed while its splits were read.
        if job.state != JobState::Submitted {
            return;
        }
        // As in Mumak, a job fails at this point if the trace logs more maps than the job has.
        if job.spec.traced.as_ref().is_some_and(|traced| traced.is_unreadable) {
            return self.end_early(id, Outcome::Failed, out);
        }
        if let Some(mumak_draws) = &mut self.mumak_draws {
            place(&mut job.spec, mumak_draws);
        }
        let spec = job.spec.clone();
        let (topology, racks) = (&self.topology, &mut self.racks);
        job.cache = MapCache::new(spec.maps, |map, on| job.locate(map, on), topology, racks);
        // After a restart, new attempts have higher numbers, so that all attempts of a job have
        // different names.
        let first = job.first_attempt;
        job.maps.tasks.resize_with(spec.maps as usize, || Task::new(first));
        job.reduces.tasks.resize_with(spec.reduces as usize, || Task::new(first));
        job.maps.waiting = spec.maps;
        job.reduces.waiting = spec.reduces;
        job.waiting_reduces = (0..spec.reduces).collect();
        job.state = JobState::Preparing;
        job.initialised_at = out.now;
        out.emit(Fact::Job(id, JobFact::Initialised));
        self.change(out.now, id, JobChange::Initialised);
        if self.hadoop.setup_cleanup {
            self.wants_setup.insert(id);
        } else {
            self.start_job(id, out);
        }
    }

    pub(super) fn start_job(&mut self, id: JobId, out: &mut Outbox) {
        let now = out.now;
        let job = self.known_mut(id);
        let was = job.state;
        assert!(was == JobState::Preparing, "{now}: {id} begins to run, but was {was:?}");
        job.state = JobState::Running;
        job.running_at = now;
        self.running.insert(id);
        out.emit(Fact::Job(id, JobFact::Running));
        self.change(now, id, JobChange::Running);
        self.recount(now, id);
        self.close_if_worked_off(id, out);
    }

    /// Moves a job whose tasks have ended to its cleanup, or to its end.
    pub(super) fn close_if_worked_off(&mut self, id: JobId, out: &mut Outbox) {
        let job = self.known_mut(id);
        let is_over = match job.state {
            // A job that fails waits only for its cleanup, not for the attempts that it has killed.
            JobState::Running => job.verdict.is_some() || job.is_worked_off(),
            // A job that fails before it runs is cleaned up, too.
            JobState::Preparing => job.verdict.is_some(),
            JobState::Submitted | JobState::Cleaning | JobState::Ended(_) => false,
        };
        if !is_over {
            return;
        }
        job.state = JobState::Cleaning;
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        // The state decides whether its tasks still count as waiting and as load of the cluster.
        self.recount(out.now, id);
        if self.hadoop.setup_cleanup {
            self.wants_cleanup.insert(id);
        } else {
            self.end_job(id, out);
        }
    }

    pub(super) fn end_job(&mut self, id: JobId, out: &mut Outbox) {
        let now = out.now;
        let job = self.known_mut(id);
        let was = job.state;
        assert!(!matches!(was, JobState::Ended(_)), "{now}: {id} ends, but was {was:?}");
        let outcome = job.verdict.unwrap_or(Outcome::Succeeded);
        job.state = JobState::Ended(outcome);
        let spec = job.spec.clone();
        if let Some(file) = self.file_of(&spec) {
            let heat = self.heat.get_mut(&file).expect("each job that has arrived reads its file");
            heat.readers -= 1;
            if self.hdfs.more_copies(heat.readers) == 0 {
                // A file that is no longer hot loses its extra copies; they are made anew if it
                // becomes hot again.
                *heat = FileDemand { readers: heat.readers, ..FileDemand::default() };
            }
        }
        self.open.remove(&id);
        self.running.remove(&id);
        self.wants_setup.remove(&id);
        self.wants_cleanup.remove(&id);
        self.forget_outputs(id, out);
        // An attempt that still runs may be the slower one of a task, a second setup task, or work
        // of a job that has failed.
        for attempt in self.attempts_on(id, None) {
            self.end_needless_attempt(attempt, out);
        }
        self.recount(now, id);
        if let Some(refusals) = &mut self.refusals {
            refusals.ended(id, out);
        }
        out.emit(Fact::Job(id, JobFact::Ended(outcome)));
        // Only a job that succeeds shows that the trackers which it avoided are to blame; a job
        // that fails may itself be to blame.
        if outcome == Outcome::Succeeded {
            self.count_faults(id, out);
        }
        out.send(ToInjector::JobEnded(id, outcome));
        self.change(now, id, JobChange::Ended(outcome));
        self.forget_if_drained(id);
    }

    /// Ends a job early: its tasks are no longer launched, and its running attempts are killed.
    pub(crate) fn end_early(&mut self, id: JobId, verdict: Outcome, out: &mut Outbox) {
        // A client may kill a job before it arrives, after it has ended, or twice.
        let Some(job) = self.jobs.get_mut(id.index()).and_then(Option::as_deref_mut) else {
            return;
        };
        if matches!(job.state, JobState::Ended(_)) || job.verdict.is_some() {
            return;
        }
        job.verdict = Some(verdict);
        // As in Hadoop, a job that is not initialised ends at once, without a cleanup task.
        if job.state == JobState::Submitted {
            return self.end_job(id, out);
        }
        job.give_up_waiting();
        for attempt in self.attempts_on(id, None) {
            // A killed job must still be cleaned up, so a running cleanup task goes on.
            if attempt.task.kind != TaskKind::Cleanup {
                self.end_needless_attempt(attempt, out);
            }
        }
        self.close_if_worked_off(id, out);
    }

    /// Drops the tasks of an ended job when no tracker has an attempt of it any more.
    pub(super) fn forget_if_drained(&mut self, id: JobId) {
        let job = entry(&mut self.jobs, id);
        // While a tracker may report an attempt, its task must stay in the ledger.
        if matches!(job.state, JobState::Ended(_)) && job.open_tries == 0 {
            job.maps.tasks = Vec::new();
            job.reduces.tasks = Vec::new();
            job.cache = MapCache::default();
            // Drop the job's own snapshot of changed files, which would use memory as long as the
            // job's record exists.
            job.splits = self.unchanged.clone();
            job.unclean = PerSlot::default();
            job.failed_maps.clear();
            job.waiting_reduces = VecDeque::new();
            job.slow = PerSlot::default();
            job.times_on = PerSlot::default();
            job.barred = FxHashMap::default();
            job.lost_outputs.clear();
            job.failed_fetches.clear();
            for kind in SlotKind::BOTH {
                self.wants_task_cleanup[kind].remove(&id);
            }
        }
    }
}

/// Draws the nodes with the input of maps, if the trace does not name them.
fn place(spec: &mut Arc<JobSpec>, mumak_draws: &mut MumakJobs) {
    let Some(traced) = spec.traced.clone().filter(|traced| !traced.unplaced.0.is_empty()) else {
        return;
    };
    let Some(Input::Splits(splits)) = &spec.input else { return };
    let (maps, copies) = &traced.unplaced;
    let mut splits: Vec<Split> = splits.to_vec();
    for map in maps {
        let machines = mumak_draws.machines(spec.id.0, &spec.name, *copies);
        splits[*map as usize].holders = machines.iter().copied().map(TrackerId).collect();
    }
    // This changes a copy: the workload's own list of jobs stays as in the trace.
    Arc::make_mut(spec).input = Some(Input::Splits(splits.into()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Hdfs, HdfsSpec, Node, Topology};
    use crate::mapred::hadoop::{Hadoop, HadoopLine};
    use crate::mapred::replicas::Replicas;
    use mumakil_base::units::Bytes;

    /// Six nodes, with one copy of each block, and three copies of files that two jobs read.
    fn ledger() -> Ledger {
        let node = Node::plain(0, PerSlot { map: 1, reduce: 1 });
        let topology = Arc::new(Topology::from_nodes(vec![node; 6]));
        let spec =
            "{block: 1MiB, replication: 1, placement: random, hot: {jobs: 2, replication: 3}}";
        let spec: HdfsSpec = serde_yaml::from_str(spec).unwrap();
        let hdfs = Hdfs::of(1, topology.clone(), &spec);
        Ledger::new(Hadoop::of(HadoopLine::V020), topology, hdfs)
    }

    /// Submits a job of `maps` maps; returns the nodes with each block of the file, as the job
    /// finds them.
    fn submit(ledger: &mut Ledger, id: u32, maps: u32) -> Vec<Vec<TrackerId>> {
        let (split, without_extra_copies) = (Bytes::from_mib(1), [].into());
        let input = Input::File {
            file: FileId(0),
            split,
            last_split: split,
            more_copies: 0,
            without_extra_copies,
        };
        let spec = JobSpec { input: Some(input), ..JobSpec::bare(id, maps, 0) };
        ledger.submit(Arc::new(spec), &mut Outbox::default());
        let input = ledger.known(JobId(id)).spec.input.clone().unwrap();
        let locate = |map| {
            let mut holders = Vec::new();
            input.locate(map, &ledger.hdfs, &mut holders);
            holders
        };
        (0..maps).map(locate).collect()
    }

    fn counts(blocks: &[Vec<TrackerId>]) -> Vec<usize> {
        blocks.iter().map(Vec::len).collect()
    }

    #[test]
    fn a_hot_file_has_more_copies_only_of_what_could_be_read_when_it_became_hot() {
        let mut ledger = ledger();
        let usual = submit(&mut ledger, 0, 2);
        assert_eq!(counts(&usual), [1, 1]);
        assert_ne!(usual[0], usual[1]);
        let mut files = Replicas::clone(&ledger.files);
        files.wiped.insert_mut(usual[0][0]);
        ledger.files = Arc::new(files.clone());
        let hot = submit(&mut ledger, 1, 2);
        assert_eq!((counts(&hot), &hot[0]), (vec![1, 3], &usual[0]));
        // The block with extra copies keeps them though its first node is wiped now; the other
        // block gets none though its node can be read again.
        files.wiped = [usual[1][0]].into_iter().collect();
        ledger.files = Arc::new(files);
        assert_eq!(counts(&submit(&mut ledger, 2, 2)), [1, 3]);
        // The file was not hot in between, so its extra copies are made anew.
        for id in [0, 1, 2] {
            ledger.end_early(JobId(id), Outcome::Killed, &mut Outbox::default());
        }
        assert_eq!(counts(&submit(&mut ledger, 3, 2)), [1, 1]);
        assert_eq!(counts(&submit(&mut ledger, 4, 2)), [3, 1]);
    }

    #[test]
    fn unread_parts_of_a_hot_file_are_copied_when_somebody_reads_them() {
        let mut ledger = ledger();
        submit(&mut ledger, 0, 1);
        submit(&mut ledger, 1, 1);
        let third = {
            let mut holders = Vec::new();
            ledger.hdfs.locate(FileId(0), 2, 0, &mut holders);
            holders[0]
        };
        let mut files = Replicas::clone(&ledger.files);
        files.off.insert_mut(third);
        ledger.files = Arc::new(files);
        let found = submit(&mut ledger, 2, 3);
        assert_eq!((found[0].len(), found[2].len()), (3, 1));
    }
}
