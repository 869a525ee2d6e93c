//! A program that estimates how large jobs are.

use super::dialogue::Dialogue;
use super::options::ExternalOptions;
use super::protocol::{SizeQuestion, Slot, Submitted, WireFromPolicy, WireToPolicy};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{JobId, KnownJob, RunEndHook, Setting, SizeEstimator, SlotKind};

/// An estimator that runs as another process.
pub struct ProgramEstimator {
    options: ExternalOptions,
    /// The dialogue with the process; `None` before the run begins.
    dialogue: Option<Dialogue>,
    /// The tasks that have succeeded and the jobs that are over since the last question.
    done: Vec<(u32, Slot, u64)>,
    over: Vec<u32>,
}

impl ProgramEstimator {
    /// Returns an estimator whose program is not started yet.
    pub fn new(options: ExternalOptions) -> Self {
        Self { options, dialogue: None, done: Vec::new(), over: Vec::new() }
    }
}

impl SizeEstimator for ProgramEstimator {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        let (dialogue, _, end) = Dialogue::begin(&self.options, setting)?;
        self.dialogue = Some(dialogue);
        Ok(Some(end))
    }

    fn task_done(&mut self, job: JobId, kind: SlotKind, took: SimSpan) {
        self.done.push((job.0, kind.into(), took.as_micros()));
    }

    fn job_over(&mut self, job: JobId) {
        self.over.push(job.0);
    }

    fn work(&mut self, known: &KnownJob<'_>) -> f64 {
        let KnownJob { view, job, kind, sample } = *known;
        let input = job.spec().input.as_ref();
        let question = SizeQuestion {
            now_us: view.now().as_micros(),
            job: Submitted::of(job),
            input: input.map_or(0, |input| input.total(job.spec().maps).get()),
            kind: kind.into(),
            sample_us: sample.iter().map(|took| took.as_micros()).collect(),
            done_us: std::mem::take(&mut self.done),
            over: std::mem::take(&mut self.over),
        };
        let now = Some(view.now());
        let dialogue = self.dialogue.as_mut().expect("the run has begun");
        match dialogue.exchange(now, &WireToPolicy::Estimate(question)) {
            WireFromPolicy::Estimate(work) if 0.0 <= work => work,
            WireFromPolicy::Estimate(work) => {
                dialogue.fail(now, &format!("it estimates {work} s of work, which is below zero"))
            }
            _ => dialogue.fail(now, "it did not answer `estimate` with `estimate`"),
        }
    }
}
