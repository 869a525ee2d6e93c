//! The sheet of a chart, drawn from top to bottom: title, legend, plot, axis, notes.

use maud::{Markup, PreEscaped, html};

use super::doubted::DoubtedValues;
use super::legend::{self, LegendKey};
use super::palette::{Hatches, style};
use super::scale::AxisScale;
use super::text::{Coordinate, LEADING, clean, fit, width, wrap};
use super::tick::Tick;

/// The width of most drawings; the height depends on the content.
pub(super) const WIDTH: f64 = 720.0;

/// The width of the same drawings for a narrow screen, on which the letters keep their size.
const NARROW: f64 = 440.0;

/// The width of a drawing that takes the whole width of a page: that of two drawings side by side,
/// and of the gap between them.
const WHOLE_WIDTH: f64 = 1460.0;

/// The margin at each side.
pub(super) const MARGIN: f64 = 12.0;

/// The texts of a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// The prefix of all ids in the drawing; it is unique on a page.
    pub id: String,
    /// The title above the chart, in words.
    pub title: String,
    /// A line in small letters beneath the title, such as the expression that the title puts into
    /// words.
    pub beneath: String,
    /// A description of the chart for readers who cannot see it.
    pub description: String,
    /// The end of the sentence "Look for …" below the chart on a page; may be empty.
    pub look_for: &'static str,
    /// Values that a reader should doubt.
    pub doubted: DoubtedValues,
}

/// A drawn chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    id: String,
    title: String,
    description: String,
    look_for: &'static str,
    range: Option<(f64, f64)>,
    width: f64,
    height: f64,
    body: String,
    narrow: Option<Box<Self>>,
}

impl Drawing {
    /// Returns the ends of its vertical axis of values; `None` without one.
    pub const fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// Returns the end of the sentence "Look for …" below it; may be empty.
    pub const fn look_for(&self) -> &'static str {
        self.look_for
    }

    /// Draws a chart for usual and for narrow screens.
    pub(super) fn in_both_widths(draw: impl Fn(f64) -> Self) -> Self {
        let narrow = draw(NARROW);
        Self { narrow: Some(Box::new(narrow)), ..draw(WIDTH) }
    }

    /// Returns the same drawing for narrow screens; `None` for one that needs the whole width.
    pub fn narrow(&self) -> Option<&Self> {
        self.narrow.as_deref()
    }

    /// Returns its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns whether it takes the whole width of a page.
    pub fn is_wide(&self) -> bool {
        WIDTH < self.width
    }

    /// Returns a complete SVG file.
    pub fn svg(&self) -> String {
        let sheet = html! {
            style { (PreEscaped(style())) }
            rect class="c-paper area" width=(Coordinate(self.width)) height=(Coordinate(self.height)) {}
        };
        self.element(sheet).into_string() + "\n"
    }

    /// Returns an SVG element for a page that includes [`style`] once and has its own background.
    pub fn inline(&self) -> String {
        self.element(Markup::default()).into_string()
    }

    fn element(&self, sheet: Markup) -> Markup {
        let size = [Coordinate(self.width), Coordinate(self.height)];
        html! {
            svg xmlns="http://www.w3.org/2000/svg" class="mk" id=(self.id) role="img"
                aria-labelledby={ (self.id) "-title " (self.id) "-text" }
                viewBox={ "0 0 " (size[0]) " " (size[1]) } width=(size[0]) height=(size[1]) {
                title id={ (self.id) "-title" } { (self.title) }
                desc id={ (self.id) "-text" } { (self.description) }
                (sheet)
                g class="c-ink" { (PreEscaped(&self.body)) }
            }
        }
    }
}

/// The rectangle of the plot, in which marks are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlotArea {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl PlotArea {
    /// Returns the x coordinate of a place from 0 (left) to 1 (right).
    pub(super) fn x(&self, place: f64) -> f64 {
        self.left + place * self.width()
    }

    /// Returns the y coordinate of a place from 0 (bottom) to 1 (top).
    pub(super) fn y(&self, place: f64) -> f64 {
        self.bottom - place * self.height()
    }

    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }
}

/// A drawing that is being made.
#[derive(Debug)]
pub(super) struct ChartSheet {
    pub(super) id: String,
    title: String,
    description: String,
    look_for: &'static str,
    range: Option<(f64, f64)>,
    pub(super) width: f64,
    /// The y coordinate below which the sheet is still empty.
    pub(super) below: f64,
    body: String,
    notes: Vec<String>,
}

impl ChartSheet {
    /// Returns a sheet of this width on which the title is drawn.
    pub(super) fn new(caption: &Caption, width: f64) -> Self {
        let sheet = Self::of_width(caption, width);
        // Both widths of a chart are on one page.
        let mark = if width == NARROW { "-narrow" } else { "" };
        Self { id: sheet.id + mark, ..sheet }
    }

    /// Returns a sheet as wide as a page, on which the title is drawn.
    pub(super) fn wide(caption: &Caption) -> Self {
        Self::of_width(caption, WHOLE_WIDTH)
    }

    fn of_width(caption: &Caption, width: f64) -> Self {
        let mut sheet = Self {
            id: identifier(&caption.id),
            title: clean(&caption.title),
            description: clean(&caption.description),
            look_for: caption.look_for,
            range: None,
            width,
            below: MARGIN,
            body: String::new(),
            notes: Vec::new(),
        };
        // Titles are larger than other text, for which widths are estimated.
        for line in wrap(&caption.title, sheet.room() * 0.85, 2) {
            sheet.below += 22.0;
            sheet.add(
                html! { text class="name" x=(Coordinate(MARGIN)) y=(Coordinate(sheet.below - 5.0)) { (line) } },
            );
        }
        if !caption.doubted.note.is_empty() {
            sheet.note(&caption.doubted.note);
        }
        for line in wrap(&caption.beneath, sheet.room(), 2) {
            sheet.below += LEADING;
            sheet.add(html! {
                text class="beneath c-soft" x=(Coordinate(MARGIN)) y=(Coordinate(sheet.below - 4.0)) { (line) }
            });
        }
        sheet
    }

    /// Returns the width between the margins.
    pub(super) fn room(&self) -> f64 {
        self.width - 2.0 * MARGIN
    }

    pub(super) fn add(&mut self, markup: Markup) {
        self.body.push_str(&markup.into_string());
    }

    /// Defines the hatches of these series.
    pub(super) fn hatches(&mut self, series: impl IntoIterator<Item = usize>) {
        let definitions = Hatches { id: &self.id }.define(series);
        self.add(html! { defs { (definitions) } });
    }

    pub(super) fn legend(&mut self, keys: &[LegendKey]) {
        let (markup, height) = legend::draw(keys, MARGIN, self.below, self.room());
        self.add(markup);
        self.below += height;
    }

    /// Draws both axes and their grid, and returns the area of the plot.
    pub(super) fn axes(&mut self, x: &AxisScale, y: &AxisScale, height: f64) -> PlotArea {
        self.axes_within(x, y, height, Self::widest(y))
    }

    /// Draws both axes, with room for y labels as wide as `widest`. In plots with the same
    /// `widest`, equal times are exactly above each other.
    pub(super) fn axes_within(
        &mut self,
        x: &AxisScale,
        y: &AxisScale,
        height: f64,
        widest: f64,
    ) -> PlotArea {
        let area = self.y_axis_within(y, height, overhang(x), widest);
        self.x_axis(x, &area);
        area
    }

    /// Draws the y axis and the grid of a low plot. The x axis of the plot below serves both plots.
    pub(super) fn strip(
        &mut self,
        x: &AxisScale,
        y: &AxisScale,
        height: f64,
        widest: f64,
    ) -> PlotArea {
        let area = self.y_axis_within(y, height, overhang(x), widest);
        self.add(html! { path class="thin c-grid" d=(grid(x, &area)) {} });
        self.below += 10.0;
        area
    }

    /// Returns the width of the widest label of a y axis.
    pub(super) fn widest(y: &AxisScale) -> f64 {
        labels(y).map(|(_, label)| width(label)).fold(0.0, f64::max)
    }

    /// Draws the y axis with its grid, for a plot of this height. Sets `below` to the bottom of the
    /// plot.
    pub(super) fn y_axis(&mut self, y: &AxisScale, height: f64, overhang: f64) -> PlotArea {
        self.y_axis_within(y, height, overhang, Self::widest(y))
    }

    fn y_axis_within(
        &mut self,
        y: &AxisScale,
        height: f64,
        overhang: f64,
        widest: f64,
    ) -> PlotArea {
        let top = self.below + 2.0 * LEADING - 4.0;
        let left = MARGIN + widest + 8.0;
        // The last label of the x axis is centred at the edge of the plot, so half of the label
        // needs room beyond the edge.
        let right = self.width - MARGIN.max(overhang);
        let area = PlotArea { left, right, top, bottom: top + height };
        self.range = Some(y.range);
        let title = fit(&y.title, self.room());
        let level = |labelled: bool, to: f64| -> String {
            let ticks = y.ticks.iter().filter(|tick| tick.label.is_some() == labelled);
            let at = ticks.map(|tick| Coordinate(area.y(y.place(tick.value))));
            at.map(|at| format!("M{} {at}H{}", Coordinate(area.left), Coordinate(to))).collect()
        };
        let minor = level(false, area.left + 4.0);
        self.add(html! {
            text class="c-soft" x=(Coordinate(MARGIN)) y=(Coordinate(self.below + LEADING - 4.0)) { (title) }
            path class="thin c-grid" d=(level(true, area.right)) {}
            @if !minor.is_empty() {
                path class="thin c-soft" d={
                    "M" (Coordinate(area.left)) " " (Coordinate(area.top)) "V" (Coordinate(area.bottom)) (minor)
                } {}
            }
            @for (tick, label) in labels(y) {
                text class="c-soft" text-anchor="end" x=(Coordinate(area.left - 8.0))
                    y=(Coordinate(area.y(y.place(tick.value)) + 5.0)) { (label) }
            }
        });
        self.below = area.bottom;
        area
    }

    /// Draws the x axis with its grid, under the plot.
    pub(super) fn x_axis(&mut self, x: &AxisScale, area: &PlotArea) {
        let place = |tick: &Tick| area.x(x.place(tick.value));
        let title = fit(&x.title, area.width());
        self.add(html! { g class="x c-soft" {
            path class="thin c-grid" d=(grid(x, area)) {}
            path class="thin" d=(ticks(x, area)) {}
            @for (tick, label) in apart(x, area) {
                text text-anchor="middle" x=(Coordinate(place(tick)))
                    y=(Coordinate(area.bottom + 6.0 + LEADING)) { (label) }
            }
            text text-anchor="middle" x=(Coordinate((area.left + area.right) / 2.0))
                y=(Coordinate(area.bottom + 9.0 + 2.0 * LEADING)) { (title) }
        } });
        self.below = area.bottom + 15.0 + 2.0 * LEADING;
    }

    /// Writes into a plot that it is empty, if it is.
    pub(super) fn nothing_if(&mut self, is_empty: bool, area: &PlotArea) {
        let (x, y) = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0 + 5.0);
        self.add(html! {
            @if is_empty {
                text class="c-soft" text-anchor="middle" x=(Coordinate(x)) y=(Coordinate(y)) { "Nothing to show" }
            }
        });
    }

    /// Draws the line on which columns stand.
    pub(super) fn floor(&mut self, y: f64, area: &PlotArea) {
        let [left, y, right] = [area.left, y, area.right].map(Coordinate);
        self.add(html! { path class="rule c-soft" d={ "M" (left) " " (y) "H" (right) } {} });
    }

    /// Adds a sentence at the bottom of the drawing.
    pub(super) fn note(&mut self, text: &str) {
        self.notes.extend(wrap(text, self.room(), 3));
    }

    pub(super) fn finish(mut self) -> Drawing {
        for line in std::mem::take(&mut self.notes) {
            self.below += LEADING;
            self.add(html! { text class="c-soft" x=(Coordinate(MARGIN)) y=(Coordinate(self.below)) { (line) } });
        }
        let Self { id, title, description, look_for, range, width, below, body, .. } = self;
        Drawing {
            id,
            title,
            description,
            look_for,
            range,
            width,
            height: below + MARGIN,
            body,
            narrow: None,
        }
    }
}

fn labels(scale: &AxisScale) -> impl DoubleEndedIterator<Item = (&Tick, &str)> {
    scale.ticks.iter().filter_map(|tick| Some((tick, tick.label.as_deref()?)))
}

fn grid(x: &AxisScale, area: &PlotArea) -> String {
    let (top, bottom) = (Coordinate(area.top), Coordinate(area.bottom));
    labels(x)
        .map(|(tick, _)| format!("M{} {top}V{bottom}", Coordinate(area.x(x.place(tick.value)))))
        .collect()
}

/// Returns the length by which the last label of an x axis extends beyond the plot.
fn overhang(x: &AxisScale) -> f64 {
    labels(x).next_back().map_or(0.0, |(_, label)| width(label) / 2.0)
}

/// Returns the labelled ticks of an x axis whose labels do not touch.
fn apart<'a>(x: &'a AxisScale, area: &PlotArea) -> Vec<(&'a Tick, &'a str)> {
    let mut free = f64::NEG_INFINITY;
    let mut chosen = Vec::new();
    for (tick, label) in labels(x) {
        let (at, half) = (area.x(x.place(tick.value)), width(label) / 2.0);
        // Go from the left: of labels that touch, keep the earlier one.
        if free <= at - half {
            free = at + half + 6.0;
            chosen.push((tick, label));
        }
    }
    chosen
}

/// Returns the baseline of an x axis with its ticks; the labelled ticks are longer.
fn ticks(x: &AxisScale, area: &PlotArea) -> String {
    let bottom = Coordinate(area.bottom);
    let mut path = format!("M{} {bottom}H{}", Coordinate(area.left), Coordinate(area.right));
    for tick in &x.ticks {
        let length = if tick.label.is_some() { 6 } else { 3 };
        path += &format!("M{} {bottom}v{length}", Coordinate(area.x(x.place(tick.value))));
    }
    path
}

/// Returns an id that is valid in XML and CSS.
fn identifier(text: &str) -> String {
    // Other characters would need escapes in selectors and in `url(#…)`.
    let id: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    if id.starts_with(|c: char| c.is_ascii_alphabetic()) { id } else { format!("chart-{id}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_taken_from_any_text() {
        assert_eq!(identifier("sojourn time <1>"), "sojourn-time--1-");
        assert_eq!(identifier("3"), "chart-3");
    }

    #[test]
    fn only_a_file_of_its_own_brings_style_and_paper() {
        let caption = Caption { id: "a".to_owned(), title: "<A>".to_owned(), ..Caption::default() };
        let drawing = ChartSheet::new(&caption, WIDTH).finish();
        assert!(drawing.svg().contains("<style>"));
        assert!(!drawing.inline().contains("<style>"));
        assert!(drawing.inline().contains("<title id=\"a-title\">&lt;A&gt;</title>"));
    }
}
