//! The default charts, for a study without `charts:`.

use indexmap::IndexMap;

use crate::draw::{ChartSpec, MOST_CHARTS, OneOrMore};
use crate::plan::manifest::{ManifestAxis, StudyManifest};
use mumakil_results::expect::Expr;

/// Returns the default charts: each metric over the longest axis, its ratios between compared
/// values, and the distribution of the jobs' times.
pub(crate) fn usual(sheet: &StudyManifest) -> Vec<ChartSpec> {
    let mut charts: Vec<ChartSpec> =
        sheet.metrics.iter().flat_map(|text| of_metric(sheet, text)).collect();
    let by = sheet.compare.map(|axis| sheet.axes[axis].field.clone());
    // Draw the distribution on four charts at most: a reader skips more charts than that.
    let few =
        sheet.cells.len() <= 4 * sheet.compare.map_or(1, |axis| sheet.axes[axis].values.len());
    charts.extend(by.filter(|_| few).map(|by| ChartSpec {
        ecdf: Some(OneOrMore::One("sojourn".to_owned())),
        by: Some(by),
        log: true,
        ..ChartSpec::default()
    }));
    charts
}

/// The most names that are the lines of a chart. Chosen: more have no colours of their own.
const MOST_LINES: usize = 8;

fn of_metric(sheet: &StudyManifest, text: &str) -> Vec<ChartSpec> {
    let plan = Expr::parse(text).and_then(|expr| expr.metric(&sheet.space()));
    let chosen = plan.map(|plan| plan.chosen()).unwrap_or_default();
    let compared = sheet.compare.filter(|axis| !chosen.contains(axis));
    // Without a comparison, names such as schedulers are the lines of a chart, too: side by side
    // they would hardly be compared.
    let names = sheet.axes.iter().enumerate().filter(|(place, axis)| {
        !chosen.contains(place)
            && !axis.is_numeric()
            && (2..=MOST_LINES).contains(&axis.values.len())
    });
    let lines =
        compared.or(names.max_by_key(|(_, axis)| axis.values.len()).map(|(place, _)| place));
    let by = lines.map(|axis| sheet.axes[axis].field.clone());
    let mut others: Vec<&ManifestAxis> = (0..)
        .zip(&sheet.axes)
        .filter(|(place, _)| Some(*place) != lines && !chosen.contains(place))
        .map(|(_, axis)| axis)
        .collect();
    // Sort the longest axis to the end, from where `pop` takes it.
    others.sort_by_key(|axis| axis.values.len());
    let over = others.pop();
    let is_line = over.is_some_and(|axis| 2 < axis.values.len() && axis.is_numeric());
    let over = over.map(|axis| axis.field.clone());
    // Each further axis multiplies the charts. If the charts become too many, the next axis makes
    // the rows of a heat map; if even that is not enough, the remaining axes stay at their first
    // values.
    let too_many =
        |axes: &[&ManifestAxis]| MOST_CHARTS < axes.iter().map(|axis| axis.values.len()).product();
    let rows = if by.is_none() && too_many(&others) { others.pop() } else { None };
    let fixed = if too_many(&others) {
        others.iter().map(|axis| (axis.field.clone(), axis.values[0].as_str().into())).collect()
    } else {
        IndexMap::new()
    };
    let spec = ChartSpec {
        over: over.clone().or(by.clone()),
        by: by.clone().filter(|_| over.is_some()),
        fixed: fixed.clone(),
        ..ChartSpec::default()
    };
    let text = text.to_owned();
    let values = match rows {
        Some(rows) => ChartSpec { heat: Some(text.clone()), by: Some(rows.field.clone()), ..spec },
        None if is_line => ChartSpec { line: Some(text.clone()), ..spec },
        None => ChartSpec { bars: Some(OneOrMore::One(text.clone())), ..spec },
    };
    let is_compared = compared.is_some_and(|axis| 1 < sheet.axes[axis].values.len());
    let ratios =
        is_compared.then(|| ChartSpec { ratio: Some(text), over, fixed, ..ChartSpec::default() });
    [values].into_iter().chain(ratios).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::plan::manifest::ManifestCell;
    use mumakil_results::expect::combinations;

    /// Returns the default charts of a study with this many values on each axis.
    fn usual_of(axes: &[usize], compare: Option<usize>) -> Vec<ChartSpec> {
        let axis = |(place, values): (usize, &usize)| ManifestAxis {
            field: format!("cluster.axis{place}"),
            values: (1..=*values).map(|value| value.to_string()).collect(),
            numbers: BTreeMap::new(),
        };
        let choices: Vec<Vec<usize>> = axes.iter().map(|values| (0..*values).collect()).collect();
        let cell = |values| ManifestCell { values, runs: Vec::new() };
        let sheet = StudyManifest {
            study: "test".to_owned(),
            description: String::new(),
            version: "0.0.0".to_owned(),
            model: 0,
            axes: axes.iter().enumerate().map(axis).collect(),
            compare,
            against: Default::default(),
            seeds: vec![1],
            same_seeds: false,
            cells: combinations(&choices).into_iter().map(cell).collect(),
            metrics: vec!["makespan".to_owned()],
            charts: Vec::new(),
            expect: Vec::new(),
        };
        let specs = usual(&sheet);
        for spec in &specs {
            assert!(spec.expressions(&sheet.space()).is_ok(), "{spec:?}");
        }
        specs
    }

    #[test]
    fn a_study_of_any_size_has_charts() {
        for axes in [&[][..], &[1], &[3, 2], &[13, 13], &[5, 13, 14], &[30, 30, 30, 30]] {
            assert_eq!(usual_of(axes, None).len(), 1, "{axes:?}");
            for compare in 0..axes.len() {
                assert!(!usual_of(axes, Some(compare)).is_empty(), "{axes:?}");
            }
        }
        let charts = usual_of(&[13, 14], None);
        assert!(charts[0].heat.is_some(), "{charts:?}");
        let charts = usual_of(&[20, 3], Some(1));
        assert_eq!(charts[1].ratio.as_deref(), Some("makespan"), "{charts:?}");
        assert_eq!(charts[1].over.as_deref(), Some("cluster.axis0"), "{charts:?}");
        assert!(charts[0].line.is_some() && charts[0].fixed.is_empty(), "{charts:?}");
    }
}
