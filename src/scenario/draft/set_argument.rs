//! `--set path=value`: a value laid over a scenario from the command line.

use mumakil_yaml::{Finding, FindingSpot, Origin, Path, tree};
use serde_yaml::Value;

use super::Draft;

impl Draft {
    /// Lays the arguments of `--set` over the tree.
    #[must_use]
    pub fn with(mut self, sets: &[String]) -> Self {
        sets.iter().for_each(|set| self.set(&format!("--set {set}"), set));
        self
    }

    /// Lays `path=value` over the tree; messages show it as `argument`.
    pub fn set(&mut self, argument: &str, setting: &str) {
        let put = assignment(setting)
            .and_then(|(path, value)| self.put(&path, value, Origin::argument(argument)));
        match put {
            Ok(displaced) => self.displaced.extend(displaced),
            Err(message) => {
                let place = FindingSpot::Argument(argument.to_owned());
                self.findings.push(Finding { message, hint: None, path: String::new(), place });
            }
        }
    }
}

/// Reads `path=value`.
fn assignment(text: &str) -> Result<(Path, Value), String> {
    let Some((key, value)) = text.split_once('=') else {
        return Err(format!(
            "`{text}` is no setting: write `PATH=VALUE`, such as `cluster.nodes=50`"
        ));
    };
    let path = Path::parse(key.trim())
        .ok_or_else(|| format!("`{key}` is not a path such as workload.jobs[0].maps"))?;
    // An empty value removes the value of a preset or file.
    if ["null", "~"].contains(&value.trim()) {
        return Ok((path, Value::Null));
    }
    match tree(value) {
        Ok(tree) if tree.doubled.is_empty() => Ok((path, tree.value)),
        Ok(tree) => Err(format!("the key `{}` stands twice", tree.doubled[0])),
        Err(error) => Err(error.message),
    }
}

#[cfg(test)]
mod tests {
    use mumakil_yaml::PathStep;
    use proptest::prelude::*;
    use serde_yaml::Mapping;

    use super::*;
    use crate::shape::shape;

    fn set(yaml: &str, setting: &str) -> Result<String, String> {
        let draft = Draft::of("test.yaml", yaml).unwrap().with(&[setting.to_owned()]);
        match draft.findings.first() {
            None => Ok(serde_json::to_string(draft.document.tree()).unwrap()),
            Some(finding) => Err(finding.message.clone()),
        }
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
            (
                "workload: {rumen: {trace: x.json}}",
                "workload.rumen.trace.sha256=7",
                r#"{"workload":{"rumen":{"trace":{"path":"x.json","sha256":7}}}}"#,
            ),
        ] {
            assert_eq!(set(yaml, setting).unwrap(), result, "{yaml} --set {setting}");
        }
    }

    #[test]
    fn a_setting_that_leads_nowhere_is_refused() {
        for no_mapping in ["hello", "[1]"] {
            assert!(set(no_mapping, "seed=1").is_err(), "{no_mapping}");
        }
        for setting in ["a", "=1", "a[1].b=2", "a.x=1", "b[0]=1", "a[0]=[", "a.b.=1"] {
            assert!(set("a: [1]", setting).is_err(), "{setting}");
        }
    }

    proptest! {
        #[test]
        fn to_set_a_value_is_to_write_it_into_a_file_that_lies_over(
            luck in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let mut luck = luck.into_iter();
            let under = shape().some_mapping(&mut luck);
            let mut over = shape().some_mapping(&mut luck);
            let (mut path, mut value) = (Path::default(), over.clone());
            // Follow the first keys down to a value that is no mapping.
            while let Some((key, inner)) = value.as_mapping().and_then(|map| map.iter().next()) {
                path = path.key(key.as_str().unwrap());
                value = inner.clone();
            }
            over = path.0.iter().rev().fold(value.clone(), |value, step| match step {
                PathStep::Key(key) => Mapping::from_iter([(Value::from(key.as_str()), value)]).into(),
                PathStep::Index(_) => unreachable!("there are only mappings on the way"),
            });
            // Two cases differ and are left out: a path into a list sets one entry, while a mapping
            // replaces the whole list; and a path with a dot in a key means two keys.
            let has_dot = |step: &PathStep| matches!(step, PathStep::Key(key) if key.contains('.'));
            prop_assume!(!path.0.iter().any(has_dot));
            let is_list = |len| Path(path.0[..len].to_vec()).get(&under).is_some_and(Value::is_sequence);
            prop_assume!(path != Path::default() && !(0..path.0.len()).any(is_list));
            let text = |value: &Value| serde_json::to_string(value).unwrap();
            let mut laid = Draft::of("under.yaml", &text(&under)).unwrap();
            laid.lay_over(&Draft::of("over.yaml", &text(&over)).unwrap());
            let setting = format!("{path}={}", text(&value));
            let set = Draft::of("under.yaml", &text(&under)).unwrap().with(&[setting]);
            prop_assert_eq!(&set.findings, &[]);
            prop_assert_eq!(laid.document.tree(), set.document.tree());
        }
    }
}
