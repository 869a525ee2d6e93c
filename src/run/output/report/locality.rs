//! The locality of maps, by the size of their job.

use super::{ReportBlocks, ReportSource, charted};
use mumakil_draw::chart::{Arrangement, AxisUnit, Bar, BarSeries, Bars, Caption, ChartAxis};
use mumakil_results::tables::RunJobs;

/// The size groups of jobs: the most maps of a job in the group, and the group's name.
// Powers of ten, chosen because the job sizes of the Delay Scheduling paper (1 to 4,800 maps) fall
// into all groups.
pub(super) const SIZES: [(u32, &str); 5] = [
    (1, "1 map"),
    (10, "2–10"),
    (100, "11–100"),
    (1_000, "101–1,000"),
    (u32::MAX, "more than 1,000"),
];

/// Returns for each of the [`SIZES`] the shares of maps that succeeded on a node with their input,
/// in a rack with their input, and elsewhere; `None` if no map of the group had input.
fn locality_by_size(jobs: &RunJobs) -> [Option<[f64; 3]>; SIZES.len()] {
    let mut sums = [[0.0; 3]; SIZES.len()];
    for job in jobs.counted() {
        // The last group has no upper limit, so every job falls into a group.
        let size = SIZES.partition_point(|(most, _)| *most < job.maps);
        let maps = job.maps_by_distance();
        sums[size].iter_mut().zip(maps).for_each(|(sum, maps)| *sum += maps as f64);
    }
    sums.map(|maps| {
        let all: f64 = maps.iter().sum();
        (0.0 < all).then(|| maps.map(|maps| maps / all))
    })
}

pub(super) fn blocks(ReportSource { jobs, .. }: &ReportSource<'_>) -> ReportBlocks {
    let shares = locality_by_size(jobs);
    let sizes: Vec<(&str, &[f64; 3])> = SIZES
        .iter()
        .zip(&shares)
        .filter_map(|((_, name), of)| Some((*name, of.as_ref()?)))
        .collect();
    let series = |(level, name): (usize, &str)| BarSeries {
        name: name.to_owned(),
        bars: sizes
            .iter()
            .map(|(_, shares)| Some(Bar { value: shares[level], whisker: None }))
            .collect(),
        published: Vec::new(),
    };
    let bars = Bars {
        caption: Caption {
            id: "locality".to_owned(),
            title: "Locality by size of job".to_owned(),
            description: "The shares of maps that ran on a node with their input, in its rack and \
                          elsewhere, by the number of the job's maps."
                .to_owned(),
            look_for: "the sizes whose maps read from afar",
            ..Caption::default()
        },
        y: ChartAxis::linear("Share of maps", AxisUnit::Share),
        x: "Maps of the job".to_owned(),
        groups: sizes.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: ["node", "rack", "off-rack"].into_iter().enumerate().map(series).collect(),
        looks: Vec::new(),
        arrangement: Arrangement::Stacked,
        whisker: String::new(),
    };
    Ok(charted((!sizes.is_empty()).then(|| bars.draw())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_results::tables::JobRow;

    fn job(maps: u32, [node_local, rack_local, off_rack]: [u64; 3]) -> JobRow {
        JobRow { maps, node_local, rack_local, off_rack, ..JobRow::default() }
    }

    #[test]
    fn maps_of_a_size_are_put_together() {
        let all =
            vec![job(10, [9, 1, 0]), job(2, [0, 1, 1]), job(11, [0, 0, 11]), job(1_001, [0; 3])];
        let shares = locality_by_size(&RunJobs { all, ..RunJobs::default() });
        assert_eq!(
            shares,
            [None, Some([0.75, 2.0 / 12.0, 1.0 / 12.0]), Some([0.0, 0.0, 1.0]), None, None]
        );
    }
}
