//! The page cache of a node: blocks that were read recently, in the memory that tasks leave free.
//!
//! A block enters as a whole when a read of it is done. If there is no room, the block that was
//! read least recently leaves. A real kernel caches single pages, and also written data and reads
//! that were cut short; here only blocks that jobs may read again matter.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::cluster::BlockId;
use mumakil_base::units::Bytes;

/// The blocks of its disks that a node keeps in memory.
#[derive(Debug, Default)]
pub(super) struct PageCache {
    /// The memory that tasks leave free.
    room: Bytes,
    used: Bytes,
    /// For each block, the number of its last read, and how much memory it takes.
    blocks: FxHashMap<BlockId, (u64, Bytes)>,
    by_last_read: BTreeMap<u64, BlockId>,
    reads: u64,
}

impl PageCache {
    /// Sets how much memory there is from now on; blocks that no longer fit leave.
    pub(super) fn set_room(&mut self, room: Bytes) {
        self.room = room;
        self.evict();
    }

    /// Returns whether the cache holds a block; asked as a read of it begins.
    pub(super) fn has(&self, block: BlockId) -> bool {
        self.blocks.contains_key(&block)
    }

    /// Notes that a block has been read, from memory or from disk; it is now the block read last.
    pub(super) fn note_read(&mut self, block: BlockId, bytes: Bytes) {
        self.reads += 1;
        // A block that was there already becomes the latest, and is not counted twice.
        if let Some((earlier, held)) = self.blocks.insert(block, (self.reads, bytes)) {
            self.by_last_read.remove(&earlier);
            self.used = self.used.saturating_sub(held);
        }
        self.by_last_read.insert(self.reads, block);
        self.used = self.used + bytes;
        self.evict();
    }

    fn evict(&mut self) {
        // A block larger than the room pushes out all others and then leaves itself, like a long
        // file that is read through a small page cache.
        while self.room < self.used
            && let Some((_, oldest)) = self.by_last_read.pop_first()
        {
            let (_, held) = self.blocks.remove(&oldest).expect("each block has one last read");
            self.used = self.used.saturating_sub(held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::FileId;

    fn block(place: u32) -> BlockId {
        BlockId { file: FileId(0), place }
    }

    /// A cache with room for three blocks of a gigabyte, after these reads.
    fn after(reads: &[u32]) -> PageCache {
        let mut cache = PageCache::default();
        cache.set_room(gb(3));
        reads.iter().for_each(|place| cache.note_read(block(*place), gb(1)));
        cache
    }

    fn gb(gigabytes: u64) -> Bytes {
        Bytes::new(gigabytes * 1_000_000_000)
    }

    fn held(cache: &PageCache) -> Vec<u32> {
        (0..10).filter(|place| cache.has(block(*place))).collect()
    }

    #[test]
    fn the_block_that_was_not_read_for_longest_goes_out_first() {
        assert_eq!(held(&after(&[0, 1, 2])), [0, 1, 2]);
        assert_eq!(held(&after(&[0, 1, 2, 0, 3])), [0, 2, 3], "0 was read again, 1 was not");
    }

    #[test]
    fn a_scan_of_more_than_fits_finds_nothing_when_it_comes_round() {
        let cache = after(&[0, 1, 2, 3]);
        assert!(!cache.has(block(0)));
    }

    #[test]
    fn memory_that_tasks_take_is_gone() {
        let mut cache = after(&[0, 1, 2]);
        cache.set_room(gb(1));
        assert_eq!(held(&cache), [2]);
        cache.set_room(gb(3));
        assert_eq!(held(&cache), [2]);
    }

    #[test]
    fn a_block_larger_than_the_memory_is_not_kept() {
        let mut cache = after(&[]);
        cache.note_read(block(0), gb(4));
        assert!(held(&cache).is_empty());
    }
}
