//! Axes of names: groups side by side, with labels under the plot.

use maud::html;

use super::drawing::{ChartSheet, PlotArea};
use super::text::{Coordinate, LEADING, SIZE, fit, shorten, width, wrap};

/// The greatest length of a slanted label, in units of the drawing; longer labels are cut.
const LONGEST: f64 = 130.0;

/// Groups of marks side by side, of equal width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Groups {
    left: f64,
    /// The width of a group, including gaps.
    pub(super) slot: f64,
    series: usize,
}

impl Groups {
    /// Returns the places of `groups` groups of `series` series in the plot.
    pub(super) fn new(area: &PlotArea, groups: usize, series: usize) -> Self {
        let slot = area.width() / groups.max(1) as f64;
        Self { left: area.left, slot, series: series.max(1) }
    }

    /// Returns the x coordinate of the middle of a group.
    pub(super) fn middle(&self, group: usize) -> f64 {
        self.left + (group as f64 + 0.5) * self.slot
    }

    /// Returns the width of a mark.
    pub(super) fn mark(&self) -> f64 {
        // Chosen: a quarter of a group is a gap, and the bars of a chart with few groups are not
        // too wide.
        (self.slot * 0.76 / self.series as f64).min(48.0)
    }

    /// Returns the x coordinate of the left end of the mark of a series in a group.
    pub(super) fn left(&self, group: usize, series: usize) -> f64 {
        let whole = self.mark() * self.series as f64;
        self.middle(group) - whole / 2.0 + self.mark() * series as f64
    }
}

impl ChartSheet {
    /// Writes the names of the groups under the plot. The names are level, in one or two lines, if
    /// they fit; else they are slanted. If slanted names have too little room, only every second,
    /// third … name is written. The title of the axis stands below, unless it is empty.
    pub(super) fn names(
        &mut self,
        area: &PlotArea,
        groups: &Groups,
        names: &[String],
        title: &str,
    ) {
        let room = groups.slot - 8.0;
        let wrapped: Vec<Vec<String>> = names.iter().map(|name| wrap(name, room, 2)).collect();
        // Write all names level or all slanted: a mixture would be hard to read.
        if names.iter().zip(&wrapped).all(|(name, lines)| {
            name.split_whitespace().eq(lines.iter().flat_map(|line| line.split(' ')))
        }) {
            self.level(area, groups, &wrapped);
        } else {
            self.slanted(area, groups, names);
        }
        if title.is_empty() {
            return;
        }
        self.below += LEADING;
        let (x, title) = ((area.left + area.right) / 2.0, fit(title, area.width()));
        self.add(html! {
            text class="c-soft" text-anchor="middle" x=(Coordinate(x)) y=(Coordinate(self.below)) { (title) }
        });
        self.below += 4.0;
    }

    fn level(&mut self, area: &PlotArea, groups: &Groups, names: &[Vec<String>]) {
        let y = |line: usize| area.bottom + 4.0 + (line + 1) as f64 * LEADING;
        self.add(html! {
            @for (group, lines) in names.iter().enumerate() {
                @for (line, text) in lines.iter().enumerate() {
                    text text-anchor="middle" x=(Coordinate(groups.middle(group))) y=(Coordinate(y(line))) { (text) }
                }
            }
        });
        let lines = names.iter().map(Vec::len).max().unwrap_or(0);
        self.below = area.bottom + 8.0 + lines as f64 * LEADING;
    }

    fn slanted(&mut self, area: &PlotArea, groups: &Groups, names: &[String]) {
        const SINE: f64 = 0.643; // of 40°
        // Slanted lines of text need a distance of about their height.
        let every = ((SIZE + 5.0) / groups.slot).ceil().max(1.0) as usize;
        // A label near the left edge has less room.
        let fitted = names.iter().enumerate().step_by(every).map(|(group, name)| {
            (group, shorten(name, LONGEST.min((groups.middle(group) - 6.0) / 0.766)))
        });
        let labels: Vec<(usize, String)> = fitted.collect();
        let y = area.bottom + 14.0;
        self.add(html! {
            @for (group, label) in &labels {
                text text-anchor="end" transform={
                    "translate(" (Coordinate(groups.middle(*group) + 4.0)) " " (Coordinate(y)) ") rotate(-40)"
                } { (label) }
            }
        });
        let longest = labels.iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        self.below = y + longest * SINE + 10.0;
        if 1 < every {
            self.note(&format!("One name in {every} is written."));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::{Caption, WIDTH};
    use super::*;

    const AREA: PlotArea = PlotArea { left: 100.0, right: 700.0, top: 0.0, bottom: 300.0 };

    fn written(names: &[String], title: &str) -> String {
        let mut sheet = ChartSheet::new(&Caption::default(), WIDTH);
        let groups = Groups::new(&AREA, names.len(), 1);
        sheet.names(&AREA, &groups, names, title);
        sheet.finish().inline()
    }

    #[test]
    fn marks_of_a_group_stand_around_its_middle() {
        let groups = Groups::new(&AREA, 3, 2);
        assert_eq!(groups.middle(1), 400.0);
        assert_eq!(groups.left(1, 1), 400.0);
        assert_eq!(groups.left(1, 0), 400.0 - groups.mark());
    }

    #[test]
    fn short_names_are_level_and_long_ones_slanted() {
        let few = ["small".to_owned(), "large".to_owned()];
        assert!(!written(&few, "").contains("rotate"));
        let long: Vec<String> = (0..8).map(|i| format!("modified-fair-number-{i}")).collect();
        assert!(written(&long, "").contains("rotate"));
    }

    #[test]
    fn numbers_under_groups_say_what_they_are() {
        let sizes = ["1".to_owned(), "2–10".to_owned()];
        assert!(written(&sizes, "Maps of the job").contains(">Maps of the job</text>"));
        assert_eq!(written(&sizes, "").matches("<text").count(), 2);
    }

    #[test]
    fn where_names_would_touch_some_are_left_out() {
        let many: Vec<String> = (0..100).map(|i| format!("job-number-{i:03}")).collect();
        let svg = written(&many, "");
        assert!(svg.contains("job-number-000") && !svg.contains("job-number-001"));
        assert!(svg.contains("One name in 4 is written."));
    }
}
