//! `perf.json`: the cost of the run on this machine. It is the one file that differs from run to
//! run. It also keeps the digest and the checksums of the other files.

use std::fs;
use std::ops::AddAssign;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use super::{Digest, OutputError, RunChecksums, RunFolder};
use crate::MODEL;
use mumakil_base::files::PERF;
use mumakil_base::units::tell::{self, Detail};
use mumakil_core::mapred::ExternalWork;

/// Writes the cost of a run that has just ended in this process: wall time, messages, the time of
/// decisions in nanoseconds, and the time of a policy that is another program; with the digest and
/// the checksums of the run's files.
pub fn write_perf(
    folder: &RunFolder,
    wall: Duration,
    messages: u64,
    decisions: &Histogram<u64>,
    external_work: Option<ExternalWork>,
    (digest, checksums): &(Digest, RunChecksums),
) -> Result<(), OutputError> {
    let mut perf = cost(wall, messages, decisions);
    perf["digest"] = digest.to_string().into();
    perf["sha256"] = digest.hex().into();
    let kept = serde_json::to_value(checksums).expect("texts are JSON");
    for (key, value) in kept.as_object().into_iter().flatten() {
        perf[key] = value.clone();
    }
    if let Some(external_work) = external_work {
        perf["elsewhere"] = external_cost(wall, external_work);
    }
    folder.write_json(PERF, &perf)
}

fn cost(wall: Duration, messages: u64, decisions: &Histogram<u64>) -> Value {
    let wall_s = wall.as_secs_f64();
    let decision_time = (!decisions.is_empty()).then(|| {
        json!({
            "count": decisions.len(),
            "mean": decisions.mean().round(),
            "p50": decisions.value_at_quantile(0.5),
            "p90": decisions.value_at_quantile(0.9),
            "p99": decisions.value_at_quantile(0.99),
            "p999": decisions.value_at_quantile(0.999),
            "max": decisions.max(),
        })
    });
    json!({
        "model": MODEL,
        "wall_s": wall_s,
        // A run may be shorter than the clock's resolution; JSON has no infinite numbers.
        "messages_per_s": (messages as f64 / wall_s.max(1e-9)).round(),
        "peak_memory_bytes": peak_memory(),
        // `null` if the policy was never asked.
        "decision_time_ns": decision_time,
    })
}

/// Returns the time spent on a policy that is another program, communication included.
fn external_cost(wall: Duration, external_work: ExternalWork) -> Value {
    json!({
        "questions": external_work.questions,
        "seconds": external_work.waited.as_secs_f64(),
        "questions_per_s": external_work.per_second(),
        "share": external_work.share_of(wall),
    })
}

/// The real time that the decisions of a policy took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DecisionCost {
    /// How often the policy was asked; if it is a program, how many questions it answered.
    pub decisions: u64,
    /// The time of all decisions, in seconds.
    pub seconds: f64,
    /// The time of the runs, in seconds.
    pub wall_s: f64,
}

impl DecisionCost {
    /// Reads the cost in a `perf.json`.
    pub(crate) fn of(perf: &Value) -> Self {
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        let (elsewhere, own) = (&perf["elsewhere"], &perf["decision_time_ns"]);
        let (decisions, seconds) = match elsewhere.is_null() {
            false => (number(&elsewhere["questions"]), number(&elsewhere["seconds"])),
            true => {
                let count = number(&own["count"]);
                (count, count * number(&own["mean"]) / 1e9)
            }
        };
        Self { decisions: decisions as u64, seconds, wall_s: number(&perf["wall_s"]) }
    }

    /// Returns the cost in words.
    pub fn words(&self) -> String {
        let each = tell::time(self.seconds / self.decisions.max(1) as f64, Detail::Mark);
        let share = tell::percent(self.seconds / self.wall_s.max(1e-9));
        format!(
            "{each} for each of {}, {share} of the time",
            tell::counted(self.decisions, "decision")
        )
    }
}

impl AddAssign for DecisionCost {
    fn add_assign(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.seconds += other.seconds;
        self.wall_s += other.wall_s;
    }
}

/// Returns the peak memory of this process in bytes; `None` except on Linux.
pub fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    // `VmHWM` is the high-water mark of the resident memory; other systems have no such file.
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_cost_of_a_run_is_json() {
        let room = TempDir::new().unwrap();
        let folder = RunFolder::create(&room.path().join("run"), false).unwrap();
        let mut decisions = Histogram::new(3).unwrap();
        (1..=1_000).for_each(|nanos| decisions.record(nanos).unwrap());
        let wall = Duration::from_millis(500);
        fs::write(folder.path().join("jobs.csv"), "job\n").unwrap();
        let sums = RunChecksums::of(folder.path(), Some("81c2".to_owned())).unwrap();
        write_perf(&folder, wall, 1_000_000, &decisions, None, &sums).unwrap();
        let text = fs::read_to_string(folder.path().join(PERF)).unwrap();
        let is_memory = |line: &&str| line.contains("peak_memory_bytes");
        assert_eq!(text.lines().filter(is_memory).count(), 1);
        // The number of the model changes with the model.
        let is_model = |line: &&str| line.contains("\"model\"");
        let lines: Vec<&str> =
            text.lines().filter(|line| !is_memory(line) && !is_model(line)).collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        {
          "wall_s": 0.5,
          "messages_per_s": 2000000.0,
          "decision_time_ns": {
            "count": 1000,
            "mean": 501.0,
            "p50": 500,
            "p90": 900,
            "p99": 990,
            "p999": 999,
            "max": 1000
          },
          "digest": "baheviso",
          "sha256": "a3e3042a91ac444010d8ef1d711ce93620b8c269a886633c8dc58eab0d5d234e",
          "run": "81c2",
          "checksums": {
            "jobs.csv": "814aa45d"
          }
        }
        "#);
    }

    #[test]
    fn the_time_of_another_program_is_told_apart() {
        let external_work = ExternalWork { questions: 100, waited: Duration::from_secs(2) };
        assert_eq!(
            external_cost(Duration::from_secs(8), external_work),
            json!({"questions": 100, "seconds": 2.0, "questions_per_s": 50.0, "share": 0.25})
        );
    }

    #[test]
    fn a_policy_that_was_never_asked_has_no_decision_time() {
        let perf = cost(Duration::ZERO, 0, &Histogram::new(3).unwrap());
        assert!(perf["decision_time_ns"].is_null());
        assert_eq!(perf["messages_per_s"], 0.0);
        assert_eq!(perf.get("elsewhere"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_the_peak_of_memory() {
        assert!(peak_memory().is_some_and(|bytes| 1 << 20 < bytes));
    }
}
