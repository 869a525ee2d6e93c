//! How long jobs wait for their input (section 3.4): as long as earlier jobs had to wait for
//! theirs.
//!
//! The paper sets each delay to the mean "waiting time" of the tasks that were launched on nodes
//! with their input, or in racks with their input. It does not define the waiting time. Here it is
//! the time for which the job was passed over before it launched the map, since this is the time
//! that a delay limits. A wait counts once, for the map that ends it. A map whose job was not
//! passed over does not count. Otherwise a first job that finds its input at once would set the
//! delay to zero. Then jobs would never be passed over, and no wait would be measured again.
//!
//! A job that launches a map in a rack of its input has first waited for a node. So the second
//! delay is the mean wait of maps in racks less the mean wait of maps on nodes.

use mumakil_base::mutated;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Locality;

/// The mean waits of maps that were launched on a node, or in a rack, with their input.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    node: MeanWait,
    rack: MeanWait,
}

#[derive(Clone, Copy, Debug, Default)]
struct MeanWait {
    micros: u64,
    number: u64,
}

impl Waits {
    /// Counts a map whose job had been passed over for `waited` before the launch.
    pub(super) fn note(&mut self, locality: Option<Locality>, waited: SimSpan) {
        let mean = match locality {
            _ if mutated!(waited.is_zero(), "mfair/waits-of-zero" => false) => return,
            Some(Locality::Node) => mutated!(&mut self.node, "mfair/no-node-waits" => return),
            Some(Locality::Rack) => mutated!(&mut self.rack, "mfair/no-rack-waits" => return),
            // Off the rack a job has waited without finding its input.
            Some(Locality::OffRack) => mutated!(return, "mfair/off-rack-waits" => &mut self.rack),
            None => return,
        };
        let sum = mean.micros.saturating_add(waited.as_micros());
        (mean.micros, mean.number) = mutated!(
            (sum, mean.number + 1),
            "mfair/sum-of-waits" => (sum, 1),
            "mfair/first-wait" => (if mean.number == 0 { sum } else { mean.micros }, 1),
            "mfair/last-wait" => (waited.as_micros(), 1),
        );
    }

    /// Returns the waits for nodes and for racks, if they are measured.
    pub(super) fn delays(&self) -> [Option<SimSpan>; 2] {
        let [node, rack] = [self.node, self.rack]
            // Without a measured wait there is no mean, and the old delay stays.
            .map(|mean| mean.micros.checked_div(mean.number).map(SimSpan::from_micros));
        // The two means come from different maps, so the mean for racks may be the shorter one.
        let rest = rack.zip(node).map(
            |(rack, node)| mutated!(rack.saturating_sub(node), "mfair/whole-rack-wait" => rack),
        );
        mutated!(
            [node, rest],
            "mfair/rack-wait-only" => [None, rest],
            "mfair/node-wait-only" => [node, None],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    #[test]
    fn the_first_delay_is_the_mean_wait_for_nodes_and_the_second_the_rest_of_that_for_racks() {
        let mut waits = Waits::default();
        assert_eq!(waits.delays(), [None, None]);
        waits.note(Some(Locality::Rack), secs(9));
        assert_eq!(waits.delays(), [None, None], "part of the nine seconds was for nodes");
        waits.note(Some(Locality::Node), secs(6));
        waits.note(Some(Locality::Node), secs(2));
        waits.note(Some(Locality::OffRack), secs(60));
        waits.note(None, secs(60));
        assert_eq!(waits.delays(), [Some(secs(4)), Some(secs(5))]);
    }

    #[test]
    fn a_short_wait_for_racks_makes_nobody_wait_more() {
        let mut waits = Waits::default();
        waits.note(Some(Locality::Node), secs(4));
        waits.note(Some(Locality::Rack), secs(3));
        assert_eq!(waits.delays(), [Some(secs(4)), Some(secs(0))]);
    }

    #[test]
    fn a_job_that_finds_its_input_at_once_does_not_end_all_waiting() {
        let mut waits = Waits::default();
        waits.note(Some(Locality::Node), secs(0));
        assert_eq!(waits.delays(), [None, None]);
        waits.note(Some(Locality::Node), secs(2));
        waits.note(Some(Locality::Node), secs(0));
        assert_eq!(waits.delays()[0], Some(secs(2)), "waits of 0 s do not count");
    }
}
