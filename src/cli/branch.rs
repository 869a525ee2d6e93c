//! `mumakil branch`: two runs with the same past and different futures.
//! ```text
//! run     fair ------ 2 min ------ fair ------> out/…/run
//! branch  fair ------ 2 min ------ hfsp ------> out/…/branch     `later: [{at: 2min, scheduler: hfsp}]`
//!         equal until 2 min, or the branch is refused       compare.html
//! ```

use std::io::Write as _;
use std::path::PathBuf;

use super::failure::Failure;
use super::lines::TerminalLines;
use super::open::OpenOption;
use super::progress::RunBar;
use super::source::{self, Overrides};
use super::{Program, compare, file, interrupt, run, terminal};
use mumakil_base::units::tell::{counted, span};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_run::emulation::{Emulated, Options, Prepared};
use mumakil_run::output::{AsideFolder, ReplacedFiles, RunFolder, check_runs};
use mumakil_run::record::{OnProgress, RunPast};
use mumakil_scenario::{ClockSpec, LaterChange, LoadedScenario, Registry, Scenario};

/// The names of the two runs' folders, and of the page that compares them.
const RUN: &str = "run";
const BRANCH: &str = "branch";
const PAGE: &str = "compare.html";

/// Run a scenario twice, with the same past and another future
///
/// The settings hold in the second run from the instant on. Another policy takes over there; faults
/// and later changes may be added. Both runs begin at the beginning, and Mumakil checks that all
/// their events are the same up to the instant: a setting that changes an earlier event is refused.
/// The scenario of the second run has all settings, so that it can be run again alone. A page
/// compares the two.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil branch quickstart --at 2min --set scheduler=hfsp
  mumakil branch mine.yaml --at 40min --set 'faults=[{stop: node-3, at: 45min}]'

Exit codes:
  0  done
  1  the settings change something before the instant, or a run failed
  2  the scenario or the command line is wrong
  3  the environment is at fault, such as a full disk, or Mumakil itself")]
pub(super) struct BranchArguments {
    /// A file, or the name of a scenario that Mumakil brings (see `mumakil list scenarios`)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The instant at which the second run branches off
    #[arg(long, value_name = "TIME")]
    at: SimSpan,
    /// The folder for both runs and their comparison [default: out/NAME-SEED-branch]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// Replace the results of an earlier branch; never anything else
    #[arg(long)]
    force: bool,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    open: OpenOption,
}

impl BranchArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let plain = Overrides { sets: Vec::new(), ..self.overrides.clone() };
        let (draft, loaded) = source::load(&self.scenario, plain, registry)?;
        let LoadedScenario { scenario, mut warnings, .. } = loaded;
        let (set_draft, loaded) = source::load(&self.scenario, self.overrides, registry)?;
        let LoadedScenario { scenario: set, warnings: of_set, .. } = loaded;
        // Both scenarios are run. Most warnings are about both.
        let new: Vec<_> = of_set.into_iter().filter(|new| !warnings.contains(new)).collect();
        warnings.extend(new);
        terminal::warn_all(&warnings, self.quiet);
        // The scenario was loaded once without the settings and once with them, so mistakes in the
        // settings are reported already.
        let branch = branched(&scenario, set, self.at)?;
        let name = format!("out/{}-{}-branch", scenario.name, scenario.seed);
        let target = self.out.unwrap_or_else(|| name.into());
        let until = SimTime::ZERO + self.at;
        let bar = RunBar::default();
        interrupt::guard_results(&bar);
        let prepared = [
            source::prepare(&draft, scenario, registry)?,
            source::prepare(&set_draft, branch, registry)?,
        ];
        let over = match self.force {
            true => ReplacedFiles::Checked(|there| check_runs(there, &[RUN, BRANCH], &[PAGE])),
            false => ReplacedFiles::Nothing,
        };
        // One run without the other would be useless, so both have one hidden folder around them.
        let whole = AsideFolder::create(&target, over)?;
        let targets = [RUN, BRANCH].map(|name| whole.path().join(name));
        let folder = |target| RunFolder::create(target, false);
        let folders = [folder(&targets[0])?, folder(&targets[1])?];
        let prepared = prepared.each_ref();
        let parted = part(prepared, &folders, until, registry, |number| {
            let prepared = prepared[number];
            (!self.quiet).then(|| bar.watch(&prepared.scenario, prepared.jobs()))
        });
        bar.clear();
        let (same, ends) = parted?;
        // Refuse an instant after the end of both runs: the page would compare a run with itself.
        if ends.iter().all(|end| end.summary.virtual_s < self.at.as_secs_f64()) {
            let end = ends.iter().map(|end| end.summary.virtual_s).fold(0.0, f64::max);
            return Err(Failure::input(format!(
                "the runs had ended after {}, before {}, so nothing could differ",
                span(end),
                self.at
            )));
        }
        for folder in folders {
            folder.commit()?;
        }
        let runs = [(&*targets[0], RUN), (&*targets[1], BRANCH)];
        let (mut lines, page) = compare::of_runs(registry, &runs)?;
        let page_file = whole.path().join(PAGE);
        file::write(&page_file, false, |to| to.write_all(page.as_bytes()))?;
        let target = whole.put()?;
        lines.line(format!("wrote {}", target.join(PAGE).display()));
        let events = counted(same, "event");
        let same = TerminalLines::of(format!("the same up to {}: {events}", self.at));
        if !self.quiet {
            terminal::print(&(same + lines))?;
        }
        self.open.show(&target.join(PAGE));
        prepared.iter().zip(&ends).try_for_each(|(prepared, end)| run::verdict(prepared, end))
    }
}

/// Runs two scenarios into folders. Returns the number of events up to the instant `until`, which
/// is the same in both, and the two finished runs. `progress(0)` and `progress(1)` return the
/// functions to which the two runs report their progress.
///
/// # Errors
/// If a run fails, or if the two runs differ before the instant.
pub(super) fn part(
    prepared: [&Prepared; 2],
    folders: &[RunFolder; 2],
    until: SimTime,
    registry: &Registry,
    progress: impl Fn(usize) -> Option<OnProgress>,
) -> Result<(u64, Vec<Emulated>), Failure> {
    let mut ends = Vec::with_capacity(2);
    let mut pasts = Vec::with_capacity(2);
    for (number, (prepared, folder)) in prepared.into_iter().zip(folders).enumerate() {
        // Compare the runs by a hash of their events up to the instant, which takes no memory.
        let (past, watcher) = RunPast::until(until);
        let progress = progress(number);
        let options = Options { progress, watchers: vec![watcher], ..Options::default() };
        ends.push(prepared.fill(folder, registry, options)?.emulated);
        pasts.push(past);
    }
    let [first, second] = [0, 1].map(|number: usize| pasts[number].lock());
    match first.parts_from(&second) {
        None => Ok((first.events, ends)),
        Some(same) => Err(Failure::run(format!(
            "the settings change what happens before {}: the runs differ after {same}; in a run only \
             `scheduler` can change, and `faults` and `later` after that instant",
            until - SimTime::ZERO
        ))),
    }
}

/// Returns the scenario of the branch: the original, with the settings from the instant on.
fn branched(scenario: &Scenario, mut set: Scenario, at: SimSpan) -> Result<Scenario, Failure> {
    if set == *scenario {
        return Err(Failure::input("the settings change nothing, so there is no branch"));
    }
    if [scenario, &set].iter().any(|one| one.clock != ClockSpec::Virtual) {
        return Err(Failure::input(
            "`branch` needs `clock: virtual`: in real time no run repeats its past",
        ));
    }
    set.programs.extend(scenario.programs.iter().cloned());
    if set.scheduler != scenario.scheduler {
        // Mumak keeps its policy, which orders the reading of splits, for the whole run.
        if scenario.hadoop.behaviour().keeps_policy {
            return Err(Failure::input(
                "in Mumak the policy cannot change in a run, as it orders the reading of splits; set another \
                 `hadoop.line`",
            ));
        }
        // Both runs begin under the same policy; an entry of `later` changes it in the second run.
        let policy = std::mem::replace(&mut set.scheduler, scenario.scheduler.clone());
        set.later.push(LaterChange::scheduler(at, policy));
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_scenario::parse;

    fn branch(sets: &[&str]) -> Result<Scenario, String> {
        let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\nscheduler: fair";
        let registry = crate::testing::registry();
        let load = |sets: &[String]| parse("test.yaml", yaml, sets, &registry).unwrap().scenario;
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        branched(&load(&[]), load(&sets), SimSpan::from_secs(60)).map_err(|failure| match failure {
            Failure::Input(error) => error.to_string(),
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn another_policy_takes_over_at_the_instant_and_the_first_stays_before() {
        let made = branch(&["scheduler=hfsp"]).unwrap();
        assert_eq!(made.scheduler.name, "fair");
        let [LaterChange { at, scheduler: Some(choice), .. }] = &made.later[..] else { panic!() };
        assert_eq!((choice.name.as_str(), at.as_secs_f64()), ("hfsp", 60.0));
        let faults = branch(&["faults=[{stop: node-3, at: 2min}]"]).unwrap();
        assert_eq!((faults.later.len(), faults.faults.len()), (0, 1));
    }

    #[test]
    fn branches_that_cannot_be_are_refused() {
        assert!(branch(&["scheduler=fair"]).unwrap_err().contains("change nothing"));
        assert!(branch(&["clock=60x"]).unwrap_err().contains("virtual"));
        let mumak = ["hadoop=mumak", "cluster=mumak", "scheduler=fifo"];
        // `branched` accepts a setting that changes the past: only the comparison of events finds
        // it.
        assert!(branch(&mumak).is_ok());
    }
}
