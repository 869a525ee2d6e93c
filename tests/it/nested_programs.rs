//! No program starts unseen, wherever a scenario names it: the schema says where that can be.

use std::fs;

use mumakil::emulation::{Options, emulate};
use mumakil::mapred::ProgramPermit;
use mumakil::scenario::{self, Draft, Registry, Scenario, Warning};
use mumakil::study::{self, Contest, Contestant, Plan, SUITES, Study, Suite};
use serde_json::{Value, json};

use crate::Room;

/// The title of a policy inside of a policy in the schema.
const INNER: &str = "a policy, as under `scheduler`";

/// A step to a value in a scenario, read from the schema.
#[derive(Clone)]
enum Step {
    Key(String),
    Entry,
}

/// The places of the schema where a scenario can name a program, and those where it can name a policy
/// inside of a policy.
#[derive(Default)]
struct Places {
    programs: Vec<Vec<Step>>,
    policies: Vec<Vec<Step>>,
}

impl Places {
    fn find(&mut self, schema: &Value, at: &[Step]) {
        let then = |step: Step| [at, &[step]].concat();
        if schema["properties"].get("command").is_some() {
            self.programs.push(at.to_vec());
        }
        if schema["title"] == INNER {
            self.policies.push(at.to_vec());
        }
        for (key, inside) in schema["properties"].as_object().into_iter().flatten() {
            self.find(inside, &then(Step::Key(key.clone())));
        }
        for (key, step) in
            [("additionalProperties", Step::Key("some".to_owned())), ("items", Step::Entry)]
        {
            if schema[key].is_object() {
                self.find(&schema[key], &then(step));
            }
        }
        for choices in ["anyOf", "oneOf", "allOf"] {
            for choice in schema[choices].as_array().into_iter().flatten() {
                self.find(choice, at);
            }
        }
    }
}

/// Returns a value put at a place.
fn put(place: &[Step], value: &Value) -> Value {
    place.iter().rev().fold(value.clone(), |inside, step| match step {
        Step::Key(key) => json!({ key: inside }),
        Step::Entry => json!([inside]),
    })
}

/// Returns every scheduler that starts the program, at each place of the schema: by itself, and inside
/// of other policies.
fn schedulers() -> Vec<Value> {
    let schema = study::schema(&Registry::builtin());
    let schema = serde_json::to_value(&schema).unwrap();
    let mut places = Places::default();
    places.find(&schema["properties"]["scheduler"], &[]);
    // All other places are those of `scheduler` in another policy of the same run.
    let mut all = Places::default();
    all.find(&schema, &[]);
    let is_known = |place: &&Vec<Step>| {
        let keys: Vec<&str> = place
            .iter()
            .filter_map(|step| if let Step::Key(key) = step { Some(&**key) } else { None })
            .collect();
        keys[0] == "scheduler" || keys[..2] == ["later", "scheduler"]
    };
    assert!(all.programs.iter().chain(&all.policies).all(|place| is_known(&place)));
    let program = json!({"command": ["sh", "mine.sh"]});
    let plain: Vec<Value> = places.programs.iter().map(|place| put(place, &program)).collect();
    // `external` is not for frameworks.
    let inner = plain.iter().filter(|policy| policy.get("external").is_none());
    let nested: Vec<Value> = inner
        .flat_map(|policy| places.policies.iter().map(move |place| put(place, policy)))
        .collect();
    assert!(4 <= plain.len() && 6 <= nested.len(), "{plain:?} {nested:?}");
    [plain, nested].concat()
}

/// Returns a registry with this right.
fn with(permit: ProgramPermit) -> Registry {
    let mut registry = Registry::builtin();
    registry.permit_programs(permit);
    registry
}

const REST: &str = "
workload: {jobs: [{name: a, maps: 3, map_time: 5s}]}
cluster: {nodes: 2}
";

#[test]
fn a_program_in_any_place_of_the_schema_is_seen_before_it_starts() {
    let room = Room::new();
    room.write("mine.sh", "touch PWNED\n");
    let file = room.path("mine.yaml").display().to_string();
    for scheduler in schedulers() {
        for later in [false, true] {
            let policies = match later {
                false => format!("scheduler: {scheduler}"),
                true => format!("later: [{{at: 1s, scheduler: {scheduler}}}]"),
            };
            let text = format!("{REST}{policies}\n");
            let loaded = scenario::parse(&file, &text, &[], &Registry::builtin())
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            let is_program = |warning: &&Warning| matches!(warning, Warning::Program(_));
            assert_eq!(loaded.warnings.iter().filter(is_program).count(), 1, "{text}");
            let scenario = loaded.scenario;
            assert_eq!(scenario.programs.len(), 1, "{text}");
            let digest = &scenario.programs[0].files["mine.sh"];
            assert!(scenario.to_yaml().contains(&**digest), "{}", scenario.to_yaml());

            let started = |scenario: &Scenario, registry: &Registry| {
                let run = emulate(scenario, registry, Options::default());
                let words = run.map_or_else(|error| error.to_string(), |_| String::new());
                let started = room.path("PWNED").exists();
                if started {
                    fs::remove_file(room.path("PWNED")).unwrap();
                }
                (words, started)
            };
            for (permit, reason) in [
                (ProgramPermit::default(), "nobody has permitted"),
                (ProgramPermit::Boxed, "in a sandbox alone"),
                (ProgramPermit::Only([].into()), "none of the programs that may start"),
            ] {
                let (words, started) = started(&scenario, &with(permit));
                assert!(words.contains(reason) && !started, "{text}: {words}");
            }
            let undeclared = Scenario { programs: Vec::new(), ..scenario.clone() };
            let (words, was_started) = started(&undeclared, &with(ProgramPermit::Trusted));
            assert!(words.contains("has not found the program") && !was_started, "{words}");
            // Without this, a policy that never starts its program would pass.
            assert!(started(&scenario, &with(ProgramPermit::Trusted)).1, "{text}");
        }
    }
}

#[test]
fn studies_and_contests_know_a_program_in_any_place_of_the_schema() {
    let room = Room::new();
    room.write("mine.sh", "touch PWNED\n");
    let registry = Registry::builtin();
    let suite = SUITES.iter().find(|suite| suite.name == "small").unwrap();
    for scheduler in schedulers() {
        let text = format!("{REST}sweep: {{scheduler: [fifo, {scheduler}], seeds: 1}}\n");
        let draft = Draft::of(&room.path("mine.yaml").display().to_string(), &text).unwrap();
        let plan = Plan::new(&Study::of(draft).unwrap(), &registry).unwrap();
        assert_eq!(plan.program(&[0]), None);
        assert!(plan.program(&[1]).is_some(), "{text}");
        let names: Vec<_> = plan.files.iter().map(|file| file.name.clone()).collect();
        assert_eq!(names, ["mine.sh".into()] as [std::path::PathBuf; 1], "{text}");

        let scheduler = serde_yaml::to_value(&scheduler).unwrap();
        let contestant = Contestant { name: "mine".to_owned(), scheduler };
        let suite = Suite::of(&Draft::of(suite.name, suite.text).unwrap()).unwrap();
        let contest = Contest::new(suite, &[contestant], None, &registry).unwrap();
        let plan = Plan::new(&contest.study, &registry).unwrap();
        let mut programs = plan.runs.iter().flat_map(|run| plan.scenario(run).programs).peekable();
        assert!(contest.starts_program && programs.peek().is_some());
        assert!(programs.all(|program| program.is_boxed), "{text}");
    }
    assert!(!room.path("PWNED").exists());
}
