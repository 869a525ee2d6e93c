//! Details of an incident beside its words.

use mumakil_base::units::Bytes;
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::{AttemptId, Incident};

/// Details of an incident, as far as it has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IncidentDetails {
    /// The speeds from then on.
    pub(super) speeds: Option<Speeds>,
    /// The attempt that it is about.
    pub(super) attempt: Option<AttemptId>,
    /// How many blocks are copied, and how much that is.
    pub(super) copies: Option<(u32, Bytes)>,
}

impl IncidentDetails {
    pub(super) fn of(incident: Incident) -> Self {
        let none = Self::default();
        match incident {
            Incident::Speeds(speeds) => Self { speeds: Some(speeds), ..none },
            Incident::Hangs(attempt) => Self { attempt: Some(attempt), ..none },
            Incident::CopyingBegins { blocks, bytes } | Incident::CopyingEnds { blocks, bytes } => {
                Self { copies: Some((blocks, bytes)), ..none }
            }
            Incident::MachineOff
            | Incident::MachineOn
            | Incident::TrackerGone
            | Incident::TrackerBack
            | Incident::DiskLost
            | Incident::CutOff
            | Incident::Reconnected
            | Incident::Unhealthy
            | Incident::Healthy
            | Incident::Excluded
            | Incident::Included
            | Incident::Joined
            | Incident::Pauses
            | Incident::Gone
            | Incident::Back
            | Incident::DeadToHdfs
            | Incident::BackInHdfs => none,
        }
    }
}
