//! `--on kubernetes`: the tasks of a study as an Indexed Job, and a Job that merges.
//!
//! Both mount the volume on which the study's folder lies, so nothing is sent anywhere. A pod does the
//! task of its index and is begun again if something kills it; a task whose runs fail has done its work.
//! Every task leaves a mark when it has ended, and the Job that merges waits for the marks: Kubernetes
//! has no Job that follows another, and to ask it would take rights that few users may give.
//!
//! The manifest is YAML whose texts are JSON strings, so that no name can mean anything else.

use sha2::{Digest, Sha256};

use super::folder::quoted;
use super::submitted::{Queue, Submitted};
use super::{Errand, HERE, On, Pace, ask, task_words};
use crate::cli::failure::Failure;
use crate::cli::lines::Lines;
use crate::cli::terminal;
use crate::output::write_file;
use crate::trace::hex;
use crate::units::SimSpan;

/// The folder in a study's folder that is ours.
const FOLDER: &str = "kubernetes";
/// What is handed to Kubernetes.
const MANIFEST: &str = "job.yaml";
/// Where pods see the study's folder.
const MOUNT: &str = "/study";
/// So often a task is begun again that something killed.
const RETRIES: usize = 3;
/// So many letters of a study's name are in a Job's: with all that follows it, pods have names, too.
const NAME: usize = 30;

/// What the manifest says.
struct Order<'e> {
    /// The name of the Job; that of the Job that merges is longer.
    name: String,
    errand: &'e Errand,
    claim: &'e str,
    /// Where the study's folder is in the volume; empty if it is all of it.
    path: &'e str,
    image: &'e str,
    parallelism: usize,
    time: Option<SimSpan>,
    pace: Pace,
}

/// Writes the manifest and applies it; returns what was submitted, if that was asked for.
pub(super) fn submit(
    errand: &Errand,
    options: &On,
    pace: Pace,
    earlier: Option<&Submitted>,
) -> Result<Option<Submitted>, Failure> {
    let (Some(volume), Some(image)) = (&options.volume, &options.image) else {
        return Err(Failure::input(
            "--on kubernetes needs --volume CLAIM[:PATH], the claim of the volume with the study's folder, \
             and --image IMAGE, such as debian:stable-slim",
        ));
    };
    let (claim, path) = volume.split_once(':').unwrap_or((volume, ""));
    let place = errand.folder.join(FOLDER);
    let number = 1 + earlier.map_or(0, Submitted::number);
    let name = name(errand, number);
    let parallelism = options.parallelism.map_or(errand.left.len(), usize::from);
    let wrong = |_| Failure::input("--time of a task on Kubernetes is written like 2h or 90min");
    let time = options.time.as_deref().map(str::parse::<SimSpan>).transpose().map_err(wrong)?;
    let order = Order { name: name.clone(), errand, claim, path, image, parallelism, time, pace };
    let manifest = manifest(&order);
    write_file(&place, MANIFEST, manifest.as_bytes())?;
    let file = place.join(MANIFEST);
    let mut command = vec!["kubectl".to_owned(), "apply".to_owned(), "-f".to_owned()];
    command.push(file.display().to_string());
    command.extend(options.options.iter().cloned());
    if options.dry_run {
        let mut lines = Lines::default();
        manifest.lines().for_each(|line| lines.line(line));
        let typed: Vec<String> = command.iter().map(|word| quoted(word)).collect();
        lines.line(format!("# {}", typed.join(" ")));
        terminal::print(&lines)?;
        return Ok(None);
    }
    ask(&command, HERE).map_err(|why| {
        let why: String = why.lines().map(|line| format!("\n  {line}")).collect();
        Failure::Environment(anyhow::anyhow!("kubectl does not take the Job{why}"))
    })?;
    let jobs = [name.clone(), format!("{name}-merge")];
    Ok(Some(Submitted::new(Queue::Kubernetes, jobs, errand.tasks, earlier)))
}

/// Returns the name of a Job: a word as the DNS has them, another one for each study's folder and each time.
fn name(errand: &Errand, number: usize) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let study: String = errand.sheet.study.chars().map(fit).take(NAME).collect();
    let folder = Sha256::digest(errand.folder.as_os_str().as_encoded_bytes());
    format!("mumakil-{}-{}-{number}", study.trim_matches('-'), hex(&folder[..3]))
}

/// Returns the script of a task. Its part is that at its index in a list: only those that have something
/// to do are in it. It leaves a mark unless it was killed: then it is begun again.
fn task(order: &Order<'_>) -> String {
    let Order { name, errand, .. } = order;
    let parts: Vec<String> = errand.left.iter().map(usize::to_string).collect();
    let task = task_words(&format!("\"$1\"/{}", errand.tasks), order.pace);
    format!(
        "cd {MOUNT} || exit 3
set -- {}
shift \"$JOB_COMPLETION_INDEX\"
{task}
code=$?
if [ \"$code\" -ge 128 ]; then exit \"$code\"; fi
mkdir -p {FOLDER}/ended/{name} && : > {FOLDER}/ended/{name}/\"$1\"
# Runs that failed are told by the merge; to do them again would change nothing.
if [ \"$code\" -eq 1 ]; then exit 0; fi
exit \"$code\"
",
        parts.join(" ")
    )
}

/// Returns the script that merges when all tasks have ended.
fn merge(order: &Order<'_>) -> String {
    let Order { name, errand, .. } = order;
    let tasks = errand.left.len();
    format!(
        "cd {MOUNT} || exit 3
until [ \"$(ls {FOLDER}/ended/{name} 2>/dev/null | wc -l)\" -ge {tasks} ]; do sleep 10; done
exec bin/mumakil study merge . --out .
"
    )
}

/// Returns the manifest.
fn manifest(order: &Order<'_>) -> String {
    let tasks = order.errand.left.len();
    let head = format!(
        "# The tasks of the study `{}` and the Job that merges, written by Mumakil {}.\n",
        order.errand.sheet.study,
        env!("CARGO_PKG_VERSION")
    );
    let array = format!(
        "  completionMode: Indexed
  completions: {tasks}
  parallelism: {}
  backoffLimitPerIndex: {RETRIES}
  maxFailedIndexes: {tasks}
  podFailurePolicy:
    rules:
      # What is wrong with the folder or the disk is wrong the next time, too.
      - action: FailIndex
        onExitCodes:
          containerName: mumakil
          operator: In
          values: [2, 3]
",
        order.parallelism.min(tasks)
    );
    let [task, merge] = [task(order), merge(order)];
    let deadline = order.time.map_or_else(String::new, |time| {
        format!("      activeDeadlineSeconds: {}\n", time.as_secs_f64().ceil().max(1.0))
    });
    head + &job(order, &order.name, &array, &deadline, &task)
        + "---\n"
        + &job(order, &format!("{}-merge", order.name), "  backoffLimit: 0\n", "", &merge)
}

/// Returns a Job with a script. What `limits` says is the Job's, what `deadline` says the pods'.
fn job(order: &Order<'_>, name: &str, limits: &str, deadline: &str, script: &str) -> String {
    let text = |text: &str| serde_json::to_string(text).expect("texts are JSON");
    let lines: String = script.lines().map(|line| format!("{:14}{line}\n", "")).collect();
    let path = match order.path {
        "" => String::new(),
        path => format!("              subPath: {}\n", text(path)),
    };
    format!(
        "apiVersion: batch/v1
kind: Job
metadata:
  name: {}
  labels:
    app.kubernetes.io/name: mumakil
    app.kubernetes.io/instance: {}
spec:
{limits}  template:
    metadata:
      labels:
        app.kubernetes.io/name: mumakil
        app.kubernetes.io/instance: {}
    spec:
      restartPolicy: Never
{deadline}      containers:
        - name: mumakil
          image: {}
          command:
            - sh
            - -c
            - |
{lines}          volumeMounts:
            - name: study
              mountPath: {MOUNT}
{path}      volumes:
        - name: study
          persistentVolumeClaim:
            claimName: {}
",
        text(name),
        text(&order.name),
        text(&order.name),
        text(order.image),
        text(order.claim),
    )
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;
    use std::process::Command;

    use serde_yaml::Value;

    use super::*;
    use crate::cli::drive::Drive;
    use crate::scenario::{Draft, Registry};
    use crate::study::{Plan, Sheet, Study};

    fn errand(left: &[usize]) -> Errand {
        let yaml = "name: Two_nodes.v1\nworkload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\n\
                    sweep: {seeds: 9}";
        let study = Study::of(Draft::of("test.yaml", yaml).unwrap()).unwrap();
        let plan = Plan::new(&study, &Registry::builtin()).unwrap();
        let sheet = Sheet::new(&study, &plan);
        let left = left.to_vec();
        Errand { folder: "/data/it's a study".into(), sheet, tasks: 9, missing: left.len(), left }
    }

    fn order(errand: &Errand) -> Order<'_> {
        Order {
            name: name(errand, 2),
            errand,
            claim: "disk",
            path: "a: \"b\"",
            image: "debian:stable-slim",
            parallelism: 20,
            time: Some(SimSpan::from_secs(7_200)),
            pace: Pace { jobs: NonZero::new(1), time_limit: None, drive: Drive::default() },
        }
    }

    #[test]
    fn a_job_is_called_as_kubernetes_has_names() {
        let errand = errand(&[1]);
        let name = name(&errand, 2);
        assert!(name.starts_with("mumakil-two-nodes-v1-") && name.ends_with("-2"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        // With `-merge` it is a label of 63 letters, and so are the names of its pods.
        assert!(8 + NAME + 1 + 6 + 1 + 3 + "-merge".len() < 63);
    }

    #[test]
    fn the_manifest_says_what_is_to_be_done() {
        let errand = errand(&[2, 5, 9]);
        let text = manifest(&order(&errand));
        let read = |text: &str| serde_yaml::from_str::<Value>(text).unwrap();
        let (array, merge) = text.split_once("---\n").unwrap();
        let (array, merge) = (read(array), read(merge));
        let spec = &array["spec"];
        assert_eq!(spec["completionMode"], "Indexed");
        for (field, number) in [
            ("completions", 3),
            ("parallelism", 3),
            ("backoffLimitPerIndex", 3),
            ("maxFailedIndexes", 3),
        ] {
            assert_eq!(spec[field], number, "{field}");
        }
        let pod = &spec["template"]["spec"];
        assert_eq!(
            (&pod["restartPolicy"], &pod["activeDeadlineSeconds"]),
            (&"Never".into(), &7_200.into())
        );
        assert_eq!(pod["volumes"][0]["persistentVolumeClaim"]["claimName"], "disk");
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["subPath"], "a: \"b\"");
        assert_eq!(merge["spec"]["backoffLimit"], 0);
        assert_eq!(merge["spec"]["template"]["spec"]["activeDeadlineSeconds"], Value::Null);
        assert_eq!(merge["metadata"]["name"], format!("{}-merge", name(&errand, 2)).as_str());
    }

    /// Does the script of an index with a program that notes its arguments and ends with this code.
    fn done(index: usize, code: i32) -> (Option<i32>, String, Vec<String>) {
        let room = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(room.path().join("bin")).unwrap();
        let program = room.path().join("bin/mumakil");
        std::fs::write(&program, format!("#!/bin/sh\necho \"$@\" > said\nexit {code}\n")).unwrap();
        Command::new("chmod").arg("+x").arg(&program).status().unwrap();
        let errand = errand(&[2, 5, 9]);
        let order = order(&errand);
        let here = quoted(&room.path().display().to_string());
        let script = task(&order).replace("cd /study", &format!("cd {here}"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).env("JOB_COMPLETION_INDEX", index.to_string());
        let ended = shell.status().unwrap().code();
        let said = std::fs::read_to_string(room.path().join("said")).unwrap();
        let marks = std::fs::read_dir(room.path().join("kubernetes/ended").join(&order.name));
        let marks = marks.into_iter().flatten().map(|mark| mark.unwrap().file_name());
        (ended, said, marks.map(|mark| mark.into_string().unwrap()).collect())
    }

    #[test]
    fn an_index_does_its_part_and_leaves_a_mark_unless_it_was_killed() {
        let (code, said, marks) = done(1, 0);
        assert_eq!(code, Some(0));
        assert_eq!(said, "study . --shard 5/9 --jobs 1\n");
        assert_eq!(marks, ["5"]);
        let (code, _, marks) = done(0, 1);
        assert_eq!((code, marks), (Some(0), vec!["2".to_owned()]));
        let (code, _, marks) = done(2, 137);
        assert_eq!((code, marks), (Some(137), Vec::new()));
        let (code, _, marks) = done(2, 3);
        assert_eq!((code, marks), (Some(3), vec!["9".to_owned()]));
    }
}
