//! Actions of the user at a pause, which become entries of the scenario, in `faults` or `later`:
//! ```text
//! stop, start a node; kill a job          faults: [{at: 10000001us, stop: node-2}]
//! submit, change a job; another policy    later:  [{at: 10000001us, submit: {name: c, maps: 1}}]
//! ```

use serde_yaml::Value;

use super::session::SessionRefusal;
use mumakil_base::units::SimTime;
use mumakil_base::units::tell::listed;
use mumakil_core::cluster::TrackerId;
use mumakil_core::mapred::ProgramPermit;
use mumakil_run::emulation::{EmulationError, Prepared};
use mumakil_scenario::{Draft, Registry, Scenario, Warning};

/// An action of the user on the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum UserAction {
    /// A machine stops.
    Stop(u32),
    /// A stopped machine starts.
    Start(u32),
    /// A job is killed.
    Kill(String),
    /// A job gets another priority or pool, given as in `later.change`.
    Change(Value),
    /// A job is submitted, given as in `workload.jobs`.
    Submit(Value),
    /// Another policy takes over.
    Scheduler(Value),
}

impl UserAction {
    /// Returns the key of the scenario's list for the action, and the action's entry in that list.
    fn entry(&self, at: SimTime) -> (&'static str, Value) {
        let node = |number: u32| TrackerId(number).to_string().into();
        let (list, key, value) = match self {
            Self::Stop(number) => ("faults", "stop", node(*number)),
            Self::Start(number) => ("faults", "start", node(*number)),
            Self::Kill(job) => ("faults", "kill", job.as_str().into()),
            Self::Change(change) => ("later", "change", change.clone()),
            Self::Submit(job) => ("later", "submit", job.clone()),
            Self::Scheduler(choice) => ("later", "scheduler", choice.clone()),
        };
        // Write microseconds, the unit of the clock: fractions of seconds would be rounded.
        let at = Value::from(format!("{}us", at.as_micros()));
        let entry = [("at", at), (key, value)].map(|(key, value)| (Value::from(key), value));
        (list, Value::Mapping(entry.into_iter().collect()))
    }

    /// Returns the action in words, for the log.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Stop(number) => format!("{} is stopped", TrackerId(*number)),
            Self::Start(number) => format!("{} is started", TrackerId(*number)),
            Self::Kill(job) => format!("the job {job} is killed"),
            Self::Change(change) => {
                let text = |key: &str| change.get(key).and_then(Value::as_str);
                let keys = ["priority", "pool"].into_iter();
                let values = keys.filter_map(|key| Some(format!("{key} {}", text(key)?)));
                let new = values.collect::<Vec<_>>().join(", ");
                format!("the job {} gets {new}", text("job").unwrap_or_default())
            }
            Self::Submit(job) => match job.get("name").and_then(Value::as_str) {
                Some(name) => format!("the job {name} is submitted"),
                None => "a job is submitted".to_owned(),
            },
            Self::Scheduler(choice) => {
                let key = choice.as_mapping().and_then(|options| options.keys().next()?.as_str());
                let name = choice.as_str().or(key).unwrap_or("another policy");
                format!("{name} takes over")
            }
        }
    }
}

/// Returns a registry without the rights that the page of a session must not have: the token of a
/// session is a permission to act on the run, not on the machine. The page reads no files, and starts
/// no programs but those of the first scenario.
pub fn restricted(registry: &Registry, first: &Scenario) -> Registry {
    let mut registry = registry.clone();
    registry.option_files = None;
    if registry.permit().refusal().is_none() {
        registry.permit_programs(ProgramPermit::Only(first.programs.as_slice().into()));
    }
    registry
}

/// Returns an error if a changed scenario starts programs that the first one does not name. Without
/// this, only the start would be refused, and the run would be over.
fn expect_known_programs(changed: &Scenario, first: &Scenario) -> Result<(), SessionRefusal> {
    let unknown = (changed.programs.iter())
        .find(|program| !first.programs.iter().any(|known| known.equals(program)));
    let Some(strange) = unknown else { return Ok(()) };
    let names: Vec<String> = first.programs.iter().map(|known| format!("`{known}`")).collect();
    let those = if names.is_empty() { "it names none".to_owned() } else { listed(names, "and") };
    Err(SessionRefusal::Wrong(format!(
        "the page starts only programs that the scenario names, with the same `command` and \
         `environment` ({those}); to have `{strange}` take over, put it into the scenario, under `later`"
    )))
}

/// An action, and the instant when it takes effect.
pub(super) type TimedAction = (SimTime, UserAction);

/// Returns the pause at which an action was taken: a microsecond before it takes effect.
pub(super) fn before(deed: SimTime) -> SimTime {
    SimTime::from_micros(deed.as_micros().saturating_sub(1))
}

/// Returns a scenario with actions added, and its warnings.
pub(super) fn with(
    scenario: &Scenario,
    done: &[TimedAction],
    registry: &Registry,
) -> Result<(Prepared, Vec<Warning>), SessionRefusal> {
    let wrong = |error: &dyn std::fmt::Display| SessionRefusal::Wrong(error.to_string());
    // Go through YAML text, so that an action gets the same checks and messages as a written entry.
    let mut tree: Value =
        serde_yaml::from_str(&scenario.to_yaml()).map_err(|error| wrong(&error))?;
    for (at, deed) in done {
        let (list, entry) = deed.entry(*at);
        if let Some(root) = tree.as_mapping_mut() {
            let list = root.entry(list.into()).or_insert_with(|| Value::Sequence(Vec::new()));
            if let Some(list) = list.as_sequence_mut() {
                list.push(entry);
            }
        }
    }
    let text = serde_yaml::to_string(&tree).map_err(|error| wrong(&error))?;
    // Place the file beside the scenario: relative paths of traces start there.
    let file = scenario.folder.join("session.yaml").display().to_string();
    let draft = Draft::of(&file, &text).map_err(|error| wrong(&error))?;
    let loaded = draft.resolve(registry).map_err(|error| wrong(&error))?;
    expect_known_programs(&loaded.scenario, scenario)?;
    let prepared =
        Prepared::new(loaded.scenario, registry).map_err(|error: EmulationError| wrong(&error))?;
    // The user was told of the scenario's programs when the session began.
    let warnings = loaded.warnings.into_iter().filter(|warning| !warning.is_urgent());
    Ok((prepared, warnings.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimSpan;
    use mumakil_scenario as scenario;

    const ONE_JOB: &str =
        "{cluster: {nodes: 3}, workload: {jobs: [{name: a, maps: 9, map_time: 20s}]}}";

    #[test]
    fn actions_are_written_a_microsecond_behind_the_pause() {
        let registry = crate::testing::registry();
        let at = SimTime::ZERO + SimSpan::from_secs(10) + SimSpan::from_micros(1);
        let first = scenario::parse("one.yaml", ONE_JOB, &[], &registry).unwrap().scenario;
        let job = serde_yaml::from_str("{name: c, maps: 1, map_time: 5s}").unwrap();
        let done =
            [UserAction::Stop(1), UserAction::Submit(job), UserAction::Scheduler("fair".into())]
                .map(|deed| (at, deed));
        let (made, _) = with(&first, &done, &registry).unwrap();
        let yaml = made.scenario.to_yaml();
        assert!(yaml.contains("stop: node-2") && yaml.contains("at: 10000001us"), "{yaml}");
        assert_eq!((made.scenario.faults.len(), made.scenario.later.len()), (1, 2));
        // A typing error away from ten jobs: memory would not hold their tasks, and the page would
        // wait for ever.
        let many = "{name: d, maps: 10000000, count: 20, map_time: 1s}";
        let long = format!("{{name: {}, maps: 1, map_time: 1s}}", "d".repeat(60_000));
        let long = UserAction::Submit(serde_yaml::from_str(&long).unwrap());
        let refusal = with(&first, &[(at, long)], &registry);
        let refusal = refusal.unwrap_err().to_string();
        assert!(refusal.contains("has 60000 letters, and 1000 are allowed"), "{refusal}");
        for wrong in [
            UserAction::Submit(serde_yaml::from_str(many).unwrap()),
            UserAction::Stop(7),
            UserAction::Kill("x".to_owned()),
            UserAction::Scheduler("none".into()),
        ] {
            assert!(with(&first, &[(at, wrong.clone())], &registry).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_page_reads_no_file_and_starts_no_program_but_the_scenarios() {
        let registry = crate::testing::registry();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("mine.py"), "").unwrap();
        let yaml = ONE_JOB.replace("{cluster", "{later: [{at: 1h, scheduler: MINE}], cluster");
        let yaml = yaml.replace("MINE", "{external: {command: [python3, mine.py]}}");
        let file = folder.path().join("one.yaml").display().to_string();
        let [one, other] = [ONE_JOB, &*yaml]
            .map(|yaml| scenario::parse(&file, yaml, &[], &registry).unwrap().scenario);
        let said = |first: &Scenario, choice: &str| {
            let choice = UserAction::Scheduler(serde_yaml::from_str(choice).unwrap());
            let registry = restricted(&registry, first);
            let made = with(first, &[(SimTime::ZERO, choice)], &registry);
            made.map(|(_, warnings)| warnings).map_err(|refusal| refusal.to_string())
        };
        let mine = "{external: {command: [python3, mine.py], options: {rate: 2}}}";
        assert_eq!(said(&other, mine), Ok(Vec::new()));
        let words = said(&one, mine).unwrap_err();
        assert!(words.contains("(it names none); to have `python3 mine.py` take over"), "{words}");
        for (choice, words) in [
            (
                "{external: {command: [python3, mine.py, more]}}",
                "(`python3 mine.py`); to have `python3 mine.py more` take over",
            ),
            ("{external: {command: [touch, PWNED]}}", "to have `touch PWNED` take over"),
            ("{external: {command: python3}}", "invalid type"),
            (
                "{external: {command: [python3, mine.py], environment: [SECRET]}}",
                "(`python3 mine.py`); to have",
            ),
            ("!external {command: [touch, PWNED]}", "a tag has no meaning here"),
            ("{external: !a {command: [touch, PWNED]}}", "a tag has no meaning here"),
            ("external", "there is no command"),
            ("{fair: {allocations: /etc/passwd}}", "no file may be read here"),
            ("{fair: {allocations: !a /etc/passwd}}", "a tag has no meaning here"),
            ("{capacity: {allocations: mine.py}}", "no file may be read here"),
        ] {
            let told = said(&other, choice).unwrap_err();
            assert!(told.contains(words), "{choice}: {told}");
        }
        assert!(said(&other, "{fair: {allocations: {pools: {a: {}}}}}").is_ok());
    }
}
