//! The content of a comparison: sections for the terminal, and with charts a page.

use super::side::{ComparedRun, ComparedSide, metrics};
use super::unreadable;
use crate::failure::Failure;
use mumakil_base::files::RESOLVED;
use mumakil_base::units::tell::{count, counted, largest, listed, span};
use mumakil_compare::{ChangeColumn, JobPair, JobPairs, longer, ratio, spread_text};
use mumakil_core::mapred::{PerSlot, PromisedSlots, SlotKind};
use mumakil_draw::chart::{AxisUnit, Caption, ChartAxis, Ecdf, EcdfSample};
use mumakil_draw::page::{HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use mumakil_results::tables::{JobRow, Results as _};
use mumakil_run::output::report::{
    JobGroups, LOOK_FOR_SLOTS, SlotsDrawing, distribution, slots_over_time,
};
use mumakil_scenario::Registry;

/// The most rows in a table of changes.
// Chosen: a browser sorts a thousand rows without a delay, but not a million.
const MOST_CHANGES: usize = 1_000;

/// Returns the sections without charts.
pub(super) fn sections(sides: &[ComparedSide]) -> Result<Vec<Section>, Failure> {
    let first = &sides[0];
    let metrics = PageBlock::Table(metrics(sides)?.page_table());
    let runs: Vec<_> = runs(sides).collect();
    let about = (!runs.is_empty()).then(|| PageBlock::Table(table_of_runs(&runs)));
    let in_short = about.into_iter().chain([metrics]).chain(left_out(sides)).collect();
    let mut sections = vec![Section::new("In short", in_short)];
    if let Some((_, of_first)) = runs.first() {
        let others = runs[1..].iter();
        let blocks =
            others.flat_map(|(name, run)| job_by_job([&first.name, name], [of_first, run]));
        sections.push(Section::new("Job by job", blocks.collect()));
    }
    Ok(sections)
}

pub(super) fn page(registry: &Registry, sides: &[ComparedSide]) -> Result<HtmlPage, Failure> {
    let mut sections = sections(sides)?;
    let runs: Vec<_> = runs(sides).collect();
    if !runs.is_empty() {
        let charts = charts(registry, &runs)?;
        sections.splice(1..1, charts);
    }
    let names: Vec<&str> = sides.iter().map(|side| &*side.name).collect();
    let kind = if runs.is_empty() { "studies, in the cells that all have" } else { "runs" };
    Ok(HtmlPage {
        title: names.join(" · "),
        subtitle: format!("{} {kind}; changes are relative to {}", sides.len(), names[0]),
        gist: gist(sides),
        sections,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Returns a sentence for each run but the first: how long its jobs take beside those of the first.
pub(super) fn gist(sides: &[ComparedSide]) -> Vec<String> {
    let runs: Vec<_> = runs(sides).collect();
    let Some(((first, of_first), others)) = runs.split_first() else { return Vec::new() };
    let sentences = others.iter().filter_map(|(name, run)| {
        let pairs = JobPairs::measured([&of_first.jobs, &run.jobs]).most_first().0;
        let sums = [0, 1].map(|side| pairs.iter().map(|job| job.took[side]).sum::<u64>());
        let [was, is] = sums.map(|sum| sum as f64 / 1e3 / pairs.len() as f64);
        let most = pairs.first()?;
        Some(format!(
            "In {name} a job took {} in the mean, in {first} {} ({}); `{}` differs most, by {}.",
            span(is),
            span(was),
            ratio(is / was),
            most.name(),
            longer(most.difference(), most.difference().abs())
        ))
    });
    sentences.collect()
}

/// Returns the runs among the sides, with their names.
fn runs(sides: &[ComparedSide]) -> impl Iterator<Item = (&str, &ComparedRun)> {
    sides.iter().filter_map(|side| Some((&*side.name, side.run.as_ref()?)))
}

/// Says how many jobs did not succeed on each side; `None` if all did.
fn left_out(sides: &[ComparedSide]) -> Option<PageBlock> {
    let of_sides =
        sides.iter().map(|side| format!("{} of {}", count(side.unsuccessful), side.name));
    sides.iter().any(|side| 0 < side.unsuccessful).then(|| {
        PageBlock::Warnings(vec![format!(
            "Some jobs did not succeed, and times of jobs leave them out: {}.",
            listed(of_sides, "and")
        )])
    })
}

fn table_of_runs(runs: &[(&str, &ComparedRun)]) -> PageTable {
    let rows = runs.iter().map(|(name, ComparedRun { facts, .. })| {
        let policies: Vec<&str> = facts.deciders().map(|(_, policy, _)| policy).collect();
        vec![
            PageCell::text(*name),
            PageCell::text(&facts.scenario),
            PageCell::text(policies.join(", then ")),
            PageCell::number(f64::from(facts.nodes), facts.nodes.to_string()),
            PageCell::number(facts.seed as f64, facts.seed.to_string()),
        ]
    });
    let columns = [
        PageColumn::text("run"),
        PageColumn::text("scenario"),
        PageColumn::text("policy"),
        PageColumn::number("nodes"),
        PageColumn::number("seed"),
    ];
    PageTable::new("What was run", columns, rows)
}

/// Compares a run's jobs with those of the first run.
fn job_by_job(names: [&str; 2], runs: [&ComparedRun; 2]) -> Vec<PageBlock> {
    let pairs = JobPairs::measured(runs.map(|run| &run.jobs));
    let [first, other] = names;
    let Some([differences, ratios]) = pairs.spreads() else {
        return vec![PageBlock::Text(format!("{other} beside {first}: no job succeeded in both."))];
    };
    let [faster, slower] =
        [-1, 1].map(|sign| pairs.0.iter().filter(|pair| pair.by().signum() == sign).count());
    let (all, same) = (pairs.0.len(), pairs.0.len() - faster - slower);
    let most = largest(differences);
    let text = PageBlock::Text(format!(
        "{other} beside {first}: {} succeeded in both: {faster} faster, {slower} slower, {same} the \
         same. Ratio: {}. Difference: {}.",
        counted(all as u64, "job"),
        spread_text(ratios, ratio),
        spread_text(differences, |by| longer(by, most))
    ));
    let mut changes = pairs.changes().most_first();
    let caption = match changes.0.len() {
        0 => return vec![text],
        all if MOST_CHANGES < all => {
            format!("The {MOST_CHANGES} largest of {all} changes of sojourn")
        }
        _ => "Changes of sojourn, the largest first".to_owned(),
    };
    changes.0.truncate(MOST_CHANGES);
    let columns = &[ChangeColumn::Difference, ChangeColumn::Ratio];
    vec![text, PageBlock::Table(changes.table(caption, names, columns).page_table())]
}

// ---- charts ----

fn charts(registry: &Registry, runs: &[(&str, &ComparedRun)]) -> Result<Vec<Section>, Failure> {
    let mut parties = JobGroups::of(runs.iter().map(|(_, run)| &run.jobs.all[..]));
    // Add runs after pools, so that pools keep their colours.
    parties.add(runs.iter().map(|(name, _)| *name));
    let sample = |name: &str, values: Vec<f64>| EcdfSample {
        name: name.to_owned(),
        values,
        look: parties.look(name),
        published: Vec::new(),
    };
    let sojourns = runs.iter().map(|(name, run)| {
        sample(name, run.jobs.counted().filter_map(JobRow::measured_s).collect())
    });
    let caption = Caption {
        id: "sojourn".to_owned(),
        title: "How long jobs take".to_owned(),
        description: "The distribution of the jobs' sojourn times in each run.".to_owned(),
        look_for: "the curve furthest left: at each share of the jobs, that run is faster",
        ..Caption::default()
    };
    let sojourns = distribution(caption, "Sojourn time", sojourns.collect());
    let (first, of_first) = runs[0];
    let differences = runs[1..].iter().map(|(name, run)| {
        let pairs = JobPairs::measured([&of_first.jobs, &run.jobs]);
        sample(name, pairs.0.iter().map(JobPair::difference).collect())
    });
    let differences = Ecdf {
        caption: Caption {
            id: "differences".to_owned(),
            title: format!("How much longer each job takes than in {first}"),
            description: "The distribution of the differences of sojourn times, job by job."
                .to_owned(),
            look_for: "how much lies left of zero: these jobs became faster",
            ..Caption::default()
        },
        x: ChartAxis::linear("Difference of sojourn times", AxisUnit::Seconds),
        of: "jobs".to_owned(),
        samples: differences.collect(),
    };
    let sojourns = vec![PageBlock::Charts(vec![sojourns, differences.draw()])];
    let blocks = slots(registry, runs, &parties)?;
    let slots = (!blocks.is_empty()).then(|| Section::new("Slots", blocks));
    Ok([Section::new("Sojourn", sojourns)].into_iter().chain(slots).collect())
}

/// Returns charts of the holders of slots over time: a row for each run, with its map slots and then
/// its reduce slots. So equal times of the runs are above each other. Runs without a timeline are
/// left out.
fn slots(
    registry: &Registry,
    runs: &[(&str, &ComparedRun)],
    parties: &JobGroups,
) -> Result<Vec<PageBlock>, Failure> {
    let runs: Vec<_> = runs.iter().filter(|(_, run)| run.results.has_timeline()).collect();
    let ends = runs.iter().filter_map(|(_, run)| run.number("virtual_s"));
    // Give all runs the time axis of the longest run, so that they can be compared by eye.
    let until = Some(ends.fold(0.0, f64::max));
    let mut rows = Vec::new();
    for (place, (name, run)) in (1..).zip(runs) {
        let mut row = Vec::new();
        for kind in SlotKind::BOTH {
            let word = kind.word();
            if run.number(&format!("{word}_slots")) == Some(0.0) {
                continue;
            }
            let caption = Caption {
                id: format!("slots-{word}-{place}"),
                title: format!("{name}: slots that {word}s hold, by {}", parties.word()),
                // The first row says it for all.
                look_for: if place == 1 { LOOK_FOR_SLOTS } else { "" },
                ..Caption::default()
            };
            let what = SlotsDrawing { kind, caption, until };
            let promised = run.promised(registry).unwrap_or_default();
            let drawing = slots_over_time(&run.results, parties, promised, what);
            row.push(drawing.map_err(unreadable)?);
        }
        rows.push(PageBlock::Charts(row));
    }
    Ok(rows)
}

impl ComparedRun {
    /// Returns a number of the summary; `None` if the run of an older version lacks it.
    fn number(&self, path: &str) -> Option<f64> {
        self.results.number(path).ok().flatten()
    }

    /// Returns the slots that the run's policy promised to pools; `None` if the run's scenario
    /// cannot be read, for example because an older version wrote it.
    fn promised(&self, registry: &Registry) -> Option<PromisedSlots> {
        // After a change of policy, the first policy's promises hold only for a part of the run.
        if !self.facts.later_policies.is_empty() {
            return None;
        }
        let text = mumakil_base::files::own_text(&self.results.path(RESOLVED)).ok()?;
        let scenario: serde_yaml::Value = serde_yaml::from_str(&text).ok()?;
        let choice = serde_yaml::from_value(scenario.get("scheduler")?.clone()).ok()?;
        let [map, reduce] =
            SlotKind::BOTH.map(|kind| self.number(&format!("{}_slots", kind.word())));
        let slots = PerSlot { map: map? as u64, reduce: reduce? as u64 };
        Some(registry.promised(&choice, slots))
    }
}

#[cfg(test)]
mod tests {
    use super::super::side::testing::{run, study};
    use super::*;
    use crate::table::lines_of;

    #[test]
    fn runs_are_told_by_their_numbers_and_job_by_job() {
        let (_one, fifo) = run("fifo", [20, 60]);
        let (_two, fair) = run("fair", [10, 90]);
        insta::assert_snapshot!(lines_of(&sections(&[fifo, fair]).unwrap(), 10).bare(), @"
        What was run
          run    scenario   policy   nodes   seed
          fifo   demo       fifo         2      1
          fair   demo       fifo         2      1

        In numbers
          metric                fifo         fair       change
          jobs                     2            2        1.00×
          jobs_succeeded           2            2        1.00×
          mean(sojourn)       40.0 s       50.0 s        1.25×
          median(sojourn)     40.0 s       50.0 s        1.25×
          p95(sojourn)        58.0 s   1 min 26 s        1.48×
          mean(wait)           3.0 s        3.0 s        1.00×
          locality.node       80.0 %       80.0 %   0.0 points
          locality.rack       20.0 %       20.0 %   0.0 points
          locality.off_rack    0.0 %        0.0 %   0.0 points
          utilisation.map     50.0 %       50.0 %   0.0 points
          … and 5 more

        Job by job
          fair beside fifo: 2 jobs succeeded in both: 1 faster, 1 slower, 0 the same. Ratio: p5 0.55×, median 1.00×, p95 1.45×. Difference: p5 -8.0 s, median +10.0 s, p95 +28.0 s.

        Changes of sojourn, the largest first
          job   name         fifo         fair   difference   ratio
            1   b      1 min 00 s   1 min 30 s      +30.0 s   1.50×
            0   a          20.0 s       10.0 s      -10.0 s   0.50×
        ");
    }

    #[test]
    fn studies_are_compared_in_the_cells_that_all_have() {
        let before = study("before", &[("10", 80.0), ("20", 40.0)]);
        let mut after = study("after", &[("20", 30.0), ("30", 20.0)]);
        after.unsuccessful = 16;
        insta::assert_snapshot!(lines_of(&sections(&[before, after]).unwrap(), 10).bare(), @"
        In numbers
          metric          nodes   before    after   change
          mean(sojourn)   20      40.0 s   30.0 s    0.75×
          Some jobs did not succeed, and times of jobs leave them out: 0 of before and 16 of after.
        ");
    }

    #[test]
    fn a_page_shows_runs_side_by_side_and_job_by_job() {
        let (_one, fifo) = run("<fifo>", [20, 60]);
        let (_two, fair) = run("fair", [10, 90]);
        let page = page(&crate::testing::registry(), &[fifo, fair]).unwrap();
        let titles: Vec<&str> = page.sections.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles, ["In short", "Sojourn", "Job by job"]);
        let html = page.html();
        assert!(!html.contains("<fifo>") && html.contains("How much longer each job takes"));
        assert!(html.contains("Ratio: p5 0.55×, median 1.00×, p95 1.45×."), "{html}");
    }
}
