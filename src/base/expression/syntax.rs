//! The syntax tree of an expression, and how it is printed.
//!
//! The tree is not checked: names may be unknown, and times may be compared with bytes. A printed
//! tree parses to an equal tree; places in the text do not count for equality.

use std::fmt;
use std::ops::Range;

use super::operation::{Operation, Operator};
use super::unit::Unit;

/// An item and its place in the text, as a range of bytes.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The place.
    pub span: Range<usize>,
    /// The item.
    pub item: T,
}

impl<T: PartialEq> PartialEq for Spanned<T> {
    fn eq(&self, other: &Self) -> bool {
        // Ignore the place, so that a printed tree parses to an equal tree.
        self.item == other.item
    }
}

/// A part of an expression, with its place.
pub type SyntaxNode = Spanned<Syntax>;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Syntax {
    /// A number.
    Literal(Literal),
    /// A quantity with its filters, or an axis.
    Name {
        /// Its name.
        name: String,
        /// Its filters, in brackets.
        filters: Vec<ExprSetting>,
    },
    /// A call of a function.
    Call {
        /// The function's name.
        name: Spanned<String>,
        /// The arguments without names.
        arguments: Vec<SyntaxNode>,
        /// The arguments with names.
        settings: Vec<ExprSetting>,
    },
    /// An operation on these parts, in their order.
    Operation(Operation, Vec<SyntaxNode>),
}

/// A number with its unit, as it was written.
#[derive(Clone, Debug)]
pub struct Literal {
    /// Its value in seconds, in bytes, or without a unit.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
    /// Whether it ends in `%`. Such a number after `within` is relative to the other side.
    pub percent: bool,
    /// The number as it was written.
    pub text: String,
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        // Ignore the text: `90s` and `1min 30s` are the same number.
        (self.value, self.unit, self.percent) == (other.value, other.unit, other.percent)
    }
}

/// `key=value` in brackets or in a call.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprSetting {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Spanned<Choice>,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// A word, such as `hfsp`.
    Word(String),
    /// A number.
    Number(Literal),
    /// `1..25`, of which either end may be missing.
    Range(Option<Literal>, Option<Literal>),
    /// `[small, medium]`
    List(Vec<Spanned<Self>>),
    /// The values of `by`, such as `maps[1..25, 26..100]`.
    Through(String, Vec<Spanned<Self>>),
    /// An expression.
    Computed(Box<SyntaxNode>),
}

/// The precedence of syntax without an operation: above all of `Operation::strength`.
const ATOM: u8 = 9;

impl Syntax {
    /// Returns the precedence of the syntax: a higher precedence binds more strongly.
    const fn strength(&self) -> u8 {
        match self {
            Self::Operation(operation, _) => operation.strength(),
            Self::Literal(_) | Self::Name { .. } | Self::Call { .. } => ATOM,
        }
    }
}

/// Prints a part, in parentheses if its precedence is below the given one.
struct Parenthesised<'a>(&'a SyntaxNode, u8);

impl fmt::Display for Parenthesised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parenthesised(Spanned { item, .. }, least) = self;
        if item.strength() < *least { write!(f, "({item})") } else { write!(f, "{item}") }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => f.write_str(&literal.text),
            Self::Name { name, filters } if filters.is_empty() => f.write_str(name),
            Self::Name { name, filters } => write!(f, "{name}[{}]", CommaList(filters)),
            Self::Call { name, arguments, settings } => {
                let arguments: Vec<&Self> = arguments.iter().map(|node| &node.item).collect();
                let gap = if arguments.is_empty() || settings.is_empty() { "" } else { ", " };
                write!(f, "{}({}{gap}{})", name.item, CommaList(&arguments), CommaList(settings))
            }
            Self::Operation(operation, parts) => print(f, operation, parts),
        }
    }
}

fn print(f: &mut fmt::Formatter<'_>, operation: &Operation, parts: &[SyntaxNode]) -> fmt::Result {
    let strength = operation.strength();
    match (operation, parts) {
        (Operation::Negate, [of]) => write!(f, "-{}", Parenthesised(of, strength)),
        (Operation::Not, [of]) => write!(f, "not {}", Parenthesised(of, strength)),
        (Operation::Binary(operator), [left, right]) => {
            // All operators but the power associate from the left.
            let from_left = u8::from(*operator != Operator::Power);
            let left = Parenthesised(left, strength + 1 - from_left);
            // The sign of an exponent needs no parentheses.
            let least = if from_left == 0 { Operation::Negate.strength() } else { strength + 1 };
            write!(f, "{left} {} {}", operator.word(), Parenthesised(right, least))
        }
        (Operation::Compare(signs), [first, rest @ ..]) => {
            write!(f, "{}", Parenthesised(first, strength + 1))?;
            signs.iter().zip(rest).try_for_each(|(sign, node)| {
                write!(f, " {} {}", sign.word(), Parenthesised(node, strength + 1))
            })
        }
        (Operation::Within(band), [left, right]) => {
            let [left, right] = [left, right].map(|side| Parenthesised(side, strength + 1));
            write!(f, "{left} within {} of {right}", band.item.text)
        }
        _ => Ok(()),
    }
}

struct CommaList<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for CommaList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(place, item)| write!(f, "{}{item}", if place == 0 { "" } else { ", " }))
    }
}

impl<T: fmt::Display> fmt::Display for Spanned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.item.fmt(f)
    }
}

impl fmt::Display for ExprSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: &Option<Literal>| end.as_ref().map_or("", |end| &end.text).to_owned();
        match self {
            Self::Word(word) => f.write_str(&quoted(word)),
            Self::Number(number) => f.write_str(&number.text),
            Self::Range(from, to) => write!(f, "{}..{}", end(from), end(to)),
            Self::List(items) => write!(f, "[{}]", CommaList(items)),
            Self::Through(key, values) => write!(f, "{key}[{}]", CommaList(values)),
            Self::Computed(node) => match node.item {
                // Without parentheses, such an expression would be parsed as a word or a number.
                Syntax::Name { .. }
                | Syntax::Literal(_)
                | Syntax::Operation(Operation::Negate, _) => write!(f, "({node})"),
                _ => write!(f, "{node}"),
            },
        }
    }
}

/// Returns a word, in quotes if it would not be parsed as a word without quotes.
fn quoted(word: &str) -> String {
    // A word with other characters would be parsed as a number, a sum or several words.
    let plain = word.starts_with(char::is_alphabetic)
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && !word.ends_with('-');
    match (plain, word.contains('"')) {
        (true, _) => word.to_owned(),
        (false, true) => format!("'{word}'"),
        (false, false) => format!("\"{word}\""),
    }
}
