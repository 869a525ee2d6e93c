//! Published values beside measured values: their marks are hollow, while the marks of measured
//! values are filled.
//!
//! On lines, a published value is a ring: if both values agree, the marker of the line is inside
//! the ring. On bars, it is a hollow diamond at the published height. No line joins published
//! values, since no values between them were published.

use maud::{Markup, html};

use super::curve::Dot;
use super::legend::LegendKey;
use super::palette::{colour, marker};
use super::text::{Coordinate, tip};

/// The place of a published value, and its text when a reader points at it.
pub(super) struct PublishedMark {
    pub(super) place: Dot,
    pub(super) label: String,
}

pub(super) fn ring_key() -> LegendKey {
    let sign = html! { g class="c-ink" { (ring(0, 14.0, 0.0)) } };
    LegendKey::sign("published", sign)
}

pub(super) fn diamond_key() -> LegendKey {
    LegendKey::sign("published", diamond((14.0, 0.0)))
}

/// Draws the published values of a line, in its colour and with the shape of its markers.
pub(super) fn rings(series: usize, marks: &[PublishedMark]) -> Markup {
    if marks.is_empty() {
        return Markup::default();
    }
    html! {
        g class=(colour(series)) {
            @for PublishedMark { place: (x, y), label } in marks {
                g { (tip(label)) (ring(series, *x, *y)) }
            }
        }
    }
}

/// Draws the published values of bars.
pub(super) fn diamonds(marks: &[PublishedMark]) -> Markup {
    html! { @for mark in marks { g { (tip(&mark.label)) (diamond(mark.place)) } } }
}

fn ring(series: usize, x: f64, y: f64) -> Markup {
    html! {
        g class="ring" transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ") scale(1.7)" } {
            (marker(series, 0.0, 0.0))
        }
    }
}

/// Returns a diamond: a stroke with a halo, visible on bars of any colour.
fn diamond((x, y): Dot) -> Markup {
    const SHAPE: &str = "M0-6.5L6.5 0L0 6.5L-6.5 0Z";
    html! {
        g transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ")" } {
            path class="hollow" d=(SHAPE) {}
            path class="rule c-ink" d=(SHAPE) {}
        }
    }
}
