//! A user's own table: a type for its rows, and a watcher that writes them.

use mumakil::emulation::{Options, emulate};
use mumakil::mapred::Event;
use mumakil::output::results::RunResults;
use mumakil::record::{RecordError, RunBooks, RunEnd, TableWriter, Watcher};
use mumakil::scenario;
use mumakil::tables::{CellText, TableInfo};

mumakil::table! {
    /// The time that each user's jobs took.
    "users.csv" pub(crate) struct UserRow {
        /// The user.
        user: CellText,
        /// How many jobs of the user came.
        jobs: u32,
        /// The longest sojourn of one that ended.
        longest_ms: Option<u64>,
    }
}

struct Users(TableWriter<UserRow>);

impl Watcher for Users {
    fn see(&mut self, _: &Event, _: &RunBooks) -> Result<(), RecordError> {
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        let mut rows: Vec<UserRow> = Vec::new();
        for job in end.books.jobs() {
            let user: CellText = (&*job.spec.user).into();
            let known = rows.iter().position(|row| row.user == user);
            let place = known.unwrap_or_else(|| {
                rows.push(UserRow { user, jobs: 0, longest_ms: None });
                rows.len() - 1
            });
            rows[place].jobs += 1;
            let took = job.sojourn().map(|sojourn| sojourn.as_millis());
            rows[place].longest_ms = rows[place].longest_ms.max(took);
        }
        rows.iter().try_for_each(|row| self.0.row(row))?;
        self.0.finish()
    }
}

const SCENARIO: &str = "
cluster: {nodes: 2}
workload:
  jobs:
    - {name: a, user: ann, maps: 2, map_time: 10s}
    - {name: b, user: bob, maps: 2, map_time: 20s}
    - {name: c, user: ann, maps: 2, map_time: 10s, submit: 1h}
until: 10min
";

#[test]
fn a_table_is_a_type_and_a_watcher() {
    let folder = tempfile::tempdir().unwrap();
    let registry = mumakil::registry();
    let scenario = scenario::parse("own", SCENARIO, &[], &registry).unwrap().scenario;
    let users = Users(TableWriter::create(folder.path()).unwrap());
    let options = Options { watchers: vec![Box::new(users)], ..Options::default() };
    emulate(&scenario, &registry, options).unwrap();
    let rows: Vec<UserRow> = RunResults::new(folder.path()).all().unwrap();
    let told: Vec<(&str, u32, bool)> =
        rows.iter().map(|row| (&*row.user, row.jobs, row.longest_ms.is_some())).collect();
    assert_eq!(told, [("ann", 1, true), ("bob", 1, true)], "job c comes after the end of the run");
    let columns = TableInfo::of::<UserRow>().columns;
    assert_eq!(columns[2].about, "The longest sojourn of one that ended.");
    assert!(columns[2].is_time() && columns[2].may_be_empty);
}
