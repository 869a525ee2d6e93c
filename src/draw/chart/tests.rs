//! Properties of every chart for any data: it is drawn, its markup is well-formed, its numbers are
//! finite and lie on the sheet.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Returns the first fault of a drawing, if there is one.
fn fault(svg: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg.trim_end();
    while let Some((text, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>')?;
        if let Some(fault) = text_fault(text).or_else(|| tag_fault(tag)) {
            return Some(fault);
        }
        match tag.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return Some(format!("</{name}> closes")),
            Some(_) => {}
            None => open.push(tag.split(' ').next().unwrap_or_default()),
        }
        rest = after;
    }
    (!open.is_empty() || !rest.is_empty()).then(|| format!("{open:?} and {rest:?} are left"))
}

fn text_fault(text: &str) -> Option<String> {
    let entity = |rest: &str| ["lt;", "gt;", "amp;", "quot;"].iter().any(|e| rest.starts_with(e));
    let bad = text.split('&').skip(1).any(|rest| !entity(rest));
    let illegal = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}');
    (bad || text.contains(illegal)).then(|| format!("illegal text {text:?}"))
}

/// Returns the fault of a tag: attributes must be in quotes, and the numbers in coordinates and
/// sizes must be finite and at most 30,000.
fn tag_fault(tag: &str) -> Option<String> {
    // Marks over time use units of their own.
    let is_timed = tag.contains("class=\"time\"")
        || tag.contains("class=\"bars")
        || tag.contains("pointer-events=\"all\"");
    let mut parts = tag.split('"');
    while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
        let name = name.trim().trim_end_matches('=').rsplit(' ').next()?;
        let is_place = matches!(
            name,
            "x" | "y"
                | "cx"
                | "cy"
                | "width"
                | "height"
                | "d"
                | "transform"
                | "viewBox"
                | "opacity"
        );
        let numbers = value.split(|c: char| c != '-' && c != '.' && !c.is_ascii_digit());
        let mut numbers = numbers
            .flat_map(|text| text.split_inclusive('-'))
            .filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        let far = |text: &str| {
            text.trim_end_matches('-').parse::<f64>().is_ok_and(|number| 30_000.0 < number.abs())
        };
        // Attributes for the page's script may contain any name.
        if name.starts_with("data-") {
            continue;
        }
        if value.contains("NaN")
            || value.contains("inf")
            || is_place && !is_timed && numbers.any(far)
        {
            return Some(format!("{name}=\"{value}\""));
        }
    }
    None
}

/// Ordinary numbers, and numbers that cannot be drawn.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.0f64..1e4,
        2 => -1e9f64..1e9,
        2 => any::<f64>(),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE,
            5e-324, 1e99, -1e99, 1e-99, 1e15, 1e15 + 1.0,
        ]),
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("<&\">'".to_owned()), ".{0,12}", "[ -~]{0,200}", Just(String::new())]
}

fn unit() -> impl Strategy<Value = AxisUnit> {
    use AxisUnit::{Bytes, Count, Plain, Ratio, Seconds, Share};
    prop::sample::select(vec![Plain, Count, Ratio, Share, Seconds, Bytes])
}

fn axis() -> impl Strategy<Value = ChartAxis> {
    (name(), unit(), any::<bool>()).prop_map(|(title, unit, log)| {
        if log { ChartAxis::log(title, unit) } else { ChartAxis::linear(title, unit) }
    })
}

fn caption() -> impl Strategy<Value = Caption> {
    (name(), name(), name(), name()).prop_map(|(id, title, beneath, description)| Caption {
        id,
        title,
        beneath,
        description,
        ..Caption::default()
    })
}

fn interval() -> impl Strategy<Value = Option<(f64, f64)>> {
    prop::option::of((number(), number()))
}

fn layer() -> impl Strategy<Value = StackLayer> {
    let steps = || vec((number(), number()), 0..30);
    let promised = prop::option::of(number());
    (name(), 0usize..70, steps(), steps(), promised).prop_map(
        |(name, look, steps, waiting, promised)| StackLayer {
            name,
            look: SeriesLook(look),
            steps,
            waiting,
            promised,
        },
    )
}

prop_compose! {
    fn ecdf()(caption in caption(), x in axis(), of in name(),
        samples in vec((name(), vec(number(), 0..50), vec((number(), number()), 0..5)), 0..12),
        first in 0usize..70,
    ) -> Drawing {
        let sample = |(look, (name, values, published))| {
            EcdfSample { name, values, look: SeriesLook(look), published }
        };
        let samples = (first..).zip(samples).map(sample).collect();
        Ecdf { caption, x, of, samples }.draw()
    }
}

prop_compose! {
    fn line()(name in name(),
        points in vec((number(), number(), interval()), 0..50),
        published in vec((number(), number()), 0..5)) -> LineSeries {
        let points = points.into_iter().map(|(x, y, band)| LinePoint { x, y, band }).collect();
        LineSeries { name, points, published }
    }
}

prop_compose! {
    fn lines()(caption in caption(), x in axis(), y in axis(), band in name(),
        lines in vec(line(), 0..12)) -> Drawing {
        ValueLines { caption, x, y, lines, band }.draw()
    }
}

prop_compose! {
    fn ratios()(caption in caption(), y in name(), x in name(), groups in vec(name(), 0..30), band in name(),
        series in vec((
            name(),
            vec(prop::option::of((number(), interval(), any::<bool>(), name())), 0..30),
        ), 0..12),
    ) -> Drawing {
        let ratio = |(value, band, decided, label)| Ratio { value, band, decided, label };
        let series = series.into_iter().zip(0..).map(|((name, ratios), look)| RatioSeries {
            name,
            look: SeriesLook(look),
            ratios: ratios.into_iter().map(|one: Option<_>| one.map(ratio)).collect(),
        });
        let looks = Vec::new();
        Ratios { caption, y, x, groups, series: series.collect(), looks, shared: None, band }.draw()
    }
}

prop_compose! {
    fn bars()(caption in caption(), y in axis(), x in name(), groups in vec(name(), 0..30), whisker in name(),
        stacked in any::<bool>(), looks in vec(0usize..70, 0..9),
        series in vec((
            name(),
            vec(prop::option::of((number(), interval())), 0..30),
            vec(prop::option::of(number()), 0..30),
        ), 0..12),
    ) -> Drawing {
        let bar = |bar: Option<(f64, _)>| bar.map(|(value, whisker)| Bar { value, whisker });
        let series = series.into_iter().map(|(name, bars, published)| BarSeries {
            name,
            bars: bars.into_iter().map(bar).collect(),
            published,
        });
        let arrangement = if stacked { Arrangement::Stacked } else { Arrangement::Grouped };
        let looks = looks.into_iter().map(SeriesLook).collect();
        Bars { caption, y, x, groups, series: series.collect(), looks, arrangement, whisker }.draw()
    }
}

prop_compose! {
    fn boxes()(caption in caption(), y in axis(), x in name(), groups in vec(name(), 0..9),
        series in vec((name(), vec(vec(number(), 0..30), 0..9)), 0..12),
        looks in vec(0usize..70, 0..9)) -> Drawing {
        let series = series.into_iter().map(|(name, samples)| BoxSeries { name, samples });
        let looks = looks.into_iter().map(SeriesLook).collect();
        Boxes { caption, y, x, groups, series: series.collect(), looks }.draw()
    }
}

prop_compose! {
    fn heat()(caption in caption(), x in name(), y in name(), value in axis(),
        columns in vec(name(), 0..20), rows in vec(name(), 0..20),
        values in vec(vec(number(), 0..20), 0..20)) -> Drawing {
        Heat { caption, x, y, columns, rows, value, values }.draw()
    }
}

prop_compose! {
    fn stack()(caption in caption(), x in axis(), y in axis(), layers in vec(layer(), 0..12),
        capacity in prop::option::of(layer()), waiting in prop::option::of(axis()),
        until in number()) -> Drawing {
        Stack { caption, x, y, layers, capacity, waiting, until }.draw()
    }
}

prop_compose! {
    fn bar()(row in 0usize..40, owner in 0usize..4, fate in 0usize..4, start in number(),
        length in number(), name in name(), number in name()) -> GanttBar {
        let fate = [BarFate::Succeeded, BarFate::Running, BarFate::Killed, BarFate::Failed][fate];
        GanttBar { row, owner, fate, start, end: start + length, name, number }
    }
}

fn rows() -> impl Strategy<Value = Vec<GanttRow>> {
    let row = (name(), name(), name(), any::<bool>());
    vec(row, 0..400).prop_map(|rows| {
        let row = |(group, owner, name, is_shaded)| GanttRow { group, owner, name, is_shaded };
        rows.into_iter().map(row).collect()
    })
}

fn owners() -> impl Strategy<Value = Vec<BarOwner>> {
    vec((name(), 0usize..20), 0..4).prop_map(|owners| {
        let owner = |(name, look)| BarOwner { name, look: SeriesLook(look) };
        owners.into_iter().map(owner).collect()
    })
}

prop_compose! {
    fn gantt()(caption in caption(), x in axis(), shaded in name(), rows in rows(),
        owners in owners(), bars in vec(bar(), 0..100), notes in vec(name(), 0..3)) -> Drawing {
        Gantt { caption, x, rows, shaded, owners, bars, notes }.draw()
    }
}

prop_compose! {
    fn density()(caption in caption(), rows in rows(), capacity in vec(number(), 0..400),
        until in number(), held in name(), bars_are in name(), owners in owners(),
        bars in vec(bar(), 0..100), notes in vec(name(), 0..3)) -> Drawing {
        let mut chart = Density::new(rows, capacity, until);
        (chart.caption, chart.held, chart.bars_are) = (caption, held, bars_are);
        (chart.owners, chart.notes) = (owners, notes);
        bars.iter().for_each(|bar| chart.add(bar.row, bar.owner, bar.start, bar.end));
        chart.draw()
    }
}

prop_compose! {
    fn percentiles()(caption in caption(), y in axis(),
        curves in vec((name(), vec((number(), number()), 0..40)), 0..12)) -> Drawing {
        let curves = curves.into_iter().map(|(name, points)| Curve { name, points }).collect();
        Percentiles { caption, y, curves }.draw()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn curves_of_any_data_are_drawn(drawing in prop_oneof![ecdf(), lines(), percentiles()]) {
        prop_assert_eq!(fault(&drawing.svg()), None);
    }

    #[test]
    fn columns_of_any_data_are_drawn(drawing in prop_oneof![bars(), boxes(), heat(), ratios()]) {
        prop_assert_eq!(fault(&drawing.svg()), None);
    }

    #[test]
    fn times_of_any_data_are_drawn(drawing in prop_oneof![stack(), gantt(), density()]) {
        prop_assert_eq!(fault(&drawing.svg()), None);
    }
}

#[test]
fn a_fault_in_a_drawing_is_found() {
    assert!(fault("<a><b></a></b>").is_some());
    assert!(fault("<a>&</a>").is_some());
    assert!(fault("<a x=\"NaN\"></a>").is_some());
    assert!(fault("<a d=\"M1-99999\"></a>").is_some());
    assert_eq!(fault("<a d=\"M1-9.5\">&lt;</a>"), None);
}

#[test]
fn an_empty_chart_says_so() {
    let caption = Caption::default();
    let x = ChartAxis::log("Wait", AxisUnit::Seconds);
    let svg = Ecdf { caption, x, of: "jobs".to_owned(), samples: Vec::new() }.draw().inline();
    assert!(svg.contains("Nothing to show"));
}

#[test]
fn a_hundred_series_have_a_legend_of_a_few_rows() {
    let sample = |i: u32| EcdfSample {
        name: format!("policy-{i}"),
        values: vec![f64::from(i), 9.0],
        look: SeriesLook(i as usize),
        published: Vec::new(),
    };
    let chart = Ecdf {
        caption: Caption::default(),
        x: ChartAxis::linear("Wait", AxisUnit::Seconds),
        of: "jobs".to_owned(),
        samples: (0..100).map(sample).collect(),
    };
    let svg = chart.draw().inline();
    assert!(svg.contains("more</text>"));
    assert!(svg.contains("policy-99: 2 jobs"), "its curve is drawn all the same");
}
