//! Memory and cores over time, by pool, from `resources.csv`; for clusters that count them.

use indexmap::IndexMap;

use super::job_groups::called;
use super::slots::{GRAINS, SlotLevel};
use super::{ReportBlocks, ReportSource, charted};
use mumakil_core::cluster::Amounts;
use mumakil_draw::chart::{
    AxisUnit, Caption, ChartAxis, Drawing, LinePoint, LineSeries, SeriesLook, Stack, StackLayer,
    ValueLines,
};
use mumakil_results::tables::{ResourceRow, Results};

/// The memory and cores that a pool holds over time.
type PoolLevels = [SlotLevel; 2];

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let ReportSource { run, until, .. } = source;
    let mut pools: IndexMap<String, PoolLevels> = IndexMap::new();
    (run.results as &dyn Results).rows_if_any(|row: ResourceRow| {
        let levels = pools.entry(row.pool.to_string()).or_default();
        for (level, now) in levels.iter_mut().zip([row.memory_bytes, row.cores]) {
            level.change(row.time_ms as f64 / 1e3, now as f64 - level.now, until / GRAINS);
        }
        Ok(())
    })?;
    if pools.is_empty() {
        return Ok(Vec::new());
    }
    let nodes = run.topology.nodes().map(|(id, _)| run.topology.amounts(id));
    let all = nodes.fold(Amounts::default(), |sum, node| sum + node).parts().map(|sum| sum as f64);
    let kinds = [("memory", AxisUnit::Bytes), ("cores", AxisUnit::Count)].into_iter().enumerate();
    let stacks = kinds.filter(|(kind, _)| 0.0 < all[*kind]).map(|(kind, (word, unit))| {
        let caption = Caption {
            id: format!("resources-{word}"),
            title: format!("Part of the {word} that attempts hold, by pool"),
            description: format!(
                "The {word} that the attempts of each pool hold over time; a dashed line at all of it."
            ),
            look_for: "a stack that reaches the line: this resource is the one that tasks wait for",
            ..Caption::default()
        };
        let layers = pools.iter().enumerate().map(|(place, (name, levels))| StackLayer {
            name: called(name, "pool").to_owned(),
            look: look(source, name, place),
            steps: levels[kind].steps.clone(),
            ..StackLayer::default()
        });
        let capacity = StackLayer {
            name: format!("all: {}", unit.text(all[kind])),
            steps: vec![(0.0, all[kind])],
            ..StackLayer::default()
        };
        Stack {
            caption,
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            y: ChartAxis::linear(format!("Held {word}"), unit),
            layers: layers.collect(),
            capacity: Some(capacity),
            waiting: None,
            until: *until,
        }
        .draw()
    });
    let shares = (1 < pools.len()).then(|| dominant(source, &pools, all));
    Ok(charted(stacks.chain(shares)))
}

/// Returns the look of a pool: that of the other charts if they are by pool or user, too.
fn look(ReportSource { parties, .. }: &ReportSource<'_>, name: &str, place: usize) -> SeriesLook {
    let is_alike = ["pool", "user"].contains(&parties.word());
    if is_alike { parties.look(name) } else { SeriesLook(place) }
}

/// Draws the larger of each pool's shares of memory and cores over time.
fn dominant(
    source: &ReportSource<'_>,
    pools: &IndexMap<String, PoolLevels>,
    all: [f64; 2],
) -> Drawing {
    let mut sorted: Vec<(SeriesLook, &str, &PoolLevels)> = (pools.iter().enumerate())
        .map(|(place, (name, levels))| (look(source, name, place), name.as_str(), levels))
        .collect();
    // Lines take their colours from their places.
    sorted.sort_by_key(|(look, ..)| look.0);
    let lines = sorted.into_iter().map(|(_, name, levels)| {
        let mut changes: Vec<(f64, usize, f64)> = (0..2)
            .filter(|kind| 0.0 < all[*kind])
            .flat_map(|kind| {
                levels[kind].steps.iter().map(move |(at, now)| (*at, kind, now / all[kind]))
            })
            .collect();
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut now, mut points) = ([0.0; 2], vec![(0.0, 0.0)]);
        for (at, kind, share) in changes {
            points.push((at, f64::max(now[0], now[1])));
            now[kind] = share;
            points.push((at, f64::max(now[0], now[1])));
        }
        points.retain(|(at, _)| *at <= source.until);
        let points = points.into_iter().map(|(x, y)| LinePoint { x, y, band: None });
        let name = called(name, "pool").to_owned();
        LineSeries { name, points: points.collect(), published: Vec::new() }
    });
    ValueLines {
        caption: Caption {
            id: "resources-dominant".to_owned(),
            title: "Dominant share of each pool".to_owned(),
            beneath: "the larger of its shares of memory and of cores".to_owned(),
            description: "Each pool's dominant share over time.".to_owned(),
            look_for: "lines far apart while both pools have tasks: the shares are unequal",
            ..Caption::default()
        },
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        y: ChartAxis::linear("Dominant share", AxisUnit::Share),
        lines: lines.collect(),
        band: String::new(),
    }
    .draw()
}
