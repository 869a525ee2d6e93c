//! Many runs: studies that vary a scenario and say what came of it, and the hunt for scenarios that break.
//!
//! The topmost library. A study makes scenarios, lets `mumakil-run` run them and reads what they leave;
//! how people call it, and on which machines it runs, is told by the command `mumakil` above.
//!
//! - `plan`: a file becomes a [`Study`], and a study a [`Plan`] of runs, each known by a hash of all that
//!   decides its results. A [`Sheet`] says in the study's folder which run is which.
//! - `run`: workers do the runs that are missing, and leave each whole or not at all; several processes may
//!   share them.
//! - `watch`: processes give signs of life, and from these and from the runs follows how far a study is.
//! - `conclude`: from the sheet and the runs alone come the numbers, the tables, the charts (`draw`) and the
//!   report.
//! - [`papers`]: the published experiments, each of which is a study; [`chaos`]: random scenarios.

pub mod chaos;
mod conclude;
mod draw;
pub mod papers;
mod plan;
mod run;
mod watch;

pub use conclude::comparisons::{Comparison, Oddity, OutlyingSeed};
pub use conclude::findings::{CellNumbers, FindingsError, JobsOfRun, Metric, StudyFindings};
pub use conclude::paired::RatioVerdict;
pub use conclude::report::{
    CELLS, COMPARISONS, ConcludeError, Concluded, conclude, run_path, write_sheet,
};
pub use draw::{ChartSpec, OneOrMore, Picture, PublishedPoints, Series, StackedSlots};
pub use plan::bring::{Bring, BringError};
pub use plan::compared::Against;
pub use plan::named::NamedFile;
pub use plan::resolved::{keep, keep_as};
pub use plan::runs::{Cell, Plan, PlanError, PlannedRun};
pub use plan::search::{Hunt, Search};
pub use plan::sheet::{Sheet, SheetAxis, SheetCell, read_sheet};
pub use plan::spec::{Study, schema};
pub use run::doubts::Doubts;
pub use run::failed;
pub use run::forecast::Forecast;
pub use run::shared_runs::SharedRuns;
pub use run::store::{AT_WORK, FAILED, FolderAccess, FolderClaim, Form, Store};
pub use run::work::{Effort, NextRun, Shard, WorkStep};
pub use watch::at_work::{ALONE, Sign, signs, take_over, write_sign};
pub use watch::life::{EVERY, End, Fate, Going, Hold, Life, SlowRun, Stamp};
pub use watch::pace::{StudyPace, rate, rest_s};
pub use watch::status::{Failed, Running, Status, StudyProcess};
