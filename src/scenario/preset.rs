//! Presets: YAML files in the binary, over which a scenario is laid.
//!
//! Versions of Hadoop, clusters and workloads all use this mechanism. The plain preset of each kind
//! has every value that has a default. All other presets have only the values that differ from it.

use std::borrow::Cow;

use serde_yaml::{Mapping, Value};

use super::registry::Registry;
use super::shape::shape;
use super::starter::Starter;
use crate::{bundled, bundled_text};
use mumakil_core::mapred::{Hadoop, HadoopLine};
use mumakil_yaml::{Path, YamlProblem, lay, tree};

/// The presets of one key of a scenario.
pub(super) struct Presets {
    /// The key in the scenario.
    pub(super) key: &'static str,
    /// The key below [`Self::key`] that names the preset, such as `preset`.
    pub(super) field: &'static str,
    /// The word for such a preset in messages.
    kind: &'static str,
    /// The text of the plain preset. All other presets are laid over it, and it is used if none is
    /// named.
    plain: &'static str,
    files: Cow<'static, [Starter]>,
}

/// The presets of Hadoop's versions.
pub(super) const HADOOP: Presets = Presets {
    key: "hadoop",
    field: "line",
    kind: "Hadoop line",
    plain: HadoopLine::V020.settings(),
    files: Cow::Borrowed(&[
        of_line(HadoopLine::V020),
        of_line(HadoopLine::V021),
        of_line(HadoopLine::V1),
        of_line(HadoopLine::Mumak),
    ]),
};

const fn of_line(line: HadoopLine) -> Starter {
    Starter { name: line.word(), text: line.settings() }
}

/// The presets of clusters.
pub(super) const CLUSTERS: Presets = Presets {
    key: "cluster",
    field: "preset",
    kind: "cluster preset",
    plain: bundled_text!("clusters/" "default"),
    files: Cow::Borrowed(bundled!(
        "clusters/": "default" "ec2-100" "private-100" "facebook-620"
        "srt-4" "srt-6" "srt-8" "srt-10" "vm-8" "mumak"
    )),
};

/// The presets of workloads. The plain preset has no jobs, so it has no name by which users could
/// choose it.
pub(super) const WORKLOADS: Presets = Presets {
    key: "workload",
    field: "preset",
    kind: "workload preset",
    plain: "{submission: replay, start: auto}",
    files: Cow::Borrowed(bundled!(
        "workloads/": "fb2009" "fb2010" "ds-io" "ds-cpu" "ds-mixed" "ds-scan" "ds-small"
        "ds-hierarchy" "srt" "mfs-a" "mfs-b"
    )),
};

/// Returns all presets, each with the key that names it.
pub fn presets() -> impl Iterator<Item = (String, &'static Starter)> {
    [&HADOOP, &CLUSTERS, &WORKLOADS].into_iter().flat_map(|presets| {
        let key = format!("{}.{}", presets.key, presets.field);
        presets.files.iter().map(move |file| (key.clone(), file))
    })
}

/// Returns the settings of a line of Hadoop.
pub fn hadoop_preset(line: HadoopLine) -> Hadoop {
    let preset = HADOOP.get(&line.to_string()).expect("each line has a preset");
    serde_yaml::from_value(preset).expect("a preset has all settings")
}

impl Presets {
    /// Returns all presets, those of a registry's lines included.
    pub(super) fn all(registry: &Registry) -> [Self; 3] {
        let mut all = [HADOOP, CLUSTERS, WORKLOADS];
        for (presets, which) in all.iter_mut().zip([0, 1]) {
            let own = registry.lines.iter().map(|line| line.presets()[which]);
            presets.files.to_mut().extend(own);
        }
        all
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.files.iter().map(|file| file.name)
    }

    /// Returns the keys that presets set themselves: pairs of a preset's name and a key.
    pub(super) fn keys(&self) -> impl Iterator<Item = (String, String)> {
        self.files.iter().flat_map(|Starter { name, text }| {
            let written = parse(text).as_mapping().cloned().unwrap_or_default();
            let keys = written.into_iter().filter_map(|(key, _)| Some(key.as_str()?.to_owned()));
            keys.map(|key| ((*name).to_owned(), key)).collect::<Vec<_>>()
        })
    }

    /// Returns a preset with every value filled in; `None` if there is none with this name.
    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let file = self.files.iter().find(|file| file.name == name)?;
        let mut own = parse(file.text);
        // A layer with a preset's name removes all layers below it. This preset must lie over the
        // plain one, so remove the name before laying it.
        let named = own.as_mapping_mut()?.shift_remove(self.field);
        let mut value = self.plain();
        lay(&mut value, own, shape().at(&Path::of(self.key)));
        if let Some(name) = named {
            value.as_mapping_mut()?.insert(self.field.into(), name);
        }
        Some(value)
    }

    pub(super) fn plain(&self) -> Value {
        parse(self.plain)
    }

    /// Returns the name of the plain preset, if it has one.
    pub(super) fn default(&self) -> Option<&'static str> {
        self.files.iter().find(|file| file.text == self.plain).map(|file| file.name)
    }

    /// Returns the preset if the user names none. `others` has the presets that are chosen already.
    /// A version of Hadoop brings the cluster of the same name, if there is one. So `hadoop: mumak`
    /// comes with a cluster whose messages take no time: with another cluster, Mumak's times could
    /// not be reproduced.
    pub(super) fn unnamed(&self, others: &Mapping) -> Value {
        let line = others.get(HADOOP.key).and_then(|hadoop| {
            let protocol = hadoop.get("protocol").and_then(|of| of.as_mapping()?.keys().next());
            protocol.or(hadoop.get(HADOOP.field))?.as_str()
        });
        let goes_with_it = (self.key == CLUSTERS.key).then_some(line).flatten();
        goes_with_it.and_then(|name| self.get(name)).unwrap_or_else(|| self.plain())
    }

    /// Returns the preset that the user names below the key, or `unnamed` if the user names none.
    /// For an unknown name, adds a problem and returns the plain preset.
    pub(super) fn named(
        &self,
        written: Option<&Value>,
        unnamed: Value,
        problems: &mut Vec<YamlProblem>,
    ) -> Value {
        let at = Path::of(self.key);
        let (name, at) = match written {
            Some(Value::Mapping(map)) => (map.get(self.field), at.key(self.field)),
            Some(Value::String(_) | Value::Number(_)) => (written, at),
            // A list, for example: the reader reports it later.
            _ => (None, at),
        };
        let Some(given) = name.filter(|name| !name.is_null()) else { return unnamed };
        let name = match given {
            Value::String(name) => name.clone(),
            // YAML reads an unquoted `0.20` as the number 0.2, and no version is called 0.2.
            Value::Number(number) if number.as_f64() == Some(0.2) => "0.20".to_owned(),
            Value::Number(number) => number.to_string(),
            _ => {
                problems.push(YamlProblem::value(at, format!("a {} is a name", self.kind)));
                return self.plain();
            }
        };
        self.get(&name).unwrap_or_else(|| {
            problems.push(YamlProblem::unknown(self.kind, &name, self.names(), at));
            self.plain()
        })
    }

    /// Removes a preset's name from a layer. A layer with such a name replaces the layers below it
    /// and is laid over that preset. The same holds for a layer that is no mapping, and for a layer
    /// over a value that is no mapping.
    pub(super) fn unname(&self, layer: &mut Mapping, under: &mut Mapping, preset: &Value) {
        let begins = match layer.get_mut(self.key) {
            None | Some(Value::Null) => return,
            Some(Value::Mapping(map)) => {
                map.shift_remove(self.field).is_some_and(|name| !name.is_null())
            }
            Some(bare @ (Value::String(_) | Value::Number(_))) => {
                *bare = Mapping::new().into();
                true
            }
            Some(_) => true,
        };
        if begins || !under[self.key].is_mapping() {
            under.insert(self.key.into(), preset.clone());
        }
    }
}

fn parse(text: &str) -> Value {
    tree(text).expect("the tests read every embedded preset").value
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{Hadoop, HadoopLine};

    #[test]
    fn every_file_is_embedded() {
        for (presets, folder) in [(CLUSTERS, "clusters"), (WORKLOADS, "workloads")] {
            let folder = format!("{}/../../scenarios/{folder}", env!("CARGO_MANIFEST_DIR"));
            let mut files: Vec<String> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            let mut embedded: Vec<String> =
                presets.names().map(|name| format!("{name}.yaml")).collect();
            files.sort();
            embedded.sort();
            assert_eq!(files, embedded);
        }
    }

    #[test]
    fn every_line_has_its_settings() {
        let lines = HadoopLine::ALL.map(HadoopLine::word);
        assert!(HADOOP.names().eq(lines));
        for line in HadoopLine::ALL {
            let preset = serde_yaml::to_string(&HADOOP.get(line.word())).unwrap();
            assert_eq!(Hadoop::of(line), serde_yaml::from_str(&preset).unwrap(), "{line}");
        }
    }

    #[test]
    fn every_preset_opens_with_its_question() {
        for file in [HADOOP, CLUSTERS, WORKLOADS].iter().flat_map(|presets| presets.files.iter()) {
            let Starter { name, text } = file;
            let first = text.lines().next().unwrap();
            assert!(first.starts_with("# ") && first.contains('?'), "{name}: {first}");
        }
    }
}
