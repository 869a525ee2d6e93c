//! The smallest scenario that still shows a mistake.
//!
//! Parts are taken out, the largest first, and numbers are halved, as long as what is left can be run
//! and breaks in the same way. Nothing here knows what a part means.

use std::time::Duration;

use serde_yaml::Value;

use super::now;
use mumakil_yaml::Path;

/// Makes a scenario smaller while it still shows the mistake, for at most `patience`. Returns it
/// with what it has shown, or `None` if nothing could be taken away.
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
                // A way that changes nothing is not worth a run.
                if smaller != tree
                    && let Some(it) = shows(&smaller)
                {
                    (tree, shown) = (smaller, Some(it));
                    break;
                }
            }
        }
        // A whole round has changed nothing, so no smaller one is left.
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
        // The boldest first: most numbers can be 1 at once.
        for less in [1, number / 2, number - 1] {
            let mut with_less = tree.clone();
            *path.get_mut(&mut with_less).expect("it is there in the original") = less.into();
            ways.push(with_less);
        }
    }
    ways
}

/// Returns the paths to all parts, the outermost first, since to remove one saves trying all inside
/// it. Of a list the last entry comes first, so that the others keep their places.
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
