//! Expressions in words, for titles: `mean(sojourn, class=small)` is `Mean sojourn time, class
//! small`.
//!
//! Words are less exact than the expression, so pages also show the expression.

use super::Expr;
use mumakil_base::expression::{Choice, ExprSetting, Operation, Operator, Syntax, SyntaxNode};

/// The words for quantities whose names are not words: lines such as `sojourn: sojourn time`.
const NOUNS: &str = include_str!("nouns.txt");

impl Expr {
    /// Returns the expression in words, beginning with a capital; `None` if it is better shown as
    /// it is written, such as a comparison.
    pub fn words(&self) -> Option<String> {
        of(&self.0).map(|words| capital(&words))
    }
}

/// Returns the text with its first letter as a capital.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + chars.as_str()
}

/// Returns an expression in words, or as it is written if it has no words.
pub fn in_words(text: &str) -> String {
    Expr::parse(text).ok().and_then(|expr| expr.words()).unwrap_or_else(|| text.to_owned())
}

fn of(node: &SyntaxNode) -> Option<String> {
    match &node.item {
        Syntax::Name { name, filters } => Some(noun(name) + &chosen(filters)?),
        Syntax::Call { name, arguments, settings } => {
            // Functions of several numbers are better shown as they are written.
            let [argument] = &arguments[..] else { return None };
            Some(format!("{} {}{}", how(&name.item)?, of(argument)?, chosen(settings)?))
        }
        Syntax::Operation(Operation::Binary(operator), parts) => {
            let sign = match operator {
                Operator::Plus => "+",
                Operator::Minus => "−",
                Operator::Times => "×",
                Operator::Over => "/",
                _ => return None,
            };
            let [left, right] = &parts[..] else { return None };
            // Words have no parentheses, so neither operand may be an operation itself.
            Some(format!("{} {sign} {}", part(left)?, part(right)?))
        }
        _ => None,
    }
}

fn part(node: &SyntaxNode) -> Option<String> {
    match &node.item {
        Syntax::Literal(literal) => Some(literal.text.clone()),
        Syntax::Operation(Operation::Binary(_), _) => None,
        _ => of(node),
    }
}

fn nouns() -> impl Iterator<Item = (&'static str, &'static str)> {
    NOUNS.lines().filter_map(|line| line.split_once(": "))
}

fn noun(name: &str) -> String {
    nouns()
        .find(|(other, _)| *other == name)
        .map_or_else(|| name.replace(['_', '.'], " "), |(_, noun)| noun.to_owned())
}

/// Returns the words for a function; `None` if it has none.
fn how(name: &str) -> Option<String> {
    let words = match name {
        "mean" => "mean",
        "median" => "median",
        "min" => "smallest",
        "max" => "largest",
        "sum" => "sum of",
        "count" => "number of",
        "sd" => "standard deviation of",
        "jain" => "Jain's index of",
        _ => {
            let percent = name.strip_prefix('p').filter(|rest| rest.parse::<f64>().is_ok())?;
            return Some(format!("{percent}{} percentile of", ordinal(percent)));
        }
    };
    Some(words.to_owned())
}

fn ordinal(number: &str) -> &'static str {
    match (number.chars().next_back(), number) {
        (_, "11" | "12" | "13") => "th",
        (Some('1'), _) => "st",
        (Some('2'), _) => "nd",
        (Some('3'), _) => "rd",
        _ => "th",
    }
}

/// Returns the words for settings; `None` if a setting does more than choose a value.
fn chosen(settings: &[ExprSetting]) -> Option<String> {
    let words = settings.iter().map(|setting| match &setting.value.item {
        Choice::Word(word) if setting.key.item != "seeds" => {
            Some(format!(", {} {word}", setting.key.item.replace(['_', '.'], " ")))
        }
        choice @ (Choice::Number(_) | Choice::Range(..)) => {
            Some(format!(", {} {choice}", setting.key.item.replace(['_', '.'], " ")))
        }
        Choice::List(items) if setting.key.item != "by" => {
            let items: Vec<String> = items.iter().map(ToString::to_string).collect();
            Some(format!(", {} {}", setting.key.item, items.join(", ")))
        }
        _ => None,
    });
    words.collect::<Option<Vec<_>>>().map(|words| words.concat())
}

#[cfg(test)]
mod tests {
    use super::super::quantities;
    use super::*;

    #[test]
    fn metrics_are_said_in_words() {
        for (text, words) in [
            ("mean(sojourn)", "Mean sojourn time"),
            ("mean(sojourn, class=small)", "Mean sojourn time, class small"),
            ("p99(heartbeat_rtt)", "99th percentile of round trip of a heartbeat"),
            ("sojourn[class=[bin-1, bin-2]]", "Sojourn time, class bin-1, bin-2"),
            ("1 - goodput", "1 − share of slot time of use"),
            ("makespan", "Makespan"),
            ("jobs_failed", "Jobs that failed"),
        ] {
            assert_eq!(in_words(text), words, "{text}");
        }
    }

    #[test]
    fn text_without_plain_words_stays_as_it_is_written() {
        for text in
            ["mean(sojourn) < 15min", "2 * (makespan - 3s)", "rising(makespan, by=nodes)", "a b"]
        {
            assert_eq!(in_words(text), text);
        }
    }

    #[test]
    fn every_noun_is_of_a_quantity() {
        let names: Vec<&str> = quantities().map(|(name, ..)| name).collect();
        for (name, _) in nouns() {
            assert!(names.contains(&name), "{name}");
        }
        // A noun must consist of words, without the `_` and `.` of names.
        for name in names {
            assert!(!noun(name).contains(['_', '.']), "{name}");
        }
    }
}
