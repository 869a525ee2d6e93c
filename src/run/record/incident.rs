//! Details of an incident that its description in words leaves out.

use mumakil_base::units::Bytes;
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::{AttemptId, Incident};

/// The details of an incident; `None` for a detail that it does not have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IncidentDetails {
    /// The speeds of the machine from the incident on.
    pub(super) speeds: Option<Speeds>,
    /// The attempt that hangs.
    pub(super) attempt: Option<AttemptId>,
    /// The blocks that are copied: their number, and their size in bytes.
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
