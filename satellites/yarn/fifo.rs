//! FIFO: applications by number, and as many containers as fit, in one heartbeat.
//!
//! Queues are ignored, there are no reservations, and cores are not looked at. Locality costs
//! nothing: what is not asked for on the node is given away all the same.
//!
//! Hadoop has a bug here. Rack-local containers lower the row of the rack only, so the row of a
//! host may become larger than that of its rack. The loop over node-local containers then runs past
//! the rack's last one, and the ResourceManager ends. Here the run ends, too, and says so.

use crate::event::YarnWait;
use crate::message::{AppId, AskPriority, NodeId};
use crate::scheduler::YarnScheduler;
use crate::scheduler::asks::{AskRow, Closeness};
use crate::scheduler::books::{ClusterBooks, ContainerGrant, FreedContainer};
use crate::size::{SizeCalculator, YarnSize};

/// The FIFO scheduler: the applications that it knows, by number.
#[derive(Debug, Default)]
pub(crate) struct YarnFifo {
    apps: Vec<AppId>,
}

impl YarnScheduler for YarnFifo {
    fn submit(&mut self, _: &mut ClusterBooks, app: AppId) -> Result<(), String> {
        // A new attempt of an application comes where the former one was.
        let place = self.apps.partition_point(|it| *it < app);
        self.apps.insert(place, app);
        Ok(())
    }

    fn headroom(&self, books: &ClusterBooks, _: AppId) -> (YarnSize, SizeCalculator) {
        (books.total - books.used, SizeCalculator::Memory)
    }

    fn leave(&mut self, _: &mut ClusterBooks, app: AppId) {
        self.apps.retain(|it| *it != app);
    }

    fn freed(&mut self, _: &mut ClusterBooks, _: &FreedContainer) {}

    fn offer(&mut self, books: &mut ClusterBooks, node: NodeId, _: bool) -> Result<(), String> {
        let minimum = books.limits.minimum.memory;
        books.begin_offer();
        for app in &self.apps {
            if books.node(node).free.memory < minimum {
                break;
            }
            let priorities: Vec<AskPriority> = books.app(*app).asks.priorities().collect();
            for priority in priorities {
                if 0 < books.app(*app).asks.any(priority).count
                    && assign(books, node, *app, priority)? == 0
                {
                    books.note_wait(*app, YarnWait::Room);
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Gives the node's room to one priority of an application, the closest first, and returns how many
/// containers that made.
fn assign(
    books: &mut ClusterBooks,
    node: NodeId,
    app: AppId,
    priority: AskPriority,
) -> Result<i32, String> {
    let mut assigned = 0;
    for closeness in [Closeness::Node, Closeness::Rack, Closeness::Any] {
        let (places, asks) = (books.node(node).places, &books.app(app).asks);
        let any = asks.any(priority);
        let rack = asks.row(priority, places.rack);
        let row = match closeness {
            Closeness::Node => {
                asks.row(priority, places.host).filter(|_| rack.is_some_and(|rack| 0 < rack.count))
            }
            Closeness::Rack => rack.filter(|_| 0 < any.count),
            Closeness::Any => Some(any),
        };
        let Some(AskRow { size, count }) = row else { continue };
        let fitting = books.node(node).free.memory / size.memory;
        let containers = count.min(any.count).min(fitting);
        for _ in 0..containers.max(0) {
            let grant = ContainerGrant { id: books.next_container(app), size, priority };
            if !books.allocate(node, grant, closeness) {
                let name = &books.node(node).name;
                return Err(format!(
                    "the FIFO scheduler of Hadoop ends the ResourceManager here by a null pointer \
                     exception: application {} asks for more containers on {name} than in its rack",
                    app.0
                ));
            }
            assigned += 1;
        }
    }
    Ok(assigned)
}
