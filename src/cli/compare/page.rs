//! The page that compares runs.

use super::pairs::Pairs;
use super::runs::{ComparedRun, RunDescription, headline, locality, longer, outcome, tell_spread};
use super::side::ratio;
use super::unreadable;
use crate::chart::{self, Caption, ChartAxis, Drawing, Ecdf, EcdfSample};
use crate::cli::failure::Failure;
use crate::expect::Unit;
use crate::mapred::SlotKind;
use crate::output::report::{JobGroups, SlotsDrawing, distribution, slots_over_time};
use crate::output::results::RunResults;
use crate::page::{HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use crate::scenario::Registry;
use crate::tables::JobRow;
use crate::units::tell::largest;

/// The most rows in a table of changes.
// Chosen: a browser sorts a thousand rows without a delay, but not a million.
const MOST_CHANGES: usize = 1_000;

/// Returns the page that compares runs. `mark` is an instant to mark in their timelines, in seconds
/// and with its label.
///
/// # Errors
/// If the files of a run cannot be read.
pub(super) fn of_runs(
    registry: &Registry,
    runs: &[ComparedRun],
    mark: Option<&(f64, String)>,
) -> Result<HtmlPage, Failure> {
    let mut parties = JobGroups::of(runs.iter().map(|run| &run.jobs.all[..]));
    // Add runs after pools, so that pools keep their colours.
    parties.add(runs.iter().map(|run| run.name.as_str()));
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    let pairs: Vec<(&ComparedRun, Pairs<'_>)> =
        runs[1..].iter().map(|run| (run, Pairs::new(&runs[0].jobs, &run.jobs))).collect();
    let in_short =
        vec![PageBlock::Table(runs_table(runs)), PageBlock::Table(headline(runs).table())];
    let charts = vec![sojourns(runs, &parties), differences(&names, &pairs, &parties)];
    let changes = pairs.iter().flat_map(|(run, pairs)| changes(&runs[0], run, pairs));
    let slots = slots(registry, runs, &parties, mark)?;
    let slots = (!slots.is_empty()).then(|| Section::new("Slots", slots));
    let mut sections = vec![
        Section::new("In short", in_short),
        Section::new("Sojourn", vec![PageBlock::Charts(charts)]),
    ];
    sections.extend(slots);
    sections.push(Section::new("Locality", vec![PageBlock::Table(locality(runs).table())]));
    sections.push(Section::new("Job by job", changes.collect()));
    Ok(HtmlPage {
        title: names.join(" · "),
        subtitle: format!("{} runs; changes are relative to {}", runs.len(), names[0]),
        sections,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Returns charts of the holders of slots over time: a row for each run, with its map slots and then
/// its reduce slots. So equal times of the runs are above each other. Runs without a timeline are
/// left out.
fn slots(
    registry: &Registry,
    runs: &[ComparedRun],
    parties: &JobGroups,
    mark: Option<&(f64, String)>,
) -> Result<Vec<PageBlock>, Failure> {
    let runs: Vec<&ComparedRun> =
        runs.iter().filter(|run| RunResults::new(&run.folder).has_timeline()).collect();
    let ends = runs.iter().filter_map(|run| run.number("virtual_s"));
    // Give all runs the time axis of the longest run, so that they can be compared by eye.
    let until = ends.fold(0.0, f64::max);
    let mut rows = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let has_some = |kind: &SlotKind| run.number(&format!("{}_slots", kind.word())) != Some(0.0);
        let mut row = Vec::new();
        for kind in SlotKind::BOTH.into_iter().filter(has_some) {
            let word = kind.word();
            let caption = Caption {
                id: format!("slots-{word}-{}", place + 1),
                title: format!("{}: slots that {word}s hold, by {}", run.name, parties.word()),
                ..Caption::default()
            };
            let what = SlotsDrawing { kind, caption, until: Some(until), mark: mark.cloned() };
            let results = RunResults::new(&run.folder);
            let drawing = slots_over_time(&results, parties, run.promised(registry), what);
            row.push(drawing.map_err(unreadable)?);
        }
        rows.push(PageBlock::Charts(row));
    }
    Ok(rows)
}

/// Returns a table of the runs: scenario, policy, seed.
fn runs_table(runs: &[ComparedRun]) -> PageTable {
    let row = |run: &ComparedRun| {
        let RunDescription { scenario, policy, seed, version, model, nodes } = &run.about;
        vec![
            PageCell::text(&run.name),
            PageCell::text(scenario),
            PageCell::text(policy),
            PageCell::number(f64::from(*nodes), nodes.to_string()),
            PageCell::number(*seed as f64, seed.to_string()),
            PageCell::text(format!("{version}, model {model}")),
        ]
    };
    let columns = [
        PageColumn::text("Run"),
        PageColumn::text("Scenario"),
        PageColumn::text("Policy"),
        PageColumn::number("Nodes", None),
        PageColumn::number("Seed", None),
        PageColumn::text("Mumakil"),
    ];
    PageTable {
        caption: "What was run".to_owned(),
        columns: columns.into(),
        rows: runs.iter().map(row).collect(),
    }
}

fn sojourns(runs: &[ComparedRun], parties: &JobGroups) -> Drawing {
    let caption = Caption {
        id: "sojourn".to_owned(),
        title: "How long jobs take".to_owned(),
        description: "The distribution of the jobs' sojourn times in each run.".to_owned(),
        ..Caption::default()
    };
    let sample = |run: &ComparedRun| EcdfSample {
        name: run.name.clone(),
        values: run.jobs.counted().filter_map(JobRow::measured_s).collect(),
        look: parties.look(&run.name),
        published: Vec::new(),
    };
    distribution(caption, "Sojourn time", runs.iter().map(sample).collect())
}

fn differences(
    names: &[&str],
    pairs: &[(&ComparedRun, Pairs<'_>)],
    parties: &JobGroups,
) -> Drawing {
    let sample = |(run, pairs): &(&ComparedRun, Pairs<'_>)| EcdfSample {
        name: run.name.clone(),
        values: pairs.0.iter().map(super::pairs::JobPair::difference).collect(),
        look: parties.look(&run.name),
        published: Vec::new(),
    };
    Ecdf {
        caption: Caption {
            id: "differences".to_owned(),
            title: format!("How much longer each job takes than in {}", names[0]),
            description: "The distribution of the differences of sojourn times, job by job."
                .to_owned(),
            ..Caption::default()
        },
        x: ChartAxis::linear("Difference of sojourn times", chart::AxisUnit::Seconds),
        of: "jobs".to_owned(),
        samples: pairs.iter().map(sample).collect(),
    }
    .draw()
}

/// Returns the text and tables that compare a run's jobs with those of the first run.
fn changes(first: &ComparedRun, other: &ComparedRun, pairs: &Pairs<'_>) -> Vec<PageBlock> {
    let mut text =
        format!("{} beside {}: {}.", other.name, first.name, outcome(first, other, pairs));
    if let (Some(ratios), Some(differences)) = (pairs.ratios(), pairs.differences()) {
        text += &format!(
            " Ratio: {}. Difference: {}.",
            tell_spread(ratios, ratio).join(", "),
            tell_spread(differences, |by| longer(by, largest(differences))).join(", ")
        );
    }
    let changes = pairs.changes();
    if changes.is_empty() {
        return vec![PageBlock::Text(text)];
    }
    let most = largest(changes.iter().flat_map(|pair| [pair.first, pair.other]));
    let by = largest(changes.iter().map(|pair| pair.difference()));
    let time = |seconds: f64| PageCell::number(seconds, Unit::TIME.show_in_column(seconds, most));
    let row = |pair: &&super::pairs::JobPair<'_>| {
        vec![
            PageCell::text(pair.name),
            time(pair.first),
            time(pair.other),
            PageCell::number(pair.difference(), longer(pair.difference(), by)),
            PageCell::maybe(pair.ratio(), ratio),
        ]
    };
    let columns = [&first.name, &other.name, "Difference", "Ratio"]
        .map(|name| PageColumn::number(name, None));
    let caption = match changes.len() {
        all if MOST_CHANGES < all => {
            format!("The {MOST_CHANGES} largest of {all} changes of sojourn")
        }
        _ => "Changes of sojourn, the largest first".to_owned(),
    };
    let table = PageTable {
        caption,
        columns: [PageColumn::text("Job")].into_iter().chain(columns).collect(),
        rows: changes.iter().take(MOST_CHANGES).map(row).collect(),
    };
    vec![PageBlock::Text(text), PageBlock::Table(table)]
}

#[cfg(test)]
mod tests {
    use super::super::runs::fixture::run;
    use super::*;

    #[test]
    fn a_page_shows_runs_side_by_side_and_job_by_job() {
        let runs = [run("<fifo>", [20, 60]), run("fair", [10, 90])];
        let page = of_runs(&Registry::builtin(), &runs, None).unwrap();
        let titles: Vec<&str> = page.sections.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["In short", "Sojourn", "Locality", "Job by job"]);
        let html = page.html();
        assert!(!html.contains("<fifo>") && html.contains("How much longer each job takes"));
        assert!(html.contains("Ratio: p5 0.55×, median 1.00×, p95 1.45×."), "{html}");
    }
}
