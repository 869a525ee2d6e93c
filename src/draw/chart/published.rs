//! Published values beside measured ones: hollow marks, as no measured mark is.
//!
//! On lines a ring around the place where the marker of the line would be: where both agree, the
//! marker stands inside the ring. On bars a hollow diamond at the height that was published. No
//! line joins them, since nothing was published between two published values.

use maud::{Markup, html};

use super::curve::Dot;
use super::legend::LegendKey;
use super::palette::{colour, marker};
use super::text::{Coordinate, tip};

/// Where a published value stands, and what it says when it is pointed at.
pub(super) struct PublishedMark {
    pub(super) place: Dot,
    pub(super) told: String,
}

/// Returns the key of rings, where there are any.
pub(super) fn ring_key() -> LegendKey {
    let sign = html! { g class="c-ink" { (ring(0, 14.0, 0.0)) } };
    LegendKey::sign("published", sign)
}

/// Returns the key of diamonds, where there are any.
pub(super) fn diamond_key() -> LegendKey {
    LegendKey::sign("published", diamond((14.0, 0.0)))
}

/// Draws what was published of a line, in the colour and with the shape of its markers.
pub(super) fn rings(series: usize, marks: &[PublishedMark]) -> Markup {
    if marks.is_empty() {
        return Markup::default();
    }
    html! {
        g class=(colour(series)) {
            @for PublishedMark { place: (x, y), told } in marks {
                g { (tip(told)) (ring(series, *x, *y)) }
            }
        }
    }
}

/// Draws what was published of bars.
pub(super) fn diamonds(marks: &[PublishedMark]) -> Markup {
    html! { @for mark in marks { g { (tip(&mark.told)) (diamond(mark.place)) } } }
}

fn ring(series: usize, x: f64, y: f64) -> Markup {
    html! {
        g class="ring" transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ") scale(1.7)" } {
            (marker(series, 0.0, 0.0))
        }
    }
}

/// A stroke on a halo, for it stands on bars of any colour.
fn diamond((x, y): Dot) -> Markup {
    const SHAPE: &str = "M0-6.5L6.5 0L0 6.5L-6.5 0Z";
    html! {
        g transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ")" } {
            path class="hollow" d=(SHAPE) {}
            path class="rule c-ink" d=(SHAPE) {}
        }
    }
}
