//! `mumakil calibrate`: which scaled clock this machine holds, and when a JobTracker is saturated.

use super::failure::Failure;
use super::interrupt;
use super::lines::Lines;
use super::progress::StudyBar;
use super::run::real;
use super::table::{Align, table};
use super::terminal;
use crate::emulation::calibrate::{
    Calibration, HEARTBEAT, Held, Point, Service, Step, TOO_LATE, calibrate,
};
use crate::scenario::Registry;
use crate::units::SimSpan;
use crate::units::tell::{self, Detail, count, counted};

/// Find the fastest scaled clock that this machine holds
///
/// A factor holds if one message in a hundred is late by less than a tenth of the heartbeat interval,
/// and if at least half of the heartbeats that are due are answered. It is searched by runs of half a
/// second with a busy cluster, each twice as fast until one does not hold, then in between. What else
/// the machine does meanwhile counts, so let it do nothing else.
///
/// The second table is of the virtual clock: how heartbeats fare in larger and larger clusters, with the
/// service time that a JobTracker has by default, and with what this machine's really takes for one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  clock       the largest factor that holds, as for `--clock`
  p99 lag     how late one message in a hundred was then, or later, in virtual time
  service     what a heartbeat takes the JobTracker
  wait        how long one waits at the JobTracker until it is served, on average
  round trip  the round trip of one heartbeat in a hundred, or longer

Examples:
  mumakil calibrate
  mumakil calibrate --nodes 20,200,2000 --time-limit 5min
  mumakil calibrate --json > this-machine.json")]
pub(super) struct Arguments {
    /// Nodes of the clusters for which the clock is searched
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "100,1000")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100_000))]
    nodes: Vec<u32>,
    /// Begin no more runs after so much real time; what is known by then is printed
    #[arg(long, value_name = "TIME", default_value = "1min")]
    time_limit: SimSpan,
    /// Print an object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let bar = StudyBar::new("run", !terminal::is_watched());
        interrupt::guard(bar.bar(), "");
        let mut begun = 0;
        let result = calibrate(&self.nodes, real(self.time_limit), registry, |step| {
            if 0 < begun {
                bar.end(begun);
            }
            begun += 1;
            bar.more(1);
            bar.begin(begun, told_of_step(step));
        });
        bar.clear();
        let found = result?;
        Ok(if self.json {
            let json = serde_json::to_string_pretty(&found).expect("numbers are JSON");
            terminal::print_file(&(json + "\n"))
        } else {
            terminal::print(&told(&found))
        }?)
    }
}

fn told_of_step(Step { nodes, factor }: Step) -> String {
    let nodes = counted(nodes.into(), "node");
    factor.map_or_else(|| nodes.clone(), |factor| format!("{nodes} at {}", tell::times(factor)))
}

fn told(found: &Calibration) -> Lines {
    let mut lines = Lines::default();
    lines.bold(
        "scaled clock",
        format!(
            " · a heartbeat every {}, the lag below {}",
            time(HEARTBEAT.as_secs_f64()),
            time(TOO_LATE.as_secs_f64())
        ),
    );
    let head = ["nodes", "clock", "p99 lag", "runs", ""].map(str::to_owned).to_vec();
    let rows = [head].into_iter().chain(found.clocks.iter().map(row_of_clock));
    let right = Align::Right;
    lines += table(&rows.collect::<Vec<_>>(), &[right, right, right, right, Align::Left]);
    if let Some(last) = found.job_tracker.last() {
        lines.end();
        lines.bold("JobTracker", " · heartbeats by the modelled service time and by the real one");
        let head = ["nodes", "service", "wait", "round trip", "real service", "wait", "round trip"];
        let head = head.map(str::to_owned).to_vec();
        let rows: Vec<_> =
            [head].into_iter().chain(found.job_tracker.iter().map(row_of_point)).collect();
        lines += table(&rows, &[right; 7]);
        lines.line(format!(
            "busy all the time from about {} on as modelled, from {} on in reality",
            counted(saturation(&last.modelled), "node"),
            count(saturation(&last.real)),
        ));
    }
    lines
}

fn row_of_clock(held: &Held) -> Vec<String> {
    let is_known = held.is_complete || held.factor.is_none();
    let factor = |factor| format!("{}{factor}x", if is_known { "" } else { "≥ " });
    vec![
        count(held.nodes.into()),
        held.factor.map_or_else(|| "-".to_owned(), factor),
        held.p99_lag_s.map_or_else(|| "-".to_owned(), time),
        held.runs.to_string(),
        if held.is_complete { "" } else { "the time was up" }.to_owned(),
    ]
}

fn row_of_point(Point { nodes, modelled, real }: &Point) -> Vec<String> {
    let of_service = |service: &Service| {
        [service.service_s, service.mean_wait_s, service.p99_round_trip_s].map(time)
    };
    let cells = [modelled, real].into_iter().flat_map(of_service);
    [count((*nodes).into())].into_iter().chain(cells).collect()
}

/// Returns how many nodes keep a JobTracker busy, in two digits: it is a guess.
fn saturation(service: &Service) -> u64 {
    let nodes = HEARTBEAT.as_secs_f64() / service.service_s;
    let step = 10f64.powf(nodes.log10().floor() - 1.0).max(1.0);
    ((nodes / step).round() * step) as u64
}

fn time(seconds: f64) -> String {
    tell::time(seconds, Detail::Mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_told_in_two_tables() {
        let service = |service_s, mean_wait_s| Service {
            service_s,
            mean_wait_s,
            p99_round_trip_s: mean_wait_s * 2.0 + 1e-3,
        };
        let held = |nodes, factor: Option<f64>, is_complete| {
            let p99_lag_s = factor.map(|_| 0.25);
            Held { nodes, factor, p99_lag_s, runs: 12, is_complete }
        };
        let found = Calibration {
            heartbeat_s: 3.0,
            clocks: vec![
                held(100, Some(1_200.0), true),
                held(1_000, Some(64.0), false),
                held(9_000, None, true),
            ],
            job_tracker: vec![Point {
                nodes: 4_000,
                modelled: service(1e-3, 10.0),
                real: service(1.87e-6, 0.0),
            }],
        };
        let told = told(&found).bare();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            told.lines().map(words).collect::<Vec<_>>(),
            [
                "scaled clock · a heartbeat every 3 s, the lag below 300 ms",
                "nodes clock p99 lag runs",
                "100 1200x 250 ms 12",
                "1,000 ≥ 64x 250 ms 12 the time was up",
                "9,000 - - 12",
                "",
                "JobTracker · heartbeats by the modelled service time and by the real one",
                "nodes service wait round trip real service wait round trip",
                "4,000 1 ms 10 s 20 s 1.87 µs 0 s 1 ms",
                "busy all the time from about 3,000 nodes on as modelled, from 1,600,000 on in reality",
            ]
        );
    }

    #[test]
    fn a_run_is_told_by_its_size_and_its_clock() {
        let step = |factor| told_of_step(Step { nodes: 1_000, factor });
        assert_eq!(step(None), "1,000 nodes");
        assert_eq!(step(Some(32.0)), "1,000 nodes at 32x");
    }
}
