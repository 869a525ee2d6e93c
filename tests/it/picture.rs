//! The README's pictures are cut out of real reports and studies.
//!
//! Only a browser could draw the page itself, so the first picture repeats the head of the page: the
//! title, the numbers, and the chart of the slots as drawn in the report. The others are charts
//! alone.

use std::fmt::Write as _;
use std::fs;

use crate::guide::compare;
use crate::{Room, root};

const HEAD: &str = "scenarios/quickstart.svg";
const ATTEMPTS: &str = "scenarios/gallery/a-node-dies.svg";
const STUDY: &str = "scenarios/gallery/how-many-nodes.svg";
const WIDTH: u32 = 720;
/// The number of tiles with numbers in a row.
const IN_A_ROW: usize = 5;
const MARGIN: u32 = 12;
const GAP: u32 = 8;
const TILE_HEIGHT: u32 = 74;

#[test]
fn the_picture_of_a_report_is_the_head_of_it() {
    compare(HEAD, &head(&report("quickstart")));
}

#[test]
fn the_picture_of_a_fault_shows_the_attempts() {
    let scenario = root().join(ATTEMPTS).with_extension("yaml");
    let report = report(scenario.to_str().unwrap());
    let (height, drawn) = chart(&report, "attempts");
    compare(ATTEMPTS, &svg(part(&report, "<h1>", "</h1>"), height, drawn));
}

#[test]
fn the_picture_of_a_study_is_the_first_chart_of_the_one_in_the_readme() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let room = Room::new();
    room.write("study.yaml", part(&readme, "several seeds, on all cores:\n\n```yaml\n", "```"));
    room.mumakil("study study.yaml --quiet --out study").assert().success();
    compare(STUDY, &fs::read_to_string(room.path("study/charts/01.svg")).unwrap());
}

fn report(scenario: &str) -> String {
    let room = Room::new();
    room.mumakil("run --quiet --out run").arg(scenario).assert().success();
    fs::read_to_string(room.path("run/report.html")).unwrap()
}

/// Returns the text between two marks, and the text after the second mark.
fn cut<'t>(text: &'t str, from: &str, to: &str) -> Option<(&'t str, &'t str)> {
    text.split_once(from)?.1.split_once(to)
}

fn part<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    cut(text, from, to).unwrap_or_else(|| panic!("the report lacks {from}…{to}")).0
}

/// Returns the height and the content of a chart of a report.
fn chart<'t>(report: &'t str, id: &str) -> (u32, &'t str) {
    // A chart over time has another `svg` inside.
    let chart = part(report, &format!("id=\"{id}\""), "</svg></div>");
    let (head, drawn) = chart.split_once('>').unwrap();
    (part(head, "height=\"", "\"").parse().unwrap(), drawn)
}

fn head(report: &str) -> String {
    let (title, subtitle) =
        (part(report, "<h1>", "</h1>"), part(report, "<p class=\"subtitle\">", "</p>"));
    let mut tiles = Vec::new();
    let mut rest = part(report, "<dl class=\"numbers\">", "</dl>");
    while let Some((tile, behind)) = cut(rest, "<div>", "</div>") {
        tiles.push(tile);
        rest = behind;
    }
    let (height, drawn) = chart(report, "slots-map");

    let mut body = String::new();
    let _ = writeln!(
        body,
        r#"<text style="font-size:26px;font-weight:600" x="12" y="36">{title}</text>"#
    );
    let _ = writeln!(body, r#"<text class="c-soft" x="12" y="60">{subtitle}</text>"#);
    let (mut top, in_a_row) = (76, u32::try_from(IN_A_ROW).unwrap());
    let width = (WIDTH - 2 * MARGIN + GAP) / in_a_row - GAP;
    for row in tiles.chunks(IN_A_ROW) {
        let mut left = MARGIN;
        for tile in row {
            let name = part(tile, "<dt>", "</dt>");
            let value = part(tile, "<dd class=\"value\">", "</dd>");
            // A tile of this width has room for only one part of a note.
            let note = cut(tile, "<dd class=\"note\">", "</dd>").map_or("", |(note, _)| note);
            let note = note.split(',').next().unwrap_or_default();
            let _ = writeln!(
                body,
                r#"<g transform="translate({left} {top})"><rect class="c-grid tint" width="{width}" height="{TILE_HEIGHT}" rx="6"></rect><text class="c-soft small" x="9" y="19">{name}</text><text class="name" x="9" y="43">{value}</text><text class="c-soft small" x="9" y="63">{note}</text></g>"#
            );
            left += width + GAP;
        }
        top += TILE_HEIGHT + GAP;
    }
    let _ = write!(body, r#"<g transform="translate(0 {top})">{drawn}</g>"#);
    svg(title, top + height, &body)
}

/// Returns a picture of what a report shows.
fn svg(title: &str, height: u32, body: &str) -> String {
    let style = mumakil::chart::style();
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" class="mk" role="img" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"><title>The report of {title}</title><style>{style}
.mk .small{{font-size:12px}}</style><rect class="c-paper area" width="{WIDTH}" height="{height}"></rect><g class="c-ink">
{body}</g></svg>
"#
    )
}
