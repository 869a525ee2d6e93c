//! Options of a policy that stand in a file of another language.

use std::collections::BTreeMap;
use std::path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;
use serde_yaml::Value;

use mumakil_yaml::{Path, YamlProblem};

/// Reads a file as options in YAML. The paths of problems are empty; each message begins with the
/// file and the position.
pub type OptionFileReader = fn(&path::Path) -> Result<OptionFile, Vec<YamlProblem>>;

/// The content of a file, as options in YAML.
#[derive(Clone, Debug)]
pub struct OptionFile {
    /// The path of the file.
    pub path: path::PathBuf,
    /// Its text.
    pub text: String,
    /// The options that it sets.
    pub options: Value,
    /// The byte of the text at which each option begins, by its path; the root has one, too.
    pub starts: BTreeMap<Path, usize>,
}

impl OptionFile {
    /// Returns a problem with an option that the file sets, or that it leaves out, as a problem with
    /// the whole file: the message begins with the position of the option, or of the nearest one
    /// around it.
    pub fn place(&self, problem: YamlProblem) -> YamlProblem {
        let nearest = (0..=problem.path.0.len())
            .rev()
            .find_map(|len| self.starts.get(&Path(problem.path.0[..len].to_vec())));
        let start = nearest.copied().unwrap_or_default();
        let message = format!("{}: {}", position(&self.path, &self.text, start), problem.message);
        YamlProblem { hint: problem.hint, ..YamlProblem::value(Path::default(), message) }
    }
}

/// Returns a position in a text as `FILE:LINE:COLUMN`.
pub fn position(file: &path::Path, text: &str, byte: usize) -> String {
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{}:{line}:{column}", file.display())
}

/// Returns the schema of options that may also stand in a file, whose path then replaces them; `file`
/// names such a path.
pub fn or_file<T: JsonSchema>(file: &str, schemas: &mut SchemaGenerator) -> Schema {
    let file = json!({ "type": "string", "title": file });
    json_schema!({ "anyOf": [file, T::json_schema(schemas)] })
}
