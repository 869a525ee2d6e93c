//! How a job takes a slot from a job behind it.
//!
//! ```text
//! the first in line that lacks slots  <-  the last of the jobs that hold slots
//! ```
//! The decision is made at a tracker's heartbeat, and the slot goes to the job for which it was
//! taken in the same reply. A job gives up slots only if the jobs behind it have fewer than are
//! lacking, so slots that are about to come free on other trackers are not taken twice.

use std::cmp::Reverse;
use std::iter;

use super::delay::Delay;
use mumakil_base::mutated;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{AttemptId, JobId, Offer, Preemption, Reason, Report, SlotKind, View};

/// A job's position in the order of a policy. No two jobs have the same position.
pub trait SlotTurn: Copy + Ord {
    /// Returns the job.
    fn job(self) -> JobId;

    /// Returns whether the job may take slots from a job at this other position.
    fn may_take_from(self, other: Self) -> bool;
}

/// A job's claim on slots.
#[derive(Clone, Copy, Debug)]
pub struct SlotClaim<T> {
    /// The position of the job.
    pub turn: T,
    /// How many slots the job could use.
    pub tasks: u32,
    /// The attempt that would resume, which is suspended on the tracker; `None` to launch a task.
    pub resumed: Option<AttemptId>,
    /// The reason with which a task begins.
    pub reason: Reason,
}

impl<T: SlotTurn> SlotClaim<T> {
    /// Launches or resumes a task, and returns its attempt; `None` if the job has no task for this
    /// node.
    pub fn begin(
        &self,
        offer: &mut Offer<'_>,
        kind: SlotKind,
        delay: &mut Delay,
    ) -> Option<AttemptId> {
        if let Some(attempt) = self.resumed {
            offer.resume(attempt, self.reason);
            return Some(attempt);
        }
        let launched = delay.launch(offer, self.turn.job(), kind, self.reason);
        launched.map(|launched| launched.attempt)
    }
}

/// Puts a suspended attempt into a line of jobs: just before the new tasks of its job.
pub fn with_resumed<T: Ord, C>(
    line: impl Iterator<Item = (T, C)>,
    mut here: Option<(T, C)>,
) -> impl Iterator<Item = (T, C)> {
    let mut line = line.peekable();
    iter::from_fn(move || {
        let first = here.take_if(|(turn, _)| match line.peek() {
            Some((next, _)) => mutated!(*turn <= *next, "taking/resume-last" => false),
            None => true,
        });
        first.or_else(|| line.next())
    })
}

/// An attempt that could lose its slot, on the tracker that makes the offer.
#[derive(Clone, Copy, Debug)]
pub struct Victim<T> {
    /// The attempt.
    pub attempt: AttemptId,
    /// How long it has run.
    pub ran: SimSpan,
    /// The position of its job.
    pub turn: T,
    /// How many slots the jobs behind its job could give up; these jobs give up slots first.
    pub behind: u32,
}

/// Returns the attempts that could lose their slots: those of the last job first, its youngest
/// attempt before all others. `givers` are the jobs that could give up slots, the last one first,
/// with the number of these slots; attempts of other jobs are left out.
pub fn victims<'r, T: SlotTurn>(
    attempts: impl Iterator<Item = (T, &'r Report)>,
    givers: impl Iterator<Item = (T, u32)>,
) -> Vec<Victim<T>> {
    let placed = attempts.map(|(turn, Report { attempt, ran, .. })| Victim {
        attempt: *attempt,
        ran: *ran,
        turn,
        behind: 0,
    });
    let mut victims: Vec<Victim<T>> = placed.collect();
    // The attempt's number decides ties, so that equal runs give equal results.
    mutated!(
        victims.sort_unstable_by_key(|one| (Reverse(one.turn), one.ran, one.attempt)),
        "taking/oldest" => victims.sort_by_key(|one| (Reverse((one.turn, one.ran)), one.attempt)),
    );
    let (mut behind, mut givers) = (0, givers.peekable());
    victims.retain_mut(|victim| {
        while let Some((_, slots)) = givers.next_if(|(turn, _)| victim.turn < *turn) {
            behind += slots;
        }
        victim.behind = mutated!(behind, "taking/behind" => 0);
        givers.peek().is_some_and(|(turn, _)| *turn == victim.turn)
    });
    victims
}

/// The slots of a tracker that jobs may take from each other.
#[derive(Debug)]
pub struct Taking<T> {
    /// The kind of the slots.
    pub kind: SlotKind,
    /// How they are taken.
    pub how: Preemption,
    /// The number of slots that no job holds, such as free slots of other trackers. No slot is taken
    /// for a claim that these slots can meet.
    pub spare: u32,
    /// The attempts that could lose their slots, in the order in which they lose them.
    pub victims: Vec<Victim<T>>,
}

impl<T: SlotTurn> Taking<T> {
    /// Returns the victims of a job that lacks so many slots.
    pub fn able(&self, turn: T, lacking: u32) -> impl Iterator<Item = &Victim<T>> {
        self.victims.iter().filter(move |victim| {
            // Jobs further behind give up slots first. A job gives up slots only if these jobs have
            // too few, and no job takes slots from itself.
            turn.may_take_from(victim.turn)
                && turn.job() != victim.turn.job()
                && mutated!(victim.behind < lacking, "taking/lacking" => true)
        })
    }

    /// Takes a slot for the first claim that lacks one and can use it on this tracker. Returns the
    /// attempt that begins and the attempt that loses its slot. `allows` may spare a victim.
    pub fn take(
        &self,
        offer: &mut Offer<'_>,
        delay: &mut Delay,
        mut next_claim: impl FnMut(&View<'_>) -> Option<SlotClaim<T>>,
        mut allows: impl FnMut(&View<'_>, T, T) -> bool,
    ) -> Option<(AttemptId, AttemptId)> {
        let last = self.victims.iter().map(|victim| victim.turn).max()?;
        let (mut spare, mut wanted) = (self.spare, 0);
        let mut found = None;
        while let Some(claim) = next_claim(&offer.view()) {
            // From here on the line finds no victim on this tracker.
            if !claim.turn.may_take_from(last) {
                break;
            }
            // Slots that become free elsewhere go to the first jobs, so count all claims.
            let served = mutated!(claim.tasks.min(spare), "taking/spare" => 0);
            spare -= served;
            let wanted_before = wanted;
            wanted += claim.tasks - served;
            // It can resume only here, so any job behind it may have to give up a slot.
            let lacking = if claim.resumed.is_some() { u32::MAX } else { wanted };
            let mut able = self.able(claim.turn, lacking).peekable();
            let is_able = able.peek().is_some();
            let view = offer.view();
            let Some(victim) = able.find(|victim| allows(&view, claim.turn, victim.turn)) else {
                // A job that may take none of these slots leaves them to the jobs behind it.
                if mutated!(is_able, "taking/refused-counts" => false) {
                    wanted = wanted_before;
                }
                continue;
            };
            offer.count_on(victim.attempt, self.how);
            // A victim loses its slot only if the job really begins a task here.
            if let Some(attempt) = claim.begin(offer, self.kind, delay) {
                found = Some((attempt, victim.attempt));
                break;
            }
        }
        offer.count_on_none();
        let (attempt, victim) = found?;
        let is_preempted = offer.preempt(victim, self.how, attempt);
        debug_assert!(is_preempted, "{victim} runs on this tracker, as its last report says");
        found
    }
}
