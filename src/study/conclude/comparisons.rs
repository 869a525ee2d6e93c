//! Comparisons of each metric under two values of the compared axis, in each cell of the other
//! axes.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::conclude::findings::{JobsOfRun, Metric};
use crate::plan::manifest::StudyManifest;
use mumakil_base::units::tell::{count, counted, significant};
use mumakil_compare::{Pair, family, shown_ratios};
use mumakil_results::expect::{Space, SpaceAxis, Unit};

/// A metric under two values of the compared axis, in one cell of the other axes.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The metric.
    pub metric: String,
    /// The labels of the other axes' values; empty for an axis whose value the metric chooses.
    pub cell: Vec<String>,
    /// The label of the value that is the base.
    pub base: String,
    /// The label of the other value.
    pub other: String,
    /// The difference, the ratio and the verdict.
    #[serde(flatten)]
    pub pair: Pair,
    /// The seeds whose ratio is far from the ratios of the other seeds.
    pub outliers: Vec<OutlyingSeed>,
    /// How many jobs did not succeed in the runs of the base, and in those of the other value: times of
    /// jobs leave them out, so the two sides may be of other jobs. Zeros if the metric chooses its runs
    /// itself.
    pub unsuccessful: [u64; 2],
    /// The comparison as a sentence.
    pub words: String,
    /// The beginning of `words`: the two values and the cell.
    #[serde(skip)]
    pub name: String,
}

/// A seed whose ratio is far from the ratios of the other seeds.
#[derive(Clone, Debug, Serialize)]
pub struct OutlyingSeed {
    /// The seed.
    pub seed: u64,
    /// Its ratio.
    pub ratio: f64,
    /// The median of all seeds' ratios.
    pub median: f64,
    /// The distance of its ratio from the median, in robust standard deviations; `None` if more
    /// than half of the ratios are equal.
    pub distance: Option<f64>,
    /// The names of its two runs, the run of the base first.
    pub runs: [String; 2],
}

/// The cells in which a metric is compared: they differ only in the compared axis, and in the axes
/// whose values the metric chooses.
struct ComparedCells<'s> {
    sheet: &'s StudyManifest,
    axis: usize,
    metric: &'s Metric,
    /// The index of the value on each axis; `None` on the axes in which the cells differ.
    group: Vec<Option<usize>>,
}

/// Compares each metric under the values of the compared axis, in each cell of the other axes. `jobs`
/// has the numbers of jobs of each cell and seed.
pub(crate) fn comparisons(
    sheet: &StudyManifest,
    metrics: &[Metric],
    jobs: &[Vec<JobsOfRun>],
) -> Vec<Comparison> {
    // Without `compare` the study compares nothing.
    let Some(axis) = sheet.compare else { return Vec::new() };
    let space = sheet.space();
    let pairs = sheet.against.pairs(space.axes[axis].values.len());
    let mut comparisons = Vec::new();
    // Skip a metric that chooses a value of the compared axis itself: the metric is the same for
    // all compared values.
    for metric in metrics.iter().filter(|metric| !metric.chosen.contains(&axis)) {
        let mut seen = BTreeSet::new();
        for cell in &sheet.cells {
            let values = cell.values.iter().enumerate().map(|(other, value)| {
                (other != axis && !metric.chosen.contains(&other)).then_some(*value)
            });
            let group: Vec<Option<usize>> = values.collect();
            if seen.insert(group.clone()) {
                let cells = ComparedCells { sheet, axis, metric, group };
                let found = family(&pairs, |value| Some(&metric.numbers[cells.place(value)?][..]))
                    .into_iter();
                comparisons.extend(found.map(|pair| cells.comparison(pair, &space, jobs)));
            }
        }
    }
    comparisons
}

impl ComparedCells<'_> {
    /// Returns the index of a cell with this value of the compared axis. Any one does: `exclude` may
    /// have left the first ones out.
    fn place(&self, value: usize) -> Option<usize> {
        self.sheet.cells.iter().position(|other| {
            let mut pairs = self.group.iter().zip(&other.values);
            other.values[self.axis] == value
                && pairs.all(|(shown, own)| shown.is_none_or(|shown| shown == *own))
        })
    }

    fn comparison(&self, pair: Pair, space: &Space, jobs: &[Vec<JobsOfRun>]) -> Comparison {
        let Self { sheet, axis, metric, group } = self;
        let values = [pair.places.0, pair.places.1];
        let [base, other] = values.map(|value| space.axes[*axis].values[value].label.clone());
        let places = values.map(|value| self.place(value).expect("both sides have numbers"));
        let unsuccessful = places.map(|place| match metric.chosen.is_empty() {
            true => jobs[place].iter().map(JobsOfRun::unsuccessful).sum(),
            false => 0,
        });
        let name = format!("{other} against {base}{}", describe(&space.axes, group));
        let left_out = left_out(unsuccessful, [&base, &other]);
        let labels =
            group.iter().enumerate().filter(|(place, _)| place != axis).map(|(place, value)| {
                value.map(|value| space.axes[place].values[value].label.clone()).unwrap_or_default()
            });
        let outliers = pair.outliers.iter().map(|far| OutlyingSeed {
            seed: sheet.seeds[far.seed],
            ratio: far.ratio,
            median: far.median,
            distance: far.distance.is_finite().then_some(far.distance),
            runs: places.map(|place| sheet.cells[place].runs[far.seed].clone()),
        });
        Comparison {
            metric: metric.text.clone(),
            cell: labels.collect(),
            words: format!("{name}: {}{left_out}", pair.words(metric.unit)),
            outliers: outliers.collect(),
            base,
            other,
            pair,
            unsuccessful,
            name,
        }
    }
}

/// Returns how many jobs did not succeed on the two sides of a comparison, in words; empty if all did.
fn left_out(unsuccessful: [u64; 2], [base, other]: [&str; 2]) -> String {
    match unsuccessful {
        [0, 0] => String::new(),
        [of_base, of_other] => format!(
            "; {} did not succeed with {other}, {} with {base}",
            counted(of_other, "job"),
            count(of_base)
        ),
    }
}

/// Returns a cell in words, without the axes that are `None` in `group`:
/// ` at 40 nodes, replication=3`.
fn describe(axes: &[SpaceAxis], group: &[Option<usize>]) -> String {
    let words = axes.iter().zip(group).filter_map(|(axis, value)| {
        let value = &axis.values[(*value).filter(|_| 1 < axis.values.len())?];
        // For `nodes` write "40 nodes"; for `replication` write the name first.
        let is_count = axis.name().ends_with('s') && axis.unit() == Some(Unit::PLAIN);
        let (name, label) = (axis.name(), &value.label);
        Some(match (is_count, label.as_str()) {
            (true, "1") => format!("1 {}", &name[..name.len() - 1]),
            (true, _) => format!("{label} {name}"),
            _ => format!("{name}={label}"),
        })
    });
    let told: Vec<String> = words.collect();
    if told.is_empty() { String::new() } else { format!(" at {}", told.join(", ")) }
}

/// A reason to doubt a comparison: one seed's ratio is far from the ratios of the other seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonOddity {
    /// The oddity in words.
    pub text: String,
    /// The runs to look at: for each run, the label of its compared value and its name.
    pub runs: Vec<(String, String)>,
}

/// Returns the outlying seeds of comparisons, the farthest first, and each pair of runs once.
pub(crate) fn oddities(comparisons: &[Comparison]) -> Vec<ComparisonOddity> {
    let mut all: Vec<(&Comparison, &OutlyingSeed)> =
        comparisons.iter().flat_map(|of| of.outliers.iter().map(move |seed| (of, seed))).collect();
    // A seed without a distance goes first: most ratios are equal, and the ratio of this seed
    // differs.
    let distance = |seed: &OutlyingSeed| seed.distance.unwrap_or(f64::INFINITY);
    all.sort_by(|(_, a), (_, b)| distance(b).total_cmp(&distance(a)));
    let mut seen = BTreeSet::new();
    // Several metrics may point at the same two runs: keep the seed with the largest distance.
    all.retain(|(_, seed)| seen.insert(&seed.runs));
    let oddities = all.into_iter().map(|(of, outlier)| {
        let Comparison { metric, base, other, name, .. } = of;
        let [ratio, median] = shown_ratios([outlier.ratio, outlier.median]);
        let far = match outlier.distance {
            Some(distance) => {
                format!("{} robust deviations off the median of {median}", significant(distance, 2))
            }
            None => format!("where most are {median}"),
        };
        ComparisonOddity {
            text: format!(
                "seed {} stands apart: {metric} of {name} is {ratio} times, {far}",
                outlier.seed
            ),
            runs: [base, other].into_iter().cloned().zip(outlier.runs.clone()).collect(),
        }
    });
    oddities.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::expect::SpaceValue;

    #[test]
    fn jobs_that_did_not_succeed_are_told_with_the_verdict() {
        assert_eq!(left_out([0, 0], ["fifo", "refuse"]), "");
        assert_eq!(
            left_out([0, 1_600], ["fifo", "refuse"]),
            "; 1,600 jobs did not succeed with refuse, 0 with fifo"
        );
    }

    #[test]
    fn a_cell_is_told_as_people_do() {
        let axis = |path: &str, labels: &[&str]| SpaceAxis {
            path: path.to_owned(),
            values: labels.iter().map(|label| SpaceValue::new(*label)).collect(),
        };
        let axes = [
            axis("cluster.nodes", &["1", "40"]),
            axis("hdfs.replication", &["1", "3"]),
            axis("scheduler", &["fifo", "fair"]),
            axis("alone", &["7"]),
        ];
        assert_eq!(describe(&axes, &[Some(1), None, None, Some(0)]), " at 40 nodes");
        assert_eq!(describe(&axes, &[Some(0), Some(1), None, None]), " at 1 node, replication=3");
        assert_eq!(describe(&axes, &[None, None, Some(1), None]), " at scheduler=fair");
        assert_eq!(describe(&axes, &[None; 4]), "");
    }

    #[test]
    fn the_farthest_seed_is_warned_of_first_and_each_pair_of_runs_once() {
        let outlier = |seed, distance| OutlyingSeed {
            seed,
            ratio: 3.1,
            median: 0.93,
            distance: Some(distance),
            runs: [format!("a{seed}"), format!("b{seed}")],
        };
        let comparison = |metric: &str, outliers| Comparison {
            metric: metric.to_owned(),
            cell: vec!["40".to_owned()],
            base: "fair".to_owned(),
            other: "hfsp".to_owned(),
            pair: family(&[(0, 1)], |_| Some(&[Some(1.0)])).remove(0),
            outliers,
            unsuccessful: [0, 0],
            name: "hfsp against fair at 40 nodes".to_owned(),
            words: "hfsp against fair at 40 nodes: 0.93 times".to_owned(),
        };
        let found = oddities(&[
            comparison("makespan", vec![outlier(3, 21.0), outlier(7, 9.0)]),
            comparison("mean(wait)", vec![outlier(7, 41.0)]),
        ]);
        let texts: Vec<&str> = found.iter().map(|oddity| &*oddity.text).collect();
        assert_eq!(
            texts,
            [
                "seed 7 stands apart: mean(wait) of hfsp against fair at 40 nodes is 3.10 times, \
                 41 robust deviations off the median of 0.93",
                "seed 3 stands apart: makespan of hfsp against fair at 40 nodes is 3.10 times, \
                 21 robust deviations off the median of 0.93",
            ]
        );
        assert_eq!(found[0].runs[1], ("hfsp".to_owned(), "b7".to_owned()));
    }
}
