//! The jobs over time: how many are in the cluster, and how long each takes by the time of its
//! arrival, from `jobs.csv`.

use super::job_groups::called;
use super::slots::{GRAINS, SlotLevel};
use super::sojourn::{axis, classes};
use super::{ReportBlocks, ReportSource, charted, count};
use mumakil_draw::chart::{
    AxisUnit, Caption, ChartAxis, Drawing, ScatterPlot, ScatterPoint, ScatterSeries, Stack,
    StackLayer,
};
use mumakil_results::tables::{JobEnd, JobRow};

/// The most points of the chart. Chosen: a reader sees no more, and each is a hundred bytes of the
/// page.
const MOST: usize = 1_000;

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let mut arrivals = source.jobs.counted().map(|job| job.submit_ms);
    let first = arrivals.next();
    // A single job, and jobs that all come at once, have no course to show.
    if arrivals.all(|at| Some(at) == first) {
        return Ok(Vec::new());
    }
    Ok(charted([sojourns(source), in_cluster(source)]))
}

/// Returns a point for each job: its sojourn, over the time of its arrival.
fn sojourns(ReportSource { run, jobs, parties, .. }: &ReportSource<'_>) -> Drawing {
    let all: Vec<(&JobRow, f64)> =
        jobs.counted().filter_map(|job| Some((job, job.measured_s()?))).collect();
    // Every so many jobs, so that the points are as dense as the arrivals.
    let every = all.len().div_ceil(MOST).max(1);
    let shown: Vec<&(&JobRow, f64)> = all.iter().step_by(every).collect();
    let mut series: Vec<ScatterSeries> = Vec::new();
    for class in classes(run, jobs).into_keys() {
        let of_class = shown.iter().filter(|(job, _)| *job.class == *class);
        let points = of_class.map(|(job, sojourn)| ScatterPoint {
            name: job.name.to_string(),
            x: job.submit_s(),
            y: *sojourn,
        });
        let (name, look) = (called(class, "class").to_owned(), parties.look(class));
        series.push(ScatterSeries { name, look, points: points.collect() });
    }
    // A single class needs no legend.
    if let [one] = &mut series[..] {
        one.name.clear();
    }
    let part = (1 < every).then(|| format!("One job in {} is drawn.", count(every as f64)));
    ScatterPlot {
        caption: Caption {
            id: "arrivals".to_owned(),
            title: "How long jobs take, by their arrival".to_owned(),
            description: "The sojourn time of each job over the time of its arrival, by class."
                .to_owned(),
            look_for: "points that rise from left to right: the cluster does not keep up",
            ..Caption::default()
        },
        x: ChartAxis::linear("Arrival", AxisUnit::Seconds),
        y: axis("Sojourn time", all.iter().map(|(_, sojourn)| sojourn)),
        series,
        diagonal: None,
        notes: part.into_iter().collect(),
    }
    .draw()
}

/// The jobs of a group over time.
#[derive(Clone, Default)]
struct JobLevels {
    present: SlotLevel,
    waiting: SlotLevel,
}

/// Returns the numbers of jobs over time that had come and not ended, by group.
fn in_cluster(ReportSource { jobs, parties, until, .. }: &ReportSource<'_>) -> Drawing {
    let until = *until;
    // Each change: its instant, its group, and by how much the jobs present and waiting change.
    let mut changes: Vec<(u64, u32, i8, i8)> = Vec::new();
    for job in jobs.all.iter().filter(|job| job.outcome != JobEnd::Refused) {
        let (group, submit) = (parties.number(job) as u32, job.submit_ms);
        changes.push((submit, group, 1, 1));
        let end = job.sojourn_ms.map(|sojourn| submit + sojourn);
        let launch = job.wait_ms.map(|wait| submit + wait).or(end);
        changes.extend(end.map(|end| (end, group, -1, 0)));
        changes.extend(launch.map(|launch| (launch, group, 0, -1)));
    }
    // A stable sort: of two changes at an instant, an arrival of an earlier job stays first.
    changes.sort_by_key(|(at, ..)| *at);
    let mut levels = vec![JobLevels::default(); parties.names().len()];
    for (at, group, present, waiting) in changes {
        let (at, grain) = (at as f64 / 1e3, until / GRAINS);
        let of = &mut levels[group as usize];
        of.present.change(at, present.into(), grain);
        of.waiting.change(at, waiting.into(), grain);
    }
    let layers = parties.names().zip(levels).map(|(name, levels)| StackLayer {
        name: called(name, parties.word()).to_owned(),
        look: parties.look(name),
        steps: levels.present.steps,
        waiting: levels.waiting.steps,
        promised: None,
    });
    Stack {
        caption: Caption {
            id: "jobs".to_owned(),
            title: format!("Jobs in the cluster, by {}", parties.word()),
            description: format!(
                "How many jobs had come and not ended over time, stacked by {}. Above it, how many \
                 of them waited for their first slot.",
                parties.word()
            ),
            look_for: "a stack that only grows: jobs come faster than they end",
            ..Caption::default()
        },
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        y: ChartAxis::linear("Jobs that have not ended", AxisUnit::Count),
        layers: layers.collect(),
        capacity: None,
        waiting: Some(ChartAxis::linear("Jobs that wait for their first slot", AxisUnit::Count)),
        until,
    }
    .draw()
}
