//! Calls: aggregates, trends, and functions of plain numbers.

use std::slice;

use super::{CheckResult, ExprChecker, ExprPurpose, Outer, shared_shape};
use crate::expect::function::{FUNCTIONS, Function};
use crate::expect::plan::{
    Aggregate, AxisPick, CurveFold, CurvePoint, Element, Term, TermKind, TermType,
};
use crate::expect::quantity::{QuantityShape, ROW_KEYS};
use mumakil_base::expression::{
    Choice, ExprComplaint, ExprSetting, Spanned, Syntax, SyntaxNode, Unit,
};

const AGGREGATES: [(&str, Aggregate); 11] = [
    ("mean", Aggregate::Mean),
    ("median", Aggregate::Quantile(0.5)),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
    ("sum", Aggregate::Sum),
    ("count", Aggregate::Count),
    ("sd", Aggregate::Deviation),
    ("jain", Aggregate::Jain),
    ("any", Aggregate::Any),
    ("all", Aggregate::All),
    ("share", Aggregate::Share),
];

const TRENDS: [(&str, CurveFold); 5] = [
    ("rising", CurveFold::Rising),
    ("falling", CurveFold::Falling),
    ("monotone", CurveFold::Monotone),
    ("slope", CurveFold::Slope),
    ("linear", CurveFold::Linear),
];

/// The largest number of values that all `by` of an expression may have together. Chosen: nested
/// `by` multiply their values, and each value needs a term in memory.
const MOST_POINTS: usize = 10_000;

const ELEMENTS: [(&str, Element); 2] = [("abs", Element::Absolute), ("sqrt", Element::Root)];

/// The values of `by`: the x coordinate of each, and the setting that selects it.
struct ByValues {
    x: Vec<Option<f64>>,
    settings: Vec<ExprSetting>,
    unit: Option<Unit>,
}

impl ExprChecker<'_> {
    pub(super) fn call(
        &mut self,
        node: &SyntaxNode,
        name: &Spanned<String>,
        arguments: &[SyntaxNode],
        settings: &[ExprSetting],
    ) -> CheckResult {
        let label = match (arguments, settings) {
            ([Spanned { item: argument @ Syntax::Name { .. }, .. }], []) => {
                format!("{name} {argument}")
            }
            _ => node.item.to_string(),
        };
        let (kind, of) = if let Some(how) = aggregate(&name.item) {
            self.aggregate(how, name, one(name, arguments)?, settings)?
        } else if let Some((_, how)) = TRENDS.iter().find(|(word, _)| *word == name.item) {
            self.trend(*how, name, one(name, arguments)?, settings)?
        } else if name.item == "until" {
            self.until(name, one(name, arguments)?, settings)?
        } else if let Some((_, element)) = ELEMENTS.iter().find(|(word, _)| *word == name.item) {
            self.element(element, one(name, arguments)?, settings)?
        } else if let Some(function) = FUNCTIONS.iter().find(|other| other.name == name.item) {
            self.function(function, name, arguments, settings)?
        } else {
            return Err(unknown(name));
        };
        Ok(Term { kind, of, label })
    }

    /// Runs `check` on the arguments of a call, with the settings of the call applied to them.
    fn inside<T>(
        &mut self,
        settings: impl IntoIterator<Item = ExprSetting>,
        check: impl FnOnce(&mut Self) -> CheckResult<T>,
    ) -> CheckResult<T> {
        let before = self.outer.len();
        for setting in settings {
            // Report a misspelt key first: it explains later errors.
            if !self.is_key(&setting.key.item) {
                return Err(self.no_key(&setting, ""));
            }
            self.outer.push(Outer { setting, taken: false, overruled: false });
        }
        // Report errors inside first: they may be the reason why a setting does not apply.
        let checked = check(self)?;
        // Check only the settings of this call; outer settings may apply to other calls.
        let taken = self.outer.split_off(before);
        match taken.iter().find(|outer| !outer.taken) {
            Some(Outer { setting, overruled: true, .. }) => {
                let message =
                    format!("`{setting}` has no effect: all that is inside chooses by itself");
                Err(ExprComplaint::new(setting.key.span.clone(), message)
                    .hint("leave one of them out"))
            }
            Some(outer) => Err(self.no_key(&outer.setting, "nothing here can be chosen by")),
            None => Ok(checked),
        }
    }

    fn aggregate(
        &mut self,
        how: Aggregate,
        name: &Spanned<String>,
        argument: &SyntaxNode,
        settings: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        // With `by`, the aggregate is over the values of the curve, not over the values of a run.
        if settings.iter().any(|setting| setting.key.item == "by") {
            let (points, _, of) = self.curve(argument, settings)?;
            let (how, of) = aggregated(how, name, of)?;
            return Ok((TermKind::Curve { how: CurveFold::Aggregate(how), points }, of));
        }
        let (seeds, filters) = split(settings, "seeds");
        let pooled =
            seeds.is_some_and(|seeds| seeds.value.item == Choice::Word("pooled".to_owned()));
        if let Some(seeds) = seeds.filter(|_| !pooled) {
            let complaint =
                ExprComplaint::new(seeds.value.span.clone(), "`seeds` can only be pooled");
            return Err(complaint.hint("write `seeds=pooled`"));
        }
        let term = self.inside(filters, |checker| checker.term(argument))?;
        if term.of.shape == QuantityShape::One {
            let message = format!("`{}` is one number already", argument.item);
            return Err(ExprComplaint::new(argument.span.clone(), message)
                .hint("leave the call out, or say `by=…` for several"));
        }
        let (how, of) = aggregated(how, name, term.of)?;
        Ok((TermKind::Aggregate { how, of: term.into(), pooled }, of))
    }

    fn trend(
        &mut self,
        how: CurveFold,
        name: &Spanned<String>,
        argument: &SyntaxNode,
        settings: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        if !settings.iter().any(|setting| setting.key.item == "by") {
            let message = format!("`{name}` needs `by`, the values that it goes along");
            return Err(ExprComplaint::new(name.span.clone(), message).hint(
                "add `by=nodes`, or another axis of the study, or `by=class[small, large]`",
            ));
        }
        let (points, unit, of) = self.curve(argument, settings)?;
        if of.truth {
            let message = format!("`{name}` takes numbers; `{}` is a condition", argument.item);
            return Err(ExprComplaint::new(argument.span.clone(), message));
        }
        let of = match (how, unit) {
            (CurveFold::Slope, Some(unit)) => {
                TermType::number(QuantityShape::One, of.unit.times(unit, -1))
            }
            (CurveFold::Linear, Some(_)) => TermType::number(QuantityShape::One, Unit::SHARE),
            (CurveFold::Slope | CurveFold::Linear, None) => {
                let message = format!("`{name}` goes by numbers of one unit");
                return Err(ExprComplaint::new(name.span.clone(), message));
            }
            _ => TermType::truth(QuantityShape::One),
        };
        Ok((TermKind::Curve { how, points }, of))
    }

    /// Plans the argument once for each value of `by`.
    fn curve(
        &mut self,
        argument: &SyntaxNode,
        settings: &[ExprSetting],
    ) -> CheckResult<(Vec<CurvePoint>, Option<Unit>, TermType)> {
        let (asked, mut filters) = split(settings, "by");
        let by = asked.expect("the caller has found a `by`");
        let ByValues { x, settings, unit } = self.through(by, &mut filters)?;
        let mut points = Vec::new();
        for (x, setting) in x.into_iter().zip(settings) {
            self.points += 1;
            if MOST_POINTS < self.points {
                let message = format!("`by` goes through more than {MOST_POINTS} values");
                return Err(ExprComplaint::new(by.value.span.clone(), message));
            }
            // For the name of a point, the last part of the path is enough, as in `nodes=100`.
            let key = setting.key.item.rsplit('.').next().unwrap_or_default();
            let name = format!("{key}={}", setting.value);
            let around = filters.iter().cloned().chain([setting]);
            let term = self.inside(around, |checker| checker.term(argument))?;
            if term.of.shape != QuantityShape::One {
                let message = format!("`{}` is {}", argument.item, term.of.shape.word());
                return Err(ExprComplaint::new(argument.span.clone(), message)
                    .hint("`by` goes by single numbers such as mean(…)"));
            }
            points.push(CurvePoint { name, x, term });
        }
        match points.first() {
            Some(CurvePoint { term, .. }) => {
                let of = term.of;
                Ok((points, unit, of))
            }
            None => Err(ExprComplaint::new(by.value.span.clone(), "`by` has no values")),
        }
    }

    /// Resolves `by` to its values. A filter on the same axis in the same call restricts these
    /// values.
    fn through(&self, by: &ExprSetting, filters: &mut Vec<ExprSetting>) -> CheckResult<ByValues> {
        let Spanned { span, item } = &by.value;
        match item {
            Choice::Through(name, items) if ROW_KEYS.iter().any(|key| key.name == *name) => {
                let key = Spanned { span: span.clone(), item: name.clone() };
                let numbers = items.iter().map(|item| match &item.item {
                    Choice::Number(number) => Some(number.value),
                    _ => None,
                });
                let x: Vec<Option<f64>> = numbers.collect();
                let unit = x.iter().all(Option::is_some).then_some(Unit::PLAIN);
                let values = items.iter().cloned();
                let settings = values.map(|value| ExprSetting { key: key.clone(), value });
                Ok(ByValues { x, settings: settings.collect(), unit })
            }
            Choice::Through(name, items) => {
                let all = Spanned { span: span.clone(), item: Choice::List(items.clone()) };
                self.along(by, name, Some(&all))
            }
            Choice::Word(name) => {
                let axis = self.axis(span.clone(), name)?;
                let beside = filters.iter().position(|ExprSetting { key, .. }| {
                    axis.is_some() && self.axis(key.span.clone(), &key.item) == Ok(axis)
                });
                // Remove the filter, or it would fix the axis of `by`.
                let only = beside.map(|place| filters.remove(place).value);
                self.along(by, name, only.as_ref())
            }
            _ => Err(ExprComplaint::new(span.clone(), "`by` takes an axis of the study")
                .hint("or write what to go through, such as `by=maps[1..25, 26..100]`")),
        }
    }

    fn along(
        &self,
        by: &ExprSetting,
        name: &str,
        only: Option<&Spanned<Choice>>,
    ) -> CheckResult<ByValues> {
        let span = &by.value.span;
        let Some(place) = self.axis(span.clone(), name)? else {
            let complaint = ExprComplaint::new(span.clone(), format!("`{name}` is no axis"));
            if ROW_KEYS.iter().any(|key| key.name == name) {
                let hint = format!("write what to go through, in order: `by={name}[…, …]`");
                return Err(complaint.hint(hint));
            }
            return Err(complaint.nearest(name, self.space.axes.iter().map(|axis| axis.name())));
        };
        if self.purpose != ExprPurpose::Expectation {
            let message = "a metric is measured in each cell, so it cannot go by an axis";
            return Err(ExprComplaint::new(span.clone(), message));
        }
        let axis = &self.space.axes[place];
        let places = match only.map(|only| self.values(place, only)).transpose()? {
            None | Some(AxisPick::Free) => (0..axis.values.len()).collect(),
            Some(AxisPick::Fixed(one)) => vec![one],
            Some(AxisPick::Among(places)) => places,
        };
        let values: Vec<_> = places.into_iter().map(|place| &axis.values[place]).collect();
        let key = Spanned { span: span.clone(), item: axis.path.clone() };
        let settings = values.iter().map(|value| ExprSetting {
            key: key.clone(),
            value: Spanned { span: span.clone(), item: Choice::Word(value.label.to_owned()) },
        });
        Ok(ByValues {
            x: values.iter().map(|value| value.number.map(|(number, _)| number)).collect(),
            settings: settings.collect(),
            unit: axis.unit(),
        })
    }

    fn until(
        &mut self,
        name: &Spanned<String>,
        argument: &SyntaxNode,
        settings: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        let (from, filters) = split(settings, "from");
        let start = match from.map(|from| (&from.value.item, from.value.span.clone())) {
            None => 0.0,
            Some((Choice::Number(at), _)) if at.unit.fits(Unit::TIME) || at.value == 0.0 => {
                at.value
            }
            Some((_, span)) => {
                return Err(ExprComplaint::new(span, "`from` takes a time such as 57s"));
            }
        };
        let condition = self.inside(filters, |checker| checker.truth(argument))?;
        if condition.of.shape != QuantityShape::Series {
            let message =
                format!("`{name}` waits for what changes over time, such as slots[pool=a] >= 10");
            return Err(ExprComplaint::new(argument.span.clone(), message));
        }
        let of = TermType::number(QuantityShape::One, Unit::TIME);
        Ok((TermKind::Until { condition: condition.into(), from: start }, of))
    }

    fn element(
        &mut self,
        element: &Element,
        argument: &SyntaxNode,
        settings: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        let term = self.inside(settings.to_vec(), |checker| checker.number(argument))?;
        let shape = shared_shape(slice::from_ref(argument), slice::from_ref(&term))?;
        let unit = match element {
            Element::Root => term.of.unit.power(0.5).ok_or_else(|| {
                let message = format!("there is no root of {}", term.of.unit.word());
                ExprComplaint::new(argument.span.clone(), message)
            })?,
            _ => term.of.unit,
        };
        Ok((TermKind::Apply(element.clone(), vec![term]), TermType::number(shape, unit)))
    }

    /// Puts positional and named arguments into the order of the function's parameters.
    fn function(
        &mut self,
        function: &'static Function,
        name: &Spanned<String>,
        arguments: &[SyntaxNode],
        settings: &[ExprSetting],
    ) -> CheckResult<(TermKind, TermType)> {
        let (named, filters): (Vec<_>, Vec<_>) = settings
            .iter()
            .cloned()
            .partition(|setting| function.parameters.contains(&setting.key.item.as_str()));
        let mut nodes: Vec<SyntaxNode> = arguments.to_vec();
        for parameter in function.parameters.iter().skip(arguments.len()) {
            let setting =
                named.iter().find(|setting| setting.key.item == *parameter).ok_or_else(|| {
                    let message = format!("`{name}` needs `{parameter}`");
                    let hint = format!("{name}({})", function.parameters.join(", "));
                    ExprComplaint::new(name.span.clone(), message).hint(hint)
                })?;
            nodes.push(computed(setting)?);
        }
        // There are too many arguments, or one is given both by position and by name.
        if arguments.len() + named.len() != function.parameters.len() {
            let message = format!("`{name}` takes each of its numbers once");
            let hint = format!("{name}({})", function.parameters.join(", "));
            return Err(ExprComplaint::new(name.span.clone(), message).hint(hint));
        }
        let terms = self.inside(filters, |checker| {
            nodes.iter().map(|node| checker.number(node)).collect::<CheckResult<Vec<Term>>>()
        })?;
        for (node, term) in nodes.iter().zip(&terms) {
            if !term.of.unit.is_plain() {
                let message = format!(
                    "`{}` is {}; `{name}` takes plain numbers",
                    node.item,
                    term.of.unit.word()
                );
                return Err(ExprComplaint::new(node.span.clone(), message));
            }
        }
        let shape = shared_shape(&nodes, &terms)?;
        let of = TermType::number(shape, Unit::PLAIN);
        Ok((TermKind::Apply(Element::Function(function), terms), of))
    }
}

/// Returns the type of an aggregate's result, and the aggregate to compute: `count` of a condition
/// becomes `sum`.
fn aggregated(
    how: Aggregate,
    name: &Spanned<String>,
    of: TermType,
) -> CheckResult<(Aggregate, TermType)> {
    let wrong = |message: String| Err(ExprComplaint::new(name.span.clone(), message));
    let of_truths = matches!(how, Aggregate::Any | Aggregate::All | Aggregate::Share);
    if of.truth && !of_truths && how != Aggregate::Count {
        return wrong(format!("`{name}` takes numbers, not conditions"));
    }
    if !of.truth && of_truths {
        return wrong(format!("`{name}` takes conditions, not numbers"));
    }
    let over_time = matches!(how, Aggregate::Mean | Aggregate::Min | Aggregate::Max);
    let possible = match of.shape {
        QuantityShape::Series => of_truths || over_time,
        // A histogram keeps neither the sum nor the single values, which these aggregates need.
        QuantityShape::Samples => !matches!(how, Aggregate::Sum | Aggregate::Jain),
        _ => true,
    };
    if !possible {
        return wrong(format!("there is no `{name}` of {}", of.shape.word()));
    }
    let made = match how {
        Aggregate::Any | Aggregate::All => TermType::truth(QuantityShape::One),
        Aggregate::Share => TermType::number(QuantityShape::One, Unit::SHARE),
        Aggregate::Count | Aggregate::Jain => TermType::number(QuantityShape::One, Unit::PLAIN),
        _ => TermType::number(QuantityShape::One, of.unit),
    };
    // Conditions are 1 or 0: their sum counts the conditions that hold, while `count` would count
    // all conditions.
    let counts_holding = of.truth && how == Aggregate::Count;
    Ok((if counts_holding { Aggregate::Sum } else { how }, made))
}

fn aggregate(name: &str) -> Option<Aggregate> {
    AGGREGATES.iter().find(|(word, _)| *word == name).map(|(_, how)| *how).or_else(|| {
        let number: f64 = name.strip_prefix('p')?.parse().ok()?;
        (0.0..=100.0).contains(&number).then_some(Aggregate::Quantile(number / 100.0))
    })
}

fn unknown(name: &Spanned<String>) -> ExprComplaint {
    let computed =
        AGGREGATES.iter().map(|(word, _)| *word).chain(TRENDS.iter().map(|(word, _)| *word));
    let elements = computed.chain(ELEMENTS.iter().map(|(word, _)| *word));
    let callable = elements.chain(FUNCTIONS.iter().map(|function| function.name));
    let words: Vec<&str> = callable.chain(["until", "p95"]).collect();
    let complaint = ExprComplaint::new(name.span.clone(), format!("unknown function `{name}`"));
    complaint.nearest(&name.item, words)
}

fn one<'n>(name: &Spanned<String>, arguments: &'n [SyntaxNode]) -> CheckResult<&'n SyntaxNode> {
    match arguments {
        [argument] => Ok(argument),
        [] => Err(ExprComplaint::new(name.span.clone(), format!("`{name}` needs an argument"))),
        [_, second, ..] => {
            let message = format!("`{name}` takes one argument; this is a second");
            Err(ExprComplaint::new(second.span.clone(), message))
        }
    }
}

/// Splits the settings into the one with this key, if there is one, and the others.
fn split<'s>(
    settings: &'s [ExprSetting],
    key: &str,
) -> (Option<&'s ExprSetting>, Vec<ExprSetting>) {
    let found = settings.iter().find(|setting| setting.key.item == key);
    (found, settings.iter().filter(|setting| setting.key.item != key).cloned().collect())
}

/// Returns the expression of a named argument.
fn computed(setting: &ExprSetting) -> CheckResult<SyntaxNode> {
    let Spanned { span, item: written } = &setting.value;
    let item = match written {
        Choice::Computed(node) => return Ok((**node).clone()),
        Choice::Number(number) => Syntax::Literal(number.clone()),
        Choice::Word(word) => Syntax::Name { name: word.clone(), filters: Vec::new() },
        _ => {
            return Err(ExprComplaint::new(
                span.clone(),
                format!("`{}` takes a number", setting.key),
            ));
        }
    };
    Ok(Spanned { span: span.clone(), item })
}
