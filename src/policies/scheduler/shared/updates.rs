//! The option `update_interval`: how often a policy computes shares and demands anew.

use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Complaint;

/// Complains about an `update_interval` of zero: updates would repeat without end at one instant.
pub fn standstill(update_interval: SimSpan) -> Option<Complaint> {
    let message = "`update_interval` must be above zero: at 0s time would stand still";
    let complaint = || Complaint::error(&["update_interval"], message, "Hadoop's is 500ms");
    update_interval.is_zero().then(complaint)
}
