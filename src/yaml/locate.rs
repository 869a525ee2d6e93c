//! The line and column of a path, found only if there is a mistake to show.
//!
//! The reader of YAML knows where an error was raised. So the tree is built once more with an error
//! raised at the end of the path; the place of that error is the answer.

use super::path::{Path, PathStep, PointAt};
use super::tree::{FOUND, build};

/// Returns the line and column, from 1, of a node. A node that the text lacks gets the place of the
/// innermost node around it; `None` if that is the text as a whole.
pub(crate) fn locate(text: &str, path: &Path, part: PointAt) -> Option<(usize, usize)> {
    let outermost = usize::from(!path.0.is_empty());
    (outermost..=path.0.len()).rev().find_map(|len| {
        let node = Path(path.0[..len].to_vec());
        // An entry of a list has no key. In place of a missing node, the value of the node around
        // it is marked, usually its first key.
        let is_entry = !matches!(node.0.last(), Some(PathStep::Key(_)));
        let is_around = len < path.0.len();
        let part = if is_entry || is_around { PointAt::Value } else { part };
        let error = build(text, Some((&node, part))).err()?;
        let place = error.location()?;
        error.to_string().contains(FOUND).then(|| (place.line(), place.column()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
seed: 7
cluster:
  nodes: 0
  groups: [{count: 1}, {count: 2,
    cores: x}]
  nodes: 3
";

    fn at(path: &str, part: PointAt) -> (usize, usize) {
        locate(TEXT, &Path::of(path), part).unwrap()
    }

    #[test]
    fn values_and_keys_are_found() {
        assert_eq!(at("seed", PointAt::Value), (1, 7));
        assert_eq!(at("seed", PointAt::Key), (1, 1));
        assert_eq!(at("cluster.nodes", PointAt::Value), (3, 10));
        assert_eq!(at("cluster.nodes", PointAt::SecondKey), (6, 3));
        assert_eq!(at("cluster.groups[1].cores", PointAt::Value), (5, 12));
        for part in [PointAt::Value, PointAt::Key] {
            assert_eq!(at("cluster.groups[1]", part), (4, 24), "an entry has no key");
        }
    }

    #[test]
    fn a_missing_key_is_marked_by_its_surroundings() {
        assert_eq!(at("cluster.groups[1].memory", PointAt::Value), (4, 24));
        assert_eq!(at("cluster.groups[9]", PointAt::Value), (4, 11));
        assert_eq!(at("seed.eight", PointAt::Key), (1, 7));
        assert_eq!(locate(TEXT, &Path::of("workload"), PointAt::Key), None);
        assert_eq!(locate("", &Path::default(), PointAt::Value), None);
    }
}
