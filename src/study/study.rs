//! Studies: a scenario run many times, with other values and other seeds.
//!
//! A file becomes a [`Study`] (`spec`, `axes`), a study becomes a [`Plan`] of runs, each known by a
//! hash of all that decides its results (`plan`). Workers run what is missing (`work`) and leave
//! each run whole or not at all, in a folder of its own or packed with others (`store`). Several
//! processes may share the runs of one folder: each takes the next that no other has (`shared_runs`).
//! The folder says itself what the study is (`resolved`), and has the
//! files that its scenarios name (`named`, `bring`). What the runs come to is read from
//! these folders alone: a [`Sheet`] says which run is which, and from both come the numbers
//! (`findings`, `paired`), the tables (`tables`), the charts (`draw`, `usual`) and the report (`report`).
//!
//! Beside the results stand the runs that have failed (`failed`) and what the processes that work on
//! a study say of themselves (`life`, kept by `at_work`); both together are its `status`.

mod at_work;
mod axes;
mod bring;
mod compared;
mod doubts;
mod draw;
pub mod failed;
mod findings;
mod forecast;
mod life;
mod merged;
mod named;
mod pace;
mod paired;
pub mod papers;
mod plan;
mod report;
mod resolved;
mod search;
mod shared_runs;
mod sheet;
mod spec;
mod status;
mod store;
mod tables;
mod usual;
mod work;

pub use at_work::{ALONE, Sign, signs, take_over, write_sign};
pub use bring::{Bring, BringError};
pub use compared::Against;
pub use doubts::Doubts;
pub use draw::{ChartSpec, OneOrMore, Picture, PublishedPoints, Series, StackedSlots};
pub use findings::{CellNumbers, Findings, FindingsError, JobsOfRun, Metric};
pub use forecast::Forecast;
pub use life::{EVERY, End, Fate, Going, Hold, Life, Slow, Stamp};
pub use named::NamedFile;
pub use pace::{Pace, rate, rest_s};
pub use paired::{Comparison, Oddity, OutlyingSeed, Standing};
pub use plan::{Cell, Plan, PlanError, PlannedRun};
pub use report::{CELLS, COMPARISONS, ConcludeError, Concluded, conclude, run_path, write_sheet};
pub use resolved::{keep, keep_as};
pub use search::{Hunt, Search};
pub use shared_runs::{NextRun, SharedRuns};
pub use sheet::{Sheet, SheetAxis, SheetCell, read_sheet};
pub use spec::{Study, schema};
pub use status::{Failed, Running, Status, StudyProcess};
pub use store::{AT_WORK, Claim, FAILED, Form, Share, Store};
pub use work::{Effort, Shard, Step};
