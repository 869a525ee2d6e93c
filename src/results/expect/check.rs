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
    ExprComplaint, ExprSetting, Literal, Operand, Operation, Syntax, SyntaxNode, Unit,
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
            Syntax::Operation(operation, parts) => self.operation(operation, parts)?,
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

    fn operation(
        &mut self,
        operation: &Operation,
        nodes: &[SyntaxNode],
    ) -> CheckResult<(TermKind, TermType)> {
        let check = if operation.joins_conditions() { Self::truth } else { Self::number };
        let parts = nodes.iter().map(|node| check(self, node)).collect::<CheckResult<Vec<_>>>()?;
        let operations = nodes.iter().zip(&parts).map(|(node, part)| Operand {
            node,
            unit: part.of.unit,
            constant: match part.kind {
                TermKind::Constant(number) => Some(number),
                _ => None,
            },
            is_at_most_whole: part.is_at_most_whole(),
        });
        let operands: Vec<Operand<'_>> = operations.collect();
        // Report the shape first: numbers that cannot be paired often differ in their units, too.
        let shape = shared_shape(nodes, &parts)?;
        let unit = operation.unit(&operands)?;
        let of = TermType { shape, truth: operation.is_condition(), unit };
        Ok((TermKind::Apply(Element::Operation(operation.clone()), parts), of))
    }
}

/// Returns the shape of a combination of terms: a single number combines with any shape.
fn shared_shape(nodes: &[SyntaxNode], terms: &[Term]) -> CheckResult<QuantityShape> {
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
