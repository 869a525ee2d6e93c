//! The part of the ResourceManager that gives nodes to applications: the books, and the trait of
//! the three schedulers.
//!
//! ```text
//! asks    what one application asks for, and how an allocation lowers it
//! books   nodes, applications and containers, as all schedulers count them
//! waits   why applications wait
//! java    orders that come from Java's collections
//! tree    queues below queues
//! ```

pub(crate) mod asks;
pub(crate) mod books;
pub(crate) mod java;
pub(crate) mod tree;
pub(crate) mod waits;

use crate::checker::QueueCeiling;
use crate::event::ShareReading;
use crate::message::{AppId, ContainerId, NodeId, SchedulerTick};
use crate::size::{SizeCalculator, SizeLimits, YarnSize};
use books::{ClusterBooks, FreedContainer};
use mumakil_base::units::{SimSpan, SimTime};

/// A scheduler of YARN. It changes the books by itself; the ResourceManager does the rest.
pub(crate) trait YarnScheduler: Send {
    /// Returns the ticks that it wants: the first instant and the interval of each.
    fn ticks(&self) -> Vec<(SchedulerTick, SimTime, SimSpan)> {
        Vec::new()
    }

    /// Returns how it compares sizes, and rounds that of a master which the ResourceManager starts.
    fn calculator(&self) -> SizeCalculator {
        SizeCalculator::Memory
    }

    /// Returns the size of a container for an ask: in steps of the smallest container, unless a
    /// scheduler has steps of its own.
    fn normalised(&self, books: &ClusterBooks, ask: YarnSize) -> YarnSize {
        let limits = books.real_limits();
        self.calculator().normalised(ask, SizeLimits { increment: limits.minimum, ..limits })
    }

    /// Notes that a node has come or gone.
    fn nodes_changed(&mut self, _books: &mut ClusterBooks) {}

    /// Adds an application, whose user, queue and master stand in the books; the error says why it
    /// is refused.
    fn submit(&mut self, books: &mut ClusterBooks, app: AppId) -> Result<(), String>;

    /// Returns the limits of the queue of an application and of those above.
    fn ceilings(&self, _app: AppId) -> Vec<QueueCeiling> {
        Vec::new()
    }

    /// Returns how much more an application may get at present, and how to compare with that.
    fn headroom(&self, books: &ClusterBooks, app: AppId) -> (YarnSize, SizeCalculator);

    /// Removes an application whose containers are gone.
    fn leave(&mut self, books: &mut ClusterBooks, app: AppId);

    /// Notes that a container or a reservation has gone.
    fn freed(&mut self, books: &mut ClusterBooks, freed: &FreedContainer);

    /// Gives the room of a node away, after its heartbeat. The error is a fault that would end the
    /// ResourceManager.
    fn offer(
        &mut self,
        books: &mut ClusterBooks,
        node: NodeId,
        has_ends: bool,
    ) -> Result<(), String>;

    /// Returns whether the queue of an application has all that it may have.
    fn is_full(&self, _app: AppId) -> bool {
        false
    }

    /// Does a round.
    fn tick(&mut self, _books: &mut ClusterBooks, _tick: SchedulerTick) {}

    /// Returns the shares to tell after an update.
    fn shares(&mut self, _books: &ClusterBooks) -> Vec<ShareReading> {
        Vec::new()
    }
}

/// Ends a container or a reservation in the books and for the scheduler.
pub(crate) fn end_container(
    scheduler: &mut (impl YarnScheduler + ?Sized),
    books: &mut ClusterBooks,
    id: ContainerId,
    end: crate::message::ContainerEnd,
) {
    if let Some(freed) = books.end(id, end) {
        scheduler.freed(books, &freed);
    }
}
