//! Studies: a scenario run many times, with other values and other seeds.
//!
//! A file becomes a [`Study`] (`spec`, `axes`), a study becomes a [`Plan`] of runs, each known by a
//! hash of all that decides its results (`plan`). Workers run what is missing (`work`) and leave
//! each run whole or not at all in a folder of its own (`store`). Parts for several machines are dealt
//! out by what runs cost (`costs`). The folder says itself what the study is (`resolved`), and has the
//! files that its scenarios name (`named`, `bring`). What the runs come to is read from
//! these folders alone: a [`Sheet`] says which run is which, and from both come the numbers
//! (`findings`, `paired`), the tables (`tables`), the charts (`draw`, `usual`) and the report (`report`).

mod axes;
mod bring;
mod compared;
mod costs;
mod draw;
mod findings;
mod merged;
mod named;
mod paired;
pub mod papers;
mod plan;
mod report;
mod resolved;
mod search;
mod sheet;
mod spec;
mod store;
mod tables;
mod usual;
mod work;

pub use bring::{Bring, BringError};
pub use compared::Against;
pub use costs::{Costs, Measured, deal};
pub use draw::{ChartSpec, OneOrMore, Picture, PublishedPoints, Series, StackedSlots};
pub use findings::{CellNumbers, Findings, FindingsError, JobsOfRun, Metric};
pub use named::NamedFile;
pub use paired::{Comparison, Oddity, OutlyingSeed, Standing};
pub use plan::{Cell, Plan, PlanError, PlannedRun};
pub use report::{CELLS, COMPARISONS, ConcludeError, Concluded, conclude, run_path, write_sheet};
pub use resolved::{keep, take_over};
pub use search::{Hunt, Search};
pub use sheet::{Sheet, SheetAxis, SheetCell, read_sheet};
pub use spec::{Study, schema};
pub use store::{Claim, FAILED, Share, Store};
pub use work::{Effort, FailedRun, Shard, Step};
