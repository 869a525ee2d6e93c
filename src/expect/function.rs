//! Functions of plain numbers, by their name and the names of their parameters.
//!
//! Another closed form is another line of the table.

/// A function of plain numbers.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) parameters: &'static [&'static str],
    /// Computes it, or says for which numbers it cannot.
    pub(super) compute: fn(&[f64]) -> Result<f64, String>,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function { name: "exp", parameters: &["x"], compute: |x| Ok(x[0].exp()) },
    Function { name: "ln", parameters: &["x"], compute: logarithm },
];

fn logarithm(x: &[f64]) -> Result<f64, String> {
    if 0.0 < x[0] { Ok(x[0].ln()) } else { Err(format!("there is no logarithm of {}", x[0])) }
}
