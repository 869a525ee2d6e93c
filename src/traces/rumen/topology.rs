//! Rumen's topology file: a tree of racks and machines.

use std::io;

use serde::{Deserialize, Serialize, Serializer};

use mumakil_core::trace::json::{self, nullable};
use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, clip};

/// The root of a topology, a rack, or a machine.
///
/// All machines of a file are at the same depth. The tree is at most fifty levels deep, since
/// objects with more than a hundred nested brackets are refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedTopology {
    /// The name; `<root>` for the root.
    pub name: String,
    /// The children; empty for a machine, which has null in the file.
    #[serde(default, deserialize_with = "nullable", serialize_with = "null_if_empty")]
    pub children: Vec<Self>,
}

fn null_if_empty<S: Serializer>(children: &[LoggedTopology], to: S) -> Result<S::Ok, S::Error> {
    if children.is_empty() { to.serialize_none() } else { to.collect_seq(children) }
}

impl LoggedTopology {
    /// Writes the topology as an object on a line of its own.
    pub fn write_to(&self, to: impl io::Write) -> io::Result<()> {
        json::write(self, to)
    }

    /// Returns the machines: for each the path of its rack, and its name.
    pub fn hosts(&self) -> Vec<(String, &str)> {
        fn walk<'a>(node: &'a LoggedTopology, path: &str, all: &mut Vec<(String, &'a str)>) {
            for child in &node.children {
                if child.children.is_empty() {
                    all.push((path.to_owned(), &child.name));
                } else {
                    walk(child, &format!("{path}/{}", child.name), all);
                }
            }
        }
        let mut all = Vec::new();
        walk(self, "", &mut all);
        all
    }

    /// Adds the depth and name of each machine below; a node without children is a machine itself.
    fn machines<'a>(&'a self, depth: usize, all: &mut Vec<(usize, &'a str)>) {
        if self.children.is_empty() {
            all.push((depth, &self.name));
        }
        for child in &self.children {
            child.machines(depth + 1, all);
        }
    }
}

impl Record for LoggedTopology {
    const NAME: &'static str = "Rumen topology";
    const FRAMING: Framing = Framing::Object(None);

    fn parse(object: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let root: Self = json::parse(object, unknown)?;
        let mut machines = Vec::new();
        root.machines(0, &mut machines);
        // Never empty: a root without children is a machine itself.
        let (depth, first) = machines[0];
        if depth == 0 {
            return Err(RecordFault::new("a topology without machines")
                .hint("list racks as the root's children, and machines as theirs"));
        }
        let mut names: Vec<&str> = machines.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(RecordFault::new(format!(
                "the machine {:?} is there twice",
                clip(twice[0])
            )));
        }
        match machines.iter().find(|machine| machine.0 != depth) {
            None => Ok(root),
            Some((other, name)) => {
                let [first, name] = [first, name].map(clip);
                Err(RecordFault::new(format!(
                    "the machine {first:?} is at depth {depth}, but {name:?} at depth {other}"
                ))
                .hint("give every machine a rack, and write null as its children"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::trace::{Records, Strictness};

    fn read(text: &str) -> Result<LoggedTopology, String> {
        let text = io::Cursor::new(text.to_owned());
        let mut records = Records::from_reader("t", text, Strictness::Strict).unwrap();
        records.only().map_err(|error| error.to_string())
    }

    const TEXT: &str = r#"{"name":"<root>","children":[{"name":"r0","children":[{"name":"h0","children":null},{"name":"h1","children":null}]},{"name":"r1","children":[{"name":"h2","children":null}]}]}
"#;

    #[test]
    fn a_topology_reads_back_as_written() {
        let root = read(TEXT).unwrap();
        assert_eq!(root.name, "<root>");
        assert_eq!(root.children[0].children[1].name, "h1");
        let mut text = Vec::new();
        root.write_to(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), TEXT);
    }

    #[test]
    fn mistakes_of_a_topology_are_named() {
        for (text, message) in [
            ("", "t:1: no Rumen topology in the file"),
            (
                r#"{"name": "<root>"}"#,
                "t:1: a topology without machines\n  \
                 hint: list racks as the root's children, and machines as theirs",
            ),
            (
                r#"{"name": "a", "children": [{"name": "b"}, {"name": "b"}]}"#,
                "t:1: the machine \"b\" is there twice",
            ),
            (
                r#"{"name": "a", "children": [{"name": "b"}]} {"name": "a", "children": [{"name": "b"}]}"#,
                "t:1: another Rumen topology in the same file",
            ),
            (r#"{"children": []}"#, "t:1: missing field `name` (byte 16)"),
            (
                r#"{"name": "a", "children": [{"name": 1}]}"#,
                "t:1: children[0].name: invalid type: integer `1`, expected a text (byte 37)",
            ),
            (
                r#"{"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{"name": "d"}]}]}"#,
                "t:1: the machine \"b\" is at depth 1, but \"d\" at depth 2\n  \
                 hint: give every machine a rack, and write null as its children",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
    }

    #[test]
    fn a_topology_is_not_nested_without_end() {
        let nested = |depth| {
            let open = r#"{"name":"n","children":["#.repeat(depth);
            format!(r#"{open}{{"name":"n"}}{}"#, "]}".repeat(depth))
        };
        assert!(read(&nested(49)).is_ok());
        assert_eq!(
            read(&nested(50)).unwrap_err(),
            "t:1: the object has more than 100 brackets within each other"
        );
        assert!(read(&nested(100_000)).is_err());
    }
}
