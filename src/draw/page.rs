//! A report: a single HTML file.
//!
//! ```text
//! HtmlPage   title, subtitle, version
//!   Section  "Slots"
//!     Charts, beside one another     Drawing, Drawing
//!     Table                          columns, rows of cells
//!   Section  "How to repeat it"
//!     Code                           mumakil run scenario.yaml
//! ```
//!
//! All reports look alike and work on a phone and on paper, in light and dark mode, by mouse and by
//! keyboard. Styles and script are in the file, and the file's security policy forbids network
//! access. Without the script all content is still there. The script sorts tables, shortens long
//! tables, shows values under the pointer, copies commands, and switches between light and dark
//! mode.
//!
//! Every text is escaped, except in [drawings](Drawing), which are already escaped markup. Every
//! page includes the style sheet of drawings.

mod markup;
mod unbroken;

use serde::{Deserialize, Serialize};

use crate::chart::{Drawing, SeriesLook};
use mumakil_base::worded;

/// A report.
#[derive(Clone, Debug, Default)]
pub struct HtmlPage {
    /// The title.
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// Some sentences with what matters most.
    pub gist: Vec<String>,
    /// The content in order.
    pub sections: Vec<Section>,
    /// The version of Mumakil that made the results, for the last line.
    pub version: String,
}

/// A part of a report with a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// The content in order.
    pub blocks: Vec<PageBlock>,
}

/// A block of content.
#[derive(Clone, Debug)]
pub enum PageBlock {
    /// Headline numbers, as cards.
    Headlines(Vec<Headline>),
    /// A paragraph.
    Text(String),
    /// Warnings to know before trusting the results.
    Warnings(Vec<String>),
    /// Sentences, one below the other.
    Sentences(Vec<String>),
    /// Expectations with their verdicts.
    Verdicts(Vec<JudgedExpectation>),
    /// Charts, side by side if there is room.
    Charts(Vec<Drawing>),
    /// A key of colours and their meanings.
    Key(Vec<(SeriesLook, String)>),
    /// A table.
    Table(PageTable),
    /// Text to be copied, such as a command.
    Code(String),
    /// Links to files beside the page: words and file.
    Links(Vec<(&'static str, String)>),
}

/// A headline number.
#[derive(Clone, Debug, Default)]
pub struct Headline {
    /// The name of the number.
    pub label: String,
    /// The number with its unit.
    pub value: String,
    /// A note in small letters.
    pub note: String,
}

/// An expectation with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedExpectation {
    /// The verdict.
    pub judgement: Judgement,
    /// The class of a known gap; `None` if it has no class.
    pub class: Option<&'static str>,
    /// The expectation: words if there are any, else its expression.
    pub expectation: String,
    /// The expression that is judged, if `expectation` is in words.
    pub expression: Option<String>,
    /// The value that the source published.
    pub published: Option<String>,
    /// The measured value.
    pub measured: Option<String>,
    /// The published numbers, each with the measured number.
    pub figures: Vec<PublishedComparison>,
    /// A reason or explanation.
    pub note: Option<String>,
}

/// A published and a measured number, as texts.
#[derive(Clone, Debug, Default)]
pub struct PublishedComparison {
    /// The name of the number; empty if the expectation has only one number.
    pub what: String,
    /// The published value.
    pub published: String,
    /// The measured value.
    pub ours: String,
    /// The difference between the two values.
    pub difference: String,
}

worded! {
    /// The verdict on an expectation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Judgement {
        /// It holds.
        Holds = "holds",
        /// It does not hold.
        Fails = "fails",
        /// It does not hold; this gap is known and explained.
        KnownGap = "known gap",
        /// The seeds are too few to tell.
        Undecided = "undecided",
        /// It states no bound: the number is only reported.
        Reported = "reported",
        /// It was not judged.
        Skipped = "skipped",
    }
}

/// A table that readers can sort.
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    /// The caption.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<PageColumn>,
    /// Its rows: a cell for each column.
    pub rows: Vec<Vec<PageCell>>,
}

impl PageTable {
    /// Returns a table.
    pub fn new(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = PageColumn>,
        rows: impl IntoIterator<Item = Vec<PageCell>>,
    ) -> Self {
        let (columns, rows) = (columns.into_iter().collect(), rows.into_iter().collect());
        Self { caption: caption.into(), columns, rows }
    }

    /// Returns the table without the columns that have nothing in any row, such as the intervals of
    /// a single seed.
    pub fn without_empty_columns(self) -> Self {
        let Self { caption, columns, rows } = self;
        let is_used: Vec<bool> = (0..columns.len())
            .map(|place| rows.is_empty() || rows.iter().any(|row| !row[place].shown.is_empty()))
            .collect();
        let rows = rows.into_iter().map(|row| used(row, &is_used)).collect();
        Self { caption, columns: used(columns, &is_used), rows }
    }
}

fn used<T>(all: Vec<T>, is_used: &[bool]) -> Vec<T> {
    all.into_iter().zip(is_used).filter_map(|(one, is_used)| is_used.then_some(one)).collect()
}

/// A column of a table.
#[derive(Clone, Debug, Default)]
pub struct PageColumn {
    /// The heading.
    pub title: String,
    /// A line in small letters beneath the heading, such as the expression that the heading puts
    /// into words.
    pub beneath: String,
    /// Whether its cells are numbers. Numbers are aligned to the right and sorted by size.
    pub is_number: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageCell {
    /// The text.
    pub shown: String,
    /// The number by which rows are sorted; `None` sorts by the text. In a column of numbers, rows
    /// without a number come last.
    pub value: Option<f64>,
    /// The parts of a bar that is shown instead of the text. A click on the bar shows the lines of
    /// the text.
    pub slices: Vec<Slice>,
}

/// A part of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// Its colour.
    pub look: SeriesLook,
    /// Its share of the bar, from 0 to 1.
    pub share: f64,
    /// The name of the part.
    pub name: String,
}

impl PageColumn {
    /// Returns a column of texts.
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Returns a column of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), is_number: true, ..Self::default() }
    }

    /// Returns the column with an expression beneath the heading, unless the heading is that
    /// expression.
    pub fn over(self, expression: &str) -> Self {
        let beneath = if self.title == expression { "" } else { expression };
        Self { beneath: beneath.to_owned(), ..self }
    }
}

impl PageCell {
    /// Returns a cell with a text.
    pub fn text(shown: impl Into<String>) -> Self {
        Self { shown: shown.into(), ..Self::default() }
    }

    /// Returns a cell with a bar; a click on the bar shows these lines.
    pub fn split(slices: Vec<Slice>, lines: Vec<String>) -> Self {
        Self { slices, ..Self::text(lines.join("\n")) }
    }

    /// Returns a cell with a number and its text.
    pub fn number(value: f64, shown: impl Into<String>) -> Self {
        Self { value: Some(value), ..Self::text(shown) }
    }

    /// Returns a cell with a number; for `None`, a cell that says that the value is unknown.
    pub fn maybe<S: Into<String>>(value: Option<f64>, show: impl FnOnce(f64) -> S) -> Self {
        value.map_or_else(Self::unknown, |value| Self::number(value, show(value)))
    }

    /// Returns a cell with a dash, for an unknown value.
    pub fn unknown() -> Self {
        Self::text("–")
    }
}

impl Judgement {
    /// Returns the sign that stands before the verdict's word.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Fails => "✗",
            Self::KnownGap => "≈",
            Self::Undecided => "?",
            Self::Reported => "•",
            Self::Skipped => "–",
        }
    }
}

impl Section {
    /// Returns a section of these blocks.
    pub fn new(title: impl Into<String>, blocks: Vec<PageBlock>) -> Self {
        Self { title: title.into(), blocks }
    }
}

impl HtmlPage {
    /// Returns the content of the HTML file.
    pub fn html(&self) -> String {
        markup::page(self).into_string()
    }
}
