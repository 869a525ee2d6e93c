//! What makes no chart: one that would show nothing, or something that is not so.

use super::{ChartSpec, Kind, Layout};
use crate::expect::{Expr, Needs, Plan, Space, Table};
use crate::yaml::{Path, Problem};

impl ChartSpec {
    /// Returns what it reads of every run.
    pub(in crate::study) fn needs(&self, space: &Space) -> Result<Needs, Problem> {
        let kind = self.kind()?;
        let layout = self.layout(space)?;
        self.check_axes(&kind, &layout, space)?;
        let mut needs = Needs::default();
        if let Kind::Stack(_) = kind {
            needs.columns.entry(Table::Timeline).or_default();
        }
        let mut first: Option<(&str, Plan)> = None;
        for (key, text) in self.expressions()? {
            let plan = Expr::parse(text)
                .and_then(
                    |expr| if kind.is_metric() { expr.metric(space) } else { expr.sample(space) },
                )
                .map_err(|complaint| Problem::expression(Path::of(key), &complaint, text))?;
            needs.add(plan.needs());
            kind.check_shape(key, text, &plan)?;
            match &first {
                Some((other, known)) if known.unit() != plan.unit() => {
                    let (one, two) = (known.unit().word(), plan.unit().word());
                    let message = format!("`{other}` is {one} and `{text}` is {two}");
                    return Err(Problem::value(Path::of(key), message)
                        .hint("make a chart of each: an axis has one unit"));
                }
                Some(_) => {}
                None => first = Some((text, plan)),
            }
        }
        Ok(needs)
    }

    /// Refuses axes that are missing, and keys that the kind of chart does not look at.
    fn check_axes(&self, kind: &Kind<'_>, layout: &Layout, space: &Space) -> Result<(), Problem> {
        let missing = |axis: &str| {
            let message = format!("this chart needs `{axis}`, the axis that it goes over");
            Err(Problem::value(Path::default(), message))
        };
        let unused = |key: &str| {
            let message = format!("this kind of chart has no `{key}`");
            Err(Problem::key(Path::of(key), message))
        };
        match kind {
            Kind::Line(_) | Kind::Heat(_) if layout.over.is_none() => return missing("over"),
            Kind::Heat(_) if layout.by.is_none() => return missing("by"),
            Kind::Ecdf(_) | Kind::Percentiles(_) | Kind::Stack(_) if self.over.is_some() => {
                return unused("over");
            }
            Kind::Stack(_) if self.by.is_some() => return unused("by"),
            Kind::Stack(_) if self.log => return unused("log"),
            _ => {}
        }
        match (kind, layout.over.map(|over| &space.axes[over])) {
            (Kind::Line(_), Some(over)) if over.unit().is_none() => {
                let message = format!("the values of `{}` are not numbers of one unit", over.path);
                Err(Problem::value(Path::of("over"), message).hint("draw `bars`"))
            }
            _ => Ok(()),
        }
    }
}

impl Kind<'_> {
    /// Returns whether it shows a number of each run, rather than many.
    fn is_metric(&self) -> bool {
        matches!(self, Self::Line(_) | Self::Bars(_) | Self::Heat(_))
    }

    /// Refuses what this kind of chart cannot show.
    fn check_shape(&self, key: &str, text: &str, plan: &Plan) -> Result<(), Problem> {
        let refused = |message: String, hint: &str| {
            Err(Problem::value(Path::of(key), message).hint(hint.to_owned()))
        };
        match self {
            Self::Percentiles(_) if !plan.is_histogram() => {
                refused(format!("`{text}` is no histogram"), "draw an `ecdf`, or `bars`")
            }
            Self::Ecdf(_) | Self::Boxes(_) if plan.is_histogram() => {
                refused(format!("`{text}` is a histogram"), "draw `percentiles`")
            }
            Self::Ecdf(_) | Self::Boxes(_) if plan.is_over_time() => {
                refused(format!("`{text}` is over time"), "draw a `stack`, or `bars` of its mean")
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{Axis, AxisValue};

    fn problem(yaml: &str) -> String {
        let axis = |(path, labels): (&str, &[&str])| Axis {
            path: path.to_owned(),
            values: labels.iter().map(|label| AxisValue::new(*label)).collect(),
        };
        let axes: [(&str, &[&str]); 2] =
            [("cluster.nodes", &["5", "10"]), ("hadoop.out_of_band", &["true", "false"])];
        let space = Space { axes: axes.map(axis).into(), compared: None };
        let spec: ChartSpec = serde_yaml::from_str(yaml).unwrap();
        match spec.needs(&space) {
            Ok(_) => String::new(),
            Err(Problem { path, message, .. }) => format!("{path}: {message}"),
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
            "{ecdf: {a: sojourn, b: wait}, by: nodes}",
            "{boxes: mean(sojourn), over: nodes}",
            "{percentiles: heartbeat_rtt, by: nodes, where: {out_of_band: true}}",
            "{stack: map, where: {nodes: 5}}",
        ] {
            assert_eq!(problem(yaml), "", "{yaml}");
        }
    }
}
