//! `perf.json`: what the run cost on this machine, the one file that differs from run to run.

use std::fs;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::{OutputError, RunFolder};
use mumakil_base::files::PERF;
use mumakil_core::mapred::Elsewhere;

/// What a run cost.
#[derive(Clone, Debug, Serialize)]
pub struct Perf {
    /// Real seconds.
    pub wall_s: f64,
    /// Messages delivered in a real second.
    pub messages_per_s: f64,
    /// The most memory that the process had, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// How long the policy thought, in real nanoseconds; `None` if it was never asked.
    pub decision_time_ns: Option<DecisionTime>,
    /// What of that was spent on a policy that is another program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<ElsewhereTime>,
}

/// The time that was spent on a policy that is another program.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ElsewhereTime {
    /// How many questions it has answered.
    pub questions: u64,
    /// How long they took, in real seconds: its thinking, and the way there and back.
    pub seconds: f64,
    /// How many of them it would answer in a second.
    pub questions_per_s: f64,
    /// What share of the run that was.
    pub share: f64,
}

/// The distribution of the time that a policy takes to decide, in real nanoseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DecisionTime {
    /// How often it was asked.
    pub count: u64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub p50: u64,
    /// One in ten is longer.
    pub p90: u64,
    /// One in a hundred is longer.
    pub p99: u64,
    /// One in a thousand is longer.
    pub p999: u64,
    /// The longest.
    pub max: u64,
}

impl Perf {
    /// Returns the cost of a run that ends now, in this process.
    pub fn new(
        wall: Duration,
        messages: u64,
        decisions: &Histogram<u64>,
        elsewhere: Option<Elsewhere>,
    ) -> Self {
        let wall_s = wall.as_secs_f64();
        let told = |elsewhere: Elsewhere| ElsewhereTime {
            questions: elsewhere.questions,
            seconds: elsewhere.waited.as_secs_f64(),
            questions_per_s: elsewhere.per_second(),
            share: elsewhere.share_of(wall),
        };
        Self {
            wall_s,
            messages_per_s: (messages as f64 / wall_s.max(1e-9)).round(),
            peak_memory_bytes: peak_memory(),
            decision_time_ns: DecisionTime::of(decisions),
            elsewhere: elsewhere.map(told),
        }
    }

    /// Writes `perf.json`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &RunFolder) -> Result<(), OutputError> {
        folder.write_json(PERF, self)
    }
}

impl DecisionTime {
    fn of(decisions: &Histogram<u64>) -> Option<Self> {
        (!decisions.is_empty()).then(|| Self {
            count: decisions.len(),
            mean: decisions.mean().round(),
            p50: decisions.value_at_quantile(0.5),
            p90: decisions.value_at_quantile(0.9),
            p99: decisions.value_at_quantile(0.99),
            p999: decisions.value_at_quantile(0.999),
            max: decisions.max(),
        })
    }
}

/// Returns the most memory that this process had. Linux tells it in a file, in KiB.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
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
        let perf = Perf::new(Duration::from_millis(500), 1_000_000, &decisions, None);
        Perf { peak_memory_bytes: Some(4_096), ..perf }.write(&folder).unwrap();
        insta::assert_snapshot!(fs::read_to_string(folder.path().join(PERF)).unwrap(), @r#"
        {
          "wall_s": 0.5,
          "messages_per_s": 2000000.0,
          "peak_memory_bytes": 4096,
          "decision_time_ns": {
            "count": 1000,
            "mean": 501.0,
            "p50": 500,
            "p90": 900,
            "p99": 990,
            "p999": 999,
            "max": 1000
          }
        }
        "#);
    }

    #[test]
    fn the_time_of_another_program_is_told_apart() {
        let perf = |told| Perf::new(Duration::from_secs(8), 1, &Histogram::new(3).unwrap(), told);
        assert!(!serde_json::to_string(&perf(None)).unwrap().contains("elsewhere"));
        let perf = perf(Some(Elsewhere { questions: 100, waited: Duration::from_secs(2) }));
        assert_eq!(
            serde_json::to_value(perf.elsewhere).unwrap(),
            serde_json::json!({"questions": 100, "seconds": 2.0, "questions_per_s": 50.0, "share": 0.25})
        );
    }

    #[test]
    fn a_policy_that_was_never_asked_has_no_decision_time() {
        let perf = Perf::new(Duration::ZERO, 0, &Histogram::new(3).unwrap(), None);
        assert!(perf.decision_time_ns.is_none());
        assert_eq!(perf.messages_per_s, 0.0);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_tells_the_peak_of_memory() {
        assert!(peak_memory().is_some_and(|bytes| 1 << 20 < bytes));
    }
}
