//! The policies and the kinds of workload that scenarios can name, and the formats of traces.
//!
//! A user's own binary may add policies, workloads and formats to a registry. They then have
//! checked options, hints, a JSON Schema and a place in the resolved scenario.

use std::cell::LazyCell;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator};
use serde_yaml::{Mapping, Value};

use super::error::ScenarioError;
use super::shape::{kept_shape, shape, shape_of};
use super::spec::Scenario;
use crate::workload::format::{Format, Formats};
use crate::workload::list::source::ListSource;
use crate::workload::mix::Mix;
use crate::workload::rumen::source::Rumen;
use crate::workload::sls::source::Sls;
use crate::workload::source::{Source, SourceKind};
use crate::workload::spec::WorkloadSpec;
use crate::workload::swim::source::Swim;
use mumakil_base::units::tell::{listed, quoted};
use mumakil_core::mapred::{
    Complaint, PerSlot, Policy, PolicyDialogue, PolicyProgram, PolicyReload, PolicySite,
    PolicyWords, ProgramPermit, PromisedSlots, Scheduler, SizeEstimator, SizeEstimators,
};
use mumakil_policies::external::External;
use mumakil_policies::scheduler::{PolicyVisitor, SchedulerChoice, visit_policies};
use mumakil_yaml::{
    ConditionalSetting, Finding, FindingSpot, LateShape, MOST, Path, PathStep, TreeShape,
    YamlProblem, lay, read, write,
};

/// The names that scenarios can use: policies and kinds of workload, each in the order of adding,
/// and the formats of trace files.
#[derive(Clone)]
pub struct Registry {
    policies: IndexMap<&'static str, PolicyEntry>,
    sources: IndexMap<&'static str, SourceEntry>,
    formats: Formats,
    /// Whether a format was added to those that Mumakil brings.
    has_own_formats: bool,
    /// The listeners to the words that policies print about themselves, and to the lines that they
    /// exchange with other programs.
    tell: PolicyWords,
    overhear: Option<PolicyDialogue>,
    launcher: Option<PathBuf>,
    estimators: SizeEstimators,
    permit: ProgramPermit,
    reads_files: bool,
}

/// The option by which a policy names an estimator of a user's own build.
const NAMED_ESTIMATOR: &str = "estimator.named";

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.policies.keys()).finish()
    }
}

/// A kind of workload in the registry.
#[derive(Clone, Debug)]
struct SourceEntry {
    about: &'static str,
    is_builtin: bool,
    schema: fn(SchemaGenerator) -> Schema,
    shape: LateShape,
    read: ReadSource,
}

/// Reads the options of a source until it has found a number of mistakes; values of the fallback
/// replace wrong values.
type ReadSource =
    fn(Value, &Value, &TreeShape, usize) -> (Option<Box<dyn Source>>, Vec<YamlProblem>);

/// The default has no policies; see [`Registry::new`].
impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// A policy in the registry.
#[derive(Clone, Debug)]
pub struct PolicyEntry {
    about: &'static str,
    is_builtin: bool,
    defaults: fn() -> Value,
    schema: fn(SchemaGenerator) -> Schema,
    shape: LateShape,
    heeds_bytes: bool,
    promised: fn(&Value, &TreeShape, PerSlot<u64>) -> PromisedSlots,
    complete: Complete,
    build: Build,
    reload: Reload,
}

/// Fills in the options.
type Complete = fn(&Value, &TreeShape, &PolicySite<'_>) -> CompletedOptions;

/// Options with their defaults, and what their check has found.
#[derive(Default)]
pub struct CompletedOptions {
    /// The options; null if they have problems.
    pub options: Value,
    /// The mistakes; with any, the options are of no use.
    pub problems: Vec<YamlProblem>,
    /// The warnings.
    pub doubts: Vec<String>,
    /// Whether a warning says that jobs never run or lack slots for ever.
    pub foretells_stall: bool,
    /// The programs that the options name, each with the path of its options.
    pub programs: Vec<(Path, PolicyProgram)>,
}

/// Parses options that a policy reads again.
type Reload = fn(&Value, &TreeShape) -> Option<PolicyReload>;

/// Builds a policy from its unparsed options.
type Build = fn(&Value, &TreeShape) -> Result<Box<dyn Scheduler>, Vec<YamlProblem>>;

impl PolicyVisitor for Registry {
    fn visit<P: Policy>(&mut self) {
        self.add::<P>();
    }
}

impl Registry {
    /// Returns a registry of the policies that Mumakil brings.
    pub fn builtin() -> Self {
        let mut registry = Self::new();
        visit_policies(&mut registry);
        // `visit_policies` leaves out `External`, whose behaviour depends on a program of the user.
        registry.add::<External>();
        for (name, entry) in &mut registry.policies {
            entry.is_builtin = true;
            // This shape is kept in a file: making it from the schema would take longer than a
            // small run.
            entry.shape = kept_shape(&format!("scheduler.{name}"));
        }
        registry
    }

    /// Returns a registry without policies, with the kinds of workload and the formats of traces
    /// that Mumakil brings.
    pub fn new() -> Self {
        let (policies, sources) = (IndexMap::new(), IndexMap::new());
        let mut registry = Self {
            policies,
            sources,
            formats: Formats::builtin(),
            has_own_formats: false,
            tell: Arc::new(|_: &str| {}),
            overhear: None,
            launcher: None,
            estimators: SizeEstimators::new(),
            permit: ProgramPermit::default(),
            reads_files: true,
        };
        registry.add_source::<ListSource>().add_source::<Mix>();
        registry.add_source::<Rumen>().add_source::<Swim>().add_source::<Sls>();
        for (key, entry) in &mut registry.sources {
            entry.is_builtin = true;
            entry.shape = kept_shape(&format!("workload.{key}"));
        }
        registry
    }

    /// Adds a policy; replaces a policy with the same name.
    pub fn add<P: Policy>(&mut self) -> &mut Self {
        let entry = PolicyEntry {
            about: P::ABOUT,
            is_builtin: false,
            defaults: defaults::<P>,
            schema: SchemaGenerator::into_root_schema_for::<P::Options>,
            shape: Arc::new(LazyLock::new(Box::new(shape_of::<P::Options>))),
            heeds_bytes: P::HEEDS_BYTES,
            promised: |options, shape, slots| {
                let (options, _) = options_of::<P>(options, shape);
                options.map(|options| P::promised(&options, slots)).unwrap_or_default()
            },
            complete: complete::<P>,
            build: |options, shape| Ok(Box::new(build::<P>(options, shape)?)),
            reload: |options, shape| {
                let (options, _) = options_of::<P>(options, shape);
                options.map(|options| Arc::new(options) as PolicyReload)
            },
        };
        // A policy of the same name keeps its place in listings; only its entry is replaced.
        self.policies.insert(P::NAME, entry);
        self
    }

    /// Removes a policy.
    pub fn remove(&mut self, policy: &str) -> &mut Self {
        self.policies.shift_remove(policy);
        self
    }

    /// Adds a kind of workload; replaces a kind with the same key.
    pub fn add_source<S: SourceKind>(&mut self) -> &mut Self {
        let entry = SourceEntry {
            about: S::ABOUT,
            is_builtin: false,
            schema: SchemaGenerator::into_root_schema_for::<Option<S>>,
            shape: Arc::new(LazyLock::new(Box::new(shape_of::<S>))),
            read: |options, fallback, shape, most| {
                let (source, problems) = read::<S>(options, fallback, shape, most);
                (source.map(|source| Box::new(source) as Box<dyn Source>), problems)
            },
        };
        self.sources.insert(S::KEY, entry);
        self
    }

    /// Adds a format of trace files; replaces a format with the same name.
    pub fn add_format(&mut self, format: &'static dyn Format) -> &mut Self {
        self.formats.add(format);
        self.has_own_formats = true;
        self
    }

    /// Adds an estimator of sizes, which scenarios choose by `estimator: {named: NAME}`; replaces one
    /// with the same name.
    pub fn add_estimator(
        &mut self,
        name: &'static str,
        build: fn() -> Box<dyn SizeEstimator>,
    ) -> &mut Self {
        self.estimators.insert(name, build);
        self
    }

    /// Returns the estimators that were added.
    pub fn estimators(&self) -> &SizeEstimators {
        &self.estimators
    }

    /// Sets the listener to the words that policies print about themselves; without a listener, the
    /// words are dropped.
    pub fn set_voice(&mut self, tell: PolicyWords) -> &mut Self {
        self.tell = tell;
        self
    }

    /// Sets the listener to the lines that policies and other programs exchange.
    pub fn set_overhear(&mut self, overhear: PolicyDialogue) -> &mut Self {
        self.overhear = Some(overhear);
        self
    }

    /// Sets the program that starts other programs in a sandbox: one that runs the command line of
    /// Mumakil.
    pub fn set_launcher(&mut self, launcher: PathBuf) -> &mut Self {
        self.launcher = Some(launcher);
        self
    }

    /// Returns the program that starts other programs in a sandbox; `None` if there is none.
    pub fn launcher(&self) -> Option<&std::path::Path> {
        self.launcher.as_deref()
    }

    /// Issues the right to start programs. A new registry starts none.
    pub fn permit_programs(&mut self, permit: ProgramPermit) -> &mut Self {
        self.permit = permit;
        self
    }

    /// Returns the listener to the words that policies print about themselves.
    pub fn tell(&self) -> PolicyWords {
        self.tell.clone()
    }

    /// Returns the listener to the lines that policies and other programs exchange, if there is
    /// one.
    pub fn overhear(&self) -> Option<PolicyDialogue> {
        self.overhear.clone()
    }

    /// Refuses options of policies that are files, so that nobody reads a file through them.
    pub fn forbid_files(&mut self) -> &mut Self {
        self.reads_files = false;
        self
    }

    /// Returns the right to start programs.
    pub fn permit(&self) -> &ProgramPermit {
        &self.permit
    }

    /// Returns the formats of trace files.
    pub fn formats(&self) -> &Formats {
        &self.formats
    }

    /// Returns each kind of workload: its key, the JSON Schema of its options, and its description.
    pub(super) fn sources(
        &self,
        schemas: fn() -> SchemaGenerator,
    ) -> impl Iterator<Item = (&'static str, Schema, &'static str)> {
        self.sources.iter().map(move |(key, entry)| (*key, (entry.schema)(schemas()), entry.about))
    }

    /// Turns the remaining keys of a workload into sources, and notes which of their settings have
    /// an effect only under a condition. Returns at most `most` mistakes of each source; `fallback`
    /// has the values that replace wrong ones, `outside` the keys of the scenario around the workload.
    pub(super) fn read_sources<'s>(
        &'s self,
        workload: &mut WorkloadSpec,
        fallback: &Value,
        most: usize,
        outside: &Mapping,
        is_said: impl Fn(&Path, &Value) -> bool,
        conditional: &mut Vec<ConditionalSetting<'s>>,
    ) -> Vec<YamlProblem> {
        let at = Path::of("workload");
        let mut problems = Vec::new();
        for (key, entry) in &self.sources {
            // `mix:` without a value is how one layer removes the source of another.
            let options = workload.unread.shift_remove(*key).filter(|options| !options.is_null());
            let Some(options) = options else { continue };
            let at = at.key(key);
            conditional.extend(ConditionalSetting::find(
                &entry.shape,
                &options,
                at.clone(),
                Some((shape(), outside)),
                &is_said,
            ));
            let fallback = at.get(fallback).unwrap_or(&Value::Null);
            let (source, mistakes) = (entry.read)(options, fallback, &entry.shape, most);
            problems.extend(mistakes.into_iter().map(|problem| problem.inside(&at)));
            workload.sources.extend(source);
        }
        let known = || self.sources.keys().copied().chain(WorkloadSpec::KEYS);
        // Keys that no source has taken are unknown.
        for key in workload.unread.keys().filter_map(Value::as_str) {
            problems.push(YamlProblem::unknown("field", key, known(), at.key(key)));
        }
        problems
    }

    /// Returns the names of the policies.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.policies.keys().copied()
    }

    /// Returns the policy with this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&PolicyEntry> {
        self.policies.get(name)
    }

    /// Returns whether a policy, or the SRT order of its reduces, reads the bytes that reduces
    /// fetch. True for a policy that this registry does not know.
    pub(super) fn heeds_bytes(&self, choice: &SchedulerChoice) -> bool {
        let fetches = Path::of("srt.shuffle_rate").get(&choice.options);
        fetches.is_some() || self.get(&choice.name).is_none_or(|entry| entry.heeds_bytes)
    }

    /// Returns the slots that a policy guarantees to pools or queues, by their names, in a cluster
    /// with `slots` slots.
    pub fn promised(&self, choice: &SchedulerChoice, slots: PerSlot<u64>) -> PromisedSlots {
        let promised = |entry: &PolicyEntry| (entry.promised)(&choice.options, &entry.shape, slots);
        self.get(&choice.name).map(promised).unwrap_or_default()
    }

    /// Builds the policy that a scenario chooses.
    ///
    /// # Errors
    /// If there is no such policy, or an option is wrong. Neither happens for a loaded scenario,
    /// which was checked against its registry.
    pub fn build(&self, choice: &SchedulerChoice) -> Result<Box<dyn Scheduler>, ScenarioError> {
        let built = self.known(choice).and_then(|entry| {
            (entry.build)(&choice.options, &entry.shape)
                .map_err(|problems| inside(choice, problems))
        });
        built.map_err(without_place)
    }

    /// Returns whether the policy of a loaded scenario is an oracle: it uses the true durations of
    /// tasks. A program says it only when it runs.
    pub fn foresees(&self, choice: &SchedulerChoice) -> bool {
        self.build(choice).is_ok_and(|policy| policy.foresees())
    }

    /// As [`Registry::build`], for a policy whose type is known.
    ///
    /// # Errors
    /// Also if the scenario chooses another policy.
    pub fn build_as<P: Policy>(&self, choice: &SchedulerChoice) -> Result<P, ScenarioError> {
        let built = self.known(choice).and_then(|entry| {
            if choice.name != P::NAME {
                let message = format!("`{}` was asked for, not `{}`", P::NAME, choice.name);
                return Err(vec![YamlProblem::value(Path::of("scheduler"), message)]);
            }
            build::<P>(&choice.options, &entry.shape).map_err(|problems| inside(choice, problems))
        });
        built.map_err(without_place)
    }

    /// Returns the options of a policy that reads its pools or queues again; `None` if the registry
    /// does not know the policy.
    pub fn reload(&self, choice: &SchedulerChoice) -> Option<PolicyReload> {
        let entry = self.get(&choice.name)?;
        (entry.reload)(&choice.options, &entry.shape)
    }

    /// Returns whether a policy has pools or queues that it can read again.
    pub(super) fn has_allocations(&self, choice: &SchedulerChoice) -> bool {
        self.get(&choice.name).is_some_and(|entry| entry.shape.names().contains(&"allocations"))
    }

    /// Checks the policy of a loaded scenario again, once all jobs are known. Returns warnings.
    ///
    /// # Errors
    /// If the policy cannot work with these jobs.
    pub fn check(
        &self,
        choice: &SchedulerChoice,
        site: &PolicySite<'_>,
    ) -> Result<Vec<String>, ScenarioError> {
        self.complete(choice, site).map(|completed| completed.doubts).map_err(without_place)
    }

    /// Returns the options of a choice, all filled in; the paths of its programs begin at the
    /// scenario.
    ///
    /// # Errors
    /// With the problems of the options.
    pub fn complete(
        &self,
        choice: &SchedulerChoice,
        site: &PolicySite<'_>,
    ) -> Result<CompletedOptions, Vec<YamlProblem>> {
        let entry = self.known(choice)?;
        let site = PolicySite { reads_files: self.reads_files, ..site.clone() };
        let mut completed = (entry.complete)(&choice.options, &entry.shape, &site);
        let problems = &mut completed.problems;
        problems.extend(self.unknown_estimator(&completed.options));
        problems.iter_mut().for_each(|problem| self.point_at_others(choice, problem));
        if !problems.is_empty() {
            return Err(inside(choice, completed.problems));
        }
        for (at, _) in &mut completed.programs {
            *at = Path::of("scheduler").key(&choice.name).join(&at.0);
        }
        Ok(completed)
    }

    /// Returns the paths of the programs that a policy's options name, seen from `scheduler`; none if
    /// the options have problems.
    pub fn programs(&self, choice: &SchedulerChoice) -> Vec<Path> {
        let completed = self.complete(choice, &PolicySite::unknown()).unwrap_or_default();
        completed.programs.into_iter().map(|(at, _)| Path(at.0[1..].to_vec())).collect()
    }

    /// Returns an error if options name an estimator that was not added.
    fn unknown_estimator(&self, options: &Value) -> Option<YamlProblem> {
        let at = Path::of(NAMED_ESTIMATOR);
        let name = at.get(options)?.as_str()?;
        let known = || self.estimators.keys().copied();
        known().all(|one| one != name).then(|| {
            let problem = YamlProblem::unknown("estimator", name, known(), at);
            match self.estimators.is_empty() {
                true => problem.hint("estimators in Rust are added with `Registry::add_estimator`"),
                false => problem,
            }
        })
    }

    /// If the problem is an option that the chosen policy does not have, adds to the hint the
    /// policies that have this option.
    fn point_at_others(&self, choice: &SchedulerChoice, problem: &mut YamlProblem) {
        let written = choice.options.as_mapping().and_then(|options| options.keys().next());
        let key = match &problem.path.0[..] {
            [PathStep::Key(key)] => key.as_str(),
            // A policy without options refuses the whole mapping: report the first key that was
            // written.
            [] => written.and_then(Value::as_str).unwrap_or_default(),
            _ => return,
        };
        let has_it = |(_, entry): &(_, &PolicyEntry)| entry.shape.names().contains(&key);
        let those: Vec<&str> = self.policies.iter().filter(has_it).map(|(name, _)| *name).collect();
        let name = choice.name.as_str();
        if !those.is_empty() && !those.contains(&name) {
            let those = listed(quoted(those), "and");
            problem.hint = Some(format!("`{key}` is an option of {those}, not of `{name}`"));
        }
    }

    fn known(&self, choice: &SchedulerChoice) -> Result<&PolicyEntry, Vec<YamlProblem>> {
        self.get(&choice.name).ok_or_else(|| {
            let at = Path::of("scheduler").key(&choice.name);
            let problem = YamlProblem::unknown("policy", &choice.name, self.names(), at);
            // As in `scheduler: {name: fair}`.
            let named = choice.options.as_str().filter(|name| self.get(name).is_some());
            vec![match named {
                Some(name) => problem.hint(format!("write `scheduler: {name}`")),
                None => problem,
            }]
        })
    }
}

impl Registry {
    /// Returns whether Mumakil itself brings everything that a scenario names: then Mumakil's
    /// version determines the behaviour.
    pub fn brings_all_of(&self, scenario: &mut Scenario) -> bool {
        let brings_policy = |choice: &SchedulerChoice| {
            self.policies.get(&*choice.name).is_some_and(|entry| entry.is_builtin)
                && Path::of(NAMED_ESTIMATOR).get(&choice.options).is_none()
        };
        let brings_source = |key| self.sources.get(key).is_some_and(|entry| entry.is_builtin);
        // Only the content of a file shows its format, and the files are not read here. So assume
        // that they have a format of the user's binary.
        let may_be_of_own_format = self.has_own_formats && scenario.files_mut().next().is_some();
        scenario.policies().all(brings_policy)
            && scenario.workload.sources.iter().map(|source| source.key()).all(brings_source)
            && !may_be_of_own_format
    }
}

impl PolicyEntry {
    /// Returns the description of the policy, in one sentence.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the policy's options with their defaults, as YAML; empty if it has none.
    pub fn defaults(&self) -> String {
        match (self.defaults)() {
            Value::Mapping(options) if !options.is_empty() => {
                serde_yaml::to_string(&options).expect("values are YAML")
            }
            _ => String::new(),
        }
    }

    /// Returns the policy's options with their defaults.
    pub(super) fn default_options(&self) -> Value {
        (self.defaults)()
    }

    /// Returns whether the policy has an option at this path.
    pub fn has_option(&self, path: &Path) -> bool {
        self.shape.has(path)
    }

    /// Returns the JSON Schema of the policy's options.
    pub(super) fn schema(&self, schemas: SchemaGenerator) -> Schema {
        (self.schema)(schemas)
    }
}

/// Turns problems of a choice into an error, without line numbers: the text of the choice is no
/// longer available.
fn without_place(problems: Vec<YamlProblem>) -> ScenarioError {
    let finding = |problem: YamlProblem| Finding {
        message: problem.message,
        hint: problem.hint,
        path: problem.path.to_string(),
        place: FindingSpot::File("the chosen policy".to_owned()),
    };
    ScenarioError::Invalid { findings: problems.into_iter().map(finding).collect() }
}

/// Returns problems of a policy's options as problems of the scenario: their paths then begin at
/// the scenario.
fn inside(choice: &SchedulerChoice, problems: Vec<YamlProblem>) -> Vec<YamlProblem> {
    let at = Path::of("scheduler").key(&choice.name);
    problems.into_iter().map(|problem| problem.inside(&at)).collect()
}

/// Fills in the options of a policy, and checks them.
fn complete<P: Policy>(
    written: &Value,
    shape: &TreeShape,
    site: &PolicySite<'_>,
) -> CompletedOptions {
    let (options, mut problems) = options_of::<P>(written, shape);
    let Some(mut options) = options else {
        return CompletedOptions { problems, ..CompletedOptions::default() };
    };
    let (mut doubts, mut programs, mut foretells_stall) = (Vec::new(), Vec::new(), false);
    if problems.is_empty() {
        for complaint in P::settle(&mut options, site) {
            foretells_stall |= complaint.foretells_stall;
            let Complaint { path, message, hint, is_warning, program, .. } = complaint;
            let path = path.iter().fold(Path::default(), |path, key| path.key(key));
            match program {
                Some(program) => programs.push((path, *program)),
                None if is_warning => doubts.push(format!("{message}; {hint}")),
                None => problems.push(YamlProblem::value(path, message).hint(hint)),
            }
        }
    }
    // `settle` may replace defaults by values of the site. The user has not written these values,
    // so they need no warning that they have no effect.
    let plain = LazyCell::new(|| {
        let mut plain = P::Options::default();
        P::settle(&mut plain, &PolicySite { jobs: Vec::new(), ..*site });
        write(&plain)
    });
    let options = write(&options);
    let is_said = |path: &Path, value: &Value| path.get(&plain) != Some(value);
    let found = ConditionalSetting::find(shape, &options, Path::default(), None, is_said);
    let idle = found.iter().filter(|it| problems.is_empty() && !it.matters(|_| false));
    doubts.extend(idle.map(|it| it.warning(&format!(" of `{}`", P::NAME))));
    CompletedOptions { options, problems, doubts, foretells_stall, programs }
}

fn build<P: Policy>(options: &Value, shape: &TreeShape) -> Result<P, Vec<YamlProblem>> {
    match options_of::<P>(options, shape) {
        (Some(options), problems) if problems.is_empty() => Ok(P::new(options)),
        (_, problems) => Err(problems),
    }
}

fn defaults<P: Policy>() -> Value {
    write(&P::Options::default())
}

fn options_of<P: Policy>(
    written: &Value,
    shape: &TreeShape,
) -> (Option<P::Options>, Vec<YamlProblem>) {
    let plain = defaults::<P>();
    let says_nothing = matches!(written, Value::Mapping(map) if map.is_empty());
    if says_nothing {
        return read(plain.clone(), &plain, shape, MOST);
    }
    let mut options = plain.clone();
    lay(&mut options, written.clone(), shape);
    read(options, &plain, shape, MOST)
}

#[cfg(test)]
pub(super) mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::Offer;

    /// A policy that does nothing and has options of every kind.
    pub(in super::super) struct Lazy;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub(in super::super) struct LazyOptions {
        /// The duration of its sleep.
        sleep: SimSpan,
        /// The way in which it wakes.
        wake: Wake,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    enum Wake {
        /// It wakes by itself.
        Never,
        /// An alarm wakes it.
        Alarm {
            /// The time until the alarm.
            after: SimSpan,
        },
    }

    impl Default for LazyOptions {
        fn default() -> Self {
            Self { sleep: SimSpan::from_secs(5), wake: Wake::Never }
        }
    }

    /// A policy with the name of Hadoop's default, which does nothing.
    struct Fifo;

    impl Scheduler for Lazy {
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }

    impl Scheduler for Fifo {
        fn offer(&mut self, _: &mut Offer<'_>) {}
    }

    impl Policy for Lazy {
        const NAME: &'static str = "lazy";
        const ABOUT: &'static str = "Does nothing.";
        type Options = LazyOptions;
        fn new(_: LazyOptions) -> Self {
            Self
        }
    }

    impl Policy for Fifo {
        const NAME: &'static str = "fifo";
        const ABOUT: &'static str = "One after another.";
        type Options = NoOptions;
        fn new(_: NoOptions) -> Self {
            Self
        }
    }

    #[derive(Default, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct NoOptions {}

    pub(in super::super) fn registry() -> Registry {
        let mut registry = Registry::new();
        registry.add::<Fifo>().add::<Lazy>();
        registry
    }

    fn complete(yaml: &str) -> Result<String, String> {
        let choice: SchedulerChoice = serde_yaml::from_str(yaml).map_err(|e| e.to_string())?;
        let completed =
            registry().complete(&choice, &PolicySite::unknown()).map_err(|problems| {
                let texts = problems.iter().map(|p| format!("{}: {}", p.path, p.message));
                texts.collect::<Vec<_>>().join("; ")
            })?;
        let choice = SchedulerChoice { options: completed.options, ..choice };
        Ok(serde_json::to_string(&choice).unwrap())
    }

    #[test]
    fn a_choice_is_completed_with_the_defaults() {
        assert_eq!(complete("fifo").unwrap(), r#""fifo""#);
        assert_eq!(complete("lazy").unwrap(), r#"{"lazy":{"sleep":"5s","wake":"never"}}"#);
        assert_eq!(
            complete("{lazy: {wake: {alarm: {after: 1s}}}}").unwrap(),
            r#"{"lazy":{"sleep":"5s","wake":{"alarm":{"after":"1s"}}}}"#
        );
    }

    #[test]
    fn wrong_choices_are_refused_with_their_paths() {
        for (yaml, why) in [
            ("lasy", "scheduler.lasy: unknown policy `lasy`, expected `fifo` or `lazy`"),
            ("{lazy: {sleep: 3}}", "scheduler.lazy.sleep: invalid"),
            ("{lazy: {slep: 3s}}", "scheduler.lazy.slep: unknown field"),
            ("{lazy: {wake: {alarm: {}}}}", "scheduler.lazy.wake.alarm: missing field `after`"),
            ("{lazy: 3}", "scheduler.lazy: invalid type"),
            ("{lazy: , fifo: }", "a scenario has one policy"),
            ("{}", "the name of a policy"),
        ] {
            let error = complete(yaml).unwrap_err();
            assert!(error.contains(why), "{yaml}: {error}");
        }
    }

    #[test]
    fn an_option_of_other_policies_is_said_to_be_theirs() {
        for (yaml, theirs) in [
            ("{hfsp: {reduce_order: srt}}", "`fifo`, `naive-fair`"),
            ("{ps: {reduce_gate: coupling}}", "`drf` and `rank`, not of `ps`"),
            ("{fair-deficit: {preemption: true}}", "`preemption` is an option of `fair`"),
        ] {
            let choice: SchedulerChoice = serde_yaml::from_str(yaml).unwrap();
            let problems =
                Registry::builtin().complete(&choice, &PolicySite::unknown()).err().unwrap();
            let hint = problems[0].hint.as_deref().unwrap();
            assert!(problems.len() == 1 && hint.contains(theirs), "{yaml}: {hint}");
        }
    }

    #[test]
    fn a_registered_policy_can_be_built() {
        assert!(registry().build(&SchedulerChoice::named("lazy")).is_ok());
        let error = registry().build(&SchedulerChoice::named("lasy")).err().unwrap();
        assert!(error.to_string().contains("did you mean `lazy`?"), "{error}");
    }

    #[test]
    fn a_policy_says_what_it_does_and_takes() {
        let registry = registry();
        let lazy = registry.get("lazy").unwrap();
        assert_eq!(lazy.about(), "Does nothing.");
        assert_eq!(lazy.defaults(), "sleep: 5s\nwake: never\n");
        assert_eq!(registry.get("fifo").unwrap().defaults(), "");
    }
}
