//! Slurm: the tasks of a study as an array job.
//!
//! The script is submitted in the study's folder and names no path outside it. So a user may move
//! the folder, or change the script and submit it without Mumakil.

use std::fmt::Write as _;
use std::path::Path;

use crate::engine::{Engine, EngineOrder, EngineTasks, LOGS, ask};
use crate::submit::FleetOptions;
use mumakil_base::units::SimSpan;
use mumakil_cli::failure::Failure;

/// The Slurm cluster of `sbatch`.
pub(crate) struct Slurm;

/// The seconds from the signal by which Slurm warns a task to the task's time limit.
// Chosen: a task only drops its run and writes its last sign; Slurm may warn up to 60 s earlier.
const WARNING: u32 = 60;

/// How often a task is queued again after a signal has ended it.
// Chosen: enough for a study of days with a limit of hours, but a task that always runs out of
// memory comes to an end.
const MOST_RESTARTS: u32 = 20;

impl Engine for Slurm {
    fn word(&self) -> &'static str {
        "slurm"
    }

    fn name(&self) -> &'static str {
        "Slurm"
    }

    fn supported_options(&self) -> &'static [&'static str] {
        &["--time", "--partition", "--account"]
    }

    /// Returns one less than the cluster's `MaxArraySize`, or than Slurm's default.
    fn most_tasks(&self) -> usize {
        // Slurm's default of `MaxArraySize`.
        const USUAL: usize = 1_001;
        let size =
            ask(&["scontrol", "show", "config"].map(str::to_owned), ".").ok().and_then(|told| {
                let line =
                    told.lines().find(|line| line.trim_start().starts_with("MaxArraySize"))?;
                line.split('=').nth(1)?.trim().parse::<usize>().ok()
            });
        size.unwrap_or(USUAL).saturating_sub(1).max(1)
    }

    fn order(
        &self,
        tasks: &EngineTasks<'_>,
        options: &FleetOptions,
    ) -> Result<EngineOrder, Failure> {
        check_folder(tasks.folder)?;
        let mut command = vec!["sbatch".to_owned(), "--parsable".to_owned()];
        command.extend(options.options.iter().cloned());
        command.push(format!("{}/array.sh", self.word()));
        Ok(EngineOrder { file: "array.sh", text: script(tasks, options)?, command })
    }

    fn job(&self, printed: &str) -> Option<String> {
        // `--parsable` prints `1234`, or `1234;cluster` if there are several clusters.
        let job = printed.split(';').next().unwrap_or_default();
        let is_number = !job.is_empty() && job.bytes().all(|c| c.is_ascii_digit());
        is_number.then(|| job.to_owned())
    }

    fn place_options(&self) -> &'static [&'static str] {
        &["-M", "--clusters", "--cluster"]
    }

    fn state(&self, job: &str, place: &[String]) -> Result<Option<[u64; 2]>, String> {
        // `-r` prints a line for each task of the array.
        let words = ["squeue", "-h", "-r", "-j", job, "-o", "%T"].map(str::to_owned);
        let told = match ask(&[&words[..], place].concat(), ".") {
            Ok(told) => told,
            // Slurm forgets a job a few minutes after its end (`MinJobAge`).
            Err(why) if why.contains("Invalid job id") => return Ok(None),
            Err(why) => return Err(why),
        };
        // With `--clusters` a line with the cluster's name comes first.
        let is_state = |line: &&str| !line.is_empty() && !line.starts_with("CLUSTER:");
        let states = || told.lines().map(str::trim).filter(is_state);
        let waiting = states().filter(|state| *state == "PENDING").count();
        let all = states().count();
        // Tasks in other states than PENDING, such as COMPLETING, hold a node: count them as
        // running.
        Ok((0 < all).then_some([(all - waiting) as u64, waiting as u64]))
    }

    fn cancel(&self, job: &str, place: &[String]) -> Vec<String> {
        [&["scancel".to_owned()][..], place, &[job.to_owned()]].concat()
    }
}

/// Returns the script of the array job.
fn script(tasks: &EngineTasks<'_>, options: &FleetOptions) -> Result<String, Failure> {
    let EngineTasks { study, count, words, .. } = tasks;
    let mut wishes = String::new();
    for (option, value) in [
        ("partition", options.partition.as_deref().map(plain).transpose()?),
        ("account", options.account.as_deref().map(plain).transpose()?),
        ("time", options.time.as_deref().map(time).transpose()?),
    ] {
        if let Some(value) = value {
            writeln!(wishes, "#SBATCH --{option}={value}").expect("a string takes any text");
        }
    }
    Ok(format!(
        r#"#!/bin/sh
# A task of the study {study}: it takes runs that are missing until none is left.
# Written by Mumakil {version}; to be submitted in the study's folder.
#SBATCH --job-name={study}
#SBATCH --output=slurm/{LOGS}/%a.log
#SBATCH --open-mode=append
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
{wishes}#SBATCH --array=1-{count}
#SBATCH --requeue
#SBATCH --signal=B:USR1@{WARNING}

# Its time is nearly up: the program ends with what is done.
trap 'kill -TERM "$program" 2>/dev/null' USR1
# Somebody ends the task. If it is to go on, Slurm queues it again itself.
cancelled=
trap 'cancelled=yes; kill -TERM "$program" 2>/dev/null' TERM

echo "task $SLURM_ARRAY_TASK_ID of {count} on $(uname -n), begun ${{SLURM_RESTART_COUNT:-0}} times before"
{words} &
program=$!
wait "$program"
code=$?
# A signal ends the waiting before the program has ended.
while kill -0 "$program" 2>/dev/null; do
    wait "$program"
    code=$?
done

# A signal has ended it: the one above, somebody's, or that of a system without memory.
if [ -z "$cancelled" ] && [ "$code" -gt 128 ]; then
    if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {MOST_RESTARTS} ]; then
        echo "task $SLURM_ARRAY_TASK_ID ended with $code and is queued again"
        scontrol requeue "$SLURM_JOB_ID"
        exit 0
    fi
    echo "task $SLURM_ARRAY_TASK_ID ended with $code and has come back {MOST_RESTARTS} times: no more"
fi
exit "$code"
"#,
        version = env!("CARGO_PKG_VERSION"),
    ))
}

/// Refuses a folder whose path Slurm would change: it reads patterns such as `%a` in the whole path of
/// a task's log, not only in our part, and takes backslashes out. The tasks could not write their
/// logs, and would end at once without a word.
fn check_folder(folder: &Path) -> Result<(), Failure> {
    let path = format!("{}/", folder.display());
    let has_pattern = path.split('%').skip(1).any(|rest| {
        // `%%` is a pattern, too; it leaves an empty text between two signs.
        rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_alphanumeric())
    });
    match has_pattern || path.contains('\\') {
        false => Ok(()),
        true => Err(Failure::input(format!(
            "Slurm cannot write logs in {}: it gives a meaning to `\\`, and to `%` before a letter; choose \
             another folder with --out",
            folder.display()
        ))),
    }
}

/// Parses the longest time of a task, in Slurm's form or in Mumakil's.
fn time(text: &str) -> Result<String, Failure> {
    if let Ok(span) = text.parse::<SimSpan>() {
        // Slurm counts whole minutes, and takes zero as no limit.
        let minutes = (span.as_secs_f64() / 60.0).ceil().max(1.0) as u64;
        return Ok(format!("{}:{:02}:00", minutes / 60, minutes % 60));
    }
    let is_slurms = !text.is_empty()
        && text.chars().all(|c| c.is_ascii_digit() || c == ':' || c == '-')
        && text.starts_with(|c: char| c.is_ascii_digit());
    match is_slurms {
        true => Ok(text.to_owned()),
        false => Err(Failure::input(format!(
            "--time {text} is no time: write 2h, or as Slurm does, 1-12:00:00"
        ))),
    }
}

/// Returns a name if it is safe in a shell script, or else an error.
fn plain(name: &str) -> Result<String, Failure> {
    // A quote or a semicolon in the script could execute any command.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,+@/".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => Ok(name.to_owned()),
        false => Err(Failure::input(format!(
            "`{name}` cannot be the name of a partition or an account: letters, digits and `-_.,+@/`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_refused_if_slurm_would_read_its_path_otherwise() {
        for path in ["/data/a%ab", "/data/%3a", "/100%%", r"/data/a\b", "/%j/out"] {
            assert!(check_folder(Path::new(path)).is_err(), "{path}");
        }
        for path in ["/data/100% load", "/data/50 %", "/a 'b\" $(c) `d`; * ? [e] é\nf"] {
            assert!(check_folder(Path::new(path)).is_ok(), "{path}");
        }
    }

    #[test]
    fn times_are_written_in_both_ways() {
        for (text, told) in
            [("2h", "2:00:00"), ("30s", "0:01:00"), ("1-00:00:00", "1-00:00:00"), ("90", "90")]
        {
            assert_eq!(time(text).unwrap(), told);
        }
        assert!(time("soon").is_err() && time("").is_err());
        assert!(plain("a b").is_err() && plain("$(rm)").is_err() && plain("gpu-long").is_ok());
    }
}
