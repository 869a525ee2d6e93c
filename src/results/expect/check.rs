//! Makes a plan of a parsed expression: looks up names, checks types and units, and gives each
//! quantity its filters.
//!
//! ```text
//! mean(sojourn[class=small], scheduler=hfsp, by=nodes)
//!              │             └ an axis: applies to quantities inside that choose no value
//!              └ rows: the filters of the quantity and of the calls around it all apply
//! by=nodes: planned once for nodes=100, once for nodes=200 …
//! ```
//!
//! If several settings choose a value of an axis, the innermost one wins. `by` is resolved here:
//! the plan has a term for each value of `by`.

mod call;
mod select;

use super::plan::{AxisPick, Element, Term, TermKind, TermType};
use super::quantity::{NamedQuantity, QUANTITIES, QuantityShape};
use super::space::Space;
use mumakil_base::expression::{
    ComparisonSign, ExprComplaint, ExprSetting, Literal, Operator, Spanned, Syntax, SyntaxNode,
    Unit,
};

/// The use of an expression's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExprPurpose {
    /// A number for each cell. A quantity may choose one value of an axis, for example to compare
    /// two values.
    Metric,
    /// A condition or a number to report, in the cells that its quantities choose.
    Expectation,
    /// One or many numbers that a chart shows for each run. Like a metric, a sample may choose
    /// values of an axis.
    Sample,
}

/// Makes the plan of an expression for a study.
pub(super) fn check(
    node: &SyntaxNode,
    space: &Space,
    purpose: ExprPurpose,
) -> Result<Term, ExprComplaint> {
    let common = vec![None; space.axes.len()];
    let mut checker = ExprChecker { space, purpose, outer: Vec::new(), common, points: 0 };
    let term = checker.term(node)?;
    // A chart may show many numbers; any other use needs one number.
    if term.of.shape != QuantityShape::One && purpose != ExprPurpose::Sample {
        let message = format!("`{}` is {}", node.item, term.of.shape.word());
        let hint = if term.of.truth {
            "say for how many it must hold: all(…), any(…) or share(…)"
        } else {
            "say which number is meant: mean(…), p95(…), max(…)"
        };
        return Err(ExprComplaint::new(node.span.clone(), message).hint(hint));
    }
    if purpose != ExprPurpose::Expectation && term.of.truth {
        let message = format!("`{}` is a condition, but a metric is a number", node.item);
        return Err(ExprComplaint::new(node.span.clone(), message));
    }
    Ok(term)
}

struct ExprChecker<'a> {
    space: &'a Space,
    purpose: ExprPurpose,
    /// The settings of the surrounding calls, the innermost last.
    outer: Vec<Outer>,
    /// For each axis, the values that are in all lists for this axis; `None` if no list restricts
    /// it.
    common: Vec<Option<Vec<usize>>>,
    /// The number of values of all `by` that are planned so far.
    points: usize,
}

/// A setting of a surrounding call.
struct Outer {
    setting: ExprSetting,
    /// Whether it applies to at least one quantity inside the call.
    taken: bool,
    /// Whether an inner setting for the same key or axis replaced it for at least one quantity.
    overruled: bool,
}

type CheckResult<T = Term> = Result<T, ExprComplaint>;

impl TermType {
    pub(super) const fn number(shape: QuantityShape, unit: Unit) -> Self {
        Self { shape, truth: false, unit }
    }

    pub(super) const fn truth(shape: QuantityShape) -> Self {
        Self { shape, truth: true, unit: Unit::PLAIN }
    }
}

impl ExprChecker<'_> {
    fn term(&mut self, node: &SyntaxNode) -> CheckResult {
        let (kind, of) = match &node.item {
            Syntax::Literal(Literal { value, unit, .. }) => {
                (TermKind::Constant(*value), TermType::number(QuantityShape::One, *unit))
            }
            Syntax::Name { name, filters } => self.name(node, name, filters)?,
            Syntax::Call { name, arguments, settings } => {
                return self.call(node, name, arguments, settings);
            }
            Syntax::Negate(part) => {
                let parts = vec![self.number(part)?];
                let of = TermType::number(shared_shape(&[part], &parts)?, parts[0].of.unit);
                (TermKind::Apply(Element::Negate, parts), of)
            }
            Syntax::Not(part) => {
                let part = self.truth(part)?;
                let of = part.of;
                (TermKind::Apply(Element::Not, vec![part]), of)
            }
            Syntax::Binary(left, operator @ (Operator::And | Operator::Or), right) => {
                let parts = vec![self.truth(left)?, self.truth(right)?];
                let of = TermType::truth(shared_shape(&[left, right], &parts)?);
                (TermKind::Apply(Element::Binary(*operator), parts), of)
            }
            Syntax::Binary(left, operator, right) => self.arithmetic(left, *operator, right)?,
            Syntax::Compare(first, rest) => self.comparison(first, rest)?,
            Syntax::Within { left, band, right } => self.within(left, band, right)?,
        };
        Ok(Term { kind, of, label: node.item.to_string() })
    }

    fn name(
        &mut self,
        node: &SyntaxNode,
        name: &str,
        filters: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        // Look up quantities first: an axis with the name of a quantity must be written with its
        // path.
        if let Some(quantity) = NamedQuantity::find(name) {
            let selection = self.select(node, quantity, filters)?;
            let of = TermType::number(quantity.shape, quantity.unit);
            return Ok((TermKind::Quantity(quantity, selection), of));
        }
        let Some(axis) = self.axis(node.span.clone(), name)? else {
            let complaint = ExprComplaint::new(node.span.clone(), format!("unknown name `{name}`"));
            let axes = self.space.axes.iter().flat_map(|axis| [axis.name(), &axis.path]);
            let names: Vec<&str> =
                QUANTITIES.iter().map(|quantity| quantity.name).chain(axes).collect();
            return Err(complaint
                .hint("`mumakil list quantities` lists what there is")
                .nearest(name, names));
        };
        if let Some(filter) = filters.first() {
            let message = format!("the axis `{name}` has nothing to choose from");
            return Err(ExprComplaint::new(filter.key.span.clone(), message));
        }
        let unit = self.space.axes[axis].unit().ok_or_else(|| {
            ExprComplaint::new(node.span.clone(), format!("the values of `{name}` are no numbers"))
        })?;
        let pick = self.pick(axis)?;
        self.must_be_one(node, axis, &pick)?;
        let of = TermType::number(QuantityShape::One, unit);
        Ok(match pick {
            // A fixed value does not depend on the cell, so it becomes a plain number here.
            AxisPick::Fixed(place) => {
                let number = self.space.axes[axis].values[place].number;
                (TermKind::Constant(number.map_or(f64::NAN, |(number, _)| number)), of)
            }
            pick => (TermKind::Axis(axis, pick), of),
        })
    }

    fn number(&mut self, node: &SyntaxNode) -> CheckResult {
        let term = self.term(node)?;
        if term.of.truth {
            let message = format!("`{}` is a condition, not a number", node.item);
            return Err(ExprComplaint::new(node.span.clone(), message));
        }
        Ok(term)
    }

    fn truth(&mut self, node: &SyntaxNode) -> CheckResult {
        let term = self.term(node)?;
        if !term.of.truth {
            let message = format!("`{}` is {}, not a condition", node.item, term.of.unit.word());
            return Err(ExprComplaint::new(node.span.clone(), message)
                .hint("compare it with something, such as `… <= 15min`"));
        }
        Ok(term)
    }

    fn arithmetic(
        &mut self,
        left: &SyntaxNode,
        operator: Operator,
        right: &SyntaxNode,
    ) -> CheckResult<(TermKind, TermType)> {
        let parts = vec![self.number(left)?, self.number(right)?];
        let shape = shared_shape(&[left, right], &parts)?;
        let (a, b) = (parts[0].of.unit, parts[1].of.unit);
        let unit = match operator {
            Operator::Times => a.times(b, 1),
            Operator::Over => a.times(b, -1),
            Operator::Power => power(&parts, right)?,
            _ => shared_unit(operator.sign(), (left, &parts[0]), (right, &parts[1]))?,
        };
        Ok((TermKind::Apply(Element::Binary(operator), parts), TermType::number(shape, unit)))
    }

    fn comparison(
        &mut self,
        first: &SyntaxNode,
        rest: &[(ComparisonSign, SyntaxNode)],
    ) -> CheckResult<(TermKind, TermType)> {
        let nodes: Vec<&SyntaxNode> =
            std::iter::once(first).chain(rest.iter().map(|(_, node)| node)).collect();
        let parts: Vec<Term> =
            nodes.iter().map(|node| self.number(node)).collect::<CheckResult<_>>()?;
        for (place, (comparison, right)) in rest.iter().enumerate() {
            let (a, b) = (&parts[place], &parts[place + 1]);
            shared_unit(comparison.sign(), (nodes[place], a), (right, b))?;
        }
        let of = TermType::truth(shared_shape(&nodes, &parts)?);
        let signs = rest.iter().map(|(comparison, _)| *comparison).collect();
        Ok((TermKind::Apply(Element::Compare(signs), parts), of))
    }

    fn within(
        &mut self,
        left: &SyntaxNode,
        band: &Spanned<Literal>,
        right: &SyntaxNode,
    ) -> CheckResult<(TermKind, TermType)> {
        let parts = vec![self.number(left)?, self.number(right)?];
        let unit = shared_unit("within", (left, &parts[0]), (right, &parts[1]))?;
        let Literal { value, percent, unit: band_unit, .. } = band.item;
        // `within 10 of 80 %` lacks `points`: every share lies within 10 of every other share.
        let is_wider_than_all = band_unit == Unit::PLAIN && 1.0 < value;
        if is_wider_than_all && parts.iter().any(Term::is_at_most_whole) {
            let message = format!("`{}` is wider than any difference of shares", band.item.text);
            let hint = format!("write `{} points`", band.item.text);
            return Err(ExprComplaint::new(band.span.clone(), message).hint(hint));
        }
        if !percent && !unit.fits(band_unit) {
            let message = format!(
                "`{}` is {}, but what it bounds is {}",
                band.item.text,
                band_unit.word(),
                unit.word()
            );
            return Err(ExprComplaint::new(band.span.clone(), message));
        }
        let of = TermType::truth(shared_shape(&[left, right], &parts)?);
        Ok((TermKind::Apply(Element::Within { band: value, relative: percent }, parts), of))
    }
}

/// Returns the shape of a combination of terms: a single number combines with any shape.
fn shared_shape(nodes: &[&SyntaxNode], terms: &[Term]) -> CheckResult<QuantityShape> {
    let mut shared = QuantityShape::One;
    for (node, term) in nodes.iter().zip(terms) {
        let own = term.of.shape;
        if own == QuantityShape::Samples {
            let message = format!("`{}` is a histogram", node.item);
            return Err(ExprComplaint::new(node.span.clone(), message)
                .hint("take a number of it first: mean(…), p99(…), max(…)"));
        }
        if shared != QuantityShape::One && own != QuantityShape::One && shared != own {
            let message = format!(
                "`{}` is {}, which cannot be paired with {}",
                node.item,
                own.word(),
                shared.word()
            );
            return Err(ExprComplaint::new(node.span.clone(), message));
        }
        if own != QuantityShape::One {
            shared = own;
        }
    }
    Ok(shared)
}

/// Returns the common unit of both sides. A zero fits every unit.
fn shared_unit(
    sign: &str,
    left: (&SyntaxNode, &Term),
    right: (&SyntaxNode, &Term),
) -> CheckResult<Unit> {
    let ((left, of_left), (right, of_right)) = (left, right);
    let (a, b) = (of_left.of.unit, of_right.of.unit);
    if a.fits(b) {
        // `share < 50` lacks `%`: no share is above 1.
        let beyond = [(left, of_right), (right, of_left)].into_iter().find(|(node, other)| {
            plain(node).is_some_and(|number| 1.0 < number.abs()) && other.is_at_most_whole()
        });
        let Some((bare, _)) = beyond else { return Ok(a.or(b)) };
        let message = format!(
            "`{sign}` between {} (`{}`) and {} (`{}`), of which no share is",
            a.word(),
            left.item,
            b.word(),
            right.item
        );
        let hint = format!("write `{} %`", bare.item);
        return Err(ExprComplaint::new(bare.span.clone(), message).hint(hint));
    }
    match (plain(left), plain(right)) {
        // Zero is the same in every unit, so `wait > 0` needs no unit.
        (Some(0.0), _) => return Ok(b),
        (_, Some(0.0)) => return Ok(a),
        _ => {}
    }
    let message = format!(
        "`{sign}` between {} (`{}`) and {} (`{}`)",
        a.word(),
        left.item,
        b.word(),
        right.item
    );
    let (bare, other) = if plain(left).is_some() { (left, b) } else { (right, a) };
    let complaint = ExprComplaint::new(bare.span.clone(), message);
    Err(match (plain(bare), (other.time, other.bytes)) {
        (Some(number), (1, 0)) => complaint.hint(format!("write `{number}s` or `{number}min`")),
        (Some(number), (0, 1)) => complaint.hint(format!("write `{number}MiB` or `{number}GiB`")),
        _ => complaint,
    })
}

/// Returns the number of a literal without a unit; `None` for other nodes.
fn plain(node: &SyntaxNode) -> Option<f64> {
    match &node.item {
        Syntax::Literal(literal) if literal.unit == Unit::PLAIN => Some(literal.value),
        Syntax::Negate(of) => plain(of).map(|number| -number),
        _ => None,
    }
}

/// Returns the unit of a power. A base with a unit needs a constant exponent, which must give whole
/// powers of seconds and bytes.
fn power(parts: &[Term], exponent: &SyntaxNode) -> CheckResult<Unit> {
    let [base, power] = parts else { unreachable!("a power has two parts") };
    if !power.of.unit.is_plain() {
        let message = format!("`{}` is {}: no exponent", exponent.item, power.of.unit.word());
        return Err(ExprComplaint::new(exponent.span.clone(), message));
    }
    if base.of.unit.is_plain() {
        return Ok(Unit::PLAIN);
    }
    let fixed = match &power.kind {
        TermKind::Constant(number) => base.of.unit.power(*number),
        _ => None,
    };
    fixed.ok_or_else(|| {
        let message = format!("{} has only whole powers that are written out", base.of.unit.word());
        ExprComplaint::new(exponent.span.clone(), message)
    })
}
