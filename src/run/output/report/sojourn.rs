//! The sojourn times of jobs: their distribution, and a box plot for each class.

use indexmap::IndexMap;

use super::job_groups::{JobGroups, called};
use super::{ReportBlocks, ReportSource, RunReport, charted};
use mumakil_base::units::tell::counted;
use mumakil_draw::chart::{
    AxisUnit, BoxSeries, Boxes, Caption, ChartAxis, Drawing, Ecdf, EcdfSample,
};
use mumakil_results::tables::RunJobs;

/// The axis is logarithmic if the longest time is more than this many times the shortest.
// Chosen: on a linear axis the shortest jobs would crowd in the first thirtieth.
const WIDE: f64 = 30.0;

pub(super) fn blocks(ReportSource { run, jobs, parties, .. }: &ReportSource<'_>) -> ReportBlocks {
    let classes = classes(run, jobs);
    // The time of one job alone is no distribution; it stands above.
    if classes.values().map(Vec::len).sum::<usize>() < 2 {
        return Ok(Vec::new());
    }
    let of = &*run.summary.left_out().map_or_else(String::new, |told| format!(" ({told})"));
    let caption = Caption {
        id: "sojourn".to_owned(),
        title: "How long jobs take".to_owned(),
        description: format!("The distribution of the jobs' sojourn times, by class{of}."),
        look_for: "long steps at the upper end: a few jobs take far longer than the rest",
        ..Caption::default()
    };
    // A single class needs no legend and no second chart.
    let several = 1 < classes.len();
    let samples = classes.iter().map(|(class, values)| EcdfSample {
        name: if several { counted_class(class, values) } else { String::new() },
        values: values.clone(),
        look: parties.look(class),
        published: Vec::new(),
    });
    let distribution = distribution(caption, "Sojourn time", samples.collect());
    Ok(charted([distribution].into_iter().chain(several.then(|| boxes(&classes, parties, of)))))
}

/// Returns the sojourns that count, by class: in the scenario's order, and then the classes that only
/// jobs name.
pub(super) fn classes<'j>(run: &RunReport<'_>, jobs: &'j RunJobs) -> IndexMap<&'j str, Vec<f64>> {
    let mut classes = jobs.sojourns_by_class();
    let place = |class: &str| run.scenario.classes.get_index_of(class).unwrap_or(usize::MAX);
    classes.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    classes
}

/// Returns the name of a class with its number of jobs: a curve of three jobs says little.
fn counted_class(class: &str, values: &[f64]) -> String {
    format!("{} ({})", called(class, "class"), counted(values.len() as u64, "job"))
}

/// Returns a chart of the distribution of the times of several samples.
pub fn distribution(caption: Caption, title: &str, samples: Vec<EcdfSample>) -> Drawing {
    let x = axis(title, samples.iter().flat_map(|sample| &sample.values));
    Ecdf { caption, x, of: "jobs".to_owned(), samples }.draw()
}

/// Returns an axis of times, logarithmic if the times differ much.
pub(super) fn axis<'v>(title: &str, values: impl Iterator<Item = &'v f64>) -> ChartAxis {
    // A logarithmic axis cannot show zeros, so they do not count for the choice.
    let positive = values.copied().filter(|value| 0.0 < *value);
    let (low, high) =
        positive.fold((f64::INFINITY, 0.0), |(low, high), value| (value.min(low), value.max(high)));
    match WIDE * low < high {
        true => ChartAxis::log(title, AxisUnit::Seconds),
        false => ChartAxis::linear(title, AxisUnit::Seconds),
    }
}

/// Returns a chart with a box plot of the sojourn times of each class.
fn boxes(classes: &IndexMap<&str, Vec<f64>>, parties: &JobGroups, of: &str) -> Drawing {
    let caption = Caption {
        id: "sojourn-boxes".to_owned(),
        title: "Sojourn time by class".to_owned(),
        description: format!("A box plot of the jobs' sojourn times for each class{of}."),
        look_for: "long whiskers: jobs alike in size that take unlike times",
        ..Caption::default()
    };
    let samples = classes.values().cloned().collect();
    Boxes {
        caption,
        y: axis("Sojourn time", classes.values().flatten()),
        x: String::new(),
        groups: classes.iter().map(|(class, values)| counted_class(class, values)).collect(),
        series: vec![BoxSeries { name: String::new(), samples }],
        looks: classes.keys().map(|class| parties.look(class)).collect(),
    }
    .draw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_draw::chart::Spacing;

    #[test]
    fn times_that_differ_much_have_a_logarithmic_axis() {
        assert_eq!(axis("", [0.0, 10.0, 300.0].iter()).spacing, Spacing::Linear);
        assert_eq!(axis("", [0.0, 10.0, 301.0].iter()).spacing, Spacing::Log);
        assert_eq!(axis("", [].iter()).spacing, Spacing::Linear);
    }
}
