//! The markup of a page.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::unbroken::unbroken;
use super::{
    Headline, HtmlPage, JudgedExpectation, Judgement, PageBlock, PageCell, PageTable,
    PublishedComparison, Section,
};
use crate::chart::{Drawing, SeriesLook, style};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A cell with more bytes than this may break into lines. Chosen: a name or a sum is shorter and
/// stays on one line.
const LONG: usize = 32;

pub(super) fn page(page: &HtmlPage) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style())) }
            }
            body {
                header {
                    h1 { (page.title) }
                    @if !page.subtitle.is_empty() { p.subtitle { (page.subtitle) } }
                    @for sentence in &page.gist { p.gist { (prose(sentence)) } }
                    @if 2 < page.sections.len() { (contents(&page.sections)) }
                }
                main {
                    @for (place, one) in page.sections.iter().enumerate() {
                        (section(place, one))
                    }
                }
                footer { "Made by Mumakil " (page.version) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Returns the content security policy of the file: it allows only the file's own styles, and the
/// script with this hash.
fn policy() -> String {
    let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'"
    )
}

fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Contents" {
            @for (place, section) in sections.iter().enumerate() {
                a href=(format!("#section-{}", place + 1)) { (section.title) }
            }
        }
    }
}

fn section(place: usize, section: &Section) -> Markup {
    html! {
        section id=(format!("section-{}", place + 1)) {
            @if !section.title.is_empty() { h2 { (section.title) } }
            @for content in &section.blocks { (block(content)) }
        }
    }
}

fn block(block: &PageBlock) -> Markup {
    match block {
        PageBlock::Headlines(numbers) => {
            html! { dl.numbers { @for one in numbers { (headline(one)) } } }
        }
        PageBlock::Text(text) => html! { p { (prose(text)) } },
        PageBlock::Warnings(warnings) => html! {
            div role="note" aria-label="Warnings" {
                ul.warnings {
                    @for warning in warnings { li { strong { "Warning: " } (prose(warning)) } }
                }
            }
        },
        PageBlock::Sentences(sentences) => html! {
            ul.sentences { @for one in sentences { li { (prose(one)) } } }
        },
        PageBlock::Verdicts(verdicts) => {
            html! { ul.verdicts { @for one in verdicts { (verdict(one)) } } }
        }
        PageBlock::Charts(charts) => html! { div.charts { @for one in charts { (chart(one)) } } },
        PageBlock::Key(key) => html! {
            ul.key {
                @for (look, name) in key { li { span.mk { (sample(*look)) } " " (name) } }
            }
        },
        PageBlock::Table(content) => table(content),
        PageBlock::Code(text) => html! { div.code { pre tabindex="0" { code { (text) } } } },
        PageBlock::Links(links) => html! {
            p { @for (words, file) in links { a href=(file) { (words) } " " } }
        },
    }
}

fn headline(headline: &Headline) -> Markup {
    html! {
        div {
            dt { (headline.label) }
            dd.value { (unbroken(&headline.value)) }
            @if !headline.note.is_empty() { dd.note { (unbroken(&headline.note)) } }
        }
    }
}

fn verdict(verdict: &JudgedExpectation) -> Markup {
    let fact = |word: &str, value: &Option<String>| {
        // An expectation with an empty text hides what its experiment published as a whole.
        let value = value.as_ref().filter(|value| !value.is_empty());
        html! {
            @if let Some(value) = value { span.fact { span.label { (word) } " " (unbroken(value)) } " " }
        }
    };
    html! {
        li class=(class(verdict.judgement)) {
            span.sign aria-hidden="true" { (verdict.judgement.sign()) }
            " "
            strong.word {
                (verdict.judgement.word())
                @if let Some(class) = verdict.class { " (" (class) ")" }
            }
            " "
            span.what { (verdict.expectation) }
            " "
            @if let Some(expression) = &verdict.expression { code.that { (expression) } " " }
            @if verdict.published.is_some() || verdict.measured.is_some() {
                span.facts {
                    @match &verdict.figures[..] {
                        [] => { (fact("published", &verdict.published)) }
                        [one] if one.what.is_empty() => {
                            (fact("published", &Some(one.published.clone())))
                            (fact("ours", &Some(one.ours.clone())))
                            (fact("difference", &Some(one.difference.clone())))
                        }
                        _ => {}
                    }
                    (fact("measured", &verdict.measured))
                }
            }
            @if verdict.figures.iter().any(|figure| !figure.what.is_empty()) {
                (beside(&verdict.figures))
            }
            @if let Some(note) = &verdict.note { span.note { (prose(note)) } }
        }
    }
}

/// Returns published and measured numbers as a small table, so that a reader can compare them in
/// columns.
fn beside(figures: &[PublishedComparison]) -> Markup {
    html! {
        table.beside {
            thead { tr { th {} th { "published" } th { "ours" } th { "difference" } } }
            tbody {
                @for PublishedComparison { what, published, ours, difference } in figures {
                    tr {
                        th { (what) }
                        @for text in [published, ours, difference] { td { (unbroken(text)) } }
                    }
                }
            }
        }
    }
}

const fn class(judgement: Judgement) -> &'static str {
    match judgement {
        Judgement::Holds => "holds",
        Judgement::Fails => "fails",
        Judgement::KnownGap => "known-gap",
        Judgement::Undecided => "undecided",
        Judgement::Reported => "reported",
        Judgement::Skipped => "skipped",
    }
}

fn chart(drawing: &Drawing) -> Markup {
    html! {
        figure class=[drawing.is_wide().then_some("wide")] {
            div.canvas tabindex="0" { (PreEscaped(drawing.inline())) }
            @if let Some(narrow) = drawing.narrow() {
                div.narrow { (PreEscaped(narrow.inline())) }
            }
            @if !drawing.look_for().is_empty() { figcaption { "Look for " (drawing.look_for()) "." } }
        }
    }
}

fn table(table: &PageTable) -> Markup {
    let kind = |place: usize| table.columns.get(place).filter(|column| column.is_number);
    html! {
        div.table {
            div.scroll tabindex="0" role="region" aria-label=(table.caption) {
                table {
                    caption { (table.caption) }
                    thead {
                        tr {
                            @for column in &table.columns {
                                th scope="col" class=[column.is_number.then_some("n")] {
                                    (column.title)
                                    @if !column.beneath.is_empty() {
                                        code.beneath { (column.beneath) }
                                    }
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &table.rows {
                            tr {
                                @for (place, cell) in row.iter().enumerate() {
                                    (self::cell(cell, kind(place).is_some()))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Returns a small square in the colour of a look.
fn sample(look: SeriesLook) -> Markup {
    html! { i class=(format!("c-{}", look.0)) {} }
}

/// Returns a bar of parts; a click on it shows lines of text.
fn split(cell: &PageCell) -> Markup {
    let width = |share: f64| format!("width:{:.2}%", share * 100.0);
    let names: Vec<&str> = cell.slices.iter().map(|slice| slice.name.as_str()).collect();
    html! {
        td {
            details {
                summary aria-label=(names.join(", ")) {
                    span.mk.split {
                        @for slice in &cell.slices {
                            i class=(format!("c-{}", slice.look.0)) style=(width(slice.share))
                                title=(slice.name) {}
                        }
                    }
                }
                ul { @for line in cell.shown.lines() { li { (unbroken(line)) } } }
            }
        }
    }
}

fn cell(cell: &PageCell, is_number: bool) -> Markup {
    if !cell.slices.is_empty() {
        return split(cell);
    }
    // Numbers never break, so that their digits are aligned.
    let is_long = LONG < cell.shown.len();
    let class = if is_number { Some("n") } else { is_long.then_some("long") };
    // Only long texts break at all.
    let shown = if class == Some("long") { unbroken(&cell.shown) } else { cell.shown.clone() };
    html! { td class=[class] data-value=[cell.value] { (shown) } }
}

/// Marks up text between backticks as code.
fn prose(text: &str) -> Markup {
    // If the number of backticks is odd, as with a backtick in a user's name, no text is code.
    let is_even = text.matches('`').count().is_multiple_of(2);
    html! {
        @if is_even {
            @for (place, piece) in text.split('`').enumerate() {
                @if place % 2 == 0 { (unbroken(piece)) } @else { code { (piece) } }
            }
        } @else { (unbroken(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HtmlPage, PageColumn};
    use super::*;

    const NASTY: &str = "</script><b>\"&'";

    fn html(block: PageBlock) -> String {
        super::block(&block).into_string()
    }

    #[test]
    fn every_text_is_escaped() {
        let nasty = || NASTY.to_owned();
        let verdict = JudgedExpectation {
            judgement: Judgement::Holds,
            class: None,
            expectation: nasty(),
            expression: Some(nasty()),
            published: Some(nasty()),
            measured: Some(nasty()),
            figures: vec![PublishedComparison {
                what: nasty(),
                published: nasty(),
                ours: nasty(),
                difference: nasty(),
            }],
            note: Some(nasty()),
        };
        let table = PageTable {
            caption: nasty(),
            columns: vec![PageColumn::text(NASTY)],
            rows: vec![vec![PageCell::text(NASTY)]],
        };
        let blocks = vec![
            PageBlock::Headlines(vec![Headline { label: nasty(), value: nasty(), note: nasty() }]),
            PageBlock::Text(nasty()),
            PageBlock::Warnings(vec![nasty()]),
            PageBlock::Sentences(vec![nasty()]),
            PageBlock::Verdicts(vec![verdict]),
            PageBlock::Table(table),
            PageBlock::Code(nasty()),
        ];
        let sections = vec![Section { title: nasty(), blocks }; 3];
        let (title, gist) = (nasty(), vec![nasty()]);
        let page = HtmlPage { title, subtitle: nasty(), gist, sections, version: nasty() };
        let html = page.html();
        assert!(!html.contains("<b>") && !html.contains("\"&'"), "{html}");
        assert_eq!(html.matches("</script>").count(), 1);
    }

    #[test]
    fn the_policy_allows_the_one_script() {
        let html = HtmlPage::default().html();
        let script = html.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
        let hash = BASE64_STANDARD.encode(Sha256::digest(script));
        assert!(
            html.contains(&format!("script-src &#39;sha256-{hash}&#39;"))
                || html.contains(&format!("script-src 'sha256-{hash}'"))
        );
        assert!(!html.contains("http://") && !html.contains("https://"));
    }

    #[test]
    fn a_cell_sorts_by_its_value_and_shows_its_text() {
        let columns = vec![PageColumn::number("Sojourn")];
        let rows = vec![vec![PageCell::number(61.5, "1 min 02 s")], vec![PageCell::unknown()]];
        let table = html(PageBlock::Table(PageTable { caption: "Jobs".to_owned(), columns, rows }));
        assert!(table.contains(r#"<td class="n" data-value="61.5">1 min 02 s</td>"#), "{table}");
        assert!(table.contains(r#"<td class="n">–</td>"#), "{table}");
    }

    #[test]
    fn a_column_in_which_every_cell_is_empty_can_be_left_out() {
        let table = |intervals: [&str; 2]| {
            let columns = ["mean", "95 % interval", "which is"].map(PageColumn::text).into();
            let row = |interval: &str| ["1", interval, "less"].map(PageCell::text).into();
            PageTable { caption: String::new(), columns, rows: intervals.map(row).into() }
        };
        let columns = |table: PageTable| {
            let table = table.without_empty_columns();
            assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
            table.columns.len()
        };
        assert_eq!(columns(table(["", ""])), 2);
        assert_eq!(columns(table(["", "0 to 2"])), 3);
        assert_eq!(columns(PageTable { rows: Vec::new(), ..table(["", ""]) }), 3);
    }

    #[test]
    fn a_verdict_has_a_sign_and_a_word() {
        let verdict = JudgedExpectation {
            judgement: Judgement::KnownGap,
            class: Some("setting"),
            expectation: "enough is local".to_owned(),
            expression: Some("locality.node >= 0.98".to_owned()),
            published: Some("98 %".to_owned()),
            measured: None,
            figures: Vec::new(),
            note: None,
        };
        let verdict = html(PageBlock::Verdicts(vec![verdict]));
        assert!(verdict.contains("≈") && verdict.contains("known gap (setting)"), "{verdict}");
        assert!(
            verdict.contains(r#"<code class="that">locality.node &gt;= 0.98</code>"#),
            "{verdict}"
        );
        assert!(verdict.contains("98\u{a0}%") && !verdict.contains("measured"), "{verdict}");
    }

    #[test]
    fn text_between_backticks_is_code() {
        assert_eq!(prose("see `a<b`.").into_string(), "see <code>a&lt;b</code>.");
        assert_eq!(prose("a lone ` stays").into_string(), "a lone ` stays");
    }
}
