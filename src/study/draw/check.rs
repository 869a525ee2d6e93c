//! Checks charts: refuses charts that would show nothing, or something wrong.

use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind};
use super::{ChartSpec, Layout};
use crate::plan::expressions::StudyExpressions;
use mumakil_results::expect::{ExprPlan, Space, Unit};
use mumakil_scenario::unusable;
use mumakil_yaml::{Path, YamlProblem};

impl ChartSpec {
    /// Returns what the chart asks of every run, or an error if the chart cannot be drawn.
    pub(crate) fn expressions(&self, space: &Space) -> Result<StudyExpressions, YamlProblem> {
        let (key, kind) = self.kind()?;
        let layout = self.layout(&*kind, space)?;
        let nature = kind.nature();
        self.check_axes(&nature, &layout, space)?;
        let mut asked = StudyExpressions::default();
        asked.needs.add(kind.needs());
        let unit = match nature.shows {
            Some(shown) => add_expressions(&mut asked, &*kind, shown, key, space)?,
            None => Unit::PLAIN,
        };
        self.points(&*kind, &layout, space, unit)?;
        Ok(asked)
    }

    /// Refuses missing axes, and keys that this kind of chart does not use.
    fn check_axes(
        &self,
        nature: &ChartTraits,
        layout: &Layout,
        space: &Space,
    ) -> Result<(), YamlProblem> {
        let unused = |key: &str| {
            let message = format!("this kind of chart has no `{key}`");
            Err(YamlProblem::key(Path::of(key), message))
        };
        let axes = [("over", nature.over, layout.over), ("by", nature.by, layout.by)];
        for (key, wanted, axis) in axes {
            match (wanted, axis.map(|axis| &space.axes[axis])) {
                (AxisUse::Needed | AxisUse::NeededNumbers, None) => {
                    let message = format!("this chart needs `{key}`, the axis that it goes over");
                    return Err(YamlProblem::value(Path::default(), message));
                }
                (AxisUse::Unused, Some(_)) => return unused(key),
                (AxisUse::NeededNumbers, Some(axis)) if axis.unit().is_none() => {
                    let path = &axis.path;
                    let message = format!("the values of `{path}` are not numbers of one unit");
                    return Err(YamlProblem::value(Path::of(key), message).hint("draw `bars`"));
                }
                (AxisUse::Unused | AxisUse::Optional, None)
                | (AxisUse::Optional | AxisUse::Needed | AxisUse::NeededNumbers, Some(_)) => {}
            }
        }
        // Only `true` can be refused: `log: false` is the same as no `log`.
        if self.log && !nature.has_log { unused("log") } else { Ok(()) }
    }
}

/// Adds a chart's expressions, and returns their unit. Refuses expressions that the chart cannot
/// show, alone or together.
fn add_expressions(
    asked: &mut StudyExpressions,
    kind: &dyn ChartKind,
    shown: ExpressionKind,
    key: &str,
    space: &Space,
) -> Result<Unit, YamlProblem> {
    let mut first: Option<(&str, Unit)> = None;
    for (_, text) in kind.expressions() {
        let plan = shown
            .plan(text, space)
            .map_err(|complaint| unusable(Path::of(key), &complaint, text))?;
        check_shape(shown, key, text, &plan)?;
        let unit = plan.unit();
        asked.add(Path::of(key), text, plan);
        match first {
            Some((other, known)) if known != unit => {
                let (one, two) = (known.word(), unit.word());
                let message = format!("`{other}` is {one} and `{text}` is {two}");
                return Err(YamlProblem::value(Path::of(key), message)
                    .hint("make a chart of each: an axis has one unit"));
            }
            Some(_) => {}
            None => first = Some((text, unit)),
        }
    }
    Ok(first.map_or(Unit::PLAIN, |(_, unit)| unit))
}

/// Refuses an expression of another kind than the chart shows.
fn check_shape(
    shown: ExpressionKind,
    key: &str,
    text: &str,
    plan: &ExprPlan,
) -> Result<(), YamlProblem> {
    let refused = |message: String, hint: &str| {
        Err(YamlProblem::value(Path::of(key), message).hint(hint.to_owned()))
    };
    match shown {
        ExpressionKind::Histogram if !plan.is_histogram() => {
            refused(format!("`{text}` is no histogram"), "draw an `ecdf`, or `bars`")
        }
        ExpressionKind::Sample if plan.is_histogram() => {
            refused(format!("`{text}` is a histogram"), "draw `percentiles`")
        }
        ExpressionKind::Sample if plan.is_over_time() => {
            refused(format!("`{text}` is over time"), "draw a `stack`, or `bars` of its mean")
        }
        ExpressionKind::Metric | ExpressionKind::Sample | ExpressionKind::Histogram => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::expect::{SpaceAxis, SpaceValue};

    fn problem(yaml: &str) -> String {
        let axis = |(path, labels): (&str, &[&str])| SpaceAxis {
            path: path.to_owned(),
            values: labels.iter().map(|label| SpaceValue::new(*label)).collect(),
        };
        let axes: [(&str, &[&str]); 2] =
            [("cluster.nodes", &["5", "10"]), ("hadoop.out_of_band", &["true", "false"])];
        let space = Space { axes: axes.map(axis).into(), compared: Some(1) };
        let spec: ChartSpec = serde_yaml::from_str(yaml).unwrap();
        match spec.expressions(&space) {
            Ok(_) => String::new(),
            Err(YamlProblem { path, message, .. }) => format!("{path}: {message}"),
        }
    }

    #[test]
    fn charts_that_would_say_nothing_or_what_is_not_so_are_refused() {
        for (yaml, words) in [
            (
                "{bars: {a: mean(sojourn), b: locality.node}}",
                "bars: `mean(sojourn)` is a time and `locality.node` is a share",
            ),
            ("{percentiles: sojourn}", "percentiles: `sojourn` is no histogram"),
            ("{percentiles: mean(sojourn)}", "percentiles: `mean(sojourn)` is no histogram"),
            ("{percentiles: heartbeat_rtt, over: nodes}", "over: this kind of chart has no `over`"),
            ("{ecdf: sojourn, over: nodes}", "over: this kind of chart has no `over`"),
            ("{ecdf: heartbeat_rtt}", "ecdf: `heartbeat_rtt` is a histogram"),
            ("{boxes: slots}", "boxes: `slots` is over time"),
            ("{stack: map, by: nodes}", "by: this kind of chart has no `by`"),
            ("{bars: makespan, over: nodes, by: nodes}", "by: `over` and `by` are the same axis"),
            (
                "{bars: makespan, over: nodes, where: {nodes: 5}}",
                "where.nodes: all values of `nodes` lie on this chart",
            ),
            (
                "{line: makespan, over: out_of_band}",
                "over: the values of `hadoop.out_of_band` are not numbers of one unit",
            ),
            (
                "{line: makespan, over: nodes, by: out_of_band, published: [1s, 2s]}",
                "published: this chart has several: `true`, `false`",
            ),
            (
                "{line: makespan, over: nodes, published: [1s, 2s]}",
                "published: this is of one chart, and the entry makes 2",
            ),
            (
                "{line: makespan, over: nodes, by: out_of_band, published: {true: [1s]}}",
                "published.true: a list of 1 for 2 values: 5, 10",
            ),
            (
                "{line: makespan, over: nodes, by: out_of_band, published: {no: [1s, 1s]}}",
                "published.no: there is no `no` on this chart",
            ),
            (
                "{bars: makespan, over: nodes, by: out_of_band, published: {true: {5: 3 %}}}",
                "published.true: `3 %` at 5 is a share; the chart shows a time",
            ),
            (
                "{bars: makespan, over: nodes, by: out_of_band, published: {true: {6: 3s}}}",
                "published.true.6: there is no `6` on this chart",
            ),
            (
                "{ecdf: sojourn, where: {nodes: 5, out_of_band: true}, published: [50 %]}",
                "published: a list has no values for its shares",
            ),
            (
                "{ecdf: sojourn, where: {nodes: 5, out_of_band: true}, published: {5: 50 %}}",
                "published.5: `5` is not a time",
            ),
            (
                "{ecdf: sojourn, where: {nodes: 5, out_of_band: true}, published: {5s: 120 %}}",
                "published.5s: `120 %` at 5s is no share of a whole",
            ),
            (
                "{stack: map, where: {nodes: 5, out_of_band: true}, published: [50 %]}",
                "published: this kind of chart has no `published`",
            ),
            (
                "{ratio: makespan, over: out_of_band}",
                "over: the values of `out_of_band` are what this chart compares",
            ),
            (
                "{ratio: makespan, where: {out_of_band: true}}",
                "where.out_of_band: all values of `out_of_band` lie on this chart",
            ),
            ("{ratio: makespan, by: nodes}", "by: this kind of chart has no `by`"),
            (
                "{ratio: 'makespan[out_of_band=true]'}",
                ": this compares the values of `out_of_band`, which its metric chooses itself",
            ),
            (
                "{line: 'makespan[out_of_band=true]', over: nodes, by: out_of_band}",
                "by: what this chart shows chooses its values of `out_of_band` itself",
            ),
            ("{line: makespan}", ": this chart needs `over`, the axis that it goes over"),
            (
                "{heat: makespan, over: nodes}",
                ": this chart needs `by`, the axis that it goes over",
            ),
        ] {
            assert_eq!(problem(yaml), words, "{yaml}");
        }
    }

    #[test]
    fn charts_that_say_something_are_not() {
        for yaml in [
            "{bars: {a: mean(sojourn), b: makespan}, over: out_of_band, by: nodes}",
            "{line: makespan, over: nodes, by: out_of_band, log: true}",
            "{heat: makespan, over: nodes, by: out_of_band}",
            "{line: makespan, over: nodes, where: {out_of_band: true}, published: [1s, ~]}",
            "{line: makespan, over: nodes, where: {out_of_band: true}, published: {5: 1s, 7: 2s}}",
            "{bars: makespan, over: nodes, by: out_of_band, published: {true: [1s, 2s]}}",
            "{bars: {a: makespan, b: mean(wait)}, where: {nodes: 5, out_of_band: true}, published: {a: 1s}}",
            "{ecdf: sojourn, by: nodes, where: {out_of_band: true}, published: {10: {1min: 50 %}}}",
            "{ecdf: {a: sojourn, b: wait}, by: nodes}",
            "{boxes: mean(sojourn), over: nodes}",
            "{ratio: makespan, over: nodes}",
            "{ratio: makespan}",
            "{line: 'makespan[out_of_band=true] / makespan[out_of_band=false]', over: nodes}",
            "{percentiles: heartbeat_rtt, by: nodes, where: {out_of_band: true}}",
            "{stack: map, where: {nodes: 5}}",
        ] {
            assert_eq!(problem(yaml), "", "{yaml}");
        }
    }
}
