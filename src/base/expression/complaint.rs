//! Complaints about an expression, with their places in the text.

use std::fmt;
use std::ops::Range;

use crate::nearest::nearest;

/// The reason why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprComplaint {
    /// The wrong part of the expression's text, as a range of bytes.
    pub span: Range<usize>,
    /// The complaint, in words.
    pub message: String,
    /// A better expression, or how to write one.
    pub hint: Option<String>,
}

impl ExprComplaint {
    /// Returns a complaint about a place.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    /// Adds a hint.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds a hint: the known name that is most like `name`. If no name is like it, adds all known
    /// names, if they are few.
    pub fn nearest<'n>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'n str, IntoIter: Clone>,
    ) -> Self {
        let known = known.into_iter();
        match nearest(name, known.clone()) {
            Some(near) => self.hint(format!("did you mean `{near}`?")),
            None => self.one_of(known),
        }
    }

    /// Adds a hint with all known names, if they are few.
    pub fn one_of<'n>(self, known: impl IntoIterator<Item = &'n str>) -> Self {
        let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
        match known.len() {
            1 => self.hint(format!("there is only {}", known[0])),
            // Chosen: a dozen names still fit a line or two; more would hide the complaint.
            2..=12 => self.hint(format!("there are {}", known.join(", "))),
            _ => self,
        }
    }

    /// Returns the column in characters, counted from 1.
    pub fn column(&self, text: &str) -> usize {
        // Count characters, not bytes, as editors and terminals do.
        1 + text.get(..self.span.start).unwrap_or(text).chars().count()
    }
}

impl fmt::Display for ExprComplaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}
