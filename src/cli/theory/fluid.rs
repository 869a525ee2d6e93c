//! `mumakil theory fluid`: when jobs end on an ideal cluster.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::Form;
use crate::chart::{Axis, Caption, Layer, Look, Stack, Unit};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::lines::Lines;
use crate::cli::progress::Bar;
use crate::cli::table::{Align, table};
use crate::output::write_file;
use crate::statistics::mean;
use crate::theory::DomainError;
use crate::theory::fluid::{Course, Discipline, Exact, FluidJob, Interval, approximate, exact};
use crate::units::tell::{percent, span};
use crate::units::{Factor, Fraction, SimSpan};

/// Print when jobs end on an ideal cluster, under each discipline
///
/// The cluster is divided at will, and neither heartbeats nor preemption take time: a fluid model,
/// computed with exact numbers. Jobs with a share of 100 % meet as on a single server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Disciplines:
  ps    processor sharing: equal shares, and what a job cannot use is for the others
  gps   the same in proportion to the weights (in the table if they differ)
  fsp   one after another, in the order in which they would end under ps
  srpt  the job with the least work left first

Examples:
  mumakil theory fluid --job 0s:30s --job 10s:10s --job 15s:10s
  mumakil theory fluid --job 0s:30s --job 10s:10s:55% --charts shares
  mumakil theory fluid --job 0s:1h --job 0s:1h:100%:3 --csv")]
pub(super) struct Arguments {
    /// A job: when it arrives, how long it takes with the share of the cluster that it can use,
    /// that share [100 %], and its weight [1]; once for each job
    #[arg(long = "job", value_name = "ARRIVAL:TIME[:SHARE[:WEIGHT]]", required = true)]
    jobs: Vec<Job>,
    /// Draw who has which share when: a chart (SVG) of each discipline in this folder
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

/// The exact numbers of more would take minutes.
const MOST_JOBS: usize = 100;

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        if MOST_JOBS < self.jobs.len() {
            return Err(Failure::input(format!("there are more than {MOST_JOBS} jobs")));
        }
        let jobs: Vec<FluidJob> = self.jobs.into_iter().map(|job| job.0).collect();
        let serve = |discipline: Discipline| Ok((discipline, discipline.serve(&jobs)?));
        let courses: Result<Vec<_>, DomainError> = Discipline::ALL.into_iter().map(serve).collect();
        let courses = courses.map_err(Failure::input)?;
        if let Some(folder) = &self.charts {
            interrupt::guard(&Bar::new(), ", some charts were not written");
            courses
                .iter()
                .try_for_each(|(discipline, course)| draw(folder, *discipline, course))?;
        }
        let rows: Vec<Row> = courses
            .iter()
            .flat_map(|(discipline, course)| rows(&jobs, *discipline, course))
            .collect();
        self.form.print(&rows, told)
    }
}

/// A job as it is written on the command line.
#[derive(Clone, Debug)]
struct Job(FluidJob);

impl FromStr for Job {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        let [arrival, time, rest @ ..] = &parts[..] else { return Err(form()) };
        let (most, weight) = match rest {
            [] => ("1", "1"),
            [most] => (*most, "1"),
            [most, weight] => (*most, *weight),
            _ => return Err(form()),
        };
        let most = positive("SHARE", most, number::<Fraction>(most)?)?;
        let weight = positive("WEIGHT", weight, number::<Factor>(weight)?)?;
        let size = positive("TIME", time, seconds(time)?)? * &most;
        Ok(Self(FluidJob { arrival: seconds(arrival)?, size, most, weight }))
    }
}

fn form() -> String {
    "a job is ARRIVAL:TIME, ARRIVAL:TIME:SHARE or ARRIVAL:TIME:SHARE:WEIGHT, such as 10s:30s:55%"
        .to_owned()
}

fn positive(name: &str, text: &str, number: Exact) -> Result<Exact, String> {
    let is_positive = Exact::default() < number;
    if is_positive {
        Ok(number)
    } else {
        Err(format!("{name} is `{text}`, and must be above zero"))
    }
}

fn seconds(text: &str) -> Result<Exact, String> {
    let span: SimSpan = text.parse()?;
    Ok(Exact::new(span.as_micros().into(), 1_000_000.into()))
}

/// Reads a number that the quantity `T` allows, as exactly as it is written: a float that was
/// divided by a hundred no longer is.
fn number<T: FromStr<Err = String>>(text: &str) -> Result<Exact, String> {
    text.parse::<T>()?;
    let (digits, parts) = text.strip_suffix('%').map_or((text, 1), |digits| (digits, 100));
    let number = digits.trim().parse().ok().and_then(exact);
    Ok(number.expect("a quantity is a decimal number") / Exact::from_integer(parts.into()))
}

/// What became of a job under a discipline.
#[derive(Clone, Debug, Serialize)]
struct Row {
    discipline: &'static str,
    job: usize,
    arrival_s: f64,
    time_s: f64,
    share: f64,
    weight: f64,
    finish_s: f64,
    sojourn_s: f64,
}

fn rows(jobs: &[FluidJob], discipline: Discipline, course: &Course) -> impl Iterator<Item = Row> {
    let pairs = (1..).zip(jobs.iter().zip(&course.jobs));
    pairs.map(move |(number, (job, served))| Row {
        discipline: discipline.name(),
        job: number,
        arrival_s: approximate(&job.arrival),
        time_s: approximate(&(&job.size / &job.most)),
        share: approximate(&job.most),
        weight: approximate(&job.weight),
        finish_s: approximate(&served.finish),
        sojourn_s: approximate(&served.sojourn),
    })
}

/// What is known of a job, and its cell.
type Column = (&'static str, fn(&Row) -> String);

const GIVEN: [Column; 4] = [
    ("arrival", |row| span(row.arrival_s)),
    ("time", |row| span(row.time_s)),
    ("share", |row| percent(row.share)),
    ("weight", |row| row.weight.to_string()),
];

/// Returns a table: when each job ends under each discipline, and below how long that takes.
fn told(rows: &[Row]) -> Lines {
    let weighted = rows.iter().any(|row| row.weight != rows[0].weight);
    let given = if weighted { &GIVEN[..] } else { &GIVEN[..3] };
    let courses: Vec<&[Row]> = rows
        .chunk_by(|one, other| one.discipline == other.discipline)
        .filter(|course| weighted || course[0].discipline != Discipline::Gps.name())
        .collect();
    let line = |name: &str, given: Vec<String>, cell: &dyn Fn(&[Row]) -> String| {
        let cells = courses.iter().map(|course| cell(course));
        [name.to_owned()].into_iter().chain(given).chain(cells).collect::<Vec<_>>()
    };
    let blank = || vec![String::new(); given.len()];
    let discipline = |course: &[Row]| course[0].discipline.to_owned();

    let names = given.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut lines = vec![line("finish", names, &discipline)];
    for (place, row) in courses[0].iter().enumerate() {
        let given = given.iter().map(|(_, cell)| cell(row)).collect();
        lines.push(line(&row.name(), given, &|course| span(course[place].finish_s)));
    }
    lines.push(line("sojourn", blank(), &discipline));
    for (place, row) in courses[0].iter().enumerate() {
        lines.push(line(&row.name(), blank(), &|course| span(course[place].sojourn_s)));
    }
    lines.push(line("mean", blank(), &|course| span(mean_sojourn(course))));
    let mut align = vec![Align::Right; lines[0].len()];
    align[0] = Align::Left;
    table(&lines, &align)
}

impl Row {
    fn name(&self) -> String {
        format!("j{}", self.job)
    }
}

fn mean_sojourn(course: &[Row]) -> f64 {
    let sojourns: Vec<f64> = course.iter().map(|row| row.sojourn_s).collect();
    mean(&sojourns).expect("there is a job")
}

/// Writes a chart of the shares over time.
fn draw(folder: &Path, discipline: Discipline, course: &Course) -> Result<(), Failure> {
    let name = discipline.name();
    let layer = |number: usize| {
        let of_interval = |interval: &Interval| {
            let share = approximate(&interval.shares[number]);
            // Between two intervals there may be a time without jobs.
            [(approximate(&interval.from), share), (approximate(&interval.to), 0.0)]
        };
        let steps = course.intervals.iter().flat_map(of_interval).collect();
        Layer { name: format!("j{}", number + 1), look: Look(number), steps, ..Layer::default() }
    };
    let chart = Stack {
        caption: Caption {
            id: format!("fluid-{name}"),
            title: format!("Shares of the cluster under {}", name.to_uppercase()),
            description: "Which share of the cluster each job has over time".to_owned(),
            ..Caption::default()
        },
        x: Axis::linear("Time", Unit::Seconds),
        y: Axis::linear("Share of the cluster", Unit::Share),
        layers: (0..course.jobs.len()).map(layer).collect(),
        capacity: None,
        waiting: None,
        until: course.intervals.last().map_or(0.0, |last| approximate(&last.to)),
        mark: None,
    };
    Ok(write_file(folder, &format!("{name}.svg"), chart.draw().svg().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Job>().unwrap_err()
    }

    #[test]
    fn a_job_is_taken_as_it_is_written() {
        let Job(job) = "1.5s : 10s : 1.3 % : 250%".parse().unwrap();
        let numbers = [&job.arrival, &job.size, &job.most, &job.weight].map(ToString::to_string);
        assert_eq!(numbers, ["3/2", "13/100", "13/1000", "5/2"]);
        let Job(job) = "0:1h".parse().unwrap();
        let numbers = [&job.arrival, &job.size, &job.most, &job.weight].map(ToString::to_string);
        assert_eq!(numbers, ["0", "3600", "1", "1"]);
    }

    #[test]
    fn a_chart_has_a_layer_for_each_job() {
        let room = tempfile::TempDir::new().unwrap();
        let jobs = ["0s:30s", "10s:10s:55%", "13s:10s:35%"];
        let jobs = jobs.map(|text| text.parse::<Job>().unwrap().0);
        draw(room.path(), Discipline::Fsp, &Discipline::Fsp.serve(&jobs).unwrap()).unwrap();
        let chart = std::fs::read_to_string(room.path().join("fsp.svg")).unwrap();
        for layer in ["j2: mean 14.1 %, at most 55 %", "j3: mean 8.97 %, at most 35 %"] {
            assert!(chart.contains(layer), "{chart}");
        }
    }

    #[test]
    fn what_is_no_job_is_said_to_be_none() {
        for text in ["", "10s", "1s:2s:3%:4:5"] {
            assert!(error(text).starts_with("a job is ARRIVAL:TIME, "), "{text}");
        }
        assert!(error("soon:2s").starts_with("`soon` is not a"), "{}", error("soon:2s"));
        assert!(error("1s:2s:105%").starts_with("`105%` is not a share"));
        assert!(error("1s:2s:5%:-1").starts_with("`-1` is not a factor"));
        assert_eq!(error("1s:0s"), "TIME is `0s`, and must be above zero");
        assert_eq!(error("1s:2s:0%"), "SHARE is `0%`, and must be above zero");
        assert_eq!(error("1s:2s:5%:0"), "WEIGHT is `0`, and must be above zero");
    }
}
