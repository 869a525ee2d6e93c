//! The operations of expressions: their results, and the units that they need and give.

use super::complaint::ExprComplaint;
use super::syntax::{Literal, Spanned, Syntax, SyntaxNode};
use super::unit::Unit;
use crate::worded;

/// An operation on numbers; conditions are 1 or 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// `-a`
    Negate,
    /// `not a`
    Not,
    /// `a + b`, `a and b` and the like.
    Binary(Operator),
    /// `a <= b < c`: all comparisons must hold.
    Compare(Vec<ComparisonSign>),
    /// `a within 15 % of b`
    Within(Spanned<Literal>),
}

/// A part of an operation, as far as units go.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Its place and text.
    pub node: &'a SyntaxNode,
    /// Its unit.
    pub unit: Unit,
    /// Its value, if that is known before the expression is computed.
    pub constant: Option<f64>,
    /// Whether it is a share that is never above 1.
    pub is_at_most_whole: bool,
}

impl Operation {
    /// Returns the precedence: a higher precedence binds more strongly.
    pub(super) const fn strength(&self) -> u8 {
        match self {
            Self::Binary(Operator::Or) => 1,
            Self::Binary(Operator::And) => 2,
            Self::Not => 3,
            Self::Compare(_) | Self::Within(_) => 4,
            Self::Binary(Operator::Plus | Operator::Minus) => 5,
            Self::Binary(Operator::Times | Operator::Over) => 6,
            Self::Negate => 7,
            Self::Binary(Operator::Power) => 8,
        }
    }

    /// Returns whether it is a comparison.
    pub const fn compares(&self) -> bool {
        matches!(self, Self::Compare(_) | Self::Within(_))
    }

    /// Returns whether its parts are conditions; otherwise they are numbers.
    pub const fn joins_conditions(&self) -> bool {
        matches!(self, Self::Not | Self::Binary(Operator::And | Operator::Or))
    }

    /// Returns whether its result is a condition.
    pub const fn is_condition(&self) -> bool {
        self.compares() || self.joins_conditions()
    }

    /// Computes the result; NaN for a wrong number of parts.
    pub fn compute(&self, numbers: &[f64]) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match (self, numbers) {
            (Self::Negate, [a]) => -a,
            (Self::Not, [a]) => truth(*a == 0.0),
            (Self::Binary(operator), [a, b]) => operator.compute(*a, *b),
            (Self::Compare(signs), _) => {
                let mut pairs = numbers.windows(2).zip(signs);
                truth(pairs.all(|(pair, sign)| sign.holds(pair[0], pair[1])))
            }
            (Self::Within(band), [a, b]) => {
                let Literal { value, percent, .. } = band.item;
                let band = if percent { value * b.abs() } else { value };
                truth(ComparisonSign::AtMost.holds((a - b).abs(), band))
            }
            _ => f64::NAN,
        }
    }

    /// Returns the unit of the result.
    ///
    /// # Errors
    /// If the units of the parts do not fit together.
    pub fn unit(&self, parts: &[Operand<'_>]) -> Result<Unit, ExprComplaint> {
        match (self, parts) {
            (Self::Negate, [of]) => Ok(of.unit),
            (Self::Binary(Operator::Times), [a, b]) => Ok(a.unit.times(b.unit, 1)),
            (Self::Binary(Operator::Over), [a, b]) => Ok(a.unit.times(b.unit, -1)),
            (Self::Binary(Operator::Power), [base, exponent]) => power(base, exponent),
            (Self::Binary(operator @ (Operator::Plus | Operator::Minus)), [a, b]) => {
                shared_unit(operator.word(), a, b)
            }
            (Self::Compare(signs), _) => {
                for (pair, sign) in parts.windows(2).zip(signs) {
                    shared_unit(sign.word(), &pair[0], &pair[1])?;
                }
                Ok(Unit::PLAIN)
            }
            (Self::Within(band), [a, b]) => {
                let unit = shared_unit("within", a, b)?;
                check_band(band, unit, parts).map(|()| Unit::PLAIN)
            }
            _ => Ok(Unit::PLAIN),
        }
    }
}

fn check_band(
    band: &Spanned<Literal>,
    unit: Unit,
    parts: &[Operand<'_>],
) -> Result<(), ExprComplaint> {
    let Literal { value, percent, unit: band_unit, ref text } = band.item;
    // `within 10 of 80 %` lacks `points`: every share lies within 10 of every other share.
    let is_wider_than_all = band_unit == Unit::PLAIN && 1.0 < value;
    if is_wider_than_all && parts.iter().any(|part| part.is_at_most_whole) {
        let message = format!("`{text}` is wider than any difference of shares");
        let hint = format!("write `{text} points`");
        return Err(ExprComplaint::new(band.span.clone(), message).hint(hint));
    }
    if !percent && !unit.fits(band_unit) {
        let (own, bounded) = (band_unit.word(), unit.word());
        let message = format!("`{text}` is {own}, but what it bounds is {bounded}");
        return Err(ExprComplaint::new(band.span.clone(), message));
    }
    Ok(())
}

/// Returns the common unit of both sides of `sign`. A zero fits every unit.
///
/// # Errors
/// If the units differ, or a bare number stands beside a share that it exceeds.
pub fn shared_unit(
    sign: &str,
    left: &Operand<'_>,
    right: &Operand<'_>,
) -> Result<Unit, ExprComplaint> {
    let (a, b) = (left.unit, right.unit);
    let clash = || {
        format!(
            "`{sign}` between {} (`{}`) and {} (`{}`)",
            a.word(),
            left.node.item,
            b.word(),
            right.node.item
        )
    };
    if a.fits(b) {
        // `share < 50` lacks `%`: no share is above 1.
        let beyond = [(left, right), (right, left)].into_iter().find(|(side, other)| {
            plain(side.node).is_some_and(|number| 1.0 < number.abs()) && other.is_at_most_whole
        });
        let Some((bare, _)) = beyond else { return Ok(a.or(b)) };
        let message = format!("{}, of which no share is", clash());
        let hint = format!("write `{} %`", bare.node.item);
        return Err(ExprComplaint::new(bare.node.span.clone(), message).hint(hint));
    }
    match (plain(left.node), plain(right.node)) {
        // Zero is the same in every unit, so `wait > 0` needs no unit.
        (Some(0.0), _) => return Ok(b),
        (_, Some(0.0)) => return Ok(a),
        _ => {}
    }
    let (bare, other) = if plain(left.node).is_some() { (left, b) } else { (right, a) };
    let complaint = ExprComplaint::new(bare.node.span.clone(), clash());
    Err(match (plain(bare.node), (other.time, other.bytes)) {
        (Some(number), (1, 0)) => complaint.hint(format!("write `{number}s` or `{number}min`")),
        (Some(number), (0, 1)) => complaint.hint(format!("write `{number}MiB` or `{number}GiB`")),
        _ => complaint,
    })
}

/// Returns the number of a literal without a unit; `None` for other nodes.
fn plain(node: &SyntaxNode) -> Option<f64> {
    match &node.item {
        Syntax::Literal(literal) if literal.unit == Unit::PLAIN => Some(literal.value),
        Syntax::Operation(Operation::Negate, parts) => {
            parts.first().and_then(plain).map(|number| -number)
        }
        _ => None,
    }
}

/// Returns the unit of a power. A base with a unit needs a constant exponent, which must give whole
/// powers of seconds and bytes.
fn power(base: &Operand<'_>, exponent: &Operand<'_>) -> Result<Unit, ExprComplaint> {
    let complain = |message| ExprComplaint::new(exponent.node.span.clone(), message);
    if !exponent.unit.is_plain() {
        let word = exponent.unit.word();
        return Err(complain(format!("`{}` is {word}: no exponent", exponent.node.item)));
    }
    if base.unit.is_plain() {
        return Ok(Unit::PLAIN);
    }
    let fixed = exponent.constant.or_else(|| plain(exponent.node));
    fixed.and_then(|number| base.unit.power(number)).ok_or_else(|| {
        complain(format!("{} has only whole powers that are written out", base.unit.word()))
    })
}

worded! {
    /// An operator between two expressions, with its sign.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the names say all")]
    pub enum Operator {
        Or = "or",
        And = "and",
        Plus = "+",
        Minus = "-",
        Times = "*",
        Over = "/",
        Power = "^",
    }
}

impl Operator {
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
}

worded! {
    /// A comparison of two expressions, with its sign.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "the names say all")]
    pub enum ComparisonSign {
        Less = "<",
        AtMost = "<=",
        More = ">",
        AtLeast = ">=",
        Equal = "==",
        Unequal = "!=",
    }
}

impl ComparisonSign {
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
