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

pub(super) fn blocks(source: &ReportSource<'_>) -> ReportBlocks {
    let ReportSource { run, parties, until, .. } = source;
    let topology = run.topology;
    let amounts = topology.nodes().map(|(id, _)| topology.amounts(id));
    let all =
        amounts.fold(Amounts::default(), |sum, node| sum + node).parts().map(|all| all as f64);
    // Each pool's holding of memory and cores, and the larger of its shares of both.
    let mut pools: IndexMap<String, ([SlotLevel; 2], Vec<LinePoint>)> = IndexMap::new();
    (run.results as &dyn Results).rows_if_any(|row: ResourceRow| {
        let (levels, shares) = pools.entry(row.pool.to_string()).or_default();
        let x = row.time_ms as f64 / 1e3;
        let held = [row.memory_bytes, row.cores].map(|held| held as f64);
        let y = held.iter().zip(all).map(|(held, all)| held / all.max(1.0)).fold(0.0, f64::max);
        // A share stays until it changes.
        let before = shares.last().map_or(0.0, |last| last.y);
        shares.extend([before, y].map(|y| LinePoint { x, y, band: None }));
        let changes = levels.iter_mut().zip(held);
        changes.for_each(|(level, now)| level.change(x, now - level.now, until / GRAINS));
        Ok(())
    })?;
    if pools.is_empty() {
        return Ok(Vec::new());
    }
    // As on other charts, so that a pool has one colour.
    pools.sort_by_cached_key(|name, _| parties.names().position(|other| other == name));
    let kinds = [("memory", AxisUnit::Bytes), ("cores", AxisUnit::Count)].into_iter().zip(0..2);
    let mut charts: Vec<Drawing> = Vec::new();
    for ((word, unit), kind) in kinds.filter(|(_, kind)| 0.0 < all[*kind]) {
        let layers = pools.iter().enumerate().map(|(look, (name, (levels, _)))| StackLayer {
            name: called(name, "pool").to_owned(),
            look: SeriesLook(look),
            steps: levels[kind].steps.clone(),
            ..StackLayer::default()
        });
        charts.push(held(word, unit, layers.collect(), (all[kind], *until)));
    }
    if pools.len() < 2 {
        return Ok(charted(charts));
    }
    let lines = pools.into_iter().map(|(name, (_, mut points))| {
        points.retain(|point| point.x <= *until);
        LineSeries { name: called(&name, "pool").to_owned(), points, published: Vec::new() }
    });
    let dominant = ValueLines {
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
    };
    charts.push(dominant.draw());
    Ok(charted(charts))
}

/// Draws what pools hold of a resource, of which the cluster has `all`, until a second.
fn held(word: &str, unit: AxisUnit, layers: Vec<StackLayer>, (all, until): (f64, f64)) -> Drawing {
    Stack {
        caption: Caption {
            id: format!("resources-{word}"),
            title: format!("Part of the {word} that attempts hold, by pool"),
            description: format!("The {word} that each pool holds over time."),
            look_for: "a stack that reaches the line: tasks wait for this resource",
            ..Caption::default()
        },
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        y: ChartAxis::linear(format!("Held {word}"), unit),
        layers,
        capacity: Some(StackLayer {
            name: format!("all: {}", unit.text(all)),
            steps: vec![(0.0, all)],
            ..StackLayer::default()
        }),
        waiting: None,
        until,
    }
    .draw()
}
