//! The looks of series in all charts: colours, markers and hatches, and the style sheet.
//!
//! Series have the colours of Okabe and Ito, which readers with any colour vision can distinguish.
//! From the ninth series on, colours repeat: lines then have dashes and other markers, and areas
//! have a tint and other hatches. Cells of heat maps have the colours of Cividis, whose lightness
//! rises evenly. Most programs that print figures do not know custom properties, so in the style
//! sheet a fixed colour precedes each custom property.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use maud::{Markup, html};

use super::text::Coordinate;

/// The number of series with a colour of their own.
pub(super) const COLOURS: usize = 8;

/// The colours by role: the name of the custom property, the colour in light mode, and the colour
/// in dark mode.
// The eight colours of Okabe and Ito with two changes: dark grey instead of black, which is the ink
// here, and a darker yellow on white paper.
const ROLES: [(&str, &str, &str); 12] = [
    ("paper", "#ffffff", "#15181c"),
    ("ink", "#1d2126", "#e8eaed"),
    ("soft", "#5a626c", "#a3abb5"),
    ("grid", "#e1e4e8", "#32383f"),
    ("0", "#0072b2", "#3f9be0"),
    ("1", "#d55e00", "#f07a2a"),
    ("2", "#009e73", "#1fbf92"),
    ("3", "#cc79a7", "#dd8fba"),
    ("4", "#e69f00", "#f0b429"),
    ("5", "#56b4e9", "#a6dbff"),
    ("6", "#4d4d4d", "#c4c8cc"),
    ("7", "#b5a400", "#f0e442"),
];

/// The look of a series: the index of the series in its chart, or the index of its name on the
/// page. The index determines colour, marker and hatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesLook(pub usize);

/// The names of a page in a fixed order; each name has the same look in all charts.
///
/// A page uses one such list for all series named after pools, users, jobs, classes or runs. So a
/// name has one colour on the whole page, and pages whose lists begin with the same names give
/// these names the same colours.
#[derive(Clone, Debug, Default)]
pub struct SeriesStyles {
    names: IndexSet<String>,
}

impl SeriesLook {
    /// Returns whether the look is among the first eight, whose colours differ.
    pub(super) fn has_own_colour(self) -> bool {
        self.0 < COLOURS
    }
}

impl SeriesStyles {
    /// Adds names after the known names; a known name keeps its look.
    pub fn add<S: Into<String>>(&mut self, names: impl IntoIterator<Item = S>) {
        self.names.extend(names.into_iter().map(Into::into));
    }

    /// Returns the look of a name. An unknown name has the look after all others.
    pub fn of(&self, name: &str) -> SeriesLook {
        SeriesLook(self.names.get_index_of(name).unwrap_or(self.names.len()))
    }
}

/// Returns the style sheet of all charts. It applies only within elements of the class `mk`.
/// Colours follow the light or dark mode of the reader's system. The attribute `data-theme="light"`
/// or `"dark"` of an element around the chart overrides that mode.
pub fn style() -> String {
    let [light, dark] = [false, true].map(properties);
    let colours: String = ROLES
        .iter()
        .map(|(role, light, _)| format!(".mk .c-{role}{{color:{light};color:var(--mk-{role})}}\n"))
        .collect();
    format!(
        ".mk{{{light}}}\n\
         @media screen{{\n\
         @media (prefers-color-scheme:dark){{.mk{{{dark}}}}}\n\
         [data-theme=light] .mk{{{light}}}\n\
         [data-theme=dark] .mk{{{dark}}}\n\
         }}\n{colours}{}",
        include_str!("chart.css")
    )
}

fn properties(dark: bool) -> String {
    ROLES
        .iter()
        .map(|(role, light, night)| format!("--mk-{role}:{};", if dark { night } else { light }))
        .collect()
}

/// Returns the CSS class of the colour of a series.
pub(super) fn colour(series: usize) -> String {
    format!("c-{}", series % COLOURS)
}

/// Returns the CSS class of the colour of marks that are too small for hatches. All looks from the
/// ninth on are grey.
pub(super) fn small_mark_colour(look: SeriesLook) -> String {
    if look.has_own_colour() { colour(look.0) } else { "c-soft".to_owned() }
}

/// Returns the CSS class of the line of a series. The second line of a colour is dashed and dotted.
pub(super) fn stroke(series: usize) -> &'static str {
    if is_first(series) { "line" } else { "line again" }
}

/// Returns whether all colours were used an even number of times before this series.
fn is_first(series: usize) -> bool {
    (series / COLOURS).is_multiple_of(2)
}

/// Returns the index of the shape or hatch of a series.
fn shape(series: usize) -> usize {
    // Each time the colours repeat, shift the shapes by one: 64 series have different pairs of
    // colour and shape.
    (series + series / COLOURS) % COLOURS
}

/// Returns the marker of a series, centred at a point.
pub(super) fn marker(series: usize, x: f64, y: f64) -> Markup {
    let shape = SHAPES[shape(series)];
    html! { path transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ")" } d=(shape) {} }
}

/// Returns a stroke that is visible on paper and on any colour.
pub(super) fn outlined(path: &str) -> Markup {
    html! { path class="halo" d=(path) {} path class="rule c-ink" d=(path) {} }
}

/// The shapes of markers: filled outlines around the origin, of about the same area.
const SHAPES: [&str; COLOURS] = [
    "M4.5 0A4.5 4.5 0 1 1-4.5 0A4.5 4.5 0 1 1 4.5 0Z",
    "M-4-4H4V4H-4Z",
    "M0-5.5L5 4H-5Z",
    "M0-5.8L5.8 0L0 5.8L-5.8 0Z",
    "M0 5.5L5-4H-5Z",
    "M-1.6-5.5H1.6V-1.6H5.5V1.6H1.6V5.5H-1.6V1.6H-5.5V-1.6H-1.6Z",
    "M-6-2.4H6V2.4H-6Z",
    "M-2.4-6H2.4V6H-2.4Z",
];

/// The hatches of a drawing's areas. The ids of hatches begin with the drawing's id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hatches<'a> {
    pub(super) id: &'a str,
}

/// The strokes of the hatches, in a repeated square of eight units. The first hatch is plain.
const STROKES: [&str; COLOURS] = [
    "",
    "M-1 9L9-1M-1 1L1-1M7 9L9 7",
    "M0 4H8",
    "M-1-1L9 9M7-1L9 1M-1 7L1 9",
    "M4 0V8",
    "M-1 9L9-1M-1-1L9 9",
    "M3 4H5M7 0H9M-1 0H1M7 8H9M-1 8H1",
    "M0 4H8M4 0V8",
];

/// The number of different looks; further series repeat colours, shapes and hatches.
const LOOKS: usize = COLOURS * COLOURS;

impl Hatches<'_> {
    /// Returns the definitions of the hatches of these series.
    pub(super) fn define(&self, series: impl IntoIterator<Item = usize>) -> Markup {
        let numbers: BTreeSet<usize> =
            series.into_iter().map(|number| number % LOOKS).filter(|number| 0 < *number).collect();
        html! {
            @for number in numbers {
                pattern id={ (self.id) "-h" (number) } class=(colour(number))
                    width="8" height="8" patternUnits="userSpaceOnUse" {
                    @if is_first(number) {
                        rect class="area" width="8" height="8" {}
                        path class="hatch" d=(STROKES[shape(number)]) {}
                    } @else {
                        // The tint is lighter than the first series of this colour. It lies on
                        // paper, so that the grid does not show through.
                        rect class="c-paper area" width="8" height="8" {}
                        rect class="tint" width="8" height="8" {}
                        path class="rule" d=(STROKES[shape(number)]) {}
                    }
                }
            }
        }
    }

    /// Returns the value of `fill` for an area of a series.
    pub(super) fn fill(&self, series: usize) -> String {
        match series % LOOKS {
            0 => "currentColor".to_owned(),
            number => format!("url(#{}-h{number})", self.id),
        }
    }
}

/// The Cividis scale (Nuñez, Anderton and Renslow 2018): red, green and blue at equal steps.
// With eleven stops, linear interpolation is exact to eight bits.
const CIVIDIS: [[u8; 3]; 11] = [
    [0x00, 0x22, 0x4e],
    [0x0f, 0x34, 0x6f],
    [0x35, 0x46, 0x6b],
    [0x4f, 0x57, 0x6c],
    [0x66, 0x69, 0x70],
    [0x7d, 0x7c, 0x78],
    [0x94, 0x8e, 0x77],
    [0xae, 0xa3, 0x71],
    [0xc8, 0xb8, 0x66],
    [0xe5, 0xcf, 0x52],
    [0xfe, 0xe8, 0x38],
];

/// Returns the colour of a place on a scale from 0 to 1, and whether text on it should be dark.
pub(super) fn shade(place: f64) -> (String, bool) {
    let at = place.clamp(0.0, 1.0) * (CIVIDIS.len() - 1) as f64;
    let below = (at as usize).min(CIVIDIS.len() - 2);
    let mix = |channel: usize| {
        let [low, high] = [below, below + 1].map(|stop| f64::from(CIVIDIS[stop][channel]));
        (low + (high - low) * (at - below as f64)).round() as u8
    };
    // Above 0.47 the scale is so light that black has more contrast than white.
    (format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2)), 0.47 < place)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the relative luminance of WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let channel = |at| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn texts_and_series_stand_out_from_the_paper() {
        let [(_, light, dark), rest @ ..] = &ROLES;
        for (role, by_day, by_night) in rest {
            let least = match *role {
                "ink" | "soft" => 4.5,
                "grid" => 1.1,
                _ => 2.0,
            };
            assert!(least <= contrast(light, by_day), "{role} by day");
            assert!(least <= contrast(dark, by_night), "{role} by night");
        }
    }

    #[test]
    fn a_scale_of_colours_gets_lighter_all_the_way() {
        let colours: Vec<f64> =
            (0..=50).map(|i| luminance(&shade(f64::from(i) / 50.0).0)).collect();
        assert!(colours.is_sorted());
        assert_eq!(shade(1.0).0, "#fee838");
    }

    #[test]
    fn text_is_readable_on_every_shade() {
        for i in 0..=100 {
            let (colour, dark_text) = shade(f64::from(i) / 100.0);
            let text = if dark_text { "#000000" } else { "#ffffff" };
            assert!(4.5 <= contrast(&colour, text), "{colour} under {text}");
        }
    }

    #[test]
    fn sixty_four_series_differ_in_colour_or_shape() {
        let mut looks: Vec<_> = (0..LOOKS).map(|series| (colour(series), shape(series))).collect();
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), LOOKS);
    }

    #[test]
    fn a_name_keeps_its_look_whatever_comes_after_it() {
        let mut looks = SeriesStyles::default();
        looks.add(["ann", "bob"]);
        looks.add(["carl", "ann"]);
        let all = ["ann", "bob", "carl", "dora"].map(|name| looks.of(name));
        assert_eq!(all, [0, 1, 2, 3].map(SeriesLook));
    }

    #[test]
    fn only_the_hatches_that_are_used_are_defined() {
        let defined = Hatches { id: "a" }.define([0, 3, 3, 67]).into_string();
        assert_eq!(defined.matches("<pattern").count(), 1, "{defined}");
    }

    #[test]
    fn the_ninth_series_is_unlike_the_first() {
        let hatches = Hatches { id: "a" };
        assert_eq!(colour(8), colour(0));
        assert_ne!(stroke(8), stroke(0));
        assert_ne!(hatches.fill(8), hatches.fill(0));
        let defined = hatches.define(0..9).into_string();
        assert!(defined.contains("id=\"a-h8\"") && defined.contains("tint"), "{defined}");
    }
}
