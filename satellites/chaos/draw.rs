//! Makes a random scenario from a seed, which decides the features and their values.
//!
//! ```text
//! seed 4711 -> appetite: 15 % of all options -> `uses("slow_start")` is the same everywhere
//!           -> hadoop, cluster, scheduler, workload, faults, later: values by the JSON Schema
//!           -> sometimes a theme: settings that are hard together
//!           -> invalid? remove the settings that the check refuses, and check again
//! ```
//! Each case uses only some options: with all options at once, one would hide the mistakes of
//! another.

use std::hash::Hasher;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rustc_hash::FxHasher;
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::values;
use mumakil_base::random::{ChaCha8Rng, Purpose, stream};
use mumakil_scenario::fault::Fault;
use mumakil_scenario::{Registry, Scenario, ScenarioError, parse, shape};
use mumakil_yaml::Path;

/// The largest number of corrections to a drawn scenario. If it is still invalid after them,
/// another scenario is drawn.
// Chosen: each correction removes at least one invalid setting, and a scenario seldom has forty
// invalid settings.
const MENDINGS: u32 = 40;

/// Groups of settings that are hard to handle together; one group may be laid over a drawn
/// scenario. Most groups lead to stalls that no single setting causes.
pub(super) const THEMES: [&str; 11] = [
    // A tracker is declared lost while it waits for the answer to its heartbeat.
    "{hadoop: {expiry: 20s, rpc_timeout: 60s}, \
      faults: [{at: 1min, partition: {nodes: [node-1], for: 90s}}]}",
    // Trackers repeat heartbeats that the JobTracker had answered before it restarted.
    "{hadoop: {expiry: 10s, rpc_timeout: 45s}, faults: [{loss: 5 %}, \
      {delay: {share: 20 %, by: {uniform: {from: 1s, to: 1min}}}}, \
      {at: 2min, jobtracker: {restart: 30s, recover: true}}]}",
    // Some nodes have no map slots, others no reduce slots.
    "cluster: {groups: [{count: 1, map_slots: 0}, {count: 1, reduce_slots: 0}]}",
    "{cluster: {groups: [{count: 1, map_slots: 0}, {count: 1, reduce_slots: 0}]}, \
      hadoop: {tracker_failures: 1}, faults: [{task_failures: 20 %}]}",
    // A pool runs one job at a time, and a later job has a very high priority.
    "{scheduler: {fair: {allocations: {pool_max_jobs: 1, user_max_jobs: 1}, preemption: kill}}, \
      workload: {jobs: [{name: late, submit: 90s, maps: 8, reduces: 2, priority: very_high}]}}",
    "{scheduler: {capacity: {allocations: {max_system_jobs: 2, \
      queues: {default: {supports_priority: true, max_initialised_per_user: 1}}}}}, \
      workload: {jobs: [{name: late, submit: 90s, maps: 8, reduces: 2, priority: very_high}]}}",
    // Reduces of killed jobs are not killed, and keep their slots.
    "{hadoop: {line: mumak, kill_orphans: false}, cluster: {preset: mumak}, \
      faults: [{at: 3min, kill: job-0}]}",
    // Reduces of killed jobs keep their slots, with the default Hadoop version and cluster.
    "{hadoop: {kill_orphans: false, slow_start: 0}, faults: [{at: 1min, kill: job-0}]}",
    // Machines are declared lost soon, and come back.
    "{hadoop: {expiry: 30s}, faults: [{at: 1min, stop: node-1}, {at: 4min, start: node-1}]}",
    // Outputs of maps are lost long before the last reduces fetch them.
    "{hadoop: {slow_start: 1}, \
      workload: {jobs: [{name: late, submit: 0s, maps: 12, reduces: 24, map_time: 20s}]}, \
      faults: [{at: 50s, stop: node-1}, {at: 2min, stop: node-2}]}",
    // Many tasks fail, trackers are blacklisted, and a restart clears them; another changes their
    // slots.
    "{hadoop: {tracker_failures: 1, tracker_faults: 1, blacklist: true, map_failures: 50 %}, \
      faults: [{task_failures: 20 %}, {at: 4min, restart: {nodes: all, for: 10s}}, \
      {at: 10min, restart: {nodes: all, for: 10s, map_slots: 3, reduce_slots: 1}}]}",
];

/// Draws the scenario of a case.
pub(super) struct CaseDrawer<'s> {
    rng: ChaCha8Rng,
    seed: u64,
    schema: &'s Json,
    policy: Option<&'s str>,
    /// The share of all options that this case uses.
    appetite: f64,
    nodes: u64,
    /// The field whose distribution is being drawn, such as a latency; `None` outside
    /// distributions. The `mean` is drawn like a value of this field.
    distributed: Option<String>,
}

impl<'s> CaseDrawer<'s> {
    pub(super) fn new(seed: u64, schema: &'s Json, policy: Option<&'s str>) -> Self {
        let mut rng = stream(seed, Purpose::Chaos, 0);
        // Chosen: a case with few options is easy to understand; in a case with many options, the
        // options interact.
        let appetite = *[0.05, 0.15, 0.4].choose(&mut rng).expect("there are some");
        // Small clusters show the same mistakes as large clusters, and their runs take
        // milliseconds.
        let nodes = rng.random_range(1..=10);
        Self { rng, seed, schema, policy, appetite, nodes, distributed: None }
    }

    /// Returns a valid scenario.
    pub(super) fn scenario(&mut self, registry: &Registry) -> Value {
        loop {
            let mut tree = self.draw();
            for _ in 0..MENDINGS {
                match wrong(&tree, registry) {
                    Ok(None) => return tree,
                    Ok(Some(paths)) => {
                        // Remove all settings with errors at once. If the tree has no such setting,
                        // draw another scenario: the error lies elsewhere.
                        let gone = paths.iter().filter(|path| remove(&mut tree, path)).count();
                        if gone == 0 {
                            break;
                        }
                    }
                    Err(()) => break,
                }
            }
        }
    }

    fn draw(&mut self) -> Value {
        let mut tree = Mapping::new();
        tree.insert("name".into(), "chaos".into());
        tree.insert("seed".into(), self.seed.into());
        // Stop a case that never ends, so that `has_no_end` can judge it.
        tree.insert("until".into(), "30d".into());
        let schema = self.schema;
        let of = |key: &str| &schema["properties"][key];
        for section in ["hadoop", "cluster", "scheduler"] {
            if let Some(value) = self.part(of(section), section) {
                tree.insert(section.into(), value);
            }
        }
        let general = self.workload(of("workload"));
        let workload = self.mix(of("workload")).unwrap_or(general);
        tree.insert("workload".into(), workload);
        if self.rng.random_bool(0.5) {
            let faults = self.faults(of("faults"));
            tree.insert("faults".into(), faults);
        }
        if let Some(later) = self.later(of("later")) {
            tree.insert("later".into(), later);
        }
        let mut tree = Value::Mapping(tree);
        if self.rng.random_bool(0.4) {
            let theme = THEMES.choose(&mut self.rng).expect("there are some");
            lay(&mut tree, serde_yaml::from_str(theme).expect("themes are YAML"));
        }
        if let Some(policy) = self.policy {
            let options =
                tree.get("scheduler").and_then(|scheduler| scheduler.get(policy)).cloned();
            // A theme may have set another policy: put the hunted policy back, with its options.
            tree["scheduler"] = options.map_or_else(
                || policy.into(),
                |options| Value::Mapping(Mapping::from_iter([(policy.into(), options)])),
            );
        }
        lay(
            &mut tree,
            serde_yaml::from_str(&format!("cluster: {{nodes: {}}}", self.nodes)).expect("YAML"),
        );
        tree
    }

    /// Draws a part of the scenario that is a name or a mapping of fields.
    fn part(&mut self, schema: &Json, field: &str) -> Option<Value> {
        if field == "scheduler" {
            return self.scheduler(schema);
        }
        let alternatives = schema["anyOf"].as_array()?;
        let fields = alternatives.iter().find(|one| one.get("properties").is_some())?;
        self.value(fields, field)
    }

    fn scheduler(&mut self, schema: &Json) -> Option<Value> {
        let alternatives = schema["anyOf"].as_array()?;
        let options = alternatives.iter().find_map(|one| one.get("properties")?.as_object())?;
        let mut names: Vec<&String> = options.keys().collect();
        // Sort the names: their order in a JSON object depends on features of the JSON library, but
        // a seed must always draw the same case.
        names.sort();
        let drawn = names.choose(&mut self.rng).map(|name| name.as_str());
        let name = self.policy.filter(|name| options.contains_key(*name)).or(drawn)?;
        let drawn = self.value(&options[name], name).filter(|value| value.is_mapping());
        let value = drawn.map(|value| Value::Mapping(Mapping::from_iter([(name.into(), value)])));
        Some(value.unwrap_or_else(|| name.into()))
    }

    /// Draws a list of jobs, and their arrivals.
    fn workload(&mut self, schema: &Json) -> Value {
        let fields = find(schema, "jobs").expect("a workload has jobs");
        let entry = find_items(&fields["jobs"]).expect("jobs are a list");
        let mut jobs = Vec::new();
        for number in 0..self.rng.random_range(1..=5) {
            let drawn = self.value(entry, "job").unwrap_or_default();
            let mut job = drawn.as_mapping().cloned().unwrap_or_default();
            job.insert("name".into(), format!("job-{number}").into());
            job.insert("maps".into(), self.rng.random_range(1..=24).into());
            if self.rng.random_bool(0.7) {
                job.insert("reduces".into(), self.rng.random_range(0..=5).into());
            }
            if !job.contains_key("submit") {
                job.insert("submit".into(), format!("{}s", self.rng.random_range(0..300)).into());
            }
            // Remove a drawn `after`, whose names would match no job. Some jobs then get an earlier
            // job as `after`.
            job.remove("after");
            if 0 < number && self.rng.random_bool(0.15) {
                let before = format!("job-{}", self.rng.random_range(0..number));
                job.insert("after".into(), Value::Sequence(vec![before.into()]));
            }
            jobs.push(Value::Mapping(job));
        }
        let mut workload = Mapping::from_iter([("jobs".into(), Value::Sequence(jobs))]);
        for field in ["submission", "start"] {
            if self.uses(field)
                && let Some(value) = fields.get(field).and_then(|one| self.value(one, field))
            {
                workload.insert(field.into(), value);
            }
        }
        Value::Mapping(workload)
    }

    /// Draws jobs of types in place of a list, in some of the cases. They have their own random
    /// stream, so that old seeds still draw the rest of the case that they drew before.
    fn mix(&mut self, schema: &Json) -> Option<Value> {
        let own = stream(self.seed, Purpose::Chaos, 3);
        let rng = std::mem::replace(&mut self.rng, own);
        let drawn = self.rng.random_bool(0.15).then(|| {
            let fields = find(schema, "types").expect("a workload has types");
            let entry = &fields["types"]["additionalProperties"];
            let mut types = Mapping::new();
            for name in ["small", "large"] {
                let drawn = self.value(entry, "job").unwrap_or_default();
                let mut kind = drawn.as_mapping().cloned().unwrap_or_default();
                let most = self.rng.random_range(1..=12);
                for (field, least) in [("maps", 1), ("reduces", 0)] {
                    let ends =
                        [("from", least), ("to", most)].map(|(at, of)| (at.into(), of.into()));
                    let bounds = Value::Mapping(ends.into_iter().collect());
                    let uniform = Mapping::from_iter([("uniform".into(), bounds)]);
                    kind.insert(field.into(), Value::Mapping(uniform));
                }
                // Which jobs there are is drawn below.
                kind.remove("count");
                types.insert(name.into(), Value::Mapping(kind));
            }
            let mut mix = Mapping::from_iter([("types".into(), Value::Mapping(types))]);
            mix.insert("jobs".into(), self.rng.random_range(1..=5).into());
            if self.uses("arrivals")
                && let Some(arrivals) = self.value(&fields["arrivals"], "arrivals")
            {
                mix.insert("arrivals".into(), arrivals);
            }
            Value::Mapping(Mapping::from_iter([("mix".into(), Value::Mapping(mix))]))
        });
        self.rng = rng;
        drawn
    }

    fn faults(&mut self, schema: &Json) -> Value {
        let entry = find_items(schema).expect("faults are a list");
        let options = entry["properties"].as_object().expect("a fault has kinds");
        let mut kinds: Vec<&String> =
            options.keys().filter(|key| !["at", "for"].contains(&key.as_str())).collect();
        kinds.sort();
        let mut faults = Vec::new();
        for _ in 0..self.rng.random_range(1..=4) {
            let kind = kinds.choose(&mut self.rng).expect("there are some").as_str();
            let drawn = match kind {
                "kill" => Some(format!("job-{}", self.rng.random_range(0..3)).into()),
                _ => self.value(&options[kind], kind),
            };
            let Some(what) = drawn else { continue };
            // A kind of fault needs a time (`at`), a duration (`for`), both or neither: try all
            // four ways and keep the first that is valid.
            let mut fault = Mapping::from_iter([(kind.into(), what)]);
            for field in ["at", "for"] {
                let time = options.get(field).and_then(|one| self.value(one, field));
                time.map(|time| fault.insert(field.into(), time));
            }
            let ways: [&[&str]; 4] = [&[], &["for"], &["at"], &["at", "for"]];
            let fitting = ways.into_iter().find_map(|without| {
                let mut fault = fault.clone();
                without.iter().for_each(|field| _ = fault.remove(*field));
                let is_one = serde_yaml::from_value::<Fault>(Value::Mapping(fault.clone())).is_ok();
                is_one.then_some(Value::Mapping(fault))
            });
            faults.extend(fitting);
        }
        Value::Sequence(faults)
    }

    /// Draws `later`: jobs, changes of the policy, of jobs and of tasks. It has its own random
    /// stream, so that old seeds still draw the cases that they drew before `later` existed.
    fn later(&mut self, schema: &Json) -> Option<Value> {
        let own = stream(self.seed, Purpose::Chaos, 1);
        let rng = std::mem::replace(&mut self.rng, own);
        let entry = find_items(schema).expect("`later` is a list of changes");
        let mut list = Vec::new();
        let most = if self.rng.random_bool(0.2) { 3 } else { 0 };
        for number in 0..self.rng.random_range(0..=most) {
            let at = format!("{}s", self.rng.random_range(1..900));
            let mut later = Mapping::from_iter([("at".into(), at.into())]);
            if self.rng.random_bool(0.3) {
                let drawn = self.value(&entry["properties"]["submit"], "submit");
                let mut job = drawn.and_then(|job| job.as_mapping().cloned()).unwrap_or_default();
                job.insert("name".into(), format!("later-{number}").into());
                job.insert("maps".into(), self.rng.random_range(1..=12).into());
                later.insert("submit".into(), Value::Mapping(job));
            } else if let Some(policy) = self.scheduler(&entry["properties"]["scheduler"]) {
                later.insert("scheduler".into(), policy);
            }
            list.push(Value::Mapping(later));
        }
        // A stream of their own: old seeds still draw the changes that they drew before.
        self.rng = stream(self.seed, Purpose::Chaos, 2);
        let most = if self.rng.random_bool(0.3) { 3 } else { 0 };
        for _ in 0..self.rng.random_range(0..=most) {
            let job = format!("job-{}", self.rng.random_range(0..3));
            let at = format!("{}s", self.rng.random_range(1..900));
            let key = *["change", "kill_task", "fail_task"].choose(&mut self.rng).expect("some");
            let mut what = Mapping::from_iter([("job".into(), job.into())]);
            let properties = &find(&entry["properties"][key], "job").expect("it names a job");
            if key == "change" {
                for field in ["priority", "pool"] {
                    if self.rng.random_bool(0.6)
                        && let Some(value) = self.value(&properties[field], field)
                    {
                        what.insert(field.into(), value);
                    }
                }
            } else {
                let kind = *["map", "reduce"].choose(&mut self.rng).expect("two");
                what.insert(kind.into(), self.rng.random_range(0..4).into());
            }
            let later = [("at".into(), at.into()), (key.into(), Value::Mapping(what))];
            list.push(Value::Mapping(Mapping::from_iter(later)));
        }
        self.rng = rng;
        (!list.is_empty()).then_some(Value::Sequence(list))
    }

    /// Returns whether this case uses an option. The answer is the same at every place where the
    /// option may stand.
    fn uses(&self, field: &str) -> bool {
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.seed);
        hasher.write(field.as_bytes());
        // FxHash mixes the high bits best: use 24 of them as a number from 0 to 1.
        ((hasher.finish() >> 40) as f64) / ((1u64 << 24) as f64) < self.appetite
    }

    /// Draws a value by its schema; `None` leaves the field out.
    fn value(&mut self, schema: &Json, field: &str) -> Option<Value> {
        if let Some(Json::String(title)) = schema.get("title")
            && schema.get("anyOf").is_none()
            && schema.get("properties").is_none()
            && schema.get("additionalProperties").is_none()
        {
            // The mean of a latency's distribution is drawn as a latency, not as any number.
            let of = self.distributed.as_deref().unwrap_or(field);
            return values::titled(title, field, of, self.nodes, &mut self.rng);
        }
        let title = schema.get("title").and_then(Json::as_str);
        if self.distributed.is_none() && title.is_some_and(|it| it.contains("a distribution")) {
            self.distributed = Some(field.to_owned());
            let value = self.shaped(schema, field);
            self.distributed = None;
            return value;
        }
        self.shaped(schema, field)
    }

    fn shaped(&mut self, schema: &Json, field: &str) -> Option<Value> {
        if let Some(one) = schema.get("const") {
            return serde_yaml::to_value(one).ok();
        }
        for choice in ["enum", "anyOf", "oneOf"] {
            if let Some(Json::Array(all)) = schema.get(choice) {
                let all: Vec<&Json> = all.iter().filter(|one| !is_foreign(one)).collect();
                let one = *all.choose(&mut self.rng)?;
                return match choice {
                    "enum" => serde_yaml::to_value(one).ok(),
                    _ => self.value(one, field),
                };
            }
        }
        let kind = match schema.get("type")? {
            Json::Array(kinds) => kinds.iter().find(|kind| *kind != "null")?.as_str()?,
            kind => kind.as_str()?,
        };
        match kind {
            "boolean" => Some(self.rng.random::<bool>().into()),
            "integer" => Some(values::whole(schema, field, &mut self.rng)),
            // Chosen: plain numbers are factors, weights and counts, and all of these allow small
            // whole values.
            "number" => Some(self.rng.random_range(1..=8).into()),
            "string" => Some(values::name(field, &mut self.rng)),
            "array" => {
                let items = schema.get("items")?;
                let count = self.rng.random_range(0..=3);
                Some(Value::Sequence((0..count).filter_map(|_| self.value(items, field)).collect()))
            }
            "object" => self.object(schema),
            _ => None,
        }
    }

    fn object(&mut self, schema: &Json) -> Option<Value> {
        let mut object = Mapping::new();
        if let Some(Json::Object(fields)) = schema.get("properties") {
            let required = schema.get("required").and_then(Json::as_array);
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            for name in names {
                // Leave presets out: they can be a cluster of hundreds of nodes, or days of jobs. The
                // price and the power of a node change nothing in a run.
                let is_left_out =
                    ["preset", "watts", "price"].contains(&name.as_str()) || !self.uses(name);
                if is_left_out && !required.is_some_and(|all| all.iter().any(|one| one == name)) {
                    continue;
                }
                if let Some(value) = self.value(&fields[name], name) {
                    object.insert(name.as_str().into(), value);
                }
            }
        } else if let Some(any @ Json::Object(_)) = schema.get("additionalProperties") {
            // Draw up to two pools or queues, with names that jobs may draw, too.
            for name in ["p0", "p1"] {
                if self.rng.random_bool(0.5)
                    && let Some(value) = self.value(any, name)
                {
                    object.insert(name.into(), value);
                }
            }
        }
        Some(Value::Mapping(object))
    }
}

/// Returns whether a choice is a program, or something in Rust that a user adds: there are none in a
/// case.
fn is_foreign(schema: &Json) -> bool {
    let required = schema.get("required").and_then(Json::as_array);
    required.is_some_and(|all| all.iter().any(|one| one == "program" || one == "named"))
}

/// Finds the first object in a schema that has this field, and returns all fields of the object.
fn find<'s>(schema: &'s Json, field: &str) -> Option<&'s serde_json::Map<String, Json>> {
    match schema {
        Json::Object(object) => {
            let properties = object.get("properties").and_then(Json::as_object);
            let own = properties.filter(|fields| fields.contains_key(field));
            own.or_else(|| object.values().find_map(|inner| find(inner, field)))
        }
        Json::Array(all) => all.iter().find_map(|inner| find(inner, field)),
        _ => None,
    }
}

/// Finds the first list of objects in a schema, and returns the schema of the list's entries.
fn find_items(schema: &Json) -> Option<&Json> {
    match schema {
        Json::Object(object) => {
            let own = object.get("items").filter(|items| items.get("properties").is_some());
            own.or_else(|| object.values().find_map(find_items))
        }
        Json::Array(all) => all.iter().find_map(find_items),
        _ => None,
    }
}

/// Returns a scenario as YAML text.
pub(super) fn text(tree: &Value) -> String {
    serde_yaml::to_string(tree).expect("a tree can be written as YAML")
}

/// Parses a scenario.
pub(super) fn read(tree: &Value, registry: &Registry) -> Result<Scenario, ScenarioError> {
    Ok(parse("chaos.yaml", &text(tree), &[], registry)?.scenario)
}

/// Returns the paths of the errors in a scenario; `Ok(None)` if it is valid, `Err` if no error has
/// a path.
pub(super) fn wrong(tree: &Value, registry: &Registry) -> Result<Option<Vec<Path>>, ()> {
    match read(tree, registry) {
        Ok(_) => Ok(None),
        Err(ScenarioError::Invalid { findings }) => {
            let named = findings.iter().filter_map(|finding| Path::parse(&finding.path));
            let mut paths: Vec<Path> = named.map(|path| shape().named(&path)).collect();
            // Put the last entries of a list first: removing an earlier entry would change their
            // indices.
            paths.sort();
            paths.dedup();
            paths.reverse();
            if paths.is_empty() { Err(()) } else { Ok(Some(paths)) }
        }
        Err(_) => Err(()),
    }
}

/// Lays mappings over mappings and appends lists to lists; any other value replaces the value
/// below.
pub(super) fn lay(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Mapping(under), Value::Mapping(over)) => {
            for (key, value) in over {
                match under.get_mut(&key) {
                    // Replace `scheduler`: a mapping of two policies would be invalid.
                    Some(there) if key != "scheduler" => lay(there, value),
                    _ => _ = under.insert(key, value),
                }
            }
        }
        (Value::Sequence(under), Value::Sequence(over)) => under.extend(over),
        (under, over) => *under = over,
    }
}

/// Removes the value at a path, or the nearest existing value around it; returns `false` if only
/// the root is left to remove.
fn remove(tree: &mut Value, path: &Path) -> bool {
    path.remove(tree) || path.split_last().is_some_and(|(around, _)| remove(tree, &around))
}
