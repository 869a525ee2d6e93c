//! The place of a node in a tree: `workload.jobs[0].maps`.

use std::fmt;

use serde_yaml::Value;

/// One step from a node of the tree to a node inside it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathStep {
    /// To the value of a key.
    Key(String),
    /// To an entry of a list.
    Index(usize),
}

/// The steps from a node of the tree, such as the root, to a node inside it; the default has no
/// steps.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(pub Vec<PathStep>);

/// The part of a node to point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointAt {
    /// The value of the node.
    Value,
    /// The key of the node.
    Key,
    /// The second occurrence of the key in its mapping.
    SecondKey,
}

impl Path {
    /// Reads `workload.jobs[0].maps` or `workload.jobs.0.maps`; in the second form the number
    /// counts as a key until the path is looked up in a tree with a list there. `None` if the text
    /// is no path.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
            if key.is_empty() {
                return None;
            }
            steps.push(PathStep::Key(key.to_owned()));
            while !indices.is_empty() {
                let (index, rest) = indices.strip_prefix('[')?.split_once(']')?;
                steps.push(PathStep::Index(index.parse().ok()?));
                indices = rest;
            }
        }
        Some(Self(steps))
    }

    /// Returns the path of a key inside of this node.
    pub fn key(&self, key: &str) -> Self {
        self.step(PathStep::Key(key.to_owned()))
    }

    /// Returns the path of a list's entry inside of this node.
    pub fn index(&self, index: usize) -> Self {
        self.step(PathStep::Index(index))
    }

    fn step(&self, step: PathStep) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }

    /// Returns the path that these steps lead to from this node.
    pub fn join(&self, inside: &[PathStep]) -> Self {
        Self([&self.0[..], inside].concat())
    }

    /// Returns the path of a dotted text in the program itself.
    pub fn of(keys: &str) -> Self {
        Self::parse(keys).expect("a path in the source is well formed")
    }

    /// Returns the path of the node around this one, and the last step; `None` for the root.
    pub fn split_last(&self) -> Option<(Self, &PathStep)> {
        let (last, parents) = self.0.split_last()?;
        Some((Self(parents.to_vec()), last))
    }

    /// Returns the list that this is an entry of, or else the node itself.
    pub(crate) fn of_list(&self) -> Self {
        let indices =
            self.0.iter().rev().take_while(|step| matches!(step, PathStep::Index(_))).count();
        Self(self.0[..self.0.len() - indices].to_vec())
    }

    /// Returns whether `other` is this node, or inside it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Returns the node at this path; `None` if there is none.
    pub fn get<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(root, |node, step| match step {
            PathStep::Key(key) => node.as_mapping()?.get(key.as_str()),
            PathStep::Index(index) => node.as_sequence()?.get(*index),
        })
    }

    /// Returns the node at this path, to change it; `None` if there is none.
    pub fn get_mut<'v>(&self, root: &'v mut Value) -> Option<&'v mut Value> {
        self.0.iter().try_fold(root, |node, step| match step {
            PathStep::Key(key) => node.as_mapping_mut()?.get_mut(key.as_str()),
            PathStep::Index(index) => node.as_sequence_mut()?.get_mut(*index),
        })
    }

    /// Removes the node at this path; returns whether it was there.
    pub fn remove(&self, root: &mut Value) -> bool {
        let Some((parent, last)) = self.split_last() else { return false };
        match (parent.get_mut(root), last) {
            (Some(Value::Mapping(map)), PathStep::Key(key)) => {
                // `shift_remove` keeps the order of the other keys.
                map.shift_remove(key.as_str()).is_some()
            }
            (Some(Value::Sequence(list)), PathStep::Index(index)) if *index < list.len() => {
                list.remove(*index);
                true
            }
            _ => false,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if number == 0 => f.write_str(key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_back_as_printed() {
        for text in ["seed", "cluster.disk.rate", "workload.jobs[0].after[2]", "a[0][1]"] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn broken_paths_are_refused() {
        for text in ["", ".", "a.", ".a", "a[", "a[x]", "a[0", "a[0]b", "[0]"] {
            assert_eq!(Path::parse(text), None, "{text:?}");
        }
    }
}
