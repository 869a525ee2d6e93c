//! `path=value`: a value that is put over the file's, by the command line or by a study.

use serde_yaml::{Mapping, Value};

use crate::yaml::{Path, Step, tree};

/// Reads `path=value`.
pub(super) fn parse(text: &str) -> Result<(Path, Value), String> {
    let Some((path, value)) = text.split_once('=') else {
        return Err(format!("`{text}` is not of the form path=value"));
    };
    let path = Path::parse(path.trim())
        .ok_or_else(|| format!("`{path}` is not a path such as workload.jobs[0].maps"))?;
    // Nothing is a value too: it takes away what a preset or the file says.
    if ["null", "~"].contains(&value.trim()) {
        return Ok((path, Value::Null));
    }
    match tree(value) {
        Ok(tree) if tree.doubled.is_empty() => Ok((path, tree.value)),
        Ok(tree) => Err(format!("the key `{}` stands twice", tree.doubled[0])),
        Err(error) => Err(error.message),
    }
}

/// Puts a value at a path; returns the path with the indices of lists for numbers, and the
/// outermost node that exists only because of it.
pub(super) fn put(root: &mut Value, path: &Path, value: Value) -> Result<(Path, Path), String> {
    let mut node = root;
    let mut at = Path::default();
    let mut made = None;
    for (place, step) in path.0.iter().enumerate() {
        // A key may be a path itself, as in a study's `sweep: {cluster.nodes: [10, 20]}`.
        let rest = Path(path.0[place..].to_vec()).to_string();
        if 1 < path.0.len() - place
            && let Some(known) = node.as_mapping_mut().and_then(|map| map.get_mut(&rest))
        {
            *known = value;
            at = at.key(&rest);
            return Ok((at.clone(), made.unwrap_or(at)));
        }
        if let (Value::Sequence(_), Step::Key(key)) = (&*node, step) {
            let index = key.parse().map_err(|_| format!("`{at}` is a list: {key} is no index"))?;
            at = at.index(index);
        } else {
            if let Step::Key(key) = step
                && open(node, &at, key)
            {
                made.get_or_insert(at.clone());
            }
            at = Path([at.0, vec![step.clone()]].concat());
        }
        node = match (node, at.0.last()) {
            (Value::Sequence(list), Some(Step::Index(index))) => {
                let len = list.len();
                list.get_mut(*index).ok_or_else(|| format!("`{at}` is not there: {len} entries"))?
            }
            (Value::Mapping(map), Some(Step::Key(key))) => {
                if !map.contains_key(key.as_str()) {
                    made.get_or_insert(at.clone());
                }
                map.entry(Value::from(key.as_str())).or_insert(Value::Null)
            }
            _ => return Err(format!("`{at}` is not there: there is no list")),
        };
    }
    *node = value;
    let made = made.unwrap_or_else(|| at.clone());
    Ok((at, made))
}

/// Makes a node a mapping that has room for `key`; returns whether that replaced what was there.
///
/// A bare name on the way is short for a mapping: of a preset, a line, or a choice without options.
/// To name another policy replaces the one that stands there.
fn open(node: &mut Value, at: &Path, key: &str) -> bool {
    let place = at.to_string();
    let is_choice = place == "scheduler";
    let (long, replaced) = match &*node {
        Value::Mapping(map) if is_choice && !map.contains_key(key) => (Mapping::new(), true),
        Value::Mapping(_) | Value::Sequence(_) => return false,
        Value::Null => (Mapping::new(), false),
        name => match place.as_str() {
            "cluster" | "workload" => (one("preset", name.clone()), false),
            "hadoop" => (one("line", name.clone()), false),
            _ if name.as_str() == Some(key) => (one(key, Value::Null), false),
            _ => (Mapping::new(), true),
        },
    };
    *node = long.into();
    replaced
}

fn one(key: &str, value: Value) -> Mapping {
    Mapping::from_iter([(Value::from(key), value)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(yaml: &str, setting: &str) -> Result<String, String> {
        let mut root = tree(yaml).unwrap().value;
        let (path, value) = parse(setting)?;
        put(&mut root, &path, value)?;
        Ok(serde_json::to_string(&root).unwrap())
    }

    #[test]
    fn a_value_is_put_where_the_path_says() {
        for (yaml, setting, result) in [
            ("seed: 1", "seed=7", r#"{"seed":7}"#),
            ("", "cluster.disk.rate=1MB/s", r#"{"cluster":{"disk":{"rate":"1MB/s"}}}"#),
            ("a: [{b: 1}]", "a[0].b=2", r#"{"a":[{"b":2}]}"#),
            ("sweep: {a.b: [1]}", "sweep.a.b=[2]", r#"{"sweep":{"a.b":[2]}}"#),
            ("a: [{b: 1}]", "a.0.b=[2, 3]", r#"{"a":[{"b":[2,3]}]}"#),
            ("a: 1", "a=", r#"{"a":{}}"#),
            ("a: {b: 1}", "a.b=null", r#"{"a":{"b":null}}"#),
        ] {
            assert_eq!(set(yaml, setting).unwrap(), result, "{yaml} --set {setting}");
        }
    }

    #[test]
    fn a_bare_name_on_the_way_keeps_its_meaning() {
        for (yaml, setting, result) in [
            (
                "cluster: ec2-100",
                "cluster.nodes=5",
                r#"{"cluster":{"preset":"ec2-100","nodes":5}}"#,
            ),
            ("hadoop: 1.x", "hadoop.poll=5s", r#"{"hadoop":{"line":"1.x","poll":"5s"}}"#),
            (
                "workload: fb2009",
                "workload.mix.jobs=5",
                r#"{"workload":{"preset":"fb2009","mix":{"jobs":5}}}"#,
            ),
            (
                "workload: {jobs: []}",
                "workload.start=5s",
                r#"{"workload":{"jobs":[],"start":"5s"}}"#,
            ),
            ("scheduler: a", "scheduler.a.x=1", r#"{"scheduler":{"a":{"x":1}}}"#),
            ("scheduler: a", "scheduler.b.x=1", r#"{"scheduler":{"b":{"x":1}}}"#),
            ("scheduler: {a: {y: 2}}", "scheduler.b.x=1", r#"{"scheduler":{"b":{"x":1}}}"#),
            ("scheduler: {a: {y: 2}}", "scheduler.a.x=1", r#"{"scheduler":{"a":{"y":2,"x":1}}}"#),
        ] {
            assert_eq!(set(yaml, setting).unwrap(), result, "{yaml} --set {setting}");
        }
    }

    #[test]
    fn a_setting_that_leads_nowhere_is_refused() {
        for setting in ["a", "=1", "a[1].b=2", "a.x=1", "b[0]=1", "a[0]=[", "a.b.=1"] {
            assert!(set("a: [1]", setting).is_err(), "{setting}");
        }
    }
}
