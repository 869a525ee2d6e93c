//! `study.resolved.yaml`: the whole study, written into the study's folder so that the study can be
//! continued.
//! ```text
//! # Mumakil 0.3.0                       for readers: the version, the command, the files
//! # $ mumakil study mine.yaml
//! base: {cluster: {…}, …}               the base, written out
//! sweep:
//!   cluster.nodes: [10, 20, 30]         instead of {from: 10, to: 30, step: 10}
//!   seeds: [42, 43, 44]                 instead of 3
//! ```
//! The file is a study like any other, and it plans the same runs. The folder also keeps the files
//! that its scenarios name ([`super::brought_files`]).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_yaml::{Mapping, Value};

use crate::plan::axes;
use crate::plan::brought_files::{BringError, BroughtFiles, bring};
use crate::plan::runs::Plan;
use crate::plan::spec::Study;
use mumakil_base::files::{self, KEPT, STUDY_RESOLVED};
use mumakil_run::output::{OutputError, copy_file, write_file};
use mumakil_scenario::Draft;

/// Writes a study into its folder, with the files that its scenarios name; `command` is the command
/// line that began the study. A `study.resolved.yaml` that already has the same version and study
/// is not rewritten.
///
/// # Errors
/// If a named file has changed since the study was planned, or a file cannot be written.
pub fn keep(
    study: &Study,
    plan: &Plan,
    command: &str,
    folder: &Path,
    which: BroughtFiles,
) -> Result<(), BringError> {
    bring(&plan.files, folder, which)?;
    let (head, body) = (head(plan, command), body(study, plan));
    let version =
        |text: &str| text.lines().find(|line| line.starts_with("# Mumakil")).map(str::to_owned);
    let said = files::own_text(&folder.join(STUDY_RESOLVED)).unwrap_or_default();
    // Keep the file if only the command differs: the file shows the command that began the study,
    // not one that continued it.
    let is_known = version(&said) == version(&head) && without_comments(&said) == body;
    if !is_known {
        write_file(folder, STUDY_RESOLVED, (head + &body).as_bytes())?;
    }
    Ok(())
}

/// Copies `study.resolved.yaml` and the kept files of one study's folder into another folder. Does
/// nothing if the first folder has no `study.resolved.yaml`, or the other folder has one already.
pub fn keep_as(from: &Path, folder: &Path) -> Result<(), OutputError> {
    let (source, target) = (from.join(STUDY_RESOLVED), folder.join(STUDY_RESOLVED));
    if !source.is_file() || target.is_file() {
        return Ok(());
    }
    let unread = |path: &Path, source| OutputError::Read { path: path.to_owned(), source };
    let kept = from.join(KEPT);
    if kept.is_dir() {
        for entry in fs::read_dir(&kept).map_err(|error| unread(&kept, error))? {
            let entry = entry.map_err(|error| unread(&kept, error))?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            // Copy a link as a link: its target may be gigabytes.
            #[cfg(unix)]
            if let Ok(place) = fs::read_link(&path) {
                let target = folder.join(KEPT).join(name);
                let error = |source| OutputError::Write { path: target.clone(), source };
                mumakil_base::disk::create_dir_all(&folder.join(KEPT)).map_err(error)?;
                // A broken link counts as present, but `exists` would not see it.
                if fs::symlink_metadata(&target).is_err() {
                    std::os::unix::fs::symlink(place, &target).map_err(error)?;
                }
                continue;
            }
            copy_file(&path, &folder.join(KEPT).join(name))?;
        }
    }
    let text = fs::read(&source).map_err(|error| unread(&source, error))?;
    write_file(folder, STUDY_RESOLVED, &text)
}

/// Returns the comment lines at the head of the file.
fn head(plan: &Plan, command: &str) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    let mut text = format!(
        "# The study of this folder, with all that its runs are made of. `mumakil study DIR` goes on with\n\
         # it, where DIR is this folder, wherever that is.\n\
         # Mumakil {}\n\
         # $ {}\n",
        env!("CARGO_PKG_VERSION"),
        one_line(command)
    );
    for file in &plan.files {
        let path = file.pinned().path.display().to_string();
        writeln!(text, "# SHA-256 {}  {}", file.sha256, one_line(&path)).expect("memory takes it");
    }
    text
}

fn without_comments(text: &str) -> String {
    let lines = text.split_inclusive('\n').skip_while(|line| line.starts_with('#'));
    lines.collect()
}

/// Returns the study as YAML.
fn body(study: &Study, plan: &Plan) -> String {
    let said =
        |key: &str| study.draft.keys().find(|(own, _)| *own == key).map(|(_, value)| value.clone());
    let mut tree = Mapping::new();
    tree.insert("name".into(), study.name.as_str().into());
    for key in ["description", "experiment"] {
        tree.extend(said(key).map(|value| (key.into(), value)));
    }
    // Leave out keys of the base that the lines above have already put into `tree`.
    let names: Vec<String> =
        tree.keys().filter_map(|key| key.as_str().map(str::to_owned)).collect();
    let above: Vec<&str> = names.iter().map(String::as_str).collect();
    let written_out = |base: &Draft| {
        let mut layers = base.without(&above).layers();
        layers.retain(|layer| layer.as_mapping().is_none_or(|map| !map.is_empty()));
        if layers.len() == 1 { layers.remove(0) } else { Value::from(layers) }
    };
    if study.sweep.bases().is_none() {
        tree.insert("base".into(), written_out(&study.bases[0]));
    }
    if !plan.files.is_empty() {
        tree.insert("files".into(), serde_yaml::to_value(&plan.files).expect("names are YAML"));
    }
    let mut text = yaml(&tree);
    let written = said("sweep").unwrap_or_default();
    let axes_written = written.as_mapping().into_iter().flatten();
    let mut swept: Mapping = axes_written
        .filter(|(key, _)| key.as_str() != Some(axes::SEEDS))
        .map(|(key, value)| (key.clone(), axes::listed(key.as_str().unwrap_or_default(), value)))
        .collect();
    if let Some(axis) = study.sweep.bases() {
        let written =
            swept.get(axes::SCENARIO).and_then(Value::as_sequence).cloned().unwrap_or_default();
        let values = axis.values.iter().zip(&study.bases).zip(&written);
        let named = values.map(|((value, base), written)| {
            let label = Value::from(value.label.as_str());
            let named = [("as".into(), label), ("value".into(), written_out(base))];
            let draw = written.get(axes::DRAW).map(|draw| (axes::DRAW.into(), draw.clone()));
            Mapping::from_iter(named.into_iter().chain(draw)).into()
        });
        swept.insert(axes::SCENARIO.into(), named.collect::<Vec<Value>>().into());
    }
    text += "sweep:\n";
    if !swept.is_empty() {
        yaml(&swept).lines().for_each(|line| text += &format!("  {line}\n"));
    }
    // Write the seeds in one line: there may be thousands.
    let seeds: Vec<String> = plan.seeds().map(|seed| seed.to_string()).collect();
    text += &format!("  {}: [{}]\n", axes::SEEDS, seeds.join(", "));
    let mut rest = Mapping::new();
    for key in ["exclude", "compare", "metrics", "charts", "expect"] {
        rest.extend(said(key).map(|value| (key.into(), value)));
    }
    if !rest.is_empty() {
        text += &yaml(&rest);
    }
    text
}

fn yaml(tree: &Mapping) -> String {
    serde_yaml::to_string(tree).expect("it was YAML")
}
