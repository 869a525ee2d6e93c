//! YARN's Scheduler Load Simulator: its records, the jobs of a scenario, the formats.
//!
//! ```text
//! record   a job or a rack, as its JSON has it
//! synth    the settings of the simulator's generator
//! jobs     a record becomes a job, or settings become drawn jobs
//! source   the jobs of a run, on the nodes of their hosts
//! format   the jobs of an inspection or a conversion, without hosts
//! ```

pub(crate) mod format;
mod jobs;
mod record;
pub(crate) mod source;
mod synth;

pub use record::{SlsJob, SlsRack, SlsTask};
pub use source::Sls;
pub use synth::{
    Synth, SynthAmount, SynthClass, SynthDist, SynthSample, SynthTask, SynthWorkload, TimeSample,
};
