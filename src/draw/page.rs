//! A report: one HTML file that needs nothing else.
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
//! All reports look alike: on a phone and on paper, in light and in dark, by mouse and by keyboard.
//! Styles and script are in the file, and its own security policy forbids it the network. All
//! content is there without the script, which sorts tables, shortens long ones, shows values under
//! the pointer, copies commands and switches between light and dark.
//!
//! Every text is escaped. [Drawings](Drawing) are the exception: they are markup already, and have
//! been escaped where they were drawn. Their style is in every page.

mod markup;

use serde::{Deserialize, Serialize};

use crate::chart::{Drawing, SeriesLook};

/// A report.
#[derive(Clone, Debug, Default)]
pub struct HtmlPage {
    /// The title.
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    /// Its content.
    pub sections: Vec<Section>,
    /// The version of Mumakil whose results it shows, for the line at the end.
    pub version: String,
}

/// A part of a report with a heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Its content.
    pub blocks: Vec<PageBlock>,
}

/// A piece of content.
#[derive(Clone, Debug)]
pub enum PageBlock {
    /// Numbers that come first, as cards.
    Headlines(Vec<Headline>),
    /// A paragraph.
    Text(String),
    /// Doubts that a reader should know before trusting the results.
    Warnings(Vec<String>),
    /// Sentences, one below the other.
    Sentences(Vec<String>),
    /// Expectations and what became of them.
    Verdicts(Vec<JudgedExpectation>),
    /// Charts, beside one another where there is room.
    Charts(Vec<Drawing>),
    /// The meaning of colours.
    Key(Vec<(SeriesLook, String)>),
    /// A table.
    Table(PageTable),
    /// Text to be copied, such as a command.
    Code(String),
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

/// An expectation and what became of it.
#[derive(Clone, Debug)]
pub struct JudgedExpectation {
    /// The judgement of it.
    pub judgement: Judgement,
    /// Of which class a known gap is, if that is said.
    pub class: Option<&'static str>,
    /// The expectation.
    pub expectation: String,
    /// The expression that it stands for, if it is in words.
    pub expression: Option<String>,
    /// The value that the source published.
    pub published: Option<String>,
    /// The value that was measured here.
    pub measured: Option<String>,
    /// The published numbers, each beside ours.
    pub figures: Vec<PublishedComparison>,
    /// Why, or what it means.
    pub note: Option<String>,
}

/// A published number beside ours, in words.
#[derive(Clone, Debug, Default)]
pub struct PublishedComparison {
    /// Which of several it is; empty if there is one only.
    pub what: String,
    /// The published value.
    pub published: String,
    /// The measured value.
    pub ours: String,
    /// How they differ.
    pub difference: String,
}

/// The judgement of an expectation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// It is so.
    Holds,
    /// It is not so.
    Fails,
    /// It is not so, and known and explained.
    KnownGap,
    /// The number is reported, nothing is expected of it.
    Reported,
    /// It was not looked at.
    Skipped,
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

/// A column of a table.
#[derive(Clone, Debug, Default)]
pub struct PageColumn {
    /// The heading.
    pub title: String,
    /// The unit of its numbers.
    pub unit: Option<&'static str>,
    /// Small letters beneath the heading, such as the expression that it puts in words.
    pub beneath: String,
    /// Whether its cells are numbers, which stand to the right and sort by size.
    pub is_number: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageCell {
    /// The text.
    pub shown: String,
    /// The number by which rows are sorted, if not by the text. Without a number in a column of numbers a row comes
    /// last.
    pub value: Option<f64>,
    /// A bar of parts, shown instead of the text. It opens to the text, line by line.
    pub slices: Vec<Slice>,
}

/// A part of a bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// How it looks.
    pub look: SeriesLook,
    /// Which part of the bar it is, from 0 to 1.
    pub share: f64,
    /// The name of the part.
    pub name: String,
}

impl PageColumn {
    /// Returns a column of texts.
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Returns a column of numbers in a unit.
    pub fn number(title: impl Into<String>, unit: Option<&'static str>) -> Self {
        Self { title: title.into(), unit, is_number: true, ..Self::default() }
    }

    /// Returns it with an expression beneath the heading, unless the heading is just that.
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

    /// Returns a cell with a bar, which opens to these lines.
    pub fn split(slices: Vec<Slice>, lines: Vec<String>) -> Self {
        Self { slices, ..Self::text(lines.join("\n")) }
    }

    /// Returns a cell with a number, as it is to be shown.
    pub fn number(value: f64, shown: impl Into<String>) -> Self {
        Self { value: Some(value), ..Self::text(shown) }
    }

    /// Returns a cell with a number if there is one.
    pub fn maybe<S: Into<String>>(value: Option<f64>, show: impl FnOnce(f64) -> S) -> Self {
        value.map_or_else(Self::unknown, |value| Self::number(value, show(value)))
    }

    /// Returns a cell of what is not known.
    pub fn unknown() -> Self {
        Self::text("–")
    }
}

impl Judgement {
    /// Returns the sign that stands before the word.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Holds => "✓",
            Self::Fails => "✗",
            Self::KnownGap => "≈",
            Self::Reported => "•",
            Self::Skipped => "–",
        }
    }

    /// Returns the word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::KnownGap => "known gap",
            Self::Reported => "reported",
            Self::Skipped => "skipped",
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
    /// Returns the file.
    pub fn html(&self) -> String {
        markup::page(self).into_string()
    }
}
