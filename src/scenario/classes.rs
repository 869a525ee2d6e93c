//! `classes: {small: maps <= 2, large: true}`: the rules by which reports group jobs.

use std::fmt;
use std::str::FromStr;

use indexmap::IndexMap;
use schemars::json_schema;
use serde::de::Unexpected;
use serde::{Serialize, Serializer};

use mumakil_base::forms;

/// The rule that decides which jobs belong to a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassRule {
    /// No condition: every job fits.
    Any,
    /// A comparison of a count with a number.
    Compare(ClassCount, ClassComparison, u32),
}

/// The count that a rule compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassCount {
    /// The number of the job's maps.
    Maps,
    /// The number of the job's reduces.
    Reduces,
}

/// The comparison of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassComparison {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    More,
}

impl ClassRule {
    /// Returns whether a job with `maps` maps and `reduces` reduces fits.
    pub fn fits(self, maps: u32, reduces: u32) -> bool {
        let Self::Compare(counted, comparison, number) = self else { return true };
        let count = match counted {
            ClassCount::Maps => maps,
            ClassCount::Reduces => reduces,
        };
        let (first, end) = comparison.range(number);
        (first..end).contains(&count.into())
    }
}

/// One more than the largest count.
// It needs 64 bits: the ranges of `> 4294967295` and of `<= 4294967295` end there.
const END: u64 = 1 << 32;

impl ClassComparison {
    /// Returns the first count that fits, and the count after the last one that fits.
    fn range(self, number: u32) -> (u64, u64) {
        let number = u64::from(number);
        match self {
            Self::Less => (0, number),
            Self::AtMost => (0, number + 1),
            Self::Equal => (number, number + 1),
            Self::AtLeast => (number, END),
            Self::More => (number + 1, END),
        }
    }
}

/// Returns the classes whose rules never decide, since earlier rules fit all of their jobs. Most of
/// them come from a file that is laid over another file: the new classes of the upper file go to
/// the end.
pub(super) fn hidden(classes: &IndexMap<String, ClassRule>) -> impl Iterator<Item = &str> {
    // A pair of numbers for maps, and one for reduces: earlier rules fit all counts below the first
    // number, and all counts from the second number on. Rules for counts in between (`maps == 5`)
    // are ignored. So a hidden class may be missed, but every reported class is hidden.
    let mut taken = [(0, END); 2];
    let hidden = classes.iter().filter(move |(_, rule)| {
        let is_all_taken = taken.iter().any(|(below, from)| from <= below);
        let ClassRule::Compare(counted, comparison, number) = **rule else {
            // `true` fits every job and leaves none for the classes behind it.
            taken = [(END, 0); 2];
            return is_all_taken;
        };
        let (first, end) = comparison.range(number);
        let (below, from) = &mut taken[counted as usize];
        let is_hidden = is_all_taken || end <= *below || *from <= first;
        // A rule extends a range of counts that are taken only if its own counts touch that range.
        if first <= *below {
            *below = end.max(*below);
        }
        if *from <= end {
            *from = first.min(*from);
        }
        is_hidden
    });
    hidden.map(|(class, _)| class.as_str())
}

/// Returns the default classes for jobs of a trace, which names no classes. They are the classes in
/// HFSP's experiments for Facebook's jobs of 2009.
pub(super) fn by_size() -> IndexMap<String, ClassRule> {
    let at_most = |maps| ClassRule::Compare(ClassCount::Maps, ClassComparison::AtMost, maps);
    let classes = [("small", at_most(2)), ("medium", at_most(500)), ("large", ClassRule::Any)];
    classes.into_iter().map(|(class, rule)| (class.to_owned(), rule)).collect()
}

const COUNTED: [(&str, ClassCount); 2] =
    [("maps", ClassCount::Maps), ("reduces", ClassCount::Reduces)];

/// The signs of comparisons. Longer signs come first, so that `<` does not match a part of `<=`.
const COMPARISONS: [(&str, ClassComparison); 5] = [
    ("<=", ClassComparison::AtMost),
    (">=", ClassComparison::AtLeast),
    ("==", ClassComparison::Equal),
    ("<", ClassComparison::Less),
    (">", ClassComparison::More),
];

impl FromStr for ClassRule {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        if text == "true" {
            return Ok(Self::Any);
        }
        let (word, counted) =
            COUNTED.into_iter().find(|(word, _)| text.starts_with(word)).ok_or(())?;
        let rest = text[word.len()..].trim_start();
        let (sign, comparison) =
            COMPARISONS.into_iter().find(|(sign, _)| rest.starts_with(sign)).ok_or(())?;
        let number = rest[sign.len()..].trim_start();
        // `parse` would accept `+2`, which the schema's pattern refuses.
        if !number.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(());
        }
        Ok(Self::Compare(counted, comparison, number.parse().map_err(|_| ())?))
    }
}

impl fmt::Display for ClassRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Compare(counted, comparison, number) = self else {
            return f.write_str("true");
        };
        let word = COUNTED.into_iter().find(|(_, other)| other == counted).map(|(word, _)| word);
        let sign = COMPARISONS.into_iter().find(|(_, other)| other == comparison);
        let (word, sign) =
            (word.unwrap_or_default(), sign.map(|(sign, _)| sign).unwrap_or_default());
        write!(f, "{word} {sign} {number}")
    }
}

impl Serialize for ClassRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Any => to.serialize_bool(true),
            Self::Compare(..) => to.collect_str(self),
        }
    }
}

const RULE: &str = "a rule such as `maps <= 2`, `reduces > 10` or `true`";

forms! {
    ClassRule, expected: RULE,
    flag: |any| match any {
        true => Ok(ClassRule::Any),
        false => Err(E::invalid_value(Unexpected::Bool(any), &RULE)),
    },
    text: |text| text.parse().map_err(|()| E::invalid_value(Unexpected::Str(text), &RULE)),
    schema: "ClassRule", |_| json_schema!({
        "title": RULE,
        "anyOf": [
            { "const": true },
            { "type": "string", "pattern": r"^\s*(maps|reduces)\s*(<=|>=|==|<|>)\s*\d+\s*$" },
        ],
    }),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_as_printed_and_compare() {
        for (text, fits) in [
            ("maps <= 2", true),
            ("maps < 2", false),
            ("maps == 2", true),
            ("reduces >= 8", false),
            ("reduces > 6", true),
            ("true", true),
        ] {
            let rule: ClassRule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            assert_eq!(rule.fits(2, 7), fits, "{text} for 2 maps and 7 reduces");
        }
        assert_eq!("reduces>10".parse(), "reduces > 10".parse::<ClassRule>());
    }

    #[test]
    fn a_rule_of_which_nothing_is_left_is_found() {
        for (rules, found) in [
            (&["maps <= 2", "true", "maps <= 1", "reduces > 3"][..], &["2", "3"][..]),
            (&["maps <= 2", "maps <= 10", "true"], &[]),
            (&["maps <= 2", "maps < 2", "maps == 2", "maps < 4"], &["1", "2"]),
            (&["maps <= 2", "maps > 2", "reduces == 0", "true"], &["2", "3"]),
            (&["maps >= 9", "maps == 8", "maps > 7", "maps > 6", "reduces > 8"], &["2"]),
        ] {
            let classes = rules.iter().enumerate();
            let classes = classes.map(|(index, rule)| (index.to_string(), rule.parse().unwrap()));
            let classes: IndexMap<String, ClassRule> = classes.collect();
            assert_eq!(hidden(&classes).collect::<Vec<_>>(), found, "{rules:?}");
        }
    }

    #[test]
    fn other_rules_are_refused() {
        for text in
            ["", "maps", "maps =< 2", "maps <= -2", "maps <= +2", "mapss <= 2", "maps <= 2 x"]
        {
            assert!(text.parse::<ClassRule>().is_err(), "{text:?}");
        }
    }
}
