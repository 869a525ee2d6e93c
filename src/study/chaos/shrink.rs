//! The smallest scenario that still shows a mistake.
//!
//! Parts are taken out, the largest first, and numbers are halved, as long as what is left can be run
//! and breaks in the same way. Nothing here knows what a part means.

use std::time::Duration;

use serde_yaml::Value;

use super::draw::remove;
use super::now;
use mumakil_yaml::Step;

/// Makes a scenario smaller, as long as it shows what it should, in so much real time.
pub(super) fn shrink(tree: &Value, patience: Duration, shows_it: impl Fn(&Value) -> bool) -> Value {
    let began = now();
    let mut smallest = tree.clone();
    loop {
        let before = smallest.clone();
        for path in paths(&smallest) {
            for smaller in smaller(&smallest, &path) {
                if patience < began.elapsed() {
                    return smallest;
                }
                if smaller != smallest && shows_it(&smaller) {
                    smallest = smaller;
                    break;
                }
            }
        }
        if smallest == before {
            return smallest;
        }
    }
}

/// Returns what may stand instead: without what is at the path, or with half of it.
fn smaller(tree: &Value, path: &[Step]) -> Vec<Value> {
    let mut ways = Vec::new();
    let mut without = tree.clone();
    if remove_exactly(&mut without, path) {
        ways.push(without);
    }
    if let Some(number) = at(tree, path).and_then(Value::as_u64).filter(|number| 1 < *number) {
        for less in [1, number / 2, number - 1] {
            let mut with_less = tree.clone();
            *at_mut(&mut with_less, path).expect("it is there in the original") = less.into();
            ways.push(with_less);
        }
    }
    ways
}

fn remove_exactly(tree: &mut Value, path: &[Step]) -> bool {
    at(tree, path).is_some() && remove(tree, path)
}

fn at<'v>(tree: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(tree, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => value.get(*index),
    })
}

fn at_mut<'v>(tree: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(tree, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(*index),
    })
}

/// Returns the paths to all parts, from the outside in; of a list the last entry first, so that the
/// others keep their places.
fn paths(tree: &Value) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    let mut level = vec![(Vec::new(), tree)];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (path, value) in level {
            let inner = |step| {
                let mut longer: Vec<Step> = path.clone();
                longer.push(step);
                longer
            };
            match value {
                Value::Mapping(map) => {
                    let named = map.iter().filter_map(|(key, value)| Some((key.as_str()?, value)));
                    next.extend(
                        named.map(|(key, value)| (inner(Step::Key(key.to_owned())), value)),
                    );
                }
                Value::Sequence(list) => {
                    let entries = list.iter().enumerate().rev();
                    next.extend(entries.map(|(index, value)| (inner(Step::Index(index)), value)));
                }
                _ => {}
            }
        }
        all.extend(next.iter().map(|(path, _)| path.clone()));
        level = next;
    }
    all
}
