//! How often a policy computes anew what it works with.

use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Complaint;

/// Complains about an interval at which time would not pass: the option `update_interval`.
pub fn standstill(update_interval: SimSpan) -> Option<Complaint> {
    update_interval.is_zero().then(|| Complaint {
        path: vec!["update_interval".to_owned()],
        message: "`update_interval` is above zero: at 0s time would stand still".to_owned(),
        hint: "Hadoop's is 500ms".to_owned(),
        is_warning: false,
    })
}
