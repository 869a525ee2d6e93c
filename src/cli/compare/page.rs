//! Runs side by side on a page.

use super::pairs::Pairs;
use super::runs::{About, Run, headline, locality, longer, outcome, tell_spread};
use super::side::ratio;
use crate::chart::{self, Axis, Caption, Drawing, Ecdf, Sample, style};
use crate::expect::Unit;
use crate::output::report::distribution;
use crate::page::{Cell, Chart, Column, Page, Part, Section, Table};

/// A table of changes has so many rows.
const MOST_CHANGES: usize = 1_000;

/// Returns the page about runs.
pub(super) fn of_runs(runs: &[Run]) -> Page {
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let pairs: Vec<(&Run, Pairs<'_>)> =
        runs[1..].iter().map(|run| (run, Pairs::new(&runs[0].jobs, &run.jobs))).collect();
    let in_short = vec![Part::Table(what(runs)), Part::Table(headline(runs).table())];
    let charts = [sojourns(runs), differences(&names, &pairs)];
    let chart = |drawing: Drawing| Chart { svg: drawing.inline(), caption: String::new() };
    let sections = [
        ("In short", in_short),
        ("Sojourn", vec![Part::Charts(charts.map(chart).into())]),
        ("Locality", vec![Part::Table(locality(runs).table())]),
        (
            "Job by job",
            pairs.iter().flat_map(|(run, pairs)| changes(&runs[0], run, pairs)).collect(),
        ),
    ];
    let section = |(title, parts): (&str, _)| Section { title: title.to_owned(), parts };
    Page {
        title: names.join(" · "),
        subtitle: format!("{} runs; changes are to {}", runs.len(), names[0]),
        style: style(),
        sections: sections.map(section).into(),
        footer: format!("Made by Mumakil {}", env!("CARGO_PKG_VERSION")),
    }
}

/// Returns what was run.
fn what(runs: &[Run]) -> Table {
    let row = |run: &Run| {
        let About { scenario, policy, seed, version, nodes } = &run.about;
        vec![
            Cell::text(&run.name),
            Cell::text(scenario),
            Cell::text(policy),
            Cell::number(f64::from(*nodes), nodes.to_string()),
            Cell::number(*seed as f64, seed.to_string()),
            Cell::text(version),
        ]
    };
    let columns = [
        Column::text("Run"),
        Column::text("Scenario"),
        Column::text("Policy"),
        Column::number("Nodes", None),
        Column::number("Seed", None),
        Column::text("Mumakil"),
    ];
    Table {
        caption: "What was run".to_owned(),
        columns: columns.into(),
        rows: runs.iter().map(row).collect(),
    }
}

fn sojourns(runs: &[Run]) -> Drawing {
    let caption = Caption {
        id: "sojourn".to_owned(),
        title: "How long jobs take".to_owned(),
        description: "The distribution of the jobs' sojourn times in each run.".to_owned(),
    };
    let sample = |run: &Run| Sample {
        name: run.name.clone(),
        values: run
            .jobs
            .iter()
            .filter(|job| job.is_counted)
            .filter_map(|job| job.sojourn)
            .collect(),
    };
    distribution(caption, "Sojourn time", runs.iter().map(sample).collect())
}

fn differences(names: &[&str], pairs: &[(&Run, Pairs<'_>)]) -> Drawing {
    let sample = |(run, pairs): &(&Run, Pairs<'_>)| Sample {
        name: run.name.clone(),
        values: pairs.0.iter().map(super::pairs::Pair::difference).collect(),
    };
    Ecdf {
        caption: Caption {
            id: "differences".to_owned(),
            title: format!("How much longer each job takes than in {}", names[0]),
            description: "The distribution of the differences of sojourn times, job by job."
                .to_owned(),
        },
        x: Axis::linear("Difference of sojourn times", chart::Unit::Seconds),
        of: "jobs".to_owned(),
        samples: pairs.iter().map(sample).collect(),
    }
    .draw()
}

/// Returns what is said of the jobs of a run beside those of the first.
fn changes(first: &Run, other: &Run, pairs: &Pairs<'_>) -> Vec<Part> {
    let mut text = format!("{} beside {}: {}.", other.name, first.name, outcome(pairs));
    if let (Some(ratios), Some(differences)) = (pairs.ratios(), pairs.differences()) {
        text += &format!(
            " Ratio: {}. Difference: {}.",
            tell_spread(ratios, ratio).join(", "),
            tell_spread(differences, longer).join(", ")
        );
    }
    let changes = pairs.changes();
    if changes.is_empty() {
        return vec![Part::Text(text)];
    }
    let time = |seconds: f64| Cell::number(seconds, Unit::TIME.show(seconds));
    let row = |pair: &&super::pairs::Pair<'_>| {
        vec![
            Cell::text(pair.name),
            time(pair.first),
            time(pair.other),
            Cell::number(pair.difference(), longer(pair.difference())),
            pair.ratio().map_or_else(Cell::unknown, |times| Cell::number(times, ratio(times))),
        ]
    };
    let columns =
        [&first.name, &other.name, "Difference", "Ratio"].map(|name| Column::number(name, None));
    let caption = match changes.len() {
        all if MOST_CHANGES < all => {
            format!("The {MOST_CHANGES} largest of {all} changes of sojourn")
        }
        _ => "Changes of sojourn, the largest first".to_owned(),
    };
    let table = Table {
        caption,
        columns: [Column::text("Job")].into_iter().chain(columns).collect(),
        rows: changes.iter().take(MOST_CHANGES).map(row).collect(),
    };
    vec![Part::Text(text), Part::Table(table)]
}

#[cfg(test)]
mod tests {
    use super::super::runs::fixture::run;
    use super::*;

    #[test]
    fn a_page_shows_runs_side_by_side_and_job_by_job() {
        let page = of_runs(&[run("<fifo>", [20, 60]), run("fair", [10, 90])]);
        let titles: Vec<&str> = page.sections.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["In short", "Sojourn", "Locality", "Job by job"]);
        let html = page.html();
        assert!(!html.contains("<fifo>") && html.contains("How much longer each job takes"));
        assert!(html.contains("Ratio: p5 0.55×, median 1.00×, p95 1.45×."), "{html}");
    }
}
