//! The resources of attempts that share disks, wires or cores.
//!
//! A map reads from the nearest node that holds its input; if several are equally near, from one of
//! them at random. A real map asks the file system for these nodes. Here a map asks only after a
//! fault has struck a node with its input ([`Replicas`](crate::mapred::Replicas)). An attempt
//! writes to one disk of its node, chosen at random. A map writes its output there; a reduce writes
//! there all that it fetches, and its output.

use std::sync::Arc;

use rand::RngExt;

use super::subject;
use crate::cluster::{
    BlockId, ClusterSpec, Demand, DiskId, Hdfs, NetworkModel, Resources, Topology, TrackerId,
};
use crate::mapred::ids::{AttemptId, TaskKind};
use crate::mapred::replicas::{Copy, ReplicaChoice, nearest};
use crate::mapred::spec::{Input, JobSpec};
use mumakil_base::random::{Purpose, stream};

/// The resources that attempts share, and the places of their input.
#[derive(Clone, Debug)]
pub struct ContendedResources {
    seed: u64,
    /// The resources.
    pub resources: Resources,
    hdfs: Hdfs,
    transfers: bool,
    cores: bool,
}

impl ContendedResources {
    /// Returns the shared resources of a cluster; `None` if transfers and computations share
    /// nothing.
    pub fn new(seed: u64, spec: &ClusterSpec, topology: Arc<Topology>, hdfs: Hdfs) -> Option<Self> {
        let (transfers, cores) = (spec.network.model == NetworkModel::Shared, spec.contention);
        let resources = Resources::new(spec, topology);
        (transfers || cores).then_some(Self { seed, resources, hdfs, transfers, cores })
    }

    /// Returns the resources for computing on a node; `None` if computations share no cores.
    pub(super) fn computing(&self, on: TrackerId) -> Option<Demand> {
        if self.cores { self.resources.compute(on) } else { None }
    }

    /// Returns the resources for reading a map's input; `None` if transfers share nothing.
    pub(super) fn reading(
        &self,
        job: &JobSpec,
        attempt: AttemptId,
        on: TrackerId,
        copy: Option<Copy>,
    ) -> Option<Demand> {
        self.transfers.then(|| {
            // A copy that was chosen because a fault struck a node overrides the usual choice.
            let copy = copy.or_else(|| self.nearest(job, attempt, on));
            let (from, place) = (self.source(job, attempt, on, copy), attempt.task.index);
            match &job.input {
                Some(input @ Input::File { file, .. }) => {
                    let block = BlockId { file: *file, place };
                    let bytes = input.bytes(place, job.maps);
                    self.resources.read_block(block, bytes, from, on)
                }
                // The splits of a trace belong to one job, so no other map reads them again from
                // memory.
                Some(Input::Splits(_)) | None => self.resources.read(from, on),
            }
        })
    }

    /// Returns whether nodes keep in memory the blocks that were read from their disks.
    pub fn has_page_caches(&self) -> bool {
        self.transfers && self.resources.has_page_caches
    }

    /// Returns the resources for writing an attempt's output; `None` if transfers share nothing.
    pub(super) fn writing(&self, attempt: AttemptId, on: TrackerId) -> Option<Demand> {
        self.transfers.then(|| self.resources.read(self.own_disk(attempt, on), on))
    }

    /// Returns the resources for a reduce's fetching; `None` if transfers share nothing.
    pub(super) fn fetching(&self, attempt: AttemptId, on: TrackerId) -> Option<Demand> {
        self.transfers.then(|| self.resources.fetch(self.own_disk(attempt, on)))
    }

    fn own_disk(&self, attempt: AttemptId, node: TrackerId) -> DiskId {
        let purpose = match attempt.task.kind {
            TaskKind::Reduce => Purpose::ReduceDisk,
            TaskKind::Map | TaskKind::Setup | TaskKind::Cleanup => Purpose::MapDisk,
        };
        // The draw depends on the attempt alone, so that a reduce uses one disk for fetching and
        // for writing.
        let mut rng = stream(self.seed, purpose, subject(attempt));
        DiskId { node, disk: rng.random_range(0..self.resources.disks) }
    }

    /// Returns the copy of the input that a map reads while no fault has struck a node with a copy.
    fn nearest(&self, job: &JobSpec, attempt: AttemptId, on: TrackerId) -> Option<Copy> {
        let mut holders = Vec::new();
        if let Some(input) = &job.input {
            input.locate(attempt.task.index, &self.hdfs, &mut holders);
        }
        let copies: Vec<Copy> = Copy::written(&holders).collect();
        let mut rng = stream(self.seed, Purpose::Source, subject(attempt));
        nearest(&copies, on, &self.resources.topology, &mut rng)
    }

    /// Returns the disk from which a map reads a copy: a disk of its own node, if no node with the
    /// input is known.
    fn source(
        &self,
        job: &JobSpec,
        attempt: AttemptId,
        on: TrackerId,
        copy: Option<Copy>,
    ) -> DiskId {
        let Copy { node, which } =
            copy.unwrap_or(Copy { node: on, which: ReplicaChoice::First(0) });
        DiskId { node, disk: self.block_disk(job, attempt, which) }
    }

    /// Returns the number of the disk, on the node with the copy, that holds a copy of a map's
    /// input. Maps that read the same block get the same disk.
    fn block_disk(&self, job: &JobSpec, attempt: AttemptId, copy: ReplicaChoice) -> u32 {
        // A file's block and a split of a trace may have the same number; then both are on the disk
        // of the same number, which does no harm.
        let block = match &job.input {
            Some(Input::File { file, .. }) => {
                u64::from(file.0) << 28 | u64::from(attempt.task.index)
            }
            Some(Input::Splits(_)) | None => subject(attempt.task.attempt(0)),
        };
        let (purpose, number) = match copy {
            ReplicaChoice::First(number) => (Purpose::BlockDisk, number),
            ReplicaChoice::Later(number) => (Purpose::CopyDisk, number),
        };
        let mut rng = stream(self.seed, purpose, block);
        // The first draw is for the first copy, and so on.
        let draws = (0..=number).map(|_| rng.random_range(0..self.resources.disks));
        draws.last().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{FileId, Placement};
    use crate::mapred::ids::{JobId, TaskId};
    use crate::mapred::spec::Split;
    use mumakil_base::units::{Bytes, Count};

    /// Six nodes in two racks; attempts share only reading.
    fn shared() -> ContendedResources {
        let plain = include_str!("../../../../scenarios/clusters/default.yaml");
        let mut spec: ClusterSpec = serde_yaml::from_str(plain).unwrap();
        (spec.nodes, spec.racks) = (Count::of(6), Count::of(2));
        spec.network.model = NetworkModel::Shared;
        let topology = Arc::new(Topology::new(&spec));
        let hdfs = Hdfs::new(1, topology.clone(), 3, Placement::Hadoop);
        ContendedResources::new(1, &spec, topology, hdfs).unwrap()
    }

    fn map(job: u32, index: u32, number: u32) -> AttemptId {
        TaskId { job: JobId(job), kind: TaskKind::Map, index }.attempt(number)
    }

    fn job(id: u32, input: Input) -> JobSpec {
        JobSpec { input: Some(input), ..JobSpec::bare(id, 100, 0) }
    }

    fn held_by(holders: &[u32]) -> JobSpec {
        let holders = holders.iter().copied().map(TrackerId).collect();
        job(0, Input::Splits([Split { bytes: Bytes::new(1), holders }].into()))
    }

    #[test]
    fn a_map_reads_from_the_nearest_node_that_holds_its_input() {
        let shared = shared();
        let source = |holders: &[u32]| {
            let nearest = shared.nearest(&held_by(holders), map(0, 0, 0), TrackerId(0));
            nearest.map(|copy| copy.node)
        };
        assert_eq!(source(&[5, 2, 0]), Some(TrackerId(0)));
        assert_eq!(source(&[5, 2, 4]), Some(TrackerId(2)));
        assert_eq!(source(&[5]), Some(TrackerId(5)));
        assert_eq!(source(&[]), None, "nobody knows where it is");
        let own = shared.source(&held_by(&[]), map(0, 0, 0), TrackerId(0), None);
        assert_eq!(own.node, TrackerId(0));
    }

    #[test]
    fn attempts_spread_over_the_copies_that_are_equally_near() {
        let shared = shared();
        let of_attempt =
            |number| shared.nearest(&held_by(&[1, 2]), map(0, 0, number), TrackerId(0)).unwrap();
        let second = (0..200).filter(|number| of_attempt(*number).node == TrackerId(2)).count();
        assert!((60..140).contains(&second), "{second}");
    }

    #[test]
    fn every_reader_finds_a_block_on_the_same_disk_and_blocks_are_spread() {
        let shared = shared();
        let file = |id| {
            let (split, last_split) = (Bytes::ZERO, Bytes::ZERO);
            job(
                id,
                Input::File {
                    file: FileId(0),
                    split,
                    last_split,
                    more_copies: 0,
                    without_extra_copies: [].into(),
                },
            )
        };
        let disk = |id, block, copy| {
            shared.block_disk(&file(id), map(id, block, 0), ReplicaChoice::First(copy))
        };
        assert!(
            (0..100).all(|block| (0..3).all(|copy| disk(0, block, copy) == disk(1, block, copy)))
        );
        for number in 0..4 {
            let on_it = (0..100).filter(|block| disk(0, *block, 1) == number).count();
            assert!((10..40).contains(&on_it), "{on_it} on disk {number}");
        }
    }
}
