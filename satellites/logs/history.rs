//! The log that a JobTracker of Hadoop 0.20 and 1.x writes about each job, read as a logged job.
//!
//! ```text
//! Meta VERSION="1" .
//! Job JOBID="job_1" USER="ann" SUBMIT_TIME="1795658302421" JOB_QUEUE="q" .
//! Task TASKID="task_1_m_000000" TASK_TYPE="MAP" START_TIME="…" SPLITS="/rack/host,/rack/other" .
//! MapAttempt TASK_ATTEMPT_ID="attempt_1_m_000000_0" FINISH_TIME="…" COUNTERS="{(…)(…)[(…)(…)(9)]}" .
//! <?xml version="1.0"?><configuration>…          the job's configuration, if it is behind the log
//! ```
//! Each line tells what has become known of a job, a task or an attempt; later lines add to earlier
//! ones. In a value, a backslash stands before `"`, `=`, `.` and itself.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};
use serde::de::DeserializeOwned;

use crate::job_log::{JobLog, count_in, location, note_host};
use mumakil_core::trace::{FirstFew, RecordFault, clip};
use mumakil_traces::rumen::{LoggedAttempt, LoggedJob, LoggedTask, named};

/// The beginning of the first line of a log.
pub(super) const HEAD: &str = "Meta VERSION=";

/// Reads the log of a job. A broken line is added to `broken`; without that, it is an error.
pub(super) fn parse(
    text: &[u8],
    unknown: &mut FirstFew<String>,
    mut broken: Option<&mut FirstFew<RecordFault>>,
) -> Result<LoggedJob, RecordFault> {
    let mut log = JobLog::default();
    let mut fields = Vec::new();
    let mut at = 0;
    while let Some(event) = next_event(text, at) {
        let line = &text[event.at..event.end];
        at = event.next;
        let is_configuration = line.starts_with(b"<");
        let read = match is_configuration {
            true => log.configure(&text[event.at..]),
            false => read_fields(line, &mut fields)
                .and_then(|kind| tell_event(&mut log, kind, EventFields(&fields), unknown)),
        };
        if let Err(what) = read {
            let fault = RecordFault::new(what).at(event.at);
            let Some(broken) = &mut broken else { return Err(fault) };
            broken.add(fault);
            // A line that is cut off has no end, so it seems to go on into the next ones.
            at = next_line_of_event(text, event.at).min(event.next);
        }
        if is_configuration {
            break;
        }
    }
    log.into_job(text)
}

/// The beginning of the error of attempts on a tracker from which no heartbeat came any more.
const LOST: &[u8] = b"Lost task tracker";

/// Adds an event to the log.
fn tell_event(
    log: &mut JobLog,
    kind: &[u8],
    fields: EventFields<'_, '_>,
    unknown: &mut FirstFew<String>,
) -> Result<(), String> {
    match kind {
        b"Meta" => {}
        b"Job" => {
            tell_job(&mut log.job, fields)?;
            if let Some(priority) = fields.named("JOB_PRIORITY") {
                log.prioritise(priority);
            }
        }
        b"Task" => {
            let id = fields.text("TASKID").ok_or("no TASKID")?;
            tell_task(log.task(&id, fields.named("TASK_TYPE")), fields)?;
        }
        b"MapAttempt" | b"ReduceAttempt" => {
            let ids = fields.text("TASKID").zip(fields.text("TASK_ATTEMPT_ID"));
            let (task, id) = ids.ok_or("no TASKID and TASK_ATTEMPT_ID")?;
            tell_attempt(log.attempt(&task, fields.named("TASK_TYPE"), &id), fields)?;
        }
        other => unknown.add(clip(&String::from_utf8_lossy(other))),
    }
    Ok(())
}

/// The beginnings of lines that tell an event, and of the configuration behind them.
const EVENTS: [&[u8]; 5] = [b"Job ", b"Task ", b"MapAttempt ", b"ReduceAttempt ", b"<?xml"];

/// Returns where the next line after this place begins that tells an event; the end if none does.
fn next_line_of_event(text: &[u8], mut at: usize) -> usize {
    while let Some(end) = memchr(b'\n', &text[at..]) {
        at += end + 1;
        if EVENTS.iter().any(|event| text[at..].starts_with(event)) {
            return at;
        }
    }
    text.len()
}

/// A line of the log, which may be several lines of the file.
struct HistoryLine {
    at: usize,
    /// Its end, without ` .` and what follows.
    end: usize,
    next: usize,
}

/// Returns the next line that is not empty; `None` at the end.
fn next_event(text: &[u8], from: usize) -> Option<HistoryLine> {
    let skipped = text[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let at = from + skipped;
    if at == text.len() {
        return None;
    }
    let mut next = at;
    loop {
        let rest = &text[next..];
        let line = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        next += line;
        let written = text[at..next].trim_ascii_end();
        // A value may have line breaks. It cannot end in a quote, which would be escaped.
        let ended = written.ends_with(b"\" .") && !written.ends_with(b"\\\" .");
        if ended || next == text.len() || text[at] == b'<' {
            let end = at + written.strip_suffix(b" .").unwrap_or(written).len();
            return Some(HistoryLine { at, end, next });
        }
    }
}

/// A key of a line with its value, whose escapes are kept.
type EventField<'t> = (&'t [u8], &'t [u8]);

/// Reads the fields of a line; returns its first word.
fn read_fields<'t>(line: &'t [u8], fields: &mut Vec<EventField<'t>>) -> Result<&'t [u8], String> {
    fields.clear();
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    let (kind, mut rest) = line.split_at(end);
    // A line that is cut off within its first word would swallow the next line without notice.
    if !kind.iter().all(u8::is_ascii_alphabetic) {
        return Err(format!("`{}` where a line should begin", shown(kind)));
    }
    loop {
        rest = rest.trim_ascii_start();
        if rest.is_empty() {
            return Ok(kind);
        }
        let key = rest.iter().position(|byte| *byte == b'=').filter(|key| {
            rest[..*key]
                .iter()
                .all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'0'..=b'9'))
        });
        let value = key.and_then(|key| Some((key, rest[key + 1..].strip_prefix(b"\"")?)));
        let Some((key, value)) = value else {
            return Err(format!("`{}` where `KEY=\"value\"` should be", shown(rest)));
        };
        let Some(length) = length_of_value(value) else {
            return Err(format!("the value of {} has no end", shown(&rest[..key])));
        };
        fields.push((&rest[..key], &value[..length]));
        rest = &value[length + 1..];
    }
}

fn shown(text: &[u8]) -> String {
    clip(&String::from_utf8_lossy(&text[..text.len().min(40)]))
}

/// Returns the length of a value up to its closing quote; `None` if there is none.
fn length_of_value(value: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let stop = memchr2(b'"', b'\\', &value[at..])?;
        at += stop;
        if value[at] == b'"' {
            return Some(at);
        }
        at += 2;
        if value.len() < at {
            return None;
        }
    }
}

/// The fields of a line.
#[derive(Clone, Copy)]
struct EventFields<'f, 't>(&'f [EventField<'t>]);

impl<'t> EventFields<'_, 't> {
    fn raw(self, key: &str) -> Option<&'t [u8]> {
        let found = self.0.iter().find(|(known, _)| *known == key.as_bytes());
        found.map(|(_, value)| *value)
    }

    /// Returns a value without its escapes; `None` if it is missing or empty.
    fn text(self, key: &str) -> Option<Cow<'t, str>> {
        let raw = self.raw(key).filter(|raw| !raw.is_empty())?;
        if memchr(b'\\', raw).is_none() {
            // Most values are plain text: the check of that is quicker than a lossy reading.
            return Some(
                str::from_utf8(raw).map_or_else(|_| String::from_utf8_lossy(raw), Cow::from),
            );
        }
        let mut plain = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter();
        while let Some(byte) = bytes.next() {
            plain.push(if *byte == b'\\' { *bytes.next().unwrap_or(byte) } else { *byte });
        }
        Some(String::from_utf8_lossy(&plain).into_owned().into())
    }

    fn owned(self, key: &str) -> Option<String> {
        self.text(key).map(Cow::into_owned)
    }

    /// Returns a number; `None` if it is missing, empty or below zero.
    fn number(self, key: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(key) else { return Ok(None) };
        match text.parse::<i64>() {
            // Hadoop writes 0 for a time that it does not know.
            Ok(number) => Ok(u64::try_from(number).ok().filter(|number| 0 < *number)),
            Err(_) => Err(format!("{key} is `{}`, not a number", clip(&text))),
        }
    }

    /// Returns a count, which may be zero.
    fn count(self, key: &str) -> Result<Option<u32>, String> {
        let Some(text) = self.text(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| format!("{key} is `{}`, not a count", clip(&text)))
    }

    /// Returns the value that is named; `None` if it is missing or unknown.
    fn named<T: DeserializeOwned>(self, key: &str) -> Option<T> {
        named(&self.text(key)?)
    }
}

/// Replaces a value by a later one, if the line has it.
fn tell<T>(field: &mut Option<T>, told: Option<T>) {
    if told.is_some() {
        *field = told;
    }
}

fn tell_job(job: &mut LoggedJob, fields: EventFields<'_, '_>) -> Result<(), String> {
    let id = fields.owned("JOBID").ok_or("no JOBID")?;
    if !job.job_id.is_empty() && job.job_id != id {
        return Err(format!("{} in the log of {}", clip(&id), clip(&job.job_id)));
    }
    job.job_id = id;
    tell(&mut job.job_name, fields.owned("JOBNAME"));
    tell(&mut job.user, fields.owned("USER"));
    tell(&mut job.queue, fields.owned("JOB_QUEUE"));
    tell(&mut job.submit_time, fields.number("SUBMIT_TIME")?);
    tell(&mut job.launch_time, fields.number("LAUNCH_TIME")?);
    tell(&mut job.finish_time, fields.number("FINISH_TIME")?);
    tell(&mut job.total_maps, fields.count("TOTAL_MAPS")?);
    tell(&mut job.total_reduces, fields.count("TOTAL_REDUCES")?);
    tell(&mut job.outcome, fields.named("JOB_STATUS"));
    Ok(())
}

fn tell_task(task: &mut LoggedTask, fields: EventFields<'_, '_>) -> Result<(), String> {
    tell(&mut task.start_time, fields.number("START_TIME")?);
    tell(&mut task.finish_time, fields.number("FINISH_TIME")?);
    tell(&mut task.task_status, fields.named("TASK_STATUS"));
    if let Some(splits) = fields.text("SPLITS") {
        task.preferred_locations = splits.split(',').map(location).collect();
    }
    Ok(())
}

fn tell_attempt(attempt: &mut LoggedAttempt, fields: EventFields<'_, '_>) -> Result<(), String> {
    tell(&mut attempt.start_time, fields.number("START_TIME")?);
    tell(&mut attempt.finish_time, fields.number("FINISH_TIME")?);
    tell(&mut attempt.shuffle_finished, fields.number("SHUFFLE_FINISHED")?);
    tell(&mut attempt.sort_finished, fields.number("SORT_FINISHED")?);
    tell(&mut attempt.result, fields.named("TASK_STATUS"));
    if let Some(host) = fields.owned("HOSTNAME") {
        note_host(attempt, host);
    }
    attempt.is_lost |= fields.raw("ERROR").is_some_and(|error| error.starts_with(LOST));
    if let Some(counters) = fields.raw("COUNTERS") {
        read_counters(counters, |name, value| count_in(attempt, name, value));
    }
    Ok(())
}

/// Calls `see` with each counter: `{(group)(Its name)[(COUNTER)(Its name)(9)][…]}`.
fn read_counters(text: &[u8], mut see: impl FnMut(&[u8], u64)) {
    let mut rest = text;
    while let Some(begin) = memmem::find(rest, b"[(") {
        rest = &rest[begin + 2..];
        let Some(end) = memchr(b')', rest) else { return };
        let name = &rest[..end];
        let Some(closed) = memmem::find(rest, b")]") else { return };
        let text = rest[..closed].rsplit(|byte| *byte == b'(').next().unwrap_or_default();
        let value = std::str::from_utf8(text).ok().and_then(|value| value.parse().ok());
        if let Some(value) = value {
            see(name, value);
        }
        rest = &rest[closed..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LOGS;
    use mumakil_core::trace::{Records, Strictness, TraceError, sha256_of};
    use mumakil_traces::rumen::{LoggedOutcome, LoggedPriority, TaskType};

    const LOG: &str = include_str!("../../tests/fuzz/seeds/log/history.log");
    const NEWER: &str = include_str!("../../tests/fuzz/seeds/log/newer.jhist");

    /// Returns the jobs of a pass up to an error, the error, and the messages about broken records.
    fn pass(text: &str, how: Strictness) -> (Vec<LoggedJob>, Option<String>, Vec<String>) {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, text).unwrap();
        let short = |error: &TraceError| {
            error.to_string().replace(&format!("{}/", folder.path().display()), "")
        };
        let mut pass = Records::open_with(&path, how, Some(&LOGS)).unwrap();
        let (mut jobs, mut complaint) = (Vec::new(), None);
        for job in pass.by_ref() {
            match job {
                Ok(job) => jobs.push(job),
                Err(error) => complaint = Some(short(&error)),
            }
        }
        (jobs, complaint, pass.notes().skipped.first.iter().map(short).collect())
    }

    fn read(text: &str) -> Vec<LoggedJob> {
        let (jobs, complaint, _) = pass(text, Strictness::Strict);
        assert_eq!(complaint, None);
        jobs
    }

    fn complaint(log: &str) -> String {
        pass(log, Strictness::Strict).1.unwrap()
    }

    #[test]
    fn a_log_is_read_whole() {
        let jobs = read(LOG);
        let [job, killed] = &jobs[..] else { panic!("{jobs:?}") };
        assert_eq!(job.job_name.as_deref(), Some("count \"words\" a=b"));
        assert_eq!(
            (job.queue.as_deref(), job.priority),
            (Some("research"), Some(LoggedPriority::High))
        );
        assert_eq!((job.total_maps, job.total_reduces), (Some(2), Some(1)));
        assert_eq!(job.launch_time, Some(1_767_225_600_250));
        assert_eq!(job.outcome, Some(LoggedOutcome::Success));
        assert_eq!(job.other_tasks[0].task_type, Some(TaskType::Setup));
        let [first, second] = &job.map_tasks[..] else { panic!("{:?}", job.map_tasks) };
        assert_eq!(first.preferred_locations[1].layers, ["r2", "n2.lan"]);
        assert_eq!((first.input_bytes, first.output_records), (Some(64 << 20), Some(90)));
        let results: Vec<_> = second.attempts.iter().map(|attempt| attempt.result).collect();
        assert_eq!(results, [Some(LoggedOutcome::Failed), Some(LoggedOutcome::Success)]);
        let memory = first.attempts[0].resource_usage_metrics.unwrap();
        assert_eq!(memory.physical_memory_usage, Some(81_891_328));
        let reduce = &job.reduce_tasks[0].attempts[0];
        assert_eq!(reduce.shuffle_finished, Some(1_767_225_628_000));
        assert_eq!((killed.outcome, killed.map_tasks.len()), (Some(LoggedOutcome::Killed), 0));
    }

    #[test]
    fn the_same_job_in_a_newer_log_is_the_same() {
        let mut older = read(LOG).remove(0);
        // Newer jobs have no tasks for setup and cleanup.
        older.other_tasks.clear();
        assert_eq!(read(NEWER), [older]);
    }

    #[test]
    fn a_configuration_behind_the_log_is_that_of_its_job() {
        let xml = "<?xml version=\"1.0\"?><configuration>\n\
                   <property><!--set by me--><name>mapred.max.map.failures.percent</name><value>5</value></property>\n\
                   </configuration>\n";
        for log in [LOG, NEWER] {
            let one = log.split("Meta VERSION=\"1\" .\nJob JOBID=\"job_202601010000_0002\"").next();
            let jobs = read(&format!("{}{xml}", one.unwrap()));
            assert_eq!(jobs[0].job_properties["mapred.max.map.failures.percent"], "5");
        }
    }

    #[test]
    fn a_folder_has_one_hash_for_logs_and_configurations() {
        let folder = tempfile::TempDir::new().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        let hash = || {
            let how = Strictness::Strict;
            let mut jobs = Records::open_with(folder.path(), how, Some(&LOGS)).unwrap();
            assert_eq!(jobs.by_ref().filter(Result::is_ok).count(), 2);
            assert_eq!(jobs.sha256().unwrap(), sha256_of(folder.path()).unwrap());
            jobs.sha256().unwrap().to_owned()
        };
        let log = |id: u32| format!("Meta VERSION=\"1\" .\nJob JOBID=\"job_1_{id}\" .\n");
        (1..3).for_each(|id| write(&format!("job_1_{id}_a"), &log(id)));
        write("job_1_2_conf.xml", "<configuration></configuration>");
        let before = hash();
        write("job_1_2_conf.xml", "<configuration> </configuration>");
        assert_ne!(hash(), before);
    }

    /// Returns the jobs of a lenient pass, and the messages about broken records.
    fn salvaged(text: &str) -> (Vec<LoggedJob>, Vec<String>) {
        let (jobs, complaint, broken) = pass(text, Strictness::Lenient);
        assert_eq!(complaint, None);
        (jobs, broken)
    }

    #[test]
    fn an_empty_folder_is_said_to_have_no_log() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("notes.txt"), "none").unwrap();
        let how = Strictness::Strict;
        let error = Records::open_with(folder.path(), how, Some(&LOGS)).err().unwrap();
        let told = format!("no log of a job is in the folder {}", folder.path().display());
        assert!(error.to_string().starts_with(&told), "{error}");
    }

    #[test]
    fn a_cut_off_line_costs_one_record() {
        let (line, next) =
            ("MapAttempt TASK_TYPE=\"MAP\" TASKID=\"task_202601010000_0001_m_000000\"", "\n");
        let begins: Vec<usize> = LOG.match_indices(line).map(|(at, _)| at).collect();
        let whole = read(LOG);
        // The last line of the first map's attempt tells its end.
        let begin = begins[1];
        let end = begin + LOG[begin..].find(next).unwrap();
        let number = LOG[..begin].lines().count() + 1;
        for left in [5, 30, 60, end - begin - 1] {
            let log = format!("{}{}", &LOG[..begin + left], &LOG[end..]);
            assert!(complaint(&log).contains(&format!("log:{number}: ")), "{log}");
            let (jobs, broken) = salvaged(&log);
            assert_eq!(broken.len(), 1, "{broken:?}");
            assert!(
                broken[0].starts_with(&format!("log:{number}: job \"job_202601010000_0001\": "))
            );
            assert_eq!(jobs[1], whole[1]);
            assert_eq!(jobs[0].map_tasks[1], whole[0].map_tasks[1]);
            assert_eq!(jobs[0].map_tasks[0].attempts[0].result, None, "its end is lost");
            assert_eq!(jobs[0].reduce_tasks, whole[0].reduce_tasks);
        }
    }

    #[test]
    fn a_cut_off_line_of_a_newer_log_costs_one_record() {
        let begin = NEWER.find("{\"type\":\"MAP_ATTEMPT_FINISHED\"").unwrap();
        let log = format!("{}{}", &NEWER[..begin], &NEWER[begin + 9..]);
        assert!(complaint(&log).starts_with("log:"));
        let (jobs, broken) = salvaged(&log);
        assert_eq!((jobs.len(), broken.len()), (1, 1));
        assert_eq!(jobs[0].reduce_tasks, read(NEWER)[0].reduce_tasks);
    }

    #[test]
    fn a_broken_configuration_costs_only_itself() {
        let (jobs, broken) = salvaged(&format!("{NEWER}<?xml version=\"1.0\"?><configuration>"));
        assert_eq!((&jobs, broken.len()), (&read(NEWER), 1), "{broken:?}");
    }

    #[test]
    fn mistakes_are_named_with_their_lines() {
        let log = |line: &str| {
            format!("Meta VERSION=\"1\" .\nJob JOBID=\"j\" SUBMIT_TIME=\"9\" .\n{line}\n")
        };
        for (line, what) in [
            ("Task TASKID=\"t\" START_TIME=\"soon\" .", "START_TIME is `soon`, not a number"),
            ("Task TASK_TYPE=\"MAP\" .", "no TASKID"),
            ("Job JOBID=\"k\" .", "k in the log of j"),
            ("Job JOBID=j .", "`JOBID=j` where `KEY=\"value\"` should be"),
            ("Job JOBID=\"j .", "the value of JOBID has no end"),
        ] {
            let told = complaint(&log(line));
            assert!(told.starts_with("log:3: ") && told.contains(what), "{told}");
        }
        assert!(complaint("Meta VERSION=\"1\" .\n").contains("the log names no job"));
        let told = complaint("Avro-Json\n{}\n{\"type\":1}\n");
        assert!(told.starts_with("log:3: "), "{told}");
    }

    /// Returns a job of one map, in one of the forms: submitted at 10^12 ms, and ended 10 s later.
    fn logged(is_newer: bool, start: u64, finish: u64) -> String {
        match is_newer {
            false => format!(
                "Meta VERSION=\"1\" .\nJob JOBID=\"j_1\" SUBMIT_TIME=\"1000000000000\" .\n\
                 Task TASKID=\"t_m_0\" TASK_TYPE=\"MAP\" START_TIME=\"1000000001000\" .\n\
                 MapAttempt TASK_TYPE=\"MAP\" TASKID=\"t_m_0\" TASK_ATTEMPT_ID=\"a_0\" \
                 START_TIME=\"{start}\" FINISH_TIME=\"{finish}\" .\n\
                 Job JOBID=\"j_1\" FINISH_TIME=\"1000000010000\" .\n"
            ),
            true => format!(
                "Avro-Json\n{{}}\n\
                 {{\"type\":\"JOB_SUBMITTED\",\"event\":{{\"e\":{{\"jobid\":\"j_1\",\
                 \"submitTime\":1000000000000}}}}}}\n\
                 {{\"type\":\"JOB_FINISHED\",\"event\":{{\"e\":{{\"jobid\":\"j_1\",\
                 \"finishTime\":1000000010000}}}}}}\n\
                 {{\"type\":\"MAP_ATTEMPT_FINISHED\",\"event\":{{\"e\":{{\"taskid\":\"t_m_0\",\
                 \"taskType\":\"MAP\",\"attemptId\":\"a_0\",\"startTime\":{start},\
                 \"finishTime\":{finish}}}}}}}\n"
            ),
        }
    }

    #[test]
    fn a_time_that_its_job_cannot_have_is_a_broken_record() {
        let begin = 1_000_000_000_000;
        for is_newer in [false, true] {
            let fine = logged(is_newer, begin + 1_000, begin + 9_000);
            assert_eq!(read(&fine).len(), 1);
            for (start, finish, what) in [
                (2_147_483_648, begin, "at 2147483648 ms, but its job was submitted at"),
                (begin, begin + 3_610_001, "but its job ended at 1000000010000 ms"),
            ] {
                let log = logged(is_newer, start, finish);
                let told = complaint(&log);
                assert!(
                    told.starts_with(if is_newer { "log:5: job" } else { "log:4: job" }),
                    "{told}"
                );
                assert!(told.contains("a_0 ran ") && told.contains(what), "{told}");
                assert_eq!(salvaged(&log).0, []);
            }
        }
    }
}
