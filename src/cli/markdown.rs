//! Markdown on a terminal, for the guide and the reference.
//!
//! Headings stand at the margin and all other blocks are indented, so that the structure shows
//! without colours. Text is wrapped; code is not.

use anstyle::{AnsiColor, Effects, Style};
use comfy_table::{ContentArrangement, Table, presets};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::lines::TerminalLines;

const CODE: Style = AnsiColor::Cyan.on_default();
/// The longest line: longer lines are hard to read, even on a wide terminal.
// Chosen; also the width if the terminal's is unknown.
const WIDEST: usize = 100;
/// The narrowest layout: below this, tables have no room.
const NARROWEST: usize = 40;
const MARGIN: &str = "  ";

/// Returns Markdown laid out for a terminal of this many columns.
pub(super) fn shown(markdown: &str, columns: Option<u16>) -> TerminalLines {
    let width = columns.map_or(WIDEST, usize::from).clamp(NARROWEST, WIDEST);
    let mut page = TerminalPage { width, ..TerminalPage::default() };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.lines
}

/// The page written so far, and the block in progress.
#[derive(Default)]
struct TerminalPage {
    width: usize,
    lines: TerminalLines,
    /// Whether the last block was a list item: items stand close together, other blocks apart.
    ends_in_point: bool,
    /// The lists around the block, each with the number of its next item if it is a numbered list.
    lists: Vec<Option<u64>>,
    /// The marks of the items around the block, such as `- `; empty after the item's first line.
    marks: Vec<ListMark>,
    text: StyledText,
    /// The target of the link around the text.
    link: Option<LinkTarget>,
    rows: Vec<Vec<String>>,
    is_code: bool,
}

/// A link's target, by the way in which it is shown.
enum LinkTarget {
    /// The link's text is the address itself.
    Told,
    /// The link's text is shown, and the target after it.
    Behind(String, Style),
    /// The target is a chapter: the command that shows the chapter stands instead of the link's
    /// text.
    Instead(String),
}

/// The mark before a list item.
struct ListMark {
    text: String,
    is_written: bool,
}

/// Words, in lines that end at hard breaks.
#[derive(Default)]
struct StyledText {
    style: Style,
    lines: Vec<Vec<StyledWord>>,
    /// Whether the next letter begins a word.
    is_apart: bool,
}

/// A word: letters with their styles, and their width in columns.
#[derive(Default)]
struct StyledWord {
    parts: Vec<(Style, String)>,
    width: usize,
}

impl TerminalPage {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Text(text) if self.is_code => self.code(&text),
            Event::Text(_) | Event::Code(_)
                // The chapter's command stands instead of the link's text.
                if matches!(self.link, Some(LinkTarget::Instead(_))) => {}
            Event::Text(text) => self.text.add(&text, self.text.style),
            // Keep the backticks: without colours only they distinguish code from text.
            Event::Code(code) => {
                let style = CODE.effects(self.text.style.get_effects());
                self.text.add(&format!("`{code}`"), style);
            }
            Event::InlineHtml(text) => self.text.add(&text, self.text.style),
            // A line break in the source is a space between two words.
            Event::SoftBreak => self.text.is_apart = true,
            Event::HardBreak => self.text.lines.push(Vec::new()),
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::List(first) => {
                self.paragraph();
                self.lists.push(first);
            }
            Tag::Item => {
                let number = self.lists.last_mut().and_then(Option::as_mut);
                let text = number.map_or("- ".to_owned(), |number| {
                    *number += 1;
                    format!("{}. ", *number - 1)
                });
                self.marks.push(ListMark { text, is_written: false });
            }
            Tag::CodeBlock(_) => {
                self.paragraph();
                self.gap();
                self.is_code = true;
            }
            Tag::Strong => self.text.style = self.text.style.bold(),
            Tag::Emphasis => self.text.style = self.text.style.italic(),
            Tag::Link { link_type, dest_url, .. } => {
                self.link = Some(LinkTarget::of(link_type, &dest_url));
            }
            Tag::Table(_) => self.rows.clear(),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.gap();
                let heading = self.text.take_plain().replace('`', "");
                self.lines.bold(heading, "");
                self.ends_in_point = false;
            }
            TagEnd::Paragraph => self.paragraph(),
            TagEnd::Item => {
                self.paragraph();
                self.marks.pop();
            }
            TagEnd::List(_) => drop(self.lists.pop()),
            TagEnd::CodeBlock => {
                self.is_code = false;
                self.ends_in_point = false;
            }
            TagEnd::Strong | TagEnd::Emphasis => {
                let effect = if tag == TagEnd::Strong { Effects::BOLD } else { Effects::ITALIC };
                self.text.style = self.text.style.effects(self.text.style.get_effects() - effect);
            }
            TagEnd::Link => match self.link.take() {
                None | Some(LinkTarget::Told) => {}
                Some(LinkTarget::Instead(command)) => self.text.add(&command, CODE),
                Some(LinkTarget::Behind(target, style)) => {
                    self.text.add(" (", self.text.style);
                    self.text.add(&target, style);
                    self.text.add(")", self.text.style);
                }
            },
            TagEnd::TableCell => {
                let cell = self.text.take_plain();
                self.rows.last_mut().expect("cells are in rows").push(cell);
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Adds an empty line, unless the last line is empty.
    fn gap(&mut self) {
        let text = self.lines.as_str();
        if !text.is_empty() && !text.ends_with("\n\n") {
            self.lines.end();
        }
    }

    /// Returns the indentation of a block within list items, in columns.
    fn indent(&self) -> usize {
        MARGIN.len() + self.marks.iter().map(|mark| mark.text.len()).sum::<usize>()
    }

    fn code(&mut self, code: &str) {
        for line in code.lines() {
            self.lines.part(Style::new(), " ".repeat(self.indent() + MARGIN.len()));
            self.lines.part(CODE, line);
            self.lines.end();
        }
    }

    /// Adds the text read so far, if any, as a paragraph or a list item, indented under its mark.
    fn paragraph(&mut self) {
        let text = std::mem::take(&mut self.text.lines);
        if text.is_empty() {
            return;
        }
        let indent = self.indent();
        let mark = self.marks.last_mut().filter(|mark| !mark.is_written);
        let mut start = " ".repeat(indent);
        if let Some(mark) = &mark {
            start.replace_range(indent - mark.text.len().., &mark.text);
        }
        let is_point = mark.map(|mark| mark.is_written = true).is_some();
        if !(is_point && self.ends_in_point) {
            self.gap();
        }
        self.ends_in_point = is_point;
        for line in text {
            let mut used = 0;
            for word in line {
                if used == 0 {
                    self.lines.part(Style::new(), &start);
                    used = indent;
                } else if self.width < used + 1 + word.width {
                    self.lines.end();
                    self.lines.part(Style::new(), " ".repeat(indent));
                    used = indent;
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
            start = " ".repeat(indent);
        }
    }

    fn table(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        // Markdown requires a heading row: leave it out if all its cells are empty.
        if rows[0].iter().all(String::is_empty) {
            rows.remove(0);
        }
        self.gap();
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
            // The table is too wide, so its cells are wrapped: separate the rows by empty ones.
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
        self.ends_in_point = false;
    }
}

impl StyledText {
    fn add(&mut self, text: &str, style: Style) {
        for (place, part) in text.split(' ').enumerate() {
            self.is_apart |= 0 < place;
            if part.is_empty() {
                continue;
            }
            if self.lines.is_empty() {
                self.lines.push(Vec::new());
            }
            let line = self.lines.last_mut().expect("there is a line");
            // If there is no space before this text, it continues the last word, as a full stop
            // does.
            if std::mem::take(&mut self.is_apart) || line.is_empty() {
                line.push(StyledWord::default());
            }
            line.last_mut().expect("there is a word").add(part, style);
        }
    }

    /// Takes the text without its styles, for cells and headings.
    fn take_plain(&mut self) -> String {
        self.is_apart = false;
        let words = std::mem::take(&mut self.lines).into_iter().flatten();
        let word = |word: StyledWord| word.parts.into_iter().map(|(_, letters)| letters).collect();
        words.map(word).collect::<Vec<String>>().join(" ")
    }
}

impl LinkTarget {
    fn of(link_type: LinkType, address: &str) -> Self {
        // A link to `policies.md` leads to a chapter; a link to `https://…/x.md` does not.
        let chapter = address.strip_suffix(".md").filter(|chapter| !chapter.contains(':'));
        let command = chapter.map(|chapter| match chapter {
            "reference" => "`mumakil show reference`".to_owned(),
            _ => format!("`mumakil help {chapter}`"),
        });
        match (link_type, command) {
            (LinkType::Autolink | LinkType::Email, _) => Self::Told,
            (LinkType::Shortcut, Some(command)) => Self::Instead(command),
            (_, Some(command)) => Self::Behind(command, CODE),
            (_, None) => Self::Behind(address.to_owned(), Style::new()),
        }
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

    /// Returns Markdown laid out on 44 columns, without colours.
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
        let text = "See the [guide to *them*][policies] or [nothing].\n\n[policies]: policies.md\n";
        assert_eq!(
            bare(text),
            "  See the guide to them (`mumakil help\n  policies`) or [nothing].\n"
        );
    }

    #[test]
    fn colours_are_marks_beside_others() {
        let text = shown("# A\n\nuse `b`\n", None);
        assert!(text.as_str().contains("\u{1b}[1mA"), "{text:?}");
        assert!(text.as_str().contains("\u{1b}[36m`b`\u{1b}[0m"), "{text:?}");
    }
}
