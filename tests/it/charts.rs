//! A golden drawing for each kind of chart.

use mumakil::chart::{
    Arrangement, AxisUnit, Bar, BarFate, BarOwner, BarSeries, Bars, BoxSeries, Boxes, Caption,
    ChartAxis, Curve, Density, Drawing, Ecdf, EcdfSample, Gantt, GanttBar, GanttRow, Heat,
    LinePoint, LineSeries, Percentiles, Ratio, RatioSeries, Ratios, SeriesLook, Stack, StackLayer,
    ValueLines,
};

fn caption(id: &str, title: &str) -> Caption {
    let beneath = if id == "lines" { "mean(sojourn) over nodes by scheduler" } else { "" };
    Caption {
        id: id.to_owned(),
        title: title.to_owned(),
        beneath: beneath.to_owned(),
        description: format!("{title}."),
        ..Caption::default()
    }
}

/// Returns a drawing with one element on each line, so that differences are easy to read.
fn lines(drawing: &Drawing) -> String {
    drawing.inline().replace("><", ">\n<")
}

/// Returns a number between 0 and 1 that looks random.
fn noise(number: u32) -> f64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b1);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x85eb_ca6b);
    f64::from((mixed ^ (mixed >> 13)) >> 8) / f64::from(1 << 24)
}

/// Returns `count` values, spread over a factor of about a hundred.
fn sample(seed: u32, count: u32, scale: f64) -> Vec<f64> {
    (0..count).map(|i| scale * 10f64.powf(noise(seed * 1_000 + i) + noise(i * 7 + seed))).collect()
}

#[test]
fn the_style_of_all_charts() {
    insta::assert_snapshot!(mumakil::chart::style());
}

#[test]
fn ratios_beside_one() {
    let ratio = |(value, spread): (f64, f64)| {
        Some(Ratio {
            value,
            band: Some((value / spread, value * spread)),
            decided: value * spread < 1.0 || 1.0 < value / spread,
            label: format!("{value} times"),
        })
    };
    let series = |name: &str, look, ratios: [(f64, f64); 4]| RatioSeries {
        name: name.to_owned(),
        look: SeriesLook(look),
        ratios: ratios.map(ratio).into(),
    };
    let chart = Ratios {
        caption: caption("ratios", "Paired ratios of the mean sojourn"),
        y: "Ratio of the mean sojourn".to_owned(),
        x: "nodes".to_owned(),
        groups: ["10", "20", "50", "100"].map(str::to_owned).into(),
        series: vec![
            series("fair / fifo", 1, [(0.7, 1.1), (0.8, 1.1), (0.9, 1.2), (1.0, 1.05)]),
            series("hfsp / fifo", 2, [(0.5, 1.1), (0.6, 1.05), (0.8, 1.3), (1.1, 1.05)]),
        ],
        looks: Vec::new(),
        shared: None,
        band: "95 % confidence, paired by seed, each by itself".to_owned(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn ecdf() {
    let sample = |name: &str, seed: u32, scale| EcdfSample {
        name: name.to_owned(),
        look: SeriesLook(seed as usize - 1),
        values: sample(seed, 100, scale),
        published: Vec::new(),
    };
    let chart = Ecdf {
        caption: caption("ecdf", "Sojourn time of the jobs of FB2009 on 100 nodes"),
        x: ChartAxis::log("Sojourn time", AxisUnit::Seconds),
        of: "jobs".to_owned(),
        samples: vec![sample("hfsp", 1, 6.0), sample("fair", 2, 9.0), sample("fifo", 3, 30.0)],
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn lines_with_bands() {
    let nodes = (1..=10).map(|i| f64::from(i) * 10.0);
    let line = |name: &str, work: f64, spread: f64| {
        let point = |x: f64| {
            let y = 60.0 + work / x;
            LinePoint { x, y, band: Some((y - spread * y / x.sqrt(), y + spread * y / x.sqrt())) }
        };
        let points = nodes.clone().map(point).collect();
        LineSeries { name: name.to_owned(), points, published: Vec::new() }
    };
    let bound = nodes.clone().map(|x| LinePoint { x, y: 40.0 + 2_600.0 / x, band: None }).collect();
    let chart = ValueLines {
        caption: caption("lines", "Mean sojourn time by the size of the cluster"),
        x: ChartAxis::linear("Nodes", AxisUnit::Count),
        y: ChartAxis::linear("Mean sojourn time", AxisUnit::Seconds),
        lines: vec![
            line("fair", 9_000.0, 0.4),
            line("hfsp", 4_000.0, 0.3),
            LineSeries { name: "fluid model".to_owned(), points: bound, published: Vec::new() },
        ],
        band: "95 % confidence".to_owned(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

fn bars(values: &[(&str, &[f64])], whisker: f64) -> Vec<BarSeries> {
    let bar = |value: &f64| {
        let whisker = (0.0 < whisker).then(|| (value - whisker, value + whisker));
        Some(Bar { value: *value, whisker })
    };
    let series = |(name, values): &(&str, &[f64])| BarSeries {
        name: (*name).to_owned(),
        bars: values.iter().map(bar).collect(),
        published: Vec::new(),
    };
    values.iter().map(series).collect()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn bars_with_whiskers() {
    let chart = Bars {
        caption: caption("bars", "Mean sojourn time by class of job, against fair"),
        y: ChartAxis::linear("Difference to fair", AxisUnit::Seconds),
        x: String::new(),
        groups: names(&["small", "medium", "large"]),
        series: bars(
            &[
                ("hfsp", &[-35.0, -80.0, 20.0]),
                ("srpt", &[-38.0, -96.0, 45.0]),
                ("fifo", &[130.0, 95.0, -15.0]),
            ],
            12.0,
        ),
        looks: Vec::new(),
        arrangement: Arrangement::Grouped,
        whisker: "95 % confidence".to_owned(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

/// Two bars with long names, and published numbers for all values but one.
#[test]
fn published_bars() {
    let published = [vec![Some(0.02), Some(0.37), Some(0.84)], vec![Some(0.75), None, Some(0.94)]];
    let series = bars(
        &[
            ("fair sharing without delay scheduling", &[0.03, 0.07, 0.56]),
            ("fair sharing with delay scheduling, W1 = W2 = 15 s", &[0.99, 1.0, 1.0]),
        ],
        0.02,
    );
    let series = series.into_iter().zip(published);
    let chart = Bars {
        caption: caption("published-bars", "Figure 12: node locality in a closed loop of 60 jobs"),
        y: ChartAxis::linear("Share of maps", AxisUnit::Share),
        x: "Maps of the job".to_owned(),
        groups: names(&["3", "10", "100"]),
        series: series.map(|(series, published)| BarSeries { published, ..series }).collect(),
        looks: Vec::new(),
        arrangement: Arrangement::Grouped,
        whisker: "95 % confidence".to_owned(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

/// Lines with published numbers at measured points, lines with published numbers at other points,
/// and lines without published numbers.
#[test]
fn published_lines() {
    let line = |name: &str, ours: [f64; 4], published: &[(f64, f64)]| {
        let points = [0.0, 1.0, 5.0, 10.0].into_iter().zip(ours);
        let points = points.map(|(x, y)| LinePoint { x, y, band: Some((y - 0.02, y + 0.02)) });
        let published = published.to_vec();
        LineSeries { name: name.to_owned(), points: points.collect(), published }
    };
    let chart = ValueLines {
        caption: caption("published-lines", "Figure 15: locality against the wait"),
        x: ChartAxis::linear("Wait", AxisUnit::Seconds),
        y: ChartAxis::linear("Share of maps", AxisUnit::Share),
        lines: vec![
            line(
                "jobs of 4 maps",
                [0.05, 0.9, 0.99, 1.0],
                &[(0.0, 0.05), (1.0, 0.68), (5.0, 0.98), (10.0, 1.0)],
            ),
            line("jobs of 12 maps", [0.12, 0.97, 1.0, 1.0], &[(0.0, 0.11), (2.5, 0.9)]),
            line("jobs of 36 maps", [0.3, 0.98, 1.0, 1.0], &[]),
        ],
        band: "95 % confidence".to_owned(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn stacked_bars() {
    let chart = Bars {
        caption: caption("locality", "Locality of maps by the size of the job"),
        y: ChartAxis::linear("Share of maps", AxisUnit::Share),
        x: "Maps of the job".to_owned(),
        groups: names(&["1–25", "26–100", "101–500", "501–2,000", "more"]),
        series: bars(
            &[
                ("node", &[0.05, 0.3, 0.62, 0.87, 0.97]),
                ("rack", &[0.54, 0.45, 0.28, 0.1, 0.02]),
                ("off-rack", &[0.41, 0.25, 0.1, 0.03, 0.01]),
            ],
            0.0,
        ),
        looks: Vec::new(),
        arrangement: Arrangement::Stacked,
        whisker: String::new(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn heat() {
    let row = |row: u32| (0..6).map(|column| noise(row * 6 + column)).collect();
    let chart = Heat {
        caption: caption("heat", "Node-local maps by policy and size of the cluster"),
        x: "Nodes".to_owned(),
        y: "Policy".to_owned(),
        columns: names(&["10", "20", "40", "60", "80", "100"]),
        rows: names(&["fifo", "fair", "capacity", "hfsp"]),
        value: ChartAxis::linear("Node-local maps", AxisUnit::Share),
        values: (0..4).map(row).collect(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn stack() {
    let layer =
        |name: &str, look: usize, steps: &[(f64, f64)], waiting: &[(f64, f64)]| StackLayer {
            name: name.to_owned(),
            look: SeriesLook(look),
            steps: steps.to_vec(),
            waiting: waiting.to_vec(),
            promised: (name == "pool 2").then_some(150.0),
        };
    let chart = Stack {
        caption: caption("stack", "Map slots by pool"),
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        y: ChartAxis::linear("Map slots", AxisUnit::Count),
        layers: vec![
            layer(
                "pool 1",
                0,
                &[
                    (0.0, 400.0),
                    (57.0, 300.0),
                    (68.0, 200.0),
                    (118.0, 133.0),
                    (420.0, 200.0),
                    (560.0, 0.0),
                ],
                &[(0.0, 9_000.0), (300.0, 2_000.0), (500.0, 0.0)],
            ),
            layer(
                "pool 2",
                1,
                &[(57.0, 100.0), (68.0, 200.0), (118.0, 133.0), (420.0, 200.0), (560.0, 400.0)],
                &[(57.0, 1_000.0), (560.0, 0.0)],
            ),
            layer("pool 3", 2, &[(118.0, 134.0), (300.0, 130.0), (420.0, 0.0)], &[]),
        ],
        capacity: Some(layer("all map slots", 0, &[(0.0, 400.0)], &[])),
        waiting: Some(ChartAxis::linear("Maps that wait", AxisUnit::Count)),
        until: 640.0,
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

fn rows(count: usize) -> Vec<GanttRow> {
    let row = |i: usize| GanttRow {
        group: format!("rack {}", i / 6),
        owner: format!("n{}", i / 3),
        name: if i % 3 < 2 { "map" } else { "reduce" }.to_owned(),
        is_shaded: i % 3 == 2,
    };
    (0..count).map(row).collect()
}

fn owners() -> Vec<BarOwner> {
    let owner =
        |(look, name): (usize, &str)| BarOwner { name: name.to_owned(), look: SeriesLook(look) };
    ["ann", "bob", "carl"].into_iter().enumerate().map(owner).collect()
}

#[test]
fn gantt() {
    let mut bars = Vec::new();
    for slot in 0..12usize {
        let reduce = slot % 3 == 2;
        let mut start = 3.0 * noise(slot as u32);
        for number in 0..if reduce { 2 } else { 14 } {
            let length = if reduce { 70.0 } else { 8.0 + 5.0 * noise(slot as u32 * 50 + number) };
            let owner = (slot + number as usize) % 3;
            bars.push(GanttBar {
                row: slot,
                owner,
                fate: match (slot, number) {
                    (4, 3) => BarFate::Failed,
                    (7, 5) | (8, 1) => BarFate::Killed,
                    (2, 1) => BarFate::Running,
                    _ => BarFate::Succeeded,
                },
                start,
                end: start + length,
                name: format!("count-{owner} {}", if reduce { "reduce" } else { "map" }),
                number: number.to_string(),
            });
            start += length + 1.5;
        }
    }
    // A bar that is too short to be visible at its true length.
    bars.push(GanttBar { row: 9, start: 160.0, end: 160.05, ..bars[0].clone() });
    let chart = Gantt {
        caption: caption("gantt", "What ran where"),
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        rows: rows(12),
        shaded: "slots of reduces".to_owned(),
        owners: owners(),
        bars,
        notes: vec![
            "1 of the attempts was suspended in between; it is drawn on over that time.".to_owned(),
        ],
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn density() {
    let mut chart = Density::new(rows(12), vec![2.0; 12], 600.0);
    chart.caption = caption("density", "What ran where");
    (chart.held, chart.bars_are) = ("slots".to_owned(), "attempts".to_owned());
    chart.owners = owners();
    for bar in 0..400u32 {
        let start = 560.0 * noise(bar);
        let (row, owner) = ((bar % 12) as usize, (start / 200.0) as usize);
        chart.add(row, owner, start, start + 40.0 * noise(bar + 7));
    }
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn percentiles() {
    let curve = |name: &str, scale: f64, tail: f64| {
        let shares = [0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0];
        let value = |share: f64| scale * (1.0 - share + 5e-5).powf(-tail);
        let points = shares.iter().map(|share| (*share, value(*share))).collect();
        Curve { name: name.to_owned(), points }
    };
    let chart = Percentiles {
        caption: caption("percentiles", "Round trip of a heartbeat"),
        y: ChartAxis::log("Round trip", AxisUnit::Seconds),
        curves: vec![curve("100 nodes", 4e-4, 0.2), curve("1,000 nodes", 9e-4, 0.65)],
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}

#[test]
fn boxes() {
    let series = |name: &str, seed: u32, scale: f64| BoxSeries {
        name: name.to_owned(),
        samples: (0..3u32).map(|i| sample(seed + i, 60, scale * f64::from(i * i + 1))).collect(),
    };
    let chart = Boxes {
        caption: caption("boxes", "Sojourn time by class of job"),
        y: ChartAxis::log("Sojourn time", AxisUnit::Seconds),
        x: String::new(),
        groups: names(&["small", "medium", "large"]),
        series: vec![series("hfsp", 1, 2.0), series("fair", 20, 3.0)],
        looks: Vec::new(),
    };
    insta::assert_snapshot!(lines(&chart.draw()));
}
