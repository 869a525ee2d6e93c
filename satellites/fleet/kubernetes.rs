//! Kubernetes: the tasks of a study as a Job.
//!
//! Its pods mount the volume with the study's folder, so no files are sent. Kubernetes restarts a
//! pod that was killed, but not a pod whose runs fail.
//!
//! All texts in the YAML manifest are JSON strings, so that no name can add keys to it.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::engine::{Engine, EngineOrder, EngineTasks, ask};
use crate::submit::FleetOptions;
use mumakil_base::units::SimSpan;
use mumakil_cli::failure::Failure;
use mumakil_core::trace::hex;

/// The Kubernetes cluster of `kubectl`.
pub(crate) struct Kubernetes;

/// The path of the study's folder in pods.
const MOUNT: &str = "/study";
/// How often each pod may be killed, on average, before the Job gives up.
// Chosen; `backoffLimit` counts for all pods together, hence the product below.
const RETRIES: usize = 3;
/// The most letters of a study's name in the name of a Job.
// A DNS name has 63 letters at most; a prefix, a hash, a number and the pod's suffix come on top.
const NAME: usize = 30;

impl Engine for Kubernetes {
    fn word(&self) -> &'static str {
        "kubernetes"
    }

    fn name(&self) -> &'static str {
        "Kubernetes"
    }

    fn supported_options(&self) -> &'static [&'static str] {
        &["--time", "--volume", "--image", "--parallelism"]
    }

    fn order(
        &self,
        tasks: &EngineTasks<'_>,
        options: &FleetOptions,
    ) -> Result<EngineOrder, Failure> {
        let file = format!("{}/job.yaml", self.word());
        let mut command: Vec<String> =
            ["kubectl", "apply", "-o", "name", "-f", &file].map(str::to_owned).to_vec();
        command.extend(options.options.iter().cloned());
        Ok(EngineOrder { file: "job.yaml", text: manifest(tasks, options)?, command })
    }

    fn job(&self, printed: &str) -> Option<String> {
        printed.lines().find_map(|line| line.strip_prefix("job.batch/")).map(str::to_owned)
    }

    fn place_options(&self) -> &'static [&'static str] {
        &["-n", "--namespace", "--context", "--cluster", "--user", "--kubeconfig", "-s", "--server"]
    }

    fn state(&self, job: &str, place: &[String]) -> Result<Option<[u64; 2]>, String> {
        // A new Job has no active pods yet: only its conditions show that it is over.
        const ASKED: &str = "jsonpath={.status.active}/{.status.conditions[*].type}";
        let words = ["kubectl", "get", "job", job, "-o", ASKED].map(str::to_owned);
        let told = match ask(&[&words[..], place].concat(), ".") {
            Ok(told) => told,
            Err(why) if why.contains("NotFound") => return Ok(None),
            Err(why) => return Err(why),
        };
        let (active, conditions) = told.split_once('/').unwrap_or((&told, ""));
        let is_over = conditions.split_whitespace().any(|one| matches!(one, "Complete" | "Failed"));
        let active: u64 = active.parse().unwrap_or(0);
        Ok((!is_over).then_some([active, u64::from(active == 0)]))
    }

    fn cancel(&self, job: &str, place: &[String]) -> Vec<String> {
        let words = ["kubectl", "delete", "job", job, "--ignore-not-found"].map(str::to_owned);
        [&words[..], place].concat()
    }
}

/// Returns the name of a Job: a DNS label, different for each study's folder and each submission.
fn name(tasks: &EngineTasks<'_>) -> String {
    let fit = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let study: String = tasks.study.chars().map(fit).take(NAME).collect();
    let folder = Sha256::digest(tasks.folder.as_os_str().as_encoded_bytes());
    format!("mumakil-{}-{}-{}", study.trim_matches('-'), hex(&folder[..3]), tasks.number)
}

/// Returns the shell script that a pod runs.
fn script(tasks: &EngineTasks<'_>) -> String {
    format!(
        "cd {MOUNT} || exit 3
{}
code=$?
# Runs that failed are told by the study; to begin again would change nothing.
if [ \"$code\" -eq 1 ]; then exit 0; fi
exit \"$code\"
",
        tasks.words
    )
}

/// Returns a text as a JSON string, which is also a YAML string: no text can add keys.
fn text(text: &str) -> String {
    let json = serde_json::to_string(text).expect("texts are JSON");
    // JSON takes these characters as they are, but YAML has no place for some of them, and reads
    // others as line ends, of which it makes spaces.
    let is_special = |c: char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match is_special(c) {
            true => write!(escaped, "\\u{:04x}", u32::from(c)).expect("a string takes any text"),
            false => escaped.push(c),
        }
    }
    escaped
}

/// Refuses a claim and a path that Kubernetes would refuse, or wait for without an end.
fn check_volume(claim: &str, path: &str) -> Result<(), Failure> {
    // The claim is a DNS name.
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && !part.ends_with('-')
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    if 253 < claim.len() || !claim.split('.').all(is_part) {
        return Err(Failure::input(format!(
            "`{claim}` cannot be the name of a claim: lower-case letters, digits, `-` and `.`, such as \
             `--volume data:mine`; `kubectl get pvc` lists the claims"
        )));
    }
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(Failure::input(format!(
            "`{path}` is no path in the volume: write it from the volume's top, without `..` and without a \
             slash in front, such as `--volume data:mine`"
        )));
    }
    Ok(())
}

/// Refuses an image that no node could pull: its pods would wait without an end.
fn check_image(image: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    match image.starts_with(|c: char| c.is_ascii_alphanumeric()) && image.chars().all(is_plain) {
        true => Ok(()),
        false => Err(Failure::input(format!(
            "`{image}` cannot be the name of an image, such as `--image debian:stable-slim`"
        ))),
    }
}

fn manifest(tasks: &EngineTasks<'_>, options: &FleetOptions) -> Result<String, Failure> {
    let (Some(volume), Some(image)) = (&options.volume, &options.image) else {
        return Err(Failure::input(
            "--on kubernetes needs --volume CLAIM[:PATH], the claim of the volume with the study's folder, \
             and --image IMAGE, such as debian:stable-slim",
        ));
    };
    let (claim, path) = volume.split_once(':').unwrap_or((volume, ""));
    check_volume(claim, path)?;
    check_image(image)?;
    let wrong = |_| Failure::input("--time of a task on Kubernetes is written like 2h or 90min");
    let time = options.time.as_deref().map(str::parse::<SimSpan>).transpose().map_err(wrong)?;
    let deadline = time.map_or_else(String::new, |time| {
        format!("      activeDeadlineSeconds: {}\n", time.as_secs_f64().ceil().max(1.0))
    });
    let path = match path {
        "" => String::new(),
        path => format!("              subPath: {}\n", text(path)),
    };
    let count = tasks.count;
    Ok(format!(
        "# The tasks of the study `{study}`, written by Mumakil {version}.
apiVersion: batch/v1
kind: Job
metadata:
  name: {job}
  labels:
    app.kubernetes.io/name: mumakil
    app.kubernetes.io/instance: {name}
spec:
  completions: {count}
  parallelism: {parallelism}
  backoffLimit: {retries}
  podFailurePolicy:
    rules:
      # What is wrong with the folder or the disk is wrong the next time, too.
      - action: FailJob
        onExitCodes:
          containerName: mumakil
          operator: In
          values: [2, 3]
  template:
    metadata:
      labels:
        app.kubernetes.io/name: mumakil
        app.kubernetes.io/instance: {name}
    spec:
      restartPolicy: Never
{deadline}      containers:
        - name: mumakil
          image: {image}
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
            claimName: {claim}
",
        study = tasks.study,
        version = env!("CARGO_PKG_VERSION"),
        job = text(&name(tasks)),
        name = text(&name(tasks)),
        parallelism = options.parallelism.map_or(count, usize::from).min(count),
        retries = RETRIES * count,
        image = text(image),
        lines = script(tasks).lines().map(|line| format!("{:14}{line}\n", "")).collect::<String>(),
        claim = text(claim),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_the_same_after_yaml() {
        let every =
            "a: \"b\"\n\t\\ \u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{feff}\u{ffff} é 🐘 {{x}} # $(c)";
        let read: String = serde_yaml::from_str(&text(every)).unwrap();
        assert_eq!(read, every);
        // Only ASCII and letters: no reader of YAML takes these for line ends.
        assert!(!text(every).contains(['\u{7f}', '\u{85}', '\u{2028}', '\u{feff}']));
    }

    #[test]
    fn claims_paths_and_images_that_no_cluster_takes_are_refused() {
        for (claim, path) in [("data", ""), ("data-1.x", "a 'b\" $(c)/..d\n"), ("1", "a/b")] {
            assert!(check_volume(claim, path).is_ok(), "{claim}:{path}");
        }
        for (claim, path) in [
            ("", ""),
            ("Data", ""),
            ("a_b", ""),
            ("-a", ""),
            ("a..b", ""),
            ("a", "/b"),
            ("a", "b/.."),
        ] {
            assert!(check_volume(claim, path).is_err(), "{claim}:{path}");
        }
        for image in ["debian", "r.example:5000/a/b_c:1.2", "debian@sha256:0f"] {
            assert!(check_image(image).is_ok(), "{image}");
        }
        for image in ["", " debian", "a b", "$(c)", "-a", "é"] {
            assert!(check_image(image).is_err(), "{image}");
        }
    }

    #[test]
    fn every_name_of_a_study_gives_a_label() {
        for study in ["_", "a.", "...--", "A_b.C-d", &"x".repeat(100), "1"] {
            let folder = std::path::Path::new("/");
            let (count, number, words) = (9, 1_000, String::new());
            let name = name(&EngineTasks { study, folder, count, number, words });
            // The suffix of a pod takes room, too.
            assert!(name.len() <= 52, "{name}");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(is_plain) && !name.ends_with('-'), "{name}");
        }
    }
}
