//! Processes that work in the same folder share its runs: each takes the next free batch.
//!
//! ```text
//! claims/3f9a…      -> a-4711-18c…   process a has taken the batch that begins with run 3f9a…
//! claims/3f9a….2    -> b-1234-18d…   a was killed: b has taken its missing runs over
//! claims/3f9a….5    -> e-9999-1a0…   five processes were killed: its runs are noted as failed
//! ```
//! Only one process can create a claim of a given name. The cost of a run need not be known: a
//! quick process takes more batches. Claims stay after their runs are done, since another process
//! may still see an old state of a shared disk. The next process that is alone in the folder
//! removes the claims.

#[cfg(not(unix))]
use std::io::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use mumakil_base::disk;
use mumakil_base::units::tell::counted;
use mumakil_run::output::OutputError;

use crate::plan::runs::Plan;
use crate::run::failed;
use crate::run::store::{CLAIMS, Store};
use crate::run::work::{NextRun, Shard};
use crate::watch::life_sign::{WallInstant, WriterState};
use crate::watch::sign_files::writer_state_of;

/// After this many killed processes, a batch is not begun again.
// Chosen: a cluster may take machines away by chance, but hardly five times for one batch.
const MOST_KILLED: usize = 5;

/// The missing runs of a study's shard, from which this process and others take batches.
#[derive(Debug)]
pub struct SharedRuns<'p> {
    plan: &'p Plan,
    store: Store,
    /// The name of this process's sign of life.
    sign: String,
    /// Batches that this process has not yet tried to take; it tries the last batch next.
    free: Vec<RunBatch>,
    /// Batches that other processes have taken.
    taken: Vec<RunBatch>,
    /// Runs that this process has taken but not begun; it begins the last run next.
    mine: Vec<usize>,
    /// The names of the runs that had failed at the last look.
    failed: FxHashSet<String>,
}

/// Runs that a process takes together.
#[derive(Debug)]
struct RunBatch {
    /// The name of its first claim. It is the name of the batch's first run in the plan, so all
    /// processes use the same name.
    name: String,
    /// The indices of its missing runs.
    missing: Vec<usize>,
}

/// The state of the processes that have claimed a batch.
#[derive(Debug, PartialEq, Eq)]
enum BatchHolders {
    /// One of these processes is at work.
    AtWork,
    /// All these processes have ended; `killed` of them were killed.
    Over { claims: usize, killed: usize },
}

impl<'p> SharedRuns<'p> {
    /// Returns the runs of a shard that are neither done nor noted as failed; `sign` is the name of
    /// this process's sign of life.
    pub fn new(
        plan: &'p Plan,
        shard: Shard,
        store: &Store,
        sign: &str,
    ) -> Result<Self, OutputError> {
        let (store, sign, failed) = (store.clone(), sign.to_owned(), failed::noted(store)?);
        let (free, taken, mine) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Self { plan, store, sign, free, taken, mine, failed };
        // Batches are taken from the end, where the values of an axis are mostly the largest. If
        // long runs begin first, all processes end at about the same time.
        for runs in plan.batches(shard) {
            let name = plan.runs[runs[0]].id.clone();
            let missing: Vec<usize> = runs.into_iter().filter(|run| all.is_open(*run)).collect();
            if !missing.is_empty() {
                all.free.push(RunBatch { name, missing });
            }
        }
        Ok(all)
    }

    /// Returns the number of missing runs in batches that this process has not yet tried to take.
    pub fn left(&self) -> usize {
        self.free.iter().map(|batch| batch.missing.len()).sum()
    }

    /// Takes a free batch, or takes over the batch of a process that has ended. Returns the next
    /// run, or the number of runs that another process took first; `None` if there is no batch to
    /// take.
    fn take(&mut self) -> Result<Option<NextRun>, OutputError> {
        if let Some(batch) = self.free.pop() {
            if self.claim(&batch, 1)? {
                self.mine = batch.missing;
                return Ok(self.mine.pop().map(NextRun::Run));
            }
            // Another process was quicker: look at this batch again when no batch is free.
            let of_others = batch.missing.len();
            self.taken.push(batch);
            return Ok(Some(NextRun::OfOthers(of_others)));
        }
        // No batch is free: see which runs of the other processes are done by now.
        self.store.refresh()?;
        self.failed = failed::noted(&self.store)?;
        for mut batch in std::mem::take(&mut self.taken) {
            batch.missing.retain(|run| self.is_open(*run));
            if batch.missing.is_empty() {
                continue;
            }
            // Take over one batch at most, and leave the rest to other processes.
            if self.mine.is_empty()
                && let BatchHolders::Over { claims, killed } = self.holders(&batch)?
            {
                // A run that kills its process, for example by using up the memory, would kill one
                // process after another.
                if MOST_KILLED <= killed {
                    self.give_up(&batch, killed)?;
                    continue;
                }
                // If this claim is refused, another process has just taken the batch over.
                if self.claim(&batch, claims + 1)? {
                    self.mine = batch.missing;
                    continue;
                }
            }
            self.taken.push(batch);
        }
        Ok(self.mine.pop().map(NextRun::Run))
    }

    /// Returns whether a run is neither done nor noted as failed.
    fn is_open(&self, run: usize) -> bool {
        let id = &self.plan.runs[run].id;
        !self.store.has(id) && !self.failed.contains(id)
    }

    /// Makes the claim with this number on a batch; returns `false` if another process was quicker.
    fn claim(&self, batch: &RunBatch, number: usize) -> Result<bool, OutputError> {
        let path = self.path(batch, number);
        let error = |source| OutputError::Write { path: path.clone(), source };
        disk::create_dir_all(path.parent().expect("it is in a folder")).map_err(error)?;
        match disk::change(&path, || say(&path, &self.sign)) {
            Ok(()) => Ok(true),
            Err(there) if there.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(error(source)),
        }
    }

    /// Returns the state of the processes that have claimed a batch.
    fn holders(&self, batch: &RunBatch) -> Result<BatchHolders, OutputError> {
        let (mut claims, mut killed) = (0, 0);
        loop {
            let path = self.path(batch, claims + 1);
            let sign = match said(&path) {
                Ok(sign) => sign,
                Err(none) if none.kind() == ErrorKind::NotFound => break,
                Err(source) => return Err(OutputError::Read { path, source }),
            };
            claims += 1;
            match writer_state_of(self.store.folder(), &sign, &path, WallInstant::now()) {
                WriterState::AtWork => return Ok(BatchHolders::AtWork),
                WriterState::Gone | WriterState::Silent => killed += 1,
                // Do not count a process that ended in order, for example by Ctrl-C: no run killed
                // it.
                WriterState::Ended(_) => {}
            }
        }
        Ok(BatchHolders::Over { claims, killed })
    }

    /// Notes the runs of a batch as failed, so that no process tries them again.
    fn give_up(&self, batch: &RunBatch, killed: usize) -> Result<(), OutputError> {
        let why = format!("{} that began it were killed", counted(killed as u64, "process"));
        for run in &batch.missing {
            let planned = &self.plan.runs[*run];
            let (what, scenario) = (self.plan.describe(*run), self.plan.scenario(planned));
            failed::note(&self.store, &planned.id, &what, &why, &scenario)?;
        }
        Ok(())
    }

    fn path(&self, batch: &RunBatch, number: usize) -> PathBuf {
        let more = if number == 1 { String::new() } else { format!(".{number}") };
        self.store.folder().join(CLAIMS).join(format!("{}{more}", batch.name))
    }
}

/// Makes a claim: a symbolic link that holds the name of the sign and leads to no file. A link
/// appears with its text in one step, while a new file would be empty for a moment.
#[cfg(unix)]
fn say(path: &Path, sign: &str) -> io::Result<()> {
    std::os::unix::fs::symlink(sign, path)
}

/// Returns the name of the sign to which a claim points.
#[cfg(unix)]
fn said(path: &Path) -> io::Result<String> {
    Ok(std::fs::read_link(path)?.to_string_lossy().into_owned())
}

#[cfg(not(unix))]
fn say(path: &Path, sign: &str) -> io::Result<()> {
    std::fs::File::create_new(path)?.write_all(sign.as_bytes())
}

#[cfg(not(unix))]
fn said(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path)
}

impl Iterator for SharedRuns<'_> {
    type Item = Result<NextRun, OutputError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.mine.pop() {
            Some(run) => Some(Ok(NextRun::Run(run))),
            None => self.take().transpose(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use tempfile::TempDir;

    use super::*;
    use crate::plan::spec::Study;
    use crate::watch::life_sign::{End, Life};
    use crate::watch::sign_files::{end_of_writer, write_sign};
    use mumakil_base::files::RESOLVED;
    use mumakil_scenario::Draft;

    fn plan(seeds: usize) -> Plan {
        let yaml = format!(
            "workload: {{jobs: [{{name: a, maps: 1, map_time: 1s}}]}}\nsweep: {{seeds: {seeds}}}"
        );
        let study = Study::of(Draft::of("test.yaml", &yaml).unwrap()).unwrap();
        Plan::new(&study, &crate::testing::registry()).unwrap()
    }

    /// A study's folder in which processes work; living processes hold the locks of their signs.
    struct Folder {
        room: TempDir,
        plan: Plan,
    }

    impl Folder {
        fn new(seeds: usize) -> Self {
            Self { room: TempDir::new().unwrap(), plan: plan(seeds) }
        }

        fn process(&self, sign: &str) -> SharedRuns<'_> {
            let store = Store::of(self.room.path()).unwrap();
            SharedRuns::new(&self.plan, Shard::WHOLE, &store, sign).unwrap()
        }

        /// Writes the sign of a process on this machine. The process counts as living until the
        /// returned file's lock is freed.
        fn sign(&self, name: &str, end: Option<End>) -> Option<File> {
            let machine = mumakil_run::output::machine();
            let mut life = Life::begin(machine, 1, WallInstant::now());
            end.into_iter().for_each(|end| life.ends(end, None));
            write_sign(self.room.path(), name, &life).unwrap()
        }

        /// Puts a run into the store.
        fn done(&self, run: usize) {
            let folder = self.room.path().join("runs").join(&self.plan.runs[run].id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(RESOLVED), "").unwrap();
        }
    }

    fn next(runs: &mut SharedRuns<'_>) -> Option<NextRun> {
        runs.next().transpose().unwrap()
    }

    #[test]
    fn each_run_is_for_one_process() {
        let folder = Folder::new(4);
        let _alive = ["a", "b"].map(|name| folder.sign(name, None));
        let (mut a, mut b) = (folder.process("a"), folder.process("b"));
        assert_eq!((a.left(), b.left()), (4, 4));
        assert_eq!(next(&mut a), Some(NextRun::Run(3)));
        assert_eq!(
            [next(&mut b), next(&mut b)],
            [Some(NextRun::OfOthers(1)), Some(NextRun::Run(2))]
        );
        assert_eq!(
            [next(&mut a), next(&mut a)],
            [Some(NextRun::OfOthers(1)), Some(NextRun::Run(1))]
        );
        (1..4).for_each(|run| folder.done(run));
        // One process comes later, and another sees an old state of the folder.
        let mut c = folder.process("c");
        assert_eq!([next(&mut c), next(&mut c)], [Some(NextRun::Run(0)), None]);
        assert_eq!([next(&mut b), next(&mut b)], [Some(NextRun::OfOthers(1)); 2]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ends_or_dies_leaves_its_runs_to_the_others() {
        let folder = Folder::new(3);
        let alive = folder.sign("a", None);
        let mut a = folder.process("a");
        assert_eq!([next(&mut a), next(&mut a)], [Some(NextRun::Run(2)), Some(NextRun::Run(1))]);
        let _alive = folder.sign("b", None);
        let mut b = folder.process("b");
        let others = Some(NextRun::OfOthers(1));
        assert_eq!(
            [next(&mut b), next(&mut b), next(&mut b)],
            [others, others, Some(NextRun::Run(0))]
        );
        assert_eq!(next(&mut b), None, "`a` is alive");
        folder.done(2);
        end_of_writer(alive);
        assert_eq!([next(&mut b), next(&mut b)], [Some(NextRun::Run(1)), None]);
        // Another process sees that the batch has been taken over.
        let mut c = folder.process("c");
        assert_eq!(next(&mut c), others);
        assert_eq!([next(&mut c), next(&mut c)], [others, None]);
        folder.sign("b", Some(End::ToldToEnd));
        assert_eq!(next(&mut c), Some(NextRun::Run(1)));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_run_that_ends_one_process_after_the_other_is_given_up() {
        let folder = Folder::new(1);
        for number in 0..MOST_KILLED {
            let name = format!("p{number}");
            let alive = folder.sign(&name, None);
            let mut process = folder.process(&name);
            assert_eq!(
                process
                    .find_map(|next| Some(next.unwrap()).filter(|next| *next == NextRun::Run(0))),
                Some(NextRun::Run(0))
            );
            end_of_writer(alive);
        }
        let mut last = folder.process("last");
        assert_eq!([next(&mut last), next(&mut last)], [Some(NextRun::OfOthers(1)), None]);
        let told = failed::read(&Store::of(folder.room.path()).unwrap()).unwrap();
        assert_eq!(told[&folder.plan.runs[0].id], "seed 42: 5 processes that began it were killed");
        assert_eq!(folder.process("later").left(), 0);
    }

    #[test]
    fn many_runs_are_taken_several_at_a_time() {
        let plan = plan(10_000);
        let batches: Vec<Vec<usize>> = plan.batches(Shard::WHOLE).collect();
        assert_eq!((batches.len(), batches[0].len()), (3_334, 3));
        let shards = (0..3).map(|index| plan.part(Shard { index, count: 3 }).count());
        assert_eq!(shards.collect::<Vec<_>>(), [3_334, 3_333, 3_333]);
    }
}
