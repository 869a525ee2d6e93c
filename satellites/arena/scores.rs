//! The scores of the policies in a contest, from its runs.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde::{Serialize, Serializer};

use crate::contest::{Contest, MEAN, POLICIES, TAIL};
use crate::suite::{Goal, SuiteScenario};
use mumakil_base::statistics::{PairedRatio, differences, interval};
use mumakil_base::units::tell::{count, counted, listed, significant};
use mumakil_results::expect::ExprPlan;
use mumakil_results::tables::{JobEnd, JobRow, ReadError, Results};
use mumakil_run::output::OutputError;
use mumakil_run::output::results::RunResults;
use mumakil_study::{
    FindingsError, Plan, SCENARIO, Store, StudyManifest, StudyRuns, failed, planned_metric, sign,
};

/// The score of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyScore {
    /// The policy.
    pub policy: String,
    /// Whether it uses the true sizes of jobs, which no real cluster knows.
    pub knows_true_sizes: bool,
    /// The suite.
    pub suite: String,
    /// The weighted geometric mean of the scenarios' ratios: below 1, the policy is better than the
    /// best baseline. `None` without a ratio in each scenario.
    #[serde(serialize_with = "six_digits")]
    pub total: Option<f64>,
    /// The same on the held-back seeds.
    #[serde(serialize_with = "six_digits")]
    pub held_back: Option<f64>,
    /// The scenarios.
    pub scenarios: Vec<ScenarioScore>,
    /// Why the policy is out of the contest, each reason once; empty for a sound policy.
    pub disqualified: Vec<String>,
}

/// The score of a policy in a scenario. A ratio below 1 is good, whether less or more of the number
/// is better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioScore {
    /// The scenario.
    pub name: String,
    /// The policy's number over that of the best baseline, or the other way round if more is better:
    /// the geometric mean over the public seeds.
    #[serde(serialize_with = "six_digits")]
    pub ratio: Option<f64>,
    /// The beginning of the ratio's 95 % interval.
    #[serde(serialize_with = "six_digits")]
    pub low: Option<f64>,
    /// The end of the ratio's 95 % interval.
    #[serde(serialize_with = "six_digits")]
    pub high: Option<f64>,
    /// The ratio to the bound.
    #[serde(serialize_with = "six_digits")]
    pub bound: Option<f64>,
    /// The ratio to the same baseline, on the held-back seeds.
    #[serde(skip)]
    pub held_back: Option<f64>,
    /// The best baseline.
    #[serde(skip)]
    pub best: String,
    /// The ratios to the best baseline of the mean sojourn and of its 95th percentile.
    #[serde(skip)]
    pub(crate) mean_and_tail: [Option<f64>; 2],
}

/// Writes six digits: other machines may compute the last ones of logarithms otherwise.
#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn six_digits<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    let rounded: Option<f64> = number.and_then(|number| format!("{number:.5e}").parse().ok());
    rounded.serialize(to)
}

impl PolicyScore {
    /// Returns the policy as tables show it: an oracle is marked.
    pub fn title(&self) -> String {
        title(&self.policy, self.knows_true_sizes)
    }

    /// Returns whether the policy is worse on the held-back seeds than on the public ones, by more
    /// than chance, in words; `None` without held-back seeds.
    pub fn over_fitting(&self) -> Option<String> {
        let (total, held_back) = (self.total?, self.held_back?);
        let (held, public): (Vec<f64>, Vec<f64>) = (self.scenarios.iter())
            .filter_map(|one| Some((one.held_back?.ln(), one.ratio?.ln())))
            .unzip();
        let gap = interval(&differences(&held, &public))?;
        let percent = (held_back / total - 1.0).abs() * 100.0;
        let gap_told = format!("{} %", significant(percent, 2));
        Some(match gap.band {
            Some(band) if 0.0 < band.low => {
                format!("over-fitting: it is {gap_told} worse on seeds that it has not seen")
            }
            _ if total < held_back => {
                format!("it is {gap_told} worse on seeds that it has not seen, which may be chance")
            }
            _ => "no sign of over-fitting".to_owned(),
        })
    }
}

fn title(policy: &str, knows_true_sizes: bool) -> String {
    if knows_true_sizes { format!("{policy} (knows true sizes)") } else { policy.to_owned() }
}

/// The numbers of a contest.
pub(crate) struct ContestNumbers<'c> {
    contest: &'c Contest,
    /// For each scenario and policy, by index, the numbers and the lost jobs; none if a run of the
    /// cell is missing.
    cells: BTreeMap<(usize, usize), ContestCell>,
    /// For each policy, whether it uses the true sizes of jobs.
    oracles: Vec<bool>,
}

/// A policy in a scenario, seed by seed.
struct ContestCell {
    /// The numbers of the goal, of the mean and of the tail.
    numbers: [Vec<Option<f64>>; 3],
    lost: Vec<LostJobs>,
}

/// The ends of the jobs that did not succeed in a run, by the numbers of the jobs.
type LostJobs = BTreeMap<u32, JobEnd>;

impl<'c> ContestNumbers<'c> {
    /// Reads the runs that are done. `oracles` says for each policy whether it uses the true sizes
    /// of jobs.
    pub(crate) fn read(
        contest: &'c Contest,
        sheet: &StudyManifest,
        store: &Store,
        oracles: Vec<bool>,
    ) -> Result<Self, FindingsError> {
        let (runs, space) = (StudyRuns::new(sheet, store), sheet.space());
        let (mean, tail) = (planned_metric(MEAN, &space)?, planned_metric(TAIL, &space)?);
        let goals = (contest.suite.scenarios.iter())
            .map(|one| planned_metric(&one.goal.text, &space))
            .collect::<Result<Vec<_>, _>>()?;
        let mut cells = BTreeMap::new();
        for (scenario, goal) in goals.iter().enumerate() {
            for policy in 0..contest.axis(POLICIES).values.len() {
                let cell = contest.cell(scenario, policy);
                let Some(place) = runs.whole(&cell) else { continue };
                runs.check(place)?;
                let measure = |plan: &ExprPlan| plan.measure(&runs, &cell);
                let numbers = [measure(goal)?, measure(&mean)?, measure(&tail)?];
                let lost = runs.of(place).map(lost_jobs).collect::<Result<_, _>>()?;
                cells.insert((scenario, policy), ContestCell { numbers, lost });
            }
        }
        Ok(Self { contest, cells, oracles })
    }

    /// Returns the index of the baseline that is best in a scenario, on the public seeds: the best of
    /// those under which most jobs succeed. It is the first one if none has a number.
    pub(crate) fn best_baseline(&self, scenario: usize) -> usize {
        let suite = &self.contest.suite;
        let baselines = suite.baselines.iter().map(|(label, _)| self.contest.policy(label));
        let first = self.contest.policy(&suite.baselines[0].0);
        let against_first = |policy: &usize| {
            self.ratio(scenario, *policy, first, false).map_or(f64::INFINITY, |it| it.estimate.mean)
        };
        let lost = |policy: &usize| {
            let runs = self.lost(scenario, *policy).iter();
            runs.take(self.contest.public).map(BTreeMap::len).sum::<usize>()
        };
        let best = baselines.min_by(|a, b| {
            lost(a).cmp(&lost(b)).then(against_first(a).total_cmp(&against_first(b)))
        });
        best.unwrap_or(first)
    }

    fn lost(&self, scenario: usize, policy: usize) -> &[LostJobs] {
        self.cells.get(&(scenario, policy)).map_or(&[], |cell| &cell.lost)
    }

    /// Returns the ends of a policy's jobs that end better under another policy, each with how many
    /// jobs have it.
    ///
    /// A number is of the jobs that succeeded. So a policy that lets jobs go would be better by the
    /// numbers of the others, and has none.
    fn let_go(&self, scenario: usize, policy: usize, other: usize) -> Vec<(JobEnd, u64)> {
        let both = self.lost(scenario, policy).iter().zip(self.lost(scenario, other));
        let worse = both.flat_map(|(own, others)| {
            let end = |job: &u32| others.get(job).copied().unwrap_or(JobEnd::Succeeded);
            own.iter().filter(move |(job, own)| loss(end(job)) < loss(**own)).map(|(_, own)| *own)
        });
        let mut ends: Vec<(JobEnd, u64)> = Vec::new();
        for end in worse {
            match ends.iter_mut().find(|(known, _)| *known == end) {
                Some((_, jobs)) => *jobs += 1,
                None => ends.push((end, 1)),
            }
        }
        ends
    }

    /// Returns the ratio of a policy to another in a scenario, by the scenario's goal: below 1, the
    /// first is better. `None` if the first lets jobs go that end better under the other.
    fn ratio(
        &self,
        scenario: usize,
        policy: usize,
        other: usize,
        held_back: bool,
    ) -> Option<PairedRatio> {
        let goal = &self.contest.suite.scenarios[scenario].goal;
        self.ratio_of(0, scenario, [policy, other], held_back, goal.is_more)
    }

    fn ratio_of(
        &self,
        number: usize,
        scenario: usize,
        policies: [usize; 2],
        held_back: bool,
        is_more: bool,
    ) -> Option<PairedRatio> {
        let cells = policies.map(|policy| self.cells.get(&(scenario, policy)));
        let [one, other] = [&cells[0]?.numbers[number], &cells[1]?.numbers[number]];
        if !self.let_go(scenario, policies[0], policies[1]).is_empty() {
            return None;
        }
        let public = self.contest.public;
        let seeds = if held_back { public..one.len() } else { 0..public };
        let mut pairs = (Vec::new(), Vec::new());
        for (one, other) in one[seeds.clone()].iter().zip(&other[seeds]) {
            let (one, other) = ((*one)?, (*other)?);
            // Two zeros are equal, though they have no ratio.
            let (one, other) = if one == 0.0 && other == 0.0 { (1.0, 1.0) } else { (one, other) };
            let (one, other) = if is_more { (other, one) } else { (one, other) };
            pairs.0.push(one);
            pairs.1.push(other);
        }
        PairedRatio::of(&pairs.0, &pairs.1)
    }

    pub(crate) fn score(&self, policy: &str, failures: &RunFailures) -> PolicyScore {
        let contest = self.contest;
        let suite = &contest.suite;
        let place = contest.policy(policy);
        let mut disqualified = failures.of(policy, contest);
        let mut scenarios = Vec::new();
        for (number, SuiteScenario { label, bound, .. }) in suite.scenarios.iter().enumerate() {
            let best = self.best_baseline(number);
            let ratio = self.ratio(number, place, best, false).map(|ratio| ratio.estimate);
            let mean = |ratio: Option<PairedRatio>| ratio.map(|ratio| ratio.estimate.mean);
            let band = ratio.and_then(|ratio| ratio.band);
            let of = |column| mean(self.ratio_of(column, number, [place, best], false, false));
            let gone = self.let_go(number, place, best);
            if !gone.is_empty() {
                let jobs = counted(gone.iter().map(|(_, jobs)| jobs).sum(), "job");
                let ends =
                    gone.iter().map(|(end, jobs)| format!("{} {}", count(*jobs), end.word()));
                let (best, ends) = (self.label(best), listed(ends, "and"));
                disqualified
                    .push(format!("{jobs} of `{label}` ended better under `{best}`: {ends} here"));
            }
            scenarios.push(ScenarioScore {
                name: label.clone(),
                ratio: ratio.map(|ratio| ratio.mean),
                low: band.map(|band| band.low),
                high: band.map(|band| band.high),
                bound: mean(self.ratio(number, place, contest.policy(&bound.0), false)),
                held_back: mean(self.ratio(number, place, best, true)),
                best: title(self.label(best), self.oracles[best]),
                mean_and_tail: [of(1), of(2)],
            });
        }
        let weights = suite.weights();
        let total = |of: fn(&ScenarioScore) -> Option<f64>| geometric(&weights, &scenarios, of);
        let (total, held_back) = (total(|one| one.ratio), total(|one| one.held_back));
        PolicyScore {
            policy: policy.to_owned(),
            knows_true_sizes: self.oracles[place],
            suite: suite.name.as_str().to_owned(),
            total,
            held_back,
            scenarios,
            disqualified,
        }
    }

    /// Returns the label of a policy, given by its index.
    pub(crate) fn label(&self, policy: usize) -> &str {
        &self.contest.axis(POLICIES).values[policy].label
    }
}

/// Returns the ends of the jobs that did not succeed in a run.
fn lost_jobs(run: &RunResults) -> Result<LostJobs, ReadError> {
    let mut lost = LostJobs::new();
    (run as &dyn Results).rows(|JobRow { job, outcome, .. }| {
        if outcome != JobEnd::Succeeded {
            lost.insert(job, outcome);
        }
        Ok(())
    })?;
    Ok(lost)
}

/// Returns how bad the end of a job is. A job that had not ended is not the worst: where jobs are left
/// under the best baseline, no policy gains by refusing them.
const fn loss(end: JobEnd) -> u8 {
    match end {
        JobEnd::Succeeded => 0,
        JobEnd::Unfinished => 1,
        JobEnd::Failed | JobEnd::Killed | JobEnd::Refused => 2,
    }
}

/// Returns the weighted geometric mean of a number of the scenarios; `None` if one lacks it.
pub(crate) fn geometric(
    weights: &[f64],
    scenarios: &[ScenarioScore],
    of: fn(&ScenarioScore) -> Option<f64>,
) -> Option<f64> {
    let logarithms =
        scenarios.iter().zip(weights).map(|(one, weight)| Some(of(one)?.ln() * weight));
    let sum: f64 = logarithms.sum::<Option<f64>>()?;
    let all: f64 = weights.iter().sum();
    (0.0 < all).then(|| (sum / all).exp())
}

/// The runs of a contest that failed, by name, each with the reason.
pub(crate) struct RunFailures {
    /// The index of the scenario and the policy's label, the seed, and the reason.
    runs: Vec<(usize, String, u64, String)>,
}

impl RunFailures {
    /// Reads why runs of a plan failed.
    pub(crate) fn read(contest: &Contest, plan: &Plan, store: &Store) -> Result<Self, OutputError> {
        let told = failed::read(store)?;
        let axes = &contest.study.sweep.axes;
        let place = |name: &str| axes.iter().position(|axis| axis.name == name).unwrap_or(0);
        let (scenarios, policies) = (place(SCENARIO), place(POLICIES));
        let mut runs = Vec::new();
        for (number, run) in plan.runs.iter().enumerate() {
            let Some(words) = told.get(&run.id) else { continue };
            let why = words.strip_prefix(&format!("{}: ", plan.describe(number))).unwrap_or(words);
            let values = &plan.cells[run.cell].values;
            let policy = &axes[policies].values[values[policies]].label;
            runs.push((values[scenarios], policy.clone(), run.seed, why.to_owned()));
        }
        Ok(Self { runs })
    }

    /// Returns the reasons why runs of a policy failed, each once.
    fn of(&self, policy: &str, contest: &Contest) -> Vec<String> {
        let mut reasons: IndexMap<String, (usize, u64, &str, u64)> = IndexMap::new();
        for (scenario, _, seed, why) in self.runs.iter().filter(|(_, of, ..)| of == policy) {
            reasons.entry(sign(why)).or_insert((*scenario, *seed, why, 0)).3 += 1;
        }
        let lines = reasons.into_values().map(|(scenario, seed, why, runs)| {
            let label = &contest.suite.scenarios[scenario].label;
            // A held-back seed stays a secret.
            let seed = match contest.suite.seeds.contains(&seed) {
                true => format!("seed {seed}"),
                false => "a held-back seed".to_owned(),
            };
            let more = match runs {
                1 => String::new(),
                _ => format!(", and {}", counted(runs - 1, "more run")),
            };
            format!("{why}\n  in `{label}`, {seed}{more}")
        });
        lines.collect()
    }

    /// Returns a failure of a run whose policy is not scored, in words; `None` if there is none.
    pub(crate) fn of_others(&self, contest: &Contest) -> Option<String> {
        let mut others = self.runs.iter().filter(|(_, of, ..)| !contest.policies.contains(of));
        let (scenario, of, _, why) = others.next()?;
        let label = &contest.suite.scenarios[*scenario].label;
        Some(format!("`{of}`, beside which policies are set, fails in `{label}`: {why}"))
    }
}

impl Goal {
    /// Returns the goal in words: `less mean(sojourn)`.
    pub(crate) fn words(&self) -> String {
        format!("{} {}", if self.is_more { "more" } else { "less" }, self.text)
    }
}
