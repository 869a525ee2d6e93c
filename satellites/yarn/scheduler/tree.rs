//! A tree of queues; each has a number, the root has 0.

/// The number of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct YarnQueueId(usize);

/// Queues of a scheduler, each with the queue above it.
#[derive(Debug)]
pub(crate) struct YarnQueues<Q>(Vec<(Option<YarnQueueId>, Q)>);

impl<Q> Default for YarnQueues<Q> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Q> YarnQueues<Q> {
    pub(crate) const ROOT: YarnQueueId = YarnQueueId(0);

    pub(crate) fn push(&mut self, parent: Option<YarnQueueId>, queue: Q) -> YarnQueueId {
        self.0.push((parent, queue));
        YarnQueueId(self.0.len() - 1)
    }

    pub(crate) fn get(&self, id: YarnQueueId) -> &Q {
        &self.0[id.0].1
    }

    pub(crate) fn get_mut(&mut self, id: YarnQueueId) -> &mut Q {
        &mut self.0[id.0].1
    }

    pub(crate) fn parent(&self, id: YarnQueueId) -> Option<YarnQueueId> {
        self.0[id.0].0
    }

    /// Returns all queues in the order in which they were made.
    pub(crate) fn all(&self) -> impl Iterator<Item = YarnQueueId> + use<Q> {
        (0..self.0.len()).map(YarnQueueId)
    }

    /// Returns a queue and those above it, up to the root.
    pub(crate) fn upwards(&self, id: YarnQueueId) -> impl Iterator<Item = YarnQueueId> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Changes a queue and all above it.
    pub(crate) fn change_upwards(&mut self, id: YarnQueueId, change: impl Fn(&mut Q)) {
        let mut next = Some(id);
        while let Some(id) = next {
            change(self.get_mut(id));
            next = self.parent(id);
        }
    }
}
