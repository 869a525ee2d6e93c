//! The job whose times differ most between the first two compared values, on the first seed, and
//! where its two stories part. The runs have to record tasks; other studies tell no story.

use crate::conclude::report::run_path;
use crate::conclude::study_runs::StudyRuns;
use crate::plan::manifest::StudyManifest;
use mumakil_compare::{ExplainedRun, RunPair};
use mumakil_results::expect::capital;
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
    let mut cells = sheet.cells.iter().filter(|cell| cell.values[axis] == base);
    let pair = cells.find_map(|cell| {
        let mut twin = cell.values.clone();
        twin[axis] = other;
        Some([runs.whole(&cell.values)?, runs.whole(&twin)?])
    });
    let Some(cells) = pair else { return none };
    let [Some(one), Some(two)] = cells.map(|cell| runs.of(cell).next()) else { return none };
    if ![one, two].iter().all(|run| run.has_tasks()) {
        return none;
    }
    let both = RunPair([
        ExplainedRun::new(&*values[base].label, one, one.told()?),
        ExplainedRun::new(&*values[other].label, two, two.told()?),
    ]);
    let Some(&job) = both.jobs().0.first().filter(|job| job.by() != 0) else { return none };
    let [a, b] = cells.map(|cell| run_path(&sheet.cells[cell].runs[0]));
    let others: Vec<usize> = (0..space.axes.len()).filter(|other| *other != axis).collect();
    let place = match space.describe(&sheet.cells[cells[0]].values, &others) {
        place if place.is_empty() => String::new(),
        place => format!(" at {place}"),
    };
    let (number, name, seed) = (job.rows[0].job, job.name(), sheet.seeds[0]);
    Ok(vec![
        format!(
            "With seed {seed}{place}, job {number} (`{name}`) differs most: {}",
            both.sentence(&job)
        ),
        capital(&both.stories(job.places)?.parted().sentence()),
        format!(
            "In the folder of this page, `mumakil explain {a} {b} {number}` tells both stories"
        ),
    ])
}
