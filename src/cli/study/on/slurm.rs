//! Slurm: the scripts of a study's tasks, and how they are submitted.
//!
//! The scripts are submitted in the study's folder and name nothing outside of it, so a folder may be
//! moved, and a user may read them, change them and submit them himself.

use std::fmt::Write as _;
use std::path::Path;

use super::submitted::{Queue, Submitted};
use super::{HERE, On, Pace, ask, task_words};
use crate::cli::failure::Failure;
use crate::disk;
use crate::output::{OutputError, write_file};
use crate::units::SimSpan;

/// The folder for all this in a study's folder.
const FOLDER: &str = "slurm";
/// The folder of what tasks say, in that.
const LOGS: &str = "logs";

/// So many seconds before its time is up a task is warned; a run is not kept half, so that is long
/// enough to end.
const WARNING: u32 = 60;

/// A task that is ended again and again comes back so many times.
const MOST_RESTARTS: u32 = 20;

/// What is submitted.
pub(super) struct Slurm<'s> {
    name: &'s str,
    /// How many tasks there are, of which not all need have something to do.
    tasks: usize,
    time: Option<String>,
    partition: Option<&'s str>,
    account: Option<&'s str>,
    options: &'s [String],
    pace: Pace,
}

impl<'s> Slurm<'s> {
    /// Returns what is submitted of so many tasks as the options have it.
    pub(super) fn of(on: &'s On, name: &'s str, tasks: usize, pace: Pace) -> Result<Self, Failure> {
        Ok(Self {
            name,
            tasks,
            time: on.time.as_deref().map(time).transpose()?,
            partition: on.partition.as_deref().map(plain).transpose()?,
            account: on.account.as_deref().map(plain).transpose()?,
            options: &on.options,
            pace,
        })
    }

    /// Returns the lines that say to sbatch what both jobs have in common.
    fn head(&self, what: &str, log: &str) -> String {
        let mut text = format!(
            "#!/bin/sh\n# {what}\n# Written by Mumakil {}; to be submitted in the study's folder.\n\
             #SBATCH --job-name={}\n#SBATCH --output={FOLDER}/{LOGS}/{log}.log\n\
             #SBATCH --open-mode=append\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=1\n",
            env!("CARGO_PKG_VERSION"),
            self.name
        );
        for (option, value) in [("partition", self.partition), ("account", self.account)] {
            if let Some(value) = value {
                writeln!(text, "#SBATCH --{option}={value}").expect("memory takes it");
            }
        }
        text
    }

    /// Returns the script of the tasks.
    fn array(&self, tasks: &[usize]) -> String {
        let what =
            format!("A task of the study {}: the runs of its part that are missing.", self.name);
        let mut text = self.head(&what, "%a");
        if let Some(time) = &self.time {
            writeln!(text, "#SBATCH --time={time}").expect("memory takes it");
        }
        write!(
            text,
            r#"#SBATCH --array={array}
#SBATCH --requeue
#SBATCH --signal=B:USR1@{WARNING}

# Its time is nearly up: the program ends with what is done.
trap 'kill -TERM "$program" 2>/dev/null' USR1
# Somebody ends the task. If it is to go on, Slurm queues it again itself.
cancelled=
trap 'cancelled=yes; kill -TERM "$program" 2>/dev/null' TERM

echo "task $SLURM_ARRAY_TASK_ID of {tasks} on $(uname -n), begun ${{SLURM_RESTART_COUNT:-0}} times before"
{work} &
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
            array = ranges(tasks),
            tasks = self.tasks,
            work = task_words(&format!("\"$SLURM_ARRAY_TASK_ID/{}\"", self.tasks), self.pace),
        )
        .expect("memory takes it");
        text
    }

    /// Returns the script of what comes after the tasks.
    fn merge(&self) -> String {
        let what = format!("The end of the study {}: its tables, charts and report.", self.name);
        self.head(&what, "merge") + "#SBATCH --requeue\n\nexec bin/mumakil study merge . --out .\n"
    }

    /// Returns the words that submit a script.
    fn command(&self, script: &str, after: Option<&str>) -> Vec<String> {
        let mut words = vec!["sbatch".to_owned(), "--parsable".to_owned()];
        words.extend(after.map(|job| format!("--dependency=afterany:{job}")));
        words.extend(self.options.iter().cloned());
        words.push(format!("{FOLDER}/{script}"));
        words
    }

    /// Returns what would be written and submitted, for people.
    pub(super) fn shown(&self, out: &Path, tasks: &[usize]) -> String {
        let folder = out.join(FOLDER);
        let mut text = String::new();
        for (script, content, after) in
            [("array.sh", self.array(tasks), None), ("merge.sh", self.merge(), Some("ARRAY"))]
        {
            let words = self.command(script, after);
            let words: Vec<String> = words.iter().map(|word| super::folder::quoted(word)).collect();
            let path = folder.join(script);
            write!(
                text,
                "### {}\n{content}\n### in {}\n$ {}\n\n",
                path.display(),
                out.display(),
                words.join(" ")
            )
            .expect("memory takes it");
        }
        text.trim_end().to_owned() + "\n"
    }

    /// Writes the scripts and submits them.
    pub(super) fn submit(
        &self,
        out: &Path,
        tasks: &[usize],
        earlier: Option<&Submitted>,
    ) -> Result<Submitted, Failure> {
        let folder = out.join(FOLDER);
        let logs = folder.join(LOGS);
        disk::create_dir_all(&logs)
            .map_err(|source| OutputError::Write { path: logs.clone(), source })?;
        write_file(&folder, "array.sh", self.array(tasks).as_bytes())?;
        write_file(&folder, "merge.sh", self.merge().as_bytes())?;
        let array = self.sbatch(out, "array.sh", None)?;
        match self.sbatch(out, "merge.sh", Some(&array)) {
            Ok(merge) => Ok(Submitted::new(Queue::Slurm, [array, merge], self.tasks, earlier)),
            Err(error) => {
                // Half of it is of no use.
                let _ = ask(&["scancel", &array], HERE);
                Err(error)
            }
        }
    }

    /// Submits a script and returns the number of its job.
    fn sbatch(&self, out: &Path, script: &str, after: Option<&str>) -> Result<String, Failure> {
        let refused =
            |why: &str| Failure::input(format!("Slurm does not take {FOLDER}/{script}: {why}"));
        let told = ask(&self.command(script, after), out).map_err(|why| refused(&why))?;
        // Behind a `;` stands the cluster.
        let job = told.split(';').next().unwrap_or_default().to_owned();
        let is_number = !job.is_empty() && job.bytes().all(|c| c.is_ascii_digit());
        if is_number { Ok(job) } else { Err(refused(&told)) }
    }
}

/// Returns how many tasks an array of this cluster may have: its largest number is one below
/// `MaxArraySize`.
pub(super) fn most_tasks() -> usize {
    // Slurm's default, unless it says otherwise.
    const USUAL: usize = 1_001;
    let size = ask(&["scontrol", "show", "config"], HERE).ok().and_then(|told| {
        let line = told.lines().find(|line| line.trim_start().starts_with("MaxArraySize"))?;
        line.split('=').nth(1)?.trim().parse::<usize>().ok()
    });
    size.unwrap_or(USUAL).saturating_sub(1).max(1)
}

/// Reads how long a task may take: as Slurm writes it, or as Mumakil does.
fn time(text: &str) -> Result<String, Failure> {
    if let Ok(span) = text.parse::<SimSpan>() {
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

/// Returns a name that may stand in a script.
fn plain(name: &str) -> Result<&str, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,+@/".contains(c);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => Ok(name),
        false => Err(Failure::input(format!(
            "`{name}` cannot be the name of a partition or an account: letters, digits and `-_.,+@/`"
        ))),
    }
}

/// Returns numbers that rise as Slurm writes them: `1,4-7`.
fn ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let text = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    text.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::cli::drive::Drive;
    use crate::runtime::Transport;

    fn slurm(options: &[String]) -> Slurm<'_> {
        let (time, partition) = (Some(time("90min").unwrap()), Some("long"));
        let pace = Pace {
            jobs: NonZero::new(1),
            time_limit: "10min".parse().ok(),
            drive: Drive { transport: Transport::Bare },
        };
        Slurm { name: "small", tasks: 8, time, partition, account: None, options, pace }
    }

    #[test]
    fn scripts_are_as_people_read_them() {
        let options = ["--mem=2G".to_owned(), "--comment=it's mine".to_owned()];
        insta::assert_snapshot!(slurm(&options).shown(Path::new("out/small"), &[1, 2, 3, 5, 8]));
    }

    #[test]
    fn numbers_are_put_together() {
        assert_eq!(ranges(&[1]), "1");
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 8]), "1-3,5,7-8");
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
