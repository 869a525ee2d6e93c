//! YARN's Scheduler Load Simulator: its records, the jobs of a scenario, the formats.

pub(super) mod format;
mod jobs;
mod record;
pub(crate) mod source;
mod synth;

pub use record::{SlsJob, SlsRack, SlsTask};
pub use source::Sls;
pub use synth::{
    Synth, SynthAmount, SynthClass, SynthDist, SynthSample, SynthTask, SynthWorkload, TimeSample,
};
