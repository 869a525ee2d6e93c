//! Properties that hold for every text and every table.

use proptest::prelude::*;

use super::*;
use crate::expect::plan::{Aggregate, Element};
use crate::expect::value::{Value, ValueKey, combine};
use mumakil_base::expression::{ComparisonSign, Operation, Operator};

/// Texts made of tokens of the language: most are nonsense.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "mean(",
        "rising(",
        "sojourn",
        "slots",
        "nodes",
        "[class=small]",
        "maps=1..25",
        "by=",
        "within",
        "5 %",
        "of",
        "3s",
        "1h 30min",
        "0.5 points",
        "not",
        "and",
        "<=",
        "==",
        "+",
        "-",
        "^",
        "(",
        ")",
        "[",
        "]",
        ",",
        "..",
        "=",
        "\"a b\"",
        "hfsp-wait",
        "é",
    ];
    proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 0..20)
        .prop_map(|pieces| pieces.join(" "))
}

/// Texts of valid expressions.
fn expressions() -> impl Strategy<Value = String> {
    let atoms = [
        "3",
        "0.5 points",
        "15 %",
        "1h 30min",
        "2GiB",
        "nodes",
        "sojourn[class=small, maps=1..25]",
        "p99.9(heartbeat_rtt, seeds=pooled)",
        "wait[name=\"a b\", time=100s..]",
        "f(a, n=x*2, w=b-c)",
        "f(a, n=(x), m=(-x), k=(5s), by=(x[y=1]))",
        "max(x, by=maps[1..2, 3..], class=[a, 4x, 'say \"so\"'])",
    ];
    let atom = proptest::sample::select(atoms.to_vec()).prop_map(str::to_owned);
    atom.prop_recursive(6, 40, 3, |inner| {
        let operators = ["or", "and", "+", "-", "*", "/", "^", "<=", "!=", "within 5 points of"];
        let operator = proptest::sample::select(operators.to_vec());
        let unary = proptest::sample::select(vec!["-", "not "]);
        prop_oneof![
            (inner.clone(), operator, inner.clone())
                .prop_map(|(a, o, b)| format!("({a}) {o} ({b})")),
            (unary, inner.clone()).prop_map(|(sign, a)| format!("({sign}({a}))")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("f({a}, x={b})")),
        ]
    })
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in prop_oneof![any::<String>(), pieces()]) {
        let space = space(&[("cluster.nodes", &["1", "2"]), ("scheduler", &["a", "b"])], Some(1));
        match Expr::parse(&text) {
            Ok(expr) => drop((expr.expectation(&space), expr.metric(&space))),
            Err(complaint) => prop_assert!(complaint.column(&text) <= text.chars().count() + 1),
        }
    }

    #[test]
    fn a_printed_expression_parses_to_the_same(text in expressions()) {
        if let Ok(expr) = Expr::parse(&text) {
            let printed = expr.to_string();
            prop_assert_eq!(Expr::parse(&printed), Ok(expr), "{} became {}", text, printed);
        }
    }

    #[test]
    fn pairing_is_symmetric_and_shares_are_shares(
        a in proptest::collection::btree_map(0_u32..20, -10.0..10.0, 1..20),
        b in proptest::collection::btree_map(0_u32..20, -10.0..10.0, 1..20),
    ) {
        let keyed = |items: &BTreeMap<u32, f64>| {
            let key = |(job, number): (&u32, &f64)| (ValueKey { job: *job, ..ValueKey::default() }, *number);
            Value::Keyed(items.iter().map(key).collect())
        };
        let (a, b) = (keyed(&a), keyed(&b));
        let minus = Element::Operation(Operation::Binary(Operator::Minus));
        let there = combine(&minus, &[a.clone(), b.clone()]);
        let back = combine(&minus, &[b.clone(), a.clone()]);
        match (there, back) {
            (Ok(Value::Keyed(there)), Ok(Value::Keyed(back))) => {
                let negated: Vec<_> = back.into_iter().map(|(key, number)| (key, -number)).collect();
                prop_assert_eq!(there, negated);
            }
            (there, back) => prop_assert!(there.is_err() && back.is_err()),
        }
        let below = Element::Operation(Operation::Compare(vec![ComparisonSign::Less]));
        if let Ok(holds) = combine(&below, &[a, b]) {
            let share = Aggregate::Share.of(&holds).unwrap();
            prop_assert!((0.0..=1.0).contains(&share), "{}", share);
        }
    }
}
