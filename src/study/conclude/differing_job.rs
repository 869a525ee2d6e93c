//! The job whose times differ most between the first two compared values, on the first seed, and
//! where its two stories part. The runs have to record tasks; other studies tell no story.

use crate::conclude::report::run_path;
use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::StudyManifest;
use mumakil_base::units::tell::span;
use mumakil_results::expect::capital;
use mumakil_results::first_difference::{NamedRun, TwoStories, above_all, differing_jobs};
use mumakil_results::tables::ReadError;

/// Tells the story of the job in sentences; none if no job differs, or the runs do not record tasks.
pub(crate) fn differing_job(
    sheet: &StudyManifest,
    runs: &StudyRuns<'_>,
) -> Result<Vec<String>, ReadError> {
    let none = Ok(Vec::new());
    let Some(axis) = sheet.compare else { return none };
    let space = sheet.space();
    let values = &space.axes[axis].values;
    let Some(&(base, other)) = sheet.against.pairs(values.len()).first() else { return none };
    // Take the first cell of the base that the other value has, too.
    let cells = sheet.cells.iter().filter(|cell| cell.values[axis] == base);
    let pair = cells.filter_map(|cell| {
        let mut twin = cell.values.clone();
        twin[axis] = other;
        Some([runs.whole(&cell.values)?, runs.whole(&twin)?])
    });
    let Some(cells) = pair.into_iter().next() else { return none };
    let [Some(one), Some(two)] = cells.map(|cell| runs.of(cell).next()) else { return none };
    if ![one, two].iter().all(|run| run.has_tasks()) {
        return none;
    }
    let label = |value: usize| values[value].label.clone();
    let named = [NamedRun::new(label(base), one.told()?), NamedRun::new(label(other), two.told()?)];
    let Some(&(places, by)) = differing_jobs(&named).first().filter(|(_, by)| *by != 0) else {
        return none;
    };
    let stories = TwoStories::read(&named, [one, two], places)?;
    let [one, two] = [0, 1].map(|run| {
        let took = span(stories.both[run].sojourn_ms as f64 / 1e3);
        format!("{took} in {}", named[run].name)
    });
    let row = &stories.jobs()[0].row;
    let cause = above_all(&stories.both).map_or_else(String::new, |(part, by)| {
        let more = if 0 < by { "more" } else { "less" };
        format!(", above all {} {more} of {}", span(by.unsigned_abs() as f64 / 1e3), part.word())
    });
    let longer = if 0 < by { "longer" } else { "shorter" };
    let by = span(by.unsigned_abs() as f64 / 1e3);
    let [a, b] = cells.map(|cell| run_path(&sheet.cells[cell].runs[0]));
    let others: Vec<usize> = (0..space.axes.len()).filter(|other| *other != axis).collect();
    let place = match space.describe(&sheet.cells[cells[0]].values, &others) {
        place if place.is_empty() => String::new(),
        place => format!(" at {place}"),
    };
    Ok(vec![
        format!(
            "With seed {}{place}, job {} (`{}`) differs most: {one}, {two}, {by} {longer}{cause}",
            sheet.seeds[0], row.job, row.name
        ),
        capital(&stories.parting_words().sentence()),
        format!(
            "In the folder of this page, `mumakil explain {a} {b} {}` tells both stories",
            row.job
        ),
    ])
}
