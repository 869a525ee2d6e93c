//! The memory of a node. Suspended attempts keep their memory, and are paged out if the node's
//! memory does not suffice.
//!
//! An attempt that starts or resumes waits for its memory. Suspended attempts are written to disk
//! to make room, the longest suspended first. If the attempt itself was paged out, it is read back.
//! Running attempts are never paged out.

use super::AttemptId;
use crate::cluster::{Node, SwapSpec};
use mumakil_base::units::{Bytes, Rate, SimSpan};

/// The memory of one node.
#[derive(Debug)]
pub(super) struct Memory {
    size: Bytes,
    disk: Rate,
    swap: Option<SwapSpec>,
    /// The suspended processes in the order of suspension, then the running ones.
    processes: Vec<AttemptMemory>,
}

#[derive(Debug)]
struct AttemptMemory {
    attempt: AttemptId,
    resident: Bytes,
    paged_out: Bytes,
    is_stopped: bool,
}

impl Memory {
    pub(super) fn new(node: &Node) -> Self {
        Self { size: node.memory, disk: node.disk, swap: node.swap, processes: Vec::new() }
    }

    /// Returns how long it takes to move these amounts to or from the disk, one after another.
    fn moving(&self, moves: &[Bytes]) -> SimSpan {
        let all: Bytes = moves.iter().copied().sum();
        let Some(SwapSpec { beyond, rate }) = self.swap else { return self.disk.time_for(all) };
        // The bound holds for each move alone: only the bytes of a single move beyond the bound are
        // slow.
        let slow: Bytes = moves.iter().map(|bytes| bytes.saturating_sub(beyond)).sum();
        self.disk.time_for(all.saturating_sub(slow)) + rate.time_for(slow)
    }

    /// Gives a new process its memory; returns how long the process waits for it.
    pub(super) fn start(&mut self, attempt: AttemptId, memory: Bytes) -> SimSpan {
        let written = self.make_room(memory);
        self.processes.push(AttemptMemory {
            attempt,
            resident: memory,
            paged_out: Bytes::ZERO,
            is_stopped: false,
        });
        self.moving(&[written])
    }

    /// Notes that a process is suspended and may be paged out.
    pub(super) fn stop(&mut self, attempt: AttemptId) {
        let process = self.take_out(attempt);
        // Insert it behind processes that were suspended before and in front of running ones:
        // `make_room` takes from the front, and ends at the first running process.
        let after_stopped = self.processes.iter().take_while(|p| p.is_stopped).count();
        self.processes.insert(after_stopped, AttemptMemory { is_stopped: true, ..process });
    }

    /// Resumes a suspended process; returns how long it waits for its memory.
    pub(super) fn go_on(&mut self, attempt: AttemptId) -> SimSpan {
        let mut process = self.take_out(attempt);
        let read = process.paged_out;
        // The resident part of the process stays in memory while room is made for the rest.
        let written = self.make_room(process.resident + read);
        process.resident = process.resident + read;
        process.paged_out = Bytes::ZERO;
        process.is_stopped = false;
        self.processes.push(process);
        self.moving(&[read, written])
    }

    /// Frees the memory of a process that has ended; an attempt that never started has none.
    pub(super) fn end(&mut self, attempt: AttemptId) {
        self.processes.retain(|process| process.attempt != attempt);
    }

    /// Pages suspended processes out until `wanted` fits; returns how much was written.
    fn make_room(&mut self, wanted: Bytes) -> Bytes {
        let used: Bytes = self.processes.iter().map(|process| process.resident).sum();
        let mut missing = (used + wanted).saturating_sub(self.size);
        let mut written = Bytes::ZERO;
        // If all suspended processes are not enough, the rest is overcommitted and costs nothing:
        // running processes are never paged out.
        for process in self.processes.iter_mut().take_while(|process| process.is_stopped) {
            let out = process.resident.min(missing);
            process.resident = process.resident.saturating_sub(out);
            process.paged_out = process.paged_out + out;
            missing = missing.saturating_sub(out);
            written = written + out;
        }
        written
    }

    /// Returns the memory that processes leave free.
    pub(super) fn left(&self) -> Bytes {
        self.size.saturating_sub(self.processes.iter().map(|process| process.resident).sum())
    }

    /// Returns how many processes have memory here.
    pub(super) fn processes(&self) -> usize {
        self.processes.len()
    }

    fn take_out(&mut self, attempt: AttemptId) -> AttemptMemory {
        let index = self.processes.iter().position(|process| process.attempt == attempt);
        // Each attempt that got a slot has a process here until it ends.
        self.processes.remove(index.unwrap_or_else(|| panic!("{attempt} has no process here")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::ids::{JobId, TaskId, TaskKind};

    fn attempt(index: u32) -> AttemptId {
        TaskId { job: JobId(0), kind: TaskKind::Reduce, index }.attempt(0)
    }

    fn gb(gigabytes: u64) -> Bytes {
        Bytes::new(gigabytes * 1_000_000_000)
    }

    /// Returns the memory of a node whose disk moves 100 MB a second.
    fn memory(size: Bytes, swap: Option<SwapSpec>) -> Memory {
        Memory { size, disk: Rate::from_mb_per_s(100), swap, processes: Vec::new() }
    }

    #[test]
    fn bytes_beyond_a_bound_move_slower() {
        let swap = SwapSpec { beyond: gb(5), rate: Rate::from_mb_per_s(50) };
        let mut memory = memory(gb(6), Some(swap));
        memory.start(attempt(0), gb(6));
        memory.stop(attempt(0));
        // 5 GB move at 100 MB/s and one more at 50 MB/s, both out and in.
        assert_eq!(memory.start(attempt(1), gb(6)), SimSpan::from_secs(50 + 20));
        memory.end(attempt(1));
        assert_eq!(memory.go_on(attempt(0)), SimSpan::from_secs(50 + 20));
    }

    #[test]
    fn nobody_waits_while_everything_fits() {
        let mut memory = memory(gb(8), None);
        assert_eq!(memory.start(attempt(0), gb(4)), SimSpan::ZERO);
        memory.stop(attempt(0));
        assert_eq!(memory.start(attempt(1), gb(4)), SimSpan::ZERO);
        memory.end(attempt(1));
        assert_eq!(memory.go_on(attempt(0)), SimSpan::ZERO);
    }

    #[test]
    fn two_gigabytes_out_and_in_take_forty_seconds_at_a_hundred_megabytes_a_second() {
        let mut memory = memory(gb(8), None);
        memory.start(attempt(0), gb(8));
        memory.stop(attempt(0));
        assert_eq!(memory.start(attempt(1), gb(2)), SimSpan::from_secs(20));
        memory.end(attempt(1));
        assert_eq!(memory.go_on(attempt(0)), SimSpan::from_secs(20));
    }

    #[test]
    fn running_processes_are_never_paged_out() {
        let mut memory = memory(gb(4), None);
        memory.start(attempt(0), gb(4));
        assert_eq!(memory.start(attempt(1), gb(4)), SimSpan::ZERO);
    }

    #[test]
    fn the_longest_stopped_is_paged_out_first() {
        let mut memory = memory(gb(8), None);
        memory.start(attempt(0), gb(4));
        memory.start(attempt(1), gb(4));
        memory.stop(attempt(1));
        memory.stop(attempt(0));
        memory.start(attempt(2), gb(4));
        assert_eq!(memory.go_on(attempt(0)), SimSpan::ZERO, "number 1 lies on disk");
    }
}
