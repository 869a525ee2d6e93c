//! SWIM's format: a job on each line, recognised by the number of columns.

use std::io;

use super::record::{SwimJob, has_columns};
use super::sizes::TaskCounts;
use super::source::{map_rate, reduce_rate};
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_scenario::workload::JobEntry;
use mumakil_scenario::workload::format::{
    ConversionTarget, Format, FormatContents, Trace, TraceJob,
};

/// The format of SWIM's jobs.
pub(crate) static SWIM_JOBS: Format = Format {
    known_by: "SWIM (6 to 8 columns, separated by tabs)",
    has_line: has_columns,
    target: Some(ConversionTarget {
        key: "swim",
        about: "SWIM's lines of columns",
        make: |entry, block| Box::new(job_of(entry, block)),
    }),
    ..Format::new("SWIM", FormatContents::Jobs(Trace::of::<SwimJob>))
};

impl TraceJob for SwimJob {
    fn name(&self, _number: u64) -> String {
        self.id.clone()
    }

    fn entry(&self, _number: u64, block: Bytes) -> Result<Option<JobEntry>, String> {
        entry_of(self, block).map(Some)
    }

    fn submit(&self) -> SimSpan {
        SimSpan::from_secs(self.submit_s)
    }

    fn set_gap(&mut self, gap: SimSpan) {
        self.gap_s = gap.as_micros() / 1_000_000;
    }

    fn lost_in_list(&self) -> Option<&'static str> {
        let is_known = self.output_path.as_ref().is_some_and(|path| !path.is_empty());
        is_known.then_some("the path of the output")
    }

    fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Self { id, submit_s, gap_s, .. } = self;
        let [input, shuffle, output] = [self.input, self.shuffle, self.output].map(Bytes::get);
        write!(to, "{id}\t{submit_s}\t{gap_s}\t{input}\t{shuffle}\t{output}")?;
        match (&self.input_path, &self.output_path) {
            (None, None) => {}
            (Some(input), None) => write!(to, "\t{input}")?,
            (input, Some(output)) => write!(to, "\t{}\t{output}", input.as_deref().unwrap_or(""))?,
        }
        writeln!(to, "{}", "\t".repeat(self.empty_columns))
    }
}

/// Returns the job of a record, by the default rules.
fn entry_of(job: &SwimJob, block: Bytes) -> Result<JobEntry, String> {
    Ok(JobEntry {
        submit: SimSpan::from_secs(job.submit_s),
        map_rate: Some(map_rate()),
        reduce_rate: Some(reduce_rate()),
        ..TaskCounts::of(job, block, None).entry(job)?
    })
}

/// Returns the record of a job, without the gap before it.
fn job_of(entry: &JobEntry, block: Bytes) -> SwimJob {
    // Columns are separated by tabs, jobs by the ends of lines.
    let column = |text: &String| text.replace(['\t', '\n', '\r'], " ");
    SwimJob {
        id: column(&entry.name),
        submit_s: entry.submit.as_micros() / 1_000_000,
        // `set_gap` sets the gap once the job before is known.
        gap_s: 0,
        input: entry.input(block).unwrap_or_default(),
        shuffle: entry.shuffle,
        output: entry.output,
        input_path: entry.file.as_ref().map(column),
        output_path: None,
        empty_columns: 0,
    }
}
