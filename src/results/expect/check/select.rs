//! Resolves the settings that choose runs and rows for a quantity.

use std::ops::Range;

use super::{CheckResult, ExprChecker, ExprPurpose};
use crate::expect::plan::{AxisPick, Filter, FilterTest, Selection};
use crate::expect::quantity::{KeyKind, NamedQuantity, QuantitySource, ROW_KEYS, RowKey};
use crate::expect::space::SpaceValue;
use mumakil_base::expression::{
    Choice, ExprComplaint, ExprSetting, Literal, Spanned, SyntaxNode, Unit,
};
use mumakil_base::nearest::nearest;

/// A resolved setting: it filters rows of a table or chooses values of an axis.
enum ChosenSetting {
    Rows(Filter),
    Cells(usize, AxisPick),
}

impl ExprChecker<'_> {
    /// Combines a quantity's own filters with the filters of the surrounding calls.
    pub(super) fn select(
        &mut self,
        node: &SyntaxNode,
        quantity: &'static NamedQuantity,
        own: &[ExprSetting],
    ) -> CheckResult<Selection> {
        let cell = vec![AxisPick::Free; self.space.axes.len()];
        let mut selection = Selection { cell, rows: Vec::new() };
        for filter in own {
            let chosen = self.chosen(quantity, filter)?.ok_or_else(|| {
                self.no_key(filter, &format!("`{}` cannot be chosen by", quantity.name))
            })?;
            if !selection.add(&chosen) {
                let message = format!("`{}` is set twice", filter.key.item);
                return Err(ExprComplaint::new(filter.key.span.clone(), message));
            }
            self.meet(&chosen, filter)?;
        }
        // Go from the innermost call outwards, since inner settings win.
        for place in (0..self.outer.len()).rev() {
            let setting = self.outer[place].setting.clone();
            let Some(chosen) = self.chosen(quantity, &setting)? else { continue };
            let new = selection.add(&chosen);
            self.outer[place].taken |= new;
            self.outer[place].overruled |= !new;
            match &chosen {
                _ if new => self.meet(&chosen, &setting)?,
                ChosenSetting::Rows(filter) if selection.narrow(filter) => {
                    self.outer[place].taken = true
                }
                ChosenSetting::Rows(_) => {
                    let key = &setting.key;
                    let message = format!(
                        "`{setting}` leaves nothing of `{}`: another `{key}` is set further inside",
                        node.item
                    );
                    let hint = format!("say each in its place: `{}[{key}=…]`", quantity.name);
                    return Err(ExprComplaint::new(setting.value.span.clone(), message).hint(hint));
                }
                // The inner value wins: so an expression can compare one fixed cell with each value
                // of `by`.
                ChosenSetting::Cells(..) => {}
            }
        }
        for (axis, pick) in selection.cell.iter().enumerate() {
            self.must_be_one(node, axis, pick)?;
        }
        Ok(selection)
    }

    /// Returns the values of an axis that the surrounding calls choose.
    pub(super) fn pick(&mut self, axis: usize) -> CheckResult<AxisPick> {
        for place in (0..self.outer.len()).rev() {
            let setting = self.outer[place].setting.clone();
            if self.axis(setting.key.span.clone(), &setting.key.item)? == Some(axis) {
                self.outer[place].taken = true;
                let pick = self.values(axis, &setting.value)?;
                self.meet(&ChosenSetting::Cells(axis, pick.clone()), &setting)?;
                return Ok(pick);
            }
        }
        Ok(AxisPick::Free)
    }

    /// Restricts the cells to the values of a list. An expectation is judged cell by cell, so all
    /// lists of one axis apply to the same cell and must have a value in common.
    fn meet(&mut self, chosen: &ChosenSetting, setting: &ExprSetting) -> CheckResult<()> {
        let ChosenSetting::Cells(axis, AxisPick::Among(places)) = chosen else { return Ok(()) };
        if self.purpose != ExprPurpose::Expectation {
            let axis = self.space.axes[*axis].name();
            let message =
                format!("`{setting}` is several cells, and this is one number of each run");
            let hint = format!("choose one value of `{axis}`, or leave the filter out");
            return Err(ExprComplaint::new(setting.value.span.clone(), message).hint(hint));
        }
        let common = self.common[*axis].get_or_insert_with(|| places.clone());
        common.retain(|place| places.contains(place));
        if !common.is_empty() {
            return Ok(());
        }
        let axis = self.space.axes[*axis].name();
        let message = format!("with `{setting}` the lists of `{axis}` have no value in common");
        let hint = format!("to compare two cells, write one value for each, such as `{axis}=…`");
        Err(ExprComplaint::new(setting.value.span.clone(), message).hint(hint))
    }

    /// Checks that a quantity chooses one value of the axis that the study compares.
    pub(super) fn must_be_one(
        &self,
        node: &SyntaxNode,
        axis: usize,
        pick: &AxisPick,
    ) -> CheckResult<()> {
        let Some(compared) = self.space.compared.map(|place| &self.space.axes[place]) else {
            return Ok(());
        };
        // With a single value there is no choice to make.
        let one = matches!(pick, AxisPick::Fixed(_)) || compared.values.len() < 2;
        if self.purpose != ExprPurpose::Expectation || self.space.compared != Some(axis) || one {
            return Ok(());
        }
        let name = compared.name();
        let labels: Vec<&str> = compared.values.iter().map(|value| &*value.label).collect();
        let message = format!("`{}` must be of one value of `{name}`", node.item);
        let hint = format!("add `{name}=…` with one of {}", labels.join(", "));
        Err(ExprComplaint::new(node.span.clone(), message).hint(hint))
    }

    /// Returns the index of the axis that a name means; `None` if there is none.
    pub(super) fn axis(&self, span: Range<usize>, name: &str) -> CheckResult<Option<usize>> {
        match self.space.find(name)[..] {
            [] => Ok(None),
            [axis] => Ok(Some(axis)),
            [first, ..] => {
                let message = format!("several axes are called `{name}`");
                let hint = format!("write all of it: `{}`", self.space.axes[first].path);
                Err(ExprComplaint::new(span, message).hint(hint))
            }
        }
    }

    fn chosen(
        &self,
        quantity: &'static NamedQuantity,
        setting: &ExprSetting,
    ) -> CheckResult<Option<ChosenSetting>> {
        if let Some(key) = quantity.key(&setting.key.item) {
            let mut tests = Vec::new();
            add_tests(key, &setting.value, &mut tests)?;
            // A quantity over time can be cut to one window only: several windows would leave gaps.
            let is_curve = matches!(quantity.source, QuantitySource::Series(_));
            if is_curve && key.kind == KeyKind::Time && tests.len() != 1 {
                let message = format!("`{}` takes one range of times", key.name);
                let complaint = ExprComplaint::new(setting.value.span.clone(), message);
                return Err(complaint.hint("such as `time=100s..200s`"));
            }
            return Ok(Some(ChosenSetting::Rows(Filter { key, tests })));
        }
        let Some(axis) = self.axis(setting.key.span.clone(), &setting.key.item)? else {
            return Ok(None);
        };
        Ok(Some(ChosenSetting::Cells(axis, self.values(axis, &setting.value)?)))
    }

    /// Returns whether `name` is the key of a table or the name of an axis.
    pub(super) fn is_key(&self, name: &str) -> bool {
        ROW_KEYS.iter().any(|key| key.name == name) || !self.space.find(name).is_empty()
    }

    /// Returns the complaint about a key that chooses nothing here.
    pub(super) fn no_key(&self, setting: &ExprSetting, why: &str) -> ExprComplaint {
        let Spanned { span, item: name } = &setting.key;
        if self.is_key(name) {
            return ExprComplaint::new(span.clone(), format!("{why} `{name}`"));
        }
        let axes = self.space.axes.iter().flat_map(|axis| [axis.name(), &axis.path]);
        let keys: Vec<&str> = ROW_KEYS.iter().map(|key| key.name).chain(axes).collect();
        let complaint = ExprComplaint::new(span.clone(), format!("unknown filter `{name}`"));
        let has_near = nearest(name, keys.iter().copied()).is_some();
        if self.space.axes.is_empty() && !has_near {
            return complaint.hint(
                "a single scenario has no axes to choose by; those of a study stand in its `sweep`",
            );
        }
        complaint.nearest(name, keys)
    }

    /// Returns the values of an axis that a setting chooses.
    pub(super) fn values(&self, axis: usize, choice: &Spanned<Choice>) -> CheckResult<AxisPick> {
        let places = self.places(axis, choice)?;
        Ok(match places[..] {
            [one] => AxisPick::Fixed(one),
            _ => AxisPick::Among(places),
        })
    }

    fn places(&self, axis: usize, choice: &Spanned<Choice>) -> CheckResult<Vec<usize>> {
        let axis_of = &self.space.axes[axis];
        if let Choice::List(items) = &choice.item {
            let mut places = Vec::new();
            for item in items {
                places.extend(self.places(axis, item)?);
            }
            // Sort the values in the study's order and remove duplicates: lists may overlap.
            places.sort_unstable();
            places.dedup();
            return Ok(places);
        }
        let values = axis_of.values.iter().enumerate();
        let places: Vec<usize> = values
            .filter(|(_, value)| names(&choice.item, value))
            .map(|(place, _)| place)
            .collect();
        if places.is_empty() {
            let message = format!("`{}` is no value of `{}`", choice.item, axis_of.path);
            let labels: Vec<&str> = axis_of.values.iter().map(|value| &*value.label).collect();
            let complaint = ExprComplaint::new(choice.span.clone(), message);
            return Err(match &choice.item {
                Choice::Word(word) => complaint.nearest(word, labels),
                _ => complaint.one_of(labels),
            });
        }
        Ok(places)
    }
}

impl Selection {
    /// Adds a resolved setting, unless an inner one with the same key or axis exists. Returns
    /// whether it was added.
    fn add(&mut self, chosen: &ChosenSetting) -> bool {
        match chosen {
            ChosenSetting::Rows(filter) => {
                let new = self.rows.iter().all(|other| other.key != filter.key);
                self.rows.extend(new.then(|| filter.clone()));
                new
            }
            ChosenSetting::Cells(axis, pick) => {
                let new = self.cell[*axis] == AxisPick::Free;
                if new {
                    self.cell[*axis] = pick.clone();
                }
                new
            }
        }
    }

    /// Restricts an earlier filter with the same key to the rows that both filters choose. Returns
    /// whether any row can pass both.
    fn narrow(&mut self, filter: &Filter) -> bool {
        let Some(own) = self.rows.iter_mut().find(|own| own.key == filter.key) else {
            return true;
        };
        let both = own.tests.iter().flat_map(|own| filter.tests.iter().map(|test| own.and(test)));
        own.tests = both.flatten().collect();
        !own.tests.is_empty()
    }
}

impl FilterTest {
    /// Returns the test that accepts the cells which both tests accept; `None` if no cell can pass
    /// both.
    fn and(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Within(low, high), Self::Within(from, to)) => {
                let (low, high) = (low.max(*from), high.min(*to));
                (low <= high).then_some(Self::Within(low, high))
            }
            // Only equal words have cells in common; a word and a range have none.
            _ => (self == other).then(|| self.clone()),
        }
    }
}

/// Returns whether a choice includes a value of an axis.
fn names(choice: &Choice, value: &SpaceValue) -> bool {
    let within = |low: f64, high: f64, unit: Unit| {
        // Values were converted from text, so the end of a range may differ from an equal value by
        // rounding.
        let slack = |end: f64| end.abs() * 1e-9;
        value.number.is_some_and(|(number, own)| {
            own.fits(unit) && low - slack(low) <= number && number <= high + slack(high)
        })
    };
    match choice {
        Choice::Word(word) => *word == value.label,
        Choice::Number(number) => {
            number.text == value.label || within(number.value, number.value, number.unit)
        }
        Choice::Range(from, to) => ends(from.as_ref(), to.as_ref())
            .is_some_and(|(low, high, unit)| within(low, high, unit)),
        Choice::List(_) | Choice::Through(..) | Choice::Computed(_) => false,
    }
}

/// Returns the ends of a range and their unit; `None` if the units differ.
fn ends(from: Option<&Literal>, to: Option<&Literal>) -> Option<(f64, f64, Unit)> {
    let unit = from.or(to).map(|end| end.unit)?;
    let same = [from, to].into_iter().flatten().all(|end| end.unit.fits(unit));
    let low = from.map_or(f64::NEG_INFINITY, |end| end.value);
    let high = to.map_or(f64::INFINITY, |end| end.value);
    same.then_some((low, high, unit))
}

/// Adds the tests of a choice for the cells of a column.
fn add_tests(
    key: &RowKey,
    choice: &Spanned<Choice>,
    tests: &mut Vec<FilterTest>,
) -> CheckResult<()> {
    if let Choice::List(items) = &choice.item {
        return items.iter().try_for_each(|item| add_tests(key, item, tests));
    }
    let spanned = |word: &str| Spanned { span: choice.span.clone(), item: word.to_owned() };
    let test = match (key.kind, &choice.item) {
        (KeyKind::Word | KeyKind::Among(_), Choice::Word(word)) => {
            Some(FilterTest::Is(spanned(word)))
        }
        // The name of a pool may be a number, such as `1`.
        (KeyKind::Word, Choice::Number(number)) => Some(FilterTest::Is(spanned(&number.text))),
        (KeyKind::Number | KeyKind::Time, Choice::Number(number)) => {
            range(key.kind, Some(number), Some(number))
        }
        (KeyKind::Number | KeyKind::Time, Choice::Range(from, to)) => {
            range(key.kind, from.as_ref(), to.as_ref())
        }
        _ => None,
    };
    if let (KeyKind::Among(words), Some(FilterTest::Is(word))) = (key.kind, &test)
        && !words.contains(&word.item.as_str())
    {
        let (message, known) = (format!("`{word}` is no {}", key.name), words.iter().copied());
        return Err(ExprComplaint::new(choice.span.clone(), message).nearest(&word.item, known));
    }
    let test = test.ok_or_else(|| {
        let takes = match key.kind {
            KeyKind::Word | KeyKind::Among(_) => "a word or a list such as [a, b]",
            KeyKind::Number => "a number, or a range such as 1..25",
            KeyKind::Time => "a range of times such as 100s..200s",
        };
        ExprComplaint::new(choice.span.clone(), format!("`{}` takes {takes}", key.name))
    })?;
    tests.push(test);
    Ok(())
}

fn range(kind: KeyKind, from: Option<&Literal>, to: Option<&Literal>) -> Option<FilterTest> {
    let expected = if kind == KeyKind::Time { Unit::TIME } else { Unit::PLAIN };
    let fits =
        [from, to].into_iter().flatten().all(|end| end.value == 0.0 || end.unit.fits(expected));
    let low = from.map_or(f64::NEG_INFINITY, |end| end.value);
    let high = to.map_or(f64::INFINITY, |end| end.value);
    (fits && low <= high).then_some(FilterTest::Within(low, high))
}
