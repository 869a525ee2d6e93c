//! The records of SWIM's traces: a job on each line, in columns separated by tabs, without a
//! header.
//!
//! The columns are id, submission and gap in seconds, bytes of input, shuffle and output, and then,
//! in some files, the paths of input and output. There are no tasks and no durations. Empty columns
//! may follow: SWIM's own file with input paths has one empty column after the eight.
//!
//! Numbers are plain digits, so that a trace that is read and written again stays the same, byte
//! for byte.

use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, clip};

/// The latest submission and the longest gap, in seconds.
const LONGEST_S: u64 = SimSpan::LONGEST.as_micros() / 1_000_000;

/// A job of a SWIM trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwimJob {
    /// The id, such as `job0`.
    pub id: String,
    /// When it was submitted, in seconds since the trace began.
    pub submit_s: u64,
    /// The time since the submission of the job before, in seconds.
    pub gap_s: u64,
    /// The bytes that the job's maps read.
    pub input: Bytes,
    /// The bytes that went from the job's maps to its reduces.
    pub shuffle: Bytes,
    /// The bytes that the job wrote.
    pub output: Bytes,
    /// The path of the input.
    pub input_path: Option<String>,
    /// The path of the output. A line with this column also has the column of the input path, which
    /// may be empty.
    pub output_path: Option<String>,
    /// How many empty columns follow the other columns.
    pub empty_columns: usize,
}

/// Returns whether a line has as many columns as a job; empty columns may follow.
pub(crate) fn has_columns(line: &[u8]) -> bool {
    let mut columns = line.split(|byte| *byte == b'\t');
    columns.by_ref().take(6).count() == 6 && columns.skip(2).all(<[u8]>::is_empty)
}

impl Record for SwimJob {
    const NAME: &'static str = "SWIM job";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        if line.is_empty() {
            return Err(RecordFault::new("the line is empty"));
        }
        let line = str::from_utf8(line).map_err(|error| {
            RecordFault::new("the line is not a text in UTF-8").at(error.valid_up_to())
        })?;
        let columns: Vec<&str> = line.split('\t').collect();
        // A line without columns has no id either.
        let id = (1 < columns.len()).then_some(columns[0]);
        job(line, &columns).map_err(|fault| fault.of(id))
    }

    fn job(&self) -> Option<&str> {
        Some(&self.id)
    }

    fn submitted(&self) -> Option<u64> {
        Some(self.submit_s)
    }
}

fn job(line: &str, columns: &[&str]) -> Result<SwimJob, RecordFault> {
    let (&[id, submit, gap, input, shuffle, output], paths) = match columns.split_first_chunk() {
        Some((first, paths)) if paths.iter().skip(2).all(|column| column.is_empty()) => {
            (first, paths)
        }
        _ => {
            let count = columns.len();
            let s = if count == 1 { "" } else { "s" };
            let fault = RecordFault::new(format!("{count} column{s}, expected 6 to 8"));
            return Err(if count == 1 { fault.hint("separate them by tabs") } else { fault });
        }
    };
    // The carriage return would become part of the last column: of a number, which is then invalid,
    // or of a path.
    if line.ends_with('\r') {
        return Err(RecordFault::new("the line ends in a carriage return")
            .hint("convert the file to the line ends of Unix"));
    }
    if id.is_empty() {
        return Err(RecordFault::new("the id, column 1, is empty"));
    }
    // At the beginning of a file the mark is no part of the id, so the job could not be written back.
    if id.starts_with('\u{feff}') {
        return Err(RecordFault::new("the line begins with a byte order mark")
            .hint("remove it: it belongs at the beginning of a file"));
    }
    let path = |index: usize| paths.get(index).map(|path| (*path).to_owned());
    let bytes = |what, text| number(what, text, Bytes::LARGEST.get()).map(Bytes::new);
    Ok(SwimJob {
        id: id.to_owned(),
        submit_s: number("submission, column 2", submit, LONGEST_S)?,
        gap_s: number("gap, column 3", gap, LONGEST_S)?,
        input: bytes("input, column 4", input)?,
        shuffle: bytes("shuffle, column 5", shuffle)?,
        output: bytes("output, column 6", output)?,
        input_path: path(0),
        output_path: path(1),
        empty_columns: paths.len().saturating_sub(2),
    })
}

fn number(what: &str, text: &str, most: u64) -> Result<u64, RecordFault> {
    // `007` and `+7` are numbers too, but would be written back as `7`.
    let number: Option<u64> = text.parse().ok();
    number.filter(|number| *number <= most && number.to_string() == text).ok_or_else(|| {
        let text = clip(text);
        RecordFault::new(format!("the {what}, is `{text}`, expected a whole number up to {most}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::trace::{Records, Strictness};
    use mumakil_scenario::workload::format::TraceJob as _;

    fn read(text: &str) -> Result<Vec<SwimJob>, String> {
        let text = text.to_owned().into_bytes();
        let jobs = Records::from_reader("t", std::io::Cursor::new(text), Strictness::Strict);
        jobs.unwrap().collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    #[test]
    fn six_seven_or_eight_columns_are_a_job() {
        let text =
            "job0\t9\t9\t1762\t0\t14347\njob1\t9\t0\t1\t2\t3\t/in\njob2\t12\t3\t1\t2\t3\t\t/out\n";
        let jobs = read(text).unwrap();
        assert_eq!(
            jobs[0],
            SwimJob {
                id: "job0".to_owned(),
                submit_s: 9,
                gap_s: 9,
                input: Bytes::new(1_762),
                shuffle: Bytes::ZERO,
                output: Bytes::new(14_347),
                input_path: None,
                output_path: None,
                empty_columns: 0,
            }
        );
        assert_eq!(jobs[1].input_path.as_deref(), Some("/in"));
        assert_eq!(jobs[2].output_path.as_deref(), Some("/out"));
        let mut written = Vec::new();
        for job in jobs {
            job.write_to(&mut written).unwrap();
        }
        assert_eq!(String::from_utf8(written).unwrap(), text);
    }

    #[test]
    fn empty_columns_at_the_end_are_no_error_and_are_kept() {
        // Nine columns, as in SWIM's file with input paths; then seven and twelve.
        let text = "job0\t1\t1\t9\t0\t5\t/in\t\t\njob1\t2\t1\t9\t0\t5\t\n\
                    job2\t2\t0\t9\t0\t5\t/in\t/out\t\t\t\t\n";
        assert!(text.lines().all(|line| has_columns(line.as_bytes())));
        let jobs = read(text).unwrap();
        assert_eq!(jobs[0].input_path.as_deref(), Some("/in"));
        let empty = jobs.iter().map(|job| job.empty_columns);
        assert_eq!(empty.collect::<Vec<_>>(), [1, 0, 4]);
        let mut written = Vec::new();
        jobs.iter().for_each(|job| job.write_to(&mut written).unwrap());
        assert_eq!(String::from_utf8(written).unwrap(), text);
        for line in ["a\t1\t1\t9\t0", "a\t1\t1\t9\t0\t5\t\t\t\tx"] {
            assert!(!has_columns(line.as_bytes()) && read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn mistakes_of_a_line_are_named() {
        let bad = |line: &str| read(&format!("job0\t9\t9\t1\t2\t3\n{line}\n")).unwrap_err();
        for (line, message) in [
            ("", "t:2: the line is empty"),
            ("job1", "t:2: 1 column, expected 6 to 8\n  hint: separate them by tabs"),
            ("job1\t9\t9\t1\t2", "t:2: job \"job1\": 5 columns, expected 6 to 8"),
            ("job1\t9\t9\t1\t2\t3\t4\t5\t6", "t:2: job \"job1\": 9 columns, expected 6 to 8"),
            ("\t9\t9\t1\t2\t3", "t:2: job \"\": the id, column 1, is empty"),
            (
                "\u{feff}job1\t9\t9\t1\t2\t3",
                "t:2: job \"\\u{feff}job1\": the line begins with a byte order mark\n  \
                 hint: remove it: it belongs at the beginning of a file",
            ),
            (
                "job1\t-9\t9\t1\t2\t3",
                "t:2: job \"job1\": the submission, column 2, is `-9`, \
                 expected a whole number up to 3153600000",
            ),
            (
                "job1\t9\t1e3\t1\t2\t3",
                "t:2: job \"job1\": the gap, column 3, is `1e3`, \
                 expected a whole number up to 3153600000",
            ),
            (
                "job1\t9\t9\t9999999999999999999\t2\t3",
                "t:2: job \"job1\": the input, column 4, is `9999999999999999999`, \
                 expected a whole number up to 1152921504606846976",
            ),
            (
                "job1\t9\t9\t1\t02\t3",
                "t:2: job \"job1\": the shuffle, column 5, is `02`, \
                 expected a whole number up to 1152921504606846976",
            ),
            (
                "job1\t9\t9\t1\t2\t",
                "t:2: job \"job1\": the output, column 6, is ``, \
                 expected a whole number up to 1152921504606846976",
            ),
            (
                "job1\t9\t9\t1\t2\t3\r",
                "t:2: job \"job1\": the line ends in a carriage return\n  \
                 hint: convert the file to the line ends of Unix",
            ),
            ("job0\t9\t9\t1\t2\t3", "t:2: job \"job0\": another job before it has the same id"),
            (
                "job1\t8\t9\t1\t2\t3",
                "t:2: job \"job1\": submitted 1 s before the job above it\n  \
                 hint: sort the trace by the time of submission",
            ),
        ] {
            assert_eq!(bad(line), message);
        }
    }

    #[test]
    fn a_line_that_is_no_text_is_refused() {
        let line = b"job0\t9\xff".as_slice();
        let error = Records::<SwimJob>::from_reader("t", line, Strictness::Strict).unwrap().next();
        let error = error.unwrap().unwrap_err().to_string();
        assert_eq!(error, "t:1: the line is not a text in UTF-8 (byte 6)");
    }
}
