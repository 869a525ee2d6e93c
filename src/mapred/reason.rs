//! Why a task got a slot, or lost it: a policy's answer, small enough to travel with every
//! directive and turned into words only when somebody reads it.

use std::fmt;

use super::JobId;
use crate::units::SimSpan;
use crate::units::tell::{self, Detail};

/// Why a directive was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The job's setup or cleanup: offered before any policy is asked.
    JobService,
    /// The output of an attempt that ended badly is removed.
    TaskCleanup,
    /// The job stood at this place of the line, from 0, and those before it had nothing for the
    /// node.
    InLine(u32),
    /// As [`Reason::InLine`], without input in the node's rack.
    InLineFar(u32),
    /// The job was passed over for this long, for want of input near the nodes that had a slot.
    Waited(SimSpan),
    /// The job had less than its share of the slots than any other that could use the slot.
    Share,
    /// The attempt's slot is needed by another job.
    PreemptedFor(JobId),
    /// Another attempt of the task was first.
    LostRace,
    /// The attempt's job has ended.
    JobOver,
    /// Words of a policy of one's own.
    Other(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JobService => f.write_str("before any policy"),
            Self::TaskCleanup => f.write_str("cleaning up after an attempt"),
            Self::InLine(0) => f.write_str("head of line"),
            Self::InLine(place) => write!(f, "place {} in line", u64::from(*place) + 1),
            Self::InLineFar(0) => f.write_str("head of line, no local input"),
            Self::InLineFar(place) => {
                write!(f, "place {} in line, no local input", u64::from(*place) + 1)
            }
            Self::Waited(wait) => {
                // In seconds whatever it comes to, as it is in files that programs read.
                let wait = tell::time(wait.as_secs_f64(), Detail::Like(1.0));
                write!(f, "after {wait} of waiting for a place near its input")
            }
            Self::Share => f.write_str("furthest below its share"),
            Self::PreemptedFor(job) => write!(f, "preempted for {job}"),
            Self::LostRace => f.write_str("another attempt was first"),
            Self::JobOver => f.write_str("the job has ended"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_small_and_speaks() {
        assert!(size_of::<Reason>() <= 24);
        assert_eq!(Reason::InLine(0).to_string(), "head of line");
        assert_eq!(Reason::InLine(2).to_string(), "place 3 in line");
        let longer = Reason::Waited(SimSpan::from_millis(64_200)).to_string();
        assert_eq!(longer, "after 64.2 s of waiting for a place near its input");
        let waited = Reason::Waited(SimSpan::from_millis(4_200));
        assert_eq!(waited.to_string(), "after 4.2 s of waiting for a place near its input");
    }
}
