//! `SCENARIO`: a file, or the name of a scenario that Mumakil brings.

use std::path::Path;

use super::failure::Failure;
use crate::scenario::{self, ClockSpec, Loaded, Registry};

/// A scenario in the binary.
pub(super) struct Starter {
    /// Its name.
    pub(super) name: &'static str,
    /// Its text.
    pub(super) text: &'static str,
}

macro_rules! starters {
    ($($name:literal)*) => {
        &[$(Starter {
            name: $name,
            text: include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"), "/scenarios/", $name, ".yaml"
            )),
        }),*]
    };
}

/// The scenarios in the binary, in the order in which one would read them.
pub(super) const STARTERS: &[Starter] =
    starters!("quickstart" "commit-pending" "faults" "fb2009-like");

/// What the command line puts over a scenario.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    /// Arguments of the form `path=value`.
    pub(super) sets: Vec<String>,
    /// The seed.
    pub(super) seed: Option<u64>,
    /// The clock.
    pub(super) clock: Option<ClockSpec>,
}

impl Starter {
    /// Returns the starter of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        STARTERS.iter().find(|starter| starter.name == name)
    }

    /// Returns the question that it answers: the first line of its text.
    pub(super) fn question(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }
}

/// Loads a scenario. A file wins over a starter of the same name.
pub(super) fn load(
    scenario: &Path,
    overrides: Overrides,
    registry: &Registry,
) -> Result<Loaded, Failure> {
    let Overrides { mut sets, seed, clock } = overrides;
    let name = scenario.to_str().filter(|_| !scenario.is_file()).unwrap_or_default();
    if let Some(starter) = Starter::find(name) {
        sets.extend(seed.map(|seed| format!("seed={seed}")));
        sets.extend(clock.map(|clock| format!("clock={clock}")));
        return Ok(scenario::parse(starter.name, starter.text, &sets, registry)?);
    }
    if !name.is_empty() && !name.contains(['/', '\\', '.']) && !scenario.exists() {
        let names: Vec<&str> = STARTERS.iter().map(|starter| starter.name).collect();
        return Err(Failure::input(format!(
            "no scenario `{name}`: there is no such file, and Mumakil brings {}",
            names.join(", ")
        )));
    }
    let clock = clock.map(|clock| clock.to_string());
    Ok(scenario::load(scenario, &sets, seed, clock.as_deref(), registry)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_starter_is_named_after_its_file_and_opens_with_its_question() {
        for starter in STARTERS {
            let registry = Registry::builtin();
            let loaded = load(starter.name.as_ref(), Overrides::default(), &registry).unwrap();
            assert_eq!(loaded.scenario.name.as_str(), starter.name);
            assert!(starter.question().ends_with('?'), "{}", starter.question());
        }
    }

    #[test]
    fn the_command_line_has_the_last_word() {
        let overrides = Overrides {
            sets: vec!["seed=1".to_owned(), "clock=2x".to_owned()],
            seed: Some(7),
            clock: Some(ClockSpec::Virtual),
        };
        let loaded = load("quickstart".as_ref(), overrides, &Registry::builtin()).unwrap();
        assert_eq!((loaded.scenario.seed, loaded.scenario.clock), (7, ClockSpec::Virtual));
    }
}
