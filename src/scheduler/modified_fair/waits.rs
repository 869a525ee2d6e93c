//! How long jobs wait for their input (section 3.4): as long as it took others to get it.

use crate::mapred::Locality;
use crate::units::SimSpan;

/// The waits of maps that found what they waited for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    node: Mean,
    rack: Mean,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    micros: u64,
    number: u64,
}

impl Waits {
    /// Counts a map that was launched after its job had waited so long.
    pub(super) fn note(&mut self, locality: Option<Locality>, waited: SimSpan) {
        let mean = match locality {
            Some(Locality::Node) => &mut self.node,
            Some(Locality::Rack) => &mut self.rack,
            _ => return,
        };
        mean.micros = mean.micros.saturating_add(waited.as_micros());
        mean.number += 1;
    }

    /// Returns how long maps on their nodes, and in their racks, have waited; `None` before the
    /// first one.
    pub(super) fn means(&self) -> [Option<SimSpan>; 2] {
        [self.node, self.rack]
            .map(|mean| mean.micros.checked_div(mean.number).map(SimSpan::from_micros))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_the_mean_of_its_own_waits() {
        let secs = SimSpan::from_secs;
        let mut waits = Waits::default();
        assert_eq!(waits.means(), [None, None]);
        waits.note(Some(Locality::Node), secs(4));
        assert_eq!(waits.means(), [Some(secs(4)), None]);
        waits.note(Some(Locality::Node), secs(0));
        waits.note(Some(Locality::Node), secs(2));
        waits.note(Some(Locality::Rack), secs(9));
        waits.note(Some(Locality::OffRack), secs(60));
        waits.note(None, secs(60));
        assert_eq!(waits.means(), [Some(secs(2)), Some(secs(9))]);
    }
}
