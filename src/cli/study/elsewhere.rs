//! A study on other machines: the point at which a satellite may add such machines to Mumakil.
//!
//! ```text
//! command line   OtherMachines::options   more options, one of them in the group ELSEWHERE
//! study          ElsewhereOptions         did the user give that one? then OtherMachines::run
//! status         OtherMachines::status    of a folder; cancel and merge ask in the same way
//! ```

use std::path::Path;

use clap::{ArgGroup, ArgMatches, Args, FromArgMatches};

use super::{PaceOptions, folder, unstartable, warn};
use crate::Program;
use crate::failure::Failure;
use mumakil_runtime::Transport;
use mumakil_scenario::Registry;
use mumakil_study::{
    BroughtFiles, FolderClaim, Plan, Shard, Store, StoreForm, Study, StudyManifest, keep,
    write_manifest,
};

/// The group of the option by which a user chooses other machines.
pub const ELSEWHERE: &str = "elsewhere";

/// Other machines on which a study can run.
pub trait OtherMachines: Sync {
    /// Adds its options to a command that does a study. The option that chooses these machines is in
    /// the group [`ELSEWHERE`].
    fn options(&self, command: clap::Command) -> clap::Command;

    /// Gives the missing runs of a study to these machines.
    fn run(
        &self,
        options: &ArgMatches,
        work: &ElsewhereStudy<'_>,
        registry: &Registry,
    ) -> Result<OtherProgress, Failure>;

    /// Returns the progress of the study in a folder, in words; `None` if these machines never had it.
    fn status(&self, folder: &Path) -> Result<Option<String>, Failure>;

    /// Ends the work of these machines on the study in a folder; returns its name, or `None` if there is
    /// no such work.
    fn cancel(&self, folder: &Path) -> Result<Option<String>, Failure>;

    /// Returns a hint how these machines get the missing runs of the study in a folder again; `None` if
    /// they never had it.
    fn again(&self, folder: &Path) -> Result<Option<String>, Failure>;
}

/// How far other machines are with a study when they have been asked.
#[derive(Debug)]
pub enum OtherProgress {
    /// They have been shown or given the runs.
    Given,
    /// The study has ended so.
    Ended(Result<(), Failure>),
}

/// The options of a command with which the user chose other machines, if so.
#[derive(Clone, Debug, Default)]
pub struct ElsewhereOptions(Option<ArgMatches>);

impl ElsewhereOptions {
    /// Returns the machines that the user chose, and the options for them.
    pub fn chosen(&self, program: &Program) -> Option<(&'static dyn OtherMachines, &ArgMatches)> {
        program.elsewhere.zip(self.0.as_ref())
    }
}

/// The options themselves are those of [`OtherMachines::options`]; here is only their group. It stands behind
/// the options with which it conflicts.
impl Args for ElsewhereOptions {
    fn augment_args(command: clap::Command) -> clap::Command {
        // Other machines do all runs of a study, and each of their processes joins.
        let others = (["shard", "join", "sabotage"].into_iter())
            .filter(|id| command.get_arguments().any(|argument| argument.get_id() == id));
        let group = ArgGroup::new(ELSEWHERE).conflicts_with_all(others);
        command.group(group)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ElsewhereOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.contains_id(ELSEWHERE).then(|| matches.clone())))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A study to be run on other machines.
pub struct ElsewhereStudy<'w> {
    /// The study.
    pub study: &'w Study,
    /// Its folder.
    pub out: &'w Path,
    /// How its runs are kept.
    pub form: Option<StoreForm>,
    /// Which files it brings.
    pub bring: BroughtFiles,
    /// Its pace.
    pub pace: PaceOptions,
    /// Whether it prints nothing.
    pub quiet: bool,
}

impl ElsewhereStudy<'_> {
    /// Plans the study, and prints the warnings about it.
    pub fn plan(&self, registry: &Registry) -> Result<Plan, Failure> {
        let plan = Plan::new(self.study, registry)?;
        warn(&plan, self.quiet);
        Ok(plan)
    }

    /// Returns the runs that are left to do.
    ///
    /// # Errors
    /// If they need a program that may not be started, or the folder has runs of another model.
    pub fn missing(
        &self,
        plan: &Plan,
        store: &Store,
        registry: &Registry,
    ) -> Result<Vec<usize>, Failure> {
        self.pace.expect_own_runs(self.out, store)?;
        let missing = match self.pace.force {
            true => plan.distinct(),
            false => plan.missing(store, Shard::WHOLE),
        };
        let program = plan.program(&missing).filter(|_| registry.permit().refusal().is_some());
        program.map_or(Ok(missing), |program| Err(unstartable(program)))
    }

    /// Writes the study into its folder. Before, removes runs that are to be done anew.
    pub fn keep(&self, plan: &Plan, claim: &FolderClaim) -> Result<StudyManifest, Failure> {
        if self.pace.force {
            claim.remove_all()?;
        }
        let sheet = StudyManifest::new(self.study, plan);
        write_manifest(&sheet, self.out)?;
        keep(self.study, plan, &folder::command(), self.out, self.bring)?;
        Ok(sheet)
    }

    /// Returns the arguments of Mumakil for a process that does one of these runs after another, in
    /// the study's folder. It may start a program that the study names, as the user was told here.
    pub fn arguments(&self, plan: &Plan, missing: &[usize]) -> String {
        let mut words = "study . --join --jobs 1".to_owned();
        if let Some(limit) = self.pace.time_limit {
            words += &format!(" --time-limit {limit}");
        }
        words += match self.pace.drive.transport {
            Some(Transport::Bare) => " --drive bare",
            Some(Transport::Actors) => " --drive actors",
            None => "",
        };
        if self.pace.verify {
            words += " --verify";
        }
        if plan.program(missing).is_some() {
            words += " --external";
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Satellite, testing};

    /// Machines that are chosen by `--at`, and fail.
    struct Nowhere;

    impl OtherMachines for Nowhere {
        fn options(&self, command: clap::Command) -> clap::Command {
            command.arg(clap::Arg::new("at").long("at").group(ELSEWHERE))
        }

        fn run(
            &self,
            options: &ArgMatches,
            work: &ElsewhereStudy<'_>,
            _: &Registry,
        ) -> Result<OtherProgress, Failure> {
            let place = options.get_one::<String>("at").unwrap();
            Err(Failure::input(format!("no {} at {place}", work.study.name)))
        }

        fn status(&self, _: &Path) -> Result<Option<String>, Failure> {
            Ok(None)
        }

        fn cancel(&self, _: &Path) -> Result<Option<String>, Failure> {
            Ok(None)
        }

        fn again(&self, _: &Path) -> Result<Option<String>, Failure> {
            Ok(None)
        }
    }

    /// Returns the words of the failure of a study at the moon.
    fn at_the_moon(elsewhere: Option<&'static dyn OtherMachines>, more: &[&str]) -> String {
        let satellite = Satellite { elsewhere, ..Satellite::default() };
        let program = Program::new(testing::registry(), Vec::new(), vec![satellite]);
        let words = [&["study", "scaling-study", "--at", "moon"], more].concat();
        program.call(&words).unwrap_err().words()
    }

    #[test]
    fn a_study_is_done_where_the_user_says() {
        assert_eq!(at_the_moon(Some(&Nowhere), &[]), "no scaling-study at moon");
        let both = at_the_moon(Some(&Nowhere), &["--join"]);
        assert!(both.contains("'--at <at>' cannot be used with '--join'"), "{both}");
    }

    #[test]
    fn a_program_without_other_machines_has_no_option_for_them() {
        let told = at_the_moon(None, &[]);
        assert!(told.contains("unexpected argument '--at'"), "{told}");
    }
}
