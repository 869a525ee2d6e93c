//! Legends: rows of signs and names above the plot.

use maud::{Markup, html};

use super::palette::{Hatches, colour, marker, stroke};
use super::text::{Coordinate, LEADING, shorten, width};

/// A sign and its name.
#[derive(Clone, Debug)]
pub(super) struct LegendKey {
    name: String,
    sign: Markup,
}

/// The width and height of a sign. The origin of a sign is in the middle of its left side.
const SIGN: (f64, f64) = (28.0, 14.0);

/// The greatest length of a name, in units of the drawing; longer names are cut.
// Chosen: two of the longest names still fit a row.
const LONGEST: f64 = 220.0;

/// The most rows of a legend. Chosen: more would distract from the data.
const ROWS: usize = 4;

impl LegendKey {
    /// Returns the key of a line: in the style of its series, or with another class.
    pub(super) fn line(name: &str, series: usize, other: Option<&str>) -> Self {
        let class = other.map_or(stroke(series).to_owned(), |other| format!("line {other}"));
        let sign = html! {
            g class=(colour(series)) {
                path class=(class) d="M0 0H28" {}
                @if other.is_none() { g class="mark" { (marker(series, 14.0, 0.0)) } }
            }
        };
        Self::sign(name, sign)
    }

    /// Returns the key of single marks.
    pub(super) fn mark(name: &str, series: usize) -> Self {
        let sign = html! {
            g class={ (colour(series)) " mark" } { (marker(series, 14.0, 0.0)) }
        };
        Self::sign(name, sign)
    }

    /// Returns the key of an area with the hatch of its series.
    pub(super) fn area(name: &str, series: usize, hatches: Hatches<'_>) -> Self {
        let fill = hatches.fill(series);
        let class = format!("{} edge", colour(series));
        Self::sign(
            name,
            html! {
                rect class=(class) y="-7" width=(SIGN.0) height=(SIGN.1) fill=(fill) {}
            },
        )
    }

    /// Returns a key with any other sign.
    pub(super) fn sign(name: &str, sign: Markup) -> Self {
        Self { name: name.to_owned(), sign }
    }
}

/// Draws the keys in rows from `left` and `top`; returns the markup and its height.
///
/// Keys without a name are left out. If there are too many keys, the legend ends with the
/// number of keys left out.
pub(super) fn draw(keys: &[LegendKey], left: f64, top: f64, room: f64) -> (Markup, f64) {
    // A single series has no name: the chart's title explains it.
    let keys: Vec<&LegendKey> = keys.iter().filter(|key| !key.name.is_empty()).collect();
    if keys.is_empty() {
        return (Markup::default(), 0.0);
    }
    let names: Vec<String> = keys.iter().map(|key| shorten(&key.name, LONGEST)).collect();
    let (places, end) = places(&names, room);
    let left_out = names.len() - places.len();
    let y = |row: usize| top + 6.0 + (row as f64 + 0.5) * (LEADING + 3.0);
    let rows = places.last().map_or(0, |(_, row)| row + 1);
    let markup = html! {
        @for ((key, name), (x, row)) in keys.into_iter().zip(&names).zip(&places) {
            g transform={ "translate(" (Coordinate(left + x)) " " (Coordinate(y(*row))) ")" } {
                (key.sign)
                text x=(Coordinate(SIGN.0 + 6.0)) y="5" { (name) }
            }
        }
        @if 0 < left_out {
            text class="c-soft" x=(Coordinate(left + end)) y=(Coordinate(y(rows - 1) + 5.0)) {
                "and " (left_out) " more"
            }
        }
    };
    (markup, rows as f64 * (LEADING + 3.0) + 10.0)
}

/// Returns the x coordinate and the row of each name for which there is room, and the end of the
/// last row.
fn places(names: &[String], room: f64) -> (Vec<(f64, usize)>, f64) {
    let step = |name: &String| SIGN.0 + 6.0 + width(name) + 18.0;
    let (mut x, mut row) = (0.0, 0);
    let mut places = Vec::new();
    for name in names {
        // The first name of a row stays there even if it is too wide, since no row has more room.
        if 0.0 < x && room < x + step(name) - 18.0 {
            if row + 1 == ROWS {
                break;
            }
            (x, row) = (0.0, row + 1);
        }
        // Keep the end of the last row free for the number of names without a place.
        let more = places.len() + 1 < names.len();
        if row + 1 == ROWS && more && room - 150.0 < x + step(name) {
            break;
        }
        places.push((x, row));
        x += step(name);
    }
    (places, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fill_rows_and_the_last_row_keeps_room_for_their_number() {
        let names: Vec<String> = (0..100).map(|i| format!("policy-{i}")).collect();
        let (all, _) = places(&names[..8], 696.0);
        assert_eq!(all.iter().map(|place| place.1).max(), Some(1));
        let (some, end) = places(&names, 696.0);
        assert!(some.len() < 100 && end <= 546.0, "{} {end}", some.len());
        assert_eq!(some.last().map(|place| place.1), Some(ROWS - 1));
    }

    #[test]
    fn series_without_names_need_no_legend() {
        let (_, height) = draw(&[LegendKey::line("", 0, None)], 0.0, 0.0, 696.0);
        assert_eq!(height, 0.0);
    }
}
