//! A tree of queues; each has a number, the root has 0.

/// The number of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueueId(usize);

/// Queues of a scheduler, each with the queue above it.
#[derive(Debug)]
pub(crate) struct QueueTree<Q>(Vec<(Option<QueueId>, Q)>);

impl<Q> Default for QueueTree<Q> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Q> QueueTree<Q> {
    pub(crate) const ROOT: QueueId = QueueId(0);

    pub(crate) fn push(&mut self, parent: Option<QueueId>, queue: Q) -> QueueId {
        self.0.push((parent, queue));
        QueueId(self.0.len() - 1)
    }

    pub(crate) fn get(&self, id: QueueId) -> &Q {
        &self.0[id.0].1
    }

    pub(crate) fn get_mut(&mut self, id: QueueId) -> &mut Q {
        &mut self.0[id.0].1
    }

    pub(crate) fn parent(&self, id: QueueId) -> Option<QueueId> {
        self.0[id.0].0
    }

    /// Returns all queues in the order in which they were made.
    pub(crate) fn all(&self) -> impl Iterator<Item = QueueId> + use<Q> {
        (0..self.0.len()).map(QueueId)
    }

    /// Returns a queue and those above it, up to the root.
    pub(crate) fn upwards(&self, id: QueueId) -> impl Iterator<Item = QueueId> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// Changes a queue and all above it.
    pub(crate) fn change_upwards(&mut self, id: QueueId, change: impl Fn(&mut Q)) {
        let mut next = Some(id);
        while let Some(id) = next {
            change(self.get_mut(id));
            next = self.parent(id);
        }
    }
}
