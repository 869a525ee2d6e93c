//! Markdown as a terminal shows it: what the guide and the reference are written in, and no more.
//!
//! Headings stand at the margin and all else is indented, so that the form can be seen without
//! colours, too. Text is wrapped; code is not.

use anstyle::{AnsiColor, Effects, Style};
use comfy_table::{ContentArrangement, Table, presets};

use super::lines::TerminalLines;

const CODE: Style = AnsiColor::Cyan.on_default();
/// Long lines are hard to read, however wide the terminal is.
const WIDEST: usize = 100;
/// With less there is no room for a table.
const NARROWEST: usize = 40;
const MARGIN: &str = "  ";

/// Returns a text of Markdown as it is shown on so many columns.
pub(super) fn shown(markdown: &str, columns: Option<u16>) -> TerminalLines {
    let width = columns.map_or(WIDEST, usize::from).clamp(NARROWEST, WIDEST);
    let links = markdown.lines().filter_map(definition).collect();
    let mut page = TerminalPage { width, links, lines: TerminalLines::default() };
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare.starts_with("```") {
            page.gap();
            while let Some(code) = lines.next_if(|line| !line.trim_start().starts_with("```")) {
                let code = code.get(indent..).unwrap_or_default();
                page.lines.part(Style::new(), format!("{MARGIN}{:indent$}  ", ""));
                page.lines.part(CODE, code);
                page.lines.end();
            }
            lines.next();
        } else if let Some(heading) = bare.strip_prefix('#') {
            page.gap();
            let heading = heading.trim_start_matches('#').trim().replace('`', "");
            page.lines.bold(heading, "");
        } else if bare.starts_with('|') {
            let mut rows = vec![cells(bare)];
            while let Some(row) = lines.next_if(|line| line.trim_start().starts_with('|')) {
                rows.push(cells(row));
            }
            page.gap();
            page.table(rows);
        } else if !bare.is_empty() && !bare.starts_with("<!--") && definition(line).is_none() {
            let mark = mark(bare);
            let mut text = bare.to_owned();
            while let Some(more) = lines.next_if(|line| continues(line)) {
                let is_broken = text.ends_with('\\');
                text.truncate(text.len() - usize::from(is_broken));
                text.push(if is_broken { '\n' } else { ' ' });
                text.push_str(more.trim());
            }
            // Points stand close together, paragraphs apart.
            if !(0 < mark && page.ends_in_point()) {
                page.gap();
            }
            page.paragraph(indent, mark, &text);
        }
    }
    page.lines
}

/// Says whether a line goes on with the paragraph or point of the line before it.
fn continues(line: &str) -> bool {
    let bare = line.trim_start();
    let begins_another = ["```", "#", "|", "<!--"].iter().any(|start| bare.starts_with(start));
    !bare.is_empty() && !begins_another && mark(bare) == 0
}

/// Returns how long the mark is that makes a line a point of a list: `- `, `1. `.
fn mark(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    match &line[digits..] {
        rest if rest.starts_with(". ") && 0 < digits => digits + 2,
        rest if rest.starts_with("- ") && digits == 0 => 2,
        _ => 0,
    }
}

/// Returns the name and the target of `[name]: target`.
fn definition(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix('[')?.split_once("]: ")
}

/// Returns the cells of a table's row.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').replace("\\|", "\0");
    let row = row.strip_suffix('|').unwrap_or(&row);
    row.split('|').map(|cell| plain(&cell.replace('\0', "|"))).collect()
}

/// Returns a style with an effect if it was without, and the other way round.
fn toggled(style: Style, effect: Effects) -> Style {
    let effects = style.get_effects();
    style.effects(effects.set(effect, !effects.contains(effect)))
}

/// Returns a text without the marks of links and weight, for cells, which have no colours.
fn plain(text: &str) -> String {
    text.trim().replace("**", "")
}

struct TerminalPage<'a> {
    width: usize,
    links: Vec<(&'a str, &'a str)>,
    lines: TerminalLines,
}

/// What cannot be broken: letters with their colours, and how many columns they take.
#[derive(Default)]
struct StyledWord {
    parts: Vec<(Style, String)>,
    width: usize,
}

impl TerminalPage<'_> {
    /// Adds an empty line, if there is none.
    fn gap(&mut self) {
        let text = self.lines.as_str();
        if !text.is_empty() && !text.ends_with("\n\n") {
            self.lines.end();
        }
    }

    fn ends_in_point(&self) -> bool {
        let text = self.lines.as_str();
        let last = text.trim_end_matches('\n').rsplit("\n\n").next();
        !text.ends_with("\n\n") && last.is_some_and(|last| 0 < mark(last.trim_start()))
    }

    fn table(&mut self, mut rows: Vec<Vec<String>>) {
        // The line below the heading says how columns are aligned; a heading may be empty.
        rows.remove(1);
        if rows[0].iter().all(String::is_empty) {
            rows.remove(0);
        }
        let mut table = Table::new();
        *table.style_mut() = presets::NOTHING;
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(self.width - MARGIN.len()).unwrap_or(u16::MAX));
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let natural: usize = (0..columns).map(|column| widest(column).unwrap_or(0) + 2).sum();
        for row in rows {
            table.add_row(row);
            // Rows of several lines would run into each other.
            if self.width < natural {
                table.add_row([""]);
            }
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        for line in table.trim_fmt().lines() {
            self.lines.line(format!("{MARGIN}{line}").trim_end());
        }
    }

    /// Adds a paragraph, or a point whose lines hang behind its mark.
    fn paragraph(&mut self, indent: usize, mark: usize, text: &str) {
        let first = format!("{MARGIN}{:indent$}", "");
        let hanging = format!("{first}{:mark$}", "");
        let mut start = &first;
        for line in text.split('\n') {
            let mut used = 0;
            for word in self.words(line) {
                if used == 0 {
                    self.lines.part(Style::new(), start);
                    used = start.len();
                } else if self.width < used + 1 + word.width {
                    self.lines.end();
                    self.lines.part(Style::new(), &hanging);
                    used = hanging.len();
                } else {
                    self.lines.part(Style::new(), " ");
                    used += 1;
                }
                for (style, letters) in &word.parts {
                    self.lines.part(*style, letters);
                }
                used += word.width;
            }
            self.lines.end();
            start = &hanging;
        }
    }

    /// Splits a text into words, with the colours that its marks ask for. Code keeps its marks:
    /// without colours nothing else would tell it from text.
    fn words(&self, text: &str) -> Vec<StyledWord> {
        let (mut words, mut word, mut style) = (Vec::new(), StyledWord::default(), Style::new());
        let mut is_code = false;
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let mut taken = letter.len_utf8();
            if letter == ' ' {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| 0 < word.width));
            } else if letter == '`' {
                is_code = !is_code;
                word.add("`", CODE);
            } else if is_code {
                let bold = style.get_effects();
                word.add(&rest[..taken], CODE.effects(bold));
            } else if rest.starts_with("**") {
                taken = 2;
                style = toggled(style, Effects::BOLD);
            } else if letter == '*' {
                style = toggled(style, Effects::ITALIC);
            } else if let Some((shown, marked)) = self.link(rest) {
                taken = marked;
                for (place, part) in shown.split(' ').enumerate() {
                    if 0 < place {
                        words.push(std::mem::take(&mut word));
                    }
                    word.add(part, if shown.starts_with('`') { CODE } else { style });
                }
            } else {
                word.add(&rest[..taken], style);
            }
            rest = &rest[taken..];
        }
        words.extend(Some(word).filter(|word| 0 < word.width));
        words
    }

    /// Returns what stands for the link that a text begins with, and how long that is: a chapter is
    /// shown by the command that shows it.
    fn link(&self, text: &str) -> Option<(String, usize)> {
        if let Some((address, _)) = text.strip_prefix('<').and_then(|text| text.split_once('>')) {
            return address.starts_with("http").then(|| (address.to_owned(), address.len() + 2));
        }
        let (name, behind) = text.strip_prefix('[')?.split_once(']')?;
        let length = name.len() + 2;
        if let Some((target, _)) = behind.strip_prefix('(').and_then(|text| text.split_once(')')) {
            return Some((format!("{name} ({target})"), length + target.len() + 2));
        }
        let (_, target) = self.links.iter().find(|(other, _)| *other == name)?;
        let shown = match target.strip_suffix(".md") {
            Some("reference") => "`mumakil show reference`".to_owned(),
            Some(chapter) => format!("`mumakil help {chapter}`"),
            None => format!("{name} ({target})"),
        };
        Some((shown, length))
    }
}

impl StyledWord {
    fn add(&mut self, letters: &str, style: Style) {
        match self.parts.last_mut() {
            Some((last, before)) if *last == style => before.push_str(letters),
            _ => self.parts.push((style, letters.to_owned())),
        }
        self.width += letters.chars().count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text as it is shown on 44 columns without colours.
    fn bare(markdown: &str) -> String {
        shown(markdown, Some(44)).bare()
    }

    #[test]
    fn text_is_wrapped_below_its_heading() {
        let text = "# Time\n\nGoes from event to event; nothing waits, and\nnobody *looks* at a **wall clock**.\n";
        assert_eq!(
            bare(text),
            "Time\n\n  Goes from event to event; nothing waits,\n  and nobody looks at a wall clock.\n"
        );
    }

    #[test]
    fn points_hang_and_stand_together() {
        let text = "- **Axes** are fields of the scenario by their paths.\n- `seeds: 5`\\\n  five of them\n\nEnd.\n\n1. one\n2. two\n";
        assert_eq!(
            bare(text),
            "  - Axes are fields of the scenario by their\n    paths.\n  - `seeds: 5`\n    five of them\n\n  End.\n\n  1. one\n  2. two\n"
        );
    }

    #[test]
    fn code_stays_as_it_is() {
        let text = "Thus:\n```yaml\nworkload: fb2009\n  # and a line that is longer than the terminal is wide\n```\nAnd so on.\n";
        assert_eq!(
            bare(text),
            "  Thus:\n\n    workload: fb2009\n      # and a line that is longer than the terminal is wide\n\n  And so on.\n"
        );
    }

    #[test]
    fn tables_are_aligned() {
        let text = "| code | means |\n|---|---|\n| 0 | done |\n| 130 | stopped \\| killed |\n";
        assert_eq!(bare(text), "  code  means\n  0     done\n  130   stopped | killed\n");
    }

    #[test]
    fn a_link_to_a_chapter_is_the_command_that_shows_it() {
        let text = "See [policies] and [Rust](https://rust-lang.org), not `[a]`.\n\n[policies]: policies.md\n";
        assert_eq!(
            bare(text),
            "  See `mumakil help policies` and Rust\n  (https://rust-lang.org), not `[a]`.\n"
        );
    }

    #[test]
    fn colours_are_marks_beside_others() {
        let text = shown("# A\n\nuse `b`\n", None);
        assert!(text.as_str().contains("\u{1b}[1mA"), "{text:?}");
        assert!(text.as_str().contains("\u{1b}[36m`b`\u{1b}[0m"), "{text:?}");
    }
}
