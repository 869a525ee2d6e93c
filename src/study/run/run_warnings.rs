//! The warnings of a study's runs: each warning once, with the number of runs that gave it.

use indexmap::IndexMap;

use mumakil_base::units::tell::counted;
use mumakil_run::emulation::RunWarning;

/// The warnings of a study's runs.
#[derive(Clone, Debug, Default)]
pub struct RunWarnings {
    /// For each kind of warning, one warning and the number of runs that gave it. If the clock was
    /// late, this is the worst warning.
    found: IndexMap<String, (RunWarning, u64)>,
}

impl RunWarnings {
    /// Notes the warnings of a run.
    pub fn note(&mut self, warnings: Vec<RunWarning>) {
        for warning in warnings {
            let kind = match &warning {
                // Each late run is late by a different time; count all of them as one kind.
                RunWarning::Lag { .. } => String::new(),
                other => other.to_string(),
            };
            let (worst, runs) = self.found.entry(kind).or_insert_with(|| (warning.clone(), 0));
            *runs += 1;
            if let (RunWarning::Lag { holds: least, .. }, RunWarning::Lag { holds, .. }) =
                (&*worst, &warning)
                && holds < least
            {
                *worst = warning;
            }
        }
    }

    /// Returns the warnings in words, in the order in which they first came.
    pub fn told(&self) -> impl Iterator<Item = String> {
        self.found.values().map(|(warning, runs)| {
            let worst = match warning {
                RunWarning::Lag { .. } if 1 < *runs => ", here the worst",
                _ => "",
            };
            format!("in {}{worst}: {warning}", counted(*runs, "run"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimSpan;

    #[test]
    fn each_is_told_once_with_how_many_runs_have_it_and_the_worst_lag() {
        let lag = |holds: f64| RunWarning::Lag {
            p99: SimSpan::from_secs(1),
            interval: SimSpan::from_secs(3),
            holds,
        };
        let mut doubts = RunWarnings::default();
        doubts.note(vec![lag(240.0)]);
        doubts.note(vec![lag(120.0), RunWarning::NothingCounted]);
        doubts.note(vec![]);
        let told: Vec<String> = doubts.told().collect();
        assert!(
            told[0].starts_with("in 2 runs, here the worst: the clock was late by"),
            "{told:?}"
        );
        assert!(told[0].ends_with("`--clock 120x`"), "{told:?}");
        assert!(told[1].starts_with("in 1 run: no job came after the warm-up"), "{told:?}");
        assert_eq!(told.len(), 2);
    }
}
