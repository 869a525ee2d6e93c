//! Curves of any number of points, reduced to paths with few points.

use std::fmt::Write;

use super::text::Coordinate;

/// A point in a drawing: x and y.
pub(super) type Dot = (f64, f64);

/// The most points of a curve. Chosen: a plot is some 640 units wide, so more points cannot be
/// seen.
pub(super) const VERTICES: usize = 600;

/// Returns the SVG path through the points.
pub(super) fn path(places: &[Dot]) -> String {
    let mut out = String::with_capacity(places.len() * 12);
    for (x, y) in places {
        let command = if out.is_empty() { 'M' } else { 'L' };
        write!(out, "{command}{} {}", Coordinate(*x), Coordinate(*y))
            .expect("a string takes any text");
    }
    out
}

/// Returns the corners of a staircase that keeps each point's height until the next point.
pub(super) fn stairs(places: &[Dot]) -> Vec<Dot> {
    let mut out = Vec::with_capacity(places.len() * 2);
    for (x, y) in places {
        if let Some((_, before)) = out.last().copied() {
            out.push((*x, before));
        }
        out.push((*x, *y));
    }
    out
}

/// Returns a curve with at most `most` points that looks the same; a curve with so few points stays
/// unchanged. Points must be in the order of x.
///
/// In each half unit of x, only the first, last, highest and lowest points are candidates. The
/// function keeps the candidates that a straight line would miss by more than a quarter of a unit;
/// if it keeps too many, it raises this tolerance. The time is proportional to the number of
/// points.
pub(super) fn thin(places: &[Dot], most: usize) -> Vec<Dot> {
    if places.len() <= most {
        return places.to_vec();
    }
    let columns = columns(places);
    // A quarter of a unit is below a pixel at the usual size.
    let mut tolerance = 0.25;
    loop {
        let kept = simplify(&columns, tolerance);
        if kept.len() <= most.max(2) {
            return kept;
        }
        // The loop ends soon: with the plot's height as tolerance only the two ends remain.
        tolerance *= 1.5;
    }
}

fn columns(places: &[Dot]) -> Vec<Dot> {
    let mut out = Vec::new();
    for column in places.chunk_by(|a, b| (a.0 * 2.0).floor() == (b.0 * 2.0).floor()) {
        let heights = || column.iter().enumerate().map(|(i, place)| (place.1, i));
        let by_height = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0);
        let extremes = [heights().min_by(by_height), heights().max_by(by_height)];
        let mut kept = vec![0, column.len() - 1];
        kept.extend(extremes.into_iter().flatten().map(|(_, i)| i));
        kept.sort_unstable();
        kept.dedup();
        out.extend(kept.into_iter().map(|i| column[i]));
    }
    out
}

/// Simplifies a curve with the algorithm of Ramer, Douglas and Peucker, without recursion.
fn simplify(places: &[Dot], tolerance: f64) -> Vec<Dot> {
    let Some(last) = places.len().checked_sub(1) else { return Vec::new() };
    let mut keep = vec![false; places.len()];
    (keep[0], keep[last]) = (true, true);
    // Use a list: recursion could be as deep as the number of points.
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let farthest = (from + 1..to)
            .map(|i| (distance(places[i], places[from], places[to]), i))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((missed, i)) = farthest
            && tolerance < missed
        {
            keep[i] = true;
            open.extend([(from, i), (i, to)]);
        }
    }
    places.iter().zip(keep).filter_map(|(place, keep)| keep.then_some(*place)).collect()
}

/// Returns the distance of a point from the straight line through two other points.
fn distance((x, y): Dot, (x0, y0): Dot, (x1, y1): Dot) -> f64 {
    let (dx, dy) = (x1 - x0, y1 - y0);
    let length = dx.hypot(dy);
    // The two ends are the same point, as in a vertical line up and back.
    if length == 0.0 {
        return (x - x0).hypot(y - y0);
    }
    ((x - x0) * dy - (y - y0) * dx).abs() / length
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_staircase_keeps_its_height_until_the_next_step() {
        assert_eq!(stairs(&[(0.0, 1.0), (5.0, 2.0)]), [(0.0, 1.0), (5.0, 1.0), (5.0, 2.0)]);
    }

    #[test]
    fn a_straight_line_needs_two_vertices() {
        let line: Vec<Dot> = (0..1_000).map(|i| (f64::from(i) / 2.0, f64::from(i))).collect();
        assert_eq!(thin(&line, 600), [line[0], line[999]]);
        assert_eq!(thin(&line[..600], 600), line[..600]);
    }

    #[test]
    fn a_single_spike_survives() {
        let mut flat: Vec<Dot> = (0..100_000).map(|i| (f64::from(i) / 150.0, 0.0)).collect();
        flat[44_444].1 = 50.0;
        let spike = flat[44_444];
        assert!(thin(&flat, 600).contains(&spike));
    }

    #[test]
    fn a_path_is_written_with_one_decimal() {
        assert_eq!(path(&[(0.04, 1.0), (2.25, 3.0)]), "M0 1L2.3 3");
    }

    proptest! {
        #[test]
        fn a_thinned_curve_is_short_and_keeps_its_ends(
            heights in prop::collection::vec(0.0f64..300.0, 1..3_000),
        ) {
            let step = 600.0 / heights.len() as f64;
            let places: Vec<Dot> =
                heights.iter().enumerate().map(|(i, y)| (i as f64 * step, *y)).collect();
            let thinned = thin(&places, 100);
            prop_assert!(thinned.len() <= 100);
            prop_assert_eq!(thinned.first(), places.first());
            prop_assert_eq!(thinned.last(), places.last());
            prop_assert!(thinned.is_sorted_by(|a, b| a.0 <= b.0));
        }
    }
}
