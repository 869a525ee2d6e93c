//! The shape of an expression as it was written, and how it is written again.
//!
//! Nothing here has a meaning yet: names may be unknown and times compared with bytes. What is
//! printed parses to an equal tree; trees are equal wherever they stood.

use std::fmt;
use std::ops::Range;

use super::unit::Unit;

/// Something and where it stands in the text.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub(super) span: Range<usize>,
    pub(super) item: T,
}

impl<T: PartialEq> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.item == other.item
    }
}

pub(super) type Node = At<Syntax>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Syntax {
    Literal(Literal),
    /// A quantity with its filters, or an axis.
    Name {
        name: String,
        filters: Vec<Setting>,
    },
    Call {
        name: At<String>,
        arguments: Vec<Node>,
        settings: Vec<Setting>,
    },
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Box<Node>, Operator, Box<Node>),
    /// `a <= b < c`: each holds.
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    /// `a within 15 % of b`
    Within {
        left: Box<Node>,
        band: At<Literal>,
        right: Box<Node>,
    },
}

/// A number with its unit, as it was written.
#[derive(Clone, Debug)]
pub(super) struct Literal {
    /// In seconds, in bytes, or plain.
    pub(super) value: f64,
    pub(super) unit: Unit,
    /// Whether it ends in `%`, and so is relative behind `within`.
    pub(super) percent: bool,
    pub(super) text: String,
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        (self.value, self.unit, self.percent) == (other.value, other.unit, other.percent)
    }
}

/// `key=value` in brackets or in a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) key: At<String>,
    pub(super) value: At<Choice>,
}

/// What a setting may be set to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    Word(String),
    Number(Literal),
    Range(Option<Literal>, Option<Literal>),
    List(Vec<At<Self>>),
    /// `maps[1..25, 26..100]`: what `by` goes through.
    Through(String, Vec<At<Self>>),
    Computed(Box<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Plus,
    Minus,
    Times,
    Over,
    Power,
}

impl Operator {
    pub(super) const fn sign(self) -> &'static str {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

impl Comparison {
    pub(super) const ALL: [Self; 6] =
        [Self::Less, Self::AtMost, Self::More, Self::AtLeast, Self::Equal, Self::Unequal];

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }
}

const NOT: u8 = 3;
const COMPARE: u8 = 4;
const NEGATE: u8 = 7;
const ATOM: u8 = 9;

impl Syntax {
    /// Returns how strongly it holds its parts together.
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

/// Prints a part, in parentheses if it holds less strongly than it must.
struct Part<'a>(&'a Node, u8);

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Part(At { item, .. }, least) = self;
        if item.strength() < *least { write!(f, "({item})") } else { write!(f, "{item}") }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(literal) => f.write_str(&literal.text),
            Self::Name { name, filters } if filters.is_empty() => f.write_str(name),
            Self::Name { name, filters } => write!(f, "{name}[{}]", List(filters)),
            Self::Call { name, arguments, settings } => {
                let arguments: Vec<&Self> = arguments.iter().map(|node| &node.item).collect();
                let gap = if arguments.is_empty() || settings.is_empty() { "" } else { ", " };
                write!(f, "{}({}{gap}{})", name.item, List(&arguments), List(settings))
            }
            Self::Negate(of) => write!(f, "-{}", Part(of, NEGATE)),
            Self::Not(of) => write!(f, "not {}", Part(of, NOT)),
            Self::Binary(left, operator, right) => {
                let (strength, sign) = (operator.strength(), operator.sign());
                // All are read from the left but the power.
                let from_left = u8::from(*operator != Operator::Power);
                let left = Part(left, strength + 1 - from_left);
                // The sign of an exponent needs no parentheses.
                let least = if from_left == 0 { NEGATE } else { strength + 1 };
                write!(f, "{left} {sign} {}", Part(right, least))
            }
            Self::Compare(first, rest) => {
                write!(f, "{}", Part(first, COMPARE + 1))?;
                rest.iter().try_for_each(|(comparison, node)| {
                    write!(f, " {} {}", comparison.sign(), Part(node, COMPARE + 1))
                })
            }
            Self::Within { left, band, right } => {
                let (left, right) = (Part(left, COMPARE + 1), Part(right, COMPARE + 1));
                write!(f, "{left} within {} of {right}", band.item.text)
            }
        }
    }
}

struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(place, item)| write!(f, "{}{item}", if place == 0 { "" } else { ", " }))
    }
}

impl<T: fmt::Display> fmt::Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.item.fmt(f)
    }
}

impl fmt::Display for Setting {
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
            Self::List(items) => write!(f, "[{}]", List(items)),
            Self::Through(key, values) => write!(f, "{key}[{}]", List(values)),
            Self::Computed(node) => match node.item {
                // By themselves these would be read as a word or a number.
                Syntax::Name { .. } | Syntax::Literal(_) | Syntax::Negate(_) => {
                    write!(f, "({node})")
                }
                _ => write!(f, "{node}"),
            },
        }
    }
}

/// Returns a word as it must be written to be read as one.
fn quoted(word: &str) -> String {
    let plain = word.starts_with(char::is_alphabetic)
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && !word.ends_with('-');
    match (plain, word.contains('"')) {
        (true, _) => word.to_owned(),
        (false, true) => format!("'{word}'"),
        (false, false) => format!("\"{word}\""),
    }
}
