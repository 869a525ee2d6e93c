//! Makes a scenario that shows a mistake smaller, as long as it still shows the mistake.
//!
//! Removes parts of the scenario, the outermost first, and makes numbers smaller, as long as the
//! scenario can be run and fails in the same way. The meaning of a part does not matter.

use std::time::Duration;

use serde_yaml::Value;

use super::now;
use mumakil_yaml::Path;

/// Makes a scenario smaller while it still shows the mistake, for at most `patience` of real time.
/// Returns the smallest scenario and the result of `shows` for it; the result is `None` if no
/// smaller scenario shows the mistake.
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
                // A change without effect is not worth a run.
                if smaller != tree
                    && let Some(it) = shows(&smaller)
                {
                    (tree, shown) = (smaller, Some(it));
                    break;
                }
            }
        }
        // A whole round has changed nothing, so no change makes the scenario smaller.
        if tree == before {
            return (tree, shown);
        }
    }
}

/// Returns smaller trees to try: one without the part at the path and, if that part is a number,
/// some with a smaller number.
fn smaller(tree: &Value, path: &Path) -> Vec<Value> {
    let mut ways = Vec::new();
    let mut without = tree.clone();
    if path.remove(&mut without) {
        ways.push(without);
    }
    if let Some(number) = path.get(tree).and_then(Value::as_u64).filter(|number| 1 < *number) {
        // Try the smallest first: most numbers can be 1 at once.
        for less in [1, number / 2, number - 1] {
            let mut with_less = tree.clone();
            *path.get_mut(&mut with_less).expect("the copy has the path") = less.into();
            ways.push(with_less);
        }
    }
    ways
}

/// Returns the paths of all parts, the outermost first: removing an outer part saves trying the
/// parts inside it. The entries of a list come last to first, so that removing an entry does not
/// change the indices of entries still to try.
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
