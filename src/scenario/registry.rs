//! The policies and the kinds of workload that scenarios can name, and the formats of traces.
//!
//! A user's own binary may add policies, workloads and formats to a registry. They then have
//! checked options, hints, a JSON Schema and a place in the resolved scenario.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::{Schema, SchemaGenerator};
use serde_yaml::{Mapping, Value};

use super::error::ScenarioError;
use super::later::ALLOCATIONS;
use super::line::LineEmulation;
use super::shape::{kept_shape, shape};
use super::spec::Scenario;
use crate::workload::format::{Format, Formats};
use crate::workload::source::{SourceEntry, SourceKind};
use crate::workload::spec::WorkloadSpec;
use crate::workload::{ListSource, Mix};
use mumakil_base::units::tell::{listed, quoted};
use mumakil_core::mapred::{
    Complaint, OptionFile, OptionFileReader, PerSlot, Policy, PolicyDialogue, PolicyEntry,
    PolicyOptions, PolicyProgram, PolicySite, PolicyWords, ProgramPermit, PromisedSlots, Scheduler,
    SchedulerChoice, SizeEstimator, SizeEstimators,
};
use mumakil_core::trace::TraceFile;
use mumakil_yaml::{ConditionalSetting, Finding, FindingSpot, Path, PathStep, YamlProblem};

/// The names that scenarios can use: policies and kinds of workload, each in the order of adding,
/// and the formats of trace files.
#[derive(Clone)]
pub struct Registry {
    policies: IndexMap<&'static str, PolicyEntry>,
    pub(super) lines: Vec<&'static dyn LineEmulation>,
    /// The policies of `lines`, which schedule no slots.
    line_policies: IndexMap<&'static str, PolicyEntry>,
    sources: IndexMap<&'static str, SourceEntry>,
    /// The names of the policies and kinds of workload that Mumakil does not bring.
    own: BTreeSet<&'static str>,
    formats: Formats,
    /// Whether a format was added to those that Mumakil brings.
    has_own_formats: bool,
    /// Hears the words that policies print about themselves; a new registry drops them.
    pub voice: PolicyWords,
    /// Hears the lines that policies and other programs exchange.
    pub overhear: Option<PolicyDialogue>,
    /// The program that starts other programs in a sandbox: one that runs the command line of Mumakil.
    pub launcher: Option<PathBuf>,
    /// Reads the options of policies that stand in files; without it nobody reads a file through them.
    pub option_files: Option<OptionFileReader>,
    estimators: SizeEstimators,
    permit: ProgramPermit,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.policies.keys()).finish()
    }
}

/// The default has no policies, as [`Registry::new`].
impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

/// A choice whose options were checked.
#[derive(Debug)]
pub struct CheckedChoice {
    /// The choice, with all its options and the warnings about them.
    pub choice: SchedulerChoice,
    /// Whether a warning says that jobs never run or lack slots for ever.
    pub foretells_stall: bool,
    /// The programs that the options name, each with the path of its options.
    pub programs: Vec<(Path, PolicyProgram)>,
}

impl Registry {
    /// Returns a registry without policies and formats of traces. Of the kinds of workload it has
    /// those that need none: `jobs` and `mix`.
    pub fn new() -> Self {
        let mut registry = Self {
            policies: IndexMap::new(),
            lines: Vec::new(),
            line_policies: IndexMap::new(),
            sources: IndexMap::new(),
            own: BTreeSet::new(),
            formats: Formats::default(),
            has_own_formats: false,
            voice: Arc::new(|_: &str| {}),
            overhear: None,
            launcher: None,
            option_files: None,
            estimators: SizeEstimators::new(),
            permit: ProgramPermit::default(),
        };
        registry.bring_sources([SourceEntry::of::<ListSource>(), SourceEntry::of::<Mix>()]);
        registry
    }

    /// Adds policies that Mumakil brings: its version determines their behaviour.
    pub fn bring_policies(&mut self, entries: impl IntoIterator<Item = PolicyEntry>) -> &mut Self {
        for mut entry in entries {
            // This shape is kept in a file: making it from the schema would take longer than a
            // small run.
            entry.set_shape(kept_shape(&format!("scheduler.{}", entry.name())));
            self.policies.insert(entry.name(), entry);
        }
        self
    }

    /// Adds a line of Hadoop that Mumakil brings, with its policies.
    pub fn bring_line(&mut self, line: &'static dyn LineEmulation) -> &mut Self {
        self.lines.push(line);
        self.line_policies.extend(line.policies().into_iter().map(|entry| (entry.name(), entry)));
        self
    }

    /// Removes all lines but those of MapReduce v1.
    pub fn forget_lines(&mut self) -> &mut Self {
        self.lines.clear();
        self.line_policies.clear();
        self
    }

    /// Adds a policy; replaces a policy with the same name.
    pub fn add<P: Policy>(&mut self) -> &mut Self {
        // A policy of the same name keeps its place in listings; only its entry is replaced.
        self.policies.insert(P::NAME, PolicyEntry::of::<P>());
        self.own.insert(P::NAME);
        self
    }

    /// Removes a policy.
    pub fn remove(&mut self, policy: &str) -> &mut Self {
        self.policies.shift_remove(policy);
        self
    }

    /// Adds a kind of workload; replaces a kind with the same key.
    pub fn add_source<S: SourceKind>(&mut self) -> &mut Self {
        self.sources.insert(S::KEY, SourceEntry::of::<S>());
        self.own.insert(S::KEY);
        self
    }

    /// Adds kinds of workload that Mumakil brings.
    pub fn bring_sources(&mut self, entries: impl IntoIterator<Item = SourceEntry>) -> &mut Self {
        for mut entry in entries {
            entry.shape = kept_shape(&format!("workload.{}", entry.key));
            self.sources.insert(entry.key, entry);
        }
        self
    }

    /// Adds a format of trace files; replaces a format with the same name.
    pub fn add_format(&mut self, format: &'static Format) -> &mut Self {
        self.formats.add(format);
        self.has_own_formats = true;
        self
    }

    /// Adds formats of trace files that Mumakil brings.
    pub fn bring_formats(
        &mut self,
        formats: impl IntoIterator<Item = &'static Format>,
    ) -> &mut Self {
        formats.into_iter().for_each(|format| _ = self.formats.add(format));
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

    /// Issues the right to start programs. A new registry starts none.
    pub fn permit_programs(&mut self, permit: ProgramPermit) -> &mut Self {
        self.permit = permit;
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
        // Keys that no source has taken are unknown.
        for key in workload.unread.keys().filter_map(Value::as_str) {
            let known = self.sources.keys().copied().chain(WorkloadSpec::KEYS);
            problems.push(YamlProblem::unknown("field", key, known, at.key(key)));
        }
        problems
    }

    /// Returns the names of the policies that schedule slots.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.policies.keys().copied()
    }

    /// Returns the names of all policies.
    pub fn all_names(&self) -> impl Iterator<Item = &'static str> + Clone {
        self.policies.keys().chain(self.line_policies.keys()).copied()
    }

    /// Returns the policy with this name, if there is one.
    pub fn get(&self, name: &str) -> Option<&PolicyEntry> {
        self.policies.get(name).or_else(|| self.line_policies.get(name))
    }

    /// Returns the options of a choice, read but not checked; `None` if they have mistakes or the
    /// policy is unknown.
    pub fn read(&self, choice: &SchedulerChoice) -> Option<Box<dyn PolicyOptions>> {
        let (options, problems) = self.get(&choice.name)?.read(choice.written());
        options.filter(|_| problems.is_empty())
    }

    /// Returns the slots that a policy guarantees to pools or queues, by their names, in a cluster
    /// with `slots` slots.
    pub fn promised(&self, choice: &SchedulerChoice, slots: PerSlot<u64>) -> PromisedSlots {
        let promised = |options: &dyn PolicyOptions| options.promised(slots);
        let known = choice.options().map(promised);
        known.or_else(|| self.read(choice).as_deref().map(promised)).unwrap_or_default()
    }

    /// Builds the policy that a scenario chooses.
    ///
    /// # Errors
    /// If there is no such policy, or an option is wrong. Neither happens for a loaded scenario,
    /// which was checked against its registry.
    pub fn build(&self, choice: &SchedulerChoice) -> Result<Box<dyn Scheduler>, ScenarioError> {
        match choice.options() {
            Some(options) => Ok(options.build()),
            None => Ok(self.valid(choice).map_err(without_place)?.build()),
        }
    }

    /// Returns whether the policy of a loaded scenario is an oracle: it uses the true durations of
    /// tasks. A program says it only when it runs.
    pub fn foresees(&self, choice: &SchedulerChoice) -> bool {
        self.build(choice).is_ok_and(|policy| policy.needs().truth)
    }

    /// As [`Registry::build`], for a policy whose type is known.
    ///
    /// # Errors
    /// Also if the scenario chooses another policy.
    pub fn build_as<P: Policy>(&self, choice: &SchedulerChoice) -> Result<P, ScenarioError> {
        let read;
        let prepared = match choice.options() {
            Some(options) => options,
            None => {
                read = self.valid(choice).map_err(without_place)?;
                &*read
            }
        };
        let typed = prepared.value().downcast_ref::<P::Options>();
        let options = typed.filter(|_| choice.name == P::NAME).ok_or_else(|| {
            let message = format!("`{}` was asked for, not `{}`", P::NAME, choice.name);
            without_place(vec![YamlProblem::value(Path::of("scheduler"), message)])
        })?;
        Ok(P::new(options.clone()))
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
        let checked = self.complete(choice, site).map_err(without_place)?;
        Ok(checked.choice.doubts().to_vec())
    }

    /// Returns a choice with its options checked and all filled in; the paths of its programs begin
    /// at the scenario.
    ///
    /// # Errors
    /// With the problems of the options.
    pub fn complete(
        &self,
        choice: &SchedulerChoice,
        site: &PolicySite<'_>,
    ) -> Result<CheckedChoice, Vec<YamlProblem>> {
        let entry = self.known(choice)?;
        let (none, mut problems, mut files) = (None, Vec::new(), choice.files().to_vec());
        let read: Option<Box<dyn PolicyOptions>> = match choice.options() {
            Some(_) => none,
            None => {
                let mut written = choice.written().clone();
                files =
                    self.lay_files(&mut written, site.folder).map_err(|it| inside(choice, it))?;
                let (none, mistakes) = entry.read(&written);
                problems.extend(mistakes.into_iter().map(|problem| in_file(&files, problem)));
                none
            }
        };
        let options = choice.options().or(read.as_deref());
        let settled = options.filter(|_| problems.is_empty()).map(|it| it.settled(site));
        let (settled, complaints) = settled.unzip();
        let (mut doubts, mut programs, mut foretells_stall) = (Vec::new(), Vec::new(), false);
        for complaint in complaints.into_iter().flatten() {
            foretells_stall |= complaint.foretells_stall;
            let Complaint { path, message, hint, is_warning, program, .. } = complaint;
            let at = path.iter().fold(Path::default(), |path, key| path.key(key));
            let problem = in_file(&files, YamlProblem::value(at, message));
            match program {
                Some(program) => {
                    let scheduler = Path::of("scheduler").key(&choice.name);
                    programs.push((scheduler.join(&problem.path.0), *program));
                }
                None if is_warning => doubts.push(format!("{}; {hint}", problem.message)),
                None => problems.push(problem.hint(hint)),
            }
        }
        problems.extend(options.and_then(|options| self.unknown_estimator(options)));
        match settled {
            Some(settled) if problems.is_empty() => {
                doubts.extend(idle(entry, &*settled, site.clone()));
                let choice = choice.checked(settled, doubts, files);
                Ok(CheckedChoice { choice, foretells_stall, programs })
            }
            _ => {
                problems.iter_mut().for_each(|problem| self.point_at_others(choice, problem));
                Err(inside(choice, problems))
            }
        }
    }

    /// Replaces each file of options by the options in it, and returns the files.
    fn lay_files(
        &self,
        options: &mut Value,
        folder: &std::path::Path,
    ) -> Result<Vec<(Path, OptionFile)>, Vec<YamlProblem>> {
        let read = option_files(options).into_iter().map(|(at, file)| {
            let read = self.option_files.ok_or_else(|| {
                let problem = YamlProblem::value(Path::default(), "no file may be read here");
                vec![problem.hint("write the `allocations` themselves")]
            });
            match read.and_then(|it| it(&TraceFile::from(file).find(folder))) {
                Ok(file) => Ok((at, file)),
                Err(faults) => Err(faults.into_iter().map(|it| it.inside(&at)).collect()),
            }
        });
        let files = read.collect::<Result<Vec<_>, Vec<_>>>()?;
        for (at, file) in &files {
            at.get_mut(options).into_iter().for_each(|it| *it = file.options.clone());
        }
        Ok(files)
    }

    /// Returns the paths of the programs that a policy's options name, seen from `scheduler`; none if
    /// the options have problems.
    pub fn programs(&self, choice: &SchedulerChoice) -> Vec<Path> {
        let checked = self.complete(choice, &PolicySite::unknown());
        let programs = checked.map(|checked| checked.programs).unwrap_or_default();
        programs.into_iter().map(|(at, _)| Path(at.0[1..].to_vec())).collect()
    }

    /// Returns an error if options name an estimator that was not added.
    fn unknown_estimator(&self, options: &dyn PolicyOptions) -> Option<YamlProblem> {
        let name = options.facts().estimator?;
        let known = || self.estimators.keys().copied();
        known().all(|one| one != name).then(|| {
            let at = Path::of("estimator.named");
            let problem = YamlProblem::unknown("estimator", name, known(), at);
            match self.estimators.is_empty() {
                true => problem.hint("estimators in Rust are added with `Registry::add_estimator`"),
                false => problem,
            }
        })
    }

    /// Returns the options of a choice that was not checked.
    fn valid(&self, choice: &SchedulerChoice) -> Result<Box<dyn PolicyOptions>, Vec<YamlProblem>> {
        match self.known(choice)?.read(choice.written()) {
            (Some(options), problems) if problems.is_empty() => Ok(options),
            (_, problems) => Err(inside(choice, problems)),
        }
    }

    /// If the problem is an option that the chosen policy does not have, adds to the hint the
    /// policies that have this option.
    fn point_at_others(&self, choice: &SchedulerChoice, problem: &mut YamlProblem) {
        let written = choice.written().as_mapping().and_then(|options| options.keys().next());
        let key = match &problem.path.0[..] {
            [PathStep::Key(key)] => key.as_str(),
            // A policy without options refuses the whole mapping: report the first key that was
            // written.
            [] => written.and_then(Value::as_str).unwrap_or_default(),
            _ => return,
        };
        let having = self.policies.iter().filter(|(_, entry)| entry.shape().names().contains(&key));
        let those: Vec<&str> = having.map(|(name, _)| *name).collect();
        let name = choice.name.as_str();
        if !those.is_empty() && !those.contains(&name) {
            let those = listed(quoted(those), "and");
            problem.hint = Some(format!("`{key}` is an option of {those}, not of `{name}`"));
        }
    }

    fn known(&self, choice: &SchedulerChoice) -> Result<&PolicyEntry, Vec<YamlProblem>> {
        self.get(&choice.name).ok_or_else(|| {
            let at = Path::of("scheduler").key(&choice.name);
            let problem = YamlProblem::unknown("policy", &choice.name, self.all_names(), at);
            // As in `scheduler: {name: fair}`.
            let named = choice.written().as_str().filter(|name| self.get(name).is_some());
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
        // Only the content of a file shows its format, and the files are not read here. So assume
        // that they have a format of the user's binary.
        let may_be_of_own_format = self.has_own_formats && scenario.files_mut().next().is_some();
        scenario.policies().all(|choice| {
            let names_own = choice.options().is_some_and(|it| it.facts().estimator.is_some());
            let is_known = self.get(&choice.name).is_some();
            is_known && !self.own.contains(&*choice.name) && !names_own
        }) && scenario
            .workload
            .sources
            .iter()
            .map(|source| source.key())
            .all(|key| self.sources.contains_key(key) && !self.own.contains(key))
            && !may_be_of_own_format
    }
}

/// Returns the files in which options of a policy stand: each `allocations` that is a text, with its
/// path.
pub fn option_files(options: &Value) -> Vec<(Path, PathBuf)> {
    let mut files = Vec::new();
    for (key, value) in options.as_mapping().into_iter().flatten() {
        let Some(key) = key.as_str() else { continue };
        let at = Path::default().key(key);
        match value {
            Value::String(file) if key == ALLOCATIONS => files.push((at, file.into())),
            // The options of a program, which are its own.
            _ if key == "options" => {}
            inner => files.extend(
                option_files(inner).into_iter().map(|(inside, file)| (at.join(&inside.0), file)),
            ),
        }
    }
    files
}

/// Returns a problem with options that stand in a file as a problem with that file.
fn in_file(files: &[(Path, OptionFile)], problem: YamlProblem) -> YamlProblem {
    let around = files.iter().find(|(at, _)| at.contains(&problem.path));
    let Some((at, file)) = around else { return problem };
    let inside = Path(problem.path.0[at.0.len()..].to_vec());
    file.place(YamlProblem { path: inside, ..problem }).inside(at)
}

/// Turns problems of a choice into an error, without line numbers: the text of the choice is no
/// longer available.
fn without_place(problems: Vec<YamlProblem>) -> ScenarioError {
    let findings = problems.into_iter().map(|problem| Finding {
        message: problem.message,
        hint: problem.hint,
        path: problem.path.to_string(),
        place: FindingSpot::File("the chosen policy".to_owned()),
    });
    ScenarioError::Invalid { findings: findings.collect() }
}

/// Returns problems of a policy's options as problems of the scenario: their paths then begin at
/// the scenario.
fn inside(choice: &SchedulerChoice, problems: Vec<YamlProblem>) -> Vec<YamlProblem> {
    let at = Path::of("scheduler").key(&choice.name);
    problems.into_iter().map(|problem| problem.inside(&at)).collect()
}

/// Returns warnings about settled options that the user wrote and that have no effect.
fn idle(entry: &PolicyEntry, options: &dyn PolicyOptions, site: PolicySite<'_>) -> Vec<String> {
    let (written, shape) = (options.written(), entry.shape());
    // A check may replace defaults by values of the site. The user has not written these values, so
    // they need no warning that they have no effect.
    let plain = LazyCell::new(|| {
        let site = PolicySite { jobs: Vec::new(), ..site };
        entry.default_options().settled(&site).0.written()
    });
    let found = ConditionalSetting::find(shape, &written, Path::default(), None, |path, value| {
        path.get(&plain) != Some(value)
    });
    let idle = found.iter().filter(|setting| !setting.matters(|_| false));
    idle.map(|setting| setting.warning(&format!(" of `{}`", entry.name()))).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::{Offer, OptionFacts};

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
        fn facts(_: &NoOptions) -> OptionFacts<'_> {
            OptionFacts { heeds_bytes: false, ..OptionFacts::default() }
        }
        fn new(_: NoOptions) -> Self {
            Self
        }
    }

    #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct NoOptions {}

    pub(in super::super) fn registry() -> Registry {
        let mut registry = Registry::new();
        registry.add::<Fifo>().add::<Lazy>();
        registry
    }

    fn complete(yaml: &str) -> Result<String, String> {
        let choice: SchedulerChoice = serde_yaml::from_str(yaml).map_err(|e| e.to_string())?;
        let checked = registry().complete(&choice, &PolicySite::unknown()).map_err(|problems| {
            let texts = problems.iter().map(|p| format!("{}: {}", p.path, p.message));
            texts.collect::<Vec<_>>().join("; ")
        })?;
        Ok(serde_json::to_string(&checked.choice).unwrap())
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
        let defaults = serde_yaml::to_string(&lazy.default_options().written()).unwrap();
        assert_eq!(defaults, "sleep: 5s\nwake: never\n");
    }
}
