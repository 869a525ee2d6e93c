//! The syntax tree of an expression, and how it is printed.
//!
//! The tree is not checked: names may be unknown, and times may be compared with bytes. A printed
//! tree parses to an equal tree; places in the text do not count for equality.

use std::fmt;
use std::ops::Range;

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
    /// `-a`
    Negate(Box<SyntaxNode>),
    /// `not a`
    Not(Box<SyntaxNode>),
    /// `a + b`, `a and b` and the like.
    Binary(Box<SyntaxNode>, Operator, Box<SyntaxNode>),
    /// `a <= b < c`: all comparisons must hold.
    Compare(Box<SyntaxNode>, Vec<(ComparisonSign, SyntaxNode)>),
    /// `a within 15 % of b`
    Within {
        /// `a`
        left: Box<SyntaxNode>,
        /// `15 %`
        band: Spanned<Literal>,
        /// `b`
        right: Box<SyntaxNode>,
    },
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

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say all")]
pub enum Operator {
    Or,
    And,
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

impl Operator {
    /// Returns the operator as it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
            Self::Power => "^",
        }
    }

    /// Computes the operator; conditions are 1 or 0.
    pub fn compute(self, a: f64, b: f64) -> f64 {
        match self {
            // The larger of two conditions is their "or".
            Self::Or => f64::max(a, b),
            Self::And => f64::min(a, b),
            Self::Plus => a + b,
            Self::Minus => a - b,
            Self::Times => a * b,
            Self::Over => a / b,
            Self::Power => a.powf(b),
        }
    }

    const fn strength(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Plus | Self::Minus => 5,
            Self::Times | Self::Over => 6,
            Self::Power => 8,
        }
    }
}

/// A comparison of two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say all")]
pub enum ComparisonSign {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

impl ComparisonSign {
    /// All comparisons.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::AtMost, Self::More, Self::AtLeast, Self::Equal, Self::Unequal];

    /// Returns the comparison as it is written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }

    /// Returns whether the comparison holds. Numbers that differ only by rounding are equal.
    pub fn holds(self, a: f64, b: f64) -> bool {
        // A billionth is chosen: more than the rounding errors of sums, and less than differences
        // between measurements.
        let equal = a == b || (a - b).abs() <= 1e-9 * f64::max(a.abs(), b.abs());
        match self {
            Self::Less => a < b && !equal,
            Self::AtMost => a < b || equal,
            Self::More => b < a && !equal,
            Self::AtLeast => b < a || equal,
            Self::Equal => equal,
            // NaN is neither equal nor unequal to any number.
            Self::Unequal => !equal && !a.is_nan() && !b.is_nan(),
        }
    }
}

// The precedence of syntax other than operators, between the levels of `Operator::strength`.
const NOT: u8 = 3;
const COMPARE: u8 = 4;
const NEGATE: u8 = 7;
const ATOM: u8 = 9;

impl Syntax {
    /// Returns the precedence of the syntax: a higher precedence binds more strongly.
    const fn strength(&self) -> u8 {
        match self {
            Self::Binary(_, operator, _) => operator.strength(),
            Self::Not(_) => NOT,
            Self::Compare(..) | Self::Within { .. } => COMPARE,
            Self::Negate(_) => NEGATE,
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
            Self::Negate(of) => write!(f, "-{}", Parenthesised(of, NEGATE)),
            Self::Not(of) => write!(f, "not {}", Parenthesised(of, NOT)),
            Self::Binary(left, operator, right) => {
                let (strength, sign) = (operator.strength(), operator.sign());
                // All operators but the power associate from the left.
                let from_left = u8::from(*operator != Operator::Power);
                let left = Parenthesised(left, strength + 1 - from_left);
                // The sign of an exponent needs no parentheses.
                let least = if from_left == 0 { NEGATE } else { strength + 1 };
                write!(f, "{left} {sign} {}", Parenthesised(right, least))
            }
            Self::Compare(first, rest) => {
                write!(f, "{}", Parenthesised(first, COMPARE + 1))?;
                rest.iter().try_for_each(|(comparison, node)| {
                    write!(f, " {} {}", comparison.sign(), Parenthesised(node, COMPARE + 1))
                })
            }
            Self::Within { left, band, right } => {
                let (left, right) =
                    (Parenthesised(left, COMPARE + 1), Parenthesised(right, COMPARE + 1));
                write!(f, "{left} within {} of {right}", band.item.text)
            }
        }
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
                Syntax::Name { .. } | Syntax::Literal(_) | Syntax::Negate(_) => {
                    write!(f, "({node})")
                }
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
