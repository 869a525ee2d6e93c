//! An engine: Slurm or Kubernetes, which takes an order for tasks and runs them on other machines.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::kubernetes::Kubernetes;
use crate::slurm::Slurm;
use crate::submit::FleetOptions;
use mumakil_base::{disk, shell};
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::plain;
use mumakil_run::output::{OutputError, write_file};

/// The folder of the binary in a study's folder, and the binary's name.
pub(crate) const BINARY: [&str; 2] = ["bin", "mumakil"];

/// The folder of the tasks' logs, in the engine's folder.
pub(crate) const LOGS: &str = "logs";

/// All engines.
pub(crate) const ENGINES: [&dyn Engine; 2] = [&Slurm, &Kubernetes];

/// Returns the engine with this word on the command line.
pub(crate) fn engine(word: &str) -> Option<&'static dyn Engine> {
    ENGINES.into_iter().find(|engine| engine.word() == word)
}

/// An engine that runs tasks on other machines.
pub(crate) trait Engine: Sync {
    /// Returns the engine's word on the command line, which also names its folder in the study's
    /// folder.
    fn word(&self) -> &'static str;

    /// Returns the engine's name, for messages.
    fn name(&self) -> &'static str;

    /// Returns the options that this engine supports but another engine may lack.
    fn supported_options(&self) -> &'static [&'static str];

    /// Returns the largest number of tasks in a job.
    fn most_tasks(&self) -> usize {
        usize::MAX
    }

    /// Returns the file for these tasks, and the command that submits it.
    fn order(
        &self,
        tasks: &EngineTasks<'_>,
        options: &FleetOptions,
    ) -> Result<EngineOrder, Failure>;

    /// Returns the name of the submitted job, from the output of the command that submitted it.
    fn job(&self, printed: &str) -> Option<String>;

    /// Returns the options, each with a value, that say which cluster is meant: the queries about a job
    /// need those of its submission.
    fn place_options(&self) -> &'static [&'static str];

    /// Returns how many tasks of a job run and how many wait; `None` if the queue has none of them
    /// any more. `place` has the options of its place.
    fn state(&self, job: &str, place: &[String]) -> Result<Option<[u64; 2]>, String>;

    /// Returns the command that cancels a job; `place` has the options of its place.
    fn cancel(&self, job: &str, place: &[String]) -> Vec<String>;
}

/// The tasks to submit to an engine.
pub(crate) struct EngineTasks<'t> {
    /// The name of the study.
    pub(crate) study: &'t str,
    /// The absolute path of the study's folder.
    pub(crate) folder: &'t Path,
    /// The number of tasks.
    pub(crate) count: usize,
    /// The number of this submission of the study, from 1.
    pub(crate) number: usize,
    /// The command line of each task, in the study's folder.
    pub(crate) words: String,
}

/// A file for an engine, and the command that submits it.
pub(crate) struct EngineOrder {
    /// The file's name in the engine's folder.
    pub(crate) file: &'static str,
    pub(crate) text: String,
    /// The command, called in the study's folder after the file is written.
    pub(crate) command: Vec<String>,
}

impl EngineOrder {
    /// Returns the file and the command, for readers.
    pub(crate) fn shown(&self, engine: &dyn Engine, out: &Path) -> String {
        let words: Vec<String> = self.command.iter().map(|word| shell::quoted(word)).collect();
        let path = out.join(engine.word()).join(self.file);
        // A line end in the name of the folder would end the comment.
        let [path, out] = [&*path, out].map(|path| plain(&path.to_string_lossy()).into_owned());
        let text = &self.text;
        format!("### {path}\n{text}\n### in {out}\n$ {}\n", words.join(" "))
    }

    /// Writes the file and submits it to the engine; returns the name of the job.
    pub(crate) fn submit(&self, engine: &dyn Engine, out: &Path) -> Result<String, Failure> {
        let folder = out.join(engine.word());
        let logs = folder.join(LOGS);
        disk::create_dir_all(&logs).map_err(|source| OutputError::Write { path: logs, source })?;
        write_file(&folder, self.file, self.text.as_bytes())?;
        let refused = |why: &str| {
            let file = format!("{}/{}", engine.word(), self.file);
            Failure::input(format!("{} does not take {file}: {why}", engine.name()))
        };
        let printed = ask(&self.command, out).map_err(|why| refused(&why))?;
        engine.job(&printed).ok_or_else(|| refused(&printed))
    }
}

/// Calls a program of an engine in a folder; returns its output, or the reason of its failure.
pub(crate) fn ask(words: &[String], folder: impl AsRef<Path>) -> Result<String, String> {
    let mut command = Command::new(&words[0]);
    // Give the program no stdin: if it asks for a password, it must fail rather than wait.
    command.args(&words[1..]).current_dir(folder).stdin(Stdio::null());
    let asked =
        command.output().map_err(|error| format!("`{}` cannot be started: {error}", words[0]))?;
    let told = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if asked.status.success() { Ok(told(&asked.stdout)) } else { Err(told(&asked.stderr)) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZero;
    use std::os::unix::fs::PermissionsExt as _;

    use serde_yaml::Value;

    use super::*;

    fn options() -> FleetOptions {
        FleetOptions {
            on: None,
            tasks: None,
            time: Some("90min".to_owned()),
            partition: Some("long".to_owned()),
            account: None,
            volume: Some("disk:a: \"b\"".to_owned()),
            image: Some("debian:stable-slim".to_owned()),
            parallelism: NonZero::new(20),
            dry_run: false,
            wait: false,
            options: vec!["--comment=it's mine".to_owned()],
        }
    }

    /// Returns the order for eight tasks, and its text for readers.
    fn order(engine: &dyn Engine) -> (EngineOrder, String) {
        let folder = Path::new("/data/it's a study");
        let words =
            "bin/mumakil study . --join --jobs 1 --time-limit 10min --drive bare".to_owned();
        let tasks = EngineTasks { study: "Two_nodes.v1", folder, count: 8, number: 2, words };
        let order = engine.order(&tasks, &options()).unwrap();
        let shown = order.shown(engine, Path::new("out/small"));
        (order, shown)
    }

    #[test]
    fn a_line_end_in_the_folder_ends_no_comment() {
        let shown = order(&Slurm).0.shown(&Slurm, Path::new("a\n$ rm -r b"));
        assert!(shown.contains("\n### in a\\n$ rm -r b\n"), "{shown}");
        assert!(!shown.contains("\n$ rm"), "{shown}");
    }

    #[test]
    fn slurm_gets_a_script_as_people_read_it() {
        insta::assert_snapshot!(order(&Slurm).1);
    }

    #[test]
    fn kubernetes_gets_a_manifest_as_people_read_it() {
        let (order, shown) = order(&Kubernetes);
        insta::assert_snapshot!(shown);
        let job: Value = serde_yaml::from_str(&order.text).unwrap();
        let (spec, pod) = (&job["spec"], &job["spec"]["template"]["spec"]);
        assert_eq!((&spec["completions"], &spec["parallelism"]), (&8.into(), &8.into()));
        assert_eq!(pod["activeDeadlineSeconds"], 5_400);
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["subPath"], "a: \"b\"");
    }

    /// Executes a pod's script, with a fake program that notes its arguments and exits with this
    /// code. Returns the exit code of the script, and the arguments.
    fn pod(code: i32) -> (Option<i32>, String) {
        let room = tempfile::TempDir::new().unwrap();
        fs::create_dir(room.path().join(BINARY[0])).unwrap();
        let program = room.path().join(BINARY[0]).join(BINARY[1]);
        fs::write(&program, format!("#!/bin/sh\necho \"$@\" > said\nexit {code}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let job: Value = serde_yaml::from_str(&order(&Kubernetes).0.text).unwrap();
        let command = &job["spec"]["template"]["spec"]["containers"][0]["command"];
        let here = shell::quoted(&room.path().display().to_string());
        let script = command[2].as_str().unwrap().replace("cd /study", &format!("cd {here}"));
        let ended = Command::new("sh").args(["-c", &script]).status().unwrap().code();
        (ended, fs::read_to_string(room.path().join("said")).unwrap())
    }

    #[test]
    fn a_pod_is_begun_again_unless_its_runs_failed() {
        let words = "study . --join --jobs 1 --time-limit 10min --drive bare\n";
        for (code, ended) in [(0, 0), (1, 0), (3, 3), (137, 137)] {
            assert_eq!(pod(code), (Some(ended), words.to_owned()));
        }
    }

    #[test]
    fn jobs_are_known_by_what_engines_print() {
        assert_eq!(Slurm.job("123;east"), Some("123".to_owned()));
        assert_eq!(Slurm.job("sbatch: error"), None);
        assert_eq!(Kubernetes.job("job.batch/mumakil-a-1"), Some("mumakil-a-1".to_owned()));
        assert_eq!(Kubernetes.job("pod/a"), None);
    }
}
