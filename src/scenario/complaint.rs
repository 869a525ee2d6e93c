//! Turns complaints about an expression into mistakes of the file that contains it.

use mumakil_results::expect::{ExprComplaint, Misfit};
use mumakil_yaml::{Path, YamlProblem};

/// Returns the mistake for an expression that is wrong in some column of its text.
pub fn unusable(at: Path, complaint: &ExprComplaint, text: &str) -> YamlProblem {
    let (column, message) = (complaint.column(text), &complaint.message);
    let message = match text.trim() {
        "" => format!("there is no expression: {message}"),
        _ => format!("column {column} of `{text}`: {message}"),
    };
    let problem = YamlProblem::part(at, message, text, complaint.span.clone());
    let count = |mark| text.matches(mark).count();
    match &complaint.hint {
        // YAML reads `[p95(sojourn, class=small)]` as a list of two texts, neither of which is a
        // whole expression.
        _ if count('(') != count(')') && !text.contains(',') => {
            problem.hint("a comma splits a list: put an entry that has one in quotes")
        }
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

/// Returns the mistake for a published number that cannot be compared with the expression's value.
pub fn misplaced(at: Path, misfit: Misfit) -> YamlProblem {
    let at = match misfit.place {
        Some(place) => at.index(place),
        None => at,
    };
    YamlProblem::value(at, misfit.message).hint(misfit.hint)
}
