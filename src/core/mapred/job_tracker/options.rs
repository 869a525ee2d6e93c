//! The wishes of a run to its JobTracker, beside the settings of Hadoop.

use crate::mapred::hadoop::Hadoop;
use crate::mapred::refusals::Refusals;
use crate::mapred::scheduler::{PolicyReload, Scheduler};
use crate::mapred::speculation::Speculation;
use mumakil_base::with_defaults;

with_defaults! {
    /// The wishes of a run to its JobTracker, beside the settings of Hadoop. The default suits every run; the
    /// other values save work where nothing comes of it.
    pub struct JobTrackerOptions {
        /// Draws how long the process had run when the run began or, with the draws of Mumak, the values
        /// that traces leave open for attempts. Without a seed the process starts with the run, and
        /// trackers draw.
        pub seed: Option<u64>,
        /// The policies that take over one after another: each time the process dies, and at each
        /// [`ToJobTracker::ChangePolicy`](crate::mapred::ToJobTracker::ChangePolicy). The last one stays.
        pub successors: Vec<Box<dyn Scheduler>>,
        /// The options that policies read again, one at each
        /// [`ToJobTracker::Reload`](crate::mapred::ToJobTracker::Reload).
        pub reloads: Vec<PolicyReload>,
        /// Whether it notes why jobs with a task to launch get no slot.
        pub refusals: NotedRefusals = NotedRefusals::None,
        /// Whether it adds up the progress of each job's maps, for an injector that
        /// [asks](crate::mapred::ToJobTracker::AskLoad) how busy the cluster is. This costs a look-up for each map
        /// in every heartbeat.
        pub follows_maps: bool,
        /// Whether it emits the slots and shares of the policy's pools as they change. It looks about
        /// once in a heartbeat interval.
        pub tells_standings: bool,
        /// Whether it sends [`MapOutputs`](crate::mapred::MapOutputs) each change of the set of outputs that
        /// reduces may fetch.
        pub tells_outputs: bool,
        /// Whether it keeps its answers, because a heartbeat may be
        /// [sent again](crate::mapred::HeartbeatManner::resends) or doubled.
        pub may_hear_twice: bool = true,
        /// Whether trackers may leave out progress that neither a policy nor the search for slow tasks
        /// reads.
        pub forgoes_progress: bool,
    }
}

/// For whom a JobTracker notes refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotedRefusals {
    /// For nobody.
    None,
    /// For a watcher, who asks with [`WatchedJobTracker::waiting`](crate::mapred::WatchedJobTracker::waiting): the events are those of a
    /// run that notes nothing.
    Watched,
    /// For a watcher, and of lack of memory or cores for the run's events.
    OfRoom,
    /// For the run's events. They come at the latest when the run is
    /// [over](crate::mapred::ToJobTracker::Over).
    Emitted,
}

impl JobTrackerOptions {
    /// Returns whether trackers have to report progress.
    pub(super) fn asks_for_progress(&self, first: &dyn Scheduler, hadoop: &Hadoop) -> bool {
        let mut policies = self.successors.iter().map(|policy| &**policy).chain([first]);
        !self.forgoes_progress
            || self.follows_maps
            || hadoop.speculation != Speculation::Off
            || policies.any(|policy| policy.needs().reports || policy.needs().progress)
    }
}

impl NotedRefusals {
    pub(super) fn begin(self) -> Option<Refusals> {
        match self {
            Self::None => None,
            Self::Watched => Some(Refusals::silent()),
            Self::OfRoom => Some(Refusals::of_room()),
            Self::Emitted => Some(Refusals::default()),
        }
    }
}
