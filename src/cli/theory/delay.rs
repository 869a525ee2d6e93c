//! `mumakil theory delay`: the closed forms of delay scheduling.

use serde::Serialize;

use super::super::failure::Failure;
use super::super::lines::Lines;
use super::super::table::{Align, table};
use super::Form;
use crate::theory::{DelayedJob, DomainError, FilledCluster, LongTasks, StickySlots, Waiting};
use crate::units::tell::{percent, span};
use crate::units::{Fraction, SimSpan};

/// Print the locality that theory expects, with and without delay scheduling
///
/// The closed forms are those of the delay scheduling paper (EuroSys 2010); the defaults are the
/// cluster of its experiments and the example of its section 3.5. Several values of an option, such
/// as --jobs 5,10,20,50, are a row each; of several options, a row for each combination.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  sticky    the highest locality of jobs that get back each slot they free (3.3.2)
  head      the locality of a job that takes the first slot, by the paper's formula (3.3.1)
  distinct  the same, exact for copies of a block that are on different nodes, as in HDFS
  delayed   the locality of a job that is skipped, as the paper counts (3.5)
  least     its lower bound, from which equation (2) follows
  exact     the same under Algorithm 2 itself, where a job that waited in vain waits no more
  fill      how long a job waits for a slot for each of its tasks, in a full cluster: equation (1)
  blocked   the chance that long tasks hold all slots near a block (3.5)
  wanted    the skips that a locality takes: equation (2)
  wait      the longest wait for a local task

Examples:
  mumakil theory delay
  mumakil theory delay --jobs 5,10,20,50
  mumakil theory delay --nodes 620 --slots 5 --tasks 10,100 --skips 0,50,100 --csv
  mumakil theory delay --locality 0.9,0.95,0.99 --json")]
pub(super) struct Arguments {
    /// Nodes of the cluster
    #[arg(long, value_name = "M", value_delimiter = ',', default_value = "100")]
    #[arg(value_parser = count(100_000))]
    nodes: Vec<u32>,
    /// Slots of a node
    #[arg(long, value_name = "L", value_delimiter = ',', default_value = "4")]
    #[arg(value_parser = count(64))]
    slots: Vec<u32>,
    /// Copies of a block
    #[arg(long, value_name = "R", value_delimiter = ',', default_value = "3")]
    #[arg(value_parser = count(64))]
    replicas: Vec<u32>,
    /// Jobs that share the cluster
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_value = "10")]
    #[arg(value_parser = count(1_000_000))]
    jobs: Vec<u32>,
    /// Tasks of a job that is skipped
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "20")]
    #[arg(value_parser = count(1_000_000_000))]
    tasks: Vec<u32>,
    /// How often it is skipped [default: as often as the locality takes]
    #[arg(long, value_name = "D", value_delimiter = ',')]
    #[arg(value_parser = clap::value_parser!(u32).range(..=1_000_000_000))]
    skips: Vec<u32>,
    /// The locality that is wanted
    #[arg(long, value_name = "SHARE", value_delimiter = ',', default_value = "0.95")]
    locality: Vec<Fraction>,
    /// The share of the slots that long tasks hold
    #[arg(long, value_name = "SHARE", default_value = "0.8")]
    long: Fraction,
    /// How long a task takes
    #[arg(long, value_name = "TIME", default_value = "19s")]
    task_time: SimSpan,
    #[command(flatten)]
    form: Form,
}

fn count(most: i64) -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=most)
}

/// Nobody reads more, and so many of the largest clusters take seconds.
const MOST_ROWS: usize = 1_000;

/// What is asked, and what theory answers.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    nodes: u32,
    slots: u32,
    replicas: u32,
    jobs: u32,
    tasks: u32,
    /// Those wanted, rounded up, if none are given.
    skips: Option<u32>,
    locality_wanted: f64,
    skips_wanted: f64,
    locality_sticky: f64,
    locality_head: f64,
    locality_distinct: f64,
    locality_delayed: f64,
    locality_least: f64,
    locality_exact: f64,
    fill_s: f64,
    blocked: f64,
    wait_s: f64,
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        self.form.print(&self.rows()?, told)
    }

    /// Returns a row for each combination of the values that were given.
    fn rows(&self) -> Result<Vec<Row>, Failure> {
        let mut skips: Vec<Option<u32>> = self.skips.iter().copied().map(Some).collect();
        if skips.is_empty() {
            skips.push(None);
        }
        let rows = vary(vec![Row::default()], &self.nodes, |row, nodes| row.nodes = nodes)?;
        let rows = vary(rows, &self.slots, |row, slots| row.slots = slots)?;
        let rows = vary(rows, &self.replicas, |row, replicas| row.replicas = replicas)?;
        let rows = vary(rows, &self.jobs, |row, jobs| row.jobs = jobs)?;
        let rows = vary(rows, &self.tasks, |row, tasks| row.tasks = tasks)?;
        let rows = vary(rows, &self.locality, |row, share| row.locality_wanted = share.get())?;
        let mut rows = vary(rows, &skips, |row, skips| row.skips = skips)?;
        for row in &mut rows {
            row.answer(self.task_time, self.long).map_err(|error| {
                Failure::input(format!(
                    "{error}\n  hint: `mumakil theory delay --help` has the options"
                ))
            })?;
        }
        Ok(rows)
    }
}

/// Returns each row with each of the values in its place.
fn vary<T: Copy>(rows: Vec<Row>, values: &[T], put: fn(&mut Row, T)) -> Result<Vec<Row>, Failure> {
    if MOST_ROWS < rows.len() * values.len() {
        return Err(Failure::input(format!(
            "there are more than {MOST_ROWS} combinations\n  hint: give several values to fewer options"
        )));
    }
    let with = |row: &Row, value: T| {
        let mut row = row.clone();
        put(&mut row, value);
        row
    };
    Ok(rows.iter().flat_map(|row| values.iter().map(|value| with(row, *value))).collect())
}

impl Row {
    /// Fills in what theory says.
    fn answer(&mut self, task_time: SimSpan, long: Fraction) -> Result<(), DomainError> {
        let [nodes, slots, replicas, jobs, tasks] =
            [self.nodes, self.slots, self.replicas, self.jobs, self.tasks].map(f64::from);
        let job = DelayedJob { nodes, replicas, tasks };
        let wanted = job.skips_for(self.locality_wanted)?;
        let skips = f64::from(*self.skips.get_or_insert(wanted.ceil() as u32));
        let task_time = task_time.as_secs_f64();
        let wait = Waiting { skips, nodes, slots }.task_lengths()? * task_time;
        let all = FilledCluster { slots: nodes * slots };
        self.fill_s = rounded(all.fill_time(tasks.min(all.slots))? * task_time);
        self.blocked = rounded(LongTasks { share: long.get(), replicas, slots }.blocked()?);
        self.skips_wanted = rounded(wanted);
        self.locality_sticky = rounded(StickySlots { jobs, replicas, slots }.locality()?);
        self.locality_head = rounded(job.head_of_line_locality()?);
        self.locality_distinct = rounded(job.head_of_line_locality_of_distinct()?);
        self.locality_delayed = rounded(job.mean_locality(skips)?);
        self.locality_least = rounded(job.least_locality(skips)?);
        self.locality_exact = rounded(job.exact_locality(skips)?);
        self.wait_s = rounded(wait);
        Ok(())
    }
}

/// The last digits of logarithms differ from one machine to another.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// A column's name, and its cell of a row.
type Column = (&'static str, fn(&Row) -> String);

const GIVEN: [Column; 7] = [
    ("nodes", |row| row.nodes.to_string()),
    ("slots", |row| row.slots.to_string()),
    ("replicas", |row| row.replicas.to_string()),
    ("jobs", |row| row.jobs.to_string()),
    ("tasks", |row| row.tasks.to_string()),
    ("locality", |row| percent(row.locality_wanted)),
    ("skips", |row| row.skips.unwrap_or_default().to_string()),
];

const ANSWERS: [Column; 10] = [
    ("sticky", |row| percent(row.locality_sticky)),
    ("head", |row| percent(row.locality_head)),
    ("distinct", |row| percent(row.locality_distinct)),
    ("delayed", |row| percent(row.locality_delayed)),
    ("least", |row| percent(row.locality_least)),
    ("exact", |row| percent(row.locality_exact)),
    ("fill", |row| span(row.fill_s)),
    ("blocked", |row| percent(row.blocked)),
    ("wanted", |row| format!("{:.1}", row.skips_wanted)),
    ("wait", |row| span(row.wait_s)),
];

/// Returns a line of what all rows have in common, and a table of what they have not.
fn told(rows: &[Row]) -> Lines {
    let is_common = |(_, cell): &Column| rows.iter().all(|row| cell(row) == cell(&rows[0]));
    let (common, varied): (Vec<Column>, Vec<Column>) = GIVEN.into_iter().partition(is_common);
    let common = common.iter().map(|(name, cell)| format!("{name} {}", cell(&rows[0])));
    let columns: Vec<Column> = varied.into_iter().chain(ANSWERS).collect();
    let head = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let cells = |row: &Row| columns.iter().map(|(_, cell)| cell(row)).collect();
    let lines: Vec<Vec<String>> = [head].into_iter().chain(rows.iter().map(cells)).collect();
    let common = common.collect::<Vec<_>>().join(" · ");
    Lines::of(common) + table(&lines, &vec![Align::Right; columns.len()])
}
