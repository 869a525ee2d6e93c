//! The slowdowns of jobs by their size: how many times longer a job took than
//! alone on the empty cluster.

use super::locality::SIZES;
use super::{ReportBlocks, ReportSource, charted};
use mumakil_base::units::tell::counted;
use mumakil_draw::chart::{AxisUnit, BoxSeries, Boxes, Caption, ChartAxis};

pub(super) fn blocks(ReportSource { jobs, .. }: &ReportSource<'_>) -> ReportBlocks {
    let mut sizes: [Vec<f64>; SIZES.len()] = Default::default();
    for job in jobs.counted() {
        if let (Some(took), Some(alone)) = (job.measured_s(), job.alone_ms) {
            let slowdown = took / (alone as f64 / 1e3);
            sizes[SIZES.partition_point(|(most, _)| *most < job.maps)].push(slowdown);
        }
    }
    let sizes = SIZES.iter().zip(sizes).filter(|(_, sample)| !sample.is_empty());
    let (groups, samples): (Vec<String>, Vec<Vec<f64>>) = sizes
        .map(|((_, name), sample)| {
            (format!("{name} ({})", counted(sample.len() as u64, "job")), sample)
        })
        .unzip();
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    let boxes = Boxes {
        caption: Caption {
            id: "slowdown".to_owned(),
            title: "Slowdown by size of job".to_owned(),
            beneath: "sojourn ÷ time alone on the empty cluster".to_owned(),
            description: "A box plot of the jobs' slowdowns, by the number of their maps."
                .to_owned(),
            look_for: "the sizes that others delay most",
            ..Caption::default()
        },
        y: ChartAxis::log("Slowdown", AxisUnit::Ratio),
        x: "Maps of the job".to_owned(),
        groups,
        series: vec![BoxSeries { name: String::new(), samples }],
        looks: Vec::new(),
    };
    Ok(charted([boxes.draw()]))
}
