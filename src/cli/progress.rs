//! The progress of one or many runs: a bar on a terminal, or a line a minute in a log.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indexmap::IndexMap;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use parking_lot::Mutex;

use super::lines::plain;
use super::minutes::{self, MINUTE, Minutes, RunCounts};
use super::terminal;
use super::ticker::Ticker;
use mumakil_base::units::{SimSpan, tell};
use mumakil_run::record::{OnProgress, RunProgress};
use mumakil_scenario::Scenario;
use mumakil_study::StudyPace;

/// The steps of a run's bar.
// Chosen: finer than the sixteen columns of the bar, so that the estimated time changes smoothly.
const STEPS: u64 = 1_000;

/// The bar's width in columns; with it, the whole line fits into 80 columns.
const WIDTH: usize = 16;

/// A bar that appears when a run takes a while; without a terminal it prints nothing.
#[derive(Debug, Clone)]
pub struct RunBar {
    bar: ProgressBar,
}

impl Default for RunBar {
    /// Returns a bar that is not shown yet.
    fn default() -> Self {
        // `ProgressBar` draws on stderr, and only if that is a terminal.
        let bar = ProgressBar::new(STEPS);
        let style = ProgressStyle::with_template(&format!("{{bar:{WIDTH}}} {{msg}}{{left}}"))
            .expect("the template is right");
        bar.set_style(style.with_key("left", told_left));
        Self { bar }
    }
}

impl RunBar {
    /// Returns the function to which a run with `jobs` jobs reports its progress.
    pub fn watch(&self, scenario: &Scenario, jobs: u64) -> OnProgress {
        let (bar, until) = (self.bar.clone(), scenario.until);
        let (is_watched, mut lines) = (terminal::is_watched(), Minutes::default());
        Box::new(move |progress| {
            if !is_watched && lines.is_due(bar.elapsed()) {
                let clock = minutes::clock();
                let line = minutes::of_jobs(&clock, progress, jobs, until, bar.elapsed());
                terminal::pass_on(&line);
            }
            bar.set_position((share(progress, jobs, until) * STEPS as f64) as u64);
            show(&bar, &message(progress, jobs, bar.elapsed()));
        })
    }

    /// Removes the bar for good.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Writes how much time is left, once something is done by which to estimate it.
fn told_left(state: &ProgressState, to: &mut dyn fmt::Write) {
    if 0 < state.pos() {
        let _ = write!(to, "   {:#} left", HumanDuration(state.eta()));
    }
}

/// Counts the jobs of a trace as they are read; without a terminal it prints nothing.
#[derive(Debug)]
pub(crate) struct JobCount(ProgressBar);

impl JobCount {
    /// Returns a count that begins at zero.
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{human_pos} jobs read");
        Self(ProgressBar::no_length().with_style(style.expect("the template is right")))
    }

    pub(crate) fn tick(&self) {
        self.0.inc(1);
    }
}

impl Drop for JobCount {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar for the runs of a study, with the names of the runs in progress.
#[derive(Debug)]
pub struct StudyBar {
    /// The bar.
    pub bar: RunBar,
    in_flight: Mutex<IndexMap<usize, String>>,
    failed: Arc<AtomicU64>,
    /// Writes the lines of a log, if there is no terminal.
    _lines: Option<Ticker>,
}

impl StudyBar {
    /// Returns a bar that counts runs, or another `thing`; a quiet bar prints nothing.
    pub fn new(thing: &'static str, quiet: bool) -> Self {
        let bar = ProgressBar::new(0);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template(&format!(
            "{{bar:{WIDTH}}} {{pos}}/{{len}}{{left}}   {{wide_msg}}"
        ))
        .expect("the template is right");
        bar.set_style(style.with_key("left", told_left));
        let failed = Arc::new(AtomicU64::new(0));
        let lines = (!quiet && !terminal::is_watched()).then(|| lines(thing, &bar, &failed));
        Self { bar: RunBar { bar }, in_flight: Mutex::default(), failed, _lines: lines }
    }

    /// Adds runs to the total.
    pub fn more(&self, runs: usize) {
        self.bar.bar.inc_length(runs as u64);
    }

    /// Counts a run that is done and was not announced with [`StudyBar::begin`].
    pub fn tick(&self) {
        self.bar.bar.inc(1);
    }

    /// Hides the bar while `print` prints.
    pub fn beside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.bar.suspend(print)
    }

    /// Shows the name of a run that has begun.
    pub fn begin(&self, run: usize, name: String) {
        self.in_flight.lock().insert(run, name);
        self.show();
    }

    /// Counts a run that has ended, and removes its name.
    pub fn end(&self, run: usize) {
        // `shift_remove` keeps the order of the other names, so that they do not jump.
        self.in_flight.lock().shift_remove(&run);
        self.bar.bar.inc(1);
        self.show();
    }

    /// Counts a run that has failed, and removes its name.
    pub fn fail(&self, run: usize) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.end(run);
    }

    fn show(&self) {
        let names: Vec<String> = self.in_flight.lock().values().cloned().collect();
        show(&self.bar.bar, &names.join(" | "));
    }

    /// Removes the bar for good.
    pub fn clear(&self) {
        self.bar.clear();
    }
}

/// Writes a line a minute about the bar's counts, while work is left.
fn lines(thing: &'static str, bar: &ProgressBar, failed: &Arc<AtomicU64>) -> Ticker {
    let (bar, failed, mut pace) = (bar.clone(), failed.clone(), StudyPace::default());
    Ticker::new([MINUTE; 2], move || {
        let (ended, of) = (bar.position(), bar.length().unwrap_or(0));
        pace.note(bar.elapsed(), ended);
        if ended < of {
            let counts = RunCounts { ended, of, failed: failed.load(Ordering::Relaxed) };
            let clock = minutes::clock();
            terminal::pass_on(&minutes::of_runs(&clock, thing, counts, pace.per_minute()));
        }
    })
}

/// Shows a text after a bar.
fn show(bar: &ProgressBar, words: &str) {
    bar.set_message(plain(words).into_owned());
}

/// Returns the share of a run that is done: of its jobs, or of its time if that is more.
pub fn share(progress: &RunProgress, jobs: u64, until: Option<SimSpan>) -> f64 {
    let of_jobs = f64::from(progress.ended) / (jobs as f64).max(1.0);
    // A run with `until` may end before its jobs do, so the larger share counts.
    let of_time = until.map_or(0.0, |until| progress.now.as_secs_f64() / until.as_secs_f64());
    of_jobs.max(of_time).clamp(0.0, 1.0)
}

fn message(progress: &RunProgress, jobs: u64, real: Duration) -> String {
    let cluster_time = progress.now.as_secs_f64();
    // Avoid a division by zero: the first call may come before the clock has advanced.
    let speed_up = cluster_time / real.as_secs_f64().max(1e-9);
    format!(
        "{} of {jobs} jobs   {} passed at {}",
        progress.ended,
        tell::span(cluster_time),
        tell::times(speed_up)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimTime;

    fn progress(ended: u32, secs: u64) -> RunProgress {
        let now = SimTime::from_micros(secs * 1_000_000);
        RunProgress { now, submitted: 10, ended, attempts: 0, events: 0 }
    }

    #[test]
    fn progress_is_that_of_the_jobs_or_of_the_time() {
        let hour = Some(SimSpan::from_secs(3_600));
        assert_eq!(share(&progress(5, 60), 10, None), 0.5);
        assert_eq!(share(&progress(5, 2_700), 10, hour), 0.75);
        assert_eq!(share(&progress(0, 0), 0, Some(SimSpan::ZERO)), 0.0);
        assert_eq!(share(&progress(0, 9_000), 10, hour), 1.0);
    }

    #[test]
    fn a_message_says_how_fast_time_passes() {
        let message = message(&progress(5, 7_200), 10, Duration::from_millis(500));
        assert_eq!(message, "5 of 10 jobs   2 h 00 min passed at 14,400x");
    }

    #[test]
    fn the_line_of_a_large_run_fits_into_80_columns() {
        let message = message(&progress(10_000, 848), 16_000, Duration::from_millis(40));
        let line = format!("{} {message}   14m left", "#".repeat(WIDTH));
        assert!(line.len() <= 80, "{line}");
    }
}
