//! The words by which an expression selects rows must be in the rows of some run: a filter that
//! selects nothing, such as `[class=smal]`, is a mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::ExprPlan;
use mumakil_base::expression::ExprComplaint;
use mumakil_base::nearest::nearest;

/// The words that rows can have, for each key by which an expression can select: for example all
/// users of a run. Keys without any word are not checked.
#[derive(Clone, Debug, Default)]
pub struct KnownWords(BTreeMap<&'static str, BTreeSet<Arc<str>>>);

/// A word by which an expression selects rows, such as `ann` in `[user=ann]`.
pub(super) struct SelectedWord<'t> {
    pub(super) key: &'static str,
    pub(super) word: &'t str,
    pub(super) span: Range<usize>,
}

impl KnownWords {
    /// Adds words of a key.
    pub fn extend(&mut self, key: &'static str, words: impl IntoIterator<Item = Arc<str>>) {
        self.0.entry(key).or_default().extend(words);
    }

    fn complaint(&self, selected: &SelectedWord<'_>) -> Option<ExprComplaint> {
        let SelectedWord { key, word, span } = selected;
        let known = self.0.get(key).filter(|known| !known.contains(*word))?;
        let complaint = ExprComplaint::new(span.clone(), format!("there is no {key} `{word}`"));
        let known = || known.iter().map(|word| &**word);
        // `count` makes jobs `load-1`, `load-2`, … of the entry `load`, and no job `load`: propose
        // the first of them.
        let wanted = format!("{word}-1");
        let first = known().find(|known| *known == wanted);
        Some(match first.or_else(|| nearest(word, known())) {
            Some(near) => complaint.hint(format!("did you mean `{near}`?")),
            None => complaint.one_of(known()),
        })
    }
}

impl ExprPlan {
    /// Returns whether the expression selects rows by words.
    pub fn selects_by_words(&self) -> bool {
        !self.term.words().is_empty()
    }

    /// Returns a complaint about each word by which the expression selects and that is not known.
    pub fn unknown_words(&self, known: &KnownWords) -> Vec<ExprComplaint> {
        let mut complaints: Vec<ExprComplaint> = Vec::new();
        for complaint in self.term.words().iter().filter_map(|word| known.complaint(word)) {
            // A filter of a call applies to each quantity inside: one complaint is enough.
            if complaints.iter().all(|told| told.message != complaint.message) {
                complaints.push(complaint);
            }
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expect::{Expr, Space};

    fn unknown(text: &str) -> Vec<String> {
        let mut known = KnownWords::default();
        for (key, words) in
            [("name", &["b-1", "b-2"][..]), ("pool", &["ann", "1"]), ("class", &["small", "large"])]
        {
            known.extend(key, words.iter().map(|word| Arc::from(*word)));
        }
        let plan = Expr::parse(text).unwrap().expectation(&Space::default()).unwrap();
        let tell =
            |complaint: ExprComplaint| format!("{}: {complaint}", &text[complaint.span.clone()]);
        plan.unknown_words(&known).into_iter().map(tell).collect()
    }

    #[test]
    fn a_word_that_no_row_has_is_told_beside_those_that_there_are() {
        let one = |text| unknown(text).concat();
        assert_eq!(
            one("mean(sojourn[class=smal]) < 3s"),
            "smal: there is no class `smal`; did you mean `small`?"
        );
        assert_eq!(
            one("mean(sojourn, name=b) < 3s"),
            "b: there is no name `b`; did you mean `b-1`?"
        );
        assert_eq!(
            one("mean(task.time, pool=[ann, zoe]) < 3s"),
            "zoe: there is no pool `zoe`; there are `1`, `ann`"
        );
        assert_eq!(unknown("mean(sojourn[pool=x]) < mean(wait[name=c, pool=x])").len(), 2);
    }

    #[test]
    fn known_columns_and_unknown_tables_are_let_through() {
        for text in [
            "mean(sojourn, class=small) < max(wait, pool=1)",
            "max(slots[pool=1]) < 3",
            "count(attempt.time, user=nobody, outcome=failed, kind=map) == 0",
        ] {
            assert_eq!(unknown(text), [""; 0], "{text}");
        }
    }
}
