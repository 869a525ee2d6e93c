//! Complaints about an expression, each with its place.

use std::fmt;
use std::ops::Range;

use mumakil_base::nearest::nearest;

/// Why an expression cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprComplaint {
    /// The bytes of the expression's text that are wrong.
    pub span: Range<usize>,
    /// The complaint.
    pub message: String,
    /// A better expression, or how to write one.
    pub hint: Option<String>,
}

impl ExprComplaint {
    pub(super) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Adds the known name nearest to a wrong one, or else all known names if they are few.
    pub(super) fn nearest<'n>(
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

    /// Adds all that is known, if that is little.
    pub(super) fn one_of<'n>(self, known: impl IntoIterator<Item = &'n str>) -> Self {
        let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
        // Chosen: a dozen names still fit a line or two; more would hide the complaint.
        if (1..=12).contains(&known.len()) {
            return self.hint(format!("there are {}", known.join(", ")));
        }
        self
    }

    /// Returns the column, from 1, in letters.
    pub fn column(&self, text: &str) -> usize {
        // Letters, not bytes: editors and terminals count them so.
        1 + text.get(..self.span.start).unwrap_or(text).chars().count()
    }
}

impl fmt::Display for ExprComplaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}
