//! The smallest scenario that still shows a mistake.
//!
//! Parts are taken out, the largest first, and numbers are halved, as long as what is left can be run
//! and breaks in the same way. Nothing here knows what a part means.

use std::time::Duration;

use serde_yaml::Value;

use super::now;
use mumakil_yaml::Path;

/// Makes a scenario smaller, as long as it shows what it should, in so much real time; returns also what
/// the smallest has shown, if it is another than the first.
pub(super) fn shrink<T>(
    mut tree: Value,
    patience: Duration,
    shows: impl Fn(&Value) -> Option<T>,
) -> (Value, Option<T>) {
    let began = now();
    let mut shown = None;
    loop {
        let before = tree.clone();
        for path in paths(&tree) {
            for smaller in smaller(&tree, &path) {
                if patience < began.elapsed() {
                    return (tree, shown);
                }
                if smaller != tree
                    && let Some(it) = shows(&smaller)
                {
                    (tree, shown) = (smaller, Some(it));
                    break;
                }
            }
        }
        if tree == before {
            return (tree, shown);
        }
    }
}

/// Returns what may stand instead: without what is at the path, or with half of it.
fn smaller(tree: &Value, path: &Path) -> Vec<Value> {
    let mut ways = Vec::new();
    let mut without = tree.clone();
    if path.remove(&mut without) {
        ways.push(without);
    }
    if let Some(number) = path.get(tree).and_then(Value::as_u64).filter(|number| 1 < *number) {
        for less in [1, number / 2, number - 1] {
            let mut with_less = tree.clone();
            *path.get_mut(&mut with_less).expect("it is there in the original") = less.into();
            ways.push(with_less);
        }
    }
    ways
}

/// Returns the paths to all parts, from the outside in; of a list the last entry first, so that the
/// others keep their places.
fn paths(tree: &Value) -> Vec<Path> {
    let mut all = vec![Path::default()];
    let mut next = 0;
    while let Some(path) = all.get(next).cloned() {
        match path.get(tree) {
            Some(Value::Mapping(map)) => {
                all.extend(map.keys().filter_map(Value::as_str).map(|key| path.key(key)));
            }
            Some(Value::Sequence(list)) => {
                all.extend((0..list.len()).rev().map(|index| path.index(index)));
            }
            _ => {}
        }
        next += 1;
    }
    all
}
