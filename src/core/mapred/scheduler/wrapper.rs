//! Policies that wrap another policy and pass on the calls that they do not handle.

use super::{
    JobEvent, Offer, Orders, PolicyNeeds, PolicyReload, Precedence, RunEndHook, SayRank, Scheduler,
    Setting, View,
};
use crate::cluster::{SlotKind, TrackerId};
use crate::mapred::event::JobSize;
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::reason::{Reason, SlotStanding};
use crate::mapred::spec::JobSpec;
use crate::mapred::true_durations::TrueDurations;
use mumakil_base::units::SimSpan;

/// A policy that wraps another one and passes every call on to it.
///
/// All wrappers share this list of methods. A wrapper with its own list would not pass on a method
/// that is added to [`Scheduler`] later. The compiler would not notice, as the methods of
/// [`Scheduler`] have defaults.
pub trait Wrapper: Send {
    /// Returns the wrapped policy.
    fn inner(&self) -> &dyn Scheduler;

    /// Calls the wrapped policy.
    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R;

    /// As [`Scheduler::needs`].
    fn needs_inner(&self) -> PolicyNeeds {
        self.inner().needs()
    }

    /// As [`Scheduler::offer`].
    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.pass(|policy| policy.offer(offer));
    }
}

impl<W: Wrapper> Scheduler for W {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        self.pass(|policy| policy.begin(setting))
    }

    fn needs(&self) -> PolicyNeeds {
        self.needs_inner()
    }

    fn foresee(&mut self, truth: &TrueDurations) {
        self.pass(|policy| policy.foresee(truth));
    }

    fn inherit(&mut self, suspended: &[(AttemptId, TrackerId)]) -> bool {
        self.pass(|policy| policy.inherit(suspended))
    }

    fn refuses(&self, view: &View<'_>, job: &JobSpec) -> Option<Reason> {
        self.inner().refuses(view, job)
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.pass(|policy| policy.job_changed(view, event));
    }

    fn reload(&mut self, view: &View<'_>, options: &PolicyReload) {
        self.pass(|policy| policy.reload(view, options));
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.inner().patience(view)
    }

    fn withheld(&self, view: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        self.inner().withheld(view, say);
    }

    fn precedence(&self) -> Precedence {
        self.inner().precedence()
    }

    fn ranking(&mut self, view: &View<'_>, kind: SlotKind, say: SayRank<'_>) {
        self.pass(|policy| policy.ranking(view, kind, say));
    }

    fn holdings(&self, view: &View<'_>, kind: SlotKind, say: &mut dyn FnMut(&str, SlotStanding)) {
        self.inner().holdings(view, kind, say);
    }

    fn sizes(&self, job: JobId, say: &mut dyn FnMut(SlotKind, JobSize)) {
        self.inner().sizes(job, say);
    }

    fn width(&self, job: JobId, kind: SlotKind) -> u32 {
        self.inner().width(job, kind)
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.pass(|policy| policy.tick(orders));
    }

    fn splits_read(&mut self, job: JobId, orders: &mut Orders<'_>) {
        self.pass(|policy| policy.splits_read(job, orders));
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.offer_inner(offer);
    }
}
