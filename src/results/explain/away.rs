//! Absences of the JobTracker in the story of a job. A job that waited during an absence waited for
//! the JobTracker's return.

use super::part::SojournPart;
use super::story::StoryPart;

/// Cuts the waits at the JobTracker's absences, and gives the pieces within absences a cause of
/// their own. `spans` are the absences in the order of time. Work that went on without the
/// JobTracker, such as running tasks, keeps its cause.
pub(super) fn without_job_tracker(
    stretches: Vec<StoryPart>,
    spans: &[(u64, u64)],
) -> Vec<StoryPart> {
    if spans.is_empty() {
        return stretches;
    }
    let absences = spans.iter().map(|span| StoryPart::of(SojournPart::JobTrackerAway, *span));
    let parts = stretches.into_iter().flat_map(|stretch| match stretch.part.is_idle() {
        true => stretch.cut(absences.clone()),
        // A map that ran on during the absence lost no time.
        false => vec![stretch],
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::WaitRule;

    #[test]
    fn during_a_pause_messages_wait_and_attempts_go_on() {
        let of = |part, from, to| StoryPart { part, from, to, rule: None };
        let ruled = |from, to| StoryPart {
            rule: Some(WaitRule::Share),
            ..of(SojournPart::MapWait, from, to)
        };
        let told = vec![
            ruled(0, 50),
            of(SojournPart::Mapping, 50, 70),
            of(SojournPart::Heartbeats, 70, 80),
        ];
        let away = |from, to| of(SojournPart::JobTrackerAway, from, to);
        let cut = without_job_tracker(told.clone(), &[(10, 20), (40, 75), (90, 99)]);
        let expected = [
            ruled(0, 10),
            away(10, 20),
            ruled(20, 40),
            away(40, 50),
            of(SojournPart::Mapping, 50, 70),
            away(70, 75),
            of(SojournPart::Heartbeats, 75, 80),
        ];
        assert_eq!(cut, expected);
        assert_eq!(without_job_tracker(told.clone(), &[]), told);
    }
}
