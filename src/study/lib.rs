//! Many runs: a study varies a scenario and reports the results.
//!
//! This is the topmost library: it makes scenarios, runs them with `mumakil-run`, and reads their
//! results.
//! ```text
//! sweep: {cluster.nodes: [10, 20], scheduler: [fair, hfsp], seeds: 3}
//!   plan      4 cells, 12 runs, each named by a hash:  3f9a…, 81c2…, …
//!   run       runs/3f9a…/  runs/81c2…/                 (by several processes, in any order)
//!   conclude  cells.csv, comparisons.csv, report.html  (from the runs alone)
//! ```
//!
//! - `plan`: turns a file into a [`Study`], and the study into a [`Plan`] of runs. The name of a
//!   run is a hash of everything that decides its results. A [`StudyManifest`] in the study's
//!   folder lists the runs of each cell.
//! - `run`: workers do the missing runs. The folder never has half a run. Several processes may
//!   share the runs of a study.
//! - `watch`: each process keeps writing a small file, its sign of life. These files and the
//!   finished runs show the progress of a study.
//! - `conclude`: makes the numbers, the tables, the charts (`draw`) and the report from the
//!   manifest and the runs alone.

mod conclude;
mod draw;
mod plan;
mod run;
#[cfg(test)]
#[path = "../../tests/it/registry.rs"]
mod testing;
mod watch;

pub use conclude::comparisons::{Comparison, ComparisonOddity, OutlyingSeed};
pub use conclude::findings::{
    CellNumbers, FindingsError, JobsOfRun, Metric, StudyFindings, planned_metric,
};
pub use conclude::gist::gist;
pub use conclude::report::{
    CELLS, COMPARISONS, ConcludeError, Concluded, charts, conclude, run_path, write_manifest,
};
pub use conclude::study_runs::StudyRuns;
pub use conclude::teeth::{SabotageOutcome, Teeth, is_broken, verdict_states};
pub use draw::{ChartSpec, OneOrMore, Picture, PublishedPoints, Series, StackedSlots};
pub use plan::axes::{Axis, SCENARIO, SEEDS, Sweep, short_label, unnamed};
pub use plan::brought_files::{BringError, BroughtFiles};
pub use plan::compared::ComparedWith;
pub use plan::manifest::{ManifestAxis, ManifestCell, StudyManifest, read_manifest};
pub use plan::named_files::NamedFile;
pub use plan::needed_folder::needed_folder;
pub use plan::resolved::{keep, keep_as};
pub use plan::runs::{Cell, Plan, PlanError, PlannedRun};
pub use plan::sabotage::Sabotage;
pub use plan::spec::{Study, schema};
pub use run::failed;
pub use run::forecast::Forecast;
pub use run::run_warnings::RunWarnings;
pub use run::shared_runs::SharedRuns;
pub use run::soundness::{PolicyObservations, broken_invariants, parted, sign};
pub use run::store::{self, AT_WORK, FAILED, FolderAccess, FolderClaim, Store, StoreForm};
pub use run::work::{NextRun, RunEffort, Shard, WorkStep, is_late};
pub use watch::life_sign::{
    EVERY, End, Life, LiveRun, SignLock, SlowRun, WallInstant, WriterState,
};
pub use watch::pace::{StudyPace, rate, remaining_s};
pub use watch::sign_files::{ALONE, LifeSign, signs, take_over, write_sign};
pub use watch::status::{Failed, Running, Status, StudyProcess};
